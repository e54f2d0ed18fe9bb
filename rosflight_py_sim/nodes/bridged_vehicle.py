"""A vehicle of the bridge: subscriptions, snapshots, and the front-ends that observe it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from rosflight_py_sim.bridge.front_end_interface import (
    ControllerStatus,
    FrontEndInterface,
    GnssReport,
    Snapshot,
    Vector3,
)
from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.camera_topics import PictureFile, compressed_topic
from rosflight_py_sim.step.join import JoinRule, StepJoin
from rosflight_py_sim.step.stamped_inputs import StampedInputs
from rosflight_py_sim.step.topics import (
    ATTITUDE_EULER,
    BATTERY,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU,
    OUTPUT_RAW,
    RANGE,
    RC,
    REPEATED_CLOCK,
    STATUS,
    TRUTH_ROTOR_SPEEDS,
    TRUTH_STATE,
    TRUTH_WIND,
    AirspeedSample,
    BatterySample,
    EulerAngles,
    GnssSample,
    ImuSample,
    Outputs,
    PulseWidths,
    RangeSample,
    StatusReport,
    StepTopic,
    Wind,
    vector3,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

CAMERAS = ("front", "bottom")
"""Names of the cameras that a vehicle may have."""


@dataclass(frozen=True)
class VehicleFrontEnds:
    """The front-ends of one vehicle.

    Attributes:
        index: number of the vehicle, from 0.
        name: namespace of the vehicle, relative to the bridge's.
        commander: front-end that commands the vehicle; None if another node does.
        observers: all other front-ends.
    """

    index: int
    name: str
    commander: FrontEndInterface | None
    observers: Sequence[FrontEndInterface] = ()

    @property
    def required_fields(self) -> frozenset[str]:
        """Optional snapshot fields that at least one of the front-ends requires."""
        return frozenset().union(*(one.required_fields for one in self.all))

    @property
    def further_ranges(self) -> Sequence[str]:
        """Topics of the range finders beyond that of the node sensors that the front-ends require."""
        return list(dict.fromkeys(topic for one in self.all for topic in one.further_ranges(self.index)))

    @property
    def all(self) -> Sequence[FrontEndInterface]:
        """The observers and the commander."""
        return (*self.observers, *((self.commander,) if self.commander is not None else ()))


class BridgedVehicle:
    """Subscribes to the topics of one vehicle, and makes snapshots of the newest messages.

    Observers receive the snapshot of each step when its IMU message arrives, by the rule of `StepJoin`.

    Class attributes:
        JOIN: inputs of a snapshot that contains all messages of its time.

    Attributes:
        index: number of the vehicle, from 0.
        name: namespace of the vehicle, relative to the bridge's.
        answered_ns: time of the newest snapshot that the commander has answered or, without a commander, that the
            observers have received, ns; -1 before the first.
    """

    JOIN: ClassVar[JoinRule] = JoinRule(
        IMU.name, synchronized=(TRUTH_WIND.name, TRUTH_STATE.name), required=(TRUTH_STATE.name,)
    )

    def __init__(self, node: SimulationNode, front_ends: VehicleFrontEnds, *, imu: bool = False) -> None:
        """Subscribe to state, wind and the topics that the front-ends require, and to the IMU if `imu` is true."""
        self.index = front_ends.index
        self.name = name = front_ends.name
        required_fields = front_ends.required_fields
        self.answered_ns = -1
        self._node = node
        self._observers = front_ends.observers
        self._is_commanded = front_ends.commander is not None
        self._newest: Snapshot | None = None
        # A repeated trigger is not passed on again.
        lockstep = node.values["time_mode"] == "lockstep"
        self._observation = StepJoin(self.JOIN, self._show, lambda _: None, lockstep=lockstep)
        self._wind_observed, self._state_observed = map(self._observation.input, self.JOIN.synchronized)
        self._state = VehicleState()
        self._wind_ns, self._wind_ned = -1, (0.0, 0.0, 0.0)
        self._imu_ns, self._gyro, self._accel_body = -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        self._ranges: tuple[float, ...] = ()
        self._airspeed: float | None = None
        self._battery: tuple[float, float] | None = None
        self._rc_us: tuple[int, ...] = ()
        self._rc_inputs = StampedInputs()
        self._images: dict[str, bytes] = {}
        self._images_since_ns = 0
        self._cameras: dict[str, PolledSubscription[PictureFile]] = {}
        self._image_front_ends = [one for one in front_ends.all if "images" in one.required_fields]
        self._status: ControllerStatus | None = None
        self._attitude: Vector3 | None = None
        self._gnss: GnssReport | None = None
        self._outputs: tuple[float, ...] = ()
        self._rotor_speeds: tuple[float, ...] = ()
        # Before those of state and IMU: single-threaded executors serve subscriptions in the order of their creation.
        optional: tuple[tuple[str, StepTopic[Any], Callable[[Any], None]], ...] = (
            ("range", RANGE, self._on_range),
            ("airspeed", DIFF_PRESSURE, self._on_airspeed),
            ("battery", BATTERY, self._on_battery),
            ("rc", RC, self._on_rc),
            ("gnss", GNSS_FIX, self._on_gnss),
            ("status", STATUS, self._on_status),
            ("outputs", OUTPUT_RAW, self._on_outputs),
            ("rotor_speeds", TRUTH_ROTOR_SPEEDS, self._on_rotor_speeds),
        )
        for field, topic, callback in optional:
            if field in required_fields:
                node.subscribe(topic, callback, name)
        for place, range_topic in enumerate(front_ends.further_ranges):
            self._ranges = (*(self._ranges or (0.0,)), 0.0)
            on_range = partial(self._on_range, place=place + 1)
            node.subscribe(RANGE.renamed(range_topic, to="bridge"), on_range, name)
        # Polled: published at every step, but needed far less often.
        self._estimate = node.poll(ATTITUDE_EULER, name) if "attitude" in required_fields else None
        node.subscribe(TRUTH_WIND, self._on_wind, name)
        node.subscribe(TRUTH_STATE, self._on_truth, name)
        if imu or self._observers or "imu" in required_fields:
            node.subscribe(IMU, self._on_imu, name)
            if lockstep:
                node.subscribe(REPEATED_CLOCK, self._on_repeated_clock, name)

    def _on_repeated_clock(self, time_ns: int) -> None:
        self._observation.repeat(time_ns)

    def _show(self, time_ns: int, imu: ImuSample) -> None:
        self._take_imu(imu)
        snapshot = self._snapshot(time_ns)
        if not self._is_commanded:
            self.answered_ns = time_ns
        for observer in self._observers:
            observer.observe(self.index, snapshot)

    def _snapshot(self, time_ns: int) -> Snapshot:
        """The snapshot of the newest messages, stamped `time_ns`; all front-ends of a message share it."""
        if self._newest is None or self._newest.time_ns != time_ns:
            self._newest = self._new_snapshot(time_ns)
        return self._newest

    def _new_snapshot(self, time_ns: int) -> Snapshot:
        self._node.update_clock(time_ns)
        self._rc_inputs.deliver(time_ns)
        if self._estimate is not None:
            self._attitude = self._estimated(self._estimate)
        if self._image_front_ends:
            self._receive_images()
        return Snapshot(
            time_ns,
            np.copy(self._state.truth),
            self._wind_ned,
            self._gyro,
            self._accel_body,
            self._ranges,
            self._airspeed,
            self._battery,
            self._rc_us,
            self._images,
            self._status,
            self._attitude,
            self._gnss,
            self._outputs,
            self._rotor_speeds,
            self._node.unix_ns(time_ns),
        )

    def _receive_images(self) -> None:
        """Fetch the newest images; cameras render while there are subscriptions, so there are none without need."""
        needed = any(one.needs_images(self.index) for one in self._image_front_ends)
        if needed != bool(self._cameras):
            for subscription in self._cameras.values():
                subscription.close()
            poll = partial(self._node.poll, at=self.name)
            self._cameras = {camera: poll(compressed_topic(camera)) for camera in CAMERAS} if needed else {}
            self._images, self._images_since_ns = {}, self._state.time_ns
        for camera, subscription in self._cameras.items():
            picture = subscription.take()
            # The newest picture at first may be one of an earlier subscription.
            if picture is not None and picture.time_ns >= self._images_since_ns:
                self._images[camera] = picture.file

    def _estimated(self, estimate: PolledSubscription[EulerAngles]) -> Vector3 | None:
        newest = estimate.take()
        return self._attitude if newest is None else vector3(newest.roll_pitch_yaw)

    def _on_range(self, sample: RangeSample, place: int = 0) -> None:
        self._ranges = (*self._ranges[:place], sample.distance, *self._ranges[place + 1 :])

    def _on_airspeed(self, sample: AirspeedSample) -> None:
        self._airspeed = sample.velocity

    def _on_battery(self, sample: BatterySample) -> None:
        self._battery = sample.voltage, sample.current

    def _on_rc(self, rc: PulseWidths) -> None:
        self._rc_inputs.take(rc.time_ns, self.answered_ns, self._set_rc, tuple(rc.pulse_us))

    def _set_rc(self, rc_us: tuple[int, ...]) -> None:
        self._rc_us = rc_us

    def _on_truth(self, state: VehicleState) -> None:
        self._newest = None
        self._state = state
        if self._observers:
            self._state_observed(state.time_ns)

    def _on_imu(self, imu: ImuSample) -> None:
        if not self._observation.is_late(imu.time_ns):
            self._take_imu(imu)
        self._observe(imu)

    def _observe(self, imu: ImuSample) -> None:
        if self._observers:
            self._observation.trigger(imu.time_ns, imu)

    def _take_imu(self, imu: ImuSample) -> None:
        if imu.time_ns != self._imu_ns:
            self._newest = None
            self._imu_ns, self._gyro, self._accel_body = imu.time_ns, vector3(imu.gyro), vector3(imu.accel)

    def _on_wind(self, wind: Wind) -> None:
        self._newest = None
        self._wind_ned, self._wind_ns = vector3(wind.velocity_ned), wind.time_ns
        if self._observers:
            self._wind_observed(wind.time_ns)

    def _on_gnss(self, fix: GnssSample) -> None:
        position = (fix.latitude_deg, fix.longitude_deg, fix.altitude_msl_m)
        self._gnss = GnssReport(fix.fix_type, fix.satellites, *position)

    def _on_status(self, s: StatusReport) -> None:
        flags = (s.armed, s.failsafe, s.rc_override, s.offboard)
        self._status = ControllerStatus(*flags, s.control_mode, s.error_code)

    def _on_outputs(self, outputs: Outputs) -> None:
        self._outputs = tuple(outputs.values)

    def _on_rotor_speeds(self, speeds: Outputs) -> None:
        self._rotor_speeds = tuple(speeds.values)
