"""Reader of the sections `parameters`, `firmware`, `variables` and `failures` of a sweep file."""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rosflight_py_sim.failures.failure import FAILURES, parse_failure
from rosflight_py_sim.firmware.parameter_table import PARAMETERS, FirmwareParameter
from rosflight_py_sim.firmware.parameters import FIRMWARE_PARAMETERS, FirmwareParameters
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.named_parameters import NamedParameters
from rosflight_py_sim.graph.scenario import Scenario, check_link_failure, checked_value, own_tables
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Scalar
from rosflight_py_sim.ground.shared_parameters import SEED
from rosflight_py_sim.ground.yaml_section import Item
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.sweep.definition import Quantity, with_firmware_parameter, with_setting
from rosflight_py_sim.sweep.distributions import read_distribution

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

# Parameters that a sweep sets itself.
_OWN = {
    SEED.name: "the key 'seed' of the sweep file",
    FAILURES.name: "the key 'failures' of the sweep file",
    FIRMWARE_PARAMETERS.name: "the key 'firmware' of the sweep file",
    "time_mode": "none, because all runs are in lockstep",
    "real_time_multiplier": "none, because all runs are as fast as possible",
}

# Failures are checked for at most this many combinations of the extremes of their variables.
_MOST_COMBINATIONS = 10_000


def read_parameters(item: Item, scenario: Scenario) -> tuple[Scenario, list[Quantity]]:
    """The scenario with the constants of the section, and a quantity for each distribution.

    Raises:
        ParameterError: a parameter does not exist, or a value is not allowed or could become so; the text names file,
            line and key.
    """
    known = _Parameters(scenario)
    reader = _Reader(scenario, known)
    for key, one in item.entries().items():
        if key.rpartition(".")[2] in FirmwareParameters.types and known.find(key) is None:
            raise one.refuse("only under the key 'firmware' of the sweep file", f"the firmware parameter '{key}'")
        reader.read(key, one)
    return reader.scenario, reader.quantities


def read_firmware(item: Item, scenario: Scenario) -> tuple[Scenario, list[Quantity]]:
    """The scenario with the firmware parameters of the section, and a quantity for each distribution.

    Raises:
        ParameterError: as `read_parameters`.
    """
    known = _FirmwareParameters(scenario)
    if not known:
        raise item.refuse("only with a vehicle that runs the ROSflight firmware", "firmware parameters")
    reader = _Reader(scenario, known, with_firmware_parameter)
    for key, one in item.entries().items():
        reader.read(key, one)
    quantities = [replace(one, is_firmware=True) for one in reader.quantities]
    return reader.scenario, quantities


def read_variables(item: Item) -> list[Quantity]:
    """Variables in the texts of failures, whose values differ from run to run.

    Raises:
        ParameterError: a value is invalid; the text names file, line and key.
    """
    return [_variable(name, one) for name, one in named_entries(item).items()]


def named_entries(item: Item) -> dict[str, Item]:
    """Entries of a mapping, each under a name that can be a column of the table.

    Raises:
        ParameterError: not a mapping, or a name is not allowed; the text names file, line and key.
    """
    entries = item.entries()
    for name, one in entries.items():
        if not _NAME.fullmatch(name):
            raise one.refuse("a name of letters, digits and _, beginning with a letter", f"'{name}'")
    return entries


def read_failures(item: Item, scenario: Scenario, variables: Sequence[Quantity]) -> dict[str, list[str]]:
    """Texts of failures by vehicle: a list for a single vehicle, otherwise a mapping from vehicles to lists.

    Raises:
        ParameterError: a failure is invalid, or can become so by the values of a variable; the text names file, line
            and key.
    """
    members = {one.namespace: one for one in scenario.members}
    given = {"": item} if list(members) == [""] else item.section(list(members))
    return {
        name: [_failure(one, variables, scenario, member) for one in given[name].items()]
        for name, member in members.items()
        if name in given
    }


def variables_in(text: str) -> list[str]:
    """Names of variables in the text of a failure, which stand in braces.

    Raises:
        ValueError: braces that do not match, or that contain more than a name.
    """
    names = []
    for _, name, specification, conversion in string.Formatter().parse(text):
        if name is not None:
            if specification or conversion or not _NAME.fullmatch(name):
                raise ValueError(name)
            names.append(name)
    return list(dict.fromkeys(names))


class _Parameters:
    """Parameters of a scenario's nodes, by keys: a key without a vehicle means all vehicles."""

    def __init__(self, scenario: Scenario) -> None:
        members = scenario.members
        tables = [own_tables(members, k, scenario.observers) for k in range(len(members))]
        manager = node_class(scenario.time_manager or TIME_MANAGERS["lockstep"])
        self._of = {"": NamedParameters([*itertools.chain(*tables), (manager.DEFAULT_NAME, manager.PARAMETERS)])}
        pairs = zip(members, tables, strict=True)
        self._of |= {one.namespace: NamedParameters(own) for one, own in pairs if one.namespace}

    def find(self, key: str) -> tuple[str, Parameter] | None:
        """Vehicle and parameter; None if there is none.

        Raises:
            ParameterError: nodes declare the parameter differently.
        """
        for vehicle, named in self._of.items():
            name = key.removeprefix(f"{vehicle}.") if vehicle else key
            if (name != key or not vehicle) and (found := named.find(name)) is not None:
                return vehicle, found
        return None

    def short(self) -> Iterator[tuple[str, str, Parameter]]:
        """Keys that name no node, with their vehicles and parameters."""
        for vehicle, named in self._of.items():
            yield from ((f"{vehicle}.{one.name}" if vehicle else one.name, vehicle, one) for one in named)

    def unknown(self, key: str) -> str:
        """Error text for a key without a parameter, with similar keys."""
        known = {short: replace(one, name=short) for short, _, one in self.short()}
        return ParameterTable(*known.values()).unknown(key)


class _FirmwareParameters:
    """Parameters of the firmware, by keys: a key without a vehicle means all vehicles; false if no vehicle runs it."""

    def __init__(self, scenario: Scenario) -> None:
        prefixes = {
            key.removesuffix(FIRMWARE_PARAMETERS.name): vehicle
            for key, vehicle, one in _Parameters(scenario).short()
            if one == FIRMWARE_PARAMETERS
        }
        descriptors = [_descriptor(one) for one in PARAMETERS]
        self._known = {prefix + one.name: (vehicle, one) for prefix, vehicle in prefixes.items() for one in descriptors}

    def __bool__(self) -> bool:
        """Whether a vehicle runs the firmware."""
        return bool(self._known)

    def find(self, key: str) -> tuple[str, Parameter] | None:
        """Vehicle and parameter; None if there is none."""
        return self._known.get(key)

    def unknown(self, key: str) -> str:
        """Error text for a key without a parameter, with similar keys."""
        return ParameterTable(*(replace(one, name=name) for name, (_, one) in self._known.items())).unknown(key)


def _descriptor(one: FirmwareParameter) -> Parameter:
    if one.is_angle:
        return Parameter(one.name, one.default, one.text)
    return Parameter(
        one.name,
        one.default,
        one.text,
        minimum=one.minimum,
        maximum=one.maximum,
        also_allowed=one.allowed_outside,
    )


class _Reader:
    """Reader of parameters: constants become settings of the scenario, distributions quantities.

    `known` finds vehicle and parameter by key; `with_value` sets a constant.
    """

    def __init__(
        self,
        scenario: Scenario,
        known: _Parameters | _FirmwareParameters,
        with_value: Callable[[Scenario, str, str, Any], Scenario] = with_setting,
    ) -> None:
        self.scenario = scenario
        self.quantities: list[Quantity] = []
        self._known = known
        self._with_value = with_value

    def read(self, key: str, item: Item) -> None:
        """Read one entry."""
        try:
            found = self._known.find(key)
        except ParameterError as error:
            raise item.fail(str(error)) from error
        if found is None:
            raise item.fail(self._known.unknown(key))
        vehicle, parameter = found
        name = parameter.name
        own = _OWN.get(name.rpartition(":")[2])
        if own:
            raise item.refuse(own, f"the parameter '{name}'")
        if item.is_mapping and isinstance(parameter.default, list):
            raise item.refuse(f"{parameter.constraints}, or a distribution for an element")
        if item.is_mapping:
            self.quantities.append(Quantity(key, parameter, read_distribution(item, parameter), vehicle))
            return
        if item.is_list and isinstance(parameter.default, list) and any(one.is_mapping for one in item.items()):
            value = self._elements(key, item, parameter, vehicle)
        else:
            value = checked_value(item, parameter)
        self.scenario = self._with_value(self.scenario, vehicle, name, value)

    def _elements(self, key: str, item: Item, parameter: Parameter, vehicle: str) -> list[Any]:
        """A list with placeholders for the elements that have distributions."""
        items = list(item.items())
        if parameter.length not in (None, len(items)):
            raise item.refuse(parameter.constraints, f"a list of {len(items)}")
        element = replace(parameter, default=parameter.scalar_type(), length=None)
        values: list[Any] = []
        for index, one in enumerate(items):
            if one.is_mapping:
                distribution = read_distribution(one, element)
                self.quantities.append(Quantity(f"{key}[{index}]", element, distribution, vehicle, index))
            values.append(element.default if one.is_mapping else checked_value(one, element))
        return values


def _variable(name: str, item: Item) -> Quantity:
    parameter = Parameter(name, _kind_of(item)(), "")
    return Quantity(name, parameter, read_distribution(item, parameter), is_variable=True)


def _kind_of(item: Item) -> type[Scalar]:
    """Type of a variable: that of all listed values, otherwise float."""
    given = item.entries()
    listed = [one for name, one in given.items() if name in ("choice", "grid") and one.is_list]
    kinds = {type(value.value()) for one in listed for value in one.items()}
    return next((kind for kind in (bool, int, str) if kinds == {kind}), float)


def _failure(item: Item, variables: Sequence[Quantity], scenario: Scenario, member: Member) -> str:
    text = item.text()
    known = {one.key: one.distribution.extremes for one in variables}
    try:
        used = variables_in(text)
    except ValueError as error:
        raise item.refuse("names of variables in braces, as in {time}") from error
    for name in used:
        if name not in known:
            raise item.refuse(f"the variables {', '.join(known)}" if known else "a name in 'variables'", f"{{{name}}}")
    combinations = itertools.product(*(known[name] for name in used))
    for values in itertools.islice(combinations, _MOST_COMBINATIONS):
        drawn = text.format_map(dict(zip(used, values, strict=True)))
        try:
            parse_failure(drawn)
        except ParameterError as error:
            raise item.fail(str(error)) from error
        check_link_failure(item, drawn, scenario, member, has_programs=False)
    return text
