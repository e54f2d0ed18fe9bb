"""Policies by name, their observations and actions, and the goals of tasks."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import linear_network
from policy_flights import FLIGHTS

from rosflight_py_sim.autopilot.goals import GOAL_PARAMETERS, Goal, new_task
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.learning.world import World
from rosflight_py_sim.parts.policy import Motion, PolicyError, action_of, load_policy, observation_of
from rosflight_py_sim.physics.rotations import quaternion_from_euler

PAGE = Path(__file__).parents[2] / "docs" / "learning.md"


def test_observation_is_in_body_axes() -> None:
    # Nose to the east, 30 deg to the right: forward is east, right is south and down.
    attitude = quaternion_from_euler(math.radians(30.0), 0.0, math.radians(90.0))
    motion = Motion((1.0, 2.0, -3.0), (0.0, 4.0, 0.0), attitude, (0.1, 0.2, 0.3))
    goal = Goal((1.0, 5.0, -3.0), (0.0, 0.0, 0.0), (0.0, 2.0, -3.0), math.radians(90.0))
    last = np.array([0.5, -0.5], dtype=np.float32)
    observation = observation_of(motion, goal, last)
    sine, cosine = 0.5, math.sqrt(0.75)
    expected = [3, 0, 0, -4, 0, 0, 0, cosine, -sine, 0, sine, cosine, 0.1, 0.2, 0.3, 0, 1, 0.5, -0.5]
    assert observation.dtype == np.float32
    # Rounding to float32.
    assert observation == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("given", [[0.5, -2.0], np.array([[0.5, -2.0]]), (0.5, -2)])
def test_action_is_limited(given: Any) -> None:
    action = action_of(given, 2, "mine")
    assert action.dtype == np.float32
    assert action.tolist() == [0.5, -1.0]


@pytest.mark.parametrize("given", [[0.5], [0.5, math.nan], "left", None, [[0.1, 0.2], [0.3, 0.4]]])
def test_action_that_is_not_allowed_is_refused(given: Any) -> None:
    with pytest.raises(PolicyError, match=r"policy 'mine' returned .*; allowed: 2 (finite )?numbers from -1 to 1"):
        action_of(given, 2, "mine")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", "parameter 'policy': '' given; allowed: MODULE:NAME of a function or class, or the path of a file"),
        ("policy_flights", "'policy_flights' given; allowed: MODULE:NAME"),
        ("no_such_module:fly", r"cannot be loaded: No module named 'no_such_module' \(ModuleNotFoundError\)"),
        ("policy_flights:land", r"cannot be loaded: .*has no attribute 'land' \(AttributeError\)"),
        ("policy_flights:FLIGHTS", "'policy_flights:FLIGHTS' given; allowed: MODULE:NAME"),
        ("missing.onnx", "'missing.onnx' given, which cannot be loaded: .*"),
    ],
)
def test_policy_that_does_not_exist_is_refused(name: str, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        load_policy(name, 21, 4)


def test_network_of_another_size_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "wide.onnx"
    file.write_bytes(linear_network(np.zeros((4, 30), dtype=np.float32), np.zeros(4, dtype=np.float32)))
    with pytest.raises(
        ParameterError, match=r"of the shapes \[\[1, 30\], \[1, 4\]\]; allowed: one input with 21 elements"
    ):
        load_policy(str(file), 21, 4)


def test_missing_onnxruntime_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        ParameterError, match=r"the policy 'hover.onnx' needs .*pip install 'rosflight_py_sim\[learn\]'"
    ):
        load_policy("hover.onnx", 21, 4)


def test_class_gives_each_vehicle_its_own_policy() -> None:
    one, other = (load_policy("policy_flights:Rates", 21, 4) for _ in range(2))
    nothing = np.zeros(21, dtype=np.float32)
    first = one(nothing)
    assert one(nothing) != first
    assert other(nothing) == first


def test_waypoints_are_passed_in_order() -> None:
    given = {"task": "waypoints", "goal_waypoints": [1.0, 0.0, -5.0, 1.0, 2.0, -5.0], "goal_radius": 0.5}
    task = new_task(GOAL_PARAMETERS.checked(given))
    first, second = (1.0, 0.0, -5.0), (1.0, 2.0, -5.0)
    assert task.goal(0.0, second)[::2] == (first, second)
    assert task.goal(0.1, (1.0, 0.4, -5.0))[::2] == (second, second)
    assert not task.is_done
    task.goal(0.2, second)
    assert (task.is_done, task.passed) == (True, 2)


def test_goal_on_path_moves_with_its_velocity() -> None:
    task = new_task(GOAL_PARAMETERS.checked({"task": "path"}))
    here, later = task.goal(3.1, (0.0, 0.0, 0.0)), task.goal(3.1 + 1e-6, (0.0, 0.0, 0.0))
    moved = (np.array(later.position_ned) - here.position_ned) / 1e-6
    # Central rounding of a difference quotient over 1 us of places of some metres.
    assert moved == pytest.approx(here.velocity_ned, abs=1e-5)
    assert task.goal(3.6, (0.0, 0.0, 0.0)).position_ned == here.next_ned


def test_incomplete_waypoint_is_refused() -> None:
    with pytest.raises(ParameterError, match="'goal_waypoints': 4 numbers given; allowed: north, east and down"):
        new_task(GOAL_PARAMETERS.checked({"task": "waypoints", "goal_waypoints": [1.0, 2.0, 3.0, 4.0]}))


def test_law_of_the_page_hovers() -> None:
    block = re.search(r"```python\n# hover_law.py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    module: dict[str, Any] = {}
    exec(block[1], module)
    world = World()
    observation = world.reset(FLIGHTS["attitude"].scenario)
    # Before the failures of that flight.
    for _ in range(50):
        observation = world.step(module["attitude"](observation))
    assert np.linalg.norm(world.state.position_ned - (0.0, 0.0, -5.0)) < 1.5
