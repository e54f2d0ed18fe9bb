"""A vehicle that does not leave the ground ends its mission with the reason."""

from __future__ import annotations

import pytest

from rosflight_py_sim.ground.registry import own_names
from rosflight_py_sim.missions.catalogue import judge_class
from rosflight_py_sim.missions.take_off import TakeOffWatch
from rosflight_py_sim.vehicles import vehicle


def watched(seconds: float, motor: float = 0.9, height_m: float = 0.1, speed_mps: float = 0.0) -> TakeOffWatch:
    """Watch on a vehicle at rest, whose motor then runs for these seconds at this height above its start."""
    watch = TakeOffWatch({})
    watch.observe(0.0, 5.0, speed_mps, [0.0])
    for step in range(1, round(seconds * 50.0) + 1):
        watch.observe(step / 50.0, 5.0 + height_m, 15.0, [0.0, motor])
    return watch


def test_vehicle_with_a_running_motor_that_does_not_leave_the_ground_is_told() -> None:
    assert watched(61.0).text == (
        "the vehicle does not leave the ground: the time with a running motor is 60.02 s; allowed: at most 60 s "
        "(take_off_timeout)"
    )


@pytest.mark.parametrize(
    "watch",
    [
        pytest.param((59.0,), id="taking off"),
        pytest.param((900.0, 0.2), id="idle"),
        pytest.param((900.0, 0.9, 0.3), id="in the air"),
        pytest.param((900.0, 0.9, -0.3), id="descending"),
        pytest.param((900.0, 0.9, 0.0, 18.0), id="started in the air"),
    ],
)
def test_other_vehicles_go_on(watch: tuple[float, ...]) -> None:
    assert not watched(*watch).text


def test_time_with_idle_motors_does_not_count() -> None:
    watch = TakeOffWatch({"take_off_timeout": 10.0})
    for second in range(100):
        watch.observe(float(second), 0.0, 0.0, [0.0 if second % 10 == 0 else 1.0])
    assert not watch.text


@pytest.mark.parametrize("mission", ["autopilot", *own_names("missions")])
def test_every_mission_has_the_limit(mission: str) -> None:
    limits = judge_class(mission).limits_for(vehicle("multirotor"))
    assert "take_off_timeout" in [limit.name for limit in limits]
