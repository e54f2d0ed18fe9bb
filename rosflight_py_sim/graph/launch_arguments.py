"""Arguments of the launch files: each file has the options that have an effect in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rosflight_py_sim.graph.flight_controllers import (
    FLIGHT_CONTROLLERS,
    FlightController,
    chosen_flight_controller,
    usable_flight_controllers,
)
from rosflight_py_sim.graph.options import LAUNCH, Kind, Option, options_at
from rosflight_py_sim.graph.time_modes import boolean, chosen_time_mode
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.vehicles import Vehicle, all_vehicles, known_dynamics, vehicle


def all_arguments() -> dict[str, Option]:
    """All arguments by name; `arguments_of_file` selects those of one launch file."""
    return {one.name: one for one in options_at(LAUNCH)}


def arguments_of_file(
    only: Mapping[str, Sequence[str]], defaults: Mapping[str, str], own: Sequence[Option] = ()
) -> dict[str, Option]:
    """The arguments of one launch file: all arguments, including those with a single possible value, and its own.

    Args:
        only: allowed values by argument name; `forces_and_moments` restricts the executables of its vehicles. A
        restriction may imply others: without a vehicle that JSBSim flies, `dynamics` can only be standalone.
        defaults: name of an argument to its default in the file.
        own: arguments that only this file has.
    """
    narrowed = {**{name: tuple(values) for name, values in only.items()}, **_consequences(only)}
    arguments = {one.name: one for one in own}
    for name, one in all_arguments().items():
        choices = narrowed.get(name, one.choices)
        default = choices[0] if len(choices) == 1 else defaults.get(name, one.default)
        arguments[name] = replace(one, choices=choices, default=default)
    return arguments


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


def check_vehicle(only: Mapping[str, Sequence[str]], given: Mapping[str, str]) -> None:
    """Reject a vehicle whose physics the launch file does not support.

    Args:
        only: as in `arguments_of_file`.
        given: argument values by name.

    Raises:
        ParameterError: the vehicle has other physics, or does not exist.
    """
    physics = vehicle(given["vehicle"], given["dynamics"]).forces_and_moments
    allowed = only.get("forces_and_moments", (physics,))
    if physics not in allowed:
        raise ParameterError(
            f"launch argument 'vehicle': '{given['vehicle']}' given, which has {physics}; this launch file allows: "
            f"vehicles with {' or '.join(allowed)}"
        )


def is_listed(argument: Option, arguments: Mapping[str, Option]) -> bool:
    """Whether the argument offers a choice that has an effect."""
    return argument.fixed is None and not (argument.without and arguments[argument.without].default)


def check_fixed(arguments: Mapping[str, Option], given: Mapping[str, str]) -> None:
    """Reject other values of arguments with a single possible value.

    Raises:
        ParameterError: a different value is given.
    """
    for one in arguments.values():
        value = given.get(one.name, "")
        if one.fixed is not None and value and value.lower() != one.fixed:
            allowed = one.fixed or "nothing, it has no effect here"
            raise ParameterError(f"launch argument '{one.name}': '{value}' given; this launch file allows: {allowed}")


def time_mode_of(given: Mapping[str, str]) -> str:
    """Time mode of the graph, from argument values by name.

    Raises:
        ParameterError: a value is not allowed, or values contradict each other.
    """
    flown_by = given["flight_controller"] or vehicle(given["vehicle"], given["dynamics"]).flight_controller
    by_steps = boolean("composed", given["composed"]) or chosen_flight_controller(flown_by).needs_lockstep
    return chosen_time_mode(given["time_mode"], given["use_sim_time"], lockstep=by_steps)


def _consequences(only: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Remaining values of arguments that `only` restricts indirectly."""
    flown = list(_flown(only))
    dynamics, controllers = {by for by, _, _ in flown}, {controller.name for _, _, controller in flown}
    remaining: dict[str, tuple[str, ...]] = {"dynamics": tuple(name for name in known_dynamics() if name in dynamics)}
    if "flight_controller" not in only:
        remaining["flight_controller"] = ("", *(name for name in FLIGHT_CONTROLLERS if name in controllers))
    if not any(one.autopilot and controller.follows_commands for _, one, controller in flown):
        remaining["autopilot"] = ("false",)
    if all(controller.needs_lockstep for _, _, controller in flown):
        remaining["time_mode"] = ("lockstep",)
    if not any("sil_board" in controller.executables for _, _, controller in flown):
        remaining["firmware_param_file"] = ("",)
    return remaining


def _flown(only: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Vehicle, FlightController]]:
    """Name of the dynamics, vehicle and flight controller, for each valid combination."""
    for (_, dynamics), one in all_vehicles().items():
        physics = one.forces_and_moments
        if physics in only.get("forces_and_moments", (physics,)) and dynamics in only.get("dynamics", (dynamics,)):
            for controller in only.get("flight_controller", usable_flight_controllers()):
                if FLIGHT_CONTROLLERS[controller].flies(one):
                    yield dynamics, one, FLIGHT_CONTROLLERS[controller]
