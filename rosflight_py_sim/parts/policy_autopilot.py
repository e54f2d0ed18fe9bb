"""Autopilot of a multirotor that a policy flies."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.goals import Task
from rosflight_py_sim.autopilot.policy_mission import (
    GOAL_LIMIT,
    POLICY_MISSION_PARAMETERS,
    POLICY_TIME,
    PolicyMission,
    PolicyPhase,
)
from rosflight_py_sim.autopilot.position_controller import DirectCommands, PositionController
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.firmware import CommandMode
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value, Values, number
from rosflight_py_sim.ground.shared_parameters import MAX_YAW_RATE
from rosflight_py_sim.kernels.chain import keeps
from rosflight_py_sim.parts.autopilot import COMMAND_FREQUENCY
from rosflight_py_sim.parts.multirotor_autopilot import MultirotorAutopilot
from rosflight_py_sim.parts.policy import Array64, Motion, true_motion
from rosflight_py_sim.parts.policy_seat import POLICY_SEAT_PARAMETERS, PolicySeat
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.step.ports import newest
from rosflight_py_sim.step.topics import ATTITUDE, AttitudeEstimate
from rosflight_py_sim.step.vehicle_state import VehicleState

ACTIONS = Parameter(
    "actions",
    "attitude",
    "Meaning of the policy's four actions: attitude (roll, pitch, yaw rate, throttle), rates (roll, pitch and yaw "
    "rate, throttle) or velocity (forward, right and down, in the direction of the nose, and yaw rate)",
    choices=("attitude", "rates", "velocity"),
    read_only=True,
)

_FULL_RATE = Parameter(
    "policy_rate", 3.0, "Roll and pitch rate of an action of 1", "rad/s", minimum=0.01, maximum=100.0, read_only=True
)

# A policy's flight of this duration (s), the longest allowed, has no end.
_ENDLESS_S = 1e9


class PolicyAutopilot(PolicySeat, MultirotorAutopilot[PolicyMission]):
    """Takes off, lets a policy fly, and lands; a vehicle that starts in flight begins with the policy.

    The policy decides `command_frequency` times a second. Take-off and landing are those of the position controller,
    from the true motion.
    """

    PARAMETERS: ClassVar[ParameterTable] = (
        MultirotorAutopilot.PARAMETERS
        + ParameterTable(COMMAND_FREQUENCY.overridden("the rate of the policy's decisions", default=50.0))
        + POLICY_SEAT_PARAMETERS
        + ParameterTable(ACTIONS, _FULL_RATE)
        + POLICY_MISSION_PARAMETERS
    )
    PHASES = PolicyPhase
    PLANS_PATH = False
    WAYPOINT_RADIUS = GOAL_LIMIT

    def initialise(self) -> None:
        """Wait for the first state."""
        super().initialise()
        self._motion = Motion((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        self._dt = 0.0
        self._mode = CommandMode.ROLL_PITCH_YAWRATE_THROTTLE

    def configure(self, values: dict[str, Value]) -> None:
        """Build the controller, whose throttle is not limited in flight, and, once, the mission."""
        is_new = self._controller is None
        super().configure(values)
        if is_new:
            self.loops.reset(rotors_turn=self.mission.phase is PolicyPhase.POLICY)

    @property
    def loops(self) -> PositionController:
        """The position controller; available after the first `configure`."""
        assert self._controller is not None
        return self._controller

    @property
    def action_size(self) -> int:
        """Number of elements of the action."""
        return 4

    @property
    def task(self) -> Task:
        """Task of the mission."""
        return self.mission.task

    @property
    def awaits_guidance(self) -> bool:
        """Whether an observation waits for its action."""
        return self.is_waiting

    @property
    def is_over(self) -> bool:
        """Whether the vehicle lands or has landed."""
        return self.mission.phase > PolicyPhase.POLICY

    def new_mission(self, values: Values) -> PolicyMission:
        """A mission that has not begun, or that begins in flight."""
        return PolicyMission(values)

    def start_mission(self, state: VehicleState) -> str:
        """Take off, unless the vehicle has started in flight."""
        if self.mission.phase is PolicyPhase.POLICY:
            return "the policy is flying"
        return super().start_mission(state)

    def on_start(self) -> str:
        """Return what begins."""
        return f"taking off for the policy '{self.values['policy']}'"

    @newest(ATTITUDE, when="uses_sensors")
    def _on_attitude(self, message: AttitudeEstimate) -> None:
        self.sensed.take_attitude(message)

    def guide(self, state: VehicleState, dt: float) -> AutopilotCommand | None:
        """Command of the policy, or of the position controller in take-off and landing."""
        if self.mission.phase is not PolicyPhase.POLICY:
            return super().guide(state, dt)
        motion = self._motion = self.sensed.motion if self.uses_sensors() else true_motion(state.truth)
        self._dt = dt
        self.mission.setpoint(state.time_s, motion.position_ned, motion.velocity_ned)
        if self.mission.phase is not PolicyPhase.POLICY or self.mission.goal is None:
            self.loops.reset(rotors_turn=True)
            return super().guide(state, dt)
        self.decide(motion, self.mission.goal)
        return None

    def perform(self, action: list[float]) -> None:
        """Send the command."""
        goal = self.goal
        assert goal is not None
        scales = self._scales()
        if scales is None:
            mode, values = CommandMode.ROLL_PITCH_YAWRATE_THROTTLE, self._velocity(action)
        else:
            x, y, z, thrust = action
            by_x, by_y, by_z = scales
            mode, values = self._mode, (0.5 + 0.5 * thrust, x * by_x, y * by_y, z * by_z)
        command = AutopilotCommand(mode, (0.0, 0.0, *values, 0.0, 0.0, 0.0, 0.0), goal.position_ned, goal.yaw_rad)
        self.send_guidance(self._guided_ns, command)

    def _scales(self) -> Vector3 | None:
        """Roll, pitch and yaw command of an action of 1; None if the command depends on more than the action."""
        actions = self.values[ACTIONS.name]
        turn_rate = number(self.values, MAX_YAW_RATE.name)
        if actions == "attitude":
            self._mode = CommandMode.ROLL_PITCH_YAWRATE_THROTTLE
            tilt = number(self.values, "max_tilt")
            return tilt, tilt, turn_rate
        if actions == "rates":
            self._mode = CommandMode.ROLLRATE_PITCHRATE_YAWRATE_THROTTLE
            rate = number(self.values, _FULL_RATE.name)
            return rate, rate, turn_rate
        return None

    def steady_scales(self) -> Array64 | None:
        """Factors of `write_commands`; None with sensors, another goal later, or actions that are velocities.

        The mode of the command in the chain is then set.
        """
        scales = self._scales()
        is_steady = self.task.IS_STEADY and number(self.values, POLICY_TIME.name) >= _ENDLESS_S
        is_own = (
            keeps(type(self), "steady_scales", "guide", "decide", "perform") and type(self.mission) is PolicyMission
        )
        if scales is None or not is_steady or not is_own or self.uses_sensors():
            return None
        if self.mission.phase is not PolicyPhase.POLICY:
            return None
        assert self.goal is not None
        self.prepare_command(self._mode, self.goal)
        return np.array(scales)

    def _velocity(self, action: list[float]) -> tuple[float, float, float, float]:
        """Throttle, roll, pitch and yaw rate that lead to a velocity."""
        forward, right, down, turn = action
        speed = number(self.values, "max_speed")
        fastest = number(self.values, "max_descent_speed" if down > 0.0 else "max_climb_speed")
        motion = self._motion
        _, _, yaw = euler_from_quaternion(*motion.quaternion)
        ahead, aside = forward * speed, right * speed
        north = ahead * math.cos(yaw) - aside * math.sin(yaw)
        east = ahead * math.sin(yaw) + aside * math.cos(yaw)
        given = DirectCommands(yaw_rate_rps=turn * number(self.values, MAX_YAW_RATE.name))
        roll, pitch, turn_rate, throttle = self.loops.hold_velocity(
            motion.velocity_ned, yaw, (north, east, down * fastest), yaw, self._dt, given=given
        )
        return throttle, roll, pitch, turn_rate


def write_commands(actions: Array64, scales: Array64, commands: Array64) -> None:
    """Write the commands of several vehicles to the memory of their chains, as `PolicyAutopilot.perform` does.

    Args:
        actions: actions of the forms `attitude` or `rates` (n, 4).
        scales: roll, pitch and yaw command of an action of 1 (n, 3), of `steady_scales`.
        commands: `command_numbers` (n, 12), with mode and bits of values to ignore.
    """
    commands[:, 4] = 0.5 + 0.5 * actions[:, 3]
    commands[:, 5:8] = actions[:, :3] * scales
