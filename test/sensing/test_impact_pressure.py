"""Impact pressure of compressible flow."""

import math

import pytest

from rosflight_py_sim.physics.atmosphere import density, pressure, speed_of_sound, temperature
from rosflight_py_sim.sensing.impact_pressure import airspeed_of_impact, impact_pressure

# Static over total pressure, NACA Report 1135 (1953), table I, and static over pitot pressure behind a normal shock,
# table II; four digits.
SUBSONIC = {0.2: 0.9725, 0.3: 0.9395, 0.5: 0.8430, 0.8: 0.6560, 0.95: 0.5595, 1.0: 0.5283}
SUPERSONIC = {1.1: 0.4689, 1.5: 0.2930, 2.0: 0.1773, 3.0: 0.08291}


@pytest.mark.parametrize(("mach", "ratio"), [*SUBSONIC.items(), *SUPERSONIC.items()])
@pytest.mark.parametrize("altitude", [0.0, 3000.0, 15000.0])
def test_impact_pressure_is_that_of_the_tables_of_compressible_flow(mach: float, ratio: float, altitude: float) -> None:
    static, kelvin = pressure(altitude), temperature(altitude)
    impact = impact_pressure(mach * speed_of_sound(altitude), static, kelvin)
    assert static / (static + impact) == pytest.approx(ratio, abs=6e-5 if mach < 3.0 else 6e-6)


@pytest.mark.parametrize("altitude", [0.0, 1387.0, 11000.0])
def test_slow_flow_has_the_dynamic_pressure_and_a_quarter_of_the_squared_mach_number_more(altitude: float) -> None:
    static, kelvin, air = pressure(altitude), temperature(altitude), density(altitude)
    for airspeed in (0.01, 1.0, 20.0, 50.0, 100.0):
        square = (airspeed / speed_of_sound(altitude)) ** 2
        # The series' next term is (2 - gamma) / 24 of M^4.
        expected = 0.5 * air * airspeed**2 * (1.0 + square / 4.0 + square**2 / 40.0)
        assert impact_pressure(airspeed, static, kelvin) == pytest.approx(expected, rel=square**3 / 500.0 + 1e-12)


def test_incompressible_flow_would_be_low_by_half_a_percent_at_50_m_per_s_at_sea_level() -> None:
    incompressible = 0.5 * density(0.0) * 50.0**2
    impact = impact_pressure(50.0, pressure(0.0), temperature(0.0))
    assert incompressible / impact - 1.0 == pytest.approx(-0.0054, abs=5e-5)


@pytest.mark.parametrize("mach", [0.0, 1e-6, 0.1, 0.5, 0.999, 1.0, 1.001, 1.3, 2.0, 4.0])
def test_airspeed_of_the_impact_pressure_is_the_airspeed(mach: float) -> None:
    static, kelvin = pressure(8000.0), temperature(8000.0)
    airspeed = mach * speed_of_sound(8000.0)
    impact = impact_pressure(airspeed, static, kelvin)
    assert airspeed_of_impact(impact, static, kelvin) == pytest.approx(airspeed, rel=1e-12)
    assert airspeed_of_impact(-impact, static, kelvin) == pytest.approx(-airspeed, rel=1e-12)


def test_impact_pressure_is_smooth_at_the_speed_of_sound() -> None:
    static, kelvin, sound = pressure(0.0), temperature(0.0), speed_of_sound(0.0)
    below, at, above = (impact_pressure(mach * sound, static, kelvin) for mach in (1.0 - 1e-6, 1.0, 1.0 + 1e-6))
    assert above - at == pytest.approx(at - below, rel=1e-4)
    assert math.isclose(at, static * (1.2**3.5 - 1.0), rel_tol=1e-12)
