"""Tests of a node of your own in flight (docs/testing.md)."""

import pytest
from airspeed_meter import AirspeedMeter

pytestmark = pytest.mark.simulation(
    vehicle="multirotor",
    extra_nodes=[AirspeedMeter],
    wind=(4, 0, 0),  # north, east, down, m/s
    seed=1,
    limit=60,  # simulated seconds
)


def test_square_is_flown_in_wind(simulation):
    flight = simulation.fly(topics=["status"])
    flight.require_completed()
    flight.require("judge.tracking_error_rms_m", at_most=0.1, unit="m")
    flight.require("abs(truth_state.euler[0])", at_most=0.5, unit="rad")
    flight.require_within(5.0, "status", "armed")


@pytest.mark.simulation(limit=10)
@pytest.mark.parametrize("ros", [False, True])
def test_airspeed_is_sent_at_its_rate(simulation, ros):
    flight = simulation.fly(topics=["true_airspeed"], ros=ros)
    flight.require_rate("true_airspeed", at_least_hz=50)
    # On the ground, the airspeed is the speed of the wind.
    _, first = flight.messages["true_airspeed"][0]
    assert first.data == pytest.approx(4.0, abs=0.1)


@pytest.mark.simulation(failures=["motor 2 wrong by -100 at 12"])
def test_weak_motor_costs_accuracy_but_not_the_mission(simulation):
    healthy = simulation.fly(failures=[])
    weak = simulation.fly()
    weak.require_completed()
    limit = 3.0 * healthy.value("judge.tracking_error_rms_m")
    weak.require("judge.tracking_error_rms_m", at_most=limit, unit="m")
