"""Valid and invalid targets."""

from __future__ import annotations

import itertools
import math

import pytest

from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    CourseTarget,
    FlyTarget,
    HeadingTarget,
    Lateral,
    PitchTarget,
    PositionTarget,
    RollTarget,
    Speed,
    TargetError,
    ThrottleTarget,
    Vertical,
)

LATERALS: tuple[Lateral, ...] = (PositionTarget(10.0, -20.0), CourseTarget(1.0), HeadingTarget(-1.0), RollTarget(0.2))
SPEEDS: tuple[Speed, ...] = (AirspeedTarget(18.0), PitchTarget(0.05))
VERTICALS: tuple[Vertical, ...] = (AltitudeTarget(50.0), ClimbTarget(-1.0), ThrottleTarget(0.0))


def test_only_pitch_with_climb_rate_is_rejected() -> None:
    refused = []
    for lateral, speed, vertical in itertools.product(LATERALS, SPEEDS, VERTICALS):
        try:
            FlyTarget(lateral, speed, vertical)
        except TargetError as error:
            assert str(error).startswith("pitch with climb given; allowed: pitch with altitude or throttle")
            refused.append((speed, vertical))
    assert refused == [(PitchTarget(0.05), ClimbTarget(-1.0))] * len(LATERALS)


@pytest.mark.parametrize(
    ("lateral", "speed", "vertical", "text"),
    [
        (CourseTarget(math.nan), SPEEDS[0], VERTICALS[0], "course_rad nan given; allowed: a finite number"),
        (PositionTarget(0.0, math.inf), SPEEDS[0], VERTICALS[0], "east_m inf given; allowed: a finite number"),
        (LATERALS[0], AirspeedTarget(0.0), VERTICALS[0], "airspeed 0 m/s given; allowed: greater than 0 m/s"),
        (LATERALS[0], SPEEDS[0], ThrottleTarget(1.5), "throttle 1.5 given; allowed: from 0 to 1"),
    ],
)
def test_out_of_range_target_values_are_rejected(lateral: Lateral, speed: Speed, vertical: Vertical, text: str) -> None:
    with pytest.raises(TargetError, match=text):
        FlyTarget(lateral, speed, vertical)
