"""Evaluation of letters in the sky, and of leaving the cage and returning."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.missions.skywriting.log import SkywritingLog
from rosflight_py_sim.missions.skywriting.summary import (
    LEGIBLE,
    SkywritingSummary,
    line_error,
    summarise_letter,
    summarise_skywriting,
)
from rosflight_py_sim.vehicles import vehicle
from test.recording.skywriting import LEVEL, LIMIT_M, flight, letter_l


def summary_of(log: SkywritingLog) -> SkywritingSummary:
    return summarise_skywriting(log, LIMIT_M, "uthere", 5.0)


def test_flight_along_the_letter_out_of_the_cage_and_back_is_completed() -> None:
    summary = summary_of(flight())
    assert summary.completed
    assert summary.word == "L"
    (letter,) = summary.letters
    # Rows are 2 m apart, and the last is one before the letter's end; the height is not quite level.
    assert letter.error_max_m < 2.01
    # The letter's lines, without the approach.
    assert letter.length_m == pytest.approx(200.0 + 100.0)
    assert summary.real_time_factor == pytest.approx(summary.duration_s / 5.0)


def test_cage_exit_is_detected_from_the_truth() -> None:
    found = summary_of(flight()).cage_break
    assert found is not None
    # Rows are 0.1 s apart.
    assert found.left_s == pytest.approx(50.0, abs=0.11)
    assert found.bits == 1 << CageBit.ALTITUDE
    assert found.height_m == pytest.approx(LEVEL + 15.0, abs=0.1)
    # Where the bell of the height has come down to the limit.
    assert found.inside_s == pytest.approx(50.0 + 4.0 * math.sqrt(math.log(1.5)), abs=0.11)
    assert found.again_s == pytest.approx(60.0, abs=0.11)
    assert found.is_over


def test_displaced_letter_has_error_equal_to_its_displacement() -> None:
    log = flight()
    log.letters[:] = [letter_l(aside=LEGIBLE.value + 5.0)]
    summary = summary_of(log)
    # The whole downward stroke is 20 m off, and the last 20 m of the stroke to the right are.
    assert summary.letters[0].error_max_m == pytest.approx(LEGIBLE.value + 5.0, abs=1.5)
    assert summary.letters[0].excess(LEGIBLE)
    assert "allowed: at most 15 m (waypoint_radius)" in summary.shortfall
    assert not summary.completed


def test_letter_at_another_height_has_height_error() -> None:
    log = flight()
    path = log.position_ned.copy()
    path[:, 2] += 30.0
    assert summarise_letter(letter_l(), path).error_rms_m == pytest.approx(30.0, abs=0.1)


def test_path_before_and_after_a_letter_does_not_write_it() -> None:
    log = flight()
    log.letters[0].time_s = 40.0
    # The flight continues 60 m beyond the stroke to the right; the downward stroke is missing.
    assert summary_of(log).letters[0].error_max_m > 100.0


def test_letter_without_sent_waypoints_or_flown_path_is_not_written() -> None:
    log = flight()
    log.letters[0].chains.clear()
    assert math.isinf(summary_of(log).letters[0].error_max_m)
    assert math.isinf(summarise_letter(letter_l(), np.empty((0, 3))).error_max_m)
    assert not summary_of(log).completed


def test_mission_without_letter_or_return_is_not_completed() -> None:
    log = flight()
    log.letters.clear()
    assert not summary_of(log).completed
    short = SkywritingLog(log.actuators)
    for row in range(520):
        short.append(log.time_s[row], log.truth[row], log.actuator_commands[row], (0.0, 0.0, 0.0), log.mode[row], 0, 1)
    short.marks, short.letters = flight().marks, flight().letters
    summary = summary_of(short)
    assert summary.cage_break is not None and math.isnan(summary.cage_break.again_s)
    assert not summary.completed


def test_flight_below_the_limit_has_not_left_the_cage() -> None:
    summary = summarise_skywriting(flight(), LEVEL + 20.0, "uthere")
    assert summary.cage_break is None
    assert not summary.completed


def test_waypoints_are_linked_into_chains_by_number() -> None:
    letter = letter_l()
    assert [[one.id for one in chain] for chain in letter.chains] == [[0, 1, 2], [7, 8, 9]]
    assert [len(stroke) for stroke in letter.strokes_ned] == [2, 2]


def test_line_error_is_the_distance_from_line_to_path() -> None:
    line = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0]])
    path = np.array([[0.0, 3.0, 4.0], [10.0, 0.0, 0.0]])
    error = line_error(line, path)
    assert len(error) == 6
    assert error[0] == pytest.approx(5.0)
    assert error[-1] == 0.0


@pytest.mark.parametrize(("line", "path"), [(1, 3), (2, 0)])
def test_single_point_line_or_empty_path_is_rejected(line: int, path: int) -> None:
    with pytest.raises(ValueError, match=f"{line} points and {path} of the path"):
        line_error(np.zeros((line, 3)), np.zeros((path, 3)))


def test_empty_log_is_rejected() -> None:
    with pytest.raises(ValueError, match="0 rows"):
        summarise_skywriting(SkywritingLog(vehicle("anaconda").actuators), LIMIT_M, "uthere")
