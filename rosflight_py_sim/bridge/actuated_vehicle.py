"""A vehicle of the bridge with a front-end as flight controller: each step waits for the front-end's commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

import numpy as np
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.bridge.bridged_vehicle import VehicleFrontEnds
from rosflight_py_sim.bridge.commanded_vehicle import CommandedVehicle
from rosflight_py_sim.bridge.front_end_interface import START_OVER, ActuatorFrontEnd, Snapshot
from rosflight_py_sim.ground.parameters import ParameterTable, Value, Values
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.shared_parameters import START_DATE, STEP_SIZE, TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS, seconds_text
from rosflight_py_sim.ground.transitions import TableEnum, TransitionMachine, Transitions
from rosflight_py_sim.kernels.chain import Cells, ChainLink, Due, StepTime, Taken, is_due
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.numbers import cell_of
from rosflight_py_sim.step.part import Log
from rosflight_py_sim.step.ports import calls, newest, output
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    IMU,
    PWM_OUTPUT,
    SIM_STEP_SIZE,
    SIM_STEP_SIZE_REQUEST,
    TRUTH_STATE,
    TRUTH_WIND,
    WAITING_FOR,
    ImuSample,
    PulseWidths,
    StepSize,
    topic_of,
    vector3,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

_WAITING_TIME_MODE = TIME_MODE.overridden("steps wait for a client", default="lockstep", choices=("lockstep",))

# Calls of `check` without a reply after which it is overdue. Resetting a JSBSim aircraft reloads it, which takes long.
_OVERDUE_CALLS = 5

# A step is cut to whole nanoseconds, so that its rate is not below the requested one: ArduPilot, which cuts rates to
# whole hertz, would read the next lower one. The fraction is for the rounding error of a length in seconds.
_ROUNDING_NS = 1e-6

_NO_REQUEST = StepSize(0, 0, is_requested=True)


class ExchangeState(TableEnum):
    """Stages of the exchange between a vehicle and the front-end."""

    STEPPING = "stepping"
    AWAITING_COMMANDS = "awaiting commands"
    ANSWERED = "answered"
    RESETTING = "resetting"
    SERVICES_REPLIED = "services replied, awaiting the state"
    STATE_RESET = "state reset, awaiting replies"


class ExchangeEvent(TableEnum):
    """Events that may change the state."""

    SNAPSHOT = "snapshot complete"
    COMMANDS = "commands from the front-end"
    START_OVER = "START_OVER from the front-end"
    PUBLISH = "step may begin"
    RESET_DONE = "reply of the last reset service"
    NEW_STATE = "new state"
    OVERDUE = f"no reply for {_OVERDUE_CALLS} s"


# The vehicle is being reset to its start.
_STARTS_OVER = (ExchangeState.RESETTING, ExchangeState.SERVICES_REPLIED, ExchangeState.STATE_RESET)


class ActuatedVehicle(CommandedVehicle):
    """Answers the IMU messages of a vehicle with the PWM of its `ActuatorFrontEnd`, instead of a flight controller.

    The front-end receives a snapshot of time t, and its commands answer the IMU message of t; until then the simulation
    waits. The name of the client that the simulation is waiting for is sent on sim/waiting_for (empty if none).

    If the front-end does not use the IMU, it receives the snapshot as soon as state and wind of the same time have
    arrived; its commands are published when the IMU message arrives. A repeated IMU message or time gets the same PWM
    again. If the front-end requests the length of the step, the request is published with the PWM and has the same
    stamp. The first PWM waits until the time manager has replied to the request. If the front-end requests none, this
    is published as a request of length 0. `EXCHANGE_TRANSITIONS` defines the rest.

    Attributes:
        commander: the front-end.
        wait: waits for missing commands; called after each exchange, once the IMU message has arrived.
        is_alone: whether the simulation waits for no other vehicle's commands.
        pending: snapshot whose commands have not been published yet; None while the step is under way.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(_WAITING_TIME_MODE, START_DATE)

    commander: ActuatorFrontEnd

    send_pwm = output(PWM_OUTPUT)
    send_waiting_for = output(WAITING_FOR)
    send_step_size_request = output(SIM_STEP_SIZE_REQUEST)
    resets = calls(Trigger, "forces_and_moments/reset", "dynamics/reset")

    def __init__(self, values: Values, front_ends: VehicleFrontEnds, log: Log) -> None:
        """Store the front-ends.

        Raises:
            ParameterError: the time mode is not lockstep.
        """
        assert isinstance(front_ends.commander, ActuatorFrontEnd)
        self.commander = front_ends.commander
        self.wait: Callable[[], None] = _no_wait
        self.is_alone = False
        super().__init__(values, front_ends, log)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self.pending: Snapshot | None = None
        self._pending_before: Snapshot | None = None
        self._is_reported = False
        # The commands for `pending`, and those last published.
        self._commands: list[int] = []
        self._pwm_ns, self._pulse_us = -1, np.zeros(OUTPUTS, np.int64)
        # Whether a chain reads the pulse widths.
        self._is_linked = False
        # The request that belongs to the PWM.
        self._request = _NO_REQUEST
        self._step = StepSize(-1, -1, is_requested=False)
        self._resets = self._calls_without_reply = self._calls_without_step_size = 0
        self._passed_ns = -1
        self._exchange = TransitionMachine(EXCHANGE_TRANSITIONS, ExchangeState.STEPPING, self)

    def configure(self, values: dict[str, Value]) -> None:
        """Check the time mode."""
        _WAITING_TIME_MODE.checked(values[TIME_MODE.name])

    def begin(self) -> None:
        """Withdraw what an earlier bridge has published."""
        super().begin()
        self._is_passed_early = "imu" not in self.commander.required_fields
        self._requests_steps = self.commander.requests_step_sizes()
        self.send_waiting_for(String())
        if not self._requests_steps:
            self.send_step_size_request(_NO_REQUEST)

    @property
    def awaits_commands(self) -> bool:
        """Whether the front-end has yet to answer `pending`."""
        return self._exchange.state is ExchangeState.AWAITING_COMMANDS

    @property
    def is_early(self) -> bool:
        """Whether the IMU message with the stamp of `pending` has not arrived yet."""
        return self.pending is not None and self.pending.time_ns != self._imu_ns

    # Inputs and answers.

    @newest(SIM_STEP_SIZE)
    def receive_step_size(self, step: StepSize) -> None:
        """Receive the length of a step; the first reply to a request admits the first PWM."""
        is_first_reply = step.is_requested and not self._step.is_requested
        self._step = step
        if step.is_requested:
            self._calls_without_step_size = 0
        if is_first_reply and self._request.length_ns > 0:
            self._send_pwm()

    def on_state(self) -> None:
        """Note the state after a reset, or begin the step."""
        if self._exchange.state in _STARTS_OVER:
            self._exchange.handle(ExchangeEvent.NEW_STATE, self._state.time_ns)
        else:
            self.on_input()

    def on_input(self) -> None:
        """Pass the snapshot before the IMU message arrives, if the front-end does not use the IMU."""
        time_ns = self._state.time_ns
        if self._is_passed_early and self._passed_ns < time_ns == self._wind_ns:
            self.update_clock(time_ns)
            self._exchange.handle(ExchangeEvent.SNAPSHOT, time_ns)

    def answer(self, time_ns: int, content: ImuSample) -> None:
        """Pass the snapshot to the front-ends, or publish the commands that answer it."""
        super().answer(time_ns, content)
        self._take_step(time_ns)

    def _take_step(self, time_ns: int) -> None:
        if self.pending is not None and self.pending.time_ns == time_ns:
            self._proceed()
        else:
            self._exchange.handle(ExchangeEvent.SNAPSHOT, time_ns)

    def answer_again(self, time_ns: int) -> None:
        """Send the last pulse widths, if they have that stamp."""
        if time_ns == self._pwm_ns:
            self._send_answer()

    def exchange(self) -> None:
        """Pass `pending` to the front-end if it awaits commands, and publish them once the IMU message has arrived."""
        if self._exchange.state is ExchangeState.AWAITING_COMMANDS:
            assert self.pending is not None
            answer = self.commander.exchange(self.index, self.pending)
            if answer is None:
                return
            if answer is START_OVER:
                self._exchange.handle(ExchangeEvent.START_OVER)
            else:
                self._commands = answer
                self._exchange.handle(ExchangeEvent.COMMANDS)
        if self._exchange.state is ExchangeState.ANSWERED and not self.is_early:
            if self._is_reported:
                self._report_waiting(waiting=False)
            self._exchange.handle(ExchangeEvent.PUBLISH)

    def _proceed(self) -> None:
        self.exchange()
        if not self.is_early:
            self.wait()

    # Actions of the transitions.

    def _pass_snapshot(self, time_ns: int) -> None:
        self._passed_ns = time_ns
        self.pending = self.snapshot(time_ns)
        self._proceed()

    def _publish_commands(self) -> None:
        assert self.pending is not None
        time_ns = self.pending.time_ns
        self.pending = None
        self._pwm_ns, self._pulse_us[:] = time_ns, self._commands
        if self._is_linked:
            self.resume()
            return
        self._request = self._new_request(time_ns)
        self._send_answer()

    def _new_request(self, time_ns: int) -> StepSize:
        requested = self.commander.requested_step(self.index)
        if requested is None:
            return _NO_REQUEST
        step = min(max(requested, STEP_SIZE.minimum), STEP_SIZE.maximum)
        return StepSize(time_ns, time_ns + int(step * NANOSECONDS + _ROUNDING_NS), is_requested=True)

    def _send_answer(self) -> None:
        if self._requests_steps:
            self.send_step_size_request(self._request)
        if self._request.length_ns == 0 or self._step.is_requested:
            self._send_pwm()

    def _send_pwm(self) -> None:
        self.send_pwm(PulseWidths(self._pwm_ns, self._pulse_us.tolist()))

    def _call_reset_services(self) -> None:
        self._calls_without_reply = 0
        self._resets += 1
        self._call_resets(self._resets, list(self.resets))

    def _call_resets(self, run: int, services: Sequence[str]) -> None:
        """Call the reset services, one after the other."""
        service, *others = services

        def take(answer: Trigger.Response | None) -> None:
            if run != self._resets:
                return
            if answer is not None and not answer.success:
                self.log.warning(f"{topic_of(self.name, service)} refused: {answer.message}")
            if others:
                self._call_resets(run, others)
            else:
                self._exchange.handle(ExchangeEvent.RESET_DONE, self._state.time_ns)

        self.resets[service].send(Trigger.Request(), take)

    # Compiled answers.

    def cells(self) -> Cells:
        """The pulse widths."""
        pulse_us = self._pulse_us
        return cell_of(PWM_OUTPUT, pulse_us, lambda time_ns: PulseWidths(time_ns, pulse_us.tolist()))

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Pass snapshots of the chain's numbers.

        None if the front-end does not use the IMU, and so receives a snapshot at the end of a step, or requests the
        lengths of steps, which the time manager grants by messages.
        """
        if self._is_passed_early or self._requests_steps:
            return None
        imu, truth, wind = (cells[topic.name].memory for topic in (IMU, TRUTH_STATE, TRUTH_WIND))
        state, exchange = VehicleState(time.time_ns, truth), self._exchange

        def snapshot(time_ns: int) -> Snapshot:
            self._state, state.time_ns = state, time_ns
            self._wind_ned = vector3(wind.tolist())
            x, y, z, p, q, r = imu.tolist()
            self._observe(time_ns, (p, q, r), (x, y, z))
            return self.snapshot(time_ns)

        is_plain = self.is_alone and not self._observers
        direct = self.commander.direct(self.index, imu, self, snapshot, self._pulse_us) if is_plain else None

        def act(time_ns: int, status: int) -> bool:
            self._is_linked = True
            if self.held.waiting:
                self.held.deliver(time_ns)
            if direct is not None and exchange.state is ExchangeState.STEPPING and direct(time_ns):
                self._pwm_ns = time_ns
                return False
            snapshot(time_ns)
            self._take_step(time_ns)
            return self.pending is not None

        def leave(answered_ns: int) -> None:
            self._is_linked = False

        return (ChainLink(bound(is_due, time, Due(at_ns=0)), act, leave, is_answer=True),)

    # Waiting.

    def check(self, *, may_be_undecided: bool) -> None:
        """Ask or warn again for a reply that is overdue, and report a wait for a client; call this once a second.

        Args:
            may_be_undecided: whether other vehicles have yet to request the length of the step.
        """
        self._calls_without_reply += 1
        if self._calls_without_reply == _OVERDUE_CALLS:
            self._exchange.handle(ExchangeEvent.OVERDUE)
        has_reply = self._request.length_ns == 0 or self._step.time_ns >= self._request.time_ns
        if not has_reply and not may_be_undecided:
            self._calls_without_step_size += 1
            if self._calls_without_step_size == _OVERDUE_CALLS:
                self.log.warning(
                    f"no reply to the step-size request ({self._request.seconds:g} s) on {self.front_ends.namespace}/"
                    f"{SIM_STEP_SIZE_REQUEST.name}: is a lockstep time manager running for this vehicle?"
                )
        if self.awaits_commands and self.pending is self._pending_before and not self._is_reported:
            self._report_waiting(waiting=True)
        self._pending_before = self.pending

    def _report_waiting(self, *, waiting: bool) -> None:
        assert self.pending is not None
        peer = self.commander.peer(self.index)
        self._is_reported = waiting
        self.send_waiting_for(String(data=peer if waiting else ""))
        at = f"at {seconds_text(self.pending.time_ns)}"
        whose = f"{self.name}: " if self.name else ""
        if waiting:
            self.log.info(f"{whose}waiting for {peer}; the simulation is held {at}")
        else:
            self.log.info(f"{whose}{peer} is connected; the simulation continues {at}")

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """One entry for the vehicle."""
        refused = self.commander.refused(self.index)
        state = "refused" if refused else "waiting" if self._is_reported else "flying"
        yield Diagnosis(
            self.name or "vehicle",
            state,
            Level.OK if state == "flying" else Level.WARN,
            self.commander.peer(self.index),
            {"time": self._pwm_ns / NANOSECONDS, "step": self._step.seconds, "refused": refused},
        )


def _no_wait() -> None:
    """Wait for no commands: the bridge does not serve the vehicle yet."""


_PASSED = (ExchangeState.AWAITING_COMMANDS, (ActuatedVehicle._pass_snapshot,))
_RESETTING = (ExchangeState.RESETTING, (ActuatedVehicle._call_reset_services,))
_STEP_BEGINS = (ExchangeState.STEPPING, (ActuatedVehicle._publish_commands,))

EXCHANGE_TRANSITIONS: Transitions[ExchangeState, ExchangeEvent] = {
    ExchangeState.STEPPING: {ExchangeEvent.SNAPSHOT: _PASSED},
    ExchangeState.AWAITING_COMMANDS: {
        ExchangeEvent.SNAPSHOT: _PASSED,
        ExchangeEvent.COMMANDS: (ExchangeState.ANSWERED, ()),
        ExchangeEvent.START_OVER: _RESETTING,
    },
    ExchangeState.ANSWERED: {ExchangeEvent.SNAPSHOT: _PASSED, ExchangeEvent.PUBLISH: _STEP_BEGINS},
    # SNAPSHOT is ignored while the vehicle is being reset.
    ExchangeState.RESETTING: {
        ExchangeEvent.RESET_DONE: (ExchangeState.SERVICES_REPLIED, ()),
        ExchangeEvent.NEW_STATE: (ExchangeState.STATE_RESET, ()),
        ExchangeEvent.OVERDUE: _RESETTING,
    },
    ExchangeState.SERVICES_REPLIED: {ExchangeEvent.NEW_STATE: _PASSED, ExchangeEvent.OVERDUE: _RESETTING},
    ExchangeState.STATE_RESET: {ExchangeEvent.RESET_DONE: _PASSED, ExchangeEvent.OVERDUE: _RESETTING},
}
"""The exchange with front-end and reset services; an event not listed changes nothing."""
