"""The formation mission, flown by a vehicle without position error."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from rosflight_py_sim.autopilot.formation import FORMATION_PARAMETERS, FormationMission, FormationPhase
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.ground.parameters import Value

DT = 0.01
OFFSET = [-8.0, 3.0, -1.0]

Motion = Callable[[float], tuple[Vector3, Vector3]]


def mission(**changed: Value) -> FormationMission:
    return FormationMission(FORMATION_PARAMETERS.checked({"leader": "lead", "formation_offset": OFFSET, **changed}))


def circle(time_s: float) -> tuple[Vector3, Vector3]:
    """A circle of 60 m at 18 m/s, at a height of 30 m."""
    rate = 18.0 / 60.0
    sine, cosine = math.sin(rate * time_s), math.cos(rate * time_s)
    return (60.0 * cosine, 60.0 * sine, -30.0), (-18.0 * sine, 18.0 * cosine, 0.0)


def hop(time_s: float) -> tuple[Vector3, Vector3]:
    """On the ground, at 10 m from 2 s to 30 s, and on the ground again."""
    height = max(0.0, min(5.0 * (time_s - 2.0), 10.0, 1.0 * (40.0 - time_s)))
    return (5.0, 0.0, -height), (0.0, 0.0, 1.0 if 30.0 < time_s < 40.0 else 0.0)


class Flight:
    """A follower without error, which cannot sink below the ground at height 0."""

    def __init__(self, subject: FormationMission, leader: Motion) -> None:
        self.subject, self.leader = subject, leader
        self.time_s, self.position, self.velocity = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        self.phases: list[FormationPhase] = []
        self.setpoint = Setpoint(self.position)
        self.show_leader()
        subject.start(0.0, self.position, 0.3)

    def show_leader(self) -> None:
        self.subject.add_leader(self.time_s, *self.leader(self.time_s))

    def step(self, *, received: bool = True, first: bool = True) -> None:
        self.time_s += DT
        if received and first:
            self.show_leader()
        self.setpoint = self.subject.setpoint(self.time_s, self.position, self.velocity)
        if received and not first:
            self.show_leader()
        north, east, down = self.setpoint.position_ned
        self.velocity = (0.0, 0.0, 0.0) if down >= 0.0 else self.setpoint.velocity_ned
        self.position = (north, east, min(down, 0.0))
        if self.phases[-1:] != [self.subject.phase]:
            self.phases.append(self.subject.phase)

    def until(self, phase: FormationPhase, longest_s: float = 100.0) -> None:
        end_s = self.time_s + longest_s
        while self.subject.phase is not phase:
            self.step()
            assert self.time_s < end_s, self.phases


def test_flight_with_a_leader_that_lands_runs_through_all_phases() -> None:
    flight = Flight(mission(), hop)
    flight.until(FormationPhase.DONE)
    # The vehicle is at rest already when it stops.
    assert flight.phases == [one for one in FormationPhase if one not in (FormationPhase.WAIT, FormationPhase.STOP)]
    # At its formation position, not at the take-off point, and after the leader.
    assert flight.position[:2] == pytest.approx((-3.0, 3.0), abs=1e-6)
    assert flight.time_s > 40.0
    assert not flight.subject.thrust_on


def test_setpoint_moves_with_the_leader() -> None:
    flight = Flight(mission(), circle)
    flight.until(FormationPhase.IN_FORMATION)
    for _ in range(500):
        flight.step()
        position, velocity = circle(flight.time_s)
        place = [p + o for p, o in zip(position, OFFSET, strict=True)]
        assert flight.setpoint.position_ned == pytest.approx(place, abs=0.005)
        assert flight.setpoint.velocity_ned == pytest.approx(velocity, abs=0.1)
        toward_centre = [-p * (18.0 / 60.0) ** 2 for p in position[:2]]
        assert flight.setpoint.acceleration_ned[:2] == pytest.approx(toward_centre, abs=0.2)


def test_setpoint_does_not_depend_on_the_order_of_messages_within_a_step() -> None:
    flights = [Flight(mission(), circle) for _ in range(2)]
    for _ in range(1500):
        for first, flight in zip((True, False), flights, strict=True):
            flight.step(first=first)
        assert flights[0].setpoint == flights[1].setpoint
    assert flights[0].subject.phase is FormationPhase.IN_FORMATION


def test_vehicle_never_comes_lower_than_its_height_before_the_landing() -> None:
    flight = Flight(mission(formation_height=4.0), hop)
    lowest = math.inf
    flight.until(FormationPhase.JOIN)
    while flight.subject.phase < FormationPhase.STOP:
        flight.step()
        lowest = min(lowest, -flight.setpoint.position_ned[2])
    assert lowest == pytest.approx(4.0)


def test_vehicle_stops_while_the_leader_is_lost_and_follows_again() -> None:
    flight = Flight(mission(), circle)
    flight.until(FormationPhase.IN_FORMATION)
    for _ in range(101):
        flight.step(received=False)
    assert flight.subject.has_lost_leader
    place = flight.setpoint
    for _ in range(300):
        flight.step(received=False)
    assert flight.setpoint == place
    assert flight.setpoint.velocity_ned == (0.0, 0.0, 0.0)
    # 18 m/s, and 2 m/s^2.
    assert math.dist(place.position_ned, flight.position) < 18.0**2 / 4.0 + 1.0
    flight.until(FormationPhase.IN_FORMATION)
    assert not flight.subject.has_lost_leader


def test_land_ends_the_formation_where_the_vehicle_comes_to_rest() -> None:
    flight = Flight(mission(), circle)
    flight.until(FormationPhase.IN_FORMATION)
    here, velocity = flight.position, flight.velocity
    flight.subject.land()
    flight.subject.land()
    flight.step()
    ahead = [h + v * 18.0 / 4.0 for h, v in zip(here[:2], velocity[:2], strict=True)]
    assert flight.setpoint.position_ned[:2] == pytest.approx(ahead, abs=0.5)
    flight.until(FormationPhase.DONE)
    with pytest.raises(RuntimeError, match="the vehicle is not flying: done"):
        flight.subject.land()


def test_start_needs_a_leader_and_happens_once() -> None:
    subject = mission()
    with pytest.raises(RuntimeError, match="no state of the leader 'lead' has been received"):
        subject.start(0.0, (0.0, 0.0, 0.0), 0.0)
    subject.add_leader(0.0, *circle(0.0))
    subject.start(0.0, (0.0, 0.0, 0.0), 0.0)
    with pytest.raises(RuntimeError, match="already begun: take off"):
        subject.start(0.0, (0.0, 0.0, 0.0), 0.0)
    # The next mission still has the previous mission's leader.
    later = FormationMission(FORMATION_PARAMETERS.checked({"leader": "lead"}), subject)
    later.start(1.0, (0.0, 0.0, 0.0), 0.0)
    assert later.phase is FormationPhase.TAKE_OFF


def test_leader_that_is_set_back_in_time_is_followed_on() -> None:
    flight = Flight(mission(), circle)
    flight.until(FormationPhase.IN_FORMATION)
    flight.time_s = 0.0
    for _ in range(5):
        flight.step()
    assert flight.setpoint.position_ned == pytest.approx(
        [p + o for p, o in zip(circle(flight.time_s)[0], OFFSET, strict=True)], abs=0.05
    )
