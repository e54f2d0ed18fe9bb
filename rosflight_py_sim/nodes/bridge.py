"""The bridge: a program that speaks another simulator's protocol flies the vehicle, in the autopilot's place."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from geometry_msgs.msg import Vector3Stamped
from rosflight_msgs.msg import SimState
from sensor_msgs.msg import Imu
from std_msgs.msg import String

from rosflight_py_sim.bridge.ardupilot_front_end import ArduPilotFrontEnd
from rosflight_py_sim.bridge.front_end_interface import FrontEndInterface, Snapshot
from rosflight_py_sim.bridge.socket_watch import SocketWatch
from rosflight_py_sim.interfaces.dynamics_interface import WIND_WIRE
from rosflight_py_sim.interfaces.forces_and_moments_interface import PWM_WIRE
from rosflight_py_sim.interfaces.qos import CHAIN, LATCHED
from rosflight_py_sim.interfaces.sensor_interface import IMU_ACCEL, IMU_GYRO, IMU_WIRE
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.interfaces.wire import NANOSECONDS
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterTable

FRONT_ENDS: dict[str, type[FrontEndInterface]] = {"ardupilot": ArduPilotFrontEnd}
"""Value of the parameter front_end to the class that speaks the protocol."""

# A partner that has said nothing for one to two of these is being waited for.
_LOOK_S = 1.0


class Bridge(SimulationNode):
    """Fills the autopilot slot with a program behind a socket: answers each IMU message with the program's PWM.

    The front-end is shown the simulation at the IMU's time t, and what it commands is published with the stamp t; until
    it does, the simulation holds still. An IMU message that comes again gets the same PWM again, or goes on waiting.
    Who is waited for is told on sim/waiting_for (empty: nobody).
    """

    DEFAULT_NAME: ClassVar[str] = "bridge"
    FILLS: ClassVar[tuple[str, ...]] = ("sil_board",)
    PARAMETERS: ClassVar[ParameterTable] = sum(
        (front_end.PARAMETERS for front_end in FRONT_ENDS.values()),
        start=ParameterTable(
            Parameter(
                "time_mode",
                "lockstep",
                "Who advances the simulation; a program behind the bridge needs steps that wait for it",
                choices=("lockstep",),
                read_only=True,
            ),
            Parameter(
                "front_end", "ardupilot", "Protocol that the bridge speaks", choices=tuple(FRONT_ENDS), read_only=True
            ),
        ),
    )

    # Here because a node that refuses its parameters is destroyed, too.
    _listens = False

    def __init__(self, **arguments: Any) -> None:
        """Open the front-end's sockets and wait for the first step."""
        super().__init__(**arguments)
        self._state = VehicleState()
        self._wind_ns = -1
        self._wind_ned = (0.0, 0.0, 0.0)
        self._imu_ns = -1
        self._gyro = self._accel_body = (0.0, 0.0, 0.0)
        self._answered_ns = -1
        self._pwm: list[int] = []
        self._pending: Snapshot | None = None
        self._pending_before: Snapshot | None = None
        self._waiting = False
        self.front_end = FRONT_ENDS[str(self.values["front_end"])](self.values, self.get_logger())
        self.front_end.open()
        self._watch = SocketWatch(self.front_end.fileno(), self._wake)
        self._listens = True
        self.follow_stamps()
        self._send_pwm = self.publisher("sim/pwm_output", PWM_WIRE, CHAIN)
        self._waiting_for = self.create_publisher(String, "sim/waiting_for", LATCHED)
        self.listen("sim/truth_wind", Vector3Stamped, self._on_wind, LATCHED)
        self.listen("sim/truth_state", SimState, self._on_truth, LATCHED)
        self.listen("sim/sensors/imu/data", Imu, self._on_imu, CHAIN)
        self.create_system_timer(_LOOK_S, self._on_look)

    def destroy_node(self) -> None:
        """Close the sockets, too."""
        self._pending = None
        if self._listens:
            self._watch.close()
            self.front_end.close()
        super().destroy_node()

    def _on_wind(self, message: bytes) -> None:
        m = WIND_WIRE.decode(message)
        self._wind_ned = m[2:5]
        self._wind_ns = m[0] * NANOSECONDS + m[1]
        self._begin_if_complete()

    def _on_truth(self, message: bytes) -> None:
        self._state.read(message)
        self._begin_if_complete()

    def _on_imu(self, message: bytes) -> None:
        m = IMU_WIRE.decode(message)
        stamp = m[0] * NANOSECONDS + m[1]
        if stamp == self._answered_ns:
            self._send_pwm(stamp, *self._pwm)
            return
        # Asked a second time, the state of that time is lost (a node was restarted): the newest one must do.
        asked_again = stamp == self._imu_ns and self._state.time_ns >= 0
        self._imu_ns = stamp
        self._gyro, self._accel_body = m[IMU_GYRO], m[IMU_ACCEL]
        if asked_again and self._pending is None:
            self._begin()
        else:
            self._begin_if_complete()

    def _begin_if_complete(self) -> None:
        known = self._answered_ns if self._pending is None else self._pending.time_ns
        if known != self._imu_ns == self._state.time_ns == self._wind_ns:
            self._begin()

    def _begin(self) -> None:
        self.tell_time(self._imu_ns)
        truth = np.copy(self._state.truth)
        self._pending = Snapshot(self._imu_ns, truth, self._wind_ned, self._gyro, self._accel_body)
        self._exchange()

    def _wake(self) -> None:
        """Hand over from the thread that watches the socket: guard conditions are unknown to the EventsExecutor."""
        executor = self.executor
        if executor is not None:
            executor.create_task(self._exchange)

    def _exchange(self) -> None:
        pending = self._pending
        if pending is None:
            return
        pwm = self.front_end.exchange(pending)
        if pwm is None:
            self._watch.arm()
            return
        self._pending = None
        self._answered_ns, self._pwm = pending.time_ns, pwm
        self._send_pwm(pending.time_ns, *pwm)
        if self._waiting:
            self._tell_waiting(False, pending.time_ns)

    def _on_look(self) -> None:
        pending = self._pending
        if pending is not None and pending is self._pending_before and not self._waiting:
            self._tell_waiting(True, pending.time_ns)
        self._pending_before = pending

    def _tell_waiting(self, waiting: bool, time_ns: int) -> None:
        self._waiting = waiting
        partner = self.front_end.partner
        self._waiting_for.publish(String(data=partner if waiting else ""))
        at = f"at {time_ns / NANOSECONDS:.6g} s"
        if waiting:
            self.get_logger().info(f"waiting for {partner}; the simulation holds still {at}")
        else:
            self.get_logger().info(f"{partner} is there; the simulation goes on {at}")


def main() -> None:
    """Run the node."""
    run(Bridge)


if __name__ == "__main__":
    main()
