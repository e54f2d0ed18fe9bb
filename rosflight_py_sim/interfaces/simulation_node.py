"""What every node of the simulator has in common: parameters from a table, quick publishing, and a word on its health.

A derived class names its table and fills in `configure`, which is given all values, checked, once at start-up and
again at each change. Everything else about parameters (descriptors, ranges, refusal with a reason, the other
parameter files' node names, misspelt names) happens here.
"""

from __future__ import annotations

import difflib
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.time import Time
from rclpy.timer import Timer

from rosflight_py_sim.interfaces.diagnostics import Diagnosis, Reports
from rosflight_py_sim.interfaces.parameter_files import files_of_arguments, named_values, values_of_arguments
from rosflight_py_sim.interfaces.traffic import Period, Tally, Traffic
from rosflight_py_sim.interfaces.wire import WireFormat
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Value

TIME_MODE = Parameter(
    "time_mode",
    "wall",
    "Who advances the simulation: wall (timers on the node's time, which use_sim_time chooses), paced (timers on "
    "/clock) or lockstep (one step per /clock message, when the step before is complete)",
    choices=("wall", "paced", "lockstep"),
    read_only=True,
)

Take = Callable[[bytes], None]
"""Takes a serialised message."""

Tap = Callable[[str, Any, QoSProfile], Take]
"""Asked for each topic (its full name, type, quality of service), gives what takes the messages published there."""

# rcl's own and those that rclpy declares by itself.
_NOT_OURS = ("use_sim_time", "start_type_description_service", "qos_overrides")

_REPORT_PERIOD_S = 1.0

# Two names closer than this are taken for a slip of the pen.
_NEAR = 0.8


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    unit = f" [{parameter.unit}]" if parameter.unit else ""
    descriptor = ParameterDescriptor(
        description=f"{parameter.text}{unit}",
        additional_constraints=f"{parameter.type_name}{', ' + parameter.allowed if parameter.allowed else ''}",
        read_only=parameter.read_only,
        dynamic_typing=True,
    )
    if isinstance(parameter.default, (list, str, bool)) or parameter.above_minimum:
        return descriptor
    if math.isfinite(parameter.minimum) or math.isfinite(parameter.maximum):
        if parameter.scalar_type is int:
            top = int(parameter.maximum) if math.isfinite(parameter.maximum) else 2**63 - 1
            bottom = int(parameter.minimum) if math.isfinite(parameter.minimum) else -(2**63)
            descriptor.integer_range = [IntegerRange(from_value=bottom, to_value=top)]
        else:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=parameter.minimum, to_value=parameter.maximum)
            ]
    return descriptor


@lru_cache(maxsize=4)
def _ros_time(time_ns: int) -> Time:
    """The nodes of a process are told the same time one after the other."""
    return Time(nanoseconds=time_ns, clock_type=ClockType.ROS_TIME)


def drop_clock_subscription(node: Node) -> None:
    """Destroy the subscription to /clock that rclpy gives every node with use_sim_time; its time stays simulated."""
    for subscription in [s for s in node.subscriptions if s.topic_name == "/clock" and not s.raw]:
        node.destroy_subscription(subscription)


class SimulationNode(Node):
    """A node whose parameters come from one table, and which tells on /diagnostics how it is.

    Class attributes:
        DEFAULT_NAME: node name where nobody gives one.
        ALIASES: further node names whose sections in parameter files speak to this node, weakest last
            (ROSflight's files name nodes by their executables).
        FILLS: default names of the nodes in whose place this one stands, besides the one of its own name.
        PARAMETERS: the table.

    Raises:
        ParameterError: at construction, for a missing, misspelt or unacceptable parameter.
    """

    DEFAULT_NAME: ClassVar[str]
    ALIASES: ClassVar[tuple[str, ...]] = ()
    FILLS: ClassVar[tuple[str, ...]] = ()
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable()

    # Here because a node that refuses its parameters is destroyed, too.
    _is_destroyed = False

    def __init__(
        self,
        *,
        arguments: Sequence[str] = (),
        shared_names: Iterable[str] = (),
        tap: Tap | None = None,
        **node_arguments: Any,
    ) -> None:
        """Declare and check all parameters, then configure.

        Args:
            arguments: ROS arguments, already given to rclpy, whose parameters are read as `parameter_files` says.
            shared_names: names known to other nodes, which a wildcard section may therefore hold; looked at only when
                a name is in doubt.
            tap: who is to be told what the node publishes as bytes.
            node_arguments: passed to rclpy.node.Node (namespace, context, parameter_overrides, ...).
        """
        self._traffic = Traffic()
        self._tap = tap
        super().__init__(self.DEFAULT_NAME, **node_arguments)
        self.follows_stamps = False
        self.values: dict[str, Value] = {}
        self._refuse_misspelt(files_of_arguments(arguments), shared_names)
        # What rcl knows, by whatever way it was told; rclpy has no public way to ask for it.
        given = {name: parameter.value for name, parameter in self._parameter_overrides.items()}
        given |= values_of_arguments(arguments, self.get_name(), self.get_namespace(), self.ALIASES)
        given |= {parameter.name: parameter.value for parameter in node_arguments.get("parameter_overrides") or ()}
        for parameter in self.PARAMETERS:
            self._declare(parameter, given)
        self.configure(self.values)
        self.add_on_set_parameters_callback(self._on_set_parameters)
        self.create_system_timer(_REPORT_PERIOD_S, Reports(self, self, self._traffic).report)

    def configure(self, values: dict[str, Value]) -> None:
        """Build what depends on parameters; called at start-up and at every change.

        Must build everything new before it replaces anything, so that a refusal leaves the node as it was.

        Raises:
            ParameterError: the values do not fit together.
        """

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """How the node is, for /diagnostics, after each second of system time.

        What has no subject speaks of the node as a whole; the rates of its topics and inputs that are missing need not
        be told here.

        Args:
            period: what went in and out since the call before.
        """
        return ()

    def _refuse_misspelt(self, files: Sequence[str], shared_names: Iterable[str]) -> None:
        """Refuse names nobody knows: any in a section that names this node, near misses in a wildcard section."""
        named = {
            name
            for file in files
            for node_name in (self.get_name(), *self.ALIASES)
            for name in named_values(file, node_name, self.get_namespace())
        }
        for name in sorted(named | set(self._parameter_overrides)):
            if name in self.PARAMETERS or name.split(".")[0] in _NOT_OURS:
                continue
            near = difflib.get_close_matches(name, [p.name for p in self.PARAMETERS], n=1, cutoff=_NEAR)
            if name in named or (near and name not in shared_names):
                raise ParameterError(self.PARAMETERS.unknown(name))

    def _declare(self, parameter: Parameter, given: dict[str, Any]) -> None:
        name = parameter.name
        if parameter.required and name not in given:
            raise self.PARAMETERS.missing(parameter)
        self.values[name] = parameter.checked(given.get(name, parameter.default))
        self.declare_parameter(name, self.values[name], _descriptor(parameter), ignore_override=True)

    def set_parameters(self, parameter_list: list[RosParameter[Any]]) -> list[SetParametersResult]:
        """Set each parameter by itself; a refusal says what was given and what is allowed."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[RosParameter[Any]]) -> SetParametersResult:
        """Set all or none; a refusal says what was given and what is allowed."""
        # rclpy checks ranges before it asks anyone, with a poorer text: so the table is asked first.
        try:
            for parameter in parameter_list:
                if not self.has_parameter(parameter.name):
                    raise ParameterError(self.PARAMETERS.unknown(parameter.name))
                if parameter.name in self.PARAMETERS:
                    self.PARAMETERS[parameter.name].checked(parameter.value)
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return super().set_parameters_atomically(parameter_list)

    def _on_set_parameters(self, changes: list[RosParameter[Any]]) -> SetParametersResult:
        known = {change.name: change.value for change in changes if change.name in self.PARAMETERS}
        values = {**self.values, **{name: self.PARAMETERS[name].checked(value) for name, value in known.items()}}
        try:
            if values != self.values:
                self.configure(values)
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self.values = values
        return SetParametersResult(successful=True)

    def publisher(self, topic: str, wire: WireFormat, qos: QoSProfile) -> Callable[..., None]:
        """A function (time_ns, *numbers) that publishes on `topic`."""
        publisher = super().create_publisher(wire.message_type, topic, qos)
        publish, encode = self._tapped(publisher, wire.message_type, qos), wire.encode
        tally = Tally()
        self._traffic.says(publisher, tally)

        def send(time_ns: int, *values: float) -> None:
            tally.count += 1
            publish(encode(time_ns, *values))

        return send

    def bytes_publisher(self, topic: str, message_type: Any, qos: QoSProfile) -> Take:
        """A function that publishes serialised messages on `topic`."""
        return self._tapped(self.create_publisher(message_type, topic, qos), message_type, qos)

    def _tapped(self, publisher: Publisher[Any], message_type: Any, qos: QoSProfile) -> Take:
        """A function that publishes serialised messages, and has the tap take them where there is one."""
        publish: Take = publisher.publish
        if self._tap is None:
            return publish
        take = self._tap(publisher.topic_name, message_type, qos)

        def send(message: bytes) -> None:
            publish(message)
            take(message)

        return send

    def listen(
        self,
        topic: str,
        message_type: Any,
        callback: Callable[[bytes], None],
        qos: QoSProfile,
        *,
        needed: bool = False,
    ) -> None:
        """Subscribe `callback` to the serialised messages of `topic`; that `needed` ones are missing is told to all."""
        tally = Tally(needed)
        subscription = super().create_subscription(message_type, topic, tally.timed(callback), qos, raw=True)
        self._traffic.hears(subscription, tally)

    def create_publisher(self, *arguments: Any, **options: Any) -> Publisher[Any]:
        """As rclpy's, with a count of what is published."""
        publisher = super().create_publisher(*arguments, **options)
        tally = Tally()
        publisher.publish = tally.counted(publisher.publish)
        self._traffic.says(publisher, tally)
        return publisher

    def create_subscription(
        self, message_type: Any, topic: str, callback: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Subscription[Any]:
        """As rclpy's, with a count of what is heard."""
        tally = Tally()

        @functools.wraps(callback)
        def counted(*message: Any) -> Any:
            tally.count += 1
            return callback(*message)

        subscription = super().create_subscription(message_type, topic, counted, *arguments, **options)
        self._traffic.hears(subscription, tally)
        return subscription

    def destroy_publisher(self, publisher: Publisher[Any]) -> bool:
        """As rclpy's."""
        self._traffic.forget(publisher)
        return bool(super().destroy_publisher(publisher))

    def destroy_subscription(self, subscription: Subscription[Any]) -> bool:
        """As rclpy's."""
        self._traffic.forget(subscription)
        return bool(super().destroy_subscription(subscription))

    def create_timer(
        self, timer_period_sec: float, callback: Callable[[], None], *arguments: Any, **options: Any
    ) -> Timer:
        """As rclpy's; after the node's end it does nothing, though an executor may still have it on its list."""

        def on_time() -> None:
            if not self._is_destroyed:
                callback()

        return super().create_timer(timer_period_sec, on_time, *arguments, **options)

    def destroy_node(self) -> None:
        """As rclpy's."""
        self._is_destroyed = True
        super().destroy_node()

    def follow_stamps(self) -> None:
        """Let the node's clock follow what `tell_time` is told, in the place of a subscription to /clock of its own.

        For nodes that hear of each step's time anyway: the subscription would wake the process once more a step.
        """
        if self.get_parameter("use_sim_time").value:
            drop_clock_subscription(self)
            self.follows_stamps = True

    def tell_time(self, time_ns: int) -> None:
        """Set the node's clock, where it follows stamps."""
        if self.follows_stamps:
            self.get_clock().set_ros_time_override(_ros_time(time_ns))

    def create_system_timer(self, period_s: float, callback: Callable[[], None], *, autostart: bool = True) -> Timer:
        """A timer that goes on when the simulation's time stands still."""
        return self.create_timer(period_s, callback, clock=Clock(clock_type=ClockType.STEADY_TIME), autostart=autostart)
