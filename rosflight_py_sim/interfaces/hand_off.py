"""Intra-process communication: hand-off of messages between the nodes of one process, without the middleware.

rclcpp has this built in; rclpy does not. Publishers and subscriptions exist in the ROS graph as usual, but a message
goes from node to node as the object that was sent, in the order of sending. As in a `Pipeline`, it goes at once to each
input of a part that is not a trigger; other subscriptions receive it after the sender's callback.

A publisher or subscription that takes no part in the hand-off is external: one of another process, or of a node of this
process that is not a SimulationNode. A message also goes through the middleware if, and only if, an external
subscription matches the publisher. A subscription takes messages from the middleware only while an external publisher
matches it.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.subscription import Subscription
from rclpy.task import Future

from rosflight_py_sim.interfaces.hand_off_ends import Deliver, Inlet, Outlet, fit, target
from rosflight_py_sim.interfaces.outside_inputs import OutsideInputs
from rosflight_py_sim.interfaces.rclpy_internals import (
    leave_unserved,
    serve,
)
from rosflight_py_sim.interfaces.shared_clock import SharedClock
from rosflight_py_sim.interfaces.time_mode_watch import TimeModeWatch
from rosflight_py_sim.step.topic_statistics import SAMPLED, TopicCounter
from rosflight_py_sim.step.topics import CLOCK, STATUS, TRUTH_STATE, StepTopic

# Steps after which the executor runs: few enough to run it every half millisecond for one vehicle, and enough to make
# its cost, which is that of a step, small.
_STEPS = 16

# With guests (nodes of the executor that are not connected), or while a member waits for a service's reply, the
# executor instead runs after each message on these topics. They do not depend on the subscriptions of the guests, so
# that an additional guest does not change a flight.
_MORE_TURNS = (STATUS, TRUTH_STATE, CLOCK)

# Number of steps whose messages to other processes are sent together. Sending a message that wakes a sleeping process
# takes three times as long as sending any other. With more steps, a subscription with the default queue of ten messages
# would lose some.
_STEPS_SENT_TOGETHER = 4

# Period of the check for external publishers and subscriptions, s.
_CHECK_S = 0.02

CHECK_LIMIT_S = 0.001
"""Time after which a check is interrupted until the next period, s. With hundreds of nodes, a check takes several
times as long.
"""

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Sender(Generic[M]):
    """Functions that publish on a topic.

    Attributes:
        send: publishes a message.
        send_lazily: publishes the message that a function makes; calls it only if there is a subscription or a tap.
        outlet: the publisher's end in the hand-off; None without one.
    """

    send: Callable[[M], None]
    send_lazily: Callable[[Callable[[], M]], None]
    outlet: Outlet | None = None


class HandOff:
    """Connects the outlets and inlets of one process, and delivers messages between them.

    Attributes:
        clock: clock that the nodes share; None if each node has its own.
        failure: exception that a callback has raised, which ends delivery; None if there was none.
        outside: inputs from outside of the graph.
        time_mode_watches: watches of the nodes, by time mode.
        compiles: whether steps are compiled (`compiled_vehicle.py`).
        compiled_steps: number of compiled steps, each of one vehicle.
        revision: number of changes of the ends of topics so far.
    """

    def __init__(self, executor: Executor) -> None:
        """Deliver in tasks of an executor."""
        self.clock: SharedClock | None = None
        self.failure: Exception | None = None
        self.outside = OutsideInputs()
        self.time_mode_watches: dict[str, TimeModeWatch] = {}
        self.compiles, self.compiled_steps, self.revision = True, 0, 0
        self._when_idle: Callable[[], None] | None = None
        self._called: Counter[str] = Counter()
        self._unanswered: Counter[Client[Any, Any, Any]] = Counter()
        self._get_nodes: Callable[[], Collection[Node]] = executor.get_nodes
        self._create_task: Callable[[Callable[[], None]], object] = executor.create_task
        self._members: dict[Node, None] = {}
        self._node_count = 0
        self._checking: Iterator[None] = iter(())
        self._queue: deque[tuple[Deliver, Any]] = deque()
        # Unsent messages to other processes, each after the function that publishes it, and whether `_publish` adds to
        # them.
        self._unsent: list[tuple[Callable[[bytes], None], bytes]] = []
        self._collects = False
        self._is_idle = True
        self._steps = self._turns = 0
        self._turn_ends = False
        self._has_guests = False
        self._calls = 0
        self._marking: list[TopicCounter] = []
        self._ended_marks = 0
        self._outlets: dict[str, list[Outlet]] = {}
        self._inlets: dict[str, list[Inlet]] = {}

    def close(self) -> None:
        """End deliveries, and release nodes and executor.

        The executor may still hold a delivery task, whose references would keep nodes and executor from being freed.
        """
        self._is_idle = False
        self._create_task = _never
        self._get_nodes = list
        self._when_idle = None
        self.outside = OutsideInputs()
        for held in (self._queue, self._outlets, self._inlets, self._members):
            held.clear()

    def start_over(self) -> None:
        """Discard all messages and go back to time 0, for nodes that are created again; others stay connected."""
        self._queue.clear()
        self._when_idle = None
        if self.clock is not None:
            self.clock.set(0)

    def attended(self, client: Client[Any, Any, Any]) -> Callable[[Any], Future[Any]]:
        """The client's service call, answered within the step because the executor runs at once."""
        call, name = client.call_async, client.service_name

        def call_attended(request: Any) -> Future[Any]:
            self._turn_ends = True
            self._unanswered[client] += 1
            self._count_call(name, 1)
            future = call(request)
            future.add_done_callback(on_answer)
            return future

        def on_answer(_: Future[Any]) -> None:
            if client in self._unanswered:
                self._unanswered[client] -= 1
                self._count_call(name, -1)

        return call_attended

    def _count_call(self, service: str, change: int) -> None:
        had_more_turns = self._has_more_turns
        self._called[service] += change
        self._calls += change
        if self._has_more_turns != had_more_turns:
            self._set_plain()

    def is_called(self, service: str) -> bool:
        """Whether a node of the hand-off waits for the service with this full name."""
        return self._called[service] > 0

    @property
    def awaits_replies(self) -> bool:
        """Whether a node of the hand-off waits for the reply of a service."""
        return self._calls > 0

    def admits(self, end: str, data: Callable[[], bytes]) -> bool:
        """Note an input from outside; return whether to process it."""
        time_ns = 0 if self.clock is None else self.clock.time_ns
        return self.outside.admits(end, data, marks=self._marks, idle=self._is_idle, time_ns=time_ns)

    def when_idle(self, act: Callable[[], None]) -> None:
        """Call a function once, after all messages have been delivered and calls have been answered.

        Recorded inputs from outside that are due by then come first.
        """
        self._when_idle = act
        self._create_task(self._proceed)

    def _proceed(self) -> None:
        """Continue a run that repeats recorded inputs, once it is idle."""
        if not self._is_idle:
            return
        try:
            if self._calls or self.outside.act(marks=self._marks, idle=True):
                self._create_task(self._proceed)
            elif self._when_idle is not None:
                act, self._when_idle = self._when_idle, None
                act()
        except Exception as error:
            # A task must not raise: EventsExecutor fails on it.
            self.failure = error

    @property
    def is_idle(self) -> bool:
        """Whether all messages have been delivered."""
        return self._is_idle

    def check(self) -> None:
        """Raise `failure`, if there is one."""
        if self.failure is not None:
            raise self.failure

    def outlets(self, name: str) -> list[Outlet]:
        """Publishing ends of a topic, by its full name."""
        return self._outlets.setdefault(name, [])

    def add_outlet(self, outlet: Outlet) -> Sender[Any]:
        """Connect a publisher, and return the functions that send its messages and count them."""
        self.outlets(outlet.name).append(outlet)
        outlet.pass_on, outlet.attend = self._publish, partial(self._attend, outlet)
        self._connect(outlet.name)
        put, counter, attend, rounded = self._queue.append, outlet.counter, outlet.attend, outlet.topic.as_received
        outlet.ends_turns = outlet.topic in _MORE_TURNS
        if outlet.ends_turns:
            self._marking.append(counter)

        def send(message: Any) -> None:
            counter.count += 1
            if rounded is not None:
                # Subscriptions in this process must receive the same numbers as those in others.
                message = rounded(message)
            if not outlet.is_plain:
                attend(message)
            outlet.last = message
            if outlet.targets:
                for deliver in outlet.targets:
                    put((deliver, message))
                if self._is_idle:
                    self._wake()
            try:
                for deliver in outlet.at_once:
                    deliver(message)
            except Exception as error:
                # The sender may be in a callback of the executor, and EventsExecutor fails on an exception.
                self.failure = self.failure or error

        def send_lazily(make: Callable[[], Any]) -> None:
            if outlet.is_received or (self._has_guests and outlet.has_changed()):
                send(make())
            else:
                counter.count += 1

        return Sender(send, send_lazily, outlet)

    def _attend(self, outlet: Outlet, message: Any) -> None:
        """Do what a message needs besides delivery, for an outlet that is not plain."""
        if outlet.topic is CLOCK:
            self._steps += 1
            if self._steps % _STEPS_SENT_TOGETHER == 0:
                self._send_collected()
            if self._steps >= _STEPS:
                self._turn_ends = True
        if self._has_guests and outlet.has_changed():
            self.check_matches(outlet.name)
        if outlet.history is not None:
            outlet.history.append(message)
        if outlet.ends_turns and self._has_more_turns:
            is_due = self.outside.is_repeating and self._marks >= self.outside.next_marks
            if is_due or self._has_guests or self._calls:
                self._turn_ends = True

    def _publish(self, publish: Callable[[bytes], None], data: bytes) -> None:
        """Publish a message to other processes; during a turn, collect it, to be sent with those of a few steps."""
        if self._collects:
            self._unsent.append((publish, data))
        else:
            publish(data)

    def _send_collected(self) -> None:
        unsent, self._unsent = self._unsent, []
        for publish, data in unsent:
            publish(data)

    @property
    def has_guests(self) -> bool:
        """Whether the executor serves nodes that are not connected."""
        return self._has_guests

    @property
    def _has_more_turns(self) -> bool:
        """Whether a message on _MORE_TURNS may end the executor's turn."""
        return self._has_guests or self._calls > 0 or self.outside.is_repeating

    @property
    def _marks(self) -> int:
        """Number of messages on _MORE_TURNS that have been sent."""
        return self._ended_marks + sum(counter.count for counter in self._marking)

    def add_inlet(self, inlet: Inlet) -> None:
        """Connect a subscription, and deliver latched messages to it."""
        self._inlets.setdefault(inlet.name, []).append(inlet)
        self._connect(inlet.name)
        if inlet.deliver is None or inlet.qos.durability != DurabilityPolicy.TRANSIENT_LOCAL:
            return
        for outlet in self.outlets(inlet.name):
            if outlet.kept and fit(outlet, inlet):
                inlet.counter.count += len(outlet.kept)
                self._queue.extend((target(outlet, inlet), message) for message in outlet.kept)
                self._wake()

    def remove(self, end: Publisher[Any] | Subscription[Any]) -> None:
        """Disconnect a publisher or subscription before it is destroyed."""
        self._send_collected()
        for name in self.names:
            outlets, inlets = self.outlets(name), self._inlets.get(name, [])
            for inlet in inlets:
                inlet.is_removed |= inlet.subscription is end
            kept = [o for o in outlets if o.publisher is not end], [i for i in inlets if i.subscription is not end]
            for outlet in outlets:
                if outlet.publisher is end and outlet.counter in self._marking:
                    self._marking.remove(outlet.counter)
                    self._ended_marks += outlet.counter.count
            if (len(kept[0]), len(kept[1])) != (len(outlets), len(inlets)):
                for outlet in outlets:
                    outlet.is_removed |= outlet.publisher is end
                for inlet in inlets:
                    if inlet.is_removed:
                        self.outside.remove_end(inlet.end)
                self._discard([inlet.deliver for inlet in inlets if inlet.is_removed])
                outlets[:], inlets[:] = kept
                self._connect(name)

    def _discard(self, targets: Collection[Deliver | None]) -> None:
        """Discard the messages that have not been delivered to these targets."""
        kept = [one for one in self._queue if one[0] not in targets]
        self._queue.clear()
        self._queue.extend(kept)

    def connect(self, node: Node) -> None:
        """Add a node whose topics are connected."""
        self._members[node] = None
        if len(self._members) == 1:
            self._start_checks()

    def disconnect(self, node: Node) -> None:
        """Remove a node before it is destroyed."""
        self.outside.remove_ends(node.get_fully_qualified_name())
        for mode in [mode for mode, watch in self.time_mode_watches.items() if watch.node is node]:
            del self.time_mode_watches[mode]
        for client in node.clients:
            self._count_call(client.service_name, -self._unanswered.pop(client, 0))
        had_timer = node is next(iter(self._members), None)
        self._members.pop(node, None)
        if had_timer and self._members:
            self._start_checks()

    def _start_checks(self) -> None:
        """Start a timer that checks for external publishers and subscriptions, even while nothing is delivered.

        rclpy's events for matches are not used: EventsExecutor fails on an event of a publisher or subscription that
        has been destroyed.
        """
        first = next(iter(self._members))
        first.create_timer(_CHECK_S, self.go_on_checking, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def go_on_checking(self) -> None:
        """Continue the check, or begin the next one."""
        end_s = time.monotonic() + CHECK_LIMIT_S
        for _ in self._checking:
            if time.monotonic() > end_s:
                return
        self._checking = self._checks()

    def check_all(self) -> None:
        """Check for guests, and for external publishers and subscriptions of all topics."""
        for _ in self._checks():
            pass

    def _checks(self) -> Iterator[None]:
        """Check for guests, and then check each topic."""
        self._admit_guests()
        for name in self.names:
            ends: list[Outlet | Inlet] = [*self.outlets(name), *self.inlets(name)]
            if any(end.has_changed() for end in ends):
                self.check_matches(name)
            yield

    def check_matches(self, name: str) -> None:
        """Check for external publishers and subscriptions of a topic."""
        outlets = self.outlets(name)
        for inlet in self.inlets(name):
            self.revision += inlet.check_matches([outlet for outlet in outlets if fit(outlet, inlet)])
        for outlet in outlets:
            had_external = outlet.has_external
            if outlet.check_matches():
                # Not at once: the caller may be using the publisher.
                self._later(partial(self._renew, outlet))
            self.revision += outlet.has_external != had_external
        self._set_plain(name)

    def _renew(self, outlet: Outlet) -> None:
        self._send_collected()
        outlet.renew()

    def _set_plain(self, name: str | None = None) -> None:
        """Determine which outlets are plain; None: those of all topics."""
        has_more_turns = self._has_more_turns
        for outlets in self._outlets.values() if name is None else [self.outlets(name)]:
            for outlet in outlets:
                ends_turns = outlet.topic is CLOCK or (has_more_turns and outlet.ends_turns)
                outlet.is_plain = not (self._has_guests or outlet.history is not None or ends_turns)

    def subscribe(
        self,
        node: Node,
        topic: StepTopic[M],
        name: str,
        qos: QoSProfile,
        deliver: Callable[[M], None],
        counter: TopicCounter | None = None,
        *,
        at_once: bool = False,
    ) -> Subscription[Any]:
        """Subscribe a node to a topic under a name.

        Args:
            node: the node.
            topic: row of the table `step/topics.py`.
            name: of the topic.
            qos: of the subscription.
            deliver: called with each message.
            counter: counter of the messages; None: a new one.
            at_once: whether a message is delivered within the call that sends it.
        """
        inlet: Inlet
        subscription: Subscription[Any]
        counter = counter or TopicCounter()
        from_outside = counter.timed(deliver)
        if topic is CLOCK and self.clock is not None:
            from_outside = _after(self.clock.set, from_outside)

        def act(data: bytes) -> None:
            from_outside(topic.decode(data))

        def take(data: bytes) -> None:
            inlet.taken.append(data)
            if self.admits(end, lambda: data):
                act(data)

        def on_outside(data: bytes) -> None:
            # EventsExecutor fails on a callback that also takes the number.
            if not inlet.is_echo(data, None):
                take(data)

        def show(is_shown: bool) -> None:
            (serve if is_shown else leave_unserved)(node, subscription)

        subscription = Node.create_subscription(node, topic.message_type, name, on_outside, qos, raw=True)
        end = self.outside.add_end("topic", subscription.topic_name, node.get_fully_qualified_name(), act)
        inlet = Inlet(topic, qos, subscription, deliver, show, take, counter, at_once=at_once, end=end)
        self.add_inlet(inlet)
        return subscription

    @property
    def waiting(self) -> Sized:
        """Messages that have not been delivered."""
        return self._queue

    def put(self, deliver: Deliver, message: Any) -> None:
        """Pass a message to a function once all messages sent so far have been delivered."""
        self._queue.append((deliver, message))
        self._wake()

    def _later(self, act: Callable[[], None]) -> None:
        """Call a function once all messages sent so far have been delivered."""
        self.put(lambda _: act(), None)

    def _admit_guests(self) -> None:
        """Check for guests, whose subscriptions may queue only one message."""
        nodes = self._get_nodes()
        self._node_count = len(nodes)
        has_guests = any(node not in self._members for node in nodes)
        if has_guests != self._has_guests:
            self._has_guests = has_guests
            self.revision += 1
            self._set_plain()

    @property
    def names(self) -> list[str]:
        """Full names of the topics."""
        return list(dict.fromkeys((*self._outlets, *self._inlets)))

    def inlets(self, name: str) -> Sequence[Inlet]:
        """Receiving ends of a topic, by its full name."""
        return self._inlets.get(name, ())

    def inlet_of(self, subscription: Subscription[Any]) -> Inlet:
        """Receiving end of a subscription of the hand-off."""
        return next(one for one in self.inlets(subscription.topic_name) if one.subscription is subscription)

    def has_taken(self, name: str, data: bytes) -> bool:
        """Whether all subscriptions to a topic that take external messages have taken this message."""
        return all(data in inlet.taken for inlet in self.inlets(name) if inlet.has_external and inlet.deliver)

    def has_external_publishers(self, name: str) -> bool | None:
        """Whether a subscription to a topic matches an external publisher; None if the topic has no subscription."""
        inlets = self.inlets(name)
        return any(inlet.has_external for inlet in inlets) if inlets else None

    def _connect(self, name: str) -> None:
        self.revision += 1
        outlets, inlets = self.outlets(name), self.inlets(name)
        for outlet in outlets:
            outlet.connect([inlet for inlet in inlets if fit(outlet, inlet)])
            if outlet.targets and outlet.topic is CLOCK and self.clock is not None:
                outlet.targets = (self.clock.set, *outlet.targets)
        for inlet in inlets:
            inlet.counter.follow(outlet.counter for outlet in outlets if inlet in outlet.inlets)
        self.check_matches(name)

    def run(self, act: Callable[[], None]) -> None:
        """Call a function once all messages sent so far have been delivered, and deliver those that it sends.

        To be called in the executor's thread; needs no task of the executor.
        """
        self._queue.append((lambda _: act(), None))
        if self._is_idle:
            self._is_idle = False
            self._deliver()

    def _wake(self) -> None:
        if self._is_idle:
            self._is_idle = False
            self._create_task(self._deliver)

    def _deliver(self) -> None:
        """Deliver until the queue is empty or the executor is due to run.

        The executor runs after certain messages, not after some time, so that a service call, for example, is served in
        the same step in every run.
        """
        if len(self._get_nodes()) != self._node_count:
            # A node that was just added may have matched topics before it was added.
            self._admit_guests()
            for name in self.names:
                self.check_matches(name)
        self._turn_ends = False
        self._steps = 0
        self._turns += 1
        if self.outside.is_repeating:
            self.outside.act(marks=self._marks, idle=False)
        self._collects = True
        try:
            try:
                self._deliver_turn()
            finally:
                self._collects = False
                self._send_collected()
        except Exception as error:
            # A task must not raise: EventsExecutor fails on it.
            self.failure = error
            return
        if self._turn_ends:
            self._create_task(self._deliver)
            return
        self._is_idle = True
        if self.outside.is_repeating:
            self._create_task(self._proceed)

    def _deliver_turn(self) -> None:
        queue = self._queue
        take = queue.popleft
        timed = self._timed() if self._turns % SAMPLED == 0 else None
        while queue and not self._turn_ends:
            deliver, message = take()
            if timed is not None and deliver in timed:
                timed[deliver].time(deliver, message)
            else:
                deliver(message)
        if self._turn_ends and self.outside.is_repeating:
            self.outside.act(marks=self._marks, idle=False)

    def _timed(self) -> dict[Deliver, TopicCounter]:
        """Counter of each function that delivers messages, to note the durations of its calls."""
        inlets = (inlet for inlets in self._inlets.values() for inlet in inlets)
        return {inlet.deliver: inlet.counter for inlet in inlets if inlet.deliver is not None}


def _after(first: Deliver, then: Deliver) -> Deliver:
    """Function that calls both."""

    def both(message: Any) -> None:
        first(message)
        then(message)

    return both


def _never(_: Callable[[], None]) -> None:
    """Replaces `create_task` of a closed hand-off."""
