"""A vehicle of the bridge: its topics become snapshots, which the front-ends that observe it receive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar

from rosflight_py_sim.bridge.front_end_interface import (
    OPTIONAL_FIELDS,
    ActuatorFrontEnd,
    FrontEndInterface,
    Snapshot,
    Vector3,
)
from rosflight_py_sim.ground.parameters import ParameterTable, Values
from rosflight_py_sim.ground.shared_parameters import START_DATE, TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.step.camera_topics import compressed_topic
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.part import Log, Part
from rosflight_py_sim.step.ports import Port, each, later, newest, polled, repeated, synchronized, trigger
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    ATTITUDE_EULER,
    BARO,
    BATTERY,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU,
    MAG,
    OUTPUT_RAW,
    RANGE,
    RC,
    STATUS,
    TRUTH_ROTOR_SPEEDS,
    TRUTH_STATE,
    TRUTH_WIND,
    ImuSample,
    RangeSample,
    WindSample,
    vector3,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

P = TypeVar("P", bound=Port)

_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class VehicleFrontEnds:
    """The front-ends of one vehicle.

    Attributes:
        index: number of the vehicle, from 0.
        name: namespace of the vehicle, relative to the bridge's.
        namespace: the same, absolute, without a slash at the end.
        commander: front-end that commands the vehicle; None if another node does.
        observers: all other front-ends.
    """

    index: int
    name: str
    namespace: str
    commander: FrontEndInterface | None
    observers: Sequence[FrontEndInterface] = ()

    @property
    def all(self) -> Sequence[FrontEndInterface]:
        """The observers and the commander."""
        return (*self.observers, *((self.commander,) if self.commander is not None else ()))


class BridgedVehicle(Part):
    """Passes the snapshot of each step to the front-ends that observe the vehicle.

    A snapshot contains the newest messages; the one of a step is complete when the IMU message has arrived. An input
    with the name of an optional field of snapshots exists if a front-end requires the field.

    Attributes:
        index: number of the vehicle, from 0.
        name: namespace of the vehicle, relative to the bridge's.
        front_ends: the front-ends.
        cameras: names of the cameras that a vehicle may have.
    """

    DEFAULT_NAME: ClassVar[str] = "bridge"
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(TIME_MODE, START_DATE)

    cameras = ("front", "bottom")

    # Before state and IMU: single-threaded executors serve subscriptions in the order of their creation.
    range = newest(RANGE)
    airspeed = newest(DIFF_PRESSURE)
    battery = newest(BATTERY)
    rc = later(RC)
    gnss = newest(GNSS_FIX)
    mag = newest(MAG)
    baro = newest(BARO)
    status = newest(STATUS)
    outputs = newest(OUTPUT_RAW)
    rotor_speeds = newest(TRUTH_ROTOR_SPEEDS)
    further_ranges = each("range_topics", lambda topic: newest(RANGE.renamed(topic)))
    # Published at every step, but needed far less often.
    attitude = polled(ATTITUDE_EULER)
    # Cameras render while there are subscriptions, so there are none without need.
    images = each("cameras", lambda camera: polled(compressed_topic(camera), wanted="needs_images"))

    def __init__(self, values: Values, front_ends: VehicleFrontEnds, log: Log) -> None:
        """Store the front-ends; they must be open when the ports are connected."""
        self.index, self.name, self.front_ends = front_ends.index, front_ends.name, front_ends
        super().__init__(values, log=log)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._newest: Snapshot | None = None
        self._state = VehicleState()
        self._wind_ns, self._wind_ned = -1, _ZERO
        self._imu_ns, self._gyro, self._accel_body = -1, _ZERO, _ZERO
        self._attitude: Vector3 | None = None
        self._files: dict[str, bytes] = {}
        self._files_since_ns = 0
        self._has_image_ports = False

    def begin(self) -> None:
        """Note what the front-ends require."""
        self._observers = self.front_ends.observers
        self._has_attitude = "attitude" in self.fields
        self._image_front_ends = [one for one in self.front_ends.all if "images" in one.required_fields]

    # Ports that depend on the front-ends.

    @cached_property
    def fields(self) -> frozenset[str]:
        """Optional snapshot fields for which there are inputs."""
        front_ends = self.front_ends
        required = frozenset[str]().union(*(one.required_fields for one in front_ends.all))
        is_triggered = front_ends.observers or isinstance(front_ends.commander, ActuatorFrontEnd)
        return required | {"imu"} if is_triggered else required

    @cached_property
    def range_topics(self) -> Sequence[str]:
        """Topics of the range finders beyond that of the node sensors."""
        topics = (topic for one in self.front_ends.all for topic in one.further_ranges(self.index))
        return list(dict.fromkeys(topics))

    def ports(self, kind: type[P]) -> Iterator[P]:
        """The ports of one kind, without those of fields that no front-end requires."""
        left_out = OPTIONAL_FIELDS - self.fields
        return (port for port in super().ports(kind) if (port.family or port.name) not in left_out)

    def has_imu(self) -> bool:
        """Whether the IMU is an input."""
        return "imu" in self.fields

    def needs_images(self) -> bool:
        """Whether a front-end needs images at present."""
        return any(one.needs_images(self.index) for one in self._image_front_ends)

    # Inputs and answers.

    @synchronized(TRUTH_WIND, needed=False)
    def receive_wind(self, wind: WindSample) -> None:
        """Receive the wind."""
        self._newest = None
        self._wind_ns, self._wind_ned = wind.time_ns, vector3(wind.velocity_ned)
        self.on_input()

    @synchronized(TRUTH_STATE, needed=False, required=True)
    def receive_state(self, state: VehicleState) -> None:
        """Receive the truth state."""
        self._newest = None
        self._state = state
        self.on_state()

    imu = trigger(IMU)
    repetition = repeated(when="has_imu")

    def on_input(self) -> None:
        """Called when wind or state has arrived; by default nothing."""

    def on_state(self) -> None:
        """Called when a state has arrived."""
        self.on_input()

    def answer(self, time_ns: int, content: ImuSample) -> None:
        """Pass the snapshot to the observers that need it."""
        self._observe(content.time_ns, vector3(content.gyro), vector3(content.accel))

    def _observe(self, time_ns: int, gyro: Vector3, accel_body: Vector3) -> None:
        """Note the IMU's measurement, and pass the snapshot to the observers that need it."""
        self._newest = None
        self._imu_ns, self._gyro, self._accel_body = time_ns, gyro, accel_body
        for observer in self._observers:
            if observer.is_due(self.index, time_ns):
                observer.observe(self.index, self.snapshot(time_ns))

    def snapshot(self, time_ns: int) -> Snapshot:
        """The snapshot of the newest messages, stamped `time_ns`; all front-ends of a message share it."""
        made = self._newest
        if made is None or made.time_ns != time_ns:
            made = self._newest = self._new_snapshot(time_ns)
        return made

    def _new_snapshot(self, time_ns: int) -> Snapshot:
        if self.held.waiting:
            self.held.deliver(time_ns)
        if self._has_attitude:
            estimate = self.attitude()
            if estimate is not None:
                self._attitude = vector3(estimate.roll_pitch_yaw)
        if self._image_front_ends:
            self._receive_images()
        battery, rc, outputs, speeds = self.battery, self.rc, self.outputs, self.rotor_speeds
        return Snapshot(
            time_ns,
            self._state.truth.copy(),
            self._wind_ned,
            self._gyro,
            self._accel_body,
            self._ranges(),
            self.airspeed,
            None if battery is None else (battery.voltage, battery.current),
            () if rc is None else tuple(rc.pulse_us),
            self._files,
            self.status,
            self._attitude,
            self.gnss,
            self.mag,
            self.baro,
            () if outputs is None else tuple(outputs.values),
            () if speeds is None else tuple(speeds.values),
            self.start_ns + time_ns,
        )

    def _ranges(self) -> tuple[RangeSample | None, ...]:
        return (self.range, *self.further_ranges.values()) if self.range_topics else (self.range,)

    def _receive_images(self) -> None:
        """Read the newest images, if they are needed."""
        needed = self.needs_images()
        if needed != self._has_image_ports:
            self._has_image_ports = needed
            self._files, self._files_since_ns = {}, self._state.time_ns
        elif not needed:
            return
        for camera, take in self.images.items():
            picture = take()
            # The newest picture at first may be one of an earlier subscription.
            if picture is not None and picture.time_ns >= self._files_since_ns:
                self._files[camera] = picture.file

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """One entry for the vehicle."""
        yield Diagnosis(self.name or "vehicle", "observed", values={"time": self.answered_ns / NANOSECONDS})
