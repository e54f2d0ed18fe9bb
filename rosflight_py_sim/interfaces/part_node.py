"""Nodes of parts: ROS parameters, publishers, subscriptions, services, diagnostics, failures and the join of a part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter as RosParameter
from rclpy.subscription import Subscription
from std_msgs.msg import Bool, String

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.failures.schedule import FailureSchedule
from rosflight_py_sim.interfaces.firmware_parameters import FirmwareParameterReader
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.ticks import start_ticks, subscribe_to_clock
from rosflight_py_sim.parameters import ParameterError, ParameterTable, Value, number
from rosflight_py_sim.shared_parameters import TIME_MODE
from rosflight_py_sim.step.join import StepJoin
from rosflight_py_sim.step.part import Log, Part
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
from rosflight_py_sim.step.topics import ACTIVE_FAILURES, CLOCK, PARAMS_CHANGED, StepSize

# Inputs whose effect differs between lockstep and the other time modes.
_OF_LOCKSTEP = (Kind.SYNCHRONIZED, Kind.LATER, Kind.EXPECTED, Kind.ADMITTING, Kind.REPEATED)


class PartNode(Part, SimulationNode):
    """Base class of a part's node: derive from the part's class first, then from this one.

    `StepJoin` joins the inputs. A change of the parameter `failures` affects neither the failures that stay in the list
    nor the part's models. The active failures are published on sim/failures.

    Class attributes:
        WITHOUT_ROS: part that runs in a flight without ROS, for a node that adds to it only what such a flight does not
            use; None for other nodes.

    Attributes:
        offered: the part's services, by name.
    """

    WITHOUT_ROS: ClassVar[type[Part] | None] = None

    def __init__(self, **arguments: Any) -> None:
        """Create the node, and connect the part's ports in the order of their declaration."""
        self._send_failures: Any = None
        self.initialise()
        SimulationNode.__init__(self, **arguments)
        try:
            self._connect_all()
        except Exception:
            # Otherwise the context would call the derived class's method, for which the node is not complete.
            SimulationNode.destroy_node(self)
            raise

    def _connect_all(self) -> None:
        self.lockstep = self.values.get("time_mode") == "lockstep"
        self._adopt(self.failures_of(self.values.get(FAILURES.name, [])))
        self._join = StepJoin(self.join_rule, self._run, self.answer_again, lockstep=self.lockstep)
        for out in self.ports(Output):
            setattr(self, out.name, (self.lazy_publisher if out.lazy else self.publisher)(out.topic))
        for called in self.ports(Calls):
            setattr(self, called.name, {name: self._call(called.service_type, name) for name in called.topics})
        self.begin()
        self._inputs: dict[str, Subscription[Any]] = {}
        for port in self.ports(Input):
            self._connect(port)
        for read in self.ports(Polled):
            setattr(self, read.name, self.poll(read.topic).take)
        self._readers = [
            FirmwareParameterReader(self, reading.names, getattr(self, reading.name))
            for reading in self.ports(FirmwareReading)
        ]
        if self._readers:
            self.subscribe(PARAMS_CHANGED, self._on_params_changed)
        self.offered = {
            one.topic: self.create_service(one.service_type, one.topic, getattr(self, one.name))
            for one in self.ports(Service)
        }
        for port in self.ports(Input):
            if port.kind is Kind.TICKS:
                start_ticks(self, number(self.values, port.rate), self.run)
            elif port.rate and not self.lockstep:
                start_ticks(self, number(self.values, port.rate), self._join.trigger)

    @classmethod
    def table_for(cls, given: Mapping[str, Any]) -> ParameterTable:
        """The part's parameters, and those given for one of the vehicles."""
        return cls.with_vehicle_parameters(super().table_for(given), given)

    @property
    def log(self) -> Log:
        """The node's logger."""
        logger: Log = self.get_logger()
        return logger

    start_ns = SimulationNode.start_ns

    def make_stale(self) -> None:
        """Make the last answer stale."""
        self._join.make_stale()

    def end_port(self, name: str) -> None:
        """Destroy the subscription of an input, if there is one."""
        subscription = self._inputs.pop(name, None)
        if subscription is not None:
            self.destroy_subscription(subscription)

    def awaited_services(self) -> Collection[str]:
        """The services of the flight controller, until its parameters have been read."""
        return [name for reader in self._readers for name in reader.awaited_services()]

    def _connect(self, port: Input[Any]) -> None:
        topic, kind = port.topic, port.kind
        if kind in _OF_LOCKSTEP and TIME_MODE.name not in self.values:
            raise ParameterError(
                f"{type(self).__name__}: input '{port.name}' is {kind.value}, which depends on the parameter "
                f"'{TIME_MODE.name}'; add shared_parameters.TIME_MODE to PARAMETERS"
            )
        on_message = port.taker(self)
        if kind is Kind.TRIGGER and (self.lockstep or not port.rate):
            if topic is CLOCK:
                subscribe_to_clock(self, self._join.trigger)
                return
            # The triggers of a node outside of the step may be rare, and its time must not stand still.
            if TIME_MODE.name in self.values:
                self.follow_stamps()
            on_message = self._on_trigger
        elif kind is Kind.REPEATED:
            if not self.lockstep:
                return
            on_message = self._join.repeat
        elif kind is Kind.ADMITTING:
            if not self.lockstep:
                return
            on_message = partial(self._admit, on_message)
        elif topic is CLOCK or (kind is Kind.TRIGGER and port.function is None):
            return  # Ticks, which are started last.
        elif kind in (Kind.LATER, Kind.EXPECTED) and self.lockstep:
            on_message = self._held(port, on_message)
        elif kind is Kind.SYNCHRONIZED or port.required:
            on_message = self._joined(port, on_message)
        at = namespace_of(getattr(self, port.at), self.get_namespace()) if port.at else ""
        self._inputs[port.name] = self.subscribe(topic, on_message, at, needed=port.needed)

    def _call(self, service_type: Any, name: str) -> Call:
        client = self.create_client(service_type, name)

        def send(request: Any, take: Callable[[Any], None]) -> None:
            client.call_async(request).add_done_callback(lambda future: take(future.result()))

        return Call(client.service_is_ready, send)

    def _joined(self, port: Input[Any], take: Callable[[Any], None]) -> Callable[[Any], None]:
        arrived = self._join.input(port.topic.name)

        def on_message(message: Any) -> None:
            take(message)
            arrived(message.time_ns)

        return on_message

    def _on_trigger(self, message: Any) -> None:
        self._join.trigger(message.time_ns, message)

    def _held(self, port: Input[Any], take: Callable[[Any], None]) -> Callable[[Any], None]:
        def hold(message: Any) -> None:
            self.held.take(message.time_ns, self.answered_ns, partial(take, message))

        if port.kind is Kind.LATER:
            return hold
        arrived = self._join.input(port.topic.name)

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
            self._join.admit(step.time_ns)
        else:
            self._join.admit()

    def _run(self, time_ns: int, content: Any) -> None:
        self.update_clock(time_ns)
        self.run(time_ns, content)

    def _on_params_changed(self, message: Bool) -> None:
        if message.data:
            for reader in self._readers:
                reader.read()

    # Failures.

    def on_failures_changed(self, texts: Sequence[str]) -> None:
        """Publish the active failures."""
        if self._send_failures is not None:
            self._send_failures(String(data=f"{self.get_name()}: {', '.join(texts) or 'none'}"))

    def _adopt(self, schedule: FailureSchedule) -> None:
        self.adopt_failures(schedule)
        if len(schedule) and self._send_failures is None:
            self._send_failures = self.publisher(ACTIVE_FAILURES)

    def _on_set_parameters(self, changes: list[RosParameter[Any]]) -> SetParametersResult:
        own = [change for change in changes if change.name == FAILURES.name]
        try:
            schedule = self.failures_of(own[-1].value) if own else None
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        # A change of failures alone must not rebuild the models, which would draw their random numbers again.
        result = SimulationNode._on_set_parameters(self, [change for change in changes if change.name != FAILURES.name])
        if result.successful and schedule is not None:
            value: Value = list(own[-1].value)
            self.values = {**self.values, FAILURES.name: value}
            self._adopt(schedule)
        return result
