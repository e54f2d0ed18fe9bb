"""Examples of docs/learning.md, and the error without the extra."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import rosflight_py_sim.learning
from rosflight_py_sim.autopilot.goals import TASKS
from rosflight_py_sim.learning.environment import PolicyEnv
from rosflight_py_sim.learning.episodes import ENVIRONMENTS, EPISODE_PARAMETERS, read_episodes

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "learning.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_python_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(block, names)
    assert names["observation"].shape == names["env"].observation_space.shape
    drawn = names["env"].unwrapped.episodes.scenario(1, 0).settings
    assert re.fullmatch(r"motor 2 wrong by -[0-9.]+ at [0-9.]+", drawn["failures"][0])


def test_environment_of_the_page_can_be_read(tmp_path: Path) -> None:
    (block,) = blocks("yaml")
    (tmp_path / "high.yaml").write_text(block)
    env = PolicyEnv(str(tmp_path / "high.yaml"))
    assert env.reset(seed=0)[0][:3].tolist() == [0.0, 0.0, -1.0]


def test_page_lists_each_environment_with_its_values() -> None:
    for name, file in rosflight_py_sim.learning.NAMES.items():
        episodes = read_episodes(file, {})
        (member,) = episodes.sweep.scenario.members
        env = PolicyEnv(episodes)
        task, actions = str(env.world.seat.values["task"]), env.world.seat.values.get("actions", "motors")
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
        assert row.startswith(f"| `{name}` | {member.vehicle.name} | `{actions}` | `{task}`, ")
        assert row.endswith(f"| {episodes.time_limit_s:g} s |")
    assert {file.stem for file in ENVIRONMENTS.glob("*.yaml")} == set(rosflight_py_sim.learning.NAMES.values())


def test_page_lists_each_option_and_task() -> None:
    for one in EPISODE_PARAMETERS:
        assert f"\n| `{one.name}` | " in PAGE
    for task in TASKS:
        assert f"\n| `{task}` | " in PAGE


def test_import_without_gymnasium_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium.envs.registration", None)
    with pytest.raises(ImportError, match=r"an environment needs .*pip install 'rosflight_py_sim\[learn\]'"):
        importlib.reload(rosflight_py_sim.learning)
    monkeypatch.undo()
    importlib.reload(rosflight_py_sim.learning)
    assert gymnasium.spec("rosflight_py_sim/Hover-v0").kwargs == {"environment": "hover"}


def test_observation_lies_in_its_space() -> None:
    env = PolicyEnv("hover", parameters={"initial_position": [0.0, 0.0]})
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert observation[:2] == pytest.approx(np.zeros(2))
