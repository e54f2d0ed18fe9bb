"""Companion computer of a multirotor: flies the mission by commanding attitude and throttle."""

from __future__ import annotations

from typing import Any, ClassVar

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.mission import MISSION_PARAMETERS, Mission, Phase
from rosflight_py_sim.autopilot.position_controller import IDLE, POSITION_CONTROLLER_PARAMETERS, PositionController
from rosflight_py_sim.interfaces.autopilot_interface import AutopilotInterface
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterTable, Value
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial


class Autopilot(AutopilotInterface):
    """Flies a square: publishes `command` from the true position and velocity once autopilot/start has been called.

    autopilot/setpoint is a reference that moves along the square independently of the vehicle.
    """

    PARAMETERS: ClassVar[ParameterTable] = (
        AutopilotInterface.PARAMETERS + POSITION_CONTROLLER_PARAMETERS + MISSION_PARAMETERS
    )
    PHASES = Phase
    LANDS = True

    def __init__(self, **arguments: Any) -> None:
        """Wait for the start."""
        self._controller: PositionController | None = None
        self._mission: Mission | None = None
        super().__init__(**arguments)

    def configure(self, values: dict[str, Value]) -> None:
        """Build the controller; a mission under way keeps its plan."""
        controller = PositionController(values)
        if self._controller is not None:
            controller.adopt(self._controller)
        self._controller = controller
        if self._mission is None:
            self._mission = Mission(values)

    @property
    def controller(self) -> PositionController:
        """The controller; available after the first `configure`."""
        assert self._controller is not None
        return self._controller

    @property
    def mission(self) -> Mission:
        """The mission; available after the first `configure`."""
        assert self._mission is not None
        return self._mission

    @property
    def phase(self) -> Phase:
        """Phase of the mission."""
        return self.mission.phase

    @property
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1."""
        return self.mission.progress

    def start_mission(self, state: VehicleState) -> str:
        """Take off from the current position.

        Raises:
            RuntimeError: the mission is under way.
        """
        if self.mission.thrust_on:
            raise RuntimeError(f"the mission is under way: {self.mission.phase.label}")
        _, _, yaw = euler_from_quaternion(*state.quaternion.tolist())
        mission = Mission(self.values)
        mission.start(state.time_s, state.position_ned.tolist(), yaw)
        self._mission = mission
        self.publish_path((*mission.corners_ned, mission.corners_ned[0]))
        return f"taking off, about {mission.nominal_duration_s:.0f} s to fly"

    def guide(self, state: VehicleState, dt: float) -> AutopilotCommand:
        """Attitude and throttle that lead to the moving reference."""
        mission, controller = self.mission, self.controller
        position = state.position_ned.tolist()
        velocity = rotate_to_inertial(*state.quaternion.tolist(), *state.velocity_body.tolist())
        setpoint = mission.setpoint(state.time_s, position, velocity)
        if mission.thrust_on:
            _, _, yaw = euler_from_quaternion(*state.quaternion.tolist())
            c = controller.update(position, velocity, yaw, setpoint, dt)
        else:
            controller.reset()
            c = IDLE
        return c.autopilot_command(setpoint.position_ned, setpoint.yaw_rad)


def main() -> None:
    """Run the node."""
    run(Autopilot)


if __name__ == "__main__":
    main()
