"""The picture and the table of letters in the sky."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from rosflight_py_sim.autopilot.guided_mode_states import Mode
from rosflight_py_sim.missions.skywriting.log import SkywritingLog
from rosflight_py_sim.missions.skywriting.picture import MODE_COLOURS, draw_skywriting
from rosflight_py_sim.missions.skywriting.summary import summarise_skywriting
from rosflight_py_sim.missions.skywriting.table import skywriting_rows
from rosflight_py_sim.vehicles import vehicle
from test.recording.skywriting import LIMIT_M, LIMITS, flight


def assert_is_page(path: Path) -> None:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:24]) == (1600, 1000)


def test_image_is_a_1600_by_1000_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    log = flight()
    summary = summarise_skywriting(log, LIMIT_M, "uthere", 5.0)
    assert_is_page(draw_skywriting(log, summary, LIMITS, tmp_path / "sky" / "one.png"))


def test_flight_that_wrote_nothing_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    log = flight()
    log.letters.clear()
    log.marks.clear()
    summary = summarise_skywriting(log, 1e6, "uthere")
    assert_is_page(draw_skywriting(log, summary, LIMITS, tmp_path / "one.png"))


def test_empty_log_is_rejected(tmp_path: Path) -> None:
    log = flight()
    summary = summarise_skywriting(log, LIMIT_M, "uthere")
    with pytest.raises(ValueError, match="0 rows"):
        draw_skywriting(SkywritingLog(vehicle("anaconda").actuators), summary, LIMITS, tmp_path / "one.png")


def test_every_mode_has_its_own_colour() -> None:
    assert set(MODE_COLOURS) == set(Mode)
    assert len(set(MODE_COLOURS.values())) == len(Mode)


def test_table_lists_letters_cage_and_modes() -> None:
    rows = dict(skywriting_rows(summarise_skywriting(flight(), LIMIT_M, "uthere", 5.0)))
    assert rows["mission"] == "completed"
    assert rows["letter L"].startswith("300 m of lines, ")
    assert rows["cage left"].startswith("at 50.0 s, 105.0 m high (limit 100.0 m): altitude")
    assert rows["back in the cage"] == "at 52.6 s, after 105.0 m"
    assert rows["fly() again"] == "at 60.0 s"
    assert "waypoint 30 s" in rows["time in mode"]
    assert rows["wind"] == "none"


def test_table_lists_uncompleted_tasks() -> None:
    log = flight()
    log.letters[0].chains.clear()
    rows = dict(skywriting_rows(summarise_skywriting(log, 1e3, "uthere")))
    assert rows["mission"] == "not completed"
    assert rows["letter L"] == "not written"
    assert rows["cage"] == "not left (limit 1000.0 m)"
