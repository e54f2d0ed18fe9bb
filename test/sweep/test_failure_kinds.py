"""Failed runs by kind of reason."""

from __future__ import annotations

import pytest

from rosflight_py_sim.sweep.failure_kinds import FailureKind, failure_kinds

CARRIED = "take off: the wind of {} m/s carries the vehicle away: {} m from its set-point"


def test_reasons_that_differ_only_in_figures_are_one_kind_with_their_ranges() -> None:
    reasons = [
        CARRIED.format("15.8", "104"),
        "not done after 300 s",
        CARRIED.format("9.5", "217"),
        CARRIED.format("20.1", "99"),
    ]
    kinds = failure_kinds([3, 4, 7, 1], reasons)
    ranges = CARRIED.format("9.5 to 20.1", "99 to 217")
    assert kinds == [
        FailureKind(ranges, 3, 1, CARRIED.format("20.1", "99")),
        FailureKind("not done after 300 s", 1, 4, "not done after 300 s"),
    ]


def test_figures_that_are_equal_are_given_once() -> None:
    miss = "the largest miss of a waypoint is {} m; allowed: at most 50 m (waypoint_radius)"
    (kind,) = failure_kinds([0, 1], [miss.format("60.01"), miss.format("-51.20")])
    assert kind.text == miss.format("-51.20 to 60.01")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the vehicle is disarmed: invalid mixer", "the vehicle is disarmed: no RC signal"),
        ("plane1: not done", "plane2: not done"),
        ("take off: not done after 3 s", "side 1: not done after 3 s"),
    ],
)
def test_reasons_that_differ_in_words_are_of_different_kinds(one: str, other: str) -> None:
    assert [kind.text for kind in failure_kinds([0, 1], [one, other])] == [one, other]


def test_share_and_exponent_are_figures() -> None:
    (kind,) = failure_kinds([0, 1], ["speed 1.5e+10 m/s, 3% of the weight.", "speed 2e-3 m/s, 86% of the weight."])
    assert kind.text == "speed 2e-3 to 1.5e+10 m/s, 3 to 86% of the weight."


def test_without_failed_runs_there_are_no_kinds() -> None:
    assert failure_kinds([], []) == []
