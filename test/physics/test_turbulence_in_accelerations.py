"""Turbulence in the accelerations: their spectrum does not depend on the step or on the hold of the wrench."""

from functools import cache

import numpy as np
import pytest
from scipy import signal

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind
from rosflight_py_sim.resources import share_directory
from rosflight_py_sim.vehicles import vehicle

HOLDS = ("zero_order", "first_order", "second_order")
RATE_HZ, FINE_HZ = 400, 1600
DURATION_S = 40.0
BANDS_HZ = ((30.0, 60.0), (60.0, 100.0), (100.0, 120.0), (120.0, 160.0), (160.0, 200.0))


@cache
def air():
    """Wind (n, 3) and its rotation (n, 3) of config/wind.yaml at a point near the ground, at FINE_HZ."""
    arguments = ["--ros-args", "--params-file", str(share_directory() / "config" / "wind.yaml")]
    wind = Wind(given_values(WIND_PARAMETERS, arguments, "dynamics", "", "none"), np.random.default_rng(0))
    still = np.zeros(19)
    still[3] = 1.0
    rows = []
    for k in range(round(DURATION_S * FINE_HZ)):
        wind.step(still, 1.0 / FINE_HZ if k else 0.0)
        rows.append([*wind.wind_ned, *wind.rates_body])
    return np.array(rows)


@cache
def accelerations(name, hold, rate_hz, parked):
    """Accelerations (n, 3) in the wind; one in flight is held level and at its speed by a moving reference frame."""
    arguments = ["--ros-args", "--params-file", str(vehicle(name).parameter_file)]
    dynamics = given_values(DYNAMICS_PARAMETERS, arguments, "dynamics", "", "none")
    body = VehicleDynamics({**dynamics, "wrench_hold": hold, "ground_contact": parked})
    pwm_us = np.full(14, 1000.0)
    if name == "multirotor":
        forces = Multirotor(given_values(MULTIROTOR_PARAMETERS, arguments, "forces_and_moments", "", "none"))
    else:
        forces = FixedWing(given_values(FIXEDWING_PARAMETERS, arguments, "forces_and_moments", "", "none"))
        pwm_us[:3] = 1500.0
    flying = body.truth.copy()
    if not parked:
        flying[2], flying[7], pwm_us[:5] = -60.0, 5.0 if name == "multirotor" else 20.0, 1500.0
        flying[3:7] = 1.0, 0.0, 0.0, 0.0
    dt, rows = 1.0 / rate_hz, []
    for k, (*wind, p, q, r) in enumerate(air()[:: FINE_HZ // rate_hz]):
        # The vehicle in flight cannot drift: its speed and attitude stay those of the start.
        state = body.truth if parked else flying
        wrench = forces.update(state, np.array(wind), pwm_us, dt if k else 0.0, np.array([p, q, r]))
        body.step(wrench, dt)
        rows.append(body.truth[13:16].copy())
        if not parked:
            body.truth[:13] = flying[:13]
    return np.array(rows)


def spectrum(name, hold, rate_hz, parked):
    """Mean density of the vertical acceleration in each of BANDS_HZ, after the first two seconds."""
    vertical = accelerations(name, hold, rate_hz, parked)[2 * rate_hz :, 2]
    frequencies, density = signal.welch(vertical, rate_hz, nperseg=rate_hz)
    return np.array([density[(frequencies >= low) & (frequencies < high)].mean() for low, high in BANDS_HZ])


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("name", ["anaconda", "multirotor"])
def test_flying_vehicle_has_the_spectrum_of_a_fine_step(name, hold):
    ratio = spectrum(name, hold, RATE_HZ, parked=False) / spectrum(name, "zero_order", FINE_HZ, parked=False)
    assert ratio.max() < 1.2
    assert ratio.min() > 1.0 / 1.2


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("name", ["anaconda", "aerosonde", "multirotor"])
def test_parked_vehicle_has_no_more_than_the_spectrum_of_a_fine_step(name, hold):
    ratio = spectrum(name, hold, RATE_HZ, parked=True) / spectrum(name, "zero_order", FINE_HZ, parked=True)
    assert ratio.max() < 1.2


def spread(name, hold, rate_hz):
    """Median over windows of 2.5 s of the norm of the axes' spreads, which limits a calibration."""
    rows, window = accelerations(name, hold, rate_hz, parked=True), round(2.5 * rate_hz)
    starts = range(rate_hz, len(rows) - window + 1, window)
    return np.median([np.linalg.norm(np.ptp(rows[k : k + window], axis=0)) for k in starts])


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_parked_aircraft_spreads_as_with_a_fine_step(name, hold):
    assert spread(name, hold, RATE_HZ) == pytest.approx(spread(name, "zero_order", FINE_HZ), rel=0.15)
