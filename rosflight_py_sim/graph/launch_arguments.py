"""Arguments of the launch files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rosflight_py_sim.graph.options import LAUNCH, Kind, Option, options_at
from rosflight_py_sim.ground.parameters import ParameterError


def all_arguments() -> dict[str, Option]:
    """All arguments by name; `arguments_of_file` selects those of one launch file."""
    return {one.name: one for one in options_at(LAUNCH)}


def arguments_of_file(defaults: Mapping[str, str], own: Sequence[Option] = ()) -> dict[str, Option]:
    """The arguments of one launch file: all arguments, and its own.

    Args:
        defaults: name of an argument to its default in the file.
        own: arguments that only this file has.
    """
    arguments = all_arguments()
    changed = {name: replace(arguments[name], default=default) for name, default in defaults.items()}
    return {**{one.name: one for one in own}, **arguments, **changed}


def scenario_arguments() -> dict[str, Option]:
    """The arguments of the launch file for scenario files: those that a scenario file does not give, and `file`."""
    file = Option("file", "scenario file, or its name in config/scenarios/", Kind.FILE, None, at=(LAUNCH,))
    composed = {"composed": replace(all_arguments()["composed"], default="true")}
    return {file.name: file, **{n: one for n, one in {**all_arguments(), **composed}.items() if not one.in_scenario}}


def check_none_in_scenario(given: Mapping[str, str]) -> None:
    """Reject arguments that a scenario file gives.

    Raises:
        ParameterError: one of them is given.
    """
    for name, one in all_arguments().items():
        if one.in_scenario and given.get(name):
            raise ParameterError(
                f"launch argument '{name}': '{given[name]}' given; a scenario file gives its own vehicles, world, seed "
                "and time mode: leave the argument out"
            )


def is_listed(argument: Option, arguments: Mapping[str, Option]) -> bool:
    """Whether the argument has an effect with the defaults of the others."""
    return not (argument.without and arguments[argument.without].default)
