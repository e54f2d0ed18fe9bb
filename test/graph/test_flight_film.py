"""Films of flights whose shapes and world come from a graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.missions.flight_film import FlightFilm
from rosflight_py_sim.recording.recorded_vehicle import MotionLog
from rosflight_py_sim.vehicles import Vehicle, vehicle

pytest.importorskip("panda3d")


def short_log(one: Vehicle, seconds: float) -> MotionLog:
    log = MotionLog(one.actuators)
    for time_s in np.arange(0.0, seconds, 0.1).tolist():
        truth = np.array([time_s, 0.0, -5.0, 1.0, *[0.0] * 15])
        log.append(time_s, truth, [0.0] * len(one.actuators), (0.0, 0.0, 0.0))
    return log


# The dynamics node of JSBSim has no world.
@pytest.mark.parametrize("dynamics", ["standalone", "jsbsim"])
def test_graph_gives_shapes_and_world(graph: Callable[..., Any], tmp_path: Path, dynamics: str) -> None:
    if dynamics == "jsbsim":
        pytest.importorskip("jsbsim")
    from PIL import Image

    member = Member(vehicle("fixedwing", dynamics))
    film = FlightFilm(tmp_path / "one.gif")
    film.load(graph(vehicles=[member]), [member, member], "")
    # The film ends with the first vehicle's flight.
    assert film.write([short_log(member.vehicle, 1.0), short_log(member.vehicle, 9.0)], Console(quiet=True))
    with Image.open(tmp_path / "one.gif") as images:
        assert images.n_frames == 10  # type: ignore[attr-defined]
