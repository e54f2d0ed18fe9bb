"""Mission of a policy: take off, let the policy fly, land. A state machine in simulated time that yields setpoints."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.autopilot.goals import GOAL_PARAMETERS, Goal, new_task
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.autopilot.straight_leg import StraightLeg
from rosflight_py_sim.autopilot.take_off_and_landing import VERTICAL_PARAMETERS, TouchDown, climb, descent
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import STARTS_IN_FLIGHT

POLICY_TIME = Parameter(
    "policy_time",
    20.0,
    "Time for which the policy flies, unless its task is done earlier; then the vehicle lands",
    "s",
    minimum=0.0,
    maximum=1e9,
)

GOAL_LIMIT = Parameter(
    "goal_limit",
    10.0,
    "Largest distance from the goal, during the policy's flight, in a completed mission",
    "m",
    minimum=0.01,
    maximum=1e6,
)

POLICY_MISSION_PARAMETERS = (
    GOAL_PARAMETERS
    + ParameterTable(
        POLICY_TIME,
        GOAL_LIMIT,
        Parameter(
            "policy_height",
            5.0,
            "Height above the take-off point at which the policy takes over",
            "m",
            minimum=0.1,
            maximum=1e4,
        ),
        Parameter(
            "policy_acceleration",
            1.0,
            "Largest acceleration in the climb before the policy's flight, and in the descent after it",
            "m/s^2",
            minimum=0.01,
            maximum=200.0,
        ),
        STARTS_IN_FLIGHT,
    )
    + VERTICAL_PARAMETERS
)


class PolicyPhase(MissionPhase):
    """Phase of the mission; the numbers are those of the flight log."""

    WAIT = 0
    TAKE_OFF = 1
    POLICY = 2
    LAND = 3
    DONE = 4

    @property
    def on_path(self) -> bool:
        """Whether the policy flies."""
        return self is PolicyPhase.POLICY


class PolicyMission:
    """Take off to a height, follow the goals of a task, land where the task ends.

    The mission waits until `start`, or, with `starts_in_flight`, begins with the policy's flight. Each call of
    `setpoint` advances it. The ground is level with the take-off point, or with the origin after a start in flight.

    Attributes:
        phase: phase after the last call of `setpoint`.
        task: the task, which begins with the policy's flight.
        goal: goal of the policy after the last call of `setpoint`; before its flight, None.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of POLICY_MISSION_PARAMETERS; others are ignored.

        Raises:
            ParameterError: the values of the task do not fit together.
        """
        self._values = values
        self.task = new_task(values)
        self.goal: Goal | None = None
        self.phase = PolicyPhase.POLICY if values[STARTS_IN_FLIGHT.name] else PolicyPhase.WAIT
        self._touch_down = TouchDown(values)
        self._home: Vector3 = (0.0, 0.0, 0.0)
        self._yaw_rad = self.task.yaw_rad
        self._legs: tuple[StraightLeg, ...] = ()
        self._since_s: float | None = None

    @property
    def progress(self) -> float:
        """Completed share of the phases, 0 to 1."""
        return self.phase / PolicyPhase.DONE

    @property
    def thrust_on(self) -> bool:
        """Whether the vehicle is flying or about to take off."""
        return self.phase not in (PolicyPhase.WAIT, PolicyPhase.DONE)

    def start(self, time_s: float, position_ned: Sequence[float], yaw_rad: float) -> None:
        """Start the take-off from `position_ned` (m) at the yaw angle `yaw_rad`.

        Raises:
            RuntimeError: the mission has already begun.
        """
        if self.phase is not PolicyPhase.WAIT:
            raise RuntimeError(f"the mission has already begun: {self.phase.label}")
        north, east, down = map(float, position_ned)
        self._home, self._yaw_rad = (north, east, down), yaw_rad
        height, acceleration = number(self._values, "policy_height"), number(self._values, "policy_acceleration")
        self._legs = (climb(self._values, self._home, height, acceleration),)
        self._begin(PolicyPhase.TAKE_OFF, time_s)

    def setpoint(self, time_s: float, position_ned: Sequence[float], velocity_ned: Sequence[float]) -> Setpoint:
        """Setpoint for the simulated time `time_s`, given the vehicle's position (m) and velocity (m/s)."""
        north, east, down = map(float, position_ned)
        here, phase = (north, east, down), self.phase
        lands = phase is PolicyPhase.LAND or (phase is PolicyPhase.POLICY and self.task.ENDS_ON_GROUND)
        if lands and self._touch_down.detected(time_s, self._home[2] - down, float(velocity_ned[2])):
            self._begin(PolicyPhase.DONE, time_s)
        if not self.thrust_on:
            return Setpoint(here, yaw_rad=self._yaw_rad)
        if self.phase is PolicyPhase.TAKE_OFF and self._elapsed(time_s) >= self._legs[0].duration:
            self._begin(PolicyPhase.POLICY, time_s)
        if self.phase is PolicyPhase.POLICY:
            if not self.task.is_done and self._elapsed(time_s) < number(self._values, POLICY_TIME.name):
                goal = self.goal = self.task.goal(self._elapsed(time_s), here)
                return Setpoint(goal.position_ned, goal.velocity_ned, goal.yaw_rad)
            acceleration = number(self._values, "policy_acceleration")
            self._legs = descent(self._values, here, self._home[2], acceleration)
            self._begin(PolicyPhase.LAND, time_s)
        return self._on_leg(self._elapsed(time_s))

    def _elapsed(self, time_s: float) -> float:
        """Time since the beginning of the phase, s; the first call begins that of a start in flight."""
        if self._since_s is None:
            self._since_s = time_s
        return time_s - self._since_s

    def _begin(self, phase: PolicyPhase, time_s: float) -> None:
        self.phase, self._since_s = phase, time_s

    def _on_leg(self, elapsed: float) -> Setpoint:
        first, last = self._legs[0], self._legs[-1]
        leg, elapsed = (first, elapsed) if elapsed < first.duration else (last, elapsed - first.duration)
        position, velocity, acceleration = leg.at(elapsed)
        return Setpoint(position, velocity, self._yaw_rad, acceleration)
