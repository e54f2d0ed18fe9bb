"""Policies that learn: by random search with numpy alone, and in the example of docs/ in a short form."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from networks import linear_network

from rosflight_py_sim.learning.environment import PolicyEnv
from rosflight_py_sim.parts.policy import load_policy

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "learn_hover.py"

DIRECTIONS, ITERATIONS, STEP, NOISE = 4, 5, 0.15, 0.1


def weights_of(gains: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Linear policy (4, 21): tilt per distance and per velocity, and throttle per height and per climb rate."""
    weights = np.zeros((4, 21), dtype=np.float32)
    for row, axis, sign, first in ((0, 1, 1.0, 0), (1, 0, -1.0, 0), (3, 2, -1.0, 2)):
        weights[row, [axis, 3 + axis]] = sign * gains[first : first + 2]
    return weights


def reward_of(env: PolicyEnv, gains: npt.NDArray[np.float64], number: int) -> float:
    """Reward of an episode of root seed 0."""
    weights, total, is_over = weights_of(gains), 0.0, False
    observation, _ = env.reset(options={"seed": 0, "number": number})
    while not is_over:
        observation, reward, terminated, truncated, _ = env.step(weights @ observation)
        total += reward
        is_over = terminated or truncated
    return total


def test_random_search_finds_gains_that_hover(tmp_path: Path) -> None:
    """Basic random search (Mania, Guy and Recht, Simple random search provides a competitive approach, 2018)."""
    env = gymnasium.make("rosflight_py_sim/Hover-v0", time_limit=3.0, parameters={"step_size": 0.01}).unwrapped
    assert isinstance(env, PolicyEnv)
    rng = np.random.default_rng(1)
    gains = np.zeros(4)
    before = [reward_of(env, gains, number) for number in (100, 101)]
    for iteration in range(ITERATIONS):
        directions = rng.normal(size=(DIRECTIONS, 4))
        changes = [
            reward_of(env, gains + NOISE * one, iteration) - reward_of(env, gains - NOISE * one, iteration)
            for one in directions
        ]
        gains += STEP / (DIRECTIONS * np.std(changes)) * np.tensordot(changes, directions, axes=1)
    after = [reward_of(env, gains, number) for number in (100, 101)]
    assert min(np.divide(after, before)) > 2.0
    # As a network, the policy decides the same, up to the rounding of its sums.
    file = tmp_path / "hover.onnx"
    file.write_bytes(linear_network(weights_of(gains), np.zeros(4, dtype=np.float32)))
    observation, _ = env.reset(seed=0)
    decision = load_policy(str(file), 21, 4)(observation)
    assert np.ravel(decision) == pytest.approx(weights_of(gains) @ observation, abs=1e-5)


@pytest.mark.skipif(
    importlib.util.find_spec("stable_baselines3") is None,
    reason="stable-baselines3 is not in requirements.lock, because it needs torch, which takes several GB",
)
def test_example_trains_and_flies_in_the_graph(tmp_path: Path, ros_domain: int) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--decisions", "512", "--output", str(tmp_path)],
        env=os.environ | {"ROS_DOMAIN_ID": str(ros_domain)},
        capture_output=True,
        text=True,
        timeout=110.0,
        check=False,
    )
    # After so short a training, the mission fails, but it is flown and drawn.
    assert done.returncode in (0, 1), done.stderr
    assert (tmp_path / "hover.onnx").is_file()
    assert list(tmp_path.glob("multirotor-*.png")), done.stdout + done.stderr
