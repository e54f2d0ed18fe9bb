"""Fidelity of underwater bodies: added mass, buoyancy and damping, as a subject of the fidelity page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from comparison import Comparison
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_body
from rosflight_py_sim.viewer.picture_page import BLUE, GREEN, ORANGE

Array = NDArray[np.float64]

TITLE = "underwater bodies"

STEP_S = 0.0025
MASS, VOLUME, SIZE = 2.0, 0.004, (0.5, 0.2, 0.1)
DENSITY, GRAVITY = 1000.0, 9.81
INERTIA = np.array([[0.02, 0.003, -0.004], [0.003, 0.03, 0.002], [-0.004, 0.002, 0.04]])
_FACTOR = np.random.default_rng(1).normal(size=(6, 6)) * np.sqrt([1.0, 4.0, 8.0, 0.05, 0.02, 0.1])[:, None] / 2.0
ADDED = _FACTOR @ _FACTOR.T
CURRENT = np.array([0.3, -0.2, 0.1])

_VALUES: dict[str, Any] = {
    "mass": MASS,
    "gravity": GRAVITY,
    "hull_size": list(SIZE),
    "ground_contact": False,
    **{
        name: INERTIA["xyz".index(name[1]), "xyz".index(name[2])] for name in ("Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")
    },
    "linear_damping": [0.0] * 6,
    "quadratic_damping": [0.0] * 6,
    "num_thrusters": 1,
    "thruster_positions": [0.0, 0.0, 0.0],
    "thruster_directions": [1.0, 0.0, 0.0],
    "thruster_forward_thrusts": [10.0],
    "V_max": 12.0,
}


class Body:
    """A box in water, stepped as the graph steps it: the wrench is held over a step."""

    def __init__(self, **changed: Any) -> None:
        given = {**_VALUES, **changed}
        self.dynamics = VehicleDynamics(
            DYNAMICS_PARAMETERS.checked({name: given[name] for name in given if name in DYNAMICS_PARAMETERS})
        )
        self.forces = Auv(AUV_PARAMETERS.checked({name: given[name] for name in given if name in AUV_PARAMETERS}))
        self._still, self._pulses = np.zeros(3), np.full(14, 1500.0)

    @property
    def truth(self) -> Array:
        """(19,), changed in place."""
        return self.dynamics.truth

    def start(self, down: float, attitude: tuple[float, float, float] = (0.0, 0.0, 0.0), *motion: float) -> None:
        """Set depth (m), attitude (rad), and velocity and body rates (6,)."""
        truth = np.zeros(19)
        truth[2], truth[3:7] = down, quaternion_from_euler(*attitude)
        truth[7 : 7 + len(motion)] = motion
        self.dynamics.set_truth(truth)

    def run(self, seconds: float) -> Array:
        """Truth states (n, 19), one a step."""
        states = []
        for _ in range(round(seconds / STEP_S)):
            wrench = self.forces.update(self.truth, self._still, self._pulses, STEP_S)
            self.dynamics.step(wrench, STEP_S, self._still)
            states.append(self.truth.copy())
        return np.array(states)


def comparisons() -> Iterator[Comparison]:
    """Closed forms and matrix equations."""
    energy = _tumbling()[1]
    drift = float(np.max(np.abs(energy / energy[0] - 1.0)))
    yield Comparison("kinetic energy after 30 s, full added mass", "conserved", "conserved", _below(drift))
    worst = float(np.max(_acceleration_errors()))
    yield Comparison("accelerations, full added mass, any immersion", "solved", "Fossen 2011, eq. 6.43", _below(worst))
    for name, (_, _, found, exact) in (("heave", _heave()), ("roll", _roll())):
        yield Comparison(
            f"period of {name}", f"{found:.4f} s", f"{exact:.4f} s", f"{100.0 * (found / exact - 1.0):.2f} %"
        )


def draw(figure: Figure) -> None:
    """Four panels."""
    grid = figure.add_gridspec(2, 2, left=0.06, right=0.98, top=0.9, bottom=0.07, hspace=0.3, wspace=0.18)
    energy, errors, heave, roll = (figure.add_subplot(cell) for cell in grid)
    time, values = _tumbling()
    energy.plot(time, values / values[0] - 1.0, color=BLUE)
    energy.set_title("Energy of a tumbling body with full added mass")
    energy.set_xlabel("time (s)")
    energy.set_ylabel("relative change")
    errors.semilogy(np.maximum(_acceleration_errors(), 1e-17), "o", color=GREEN, markersize=3)
    errors.set_title("Accelerations against Fossen's matrix equation")
    errors.set_xlabel("state")
    errors.set_ylabel("relative difference")
    for axes, name, unit, (at, seen, found, exact) in ((heave, "Heave", "m", _heave()), (roll, "Roll", "rad", _roll())):
        axes.plot(at, seen, color=ORANGE, label=f"simulation, {found:.4f} s")
        axes.plot(
            at, seen[0] * np.cos(2.0 * math.pi * at / exact), "--", color=BLUE, label=f"closed form, {exact:.4f} s"
        )
        axes.set_title(f"{name} of a box")
        axes.set_xlabel("time (s)")
        axes.set_ylabel(unit)
        axes.legend()


def _below(error: float) -> str:
    """The power of ten above an error: rounding differs between machines."""
    return f"< 1e{math.ceil(math.log10(max(error, 1e-16)))}"


def _rigid_body() -> Array:
    mass = np.zeros((6, 6))
    mass[:3, :3], mass[3:, 3:] = MASS * np.eye(3), INERTIA
    return mass


def _tumbling() -> tuple[Array, Array]:
    """Time and kinetic energy of body and water, of a body that moves freely in still water."""
    body = Body(added_mass=ADDED.ravel().tolist(), gravity=0.0)
    body.start(100.0, (0.0, 0.0, 0.0), 0.5, 0.3, -0.2, 0.4, -0.8, 0.6)
    motion = body.run(30.0)[:, 7:13]
    energy = 0.5 * np.einsum("ki,ij,kj->k", motion, _rigid_body() + ADDED, motion)
    return STEP_S * np.arange(1, len(energy) + 1), energy


def _cross(vector: Array) -> Array:
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _coriolis(mass: Array, velocity: Array) -> Array:
    linear, angular = _cross((mass @ velocity)[:3]), _cross((mass @ velocity)[3:])
    return np.block([[np.zeros((3, 3)), -linear], [-linear, -angular]])


def _acceleration_errors() -> Array:
    """Relative differences of the accelerations in 200 states, dry to submerged, from the equation in matrix form."""
    body, rng, errors = Body(added_mass=ADDED.ravel().tolist()), np.random.default_rng(2), []
    for _ in range(200):
        heading, down, wrench = float(rng.uniform(-3.0, 3.0)), float(rng.uniform(-0.07, 0.07)), 5.0 * rng.normal(size=6)
        body.start(down, (0.0, 0.0, heading), *rng.normal(size=6))
        truth = body.truth.copy()
        # Upright, a box is immersed by its draught.
        added = float(np.interp(down, [-0.5 * SIZE[2], 0.5 * SIZE[2]], [0.0, 1.0])) * ADDED
        body.dynamics.step(wrench, 1e-12, CURRENT)
        water = np.array(rotate_to_body(*truth[3:7], *CURRENT))
        absolute, relative, rates = truth[7:13].copy(), truth[7:13].copy(), truth[10:13]
        relative[:3] -= water
        drift = np.array([*-np.cross(rates, water), 0.0, 0.0, 0.0])
        force = wrench - _rigid_body() @ drift
        force[2] += MASS * GRAVITY
        force -= _coriolis(_rigid_body(), absolute) @ absolute + _coriolis(added, relative) @ relative
        change = np.linalg.solve(_rigid_body() + added, force)
        exact = np.array([*(change[:3] + drift[:3] + np.cross(rates, absolute[:3])), *change[3:]])
        errors.append(float(np.max(np.abs(body.truth[13:19] - exact)) / np.max(np.abs(exact))))
    return np.array(errors)


def _oscillation(values: Array, exact: float) -> tuple[Array, Array, float, float]:
    """Time, values, period from the upward crossings of zero, and the exact period."""
    before = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    crossings = before - values[before] / (values[before + 1] - values[before])
    found = float((crossings[-1] - crossings[0]) / (len(crossings) - 1) * STEP_S)
    time = STEP_S * np.arange(1, len(values) + 1)
    return time, values, found, exact


def _heave() -> tuple[Array, Array, float, float]:
    """Heave of a box that floats half immersed, with half of its added mass."""
    added = 3.0
    body = Body(
        net_buoyancy=(DENSITY * VOLUME - MASS) * GRAVITY,
        added_mass=[0.0, 0.0, added, 0.0, 0.0, 0.0],
        linear_damping=[0.0] * 6,
    )
    body.start(1e-4)
    stiffness = DENSITY * GRAVITY * VOLUME / SIZE[2]
    return _oscillation(body.run(5.0)[:, 2], 2.0 * math.pi * math.sqrt((MASS + 0.5 * added) / stiffness))


def _roll() -> tuple[Array, Array, float, float]:
    """Roll of a submerged box whose centre of buoyancy is above its centre of mass."""
    added, lever = 0.05, 0.03
    body = Body(
        centre_of_buoyancy=[0.0, 0.0, -lever], added_mass=[0.0, 0.0, 0.0, added, 0.0, 0.0], Jxy=0.0, Jxz=0.0, Jyz=0.0
    )
    body.start(5.0, (1e-3, 0.0, 0.0))
    stiffness = MASS * GRAVITY * lever
    seen = 2.0 * body.run(8.0)[:, 4]
    return _oscillation(seen, 2.0 * math.pi * math.sqrt((INERTIA[0, 0] + added) / stiffness))
