"""The companion computer: flies the mission by commanding attitude and throttle."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from geometry_msgs.msg import PoseStamped
from rosflight_msgs.msg import Command, SimState
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.mission import MISSION_PARAMETERS, Mission
from rosflight_py_sim.autopilot.position_controller import IDLE, POSITION_CONTROLLER_PARAMETERS, PositionController
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.interfaces.dynamics_interface import LONGEST_STEP_NS
from rosflight_py_sim.interfaces.qos import CHAIN, LATCHED
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.interfaces.wire import NANOSECONDS, WireFormat, stamp_ns
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.nodes.sil_board import COMMAND_WIRE
from rosflight_py_sim.parameters import Parameter, ParameterTable, Value, number
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial

SETPOINT_WIRE = WireFormat(PoseStamped, frame_id="NED")

_PROGRESS_RATE_HZ = 10.0


class Autopilot(SimulationNode):
    """Flies a square: publishes `command` from the true position and velocity once autopilot/start has been called.

    The mission's phase is told on autopilot/phase, how much of it is over on autopilot/progress (0 to 1), and the
    moving reference on autopilot/setpoint (NED).
    """

    DEFAULT_NAME: ClassVar[str] = "autopilot"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(
            Parameter("command_frequency", 100.0, "Rate of commands", "Hz", minimum=1.0, maximum=400.0, read_only=True),
        )
        + POSITION_CONTROLLER_PARAMETERS
        + MISSION_PARAMETERS
    )

    def __init__(self, **arguments: Any) -> None:
        """Listen to the truth state and wait."""
        self._controller: PositionController | None = None
        self._state = VehicleState()
        self._last_ns = -1
        self._phase = ""
        super().__init__(**arguments)
        self._mission = Mission(self.values)
        self._schedule = Schedule(number(self.values, "command_frequency"))
        self._progress_schedule = Schedule(_PROGRESS_RATE_HZ)
        self._send_command = self.publisher("command", COMMAND_WIRE, CHAIN)
        self._send_setpoint = self.publisher("autopilot/setpoint", SETPOINT_WIRE, CHAIN)
        self._publish_phase = self.create_publisher(String, "autopilot/phase", LATCHED).publish
        self._publish_progress = self.create_publisher(Float64, "autopilot/progress", CHAIN).publish
        self.create_service(Trigger, "autopilot/start", self._start)
        self.listen("sim/truth_state", SimState, self._on_truth, CHAIN)
        self._tell_phase()

    def configure(self, values: dict[str, Value]) -> None:
        """Build the controller; a mission under way keeps its plan."""
        controller = PositionController(values)
        if self._controller is not None:
            controller.adopt(self._controller)
        self._controller = controller

    def _start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._state.time_ns < 0:
            response.message = "no sim/truth_state yet"
            return response
        if self._mission.thrust_on:
            response.message = f"the mission is under way: {self._mission.phase.label}"
            return response
        _, _, yaw = euler_from_quaternion(*self._state.quaternion.tolist())
        self._mission = Mission(self.values)
        self._mission.start(self._state.time_s, self._state.position_ned.tolist(), yaw)
        self._tell_phase()
        response.success = True
        response.message = f"taking off, about {self._mission.nominal_duration_s:.0f} s to fly"
        return response

    def _on_truth(self, message: bytes) -> None:
        time_ns = stamp_ns(message)
        if time_ns == self._last_ns or not self._schedule.due(time_ns):
            return
        state = self._state
        state.read(message)
        elapsed_ns = state.time_ns - self._last_ns
        # A longer gap, or time going back, is a restart of another node: integrators must not see it.
        known = self._last_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        dt = elapsed_ns / NANOSECONDS if known else 0.0
        self._last_ns = state.time_ns
        velocity = rotate_to_inertial(*state.quaternion.tolist(), *state.velocity_body.tolist())
        setpoint = self._mission.setpoint(state.time_s, state.position_ned.tolist(), velocity)
        self._command(state, velocity, setpoint, dt)
        x, y, z = setpoint.position_ned
        half = 0.5 * setpoint.yaw_rad
        self._send_setpoint(state.time_ns, x, y, z, 0.0, 0.0, math.sin(half), math.cos(half))
        self._tell_phase()
        if self._progress_schedule.due(state.time_ns):
            self._publish_progress(Float64(data=self._mission.progress))

    def _command(self, state: VehicleState, velocity_ned: Vector3, setpoint: Setpoint, dt: float) -> None:
        controller = self._controller
        assert controller is not None
        if self._mission.thrust_on:
            _, _, yaw = euler_from_quaternion(*state.quaternion.tolist())
            c = controller.update(state.position_ned.tolist(), velocity_ned, yaw, setpoint, dt)
        else:
            controller.reset()
            c = IDLE
        u = (0.0, 0.0, c.throttle, c.roll_rad, c.pitch_rad, c.yaw_rate_rps, 0.0, 0.0, 0.0, 0.0)
        self._send_command(state.time_ns, Command.MODE_ROLL_PITCH_YAWRATE_THROTTLE, Command.IGNORE_NONE, *u)

    def _tell_phase(self) -> None:
        label = self._mission.phase.label
        if label != self._phase:
            self._phase = label
            self._publish_phase(String(data=label))


def main() -> None:
    """Run the node."""
    run(Autopilot)


if __name__ == "__main__":
    main()
