"""A policy flies the same flight in the node graph and in a world that is given its actions, bit for bit."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forked_python import run_forked_python
from networks import linear_network
from policy_flights import FLIGHTS, flown_in_world

FOLDER = Path(__file__).parent

PLACES = {
    "attitude": (0.0, 0.0, -5.0),
    "motors": (0.0, 0.0, -5.0),
    "motors by sensors": (0.0, 0.0, -5.0),
    "rates": (5.0, 0.0, -5.0),
}
"""Goals near which the policy is at the end, to within 3 m of the gusts, and of GNSS."""


def flown_in_graph(name: str, domain: int, *policy: str) -> str:
    environment = os.environ | {"ROS_DOMAIN_ID": str(domain), "PYTHONPATH": str(FOLDER)}
    done = run_forked_python(
        [str(FOLDER / "policy_flights.py"), name, *policy], env=environment, cwd=FOLDER, timeout=100.0
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("name", FLIGHTS)
def test_flight_is_the_same_in_world_and_graph(name: str, ros_domain: int) -> None:
    flight = FLIGHTS[name]
    recorder = flown_in_world(flight)
    if name in PLACES:
        assert np.linalg.norm(recorder.truth[:3] - PLACES[name]) < 3.0
    if name.startswith("depth"):
        assert abs(recorder.truth[2] - 1.0) < 0.2
    assert flown_in_graph(name, ros_domain) == recorder.text


def test_network_flies_the_same_in_world_and_graph(tmp_path: Path, ros_domain: int) -> None:
    # The law `attitude` as a matrix and a vector.
    weights, bias = np.zeros((4, 21), dtype=np.float32), np.array([0.0, 0.0, 0.0, -0.1], dtype=np.float32)
    for row, axis, gain in ((0, 1, 1.0), (1, 0, -1.0), (3, 2, -2.0)):
        weights[row, [axis, 3 + axis]] = gain * 0.15, gain * 0.2
    weights[2, 15] = 1.0
    file = tmp_path / "hover.onnx"
    file.write_bytes(linear_network(weights, bias))
    recorder = flown_in_world(replace(FLIGHTS["attitude"], policy=str(file)))
    assert np.linalg.norm(recorder.truth[:3] - PLACES["attitude"]) < 3.0
    assert flown_in_graph("attitude", ros_domain, str(file)) == recorder.text
