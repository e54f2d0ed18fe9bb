"""Base class of a vehicle of the bridge: subscriptions and snapshots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rosflight_py_sim.bridge.front_end_interface import ControllerStatus, GnssReport, Snapshot, Vector3
from rosflight_py_sim.interfaces.camera_topics import PictureFile, compressed_topic
from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.stamped_inputs import StampedInputs
from rosflight_py_sim.interfaces.step_topics import (
    ATTITUDE_EULER,
    BATTERY,
    DIFF_PRESSURE,
    GNSS_FIX,
    OUTPUT_RAW,
    RANGE,
    RC,
    STATUS,
    TRUTH_STATE,
    TRUTH_WIND,
    AirspeedSample,
    BatterySample,
    EulerAngles,
    GnssSample,
    Outputs,
    PulseWidths,
    RangeSample,
    StatusReport,
    StepTopic,
    Wind,
    vector3,
)
from rosflight_py_sim.interfaces.vehicle_state import VehicleState

CAMERAS = ("front", "bottom")
"""Names of the cameras that a vehicle may have."""


class BridgedVehicle(ABC):
    """Subscribes to the topics of one vehicle, and makes snapshots of the newest messages.

    Attributes:
        index: number of the vehicle, from 0.
        name: namespace of the vehicle, relative to the bridge's.
        answered_ns: time of the newest snapshot that the front-end has answered, ns; -1 before the first.
    """

    def __init__(self, node: SimulationNode, index: int, name: str, required_fields: frozenset[str]) -> None:
        """Subscribe to state, wind and the topics in `required_fields`."""
        self.index, self.name = index, name
        self.answered_ns = -1
        self._node = node
        self._state = VehicleState()
        self._wind_ns, self._wind_ned = -1, (0.0, 0.0, 0.0)
        self._gyro = self._accel_body = (0.0, 0.0, 0.0)
        self._ranges: tuple[float, ...] = ()
        self._airspeed: float | None = None
        self._battery: tuple[float, float] | None = None
        self._rc_us: tuple[int, ...] = ()
        self._rc_inputs = StampedInputs()
        self._images: dict[str, bytes] = {}
        self._status: ControllerStatus | None = None
        self._attitude: Vector3 | None = None
        self._gnss: GnssReport | None = None
        self._outputs: tuple[float, ...] = ()
        # Before those of state and IMU: single-threaded executors serve subscriptions in the order of their creation.
        optional: tuple[tuple[str, StepTopic[Any], Callable[[Any], None]], ...] = (
            ("range", RANGE, self._on_range),
            ("airspeed", DIFF_PRESSURE, self._on_airspeed),
            ("battery", BATTERY, self._on_battery),
            ("rc", RC, self._on_rc),
            ("gnss", GNSS_FIX, self._on_gnss),
            ("status", STATUS, self._on_status),
            ("outputs", OUTPUT_RAW, self._on_outputs),
        )
        for field, topic, callback in optional:
            if field in required_fields:
                node.subscribe(topic, callback, name)
        # Polled: published at every step, but needed far less often.
        self._estimate = node.poll(ATTITUDE_EULER, name) if "attitude" in required_fields else None
        for camera in CAMERAS if "images" in required_fields else ():
            node.subscribe(compressed_topic(camera), partial(self._on_picture, camera), name)
        node.subscribe(TRUTH_WIND, self._on_wind, name)
        node.subscribe(TRUTH_STATE, self._on_truth, name)

    @abstractmethod
    def _on_truth(self, state: VehicleState) -> None:
        """Process a new truth state."""

    def _snapshot(self, time_ns: int) -> Snapshot:
        """Make a snapshot of the newest messages, stamped `time_ns`."""
        self._node.update_clock(time_ns)
        self._rc_inputs.deliver(time_ns)
        if self._estimate is not None:
            self._attitude = self._estimated(self._estimate)
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
        )

    def _estimated(self, estimate: PolledSubscription[EulerAngles]) -> Vector3 | None:
        newest = estimate.take()
        return self._attitude if newest is None else vector3(newest.roll_pitch_yaw)

    def _on_range(self, sample: RangeSample) -> None:
        self._ranges = (sample.distance,)

    def _on_airspeed(self, sample: AirspeedSample) -> None:
        self._airspeed = sample.velocity

    def _on_battery(self, sample: BatterySample) -> None:
        self._battery = sample.voltage, sample.current

    def _on_rc(self, rc: PulseWidths) -> None:
        self._rc_inputs.take(rc.time_ns, self.answered_ns, partial(self._set_rc, tuple(rc.pulse_us)))

    def _set_rc(self, rc_us: tuple[int, ...]) -> None:
        self._rc_us = rc_us

    def _on_picture(self, camera: str, picture: PictureFile) -> None:
        self._images[camera] = picture.file

    def _on_wind(self, wind: Wind) -> None:
        self._wind_ned, self._wind_ns = vector3(wind.velocity_ned), wind.time_ns

    def _on_gnss(self, fix: GnssSample) -> None:
        position = (fix.latitude_deg, fix.longitude_deg, fix.altitude_msl_m)
        self._gnss = GnssReport(fix.fix_type, fix.satellites, *position)

    def _on_status(self, s: StatusReport) -> None:
        flags = (s.armed, s.failsafe, s.rc_override, s.offboard)
        self._status = ControllerStatus(*flags, s.control_mode, s.error_code)

    def _on_outputs(self, outputs: Outputs) -> None:
        self._outputs = tuple(outputs.values)
