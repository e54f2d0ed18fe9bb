"""The picture and the table of a flight."""

from __future__ import annotations

import builtins
import io
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rosflight_py_sim.autopilot.fixedwing_mission import FixedwingPhase
from rosflight_py_sim.autopilot.mission import Phase
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.autopilot.picture import draw_flight
from rosflight_py_sim.missions.autopilot.summary import FlightSummary, summarise
from rosflight_py_sim.missions.autopilot.table import summary_rows
from rosflight_py_sim.missions.summary_table import print_table, wind_text
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.vehicles.physics_model import VehicleClass

MOTORS, V_TAIL = vehicle("multirotor").actuators, vehicle("anaconda").actuators
SQUARE = ((0.0, 0.0, -5.0), (10.0, 0.0, -5.0), (10.0, 10.0, -5.0), (0.0, 10.0, -5.0), (0.0, 0.0, -5.0))


def short_flight(wind: float = 5.0, last: Phase = Phase.DONE) -> tuple[FlightLog, FlightSummary]:
    log = FlightLog(MOTORS, Phase)
    for k in range(200):
        truth = np.array([0.05 * k, 0.1, -5.0, 1.0, *[0.0] * 15])
        phase = last if k == 199 else Phase.SIDE_1
        log.append(0.1 * k, truth, (0.05 * k, 0.0, -5.0), [0.4] * 4, (wind, 0.0, 0.0), 24.0, 20.0, phase)
    return log, summarise(log, SQUARE, "test vehicle", 4.0)


@pytest.mark.parametrize(("wind", "last"), [(5.0, Phase.DONE), (0.0, Phase.SIDE_1)])
def test_image_is_a_1600_by_1000_png_in_its_own_folder(tmp_path: Path, wind: float, last: Phase) -> None:
    pytest.importorskip("matplotlib")
    path = draw_flight(*short_flight(wind, last), tmp_path / "flights" / "one.png")
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:24]) == (1600, 1000)


def test_image_leaves_matplotlib_settings_unchanged(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)
    draw_flight(*short_flight(), tmp_path / "one.png")
    assert dict(matplotlib.rcParams) == before


def test_image_without_matplotlib_gives_install_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_matplotlib(name: str, *args: Any, **keywords: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
        return original(name, *args, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'rosflight_py_sim\[plot\]'"):
        draw_flight(*short_flight(), tmp_path / "one.png")


def test_table_lists_figures_with_units() -> None:
    text = io.StringIO()
    print_table("Flight", summary_rows(short_flight()[1]), Console(file=text, width=120))
    for part in ("completed", "19.9 s", "4.0 s", "0.10 m RMS", "mean 5.0 m/s from 180 deg", "111 mAh"):
        assert part in text.getvalue()


def test_table_notes_missing_square_and_wind() -> None:
    log = FlightLog(MOTORS, Phase)
    for k in range(3):
        truth = np.array([0.0, 0.0, 0.0, 1.0, *[0.0] * 15])
        log.append(0.1 * k, truth, (0.0, 0.0, 0.0), [0.0] * 4, (0.0, 0.0, 0.0), 24.0, 0.0, Phase.WAIT)
    summary = summarise(log, SQUARE, "test vehicle")
    text = io.StringIO()
    print_table("Flight", summary_rows(summary), Console(file=text, width=120))
    assert "not completed" in text.getvalue()
    assert "not reached" in text.getvalue()
    assert "real-time" not in text.getvalue()
    assert wind_text(summary) == "none"


def flight_on_wings() -> tuple[FlightLog, FlightSummary]:
    log = FlightLog(V_TAIL, FixedwingPhase)
    for k in range(100):
        phase = FixedwingPhase.DONE if k == 99 else FixedwingPhase.WAYPOINTS
        truth = np.array([4.0 * k, 1.0, -50.0 * (k > 0), 1.0, 0.0, 0.0, 0.0, 20.0, *[0.0] * 11])
        log.append(0.2 * k, truth, (4.0 * k, 0.0, -50.0), [0.1, -0.2, 0.3, 0.6], (-5.0, 0.0, 0.0), 24.0, 10.0, phase)
    return log, summarise(
        log, [(0.0, 0.0, -50.0), (400.0, 0.0, -50.0)], "aeroplane", 4.0, vehicle_class=VehicleClass.FIXED_WING
    )


def test_fixed_wing_image_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert draw_flight(*flight_on_wings(), tmp_path / "one.png").stat().st_size > 10_000


def test_fixed_wing_table_gives_airspeed_and_in_flight_end() -> None:
    text = io.StringIO()
    print_table("Flight", summary_rows(flight_on_wings()[1]), Console(file=text, width=120))
    assert "25.00 m/s to 25.00 m/s" in text.getvalue()
    assert "in the air, 50.0 m above the start" in text.getvalue()
    assert "moving reference" not in text.getvalue()
    assert "landing" not in text.getvalue()


def dive() -> tuple[FlightLog, FlightSummary]:
    log = FlightLog(vehicle("auv").actuators, Phase)
    for k in range(100):
        phase = Phase.DONE if k == 99 else Phase.SIDE_1
        truth = np.array([0.04 * k, 0.1, min(0.3 + 0.1 * k, 2.0), 1.0, 0.0, 0.0, 0.0, 0.2, *[0.0] * 11])
        log.append(0.2 * k, truth, (0.04 * k, 0.0, 2.0), [0.2, 0.2, 0.0, -0.1], (-0.04, 0.04, 0.0), 12.0, 1.0, phase)
    return log, summarise(log, [(0.0, 0.0, 2.0), (4.0, 0.0, 2.0)], "auv", vehicle_class=VehicleClass.UNDERWATER)


def test_dive_is_described_in_words_for_water_and_never_lands(tmp_path: Path) -> None:
    log, summary = dive()
    assert not summary.landed
    rows = dict(summary_rows(summary))
    assert rows["deepest, at the end"] == "2.00 m, 1.70 m below the start"
    assert rows["current"] == "mean 0.06 m/s from 315 deg, max 0.06 m/s"
    assert {"depth error", "distance to moving reference"} <= {*rows}
    assert not {"wind", "height error", "landing", "at the end", "estimator unhealthy"} & {*rows}
    pytest.importorskip("matplotlib")
    assert draw_flight(log, summary, tmp_path / "dive.png").stat().st_size > 10_000
