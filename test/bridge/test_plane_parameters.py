"""ArduPlane's parameter files in config/ardupilot match the flight of the shipped planes."""

import math

import pytest

from rosflight_py_sim.commands.vehicle_models import steady_vehicle
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.physics import performance
from rosflight_py_sim.physics.atmosphere import density
from rosflight_py_sim.physics.steady_model import SteadyModel
from rosflight_py_sim.physics.trim import FlightCondition, trim
from rosflight_py_sim.vehicles import vehicle

PLANES = ("anaconda", "aerosonde")
# Of the take-off and of circles over the launch point, 1387 m above sea level.
HEIGHT, ALTITUDE = 50.0, 1437.0
TRUE_OVER_INDICATED = math.sqrt(density(0.0) / density(ALTITUDE))


def given(name: str) -> dict[str, float]:
    lines = (share_directory() / "config" / "ardupilot" / f"{name}.parm").read_text(encoding="utf-8").splitlines()
    return {key: float(value) for key, value in (line.split() for line in lines if line and line[0] != "#")}


def model(name: str) -> SteadyModel:
    chosen = vehicle(name)
    return steady_vehicle(chosen, [chosen.parameter_file]).model


def glide_angle(name: str, indicated: float) -> float:
    """Angle (rad) below the horizon of a glide without throttle at an indicated airspeed (m/s)."""
    glide = performance.steady_climb(model(name), indicated * TRUE_OVER_INDICATED, 0.0, HEIGHT)
    return -glide.condition.flight_path_angle


@pytest.mark.parametrize("name", PLANES)
def test_trim_is_that_of_level_flight_at_the_cruising_airspeed(name: str) -> None:
    parameters = given(name)
    airspeed = parameters["AIRSPEED_CRUISE"] * TRUE_OVER_INDICATED
    _, elevator, _, throttle = trim(model(name), FlightCondition(airspeed, altitude=HEIGHT)).inputs
    assert parameters["TRIM_THROTTLE"] == pytest.approx(100.0 * throttle, abs=1.0)
    # A longer pulse deflects the elevator up: 500 us for 40 degrees.
    assert parameters["SERVO2_TRIM"] == pytest.approx(1500.0 - 500.0 / 40.0 * math.degrees(elevator), abs=2.0)


def test_aerosonde_has_the_climb_and_the_sink_rate_that_its_file_gives() -> None:
    parameters = given("aerosonde")
    airspeed = parameters["AIRSPEED_CRUISE"] * TRUE_OVER_INDICATED
    sink = airspeed * math.sin(glide_angle("aerosonde", parameters["AIRSPEED_CRUISE"]))
    assert parameters["TECS_SINK_MIN"] == pytest.approx(sink, abs=0.05)
    climb = airspeed * math.sin(
        performance.steady_climb(model("aerosonde"), airspeed, 1.0, HEIGHT).condition.flight_path_angle
    )
    assert 0.9 * climb < parameters["TECS_CLMB_MAX"] < climb


def test_aerosonde_holds_its_airspeed_on_the_approach_of_autoland() -> None:
    parameters = given("aerosonde")
    slope = math.atan2(parameters["AUTOLAND_WP_ALT"], parameters["AUTOLAND_WP_DIST"])
    assert slope < glide_angle("aerosonde", parameters["TECS_LAND_ARSPD"])
