"""simulation_interfaces, which pip installs without a ROS 2 distribution, matches the original on the wire."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from compiled_types import compiled_hash
from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import ResetSimulation, SetSimulationState, StepSimulation

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "simulation_interfaces"
HASHES: dict[str, str] = yaml.safe_load((ROOT / "test/data/simulation_interfaces_type_hashes.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", HASHES)
def test_compiled_type_has_recorded_hash(name: str) -> None:
    assert compiled_hash(name) == HASHES[name]


def test_each_definition_is_built_and_has_a_recorded_hash() -> None:
    files = {f"simulation_interfaces/{file.parent.name}/{file.stem}" for file in FOLDER.glob("*/*.*")}
    defined = {name for name in files if re.search("/(action|msg|srv)/", name)}
    assert defined == set(HASHES)


def test_constants_that_no_type_hash_covers() -> None:
    results = (Result.RESULT_FEATURE_UNSUPPORTED, Result.RESULT_OK, Result.RESULT_NOT_FOUND)
    assert (*results, Result.RESULT_INCORRECT_STATE, Result.RESULT_OPERATION_FAILED) == (0, 1, 2, 3, 4)
    states = (SimulationState.STATE_STOPPED, SimulationState.STATE_PLAYING, SimulationState.STATE_PAUSED)
    assert (*states, SimulationState.STATE_QUITTING) == (0, 1, 2, 3)
    assert SetSimulationState.Response.ALREADY_IN_TARGET_STATE == 101
    scopes = ResetSimulation.Request
    assert (scopes.SCOPE_TIME, scopes.SCOPE_STATE, scopes.SCOPE_SPAWNED, scopes.SCOPE_ALL) == (1, 2, 4, 255)
    features = SimulatorFeatures
    assert (features.SIMULATION_RESET_TIME, features.STEP_SIMULATION_ACTION, features.SPAWNING_ENTITIES) == (21, 33, 50)
    assert StepSimulation.Request().steps == 1


def test_colcon_ignores_the_package() -> None:
    assert (FOLDER / "COLCON_IGNORE").is_file()
