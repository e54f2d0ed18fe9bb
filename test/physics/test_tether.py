"""The tether: its tension, weight and drag against closed forms, and a vehicle on it."""

import math

import numpy as np
import pytest
from underwater import DT, MASS, Underwater, commands, state

from rosflight_py_sim.physics.rotations import quaternion_from_euler
from rosflight_py_sim.physics.tether import mean_tension

DEEP, LENGTH, STIFFNESS = 10.0, 20.0, 5000.0
DENSITY, DIAMETER, COEFFICIENT = 1000.0, 0.01, 1.2
DRAG = 0.5 * DENSITY * DIAMETER * COEFFICIENT
STILL = np.zeros(3)


def tethered(**values):
    """A neutral vehicle that only the tether moves, on a neutral cable from above the origin."""
    return Underwater(
        **{
            "water_density": DENSITY,
            "tether_length": LENGTH,
            "tether_anchor": [0.0, 0.0, DEEP],
            "tether_diameter": DIAMETER,
            "tether_drag_coefficient": COEFFICIENT,
            "tether_stiffness": STIFFNESS,
            "tether_damping_time": 0.0,
            **values,
        }
    )


def force(vehicle, truth, current=STILL):
    """Wrench of the tether alone: body axes are north, east, down."""
    wrench = vehicle.forces.update(truth, np.array(current), commands(), DT).copy()
    wrench[2] += MASS * 9.81
    return wrench


def at(north, down=DEEP, **motion):
    return state(down, north=north, **motion)


def test_vehicle_without_a_tether_feels_none():
    free = Underwater(tether_stiffness=STIFFNESS, tether_weight=3.0)
    assert force(free, at(100.0), (1.0, 1.0, 0.0)) == pytest.approx(np.zeros(6), abs=1e-12)


def test_slack_neutral_cable_in_still_water_does_not_pull():
    assert force(tethered(), at(0.9 * LENGTH)) == pytest.approx(np.zeros(6), abs=1e-12)


def test_stretched_cable_pulls_toward_the_anchor_by_its_stiffness():
    found = force(tethered(), at(1.1 * LENGTH))
    assert found == pytest.approx([-0.1 * STIFFNESS, 0.0, 0.0, 0.0, 0.0, 0.0], abs=1e-9)


def test_cable_dampens_its_stretching():
    vehicle = tethered(tether_damping_time=0.01, tether_drag_coefficient=0.0)
    pulls = [-force(vehicle, at(1.1 * LENGTH, velocity=(speed, 0.0, 0.0)))[0] for speed in (-2.0, 0.0, 2.0)]
    assert np.diff(pulls) == pytest.approx([STIFFNESS * 0.01 * 2.0 / LENGTH] * 2, rel=1e-9)


def test_force_at_the_attachment_turns_the_vehicle():
    vehicle = tethered(tether_attachment=[-0.2, 0.0, -0.1])
    attitude = quaternion_from_euler(0.0, 0.0, 0.0)
    found = force(vehicle, state(DEEP + 0.1, attitude, north=1.1 * LENGTH + 0.2))
    assert found[:3] == pytest.approx([-0.1 * STIFFNESS, 0.0, 0.0], abs=1e-9)
    assert found[3:] == pytest.approx(np.cross([-0.2, 0.0, -0.1], found[:3]), abs=1e-9)


def test_tension_solves_the_cables_equation_and_rises_smoothly():
    rng = np.random.default_rng(1)
    for _ in range(300):
        chord, load = rng.uniform(0.1, 40.0), 10.0 ** rng.uniform(-6, 3)
        length, stiffness = rng.uniform(0.1, 40.0), 10.0 ** rng.uniform(2, 7)
        tension = mean_tension(chord - length, chord, load, length, stiffness)
        assert tension > 0.0
        parabola = chord * (1.0 + (load * chord / tension) ** 2 / 24.0)
        assert length * (1.0 + tension / stiffness) == pytest.approx(parabola, rel=1e-9)
    chords = np.linspace(0.9, 1.1, 2001) * LENGTH
    tensions = [mean_tension(chord - LENGTH, chord, 2.0, LENGTH, STIFFNESS) for chord in chords]
    slopes = np.diff(tensions) / np.diff(chords)
    # From the slack cable's to EA / L, without a step.
    assert np.all(slopes > 0.0)
    assert slopes[-1] == pytest.approx(STIFFNESS / LENGTH, rel=0.01)
    assert np.max(np.abs(np.diff(slopes))) < 0.02 * STIFFNESS / LENGTH


@pytest.mark.parametrize("slack", [0.002, 0.01, 0.05])
def test_shallow_hanging_cable_pulls_like_a_catenary(slack):
    weight, span = 2.0, LENGTH / (1.0 + slack)
    found = force(tethered(tether_weight=weight, tether_stiffness=1e9), at(span))
    # Inextensible catenary between ends of equal height: L = 2 T / w sinh(w D / 2 T).
    low, high = 0.1, 1e4
    for _ in range(200):
        middle = math.sqrt(low * high)
        longer = 2.0 * middle / weight * math.sinh(min(700.0, weight * span / (2.0 * middle))) > LENGTH
        low, high = (middle, high) if longer else (low, middle)
    # The parabola differs by terms of the order of the slack.
    assert -found[0] == pytest.approx(low, rel=slack)
    assert found[2] == pytest.approx(0.5 * weight * LENGTH, rel=1e-12)


def test_each_end_carries_half_of_the_drag_in_a_current():
    vehicle = tethered(tether_anchor=[0.0, 0.0, 0.0])
    found = force(vehicle, at(0.0, LENGTH), (0.5, 0.0, 0.0))
    assert found[0] == pytest.approx(0.5 * DRAG * LENGTH * 0.5**2, rel=1e-12)
    # Along the cable there is no drag.
    assert force(vehicle, at(0.0, 0.9 * LENGTH), (0.0, 0.0, 0.5)) == pytest.approx(np.zeros(6), abs=1e-12)


def test_vehicle_that_swings_the_cable_feels_the_drag_of_its_own_end_most():
    vehicle = tethered(tether_anchor=[0.0, 0.0, 0.0])
    found = force(vehicle, at(0.0, 0.999 * LENGTH, velocity=(0.8, 0.0, 0.0)))
    # The integral of x/L (v x/L)^2 over the cable: a quarter.
    assert found[0] == pytest.approx(-0.25 * DRAG * LENGTH * 0.8**2, rel=1e-12)


def test_drifting_vehicle_stops_where_tension_and_drag_balance():
    damping = 15.0
    vehicle = tethered(
        linear_damping=[damping] * 3 + [1.0] * 3, tether_damping_time=0.01, added_mass=[2.0] * 3 + [0.1] * 3
    )
    vehicle.body.set_truth(at(5.0))
    vehicle.current_ned[:] = 0.4, 0.0, 0.0
    vehicle.run(300.0)
    assert np.max(np.abs(vehicle.body.truth[7:13])) < 1e-4
    # Along the current the cable has no drag.
    tension = damping * 0.4
    assert vehicle.body.truth[0] == pytest.approx(LENGTH * (1.0 + tension / STIFFNESS), abs=1e-3)


def test_stiff_tether_stops_a_fast_vehicle_without_gaining_energy():
    vehicle = tethered(tether_damping_time=0.01, tether_drag_coefficient=0.0, tether_stiffness=1e5)
    vehicle.body.set_truth(at(0.99 * LENGTH, velocity=(2.0, 0.0, 0.0)))
    fastest = 0.0
    for _ in range(round(20.0 / DT)):
        vehicle.step()
        fastest = max(fastest, abs(vehicle.body.truth[7]))
    assert fastest == pytest.approx(2.0, rel=1e-3)
    assert vehicle.body.truth[0] < LENGTH
