"""Values of the options of a simulation, parsed from launch arguments or from a command line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.graph.options import NAMED_NODES, all_options
from rosflight_py_sim.graph.rosflight_io import INSIDE, with_rosflight_io
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.graph.time_modes import chosen_time_mode
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.ground.registry import node_names
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.nodes.node_names import SHORT
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.vehicles import CAMERA, DEFAULT_VEHICLE, STANDALONE, Vehicle, vehicle


@dataclass(frozen=True)
class SimulationOptions:
    """Value of each option of `all_options` that describes or starts a graph; None or empty: not given."""

    vehicle: str = DEFAULT_VEHICLE
    dynamics: str = STANDALONE
    forces_and_moments: str = ""
    sensors: str = ""
    transmitter: str = ""
    flight_controller: str = ""
    rosflight_io: str = INSIDE
    observers: tuple[str, ...] = ()
    time_mode: str = ""
    time_manager: str = ""
    use_sim_time: bool | None = None
    real_time_multiplier: float | None = None
    seed: int | None = None
    dynamics_param_file: Path | None = None
    params_file: tuple[str, ...] = ()
    firmware_param_file: Path | None = None
    use_vimfly: bool = False
    autopilot: bool | str = False
    world: str = ""
    earth: str = ""
    camera: bool | None = None
    view: bool = False
    visualizer: bool = False
    simulation_interfaces: bool = False
    rviz: bool = False
    record: str | None = None
    names: str = SHORT
    composed: bool = False
    respawn: bool = False
    leave_out: tuple[str, ...] = ()
    count: int | None = None
    spacing: float | None = None
    scenario: str = ""
    namespace: str = ""
    share_domain: bool = False
    log_level: str = "info"
    duration: float | None = None
    calm: bool = False

    @classmethod
    def of_launch(cls, texts: Mapping[str, str]) -> SimulationOptions:
        """Options from the texts of launch arguments; an empty text is an argument that was not given.

        Raises:
            ParameterError: a text is not a value of its option.
        """
        table = all_options()
        given = {one.name: table[one.name].parsed(texts[one.name]) for one in fields(cls) if texts.get(one.name)}
        return cls(**given)

    @classmethod
    def of_command(cls, parsed: argparse.Namespace) -> SimulationOptions:
        """Options from a parsed command line, which may lack some; None means that an option was not given."""
        given: dict[str, Any] = {}
        for one in fields(cls):
            value = getattr(parsed, one.name, None)
            if value is not None:
                given[one.name] = tuple(value) if isinstance(value, list) else value
        return cls(**given)

    @property
    def viewers(self) -> list[str]:
        """Executables of the requested viewers."""
        wanted = {"visualizer": self.visualizer or self.rviz, "web_viewer": self.view}
        return [executable for executable, is_wanted in wanted.items() if is_wanted]

    @property
    def services(self) -> list[str]:
        """Executables of the requested nodes that offer services; in a composed graph they run in its process."""
        return ["simulation_interfaces"] if self.simulation_interfaces else []

    @property
    def chosen_vehicle(self) -> Vehicle:
        """The vehicle, with the nodes, flight controller and files that the options select instead of its own."""
        chosen = vehicle(self.vehicle, self.dynamics).carrying(CAMERA, self.camera)
        return replace(
            chosen.with_nodes({key: getattr(self, key) for key in NAMED_NODES} | {"autopilot": self._named_autopilot}),
            flight_controller=self.flight_controller or chosen.flight_controller,
            autopilot_flight_controller=self.flight_controller or chosen.autopilot_flight_controller,
            parameter_file=self.dynamics_param_file or chosen.parameter_file,
            firmware_file=self.firmware_param_file or chosen.firmware_file,
        )

    @property
    def _named_autopilot(self) -> str:
        """Executable of the autopilot in place of the vehicle's own; empty if none is named."""
        name = "" if isinstance(self.autopilot, bool) else self.autopilot
        if name and name not in node_names(NodeKind.AUTOPILOT):
            allowed = ", ".join(node_names(NodeKind.AUTOPILOT))
            raise ParameterError(f"autopilot '{name}' given; allowed: true, false, {allowed}")
        return name

    @property
    def chosen_time_mode(self) -> str:
        """Time mode of a graph without a scenario file.

        Raises:
            ParameterError: time_mode and use_sim_time contradict each other, or there is no such vehicle.
        """
        chosen = self.chosen_vehicle
        if chosen.time_manager and not self.time_mode and self.use_sim_time is None:
            return str(node_class(chosen.time_manager).PARAMETERS[TIME_MODE.name].default)
        by_steps = self.composed or chosen_flight_controller(chosen.flight_controller).needs_lockstep
        return chosen_time_mode(self.time_mode, self.use_sim_time, lockstep=by_steps)

    @property
    def members(self) -> list[Member]:
        """The vehicles of a graph without a scenario file."""
        chosen = self.chosen_vehicle
        members = [Member(chosen)]
        if self.count is not None:
            members = fleet(chosen, count=self.count, spacing=self.spacing, seed=self.seed or 0)
        controller = chosen_flight_controller(chosen.flight_controller)
        autopilots = tuple(controller.requested_autopilots(chosen, bool(self.autopilot)))
        flown = [replace(one, flight_controller=controller.name, executables=autopilots) for one in members]
        return with_rosflight_io(flown, self.rosflight_io)

    @property
    def settings(self) -> dict[str, Value]:
        """Parameters that the options set for all nodes."""
        given = {name: getattr(self, name) for name in ("real_time_multiplier", "seed", "world", "earth")}
        if self.firmware_param_file is not None:
            given["firmware_param_file"] = str(self.firmware_param_file)
        return {name: value for name, value in given.items() if value not in (None, "")}

    def simulated(self) -> Scenario:
        """The simulation that the options describe, without a scenario file.

        Raises:
            ParameterError: there is no such vehicle or flight controller, or the options contradict each other.
        """
        members = self.members
        return Scenario(
            members,
            self.chosen_time_mode,
            self.observers,
            self.params_file,
            self.settings,
            time_manager=members[0].vehicle.time_manager,
        )

    def added_to(self, scenario: Scenario) -> Scenario:
        """A scenario with the parameter files and parameters of the options added."""
        return replace(
            scenario, files=[*scenario.files, *self.params_file], settings={**scenario.settings, **self.settings}
        )
