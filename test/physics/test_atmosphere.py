"""The standard atmosphere against the tables of the U.S. Standard Atmosphere 1976."""

import pytest

from rosflight_py_sim.physics import atmosphere

# Geometric altitude m, temperature K, pressure Pa, density kg/m^3: table I, as many digits as it prints.
TABLE = [
    (-1000.0, 294.651, 1.1393e5, 1.3470),
    (0.0, 288.150, 1.01325e5, 1.2250),
    (1000.0, 281.651, 8.9876e4, 1.1117),
    (5000.0, 255.676, 5.4048e4, 7.3643e-1),
    (10000.0, 223.252, 2.6500e4, 4.1351e-1),
    (15000.0, 216.650, 1.2112e4, 1.9476e-1),
    (20000.0, 216.650, 5.5293e3, 8.8910e-2),
]


@pytest.mark.parametrize(("altitude", "temperature", "pressure", "density"), TABLE)
def test_atmosphere_matches_published_table(altitude, temperature, pressure, density):
    # Half a unit of the table's last digit, five digits each.
    assert atmosphere.temperature(altitude) == pytest.approx(temperature, abs=0.5e-3)
    assert atmosphere.pressure(altitude) == pytest.approx(pressure, rel=0.5e-4)
    assert atmosphere.density(altitude) == pytest.approx(density, rel=0.5e-4)


@pytest.mark.parametrize(("altitude", "speed"), [(0.0, 340.29), (10000.0, 299.53), (20000.0, 295.07)])
def test_speed_of_sound_matches_published_values(altitude, speed):
    assert atmosphere.speed_of_sound(altitude) == pytest.approx(speed, abs=0.5e-2)


def test_pressure_altitude_inverts_pressure():
    for altitude in (-2000.0, 0.0, 1387.0, 11000.0, 11019.0, 11030.0, 19999.0):
        # Altitudes of 1e4 m at rounding 1e-16 through a power near 5.
        assert atmosphere.pressure_altitude(atmosphere.pressure(altitude)) == pytest.approx(altitude, abs=1e-8)


def test_pressure_and_density_are_continuous_at_the_tropopause():
    tropopause = atmosphere.EARTH_RADIUS * 11000.0 / (atmosphere.EARTH_RADIUS - 11000.0)
    for quantity in (atmosphere.pressure, atmosphere.density):
        # A step of 2 mm through a gradient of about 1.5e-4 per m.
        assert quantity(tropopause - 1e-3) == pytest.approx(quantity(tropopause + 1e-3), rel=1e-6)
