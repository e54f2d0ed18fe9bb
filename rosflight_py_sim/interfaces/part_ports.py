"""Connection of a part's ports to a node: publishers, subscriptions, services, clients, and the join of the inputs."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from rclpy.client import Client
from rclpy.publisher import Publisher
from rclpy.service import Service as RosService
from rclpy.subscription import Subscription
from std_msgs.msg import Bool

from rosflight_py_sim.ground.parameters import ParameterError, number
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.compiled_vehicle import CompiledVehicle
from rosflight_py_sim.interfaces.firmware_parameters import FirmwareParameterReader
from rosflight_py_sim.interfaces.hand_off_ends import Inlet, Outlet
from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.simulation_node import READING, SimulationNode
from rosflight_py_sim.interfaces.ticks import start_ticks, subscribe_to_clock
from rosflight_py_sim.step.join import StepJoin
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import (
    Call,
    Calls,
    FirmwareReading,
    Input,
    Kind,
    Output,
    Polled,
    Service,
    namespace_of,
)
from rosflight_py_sim.step.topics import CLOCK, PARAMS_CHANGED, StepSize, StepTopic, topic_of

Renamed = Callable[[StepTopic[Any]], StepTopic[Any]]
"""Function that returns the row to use instead of a port's row."""

# Inputs whose effect differs between lockstep and the other time modes.
_OF_LOCKSTEP = (Kind.SYNCHRONIZED, Kind.LATER, Kind.EXPECTED, Kind.ADMITTING, Kind.REPEATED)

# Inputs that take a message within the sender's call.
_TAKEN_AT_ONCE = (Kind.SYNCHRONIZED, Kind.NEWEST, Kind.LATER, Kind.ADMITTING)


def same(topic: StepTopic[Any]) -> StepTopic[Any]:
    """The row itself."""
    return topic


DISCOVERY_S = 15.0
"""System time after which a service that a part looks for counts as missing, s."""


class _Discovery:
    def __init__(self, client: Client[Any, Any, Any]) -> None:
        self._client = client
        self._missed_s: float | None = None
        self.has_ended = False

    def is_available(self) -> bool:
        # A destroyed client must not be used.
        ready = not self.has_ended and self._client.service_is_ready()
        if ready:
            self._missed_s = None
        elif self._missed_s is None:
            self._missed_s = time.monotonic()
        return ready

    def is_missing(self) -> bool:
        return not self.is_available() and time.monotonic() - (self._missed_s or 0.0) > DISCOVERY_S


class PartPorts:
    """Connects the ports of one part to a node, in a namespace; a node may host several parts.

    Attributes:
        part: the part.
        join: join of the inputs of the part's answers.
        offered: the part's services, by name.
        readers: readers of the flight controller's parameters.
        ends: publishers, subscriptions, clients, services and timers of a part that the node only hosts.
        outlets: each output with its end in the hand-off, by name; empty without a hand-off.
        inlets: each input with its end in the hand-off.
        compiled: chain of kernels that answers for the part at present; None if the part does.
    """

    def __init__(self, node: SimulationNode, part: Part, at: str = "", renamed: Renamed = same) -> None:
        """Set the part's time mode; `connect` connects its ports.

        Args:
            node: the node; it may be the part itself.
            part: the part.
            at: namespace of the part's topics and services, relative to the node's.
            renamed: returns the row to use instead of a port's row.
        """
        self._node, self.part, self._at, self._renamed = node, part, at, renamed
        part.lockstep = node.values.get(TIME_MODE.name) == "lockstep"
        # In a hand-off the nodes have one clock, which the time manager sets.
        self._sets_clock = node.hand_off is None
        self.outlets: dict[str, tuple[Output[Any], Outlet]] = {}
        self._sends: dict[str, Callable[[Any], None]] = {}
        self.inlets: list[tuple[Input[Any], Inlet]] = []
        self.compiled: CompiledVehicle | None = None
        self._on_time: Callable[[int], None] | None = None
        rule, answer = part.join_rule, cast("Callable[[int, Any], None]", part.run)
        is_first = rule.trigger == CLOCK.name and type(part).cells is not Part.cells
        if node.hand_off is not None and part.lockstep and is_first:
            vehicle = CompiledVehicle(node.hand_off, self)
            answer, self._on_time = vehicle.answer, vehicle.trigger
        self.join = StepJoin(rule, answer, self._answer_again, lockstep=part.lockstep)
        self.offered: dict[str, RosService[Any, Any, Any]] = {}
        self.readers: list[FirmwareParameterReader] = []
        self._inputs: dict[tuple[str, str], Subscription[Any]] = {}
        self._polled: list[PolledSubscription[Any]] = []
        self._discoveries: list[_Discovery] = []
        self.ends: set[Any] = set()

    def connect(self) -> None:
        """Connect the ports, in the order of their declaration, and begin the part once its outputs are connected.

        Raises:
            ParameterError: an input depends on the time mode, which the node does not have.
        """
        node, part, at, renamed = self._node, self.part, self._at, self._renamed
        part.make_stale = self.join.make_stale  # type: ignore[method-assign]
        part.end_port = self._end_input  # type: ignore[method-assign]
        if part is not node:
            part.update_clock = node.update_clock  # type: ignore[method-assign]
            part.start_ns = node.start_ns
        if node.hand_off is not None:
            part.relink = self._relink  # type: ignore[method-assign]
            part.resume = self._resume  # type: ignore[method-assign]
            part.is_received = self._is_received  # type: ignore[method-assign]
            part.count_unsent = self.count_unsent  # type: ignore[method-assign]
        for out in part.ports(Output):
            sender = node.sender(renamed(out.topic), self._namespace_of(out))
            send = sender.send_lazily if out.lazy else sender.send
            out.bind(part, send)
            if sender.outlet is not None:
                self.outlets[out.name] = out, sender.outlet
                self._sends[out.name] = send
        for called in part.ports(Calls):
            called.bind(part, {name: self._call(called.service_type, name) for name in called.topics})
        part.begin()
        for port in part.ports(Input):
            self.connect_input(port)
        for read in part.ports(Polled):
            read.bind(part, self._reader_while_wanted(read) if read.wanted else self._poll(read).take)
        self.readers += [
            FirmwareParameterReader(node, reading.names, getattr(part, reading.name), at)
            for reading in part.ports(FirmwareReading)
        ]
        if self.readers:
            node.subscribe(PARAMS_CHANGED, self._on_params_changed, at)
        for one in part.ports(Service):
            self.offered[one.topic] = node.create_service(one.service_type, topic_of(at, one.topic), self._serving(one))
        for port in part.ports(Input):
            if port.kind is Kind.TICKS:
                start_ticks(node, number(part.values, port.rate), part.run)
            elif port.rate and not part.lockstep:
                start_ticks(node, number(part.values, port.rate), self.join.trigger)

    def _serving(self, port: Service) -> Callable[[Any, Any], Any]:
        """Function that answers a service, which may change the part."""
        answer: Callable[[Any, Any], Any] = getattr(self.part, port.name)
        if port.topic in READING:
            return answer

        def serve(request: Any, response: Any) -> Any:
            self._relink()
            return answer(request, response)

        return serve

    def _relink(self) -> None:
        if self.compiled is not None:
            self.compiled.relink()

    def _resume(self) -> None:
        if self.compiled is not None:
            self.compiled.resume_later()

    def settle(self) -> None:
        """Count the messages that a chain has not made."""
        if self.compiled is not None:
            self.compiled.settle()

    def _answer_again(self, time_ns: int) -> None:
        self._relink()
        self.part.answer_again(time_ns)

    def _repeat(self, stamp_ns: int) -> None:
        self._relink()
        self.join.repeat(stamp_ns)

    def _is_received(self, output: str) -> bool:
        return output in self.outlets and self.outlets[output][1].is_received

    @property
    def sends_as_bound(self) -> bool:
        """Whether the part has not replaced the function of an output."""
        bound = vars(self.part)
        return all(bound.get(name, send) is send for name, send in self._sends.items())

    def count_unsent(self, output: str, count: int) -> None:
        """Count messages that a chain has not made because the output has no receivers."""
        if output in self.outlets:
            self.outlets[output][1].counter.count += count

    def close(self) -> None:
        """End readers and polled subscriptions, which must end before the node; may be called again."""
        for reader in self.readers:
            reader.close()
        while self._polled:
            self._polled.pop().close()

    def disconnect(self) -> None:
        """Destroy the ends of all ports, because the node no longer runs the part."""
        self.close()
        for discovery in self._discoveries:
            discovery.has_ended = True
        # A latched topic may have a new publisher by now.
        published = {end.topic_name for end in self.ends if isinstance(end, Publisher)}
        for end in self._node.ends:
            if end in self.ends or (isinstance(end, Publisher) and end.topic_name in published):
                self._node.destroy(end)
        self.ends = set()

    def connect_input(self, port: Input[Any]) -> None:
        """Subscribe to the topic of an input, unless the input has no effect in the node's time mode."""
        node, part, topic, kind = self._node, self.part, port.topic, port.kind
        if kind in _OF_LOCKSTEP and TIME_MODE.name not in node.values:
            raise ParameterError(
                f"{type(part).__name__}: input '{port.name}' is {kind.value}, which depends on the parameter "
                f"'{TIME_MODE.name}'; add shared_parameters.TIME_MODE to PARAMETERS"
            )
        on_message = port.taker(part)
        if kind is Kind.TRIGGER and (part.lockstep or not port.rate):
            if topic is CLOCK:
                subscribe_to_clock(node, self._on_time or self.join.trigger)
                return
            # The triggers of a node outside of the step may be rare, and its time must not stand still.
            if TIME_MODE.name in node.values:
                node.follow_stamps()
            on_message = self._on_trigger
        elif kind is Kind.REPEATED:
            if not part.lockstep:
                return
            on_message = self._repeat
        elif kind is Kind.ADMITTING:
            if not part.lockstep:
                return
            on_message = partial(self._admit, on_message)
        elif kind is Kind.TICKS or (kind is Kind.TRIGGER and port.function is None):
            return  # Ticks, which are started last.
        elif kind in (Kind.LATER, Kind.EXPECTED) and part.lockstep:
            on_message = self._held(port, on_message)
        elif kind is Kind.SYNCHRONIZED or port.required:
            on_message = self.join.taking(port.key, on_message)
        self.subscribe(port, on_message)

    def subscribe(self, port: Input[Any], on_message: Callable[[Any], None]) -> None:
        """Subscribe to the topic of an input."""
        subscription = self._inputs[port.family, port.name] = self._node.subscribe(
            self._renamed(port.topic),
            on_message,
            self._namespace_of(port),
            qos=port.qos,
            needed=port.needed,
            at_once=port.kind in _TAKEN_AT_ONCE,
        )
        if self._node.hand_off is not None:
            inlet = self._node.hand_off.inlet_of(subscription)
            inlet.owner = self, port
            self.inlets.append((port, inlet))

    def _namespace_of(self, port: Input[Any] | Output[Any]) -> str:
        """Namespace of a port's topic, relative to the node's, or absolute for the topic of another vehicle."""
        if not port.at:
            return self._at
        vehicle = port.at if port.at.startswith("/") else getattr(self.part, port.at)
        return namespace_of(vehicle, absolute_name(self._node.get_namespace(), self._at))

    def _end_input(self, name: str) -> None:
        subscription = self._inputs.pop(("", name), None)
        if subscription is not None:
            self._relink()
            self.inlets = [one for one in self.inlets if one[1].subscription is not subscription]
            self._node.destroy_subscription(subscription)

    def _poll(self, read: Polled[Any]) -> PolledSubscription[Any]:
        self._polled.append(self._node.poll(self._renamed(read.topic), self._at))
        return self._polled[-1]

    def _reader_while_wanted(self, read: Polled[Any]) -> Callable[[], Any]:
        """Function that reads a topic, and subscribes to it only while the part needs messages."""
        is_wanted = getattr(self.part, read.wanted)
        subscription: PolledSubscription[Any] | None = None

        def take() -> Any:
            nonlocal subscription
            if is_wanted() != (subscription is not None):
                if subscription is None:
                    subscription = self._poll(read)
                else:
                    self._polled.remove(subscription)
                    subscription.close()
                    subscription = None
            return None if subscription is None else subscription.take()

        return take

    def _call(self, service_type: Any, name: str) -> Call:
        client = self._node.create_client(service_type, topic_of(self._at, name))

        def send(request: Any, take: Callable[[Any], None]) -> None:
            client.call_async(request).add_done_callback(lambda future: take(future.result()))

        discovery = _Discovery(client)
        self._discoveries.append(discovery)
        return Call(discovery.is_available, discovery.is_missing, send)

    def _on_trigger(self, message: Any) -> None:
        time_ns = message.time_ns
        if self._sets_clock and not self.join.is_late(time_ns):
            self._node.update_clock(time_ns)
        self.join.trigger(time_ns, message)

    def _held(self, port: Input[Any], take: Callable[[Any], None]) -> Callable[[Any], None]:
        hold = partial(self.part.hold, take)
        if port.kind is Kind.LATER:
            return hold
        arrived = self.join.input(port.key)

        def on_message(message: Any) -> None:
            hold(message)
            if port.ages_from_arrival:
                arrived()
            else:
                arrived(message.time_ns)

        return on_message

    def _admit(self, take: Callable[[StepSize], None], step: StepSize) -> None:
        take(step)
        if step.is_requested:
            self.join.admit(step.time_ns)
        else:
            self.join.admit()

    def _on_params_changed(self, message: Bool) -> None:
        if message.data:
            for reader in self.readers:
                reader.read()
