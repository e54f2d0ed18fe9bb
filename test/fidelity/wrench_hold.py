"""Effect of the wrench's hold over a step at the graph's 400 Hz: a subject of the fidelity page.

The wrench is a function of the state at the start of the step. Held (zero order), it acts half a step late;
extrapolated from the last two (first order), its error is of second order in the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from aircraft import ALTITUDE, CRUISE, NAMES, Aircraft
from comparison import Comparison
from matplotlib.figure import Figure
from mode_identification import GRAPH, SeenMode, seen_modes

from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.trim import FlightCondition
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN, GREY

TITLE = "wrench over a step"

HOLDS = ("zero_order", "first_order", "second_order")
COLOURS = {"zero_order": AMBER, "first_order": BLUE, "second_order": GREEN}

# Without the effects missing in the linear model: the motor's lag and the decrease of density with height.
AS_THE_LINEAR_MODEL = {"motor_time_constant": 0.0, "use_standard_atmosphere": False, "rho": 1.2}

DURATION_S = 100.0

Array = np.ndarray


@cache
def modes(name: str, hold: str) -> dict[str, SeenMode]:
    """Modes of a fixed wing at 400 Hz, by name."""
    aircraft, condition = flying(name, hold), FlightCondition(CRUISE[name], altitude=ALTITUDE)
    return {one.mode.name: one for one in seen_modes(aircraft, condition, GRAPH, like=flying(name, HOLDS[0]))}


@cache
def flying(name: str, hold: str) -> Aircraft:
    """A fixed wing with the effects of the linear model only; the hold has no part in its steady model."""
    return Aircraft(name, wrench_hold=hold, **AS_THE_LINEAR_MODEL)


def body(hold: str, **given: object) -> VehicleDynamics:
    """A body of 1 kg and 1 kg m^2 about each axis, weightless and far from the ground."""
    own = {"mass": 1.0, "Jxx": 1.0, "Jyy": 1.0, "Jzz": 1.0, "gravity": 0.0, "ground_contact": False}
    return VehicleDynamics(DYNAMICS_PARAMETERS.checked({**own, "wrench_hold": hold, **given}))


def energies(hold: str, position: Array, velocity: Array, stiffness: Array) -> Array:
    """Energy over that at the start, each second, of 1 kg on a spring of stiffness (3,), N/m, to the origin."""
    moving = body(hold)
    moving.truth[:3], moving.truth[7:10] = position, velocity
    moving.set_truth(moving.truth)
    wrench, rows = np.zeros(6), []
    for k in range(round(DURATION_S / GRAPH) + 1):
        place, speed = moving.truth[:3], moving.truth[7:10]
        if k % round(1.0 / GRAPH) == 0:
            rows.append(0.5 * speed @ speed + 0.5 * stiffness @ place**2)
        wrench[:3] = -stiffness * place
        moving.step(wrench, GRAPH)
    return np.array(rows) / rows[0]


@cache
def orbit(hold: str) -> Array:
    """Energy of a circular motion at 1 rad/s, whose force vector rotates."""
    return energies(hold, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.ones(3))


@cache
def heave(hold: str) -> Array:
    """Energy of an undamped heave motion at 2.4 rad/s, as of a small AUV at the surface."""
    return energies(hold, np.array([0.0, 0.0, 0.01]), np.zeros(3), np.array([0.0, 0.0, 2.4**2]))


ENERGIES: dict[str, Callable[[str], Array]] = {
    "energy of a circular motion at 1 rad/s": orbit,
    "energy of an undamped heave at 2.4 rad/s": heave,
}


def comparisons() -> Iterator[Comparison]:
    """Modes of the fixed wings, and energies after 100 s, for every hold."""
    for name in NAMES:
        for mode in ("roll", "short period", "dutch roll"):
            for hold in HOLDS:
                one = modes(name, hold)[mode]
                yield Comparison(
                    f"{name}, {mode}, {hold} (1/s)",
                    _text(one.seen),
                    f"{_text(one.mode.eigenvalue)} (linear model)",
                    f"{100.0 * one.error:.2f} %",
                )
    for quantity, energy in ENERGIES.items():
        for hold in HOLDS:
            last = float(energy(hold)[-1])
            yield Comparison(f"{quantity}, 100 s, {hold}", f"{last:.5f}", "1 (conserved)", f"{100 * (last - 1):.2g} %")


def _text(eigenvalue: complex) -> str:
    return f"{eigenvalue.real:.3f}" + (f" ± {eigenvalue.imag:.3f}i" if eigenvalue.imag else "")


def draw(figure: Figure) -> None:
    """Errors of the modes above, energies below."""
    grid = figure.add_gridspec(2, 2, left=0.06, right=0.98, top=0.9, bottom=0.07, hspace=0.28, wspace=0.18)
    for column, name in enumerate(NAMES):
        axes = figure.add_subplot(grid[0, column])
        names = list(modes(name, HOLDS[0]))
        for k, hold in enumerate(HOLDS):
            places = np.arange(len(names)) + 0.25 * (k - 1)
            errors = [100.0 * modes(name, hold)[mode].error for mode in names]
            axes.bar(places, errors, 0.25, color=COLOURS[hold], label=hold)
        axes.axhline(0.5, color=GREY, linestyle="--", linewidth=1.0)
        axes.set_xticks(np.arange(len(names)), names)
        axes.set_ylabel("difference (%)")
        axes.set_title(f"{name}: eigenvalues at 400 Hz, simulation and linear model")
        axes.legend()
    for column, (quantity, energy) in enumerate(ENERGIES.items()):
        axes = figure.add_subplot(grid[1, column])
        for hold in HOLDS:
            axes.plot(energy(hold), color=COLOURS[hold], label=hold)
        axes.set_xlabel("time (s)")
        axes.set_ylabel("energy over that at the start")
        axes.set_title(quantity.capitalize())
        axes.legend()
