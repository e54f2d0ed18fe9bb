"""Waves: statistics of the sea, linear theory, and bodies in them."""

import math

import numpy as np
import pytest
from underwater import DT, MASS, VOLUME, Underwater, net_buoyancy, state

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.physics.waves import (
    ELEVATION,
    HEAD,
    ORBITAL_ACCELERATION,
    ORBITAL_VELOCITY,
    SLOPE,
    WAVE_PARAMETERS,
    Waves,
    spectrum,
)

GRAVITY = 9.81
HEIGHT, PERIOD = 0.8, 5.0
PEAK = 2.0 * math.pi / PERIOD


def sea(reach=math.inf, **values):
    """Waves that act at any height up to `reach` above the surface."""
    return Waves(WAVE_PARAMETERS.checked({"wave_height": HEIGHT, "wave_period": PERIOD, **values}), reach)


def regular(**values):
    """One component: a sine wave of amplitude HEIGHT / sqrt(8)."""
    return sea(wave_components=1, **values)


def at(waves, position, time_s):
    waves.move_to(np.array(position, dtype=float), time_s)
    return waves.sea.copy()


def record(waves, seconds, step=0.25):
    return np.array([at(waves, (0.0, 0.0, 0.0), step * k) for k in range(round(seconds / step))])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("peakedness", [1.0, 3.3])
def test_significant_height_is_four_standard_deviations(seed, peakedness):
    waves = sea(wave_seed=seed, wave_peakedness=peakedness)
    elevation = record(waves, 2000.0)[:, ELEVATION]
    # Independent components: the variance over 400 peak periods scatters by 1 / sqrt(400), the height by half of that.
    assert 4.0 * np.std(elevation) == pytest.approx(HEIGHT, rel=0.08)
    assert np.mean(elevation) == pytest.approx(0.0, abs=0.01 * HEIGHT)
    # The components themselves have exactly that energy.
    assert 4.0 * math.sqrt(0.5 * np.sum(waves.components[:, 2] ** 2)) == pytest.approx(HEIGHT, rel=1e-12)


@pytest.mark.parametrize("peakedness", [1.0, 3.3])
def test_energy_by_frequency_follows_the_spectrum(peakedness):
    step, elevations = 0.25, []
    for seed in range(8):
        elevations.append(record(sea(wave_seed=seed, wave_peakedness=peakedness), 512.0, step)[:, ELEVATION])
    power = np.mean([np.abs(np.fft.rfft(one)) ** 2 for one in elevations], axis=0)
    omega = 2.0 * math.pi * np.fft.rfftfreq(len(elevations[0]), step)
    fine = PEAK * np.linspace(0.3, 5.0, 20001)
    density = spectrum(fine, PEAK, peakedness)
    for low, high in [(0.3, 0.85), (0.85, 1.15), (1.15, 1.6), (1.6, 5.0)]:
        found = power[(omega >= low * PEAK) & (omega < high * PEAK)].sum() / power.sum()
        exact = density[(fine >= low * PEAK) & (fine < high * PEAK)].sum() / density.sum()
        # Of 8 x 40 components of equal energy, one or two of each seed fall on the other side of a limit.
        assert found == pytest.approx(exact, abs=0.03)
    smooth = np.convolve(power, np.ones(25) / 25.0, mode="same")
    assert omega[np.argmax(smooth)] == pytest.approx(PEAK, rel=0.1)
    assert fine[np.argmax(density)] == pytest.approx(PEAK, rel=1e-3)


def test_jonswap_peak_is_higher_than_that_of_pierson_and_moskowitz_by_the_peakedness():
    at_peak = np.array([PEAK])
    assert spectrum(at_peak, PEAK, 3.3)[0] / spectrum(at_peak, PEAK, 1.0)[0] == pytest.approx(3.3, rel=1e-12)
    # Pierson and Moskowitz over all frequencies: the integral of x^-5 exp(-5/4 x^-4) is 1/5.
    grid = PEAK * np.linspace(0.2, 60.0, 200_001)
    assert np.trapezoid(spectrum(grid, PEAK, 1.0), grid / PEAK) == pytest.approx(0.2, rel=1e-5)


def test_orbital_velocity_decays_exponentially_with_depth():
    waves = regular()
    omega, wavenumber, amplitude, _ = waves.components[0]
    assert wavenumber == pytest.approx(omega**2 / GRAVITY, rel=1e-12)
    for depth in (0.0, 1.0, 5.0, 20.0):
        for time_s in (0.0, 1.3):
            found = at(waves, (2.0, 3.0, depth), time_s)
            speed = np.linalg.norm(found[ORBITAL_VELOCITY:ORBITAL_ACCELERATION])
            assert speed == pytest.approx(amplitude * omega * math.exp(-wavenumber * depth), rel=1e-12)


def test_sea_is_a_solution_of_the_linear_wave_equations():
    waves = sea(wave_direction=30.0)
    place, time_s, step = np.array([3.0, -2.0, 1.5]), 7.3, 1e-4
    here = at(waves, place, time_s)

    def difference(axis, position=place):
        if axis == 3:
            return (at(waves, position, time_s + step) - at(waves, position, time_s - step)) / (2.0 * step)
        shift = step * np.eye(3)[axis]
        return (at(waves, position + shift, time_s) - at(waves, position - shift, time_s)) / (2.0 * step)

    by_place = np.array([difference(axis) for axis in range(3)])
    velocity = by_place[:, ORBITAL_VELOCITY:ORBITAL_ACCELERATION]
    # Errors of central differences: (step times the largest frequency, 6 rad/s, or wavenumber)^2 / 6 and rounding.
    assert np.trace(velocity) == pytest.approx(0.0, abs=1e-8)
    assert velocity == pytest.approx(velocity.T, abs=1e-8)
    acceleration = here[ORBITAL_ACCELERATION:HEAD]
    assert difference(3)[ORBITAL_VELOCITY:ORBITAL_ACCELERATION] == pytest.approx(acceleration, abs=1e-6)
    # Euler's equation: the dynamic pressure accelerates the water.
    assert -GRAVITY * by_place[:, HEAD] == pytest.approx(acceleration, abs=1e-6)
    surface = np.array([3.0, -2.0, 0.0])
    top = at(waves, surface, time_s)
    assert difference(3, surface)[ELEVATION] == pytest.approx(-top[ORBITAL_VELOCITY + 2], abs=1e-6)
    slopes = [difference(axis, surface)[ELEVATION] for axis in range(2)]
    assert slopes == pytest.approx(top[SLOPE : SLOPE + 2], abs=1e-6)
    assert top[HEAD] == pytest.approx(top[ELEVATION], rel=1e-12)


def test_waves_travel_toward_their_direction():
    waves = regular(wave_direction=90.0)
    omega, wavenumber, _, _ = waves.components[0]
    start = at(waves, (0.0, 0.0, 0.0), 0.0)[ELEVATION]
    assert at(waves, (5.0, omega / wavenumber * 2.0, 0.0), 2.0)[ELEVATION] == pytest.approx(start, rel=1e-9)


def test_same_seed_gives_the_same_sea_and_another_seed_another_one():
    one, same, other = (at(sea(wave_seed=seed), (1.0, 2.0, 0.0), 3.0) for seed in (5, 5, 6))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_calm_sea_does_not_move_and_air_does_not_move_with_waves():
    assert not np.any(at(Waves(WAVE_PARAMETERS.defaults()), (0.0, 0.0, 0.0), 1.0))
    in_air = at(sea(reach=0.0), (0.0, 0.0, -2.0), 1.0)
    assert not np.any(in_air[ORBITAL_VELOCITY:])
    assert in_air[ELEVATION] != 0.0


def test_waves_without_gravity_are_refused():
    with pytest.raises(ParameterError, match="wave_height"):
        sea(gravity=0.0)


def test_floating_box_follows_long_waves():
    period, height = 8.0, 0.4
    damping = [20.0] * 3 + [0.2] * 3
    vehicle = Underwater(
        net_buoyancy=net_buoyancy(2.0 * VOLUME),
        centre_of_buoyancy=[0.0, 0.0, -0.01],
        added_mass=[0.5, 0.5, 2.0, 0.0, 0.0, 0.0],
        linear_damping=damping,
        wave_height=height,
        wave_period=period,
        wave_components=1,
    )
    vehicle.body.set_truth(state(0.01))
    vehicle.run(30.0)
    heights, surface, pitch, slope = [], [], [], []
    for _ in range(round(3.0 * period / DT)):
        vehicle.step()
        sea_here = vehicle.forces.waves.sea
        heights.append(vehicle.body.truth[2])
        surface.append(sea_here[ELEVATION])
        pitch.append(euler_from_quaternion(*vehicle.body.truth[3:7])[1])
        slope.append(sea_here[SLOPE])
    assert np.std(surface) == pytest.approx(0.25 * height, rel=0.02)
    # Its heave period is 0.5 s, and waves of 8 s are 200 times as long as the box: it rides on the surface.
    assert np.std(heights) / np.std(surface) == pytest.approx(1.0, abs=0.01)
    assert np.corrcoef(heights, surface)[0, 1] < -0.999
    # The bow, in the direction of travel, rises with the surface.
    assert np.std(pitch) / np.std(slope) == pytest.approx(1.0, abs=0.05)
    assert np.corrcoef(pitch, slope)[0, 1] > 0.99


@pytest.mark.parametrize("damping", [0.0, 5.0])
@pytest.mark.parametrize("added", [0.0, 3.0])
def test_submerged_neutral_body_moves_as_the_water_in_its_place_would(added, damping):
    vehicle = Underwater(
        added_mass=[added] * 3 + [0.0] * 3,
        linear_damping=[damping] * 3 + [0.0] * 3,
        wave_height=0.02,
        wave_period=PERIOD,
        wave_components=1,
    )
    depth = 1.0
    omega, wavenumber, amplitude, _ = vehicle.forces.waves.components[0]
    vehicle.forces.waves.move_to(state(depth), 0.0)
    vehicle.body.set_truth(state(depth, velocity=vehicle.forces.waves.velocity_ned.copy()))
    path = []
    for _ in range(round(2.0 * math.pi / omega / DT)):
        vehicle.step()
        path.append(vehicle.body.truth[:3].copy())
    # Deep water: circles with the amplitude of the wave at that depth, but for drift of second order, k a^2 a turn.
    radius = amplitude * math.exp(-wavenumber * depth)
    assert np.ptp(path, axis=0)[[0, 2]] == pytest.approx(2.0 * radius, rel=0.1)
    assert vehicle.velocity_ned == pytest.approx(vehicle.forces.waves.velocity_ned, abs=0.05 * radius * omega)


def test_waves_move_the_waterline_and_the_propeller():
    vehicle = Underwater(wave_height=2.0, wave_period=20.0, wave_components=1, thruster_diameter=0.02)
    waves = vehicle.forces.waves
    crest = (2.0 * math.pi - waves.components[0, 3]) / waves.components[0, 0]
    pulses = np.full(14, 2000.0)
    for time_s, share in ((crest, 1.0), (crest + math.pi / waves.components[0, 0], 0.0)):
        waves.move_to(state(0.0), time_s)
        assert abs(waves.sea[ELEVATION]) == pytest.approx(2.0 / math.sqrt(8.0), rel=1e-9)
        wrench = vehicle.forces.update(state(0.0), np.zeros(3), pulses, DT)
        assert wrench[0] == pytest.approx(10.0 * share, abs=1e-9)
        lighter = 1.0 - waves.sea[ORBITAL_ACCELERATION + 2] / GRAVITY
        assert wrench[2] == pytest.approx(-share * MASS * GRAVITY * lighter, rel=1e-9, abs=1e-9)
