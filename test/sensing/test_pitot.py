"""Pitot tube: impact pressure of the air from ahead."""

import math

import numpy as np
import pytest

from rosflight_py_sim.physics.atmosphere import pressure, temperature
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, PitotTube
from rosflight_py_sim.sensing.impact_pressure import impact_pressure

IDEAL = {
    "airspeed_insensitive_angle": 0.0,
    "airspeed_position_error": 0.0,
    "airspeed_range": 0.0,
    "airspeed_resolution": 0.0,
}
QUIET = {"airspeed_stdev": 0.0, "airspeed_bias_range": 0.0, "airspeed_bias_walk_stdev": 0.0, **IDEAL}
CALM = np.zeros(3)


def pitot_tube(seed=0, **given):
    return PitotTube(SENSOR_PARAMETERS.checked(given), np.random.default_rng(seed))


def truth(velocity_body=(0.0, 0.0, 0.0), down=0.0, yaw=0.0):
    vector = np.zeros(19)
    vector[2] = down
    vector[3], vector[6] = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    vector[7:10] = velocity_body
    return vector


def impact(airspeed, altitude=1387.0):
    """Impact pressure (Pa) in the standard atmosphere."""
    return impact_pressure(airspeed, pressure(altitude), temperature(altitude))


@pytest.mark.parametrize("airspeed", [20.0, 50.0, 200.0, 600.0])
def test_differential_pressure_is_the_impact_pressure(airspeed):
    sensor = pitot_tube(**QUIET, origin_altitude=0.0)
    sensor.sample(truth((airspeed, 0.0, 0.0)), CALM, 0.01)
    assert sensor.differential_pressure_pa == pytest.approx(impact(airspeed, 0.0), rel=1e-12)
    assert sensor.airspeed_mps == pytest.approx(airspeed, rel=1e-12)


def test_slow_flow_has_half_rho_v_squared():
    sensor = pitot_tube(**QUIET, origin_altitude=0.0)
    sensor.sample(truth((20.0, 0.0, 0.0)), CALM, 0.01)
    # 1.225 kg/m^3 is the standard's density to four digits; a quarter of the squared Mach number is 9e-4.
    assert sensor.differential_pressure_pa == pytest.approx(0.5 * 1.225 * 20.0**2, rel=1e-3)


def test_density_and_temperature_follow_altitude():
    sensor = pitot_tube(**QUIET, origin_altitude=1000.0)
    sensor.sample(truth((20.0, 0.0, 0.0), down=-2000.0), CALM, 0.01)
    assert sensor.differential_pressure_pa == pytest.approx(impact(20.0, 3000.0), rel=1e-12)
    assert sensor.temperature_k == pytest.approx(temperature(3000.0), rel=1e-12)
    assert sensor.airspeed_mps == pytest.approx(20.0, rel=1e-12)


@pytest.mark.parametrize(
    ("yaw_deg", "wind", "airspeed"),
    [(0.0, (-5.0, 0.0, 0.0), 20.0), (90.0, (0.0, 5.0, 0.0), 10.0), (90.0, (5.0, 0.0, 0.0), 15.0)],
)
def test_headwind_adds_to_airspeed(yaw_deg, wind, airspeed):
    sensor = pitot_tube(**QUIET)
    sensor.sample(truth((15.0, 0.0, 0.0), yaw=math.radians(yaw_deg)), np.array(wind), 0.01)
    # By the angle, the pressure is that of the component along x to a quarter of the squared Mach number.
    assert sensor.airspeed_mps == pytest.approx(airspeed, rel=1e-4)


def test_air_from_behind_or_the_side_produces_no_pressure():
    sensor = pitot_tube(**QUIET)
    sensor.sample(truth((-8.0, 0.0, 0.0)), CALM, 0.01)
    assert sensor.differential_pressure_pa == 0.0
    sensor.sample(truth((0.0, 5.0, 3.0)), CALM, 0.01)
    assert sensor.differential_pressure_pa == 0.0


def test_negative_pressure_yields_negative_airspeed():
    sensor = pitot_tube(airspeed_stdev=5.0)
    for _ in range(100):
        sensor.sample(truth(), CALM, 0.01)
        assert math.copysign(1.0, sensor.airspeed_mps) == math.copysign(1.0, sensor.differential_pressure_pa)


@pytest.mark.parametrize("rate", [25.0, 100.0])
def test_noise_density_is_independent_of_sample_rate(rate):
    sensor = pitot_tube(**IDEAL, airspeed_bias_range=0.0, airspeed_bias_walk_stdev=0.0)
    pressures = []
    for _ in range(5000):
        sensor.sample(truth(), CALM, 1.0 / rate)
        pressures.append(sensor.differential_pressure_pa)
    # 5,000 values: relative standard error 1 %; 4.5 of them.
    assert np.std(pressures) == pytest.approx(1.15 * math.sqrt(rate / 100.0), rel=0.045)


def inclined(angle, roll=0.0, speed=20.0):
    """Flight with the air at an angle (rad) to the x axis."""
    across = speed * math.sin(angle)
    return truth((speed * math.cos(angle), across * math.sin(roll), across * math.cos(roll)))


@pytest.mark.parametrize("roll_deg", [0.0, 90.0, 225.0])
def test_pressure_is_whole_within_the_cone_for_any_angle_of_attack_and_sideslip(roll_deg):
    sensor = pitot_tube(**{**QUIET, "airspeed_insensitive_angle": 0.28})
    pressures = []
    for angle in (0.0, 0.1, 0.279, 0.5, 1.0, 1.5, math.pi / 2.0, 2.0, math.pi):
        sensor.sample(inclined(angle, math.radians(roll_deg)), CALM, 0.01)
        pressures.append(sensor.differential_pressure_pa / impact(20.0))
    assert pressures[:3] == pytest.approx([1.0] * 3, rel=1e-12)
    assert np.all(np.diff(pressures[2:7]) < 0.0)
    assert pressures[6:] == pytest.approx([0.0] * 3, abs=1e-12)


def test_default_tube_loses_one_percent_at_21_degrees():
    sensor = pitot_tube(
        **{**QUIET, "airspeed_insensitive_angle": SENSOR_PARAMETERS["airspeed_insensitive_angle"].default}
    )
    sensor.sample(inclined(math.radians(21.0)), CALM, 0.01)
    # NACA's combined pitot-static tube: a total-pressure error of 0.01 q at 21.0 deg.
    assert sensor.differential_pressure_pa == pytest.approx(0.99 * impact(20.0), rel=0.001)


def test_position_error_is_a_share_of_the_impact_pressure():
    sensor = pitot_tube(**{**QUIET, "airspeed_position_error": 0.02})
    sensor.sample(truth((20.0, 0.0, 0.0)), CALM, 0.01)
    assert sensor.differential_pressure_pa == pytest.approx(1.02 * impact(20.0), rel=1e-12)
    assert sensor.airspeed_mps == pytest.approx(20.0 * math.sqrt(1.02), rel=1e-4)


def test_readings_saturate_and_are_multiples_of_the_resolution():
    sensor = pitot_tube(**{**QUIET, "airspeed_range": 500.0, "airspeed_resolution": 2.0})
    for speed in np.linspace(0.0, 50.0, 40):
        sensor.sample(truth((speed, 0.0, 0.0)), CALM, 0.01)
        true = impact(speed)
        assert sensor.differential_pressure_pa == pytest.approx(min(true, 500.0), abs=1.0 + 1e-9)
        assert sensor.differential_pressure_pa % 2.0 == 0.0
