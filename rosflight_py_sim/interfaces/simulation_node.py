"""Base class of the simulator's nodes: parameters from a table, fast publishers and subscriptions, diagnostics."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.time import Time
from rclpy.timer import Timer

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.shared_parameters import CLOCK_FROM_START_DATE
from rosflight_py_sim.ground.stamps import EPOCH
from rosflight_py_sim.ground.start_date import start_of, unix_ns
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_TOPIC, Reports
from rosflight_py_sim.interfaces.given_values import Source
from rosflight_py_sim.interfaces.hand_off import HandOff, Sender
from rosflight_py_sim.interfaces.hand_off_ends import Listener, Outlet
from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.process_control import ProcessControl
from rosflight_py_sim.interfaces.publishers import PublisherWatch
from rosflight_py_sim.interfaces.rclpy_internals import (
    answer_later,
    is_served,
    serve,
    set_clock,
    subscription_counter,
)
from rosflight_py_sim.interfaces.start_watch import StartWatch
from rosflight_py_sim.interfaces.table_node import TableNode
from rosflight_py_sim.interfaces.time_mode_watch import TimeModeWatch
from rosflight_py_sim.step.part import Log
from rosflight_py_sim.step.qos import NEWEST
from rosflight_py_sim.step.topic_statistics import TopicCounter, TopicStatistics
from rosflight_py_sim.step.topics import CLOCK, StepTopic, topic_of

M = TypeVar("M")

Tap = Callable[[str, Any, QoSProfile], Listener | None]
"""Function of a topic's full name, type and QoS; returns the listener of the messages, or None."""

# Topics whose messages from outside have no effect on the simulation, beyond the clock.
_NO_INPUTS = (CLOCK.name, DIAGNOSTICS_TOPIC)

READING = (
    "get_parameters",
    "get_parameter_types",
    "list_parameters",
    "describe_parameters",
    "get_type_description",
    "param_get",
)
"""Services that only read."""

_REPORT_PERIOD_S = 1.0

_NO_ARGUMENTS = inspect.Signature()


@lru_cache(maxsize=4)
def _ros_time(time_ns: int) -> Time:
    """ROS time, cached because the nodes of a process set the same time one after the other."""
    return Time(nanoseconds=time_ns, clock_type=ClockType.ROS_TIME)


def _serialised(message: Any) -> bytes:
    return message if isinstance(message, bytes) else bytes(serialize_message(message))


def _nothing(_: object) -> None:
    """Callback of a subscription that exists only for the ROS graph."""


class SimulationNode(TableNode):
    """A node with parameters from one table and a report on /diagnostics; its ports, if it has any, are not connected.

    Class attributes:
        SERVES_ALL: whether a node with the parameter `vehicles` serves all of them; otherwise each has its own node.
        ONLY_OBSERVES: whether nothing that the node receives has an effect on the simulation.
        ANSWERS_BEFORE_START: whether the node's services answer before time advances.

    Attributes:
        exclusive_topics: full names of the topics that only this node may publish.
        control: the process that runs the node.

    Raises:
        ParameterError: at construction, for a missing, misspelt or unacceptable parameter.
    """

    SERVES_ALL: ClassVar[bool] = True
    ONLY_OBSERVES: ClassVar[bool] = False
    ANSWERS_BEFORE_START: ClassVar[bool] = True

    # A class attribute, because a node that fails during construction is also destroyed.
    _is_destroyed = False

    def __init__(
        self,
        *,
        name: str | None = None,
        sources: Sequence[Source] = (),
        shared_names: Iterable[str] = (),
        hand_off: HandOff | None = None,
        tap: Tap | None = None,
        control: ProcessControl | None = None,
        **node_arguments: Any,
    ) -> None:
        """Declare and check all parameters, then configure.

        Args:
            name: name of the node; None: DEFAULT_NAME.
            sources: where parameters come from, in increasing order of precedence, by the rules of `given_by`.
            shared_names: parameter names of other nodes, which a wildcard section may therefore contain; read only when
                a name is unknown.
            hand_off: hand-off between the nodes of the process; None: messages go through the middleware.
            tap: called for each topic of the step that the node publishes; returns the listener of the messages.
            control: the process, which several nodes may share; None: one of the node's own.
            node_arguments: passed to rclpy.node.Node (namespace, context, parameter_overrides, ...).
        """
        self._statistics = TopicStatistics()
        self.sources = tuple(sources)
        self.hand_off = hand_off
        self.control = control or ProcessControl()
        self._tap = tap
        self._time_mode_watches = {} if hand_off is None else hand_off.time_mode_watches
        self.exclusive_topics: list[str] = []
        self._publisher_watch: PublisherWatch | None = None
        self._start_watch: StartWatch | None = None
        self.initialise()
        Node.__init__(self, name or self.DEFAULT_NAME, **node_arguments)
        if hand_off is not None:
            hand_off.connect(self)
            if hand_off.clock is not None:
                set_clock(self, hand_off.clock.clock)
                if self._drop_clock_subscriptions():
                    # Keep the edge in the ROS graph.
                    self.subscribe(CLOCK, _nothing, qos=NEWEST)
        self.follows_stamps = False
        try:
            self.declare_table(sources, shared_names, node_arguments.get("parameter_overrides") or ())
        except ParameterError:
            # Otherwise the context would call the derived class's method, for which the node is not complete.
            SimulationNode.destroy_node(self)
            raise
        self._own_reports = Reports(self, self, self._statistics)
        self.create_system_timer(_REPORT_PERIOD_S, self.report)

    def _on_declared(self) -> None:
        if self.values[CLOCK_FROM_START_DATE.name]:
            EPOCH.ns = self.start_ns

    def report(self) -> None:
        """Publish the diagnoses since the last report."""
        self._own_reports.report()

    @property
    def log(self) -> Log:
        """The node's logger."""
        logger: Log = self.get_logger()
        return logger

    def awaited_services(self) -> Collection[str]:
        """Full names of the services from which the node still has to read values before the first step."""
        return ()

    @property
    def unrepeatable_inputs(self) -> Sequence[str]:
        """Inputs of the node that come neither by topic nor by service, so that a recording does not hold them."""
        return ()

    @property
    def time_mode(self) -> str:
        """Time mode of the node; empty if it runs in any."""
        mode = str(self.values.get("time_mode", ""))
        simulated = self.get_parameter("use_sim_time").value
        # ROSflight's launch files set only use_sim_time.
        return "paced" if mode == "wall" and simulated else mode

    @functools.cached_property
    def start_ns(self) -> int:
        """Unix time of stamp 0, ns: `start_date`; 0 if stamps are of the system clock, which are Unix times already."""
        return unix_ns(start_of(self.values)) if self.get_parameter("use_sim_time").value else 0

    def unix_ns(self, time_ns: int) -> int:
        """Unix time, ns, of a stamp."""
        return self.start_ns + time_ns

    @property
    def now_ns(self) -> int:
        """Time of the node's clock, ns: since the start in simulated time, since 1970 in system time."""
        return int(self.get_clock().now().nanoseconds) - EPOCH.ns

    def time_mode_mismatch(self, *, amiss: bool) -> str:
        """Nodes of the simulation that run in another time mode; empty if none is known.

        The first call with `amiss` starts the watch.
        """
        if self._time_mode_watch is None and amiss:
            self._time_mode_watches[self.time_mode] = TimeModeWatch(self, self.time_mode)
        return "" if self._time_mode_watch is None else self._time_mode_watch.mismatch(self)

    @property
    def _time_mode_watch(self) -> TimeModeWatch | None:
        return self._time_mode_watches.get(self.time_mode)

    def knows_time(self, time_ns: int) -> bool:
        """Whether `time_ns`, the time of the node's clock, is the graph's; the first call with 0 starts the watch.

        In a process that runs the whole graph, it always is.
        """
        if time_ns or self.hand_off is not None:
            if self._start_watch is not None:
                self._start_watch.close()
            return True
        if self._start_watch is None:
            vehicles = self.values.get("vehicles") if self.SERVES_ALL else None
            self._start_watch = StartWatch(self, str(vehicles[0]) if isinstance(vehicles, list) and vehicles else "")
        return self._start_watch.time_is_zero()

    def check_publishers(self) -> str:
        """Publishers in other processes of the node's exclusive topics, logged as an error; empty if there are none."""
        if self._publisher_watch is None:
            self._publisher_watch = PublisherWatch(self, self.exclusive_topics, self._has_other_publishers)
        return self._publisher_watch.check()

    def _has_other_publishers(self, topic: str) -> bool:
        """Whether a topic of the node may have other publishers, by its full name."""
        external = None if self.hand_off is None else self.hand_off.has_external_publishers(topic)
        # To count the publishers of a topic, the middleware searches all publishers of the graph.
        return self.count_publishers(topic) > 1 if external is None else external

    @property
    def time_modes_are_known(self) -> bool:
        """Whether `time_mode_mismatch` knows the time mode of each running node."""
        return self._time_mode_watch is not None and self._time_mode_watch.has_settled

    def publisher(self, topic: StepTopic[M], at: str = "") -> Callable[[M], None]:
        """Create a publisher in the namespace `at`, relative to the node's, and return its publish function."""
        return self.sender(topic, at).send

    def lazy_publisher(self, topic: StepTopic[M], at: str = "") -> Callable[[Callable[[], M]], None]:
        """As `publisher`, but the publish function takes a function that makes the message.

        The message is made only if there is a subscription or a tap.
        """
        return self.sender(topic, at).send_lazily

    def sender(self, topic: StepTopic[M], at: str = "") -> Sender[M]:
        """Create a publisher in the namespace `at`, relative to the node's, and return its functions and its end."""
        hand_off, counter, name = self.hand_off, TopicCounter(), topic_of(at, topic.name)
        create = super().create_publisher

        def new_publisher() -> Publisher[Any]:
            publisher = create(topic.message_type, name, topic.qos)
            self._statistics.add_publisher(publisher, counter)
            return publisher

        if hand_off is None:
            publisher, encode = new_publisher(), topic.encode
            if topic.is_exclusive:
                self.exclusive_topics.append(publisher.topic_name)
            publish, subscriptions = publisher.publish, subscription_counter(publisher)

            def send(message: M) -> None:
                counter.count += 1
                publish(encode(message))

            def send_lazily(make: Callable[[], M]) -> None:
                if subscriptions():
                    send(make())
                else:
                    counter.count += 1

            return Sender(send, send_lazily)
        outlet: Outlet

        def renew() -> None:
            if not self._is_destroyed and not outlet.is_removed:
                self._statistics.forget(outlet.publisher)
                Node.destroy_publisher(self, outlet.publisher)
                outlet.use(new_publisher())

        publisher = new_publisher()
        if topic.is_exclusive:
            self.exclusive_topics.append(publisher.topic_name)
        tap = None if self._tap is None else self._tap(publisher.topic_name, topic.message_type, topic.qos)
        outlet = Outlet(topic, publisher, counter, tap, renew)
        return hand_off.add_outlet(outlet)

    def subscribe(
        self,
        topic: StepTopic[M],
        callback: Callable[[M], None],
        at: str = "",
        *,
        qos: QoSProfile | None = None,
        needed: bool = False,
        at_once: bool = False,
    ) -> Subscription[Any]:
        """Subscribe `callback` to the messages of a topic in the namespace `at`, relative to the node's own.

        Args:
            topic: row of the table `step/topics.py`.
            callback: called with each message.
            at: namespace.
            qos: of the subscription; None: the topic's for the node's time mode.
            needed: whether diagnostics report missing messages.
            at_once: whether `callback` is called within the sender's call, if the sender is in the same process.
        """
        counter, name = TopicCounter(needed), topic_of(at, topic.name)
        qos = qos or topic.requested_qos(self.time_mode)
        if self.hand_off is None:
            decode = topic.decode
            on_data = counter.timed(lambda data: callback(decode(data)))
            subscription = super().create_subscription(topic.message_type, name, on_data, qos, raw=True)
        else:
            subscription = self.hand_off.subscribe(self, topic, name, qos, callback, counter, at_once=at_once)
        self._statistics.add_subscription(subscription, counter)
        return subscription

    def poll(self, topic: StepTopic[M], at: str = "") -> PolledSubscription[M]:
        """Subscribe to a topic without waking the node: `take` returns the newest message."""
        return PolledSubscription(self, topic, topic_of(at, topic.name))

    def create_publisher(self, *arguments: Any, **options: Any) -> Publisher[Any]:
        """As rclpy's, with a count of published messages."""
        publisher = super().create_publisher(*arguments, **options)
        counter = TopicCounter()
        publisher.publish = counter.counted(publisher.publish)
        self._statistics.add_publisher(publisher, counter)
        return publisher

    def create_subscription(
        self, message_type: Any, topic: str, callback: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Subscription[Any]:
        """As rclpy's, with a count of received messages."""
        counter = TopicCounter()
        end = ""

        @functools.wraps(callback)
        def counted(*message: Any) -> Any:
            if counter.has_ended:
                return None
            counter.count += 1
            if end and self.hand_off is not None and not self.hand_off.admits(end, lambda: _serialised(message[0])):
                return None
            return callback(*message)

        def act(data: bytes) -> None:
            callback(data if options.get("raw") else deserialize_message(data, message_type))

        subscription = super().create_subscription(message_type, topic, counted, *arguments, **options)
        if subscription.topic_name not in _NO_INPUTS:
            end = self._outside_end("topic", subscription.topic_name, act)
        self._statistics.add_subscription(subscription, counter)
        return subscription

    def destroy_publisher(self, publisher: Publisher[Any]) -> bool:
        """As rclpy's."""
        self._statistics.forget(publisher)
        if self.hand_off is not None:
            self.hand_off.remove(publisher)
        return bool(super().destroy_publisher(publisher))

    def destroy_subscription(self, subscription: Subscription[Any]) -> bool:
        """As rclpy's."""
        if subscription in self._statistics.subscriptions:
            if self.hand_off is not None:
                self.hand_off.remove(subscription)
            if not is_served(self, subscription):
                serve(self, subscription)
        self._statistics.forget(subscription)
        return bool(super().destroy_subscription(subscription))

    @property
    def ends(self) -> set[Any]:
        """Publishers, subscriptions, clients, services and timers, without polled subscriptions."""
        return {*self.publishers, *self._statistics.subscriptions, *self.clients, *self.services, *self.timers}

    def destroy(self, end: Any) -> None:
        """Destroy one of the node's ends."""
        if isinstance(end, Publisher):
            self.destroy_publisher(end)
        elif isinstance(end, Subscription):
            self.destroy_subscription(end)
        elif isinstance(end, Client):
            self.destroy_client(end)
        elif isinstance(end, Service):
            self.destroy_service(end)
        else:
            self.destroy_timer(end)

    def create_client(self, *arguments: Any, **options: Any) -> Client[Any, Any, Any]:
        """As rclpy's; with a hand-off, a call is served and answered within the step."""
        client = super().create_client(*arguments, **options)
        if self.hand_off is not None:
            client.call_async = self.hand_off.attended(client)
        return client

    def create_service(
        self, service_type: Any, name: str, callback: Callable[[Any, Any], Any], *arguments: Any, **options: Any
    ) -> Service[Any, Any, Any]:
        """As rclpy's, except that a callback may return a Future of the response, to answer later.

        A coroutine would do the same, but ends the spin of the EventsExecutor of rclpy 7.1.4 to 7.1.10. With a
        hand-off, calls from outside of the process are noted, see `OutsideInputs`.
        """
        end = ""

        def is_admitted(request: Any) -> bool:
            hand_off = self.hand_off
            if not end or hand_off is None or hand_off.is_called(service.service_name):
                return True
            return hand_off.admits(end, lambda: serialize_message(request))

        @functools.wraps(callback)
        def serve_call(request: Any, response: Any) -> Any:
            return callback(request, response) if is_admitted(request) else response

        def act(data: bytes) -> None:
            callback(deserialize_message(data, service_type.Request), service_type.Response())

        service = super().create_service(service_type, name, serve_call, *arguments, **options)
        answer_later(service)
        if service.service_name.rsplit("/", 1)[-1] not in READING:
            end = self._outside_end("service", service.service_name, act)
        return service

    def _outside_end(self, kind: str, name: str, act: Callable[[bytes], None]) -> str:
        """Identification of a subscription or service for inputs from outside; empty if they need not be noted."""
        if self.hand_off is None or self.ONLY_OBSERVES:
            return ""
        return self.hand_off.outside.add_end(kind, name, self.get_fully_qualified_name(), act)

    def create_timer(
        self, timer_period_sec: float, callback: Callable[[], None], *arguments: Any, **options: Any
    ) -> Timer:
        """As rclpy's, but the timer does nothing once the node is destroyed, even if an executor still lists it."""

        def on_time() -> None:
            if not self._is_destroyed:
                callback()

        # EventsExecutor inspects the signature at each call, which takes as long as a short callback.
        on_time.__signature__ = _NO_ARGUMENTS  # type: ignore[attr-defined]
        return super().create_timer(timer_period_sec, on_time, *arguments, **options)

    def destroy_node(self) -> None:
        """As rclpy's."""
        self._is_destroyed = True
        self._statistics.end()
        for subscription in self._statistics.subscriptions:
            self.destroy_subscription(subscription)
        if self.hand_off is not None:
            self.hand_off.disconnect(self)
        super().destroy_node()

    def follow_stamps(self) -> None:
        """Set the node's clock through `update_clock` instead of a subscription to /clock.

        For nodes that receive each step's time in other messages: the subscription would wake the process once more per
        step.
        """
        if self.get_parameter("use_sim_time").value and not self.follows_stamps:
            self._drop_clock_subscriptions()
            self.follows_stamps = True

    def _drop_clock_subscriptions(self) -> bool:
        """Destroy the subscriptions to /clock that rclpy creates for a node with use_sim_time.

        Returns:
            Whether there was one. The node's time stays simulated.
        """
        found = [one for one in self._statistics.subscriptions if one.topic_name == CLOCK.name]
        for one in found:
            self.destroy_subscription(one)
        return bool(found)

    def update_clock(self, time_ns: int) -> None:
        """Set the node's clock, if it follows stamps and is not shared."""
        if self.follows_stamps and self.hand_off is None:
            self.get_clock().set_ros_time_override(_ros_time(time_ns + EPOCH.ns))

    def spin_once(self, executor: Executor, timeout_s: float) -> None:
        """Spin an executor that serves this node once; a time manager may return earlier, and begin a step."""
        executor.spin_once(timeout_sec=timeout_s)

    def end_spin(self) -> None:
        """Called after the last `spin_once` of a loop: from now on, the executor alone serves the node."""

    def create_system_timer(self, period_s: float, callback: Callable[[], None], *, autostart: bool = True) -> Timer:
        """Create a timer on system time, which continues while simulated time does not advance."""
        return self.create_timer(period_s, callback, clock=Clock(clock_type=ClockType.STEADY_TIME), autostart=autostart)
