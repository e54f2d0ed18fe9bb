"""Nodes of parts: ROS parameters, publishers, subscriptions, services, diagnostics, failures and the join of a part."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter as RosParameter
from std_msgs.msg import String

from rosflight_py_sim.failures.failure import FAILURES, constraints_with_parts
from rosflight_py_sim.failures.schedule import FailureSchedule
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.vehicle_parameters import values_of_vehicle
from rosflight_py_sim.interfaces.part_ports import PartPorts, Renamed, same
from rosflight_py_sim.interfaces.rclpy_internals import forget_destroyed
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.topics import ACTIVE_FAILURES

P = TypeVar("P", bound=Part)


class PartNode(SimulationNode):
    """Base class of a part's node: derive from the part's class first, then from this one.

    `StepJoin` joins the inputs. A change of the parameter `failures` affects neither the failures that stay in the list
    nor the part's models. The active failures are published on sim/failures. The failures of a hosted part are set by
    the same parameter, or by that of its vehicle (`values_of_vehicle`), and published in the part's namespace.

    Class attributes:
        WITHOUT_ROS: part that runs in a flight without ROS, for a node that adds to it only what such a flight does not
            use; None for other nodes.
        PORTS: connects the part's ports.
        HOSTS: classes of further parts that the node runs, usually one part for each vehicle.

    Attributes:
        offered: the part's services, by name.
    """

    WITHOUT_ROS: ClassVar[type[Part] | None] = None
    PORTS: ClassVar[type[PartPorts]] = PartPorts
    HOSTS: ClassVar[tuple[type[Part], ...]] = ()

    # A class attribute, because a node that fails during construction is also destroyed.
    _connected: Sequence[PartPorts] = ()

    def __init__(self, **arguments: Any) -> None:
        """Create the node, and connect the part's ports in the order of their declaration."""
        # Functions that publish the active failures of a namespace.
        self._send_failures: dict[str, Any] = {}
        self._failing: list[tuple[str, Part]] = [("", self)]
        super().__init__(**arguments)
        try:
            self._connect_all()
        except Exception:
            # Otherwise the context would call the derived class's method, for which the node is not complete.
            SimulationNode.destroy_node(self)
            raise

    def _connect_all(self) -> None:
        self._adopt("", self, self.failures_of(self.values.get(FAILURES.name, [])))
        self._describe_failures()
        self._ports = self.PORTS(self, self)
        self._join, self.offered = self._ports.join, self._ports.offered
        self._connected = [self._ports]
        self._ports.connect()

    def host(self, part: P, at: str, renamed: Renamed = same) -> P:
        """Connect a part of one of the classes in HOSTS.

        Args:
            part: the part.
            at: its namespace, relative to the node's.
            renamed: gives the row that takes the place of a port's.
        """
        assert isinstance(part, self.HOSTS)
        if part.FALLIBLE:
            self._failing.append((at, part))
            part.on_failures_changed = partial(self._publish_failures, at)  # type: ignore[method-assign]
            self._adopt(at, part, part.failures)
            self._describe_failures()
        ports = PartPorts(self, part, at, renamed)
        self._connected = [*self._connected, ports]
        before = self.ends
        ports.connect()
        ports.ends = self.ends - before
        return part

    def unhost(self, part: Part) -> None:
        """Stop running a part that `host` has connected, and destroy the ends of its ports."""
        ended = next(ports for ports in self._connected if ports.part is part)
        self._connected = [ports for ports in self._connected if ports is not ended]
        ended.disconnect()
        forget_destroyed(self)

    def destroy_node(self) -> None:
        """Also end what must end before the node."""
        for ports in self._connected:
            ports.close()
        super().destroy_node()

    def report(self) -> None:
        """Publish the diagnoses since the last report."""
        for ports in self._connected:
            ports.settle()
        super().report()

    def awaited_services(self) -> Collection[str]:
        """The services of the flight controller, until its parameters have been read."""
        return [name for ports in self._connected for one in ports.readers for name in one.awaited_services()]

    # Failures.

    @property
    def active_failures(self) -> list[str]:
        """Active failures, in words; those of hosted parts are preceded by the vehicle."""
        return [f"{at}: {text}" if at else text for at, part in self._failing for text in part.failures.texts]

    def on_failures_changed(self, texts: Sequence[str]) -> None:
        """Publish the active failures."""
        self._publish_failures("", texts)

    def _describe_failures(self) -> None:
        """List in the parameter's descriptor the parts whose failures the node applies."""
        if FAILURES.name in self.values:
            parts = dict.fromkeys(name for _, part in self._failing for name in part.fallible(part.values))
            descriptor = self.describe_parameter(FAILURES.name)
            descriptor.additional_constraints = constraints_with_parts(parts)
            self.set_descriptor(FAILURES.name, descriptor)

    def _publish_failures(self, at: str, texts: Sequence[str]) -> None:
        if at in self._send_failures:
            self._send_failures[at](String(data=f"{self.get_name()}: {', '.join(texts) or 'none'}"))

    def _adopt(self, at: str, part: Part, schedule: FailureSchedule) -> None:
        part.adopt_failures(schedule)
        if len(schedule) and at not in self._send_failures:
            self._send_failures[at] = self.publisher(ACTIVE_FAILURES, at)

    def _on_set_parameters(self, changes: list[RosParameter[Any]]) -> SetParametersResult:
        for ports in self._connected:
            ports.part.relink()
        names = {f"{at}.{FAILURES.name}".lstrip(".") for at, _ in self._failing}
        try:
            own = {change.name: FAILURES.checked(change.value) for change in changes if change.name in names}
            given = {**self.values, **own}
            schedules = [
                (at, part, part.failures_of(values_of_vehicle(given, at).get(FAILURES.name, [])))
                for at, part in (self._failing if own else ())
            ]
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        # A change of failures alone must not rebuild the models, which would draw their random numbers again.
        result = SimulationNode._on_set_parameters(self, [change for change in changes if change.name not in own])
        if result.successful:
            self.values = {**self.values, **own}
            for at, part, schedule in schedules:
                self._adopt(at, part, schedule)
        return result
