"""Trim of the package compared with the book's equations, implemented independently, and the authors' numbers."""

import math
from pathlib import Path

import book_equations as book
import numpy as np
import pytest
import yaml
from aircraft import ALTITUDE, AS_THE_BOOK, CRUISE, NAMES, Aircraft

from rosflight_py_sim.physics.linearisation import linearise
from rosflight_py_sim.physics.trim import FlightCondition, trim

CONDITIONS = {
    "level": (0.0, math.inf),
    "climb": (math.radians(3.0), math.inf),
    "right turn": (0.0, 150.0),
    "climbing left turn": (math.radians(2.0), -200.0),
}

RECORDED = yaml.safe_load(Path(__file__).with_name("mavsim_aerosonde.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("climb", "radius"), CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("name", NAMES)
def test_trim_satisfies_textbook_equations(name: str, climb: float, radius: float) -> None:
    aircraft = Aircraft(name, **AS_THE_BOOK)
    found = trim(aircraft.model, FlightCondition(CRUISE[name], climb, radius, ALTITUDE))
    expected = book.trim(aircraft.parameters, CRUISE[name], climb, radius)
    # Past the stall's blend (1e-9 here) both solve the same equations; Newton's method stops at 1e-12.
    assert found.alpha == pytest.approx(expected.alpha, abs=1e-8)
    assert found.beta == pytest.approx(expected.beta, abs=1e-8)
    assert found.euler[:2] == pytest.approx([expected.phi, expected.theta], abs=1e-8)
    inputs = [expected.aileron, expected.elevator, expected.rudder, expected.throttle]
    assert found.inputs == pytest.approx(inputs, abs=1e-8)


@pytest.mark.parametrize("parameter", RECORDED["parameters"])
def test_aerosonde_has_the_parameters_of_the_textbook_authors(parameter: str) -> None:
    # ROSflight's file, and ours, round KQ to four digits.
    expected = pytest.approx(RECORDED["parameters"][parameter], rel=5e-5)
    assert Aircraft("aerosonde").parameters[parameter] == expected


def test_other_coefficients_of_the_aerosonde_are_zero() -> None:
    shipped = Aircraft("aerosonde").parameters
    further = {name: value for name, value in shipped.items() if name.startswith("C_")}.keys() - RECORDED["parameters"]
    assert {name: shipped[name] for name in further} == dict.fromkeys(further, 0.0)


def test_aerosonde_trim_matches_textbook_authors() -> None:
    aircraft = Aircraft("aerosonde", **AS_THE_BOOK, **RECORDED["drag"])
    found = trim(aircraft.model, FlightCondition(25.0, altitude=100.0))
    # Their minimiser's residual, 0.01 m/s^2 and 3e-4 rad/s^2, over the derivatives by w (4.5), elevator (36), aileron
    # (131), rudder (25) and throttle (8).
    assert found.truth[7:10] == pytest.approx(RECORDED["velocity"], abs=3.5e-3)
    assert found.inputs[1] == pytest.approx(RECORDED["elevator"], abs=4e-4)
    assert found.inputs[0] == pytest.approx(RECORDED["aileron"], abs=1e-4)
    assert found.inputs[2] == pytest.approx(RECORDED["rudder"], abs=1.5e-4)
    assert found.inputs[3] == pytest.approx(RECORDED["throttle"], abs=2e-4)


@pytest.mark.parametrize("block", ["longitudinal", "lateral"])
def test_aerosonde_linear_models_match_textbook_authors(block: str) -> None:
    aircraft = Aircraft("aerosonde", **AS_THE_BOOK, **RECORDED["drag"])
    found = trim(aircraft.model, FlightCondition(25.0, altitude=100.0))
    a, _ = linearise(aircraft.model, found).__getattribute__(block)
    # Their differences are one-sided with steps of 0.01: 0.005 times the second derivatives, g sin(theta) first.
    assert a == pytest.approx(np.array(RECORDED[block]), rel=3e-3, abs=0.05)
    ours, theirs = (
        np.sort_complex(np.linalg.eigvals(m)[np.abs(np.linalg.eigvals(m)) > 0.3]) for m in (a, RECORDED[block])
    )
    # Both phugoids, dutch rolls and so on, within the effect of those steps.
    assert ours == pytest.approx(theirs, rel=0.02)


def test_lateral_modes_of_the_shipped_aerosonde_are_those_of_the_textbook_authors() -> None:
    # With the shipped drag, which turns 0.00015 rad of trim; measured 0.1 %.
    aircraft = Aircraft("aerosonde", **AS_THE_BOOK)
    found = trim(aircraft.model, FlightCondition(25.0, altitude=100.0))
    modes = {mode.name: mode.eigenvalue for mode in linearise(aircraft.model, found).modes}
    theirs = np.linalg.eigvals(np.array(RECORDED["lateral"]))
    dutch_roll, roll = (theirs[np.argmax(part)] for part in (theirs.imag, -theirs.real))
    assert dutch_roll == pytest.approx(-1.1405 + 4.6551j, abs=1e-4)
    assert roll == pytest.approx(-22.44, abs=0.01)
    assert modes["dutch roll"] == pytest.approx(dutch_roll, rel=1e-3)
    assert modes["roll"] == pytest.approx(roll, rel=1e-3)
