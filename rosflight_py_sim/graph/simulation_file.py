"""File in which a launch file describes a simulation to the process that runs all nodes of it."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rosflight_py_sim.graph.run_description import member_data, member_of
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.graph.simulation_options import SimulationOptions

_PATHS = ("dynamics_param_file", "firmware_param_file")


def write_simulation(options: SimulationOptions, scenario: Scenario) -> Path:
    """Write a simulation to a new temporary file."""
    data = {
        "options": asdict(options),
        "scenario": vars(scenario) | {"members": [member_data(one) for one in scenario.members]},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False, encoding="utf-8") as file:
        json.dump(data, file, default=str)
    return Path(file.name)


def read_simulation(file: Path) -> tuple[SimulationOptions, Scenario]:
    """Read a simulation, and remove its file."""
    data: dict[str, Any] = json.loads(file.read_text("utf-8"))
    file.unlink()
    options: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one for name, one in data["options"].items()
    }
    options |= {name: options[name] and Path(options[name]) for name in _PATHS}
    members = [member_of(one) for one in data["scenario"]["members"]]
    return SimulationOptions(**options), Scenario(**{**data["scenario"], "members": members})
