"""A plane flown by packets through a whole flight: physics, wind, guidance, cage and modes in one loop without ROS."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from vehicles_in_the_air import BREEZE, CALM, PERIOD_S, Aircraft, Copter, VehicleInTheAir, configured

from rosflight_py_sim.autopilot.cage import CageBit, Observed, bit_names
from rosflight_py_sim.autopilot.fixedwing_target_controller import (
    FIXEDWING_TARGET_PARAMETERS,
    FixedwingTargetController,
)
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    FlyTarget,
    HeadingTarget,
    PitchTarget,
    PositionTarget,
    RollTarget,
    ThrottleTarget,
)
from rosflight_py_sim.autopilot.guided_mode_states import Mode
from rosflight_py_sim.autopilot.guided_mode_supervisor import GUIDED_MODE_PARAMETERS, GuidedModeSupervisor
from rosflight_py_sim.autopilot.multirotor_target_controller import (
    MULTIROTOR_TARGET_PARAMETERS,
    MultirotorTargetController,
)
from rosflight_py_sim.autopilot.waypoint_route import RouteWaypoint
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.interfaces.given_values import merged_values
from rosflight_py_sim.vehicles import vehicle

CONFIG = Path(__file__).parents[2] / "config"

STREAM = round(0.2 / PERIOD_S)
"""Command periods between two fly() commands at 5 Hz."""

SOUTH = FlyTarget(HeadingTarget(math.pi), AirspeedTarget(18.0), AltitudeTarget(80.0))
UP = FlyTarget(HeadingTarget(math.pi), AirspeedTarget(17.0), ClimbTarget(2.0))


def paired(name: str) -> dict[str, Value]:
    """Parameters of modes and cage in the vehicle's file for the protocol."""
    file = CONFIG / vehicle(name).pairings["uthere"].file
    given = {key.removeprefix("uthere."): value for key, value in merged_values([file], ("bridge",)).items()}
    return {key: value for key, value in given.items() if key in GUIDED_MODE_PARAMETERS}


class GuidedFlight:
    """An aircraft armed at home, its pilot, and a program that streams `target` while it is set."""

    def __init__(self, name: str, wind: dict[str, Value], **parameters: Value) -> None:
        rotors = name == "multirotor"
        self.aircraft: VehicleInTheAir = Copter(wind) if rotors else Aircraft(name, wind)
        table = MULTIROTOR_TARGET_PARAMETERS if rotors else FIXEDWING_TARGET_PARAMETERS
        values = configured(name, table, "bridge")
        controller = MultirotorTargetController(values) if rotors else FixedwingTargetController(values)
        self.pilot = GuidedModeSupervisor(GUIDED_MODE_PARAMETERS.checked(paired(name) | parameters), controller)
        self.target: FlyTarget | None = None
        self.seen: list[int] = []
        self.refused = 0
        self._count = 0
        self._throttle = 0.0

    def step(self) -> None:
        state = self.aircraft.state
        if self._count % STREAM == 0:
            self.pilot.note_packet()
            if self.target is not None and self.pilot.fly(self.target):
                self.refused += 1
        observed = Observed(
            time_s=self._count * PERIOD_S,
            state=state,
            throttle=self._throttle,
            wing_load=1.0,
            battery_voltage=None,
            armed=True,
            override=False,
            rc_lost=False,
            gps_ok=True,
            nav_ok=True,
            imu_ok=True,
        )
        guided = self.pilot.update(observed, PERIOD_S)
        assert guided is not None
        self._throttle = max(guided.u[:3])
        self.aircraft.move(guided)
        self.seen.append(self.pilot.cage_triggered)
        self._count += 1

    def fly(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD_S)):
            self.step()

    def until(self, mode: Mode, limit_s: float = 60.0) -> None:
        """Fly until the pilot is in a mode."""
        for _ in range(round(limit_s / PERIOD_S)):
            if self.pilot.mode is mode:
                return
            self.step()
        pytest.fail(f"{mode.label} did not come within {limit_s:g} s: {self.pilot.mode.label}")

    def until_inside(self, limit_s: float = 60.0) -> None:
        """Fly until the plane is inside its cage."""
        for _ in range(round(limit_s / PERIOD_S)):
            self.step()
            if not self.pilot.cage_triggered:
                return
        pytest.fail(f"still outside after {limit_s:g} s: {bit_names(self.pilot.cage_triggered)}")

    def until_near(self, point: tuple[float, float, float], limit_s: float) -> None:
        """Fly until the aircraft is within 10 m of a point."""
        nearest = math.inf
        for _ in range(round(limit_s / PERIOD_S)):
            self.step()
            nearest = min(nearest, math.dist(self.aircraft.state.position_ned, point))
            if nearest < 10.0:
                return
        pytest.fail(f"not nearer than {nearest:.1f} m within {limit_s:g} s")


@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_plane_takes_off_and_circles_home_inside_cage(name: str) -> None:
    flight = GuidedFlight(name, BREEZE)
    flight.until(Mode.WAYPOINT)
    flight.fly(30.0)
    flight.seen.clear()
    # Once round, in 28 s.
    flight.fly(30.0)
    north, east, down = flight.aircraft.state.position_ned
    # The circle's radius is 80 m; wind and the turns' overshoot change it.
    assert 60.0 < math.hypot(north, east) < 120.0
    assert -down == pytest.approx(60.0, abs=6.0)
    assert set(flight.seen) == {0}


def test_multirotor_follows_same_commands_as_fixed_wing() -> None:
    flight = GuidedFlight("multirotor", BREEZE)
    flight.until(Mode.WAYPOINT)
    flight.fly(15.0)
    flight.seen.clear()
    flight.fly(5.0)
    assert math.dist(flight.aircraft.state.position_ned, (0.0, 0.0, -15.0)) < 1.5
    assert flight.pilot.engage() == ""
    flight.target = FlyTarget(HeadingTarget(math.pi), AirspeedTarget(5.0), AltitudeTarget(20.0))
    flight.fly(8.0)
    assert flight.pilot.mode is Mode.PACKET_TARGET
    flight.target = FlyTarget(HeadingTarget(math.pi), AirspeedTarget(30.0), AltitudeTarget(20.0))
    flight.until(Mode.RETURN_HOME, limit_s=1.0)
    assert flight.pilot.triggered_last == 1 << CageBit.AIRSPEED | 1 << CageBit.TARGET
    flight.target = None
    flight.fly(25.0)
    assert set(flight.seen) <= {0, flight.pilot.triggered_last}
    assert math.dist(flight.aircraft.state.position_ned, (0.0, 0.0, -15.0)) < 1.5


def test_flight_resumes_after_cage_breach_by_fly_engage() -> None:
    flight = GuidedFlight("anaconda", BREEZE, cage_altitude_maximum=100.0)
    flight.until(Mode.WAYPOINT)
    flight.fly(5.0)
    assert flight.pilot.engage() == ""
    flight.target = UP
    flight.until(Mode.RETURN_HOME)
    assert flight.pilot.triggered_last == 1 << CageBit.ALTITUDE
    assert 100.0 < flight.aircraft.state.height < 101.0
    assert not flight.pilot.enabled
    flight.target = None
    assert flight.pilot.engage().startswith("fly_engage refused: outside the cage (altitude")
    flight.until_inside()
    assert flight.pilot.triggered_last == 1 << CageBit.ALTITUDE
    assert flight.pilot.engage() == ""
    assert flight.pilot.triggered_last == 0
    flight.target = SOUTH
    flight.fly(20.0)
    state = flight.aircraft.state
    assert flight.pilot.mode is Mode.PACKET_TARGET
    assert state.height == pytest.approx(80.0, abs=5.0)
    assert abs(math.remainder(state.yaw - math.pi, math.tau)) < math.radians(8.0)
    assert flight.refused == 0


@pytest.mark.parametrize("wind", [CALM, BREEZE], ids=["calm", "breeze"])
@pytest.mark.parametrize(
    ("name", "airspeed", "ahead", "aside", "height"),
    [
        ("anaconda", 18.0, 300.0, 0.0, 60.0),
        ("anaconda", 18.0, 500.0, -400.0, 100.0),
        # Abeam of the plane, inside the smallest circle that it can fly.
        ("anaconda", 18.0, 0.0, 30.0, 60.0),
        # Too near to complete the climb on the first approach.
        ("anaconda", 18.0, 80.0, 0.0, 160.0),
        ("aerosonde", 22.0, -100.0, 0.0, 80.0),
        ("multirotor", 5.0, 60.0, 40.0, 30.0),
    ],
)
def test_fly_to_passes_the_point_and_circles_it(
    name: str, airspeed: float, ahead: float, aside: float, height: float, wind: dict[str, Value]
) -> None:
    flight = GuidedFlight(name, wind)
    flight.until(Mode.WAYPOINT)
    flight.fly(5.0)
    state = flight.aircraft.state
    cos, sin = math.cos(state.course), math.sin(state.course)
    north, east, _ = state.position_ned
    point = (north + ahead * cos - aside * sin, east + ahead * sin + aside * cos, -height)
    place = FlyTarget(PositionTarget(*point[:2]), AirspeedTarget(airspeed), AltitudeTarget(height))
    assert flight.pilot.fly_to(place) == ""
    # 400 m at 15 m/s, and two approaches.
    flight.until_near(point, 75.0)
    # The circle's radius, and the effect of gusts; a multirotor hovers.
    flight.fly(20.0)
    farthest = 1.5 if name == "multirotor" else 120.0
    for _ in range(round(10.0 / PERIOD_S)):
        flight.step()
        assert math.dist(flight.aircraft.state.position_ned[:2], point[:2]) < farthest


@pytest.mark.parametrize(("ahead", "aside"), [(300.0, 200.0), (0.0, 30.0), (-100.0, 0.0), (0.0, -120.0)])
def test_single_waypoint_is_passed_wherever_it_lies(ahead: float, aside: float) -> None:
    flight = GuidedFlight("anaconda", CALM)
    flight.until(Mode.WAYPOINT)
    flight.fly(5.0)
    state = flight.aircraft.state
    cos, sin = math.cos(state.course), math.sin(state.course)
    north, east, _ = state.position_ned
    point = (north + ahead * cos - aside * sin, east + ahead * sin + aside * cos, -60.0)
    flight.pilot.add_waypoint(RouteWaypoint(1, -1, point, 18.0))
    flight.pilot.fly_to_waypoint(1)
    flight.until_near(point, 60.0)
    flight.fly(20.0)
    assert math.dist(flight.aircraft.state.position_ned[:2], point[:2]) < 120.0


def test_interrupted_target_stream_ends_circling_home() -> None:
    flight = GuidedFlight("anaconda", CALM)
    flight.until(Mode.WAYPOINT)
    flight.fly(5.0)
    flight.pilot.engage()
    flight.target = SOUTH
    flight.fly(20.0)
    assert math.hypot(*flight.aircraft.state.position_ned[:2]) > 150.0
    flight.target = None
    flight.until(Mode.RETURN_HOME, limit_s=2.1)
    assert flight.pilot.triggered_last == 1 << CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE
    flight.fly(50.0)
    north, east, _ = flight.aircraft.state.position_ned
    assert math.hypot(north, east) < 120.0


def test_waypoints_and_fly_alternate_in_one_mission() -> None:
    flight = GuidedFlight("anaconda", BREEZE, lost_signal_mode="waypoint")
    flight.until(Mode.WAYPOINT)
    for number, (north, east) in enumerate(((300.0, 0.0), (300.0, 300.0), (0.0, 300.0)), start=1):
        assert flight.pilot.add_waypoint(RouteWaypoint(number, number + 1, (north, east, -70.0), 18.0)) == ""
    flight.pilot.engage()
    flight.pilot.fly_to_waypoint(1)
    flight.fly(20.0)
    flight.target = SOUTH
    flight.fly(5.0)
    assert flight.pilot.mode is Mode.PACKET_TARGET
    flight.target = None
    assert flight.pilot.fly_to_waypoint(2) == ""
    flight.fly(65.0)
    assert (flight.pilot.mode, flight.pilot.enabled) == (Mode.WAYPOINT, True)
    assert flight.pilot.variables()["waypoint_id"] == 3.0
    north, east, down = flight.aircraft.state.position_ned
    assert math.hypot(north, east - 300.0) < 120.0
    assert -down == pytest.approx(70.0, abs=6.0)


LATERAL = (HeadingTarget(1.0), RollTarget(0.3), PositionTarget(100.0, 100.0))
VERTICAL = (AltitudeTarget(80.0), ThrottleTarget(0.6))


def test_streamed_targets_of_every_kind_stay_inside_cage() -> None:
    flight = GuidedFlight("anaconda", CALM)
    flight.until(Mode.WAYPOINT)
    flight.fly(5.0)
    flight.pilot.engage()
    flight.seen.clear()
    for lateral in LATERAL:
        for speed in (AirspeedTarget(19.0), PitchTarget(0.05)):
            for vertical in VERTICAL:
                flight.target = FlyTarget(lateral, speed, vertical)
                flight.fly(3.0)
    assert {bit_names(bits) for bits in flight.seen} == {""}
    assert flight.pilot.mode is Mode.PACKET_TARGET
    assert flight.refused == 0
