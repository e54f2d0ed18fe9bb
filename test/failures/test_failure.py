"""Parsing of failures in words: valid texts, and errors that name the words allowed."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from rosflight_py_sim.failures.failure import all_targets, parse_failure
from rosflight_py_sim.ground.parameters import ParameterError


def test_words_are_read() -> None:
    motor = parse_failure("motor 2  off at 12 for 3.5")
    assert motor.text == "motor 2 off at 12 for 3.5"
    assert (motor.target, motor.number, motor.kind, motor.values) == ("motor", 2, "off", ())
    assert (motor.begin_ns, motor.duration_ns) == (12_000_000_000, 3_500_000_000)
    gyro = parse_failure("gyro wrong by 0.1 0 -0.2 for 4")
    assert (gyro.kind, gyro.values, gyro.begin_ns) == ("wrong by", (0.1, 0.0, -0.2), None)
    assert parse_failure("accel noisy 0.5").values == (0.5, 0.5, 0.5)
    assert parse_failure("rc late 0.2").values == (0.2,)
    assert parse_failure("link damaged 0.25").values == (0.25,)
    assert parse_failure("gnss jammed").duration_ns == math.inf


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "nothing given; allowed: motor, servo, cell"),
        ("motr 2 off", "motr given; allowed: motor, servo"),
        ("motor off", "off given; allowed: motor 1 to 14"),
        ("motor 0 off", "0 given; allowed: motor 1 to 14"),
        ("motor 15 off", "15 given; allowed: motor 1 to 14"),
        ("motor 1 broken", "broken given; allowed: off, stuck, wrong by, drift, noisy"),
        ("motor 1 wrong", "wrong given; allowed: off, stuck, wrong by"),
        ("baro jammed", "jammed given; allowed: off, stuck, wrong by, drift, noisy"),
        ("gyro off 3", "3 given; allowed: at TIME, for DURATION"),
        ("gyro noisy", "0 numbers given; allowed: 1 number or 3, the standard deviation (rad/s)"),
        ("gyro wrong by 1 2", "2 numbers given; allowed: 1 number or 3"),
        ("wind front 3", "1 number given; allowed: 3 numbers"),
        ("mag noisy -1", "-1 given; allowed: the standard deviation, a number from 0 to 1e+09"),
        ("rc late nan", "nan given; allowed: the delay, a number from 0 to 60"),
        ("rc late 0.1 0.2", "2 numbers given; allowed: 1 number, the delay (s)"),
        ("link damaged", "0 numbers given; allowed: 1 number, the share of damaged packets (0 to 1)"),
        ("link damaged 1.1", "1.1 given; allowed: the share of damaged packets, a number from 0 to 1"),
        ("uplink off", "off given; allowed: lost, late, damaged"),
        ("mag off at", "nothing given; allowed: a time in seconds"),
        ("mag off at -1", "-1 given; allowed: a time in seconds"),
        ("mag off at 1 at 2", "at given; allowed: at TIME or for DURATION, each once"),
    ],
)
def test_senseless_words_are_refused_with_the_words_allowed(text: str, complaint: str) -> None:
    with pytest.raises(ParameterError) as refused:
        parse_failure(text)
    assert str(refused.value).startswith(f"failure '{text}': {complaint}")


@pytest.mark.parametrize("name", all_targets())
def test_every_kind_of_every_part_can_be_said(name: str) -> None:
    target = all_targets()[name]
    for kind in target.kinds:
        values = {"late": "0.5", "damaged": "0.5", "front": "1 2 3"}.get(
            kind, "1" if kind in ("wrong by", "drift", "noisy") else ""
        )
        failure = parse_failure(f"{name} {target.last or ''} {kind} {values} at 1 for 2")
        assert (failure.target, failure.kind) == (name, kind)


def test_parts_of_sensors_are_known_in_a_process_that_has_not_imported_the_sensors() -> None:
    source = (
        "import sys; from rosflight_py_sim.failures.failure import parse_failure; "
        "assert 'rosflight_py_sim.sensing' not in sys.modules; print(parse_failure('mag off').target)"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout == "mag\n"
