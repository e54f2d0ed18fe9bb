"""A node whose parameters are those of a table.

A derived class sets its table and implements `configure`, which receives all values, checked, at start-up and at each
change. This class handles the rest: descriptors, ranges, errors with a reason, node names in parameter files, and
misspelt names.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value
from rosflight_py_sim.ground.vehicle_parameters import vehicle_parameters
from rosflight_py_sim.interfaces.given_values import (
    GivenValue,
    Source,
    given_by,
    placed,
    refuse_misspelt,
    unknown_names,
)
from rosflight_py_sim.interfaces.rclpy_internals import call_last, override, parameter_overrides
from rosflight_py_sim.step.part import Part

_PACKAGE = "rosflight_py_sim."

_TYPES = {
    bool: (RosParameter.Type.BOOL, RosParameter.Type.BOOL_ARRAY),
    int: (RosParameter.Type.INTEGER, RosParameter.Type.INTEGER_ARRAY),
    float: (RosParameter.Type.DOUBLE, RosParameter.Type.DOUBLE_ARRAY),
    str: (RosParameter.Type.STRING, RosParameter.Type.STRING_ARRAY),
}


def _typed(parameter: Parameter, value: Value) -> RosParameter[Any]:
    """ROS parameter with the type given by the table; rclpy would make an empty list a byte array."""
    return RosParameter(parameter.name, _TYPES[parameter.scalar_type][isinstance(parameter.default, list)], value)


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    unit = f" [{parameter.unit}]" if parameter.unit else ""
    descriptor = ParameterDescriptor(
        description=f"{parameter.text}{unit}",
        additional_constraints=parameter.constraints,
        read_only=parameter.read_only,
        dynamic_typing=True,
    )
    if parameter.scalar_type in (str, bool) or parameter.above_minimum or parameter.also_allowed:
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


class TableNode(Part, Node):
    """A node with parameters from one table.

    Class attributes:
        VEHICLE_PARAMETERS: parameters that may be given for one of the `vehicles`, see `vehicle_parameters`.
    """

    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = ParameterTable()

    @classmethod
    def table_for(cls, given: Mapping[str, Any]) -> ParameterTable:
        """The parameters of the part, and those given for one of the vehicles."""
        return cls.with_vehicle_parameters(super().table_for(given), given)

    @classmethod
    def with_vehicle_parameters(cls, table: ParameterTable, given: Mapping[str, Any]) -> ParameterTable:
        """The table with the VEHICLE_PARAMETERS that are given for one of the vehicles."""
        if not len(cls.VEHICLE_PARAMETERS):
            return table
        vehicles = given.get("vehicles")
        names = vehicles if isinstance(vehicles, list) else []
        return table + vehicle_parameters(cls.VEHICLE_PARAMETERS, names, given)

    def declare_table(
        self, sources: Sequence[Source], shared_names: Iterable[str], overrides: Iterable[RosParameter[Any]] = ()
    ) -> None:
        """Declare and check all parameters, then configure; to be called once, after rclpy.node.Node's constructor.

        Args:
            sources: where parameters come from, in increasing order of precedence, by the rules of `given_by`.
            shared_names: parameter names of other nodes, which a wildcard section may therefore contain; read only when
                a name is unknown.
            overrides: parameters that take precedence over all sources.

        Raises:
            ParameterError: a parameter is missing, misspelt or unacceptable.
        """
        self.values = {}
        self._warned: set[str] = set()
        names = dict.fromkeys((self.get_name(), *self.ALIASES, self.DEFAULT_NAME))
        found = given_by(sources, tuple(names), self.get_namespace())
        given = parameter_overrides(self) | {one.name: one.value for one in found}
        given |= {parameter.name: parameter.value for parameter in overrides}
        self.table = self.table_for(given)
        try:
            self._refuse_misspelt(given, found, shared_names)
            override(self, {name: value for name, value in given.items() if name not in self.table})
            for parameter in self.table:
                self._declare(parameter, given)
            self._on_declared()
            self._configure(self.values, {name: given[name] for name in self.values if name in given})
        except ParameterError as error:
            raise placed(error, found) from error
        self._warn_of_ignored(given)
        # After all other callbacks, so that none of them refuses values that the node has already configured.
        call_last(self, self._on_set_parameters)

    def _on_declared(self) -> None:
        """Act on the declared values, before `configure`; by default nothing happens."""

    def _configure(self, values: dict[str, Value], changes: Mapping[str, Any]) -> None:
        """Configure; an error of any type becomes a refusal that names the parameters given or changed.

        Raises:
            ParameterError: the values cannot be used; the node is as before.
        """
        before = dict(self.__dict__)
        try:
            self.configure(values)
        except Exception as error:
            self.__dict__.update(before)
            if isinstance(error, ParameterError):
                raise
            # A defect of the node, for which the simulation must not end.
            self.get_logger().error(f"configure: {''.join(traceback.format_exception(error))}")
            given = self.table.given({**values, **changes}, changes)
            raise ParameterError(f"{given} cannot be used: {type(error).__name__}: {error}") from error

    def _refuse_misspelt(self, given: Iterable[str], found: Sequence[GivenValue], shared_names: Iterable[str]) -> None:
        """Refuse unknown names: any in a section that names this node, near misses in a wildcard section.

        A section under one of the ALIASES may be meant for a node of another package with the same name: parameters of
        other nodes are ignored there. So they are, with a warning, in the sections of a node of another package, which
        may be meant for the node of this package that it replaces.
        """
        own_names = {self.get_name(), self.DEFAULT_NAME} - set(self.ALIASES)
        of_place = [one.name for one in found if one.node_name in own_names]
        others = unknown_names(of_place, self.table)
        if others and type(self).__module__.startswith(_PACKAGE):
            raise ParameterError(self.table.unknown(others[0]))
        refuse_misspelt(given, self.table, [one.name for one in found if one.node_name], shared_names)
        if others:
            self.get_logger().warning(f"parameters of other nodes are ignored: {', '.join(others)}")

    def _declare(self, parameter: Parameter, given: dict[str, Any]) -> None:
        name = parameter.name
        if parameter.required and name not in given:
            raise self.table.missing(parameter)
        self.values[name] = parameter.checked(given.get(name, parameter.default))
        descriptor = _descriptor(parameter)
        if self.values[name] != []:
            self.declare_parameter(name, self.values[name], descriptor, ignore_override=True)
            return
        # rclpy infers the type from the value, and types an empty list as a byte array.
        self.declare_parameter(name, [], ParameterDescriptor(dynamic_typing=True), ignore_override=True)
        super().set_parameters_atomically([_typed(parameter, [])])
        self.set_descriptor(name, descriptor)

    def set_parameters(self, parameter_list: list[RosParameter[Any]]) -> list[SetParametersResult]:
        """Set each parameter separately; the reason of a refusal names the value given and the values allowed."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[RosParameter[Any]]) -> SetParametersResult:
        """Set all or none; the reason of a refusal names the value given and the values allowed."""
        # The table checks first: rclpy checks ranges before it calls any callback, and its reason is less specific.
        try:
            typed = [self._checked(parameter) for parameter in parameter_list]
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return super().set_parameters_atomically(typed)

    def _checked(self, change: RosParameter[Any]) -> RosParameter[Any]:
        if not self.has_parameter(change.name):
            raise ParameterError(self.table.unknown(change.name))
        if change.name not in self.table:
            return change
        parameter = self.table[change.name]
        return _typed(parameter, parameter.checked(change.value))

    def _on_set_parameters(self, changes: list[RosParameter[Any]]) -> SetParametersResult:
        values = {**self.values, **{change.name: change.value for change in changes if change.name in self.table}}
        try:
            if values != self.values:
                self._configure(values, {change.name: change.value for change in changes})
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self.values = values
        self._warn_of_ignored(change.name for change in changes)
        return SetParametersResult(successful=True)

    def _warn_of_ignored(self, names: Iterable[str]) -> None:
        """Warn once of each parameter that has no effect, after these have been given, too."""
        self.given |= {name for name in names if name in self.table}
        present = set(self.ignored_parameters())
        for text in sorted(present - self._warned):
            self.get_logger().warning(text)
        self._warned = present
