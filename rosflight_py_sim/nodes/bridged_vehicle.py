"""One vehicle as the bridge hears it, whatever the bridge does with what it hears."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3Stamped
from rosflight_msgs.msg import GNSS, Airspeed, BatteryStatus, OutputRaw, RCRaw, SimState, Status
from sensor_msgs.msg import CompressedImage, Range

from rosflight_py_sim.bridge.front_end_interface import ControllerStatus, GnssReport, Snapshot, Vector3
from rosflight_py_sim.interfaces.dynamics_interface import WIND_WIRE
from rosflight_py_sim.interfaces.forces_and_moments_interface import BATTERY_WIRE
from rosflight_py_sim.interfaces.newest import Newest
from rosflight_py_sim.interfaces.qos import CHAIN, state_qos
from rosflight_py_sim.interfaces.sensor_interface import (
    AIRSPEED_WIRE,
    GNSS_WIRE,
    RANGE_DISTANCE,
    RANGE_WIRE,
    STATUS_WIRE,
)
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.stamped_inputs import StampedInputs
from rosflight_py_sim.interfaces.time_manager_interface import topic_of
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.interfaces.wire import NANOSECONDS
from rosflight_py_sim.nodes.rc import RC_WIRE
from rosflight_py_sim.nodes.sil_board import EULER_WIRE, OUTPUT_WIRE

CAMERAS = ("front", "bottom")
"""Names of the cameras that a vehicle may have."""


class BridgedVehicle(ABC):
    """Hears one vehicle, and makes snapshots of what it has heard.

    Attributes:
        index: its number, from 0.
        name: its namespace, from the bridge's own.
        answered_ns: time of the newest snapshot that the front-end has answered; -1 before the first.
    """

    def __init__(self, node: SimulationNode, index: int, name: str, wants: frozenset[str]) -> None:
        """Subscribe to state, wind and what is wanted."""
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
        # Before the state's and the IMU's: executors of one thread serve subscriptions in the order of their making.
        for want, topic, message_type, callback in (
            ("range", "sim/sensors/range", Range, self._on_range),
            ("airspeed", "sim/sensors/diff_pressure", Airspeed, self._on_airspeed),
            ("battery", "sim/sensors/battery", BatteryStatus, self._on_battery),
            ("rc", "sim/RC", RCRaw, self._on_rc),
            ("gnss", "sim/sensors/gnss", GNSS, self._on_gnss),
            ("status", "status", Status, self._on_status),
            ("outputs", "output_raw", OutputRaw, self._on_outputs),
        ):
            if want in wants:
                self._listen(topic, message_type, callback)
        # As often as the step itself, and needed far more rarely.
        self._estimate = Newest(node, topic_of(name, "attitude/euler"), Vector3Stamped) if "attitude" in wants else None
        for camera in CAMERAS if "images" in wants else ():
            topic = topic_of(name, f"camera/{camera}/image_raw/compressed")
            node.create_subscription(CompressedImage, topic, partial(self._on_image, camera), CHAIN)
        of_state = state_qos(str(node.values["time_mode"]))
        self._listen("sim/truth_wind", Vector3Stamped, self._on_wind, of_state)
        self._listen("sim/truth_state", SimState, self._on_truth, of_state)

    @abstractmethod
    def _on_truth(self, message: bytes) -> None:
        """Hear of a new state."""

    def _listen(self, topic: str, message_type: Any, callback: Callable[[bytes], None], qos: Any = CHAIN) -> None:
        self._node.listen(topic_of(self.name, topic), message_type, callback, qos)

    def _snapshot(self, time_ns: int) -> Snapshot:
        """What has been heard, at that time."""
        self._node.tell_time(time_ns)
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

    def _estimated(self, estimate: Newest) -> Vector3 | None:
        message = estimate.take()
        return self._attitude if message is None else EULER_WIRE.decode(message)[2:5]

    def _on_range(self, message: bytes) -> None:
        self._ranges = (RANGE_WIRE.decode(message)[RANGE_DISTANCE],)

    def _on_airspeed(self, message: bytes) -> None:
        self._airspeed = AIRSPEED_WIRE.decode(message)[2]

    def _on_battery(self, message: bytes) -> None:
        m = BATTERY_WIRE.decode(message)
        self._battery = m[2], m[3]

    def _on_rc(self, message: bytes) -> None:
        m = RC_WIRE.decode(message)
        self._rc_inputs.take(m[0] * NANOSECONDS + m[1], self.answered_ns, partial(self._set_rc, m[2:]))

    def _set_rc(self, rc_us: tuple[int, ...]) -> None:
        self._rc_us = rc_us

    def _on_image(self, camera: str, message: CompressedImage) -> None:
        self._images[camera] = bytes(message.data)

    def _on_wind(self, message: bytes) -> None:
        m = WIND_WIRE.decode(message)
        self._wind_ned = m[2:5]
        self._wind_ns = m[0] * NANOSECONDS + m[1]

    def _on_gnss(self, message: bytes) -> None:
        self._gnss = GnssReport._make(GNSS_WIRE.decode(message)[2:7])

    def _on_status(self, message: bytes) -> None:
        self._status = ControllerStatus._make(STATUS_WIRE.decode(message)[2:8])

    def _on_outputs(self, message: bytes) -> None:
        self._outputs = OUTPUT_WIRE.decode(message)[2:]
