"""Vehicle with the bridge as flight controller: a snapshot for each step, and the commands that answer it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Literal

from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.bridge.front_end_interface import START_OVER, ActuatorFrontEnd, Snapshot, StartOver
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import STEP_SIZE
from rosflight_py_sim.nodes.bridged_vehicle import BridgedVehicle, VehicleFrontEnds
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.join import StepJoin
from rosflight_py_sim.step.topics import (
    PWM_OUTPUT,
    SIM_STEP_SIZE,
    SIM_STEP_SIZE_REQUEST,
    WAITING_FOR,
    ImuSample,
    PulseWidths,
    StepSize,
    Wind,
    topic_of,
)
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.transitions import TransitionMachine, Transitions

# Calls of `count_second` without a reply after which it is overdue. Resetting a JSBSim aircraft reloads it, which takes
# long.
_OVERDUE_CALLS = 5

# A step is cut to whole nanoseconds, so that its rate is not below the requested one: ArduPilot, which cuts rates to
# whole hertz, would read the next lower one. The fraction is for the rounding error of a length in seconds.
_ROUNDING_NS = 1e-6

_NO_REQUEST = StepSize(0, 0, is_requested=True)


class SlotState(Enum):
    """Stages of the exchange between a vehicle and the front-end."""

    STEPPING = "stepping"
    AWAITING_COMMANDS = "awaiting commands"
    ANSWERED = "answered"
    RESETTING = "resetting"
    SERVICES_REPLIED = "services replied, awaiting the state"
    STATE_RESET = "state reset, awaiting replies"

    @property
    def starts_over(self) -> bool:
        """Whether the vehicle is being reset to its start."""
        return self in (SlotState.RESETTING, SlotState.SERVICES_REPLIED, SlotState.STATE_RESET)


class SlotEvent(Enum):
    """Events that may change the state."""

    SNAPSHOT = "snapshot complete"
    COMMANDS = "commands from the front-end"
    START_OVER = "START_OVER from the front-end"
    PUBLISH = "step may begin"
    RESET_DONE = "reply of the last reset service"
    NEW_STATE = "new state"
    OVERDUE = f"no reply for {_OVERDUE_CALLS} s"


class SlotVehicle(BridgedVehicle):
    """Makes a snapshot of one vehicle for each step, and publishes the commands that answer it.

    The IMU message triggers the snapshot, by the rule of `StepJoin`. If the front-end does not use the IMU, state and
    wind of the same time also trigger it, whichever arrives first. Commands answer the IMU message: if the front-end's
    commands are earlier, they are published when it arrives. A repeated IMU message or time gets the same PWM again.
    If the front-end requests the length of the step, the request is published with the PWM and has the same stamp. The
    first PWM waits until the time manager has replied to the request. If the front-end requests none, this is published
    as a request of length 0.
    `SLOT_TRANSITIONS` defines the rest.

    Attributes:
        commander: the front-end.
        pending: snapshot whose commands have not been published yet; None while the step is under way.
        pending_before: `pending` one second ago; set by the exchange.
        waiting: whether the name of a peer for which the simulation waits has been published.
    """

    def __init__(self, node: SimulationNode, front_ends: VehicleFrontEnds, on_change: Callable[[], None]) -> None:
        """Subscribe; `on_change` is called when there is a new `pending`, or its commands may be published."""
        assert isinstance(front_ends.commander, ActuatorFrontEnd)
        self.commander = front_ends.commander
        name = front_ends.name
        self.pending: Snapshot | None = None
        self.pending_before: Snapshot | None = None
        self.waiting = False
        self._on_change = on_change
        self._requires_imu = "imu" in self.commander.required_fields
        # A repeated trigger creates no second snapshot; `_answer_again` publishes the PWM again.
        self._join = StepJoin(self.JOIN, self._begin, lambda _: None, lockstep=True)
        self._wind_arrived, self._state_arrived = map(self._join.input, self.JOIN.synchronized)
        # The commands for `pending`, and those last published.
        self._commands: list[int] = []
        self._pwm = PulseWidths(-1, ())
        # The request that belongs to the PWM.
        self._request = _NO_REQUEST
        self._step = StepSize(-1, -1, is_requested=False)
        self._resets = self._calls_without_reply = self._calls_without_step_size = 0
        self._conversation = TransitionMachine(SLOT_TRANSITIONS, SlotState.STEPPING, self)
        self._send_pwm = node.publisher(PWM_OUTPUT, name)
        self._send_waiting_for = node.publisher(WAITING_FOR, name)
        self._send_waiting_for(String())
        self._send_step_size_request = node.publisher(SIM_STEP_SIZE_REQUEST, name)
        services = ("forces_and_moments/reset", "dynamics/reset")
        self._reset_clients = [node.create_client(Trigger, topic_of(name, service)) for service in services]
        if not self.commander.requests_step_sizes():
            self._send_step_size_request(_NO_REQUEST)
        node.subscribe(SIM_STEP_SIZE, self._on_step_size, name)
        super().__init__(node, front_ends, imu=True)

    @property
    def phase(self) -> SlotState:
        """Stage of the exchange."""
        return self._conversation.state

    @property
    def step_s(self) -> float:
        """Length of a step, s; 0 before the time manager has published it."""
        return self._step.seconds

    @property
    def is_early(self) -> bool:
        """Whether the IMU message with the stamp of `pending` has not arrived yet."""
        return self.pending is not None and self.pending.time_ns != self._imu_ns

    # Called by the exchange.

    def take(self, answer: list[int] | Literal[StartOver.START_OVER]) -> None:
        """Take the front-end's answer to `pending`; after START_OVER there is a new `pending`, of the same time."""
        if answer is START_OVER:
            self._conversation.handle(SlotEvent.START_OVER)
        else:
            self._commands = answer
            self._conversation.handle(SlotEvent.COMMANDS)

    def begin_step(self) -> None:
        """Publish the commands that answer `pending`."""
        self._conversation.handle(SlotEvent.PUBLISH)

    def publish_waiting_for(self, peer: str) -> None:
        """Publish the name of the peer for which the simulation waits; empty if none."""
        self.waiting = bool(peer)
        self._send_waiting_for(String(data=peer))

    def count_second(self, *, may_be_undecided: bool) -> None:
        """Ask or warn again for a reply that is overdue; call this once a second.

        Args:
            may_be_undecided: whether other vehicles have yet to request the length of the step.
        """
        self._calls_without_reply += 1
        if self._calls_without_reply == _OVERDUE_CALLS:
            self._conversation.handle(SlotEvent.OVERDUE)
        has_reply = self._request.length_ns == 0 or self._step.time_ns >= self._request.time_ns
        if not has_reply and not may_be_undecided:
            self._calls_without_step_size += 1
            if self._calls_without_step_size == _OVERDUE_CALLS:
                self._warn_of_missing_step_size()

    # Actions of the transitions.

    def _pass_snapshot(self, time_ns: int) -> None:
        self.pending = self._snapshot(time_ns)
        self._on_change()

    def _publish_commands(self) -> None:
        assert self.pending is not None
        self.answered_ns = self.pending.time_ns
        self._pwm = PulseWidths(self.answered_ns, self._commands)
        self._request = self._new_request(self.answered_ns)
        self.pending = None
        self._send_answer()

    def _new_request(self, time_ns: int) -> StepSize:
        requested = self.commander.requested_step(self.index)
        if requested is None:
            return _NO_REQUEST
        step = min(max(requested, STEP_SIZE.minimum), STEP_SIZE.maximum)
        return StepSize(time_ns, time_ns + int(step * NANOSECONDS + _ROUNDING_NS), is_requested=True)

    def _send_answer(self) -> None:
        if self.commander.requests_step_sizes():
            self._send_step_size_request(self._request)
        if self._request.length_ns == 0 or self._step.is_requested:
            self._send_pwm(self._pwm)

    def _warn_of_missing_step_size(self) -> None:
        topic = self._node.resolve_topic_name(topic_of(self.name, SIM_STEP_SIZE_REQUEST.name))
        self._node.get_logger().warning(
            f"no reply to the step-size request ({self._request.seconds:g} s) on {topic}: is a lockstep time manager "
            "running for this vehicle?"
        )

    def _call_reset_services(self) -> None:
        self._calls_without_reply = 0
        self._resets += 1
        self._call_reset(0)

    def _call_reset(self, number: int) -> None:
        run = self._resets

        def on_answer(future: Future[Any]) -> None:
            if run != self._resets:
                return
            answer = future.result()
            if answer is not None and not answer.success:
                self._node.get_logger().warning(f"{self._reset_clients[number].srv_name} refused: {answer.message}")
            if number + 1 < len(self._reset_clients):
                self._call_reset(number + 1)
            else:
                self._conversation.handle(SlotEvent.RESET_DONE, self._state.time_ns)

        self._reset_clients[number].call_async(Trigger.Request()).add_done_callback(on_answer)

    # Callbacks of subscriptions.

    def _on_step_size(self, step: StepSize) -> None:
        is_first_reply = step.is_requested and not self._step.is_requested
        self._step = step
        if step.is_requested:
            self._calls_without_step_size = 0
        if is_first_reply and self._request.length_ns > 0:
            self._send_pwm(self._pwm)

    def _on_wind(self, wind: Wind) -> None:
        super()._on_wind(wind)
        self._wind_arrived(wind.time_ns)
        self._begin_early()

    def _on_truth(self, state: VehicleState) -> None:
        super()._on_truth(state)
        self._state_arrived(state.time_ns)
        if self.phase.starts_over:
            self._conversation.handle(SlotEvent.NEW_STATE, state.time_ns)
        else:
            self._begin_early()

    def _on_imu(self, imu: ImuSample) -> None:
        stamp = imu.time_ns
        if self._join.is_late(stamp):
            # The joins remember the late message: if it is repeated, the clock was set back.
            self._join.trigger(stamp, imu)
            self._observe(imu)
            return
        if self._answer_again(stamp):
            return
        was_early = self.is_early
        super()._on_imu(imu)
        if was_early and not self.is_early:
            self._on_change()
        else:
            self._join.trigger(stamp, imu)

    def _on_repeated_clock(self, time_ns: int) -> None:
        super()._on_repeated_clock(time_ns)
        if not self._answer_again(time_ns):
            self._join.repeat(time_ns)

    def _answer_again(self, time_ns: int) -> bool:
        """Publish the PWM again if it has the stamp `time_ns`; return whether it has."""
        if time_ns != self.answered_ns:
            return False
        self._send_answer()
        return True

    def _begin_early(self) -> None:
        """Make the snapshot before the IMU message arrives, if the front-end does not use the IMU."""
        time_ns = self._state.time_ns
        if not self._requires_imu and self._join.answered_ns != time_ns == self._wind_ns:
            self._join.trigger(time_ns)

    def _begin(self, time_ns: int, imu: ImuSample | None) -> None:
        if imu is not None:
            self._take_imu(imu)
        self._conversation.handle(SlotEvent.SNAPSHOT, time_ns)


_PASSED = (SlotState.AWAITING_COMMANDS, (SlotVehicle._pass_snapshot,))
_RESETTING = (SlotState.RESETTING, (SlotVehicle._call_reset_services,))
_STEP_BEGINS = (SlotState.STEPPING, (SlotVehicle._publish_commands,))

SLOT_TRANSITIONS: Transitions[SlotState, SlotEvent] = {
    SlotState.STEPPING: {SlotEvent.SNAPSHOT: _PASSED},
    SlotState.AWAITING_COMMANDS: {
        SlotEvent.SNAPSHOT: _PASSED,
        SlotEvent.COMMANDS: (SlotState.ANSWERED, ()),
        SlotEvent.START_OVER: _RESETTING,
    },
    SlotState.ANSWERED: {SlotEvent.SNAPSHOT: _PASSED, SlotEvent.PUBLISH: _STEP_BEGINS},
    # SNAPSHOT is ignored while the vehicle is being reset.
    SlotState.RESETTING: {
        SlotEvent.RESET_DONE: (SlotState.SERVICES_REPLIED, ()),
        SlotEvent.NEW_STATE: (SlotState.STATE_RESET, ()),
        SlotEvent.OVERDUE: _RESETTING,
    },
    SlotState.SERVICES_REPLIED: {SlotEvent.NEW_STATE: _PASSED, SlotEvent.OVERDUE: _RESETTING},
    SlotState.STATE_RESET: {SlotEvent.RESET_DONE: _PASSED, SlotEvent.OVERDUE: _RESETTING},
}
"""The exchange with front-end and reset services; an event not listed changes nothing."""
