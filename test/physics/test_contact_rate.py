"""Parameters that make contact or settling too expensive to compute are refused before any computation."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics import dynamics
from rosflight_py_sim.physics.contact_points import contact_points
from rosflight_py_sim.physics.contact_rate import LARGEST_CONTACT_RATE, fastest_contact_rate
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, SETTLING_EFFORT, VehicleDynamics

QUADROTOR = {"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12}
NARROW_SPHERES = np.random.default_rng(1).normal(0.0, 0.5, (400, 3)).ravel().tolist()

TOO_FAST: dict[str, dict[str, Any]] = {
    "one inertia": {"Jxx": 1e-6},
    "all inertia": {"Jxx": 1e-6, "Jyy": 1e-6, "Jzz": 1e-6},
    "vanishing inertia": {"Jxx": 1e-7},
    "mass": {"mass": 1e4},
    "huge mass": {"mass": 1e6},
    "stiff and damped points": {"contact_frequency": 200.0, "contact_damping_ratio": 2.0, "Jyy": 0.01},
    "far points": {"contact_points": [900.0, 0.0, 0.1, 0.0, 900.0, 0.1, -900.0, 0.0, 0.1]},
    "many points": {"contact_points": NARROW_SPHERES, "contact_frequency": 100.0},
    "added mass": {"Jxx": 1e-6, "added_mass": [1.0] * 6, "hull_size": [0.3, 0.3, 0.3]},
}


def values(**given: Any) -> dict[str, Any]:
    return DYNAMICS_PARAMETERS.checked({**QUADROTOR, **given})


def refusal(**given: Any) -> str:
    with pytest.raises(ParameterError) as refused:
        VehicleDynamics(values(**given))
    return str(refused.value)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Lengths (s) of all further steps of vehicles."""
    taken: list[float] = []
    advance = dynamics.advance

    def counted(truth: Any, wrench: Any, dt: float, *rest: Any) -> int:
        taken.append(dt)
        return advance(truth, wrench, dt, *rest)

    monkeypatch.setattr(dynamics, "advance", counted)
    return taken


@pytest.mark.parametrize("case", TOO_FAST)
def test_excessive_contact_rate_is_rejected_with_name_and_value_before_any_step(steps: list[float], case: str) -> None:
    text = refusal(**TOO_FAST[case])
    for name, value in {**QUADROTOR, **TOO_FAST[case]}.items():
        if isinstance(value, float) and name != "hull_size":
            assert f"{name} {value:g}" in text
    assert f"allowed: at most {LARGEST_CONTACT_RATE:g}, for instance with " in text
    assert steps == []


def test_contact_error_suggests_sufficient_inertia_mass_and_stiffness() -> None:
    assert "Jxx at least 0.000616 kg m^2" in refusal(Jxx=1e-6)
    assert "mass at most 426 kg, or contact_frequency at most 8.52 Hz" in refusal(mass=1000.0)
    assert "every element of the inertia matrix at least 986 times" in refusal(Jxx=1e-6, Jyy=1e-6, Jzz=1e-6)


@pytest.mark.parametrize("case", TOO_FAST)
def test_suggested_values_are_accepted_and_values_beyond_are_rejected(case: str) -> None:
    given = {**TOO_FAST[case], "starts_on_ground": False, "initial_altitude": 2000.0}
    suggested = re.findall(r"(\w+) at (least|most) ([0-9.e+-]+)", refusal(**given).partition("for instance")[2])
    for name, bound, text in suggested:
        if name in DYNAMICS_PARAMETERS:
            VehicleDynamics(values(**{**given, name: float(text)}))
            # The message gives three digits.
            refusal(**{**given, name: float(text) * (0.985 if bound == "least" else 1.015)})


def test_contact_rate_matches_four_bouncing_points() -> None:
    # Points at the height of the centre of mass: the bounce along z and the rotations do not mix.
    corners = [0.2, 0.2, 0.0, 0.2, -0.2, 0.0, -0.2, 0.2, 0.0, -0.2, -0.2, 0.0]
    given = values(contact_points=corners, Jxx=1e3, Jyy=1e3, Jzz=1e3, contact_damping_ratio=0.1)
    assert fastest_contact_rate(given) == pytest.approx(2.0 * math.pi * 20.0, rel=1e-12)
    # Rolling, two pairs of springs at 0.2 m: lambda = k_all 0.2^2 / Jxx.
    turning = {**given, "Jxx": 0.01}
    stiffness = 3.5 * (2.0 * math.pi * 20.0) ** 2
    expected = math.sqrt(stiffness * 0.04 / 0.01)
    assert fastest_contact_rate(turning) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "given",
    [
        {"contact_damping_ratio": 0.0},
        {"contact_damping_ratio": 0.0, "Jxx": 1e-3},
        {"contact_damping_ratio": 0.0, "contact_frequency": 1.0, "contact_points": NARROW_SPHERES},
        {"contact_points": [1e-9, 0.0, 0.1, -1e-9, 0.0, 0.1, 0.0, 1e-9, 0.1]},
    ],
    ids=["undamped", "undamped and stiff", "undamped and many", "needle"],
)
def test_vehicle_that_never_settles_is_rejected_after_bounded_effort(steps: list[float], given: dict[str, Any]) -> None:
    text = refusal(**given)
    assert "the vehicle does not come to rest on the ground within" in text
    assert f"contact_damping_ratio {given.get('contact_damping_ratio', 0.7):g}" in text
    assert "allowed: contact_points on which the vehicle is stable" in text
    full = values(**given)
    points = contact_points(full)
    substeps = math.ceil(0.005 * fastest_contact_rate(full))
    assert len(points) * substeps * len(steps) <= SETTLING_EFFORT


@pytest.mark.parametrize("altitude", [-400.0, 8848.0, 1e5])
def test_vehicle_settles_on_ground_far_above_or_below_origin(altitude: float) -> None:
    body = VehicleDynamics(values(ground_altitude=altitude))
    # Settling ends when the motion is lost in the rounding of the position, which the stiffest mode magnifies.
    sunk = 0.1 + body.truth[2] + altitude
    assert sunk == pytest.approx(9.81 / (2.0 * math.pi * 20.0) ** 2, abs=200.0 * np.spacing(abs(altitude)))


def test_singular_inertia_is_rejected_even_without_ground_contact() -> None:
    # The table refuses such a number, too; a program may leave its check out.
    with pytest.raises(ParameterError, match="Jxx 1e-310 kg m"):
        VehicleDynamics({**values(ground_contact=False), "Jxx": 1e-310})


def test_parameter_change_yielding_non_finite_state_is_rejected_and_vehicle_kept() -> None:
    body = VehicleDynamics(values(starts_on_ground=False, initial_altitude=10.0))
    wrench = np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0])
    body.step(wrench, 0.0025)
    light = VehicleDynamics({**values(starts_on_ground=False, ground_contact=False), "mass": 5e-324})
    before = body.truth.copy()
    with pytest.raises(ParameterError, match=r"mass 4\.94066e-324 kg"):
        light.adopt(body)
    assert np.array_equal(body.truth, before)
    body.step(wrench, 0.0025)
    assert body.truth[9] == pytest.approx(before[9] + (9.81 - 10.0 / 3.5) * 0.0025, rel=1e-12)
