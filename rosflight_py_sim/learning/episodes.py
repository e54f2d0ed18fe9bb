"""Episodes of an environment, from a file and options: vehicle, form of the action, and drawn parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.scenario import Scenario, checked_value, existing_files, name_or_path
from rosflight_py_sim.ground.confined_files import is_file
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, number
from rosflight_py_sim.ground.registry import registered_node
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.ground.yaml_section import Item, Section, read_file
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.parts.policy import POLICY
from rosflight_py_sim.parts.policy_autopilot import ACTIONS
from rosflight_py_sim.parts.policy_seat import OBSERVATIONS
from rosflight_py_sim.sweep.definition import Quantity, Sweep, run_of, scenario_of
from rosflight_py_sim.sweep.swept_values import read_failures, read_firmware, read_parameters, read_variables
from rosflight_py_sim.vehicles import Vehicle, vehicle

ENVIRONMENTS = share_directory() / "config" / "learning"
"""Folder of this package's environments."""

MOTORS = "motors"
"""Value of `actions` that drives the actuators directly."""

EPISODE_PARAMETERS = ParameterTable(
    Parameter("vehicle", "multirotor", "Name or path of a vehicle"),
    Parameter("actions", "attitude", "Meaning of the actions (docs/learning.md)", choices=(MOTORS, *ACTIONS.choices)),
    OBSERVATIONS,
    Parameter("time_limit", 10.0, "Duration of an episode", "s", minimum=0.0, maximum=1e6, above_minimum=True),
    Parameter(
        "farthest",
        10.0,
        "Distance from the goal at which an episode ends",
        "m",
        minimum=0.0,
        maximum=1e6,
        above_minimum=True,
    ),
    Parameter("lowest", -1e6, "Height above the origin below which an episode ends", "m", minimum=-1e6, maximum=1e6),
)
"""Values at the top of an environment's file."""

_SECTIONS = ("parameter_files", "parameters", "firmware", "variables", "failures")
_KEYS = ("description", *(one.name for one in EPISODE_PARAMETERS), *_SECTIONS)

# More than anyone flies: the number of an episode is that of a run of a sweep.
_RUNS = 2**53

_Read = Callable[[Item, Scenario], "tuple[Scenario, list[Quantity]]"]


@dataclass(frozen=True)
class Episodes:
    """All episodes of an environment.

    Attributes:
        sweep: scenario, and distributions of its parameters; an episode is a run.
        time_limit_s: duration of an episode, s.
        farthest_m: distance from the goal at which an episode ends, m.
        lowest_m: height above the origin below which an episode ends, m.
    """

    sweep: Sweep
    time_limit_s: float
    farthest_m: float
    lowest_m: float

    def scenario(self, seed: int, number: int) -> Scenario:
        """Scenario of an episode, which depends only on the root seed and the episode's number."""
        sweep = replace(self.sweep, seed=seed)
        return scenario_of(sweep, run_of(sweep, number))

    def parameters(self, seed: int, number: int) -> str:
        """Text of a ROS parameter file with which the node graph flies an episode; without the policy."""
        scenario = self.scenario(seed, number)
        values = {**scenario.settings, **scenario.members[0].settings}
        del values[POLICY.name]
        return yaml.safe_dump({"/**": {"ros__parameters": values}})


def read_episodes(name: str, options: Mapping[str, Any]) -> Episodes:
    """Read the file of an environment.

    Args:
        name: stem of a file in ENVIRONMENTS, or the path of a file.
        options: further values with the keys of the file, which override it.

    Raises:
        ParameterError: the file or an option is invalid; the text names file, line and key.
    """
    file = Path(name) if name.endswith((".yaml", ".yml")) else ENVIRONMENTS / f"{name}.yaml"
    if not is_file(file):
        known = ", ".join(sorted(one.stem for one in ENVIRONMENTS.glob("*.yaml")))
        raise ParameterError(f"environment '{name}' given; allowed: {known}, or the path of a file")
    sections = [read_file(file, ParameterError).section(_KEYS, ("description",))]
    if options:
        sections.append(read_file(Path("options"), ParameterError, _text_of(options)).section(_KEYS))
    top = sections[0] if len(sections) == 1 else sections[1].over(sections[0])
    values = {one.name: top.read(one.name, partial(_value, parameter=one), one.default) for one in EPISODE_PARAMETERS}
    scenario = _scenario(top, values)
    quantities: list[Quantity] = []
    read: tuple[tuple[str, _Read], ...] = (("parameters", read_parameters), ("firmware", read_firmware))
    for key, one in read:
        for section in sections:
            if key in section:
                scenario, new = one(section[key], scenario)
                quantities = [*_without(quantities, section[key]), *new]
    variables = top.read("variables", read_variables, [])
    failures = top.read("failures", partial(read_failures, scenario=scenario, variables=variables), {})
    sweep = Sweep(
        file=file,
        digest="",
        description=top["description"].text(),
        scenario=scenario,
        quantities=[*quantities, *variables],
        runs=_RUNS,
        seed=0,
        failures=failures,
    )
    return Episodes(sweep, *(number(values, key) for key in ("time_limit", "farthest", "lowest")))


def _text_of(options: Mapping[str, Any]) -> str:
    try:
        return yaml.safe_dump(dict(options), sort_keys=False)
    except yaml.YAMLError as error:
        raise ParameterError(
            f"options {dict(options)!r} given; allowed: numbers, texts, truth values, lists and mappings of Python"
        ) from error


def _value(item: Item, parameter: Parameter) -> Any:
    return checked_value(item, parameter)


def _without(quantities: Sequence[Quantity], item: Item) -> list[Quantity]:
    """The quantities that a later section does not set."""
    names = {key.rpartition(".")[2] for key in item.entries()}
    return [one for one in quantities if one.parameter.name not in names]


def _scenario(section: Section, values: Mapping[str, Any]) -> Scenario:
    """Scenario with the vehicle alone, which a policy flies."""
    actions = str(values["actions"])
    try:
        chosen = vehicle(section.read("vehicle", name_or_path, str(values["vehicle"])))
        able = _actions_of(chosen)
    except ParameterError as error:
        raise section["vehicle"].fail(str(error)) from error
    if actions not in able:
        where = section.get("actions", section.get("vehicle", section["description"]))
        raise where.refuse(f"for vehicle '{chosen.name}': {', '.join(able)}", f"actions '{actions}'")
    settings = {POLICY.name: "rosflight_py_sim.parts.policy:neutral", OBSERVATIONS.name: values[OBSERVATIONS.name]}
    if actions == MOTORS:
        member = Member(replace(chosen, mission=None, autopilot=""), flight_controller="policy_controller")
    else:
        flown = replace(chosen, mission=None, autopilot="policy_autopilot")
        member = Member(flown, flight_controller="sil_board", executables=("policy_autopilot",))
        settings |= {ACTIONS.name: actions, "policy_time": 1e9}
    files = [str(one) for one in section.read("parameter_files", existing_files, ())]
    return Scenario([member], "lockstep", files=files, settings=settings, name=chosen.name)


def _actions_of(chosen: Vehicle) -> tuple[str, ...]:
    """Forms of the action that a vehicle has: commands to the firmware need a multirotor."""
    is_multirotor = issubclass(registered_node(chosen.forces_and_moments), MultirotorForces)
    return (MOTORS, *ACTIONS.choices) if is_multirotor else (MOTORS,)
