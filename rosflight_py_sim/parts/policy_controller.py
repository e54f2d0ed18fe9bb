"""Flight controller that is a policy: its actions drive motors, servos or thrusters directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

import numpy as np

from rosflight_py_sim.autopilot.goals import GOAL_PARAMETERS, Task, new_task
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value, number
from rosflight_py_sim.ground.pulse_width import CENTRE_US, MOTOR, OUTPUTS, SERVO, Travel, pulse_of
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import Cells, ChainLink, Due, StepTime, Taken, gate
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.parts.autopilot import COMMAND_FREQUENCY
from rosflight_py_sim.parts.policy import true_motion
from rosflight_py_sim.parts.policy_seat import POLICY_SEAT_PARAMETERS, PolicySeat
from rosflight_py_sim.step.numbers import cell_of
from rosflight_py_sim.step.ports import output, repeated, synchronized, trigger
from rosflight_py_sim.step.schedule import Schedule, skip_unless_due
from rosflight_py_sim.step.topics import IMU, PWM_OUTPUT, TRUTH_STATE, ImuSample, PulseWidths
from rosflight_py_sim.step.vehicle_state import VehicleState

OUTPUT_KINDS = Parameter(
    "output_kinds",
    [],
    "What each output drives: motor, servo (also thrusters) or none; from the vehicle file",
    element=str,
    choices=("motor", "servo", "none"),
    read_only=True,
)


class PolicyController(PolicySeat):
    """Flies a vehicle by a policy from the first IMU message on, in the flight controller's place.

    Each action is the command of an actuator, in the order of the outputs: -1 to 1 is throttle 0 to 1 of a motor, and
    -1 to 1 of a servo or thruster. The policy decides `command_frequency` times a second; between its decisions the
    outputs stay. It has no take-off: a multirotor starts in flight, or the policy takes off.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.FLIGHT_CONTROLLER
    DEFAULT_NAME: ClassVar[str] = "policy_controller"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(
            TIME_MODE,
            COMMAND_FREQUENCY.overridden("the rate of the policy's decisions", default=50.0),
            OUTPUT_KINDS,
        )
        + POLICY_SEAT_PARAMETERS
        + GOAL_PARAMETERS
    )

    send_pwm = output(PWM_OUTPUT)

    def initialise(self) -> None:
        """Stop the actuators."""
        super().initialise()
        self._task: Task | None = None
        self._state = VehicleState()
        self._since_ns = self._stamp_ns = -1
        self._pulses = np.full(OUTPUTS, CENTRE_US, dtype=np.int64)
        self._is_chained = False

    def configure(self, values: dict[str, Value]) -> None:
        """Begin the task, once.

        Raises:
            ParameterError: no output drives an actuator, or the values of the task do not fit together.
        """
        kinds = cast("list[str]", values[OUTPUT_KINDS.name])
        self._travels: list[tuple[int, Travel]] = [
            (index, MOTOR if kind == "motor" else SERVO) for index, kind in enumerate(kinds) if kind != "none"
        ]
        if not self._travels or len(kinds) > OUTPUTS:
            raise ParameterError(
                f"parameter 'output_kinds': {kinds} given; allowed: up to {OUTPUTS} texts, at least one of them motor "
                "or servo"
            )
        super().configure(values)
        if self._task is None:
            self._task = new_task(values)
            self._schedule = Schedule(number(values, COMMAND_FREQUENCY.name))

    @property
    def task(self) -> Task:
        """The task; available after the first `configure`."""
        assert self._task is not None
        return self._task

    @property
    def action_size(self) -> int:
        """Number of actuators."""
        return len(self._travels)

    @synchronized(TRUTH_STATE, when="uses_truth")
    def _on_truth(self, state: VehicleState) -> None:
        self._state = state

    def uses_truth(self) -> bool:
        """Whether the true state is an input."""
        return not self.uses_sensors()

    imu = trigger(IMU, rate=COMMAND_FREQUENCY.name, needed=True)
    repetition = repeated()

    def answer(self, time_ns: int, content: ImuSample | None) -> None:
        """Send the outputs, after a decision if one is due."""
        if content is not None and self.uses_sensors():
            self.sensed.take_imu(content)
        self._stamp_ns = time_ns
        if not self._schedule.due(time_ns):
            self.answer_again(time_ns)
            return
        self._decide(time_ns)

    def _decide(self, time_ns: int) -> None:
        motion = self.sensed.motion if self.uses_sensors() else true_motion(self._state.truth)
        if not 0 <= self._since_ns <= time_ns:
            self._since_ns = time_ns
        self.decide(motion, self.task.goal((time_ns - self._since_ns) / NANOSECONDS, motion.position_ned))

    def answer_again(self, time_ns: int) -> None:
        """Send the last outputs."""
        self.send_pwm(self._outputs(time_ns))

    def _outputs(self, time_ns: int) -> PulseWidths:
        return PulseWidths(time_ns, tuple(self._pulses.tolist()))

    def perform(self, action: list[float]) -> None:
        """Send the outputs of an action."""
        for (output_number, travel), command in zip(self._travels, action, strict=True):
            share = 0.5 + 0.5 * command if travel is MOTOR else command
            self._pulses[output_number] = round(pulse_of(share, travel))
        if not self._is_chained:
            self.answer_again(self._stamp_ns)

    # Compiled answers.

    @property
    def seen_state(self) -> VehicleState:
        """A copy of the true state of the last decision."""
        return VehicleState(self._state.time_ns, self._state.truth.copy())

    def cells(self) -> Cells:
        """The pulse widths."""
        return cell_of(PWM_OUTPUT, self._pulses, self._outputs)

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Decide when a decision is due; None with sensors, whose messages the filter of the attitude needs."""
        if self.uses_sensors():
            return None
        truth, periods = cells[TRUTH_STATE.name], self._schedule.periods()

        def decide(time_ns: int) -> bool:
            self._is_chained, self._stamp_ns = True, time_ns
            self._state = truth.message(time_ns)
            self._decide(time_ns)
            return self.is_waiting

        def leave(answered_ns: int) -> None:
            self._is_chained = False
            self._schedule.store(periods)

        return (
            ChainLink(bound(skip_unless_due, time, periods, 1), leave=leave),
            gate(time, Due(at_ns=0), decide),
        )
