"""Autopilots of multirotors: a mission that yields setpoints, and the position controller."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.leg_flight import LegFlight, guide_along_leg
from rosflight_py_sim.autopilot.position_controller import IDLE, POSITION_CONTROLLER_PARAMETERS, PositionController
from rosflight_py_sim.autopilot.setpoint import Setpoint
from rosflight_py_sim.autopilot.take_off_and_landing import Stillness
from rosflight_py_sim.ground.parameters import ParameterTable, Value, Values
from rosflight_py_sim.kernels.chain import Cells, Tick, keeps
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.parts.autopilot import AutopilotPart, Mission, MissionAutopilot
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState


class SetpointMission(Mission, Protocol):
    """A mission that moves a setpoint in simulated time; positions NED, m. `setpoint` may change the phase."""

    @property
    def thrust_on(self) -> bool:
        """Whether the vehicle flies or is about to; otherwise motors idle and integrators are reset."""

    def start(self, time_s: float, position_ned: Sequence[float], yaw_rad: float) -> None:
        """Start the take-off.

        Raises:
            RuntimeError: the mission cannot begin now, with the reason.
        """

    def setpoint(self, time_s: float, position_ned: Sequence[float], velocity_ned: Sequence[float]) -> Setpoint:
        """Setpoint for a time, given the vehicle's position (m) and velocity (m/s)."""


S = TypeVar("S", bound=SetpointMission)


class MultirotorAutopilot(MissionAutopilot[S], Generic[S]):
    """Flies a mission: publishes `command` from the true position and velocity once autopilot/start has been called.

    autopilot/setpoint moves independently of the vehicle.
    """

    PARAMETERS: ClassVar[ParameterTable] = AutopilotPart.PARAMETERS + POSITION_CONTROLLER_PARAMETERS

    _controller: PositionController | None = None

    def configure(self, values: dict[str, Value]) -> None:
        """Build the controller; a mission under way keeps its plan."""
        controller = PositionController(values)
        if self._controller is not None:
            controller.adopt(self._controller)
        self._controller = controller
        if not hasattr(self, "mission"):
            self.mission = self.new_mission(values)

    @abstractmethod
    def new_mission(self, values: Values) -> S:
        """A mission that has not begun."""

    @abstractmethod
    def on_start(self) -> str:
        """Publish the plan of the mission that has just begun, and return the reply of autopilot/start."""

    def start_mission(self, state: VehicleState) -> str:
        """Take off from the current position.

        Raises:
            RuntimeError: the mission is under way, or cannot begin now.
        """
        if self.mission.thrust_on:
            raise RuntimeError(f"the mission is under way: {self.mission.phase.label}")
        _, _, yaw = euler_from_quaternion(*state.quaternion.tolist())
        mission = self.new_mission(self.values)
        mission.start(state.time_s, state.position_ned.tolist(), yaw)
        self.mission = mission
        return self.on_start()

    def guide(self, state: VehicleState, dt: float) -> AutopilotCommand | None:
        """Attitude and throttle that lead to the moving setpoint."""
        mission, controller = self.mission, self._controller
        assert controller is not None
        north, east, down, qw, qx, qy, qz, u, v, w = state.truth[:10].tolist()
        position = north, east, down
        velocity = rotate_to_inertial(qw, qx, qy, qz, u, v, w)
        setpoint = mission.setpoint(state.time_s, position, velocity)
        if mission.thrust_on:
            _, _, yaw = euler_from_quaternion(qw, qx, qy, qz)
            c = controller.update(position, velocity, yaw, setpoint, dt)
        else:
            controller.reset()
            c = IDLE
        return c.autopilot_command(setpoint.position_ned, setpoint.yaw_rad)

    def guide_link(
        self,
        tick: Tick,
        cells: Cells,
        command: NDArray[np.float64],
        target: NDArray[np.float64],
    ) -> Callable[[], bool] | None:
        """`guide` of a mission of straight legs as a kernel."""
        mission, controller = self.mission, self._controller
        assert controller is not None
        # State of the mission and of its touch-down detection, which kernels advance as `setpoint` does.
        legs: tuple[LegFlight, Stillness] | None = getattr(mission, "leg_flight", None)
        if legs is None or not keeps(type(mission), "leg_flight", "setpoint", "thrust_on"):
            return None
        if not keeps(type(self), "guide_link", "guide", "phase", "progress"):
            return None
        truth = cells[TRUTH_STATE.name].memory
        return bound(guide_along_leg, tick, *legs, *controller.loops, truth, command, target)
