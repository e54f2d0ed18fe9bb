"""The mission under water: its state machine, and guidance by yaw and surge in a current."""

from __future__ import annotations

import math

import pytest

from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.autopilot.surge_guidance import SURGE_GUIDANCE_PARAMETERS, SurgeGuidance
from rosflight_py_sim.autopilot.underwater_body import UNDERWATER_BODY_PARAMETERS, UnderwaterBody
from rosflight_py_sim.autopilot.underwater_mission import (
    UNDERWATER_MISSION_PARAMETERS,
    UnderwaterMission,
    UnderwaterPhase,
)
from rosflight_py_sim.commands.vehicle_models import Given, given_values
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.vehicles import vehicle

DT = 0.1
START: Vector3 = (2.0, -1.0, 0.3)
STILL: Vector3 = (0.0, 0.0, 0.0)


def mission(**changed: Value) -> UnderwaterMission:
    return UnderwaterMission(UNDERWATER_MISSION_PARAMETERS.checked({"square_side": 2.0, **changed}))


def test_vehicle_at_the_setpoint_passes_all_phases_and_corners_in_order() -> None:
    subject = mission(dive_depth=1.0)
    assert subject.setpoint(START, DT).position_ned == START
    assert (subject.phase, subject.progress) == (UnderwaterPhase.WAIT, 0.0)
    subject.start(START)
    corners = (2.0, -1.0, 1.3), (4.0, -1.0, 1.3), (4.0, 1.0, 1.3), (2.0, 1.0, 1.3)
    assert subject.route_ned == (*corners, corners[0])
    place, phases, progress, places = START, [subject.phase], [0.0], []
    while subject.is_under_way:
        place = subject.setpoint(place, DT).position_ned
        phases.append(subject.phase)
        progress.append(subject.progress)
        places.append(place)
        assert len(phases) * DT < 2.0 * subject.nominal_duration_s, "the mission does not end"
    assert list(dict.fromkeys(phases)) == list(UnderwaterPhase)[1:]
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    for corner in corners:
        assert any(one == pytest.approx(corner) for one in places)
    assert [phase for phase in UnderwaterPhase if phase.on_path] == list(UnderwaterPhase)[2:6]
    # The vehicle stays at the first corner.
    assert subject.setpoint(place, DT) == Setpoint(corners[0])


def test_setpoint_waits_for_a_vehicle_that_does_not_follow() -> None:
    subject = mission(dive_depth=5.0)
    subject.start(START)
    for _ in range(1000):
        setpoint = subject.setpoint(START, DT)
    assert math.dist(setpoint.position_ned, START) == pytest.approx(1.0, abs=0.2 * DT + 1e-9)
    assert subject.phase is UnderwaterPhase.DIVE
    with pytest.raises(RuntimeError, match="already begun: dive"):
        subject.start(START)


def test_corner_counts_as_reached_only_within_the_radius() -> None:
    subject = mission(dive_depth=0.2, arrival_radius=0.1)
    subject.start((0.0, 0.0, 0.0))
    for _ in range(100):
        subject.setpoint((0.0, 0.12, 0.2), DT)
    assert subject.phase is UnderwaterPhase.DIVE
    subject.setpoint((0.0, 0.08, 0.2), DT)
    assert subject.phase is UnderwaterPhase.SIDE_1


def body_values(name: str = "auv") -> Given:
    sources = [vehicle(name).parameter_file]
    return given_values(UNDERWATER_BODY_PARAMETERS, sources, "autopilot", "", "autopilot")


def guidance(name: str = "auv", **changed: Value) -> tuple[SurgeGuidance, UnderwaterBody]:
    body = UnderwaterBody(body_values(name))
    return SurgeGuidance(SURGE_GUIDANCE_PARAMETERS.checked(changed), body), body


def test_yaw_crabs_into_a_cross_current_and_surge_balances_the_drag() -> None:
    guide, body = guidance()
    # Northward at 0.3 m/s, in a current to the east at 0.1 m/s: through the water, 0.3 m/s north and 0.1 m/s west.
    yaw, speed = math.atan2(-0.1, 0.3), math.hypot(0.3, 0.1)
    share = guide.surge(Setpoint(STILL, (0.3, 0.0, 0.0)), STILL, 0.3 * math.cos(yaw), yaw, (0.0, 0.1, 0.0))
    assert guide.yaw == pytest.approx(yaw)
    linear, quadratic = body.surge_damping
    assert share * body.allocation.limits.surge == pytest.approx((linear + quadratic * speed) * speed)


def test_course_is_that_of_lookahead_based_line_of_sight_steering() -> None:
    guide, _ = guidance(approach_gain=0.5, approach_speed=10.0)
    speed, error = 0.2, 0.3
    guide.surge(Setpoint((0.0, error, 0.0), (speed, 0.0, 0.0)), STILL, speed, 0.0, STILL)
    # The lookahead distance is the speed over the gain.
    assert guide.yaw == pytest.approx(math.atan(error / (speed / 0.5)))


def test_vehicle_at_rest_at_its_setpoint_neither_turns_nor_pushes() -> None:
    guide, _ = guidance()
    guide.yaw = 0.7
    assert guide.surge(Setpoint(STILL), (0.01, -0.02, 5.0), 0.0, 0.7, STILL) == pytest.approx(0.0, abs=0.01)
    assert guide.yaw == 0.7


@pytest.mark.parametrize("current", [STILL, (0.2, -0.2, 0.0)])
def test_vehicle_that_faces_away_brakes_instead_of_pushing(current: Vector3) -> None:
    guide, _ = guidance()
    through_water = -current[0]
    share = guide.surge(Setpoint((-3.0, 0.0, 0.0)), STILL, current[0], 0.0, current)
    assert through_water <= 0.0
    assert share == pytest.approx(0.0, abs=1e-12)
    assert abs(guide.yaw) > math.pi / 2.0


def test_push_is_limited_to_the_full_force_at_any_distance() -> None:
    guide, _ = guidance(approach_speed=20.0)
    assert guide.surge(Setpoint((1e6, 0.0, 0.0)), STILL, 0.0, 0.0, STILL) == 1.0


def test_thrusters_that_cannot_push_ahead_alone_are_refused() -> None:
    values = body_values() | {"num_thrusters": 3}
    # Side thrusters at bow and stern turn the vehicle; none pushes ahead.
    values |= {
        "thruster_positions": [0.1, 0.0, 0.0, -0.1, 0.0, 0.0, 0.0, 0.0, 0.0],
        "thruster_directions": [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0],
    }
    with pytest.raises(ParameterError, match="thrusters given that cannot push ahead alone"):
        SurgeGuidance(SURGE_GUIDANCE_PARAMETERS.defaults(), UnderwaterBody(values))
