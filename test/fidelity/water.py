"""Fidelity of underwater bodies: added mass, buoyancy, damping, waves and tether, as a subject of the fidelity page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from comparison import Comparison
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_body
from rosflight_py_sim.physics.waves import CUT_OFF, ELEVATION, OMEGA, WAVE_PARAMETERS, Waves, spectrum
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
HEIGHT, PERIOD = 0.8, 5.0
PEAK = 2.0 * math.pi / PERIOD
CABLE, CABLE_WEIGHT, CABLE_STIFFNESS = 20.0, 2.0, 5000.0

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
    """A box in water, stepped as in the graph: the wrench is held over a step."""

    def __init__(self, **changed: Any) -> None:
        given = {**_VALUES, **changed}
        self.dynamics = VehicleDynamics(
            DYNAMICS_PARAMETERS.checked({name: given[name] for name in given if name in DYNAMICS_PARAMETERS})
        )
        self.forces = Auv(AUV_PARAMETERS.checked({name: given[name] for name in given if name in AUV_PARAMETERS}))
        self._pulses = np.full(14, 1500.0)
        self._time_s = 0.0

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
        states, waves = [], self.forces.waves
        for _ in range(round(seconds / STEP_S)):
            waves.move_to(self.truth, self._time_s)
            wrench = self.forces.update(self.truth, waves.velocity_ned, self._pulses, STEP_S)
            self.dynamics.step(wrench, STEP_S, waves.velocity_ned, waves.sea)
            self._time_s += STEP_S
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
        yield Comparison(f"period of {name}", f"{found:.4f} s", f"{exact:.4f} s", _percent(found / exact))
    height = 4.0 * math.sqrt(float(np.sum(_spectrum()[1])))
    yield Comparison(
        "significant height of waves, 4 sqrt(m0)", f"{height:.3f} m", f"{HEIGHT:.3f} m", _percent(height / HEIGHT)
    )
    _, speed, exact_speed = _orbits()
    worst = float(np.max(np.abs(speed / exact_speed - 1.0)))
    yield Comparison("orbital velocity by depth", "e^(-k z)", "linear theory", _below(worst))
    _, heights, surface = _riding()
    ratio = float(np.std(heights) / np.std(surface))
    yield Comparison("heave of a floating box in waves of 8 s, over theirs", f"{ratio:.3f}", "1", _percent(ratio))
    pull, catenary = _tension(CABLE / 1.01), _catenary(CABLE / 1.01)
    yield Comparison(
        "tension of a hanging tether, 1 % slack",
        f"{pull:.2f} N",
        f"{catenary:.2f} N (catenary)",
        _percent(pull / catenary),
    )


def draw(figure: Figure) -> None:
    """Eight panels."""
    grid = figure.add_gridspec(2, 4, left=0.05, right=0.985, top=0.9, bottom=0.07, hspace=0.3, wspace=0.32)
    energy, errors, heave, roll, waves, orbits, riding, tether = (figure.add_subplot(cell) for cell in grid)
    _draw_waves(waves, orbits, riding)
    _draw_tether(tether)
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


def _percent(ratio: float) -> str:
    return f"{100.0 * abs(ratio - 1.0):.2f} %"


def _below(error: float) -> str:
    """The power of ten above an error: rounding differs between machines."""
    return f"< 1e{math.ceil(math.log10(max(error, 1e-12)))}"


def _rigid_body() -> Array:
    mass = np.zeros((6, 6))
    mass[:3, :3], mass[3:, 3:] = MASS * np.eye(3), INERTIA
    return mass


@cache
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


@cache
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


@cache
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


@cache
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


@cache
def _spectrum() -> tuple[Array, Array, Array]:
    """Angular frequencies, power (m^2) of the elevation at each, and the spectrum's share of the variance there."""
    step, count = 0.25, 4096
    waves = Waves(WAVE_PARAMETERS.checked({"wave_height": HEIGHT, "wave_period": PERIOD, "wave_components": 400}))
    elevations = np.empty(count)
    for k in range(count):
        waves.move_to(np.zeros(3), step * k)
        elevations[k] = waves.sea[ELEVATION]
    power = 2.0 * np.abs(np.fft.rfft(elevations)) ** 2 / count**2
    omega = 2.0 * math.pi * np.fft.rfftfreq(count, step)
    density = np.zeros(len(omega))
    inside = (omega > 0.3 * PEAK) & (omega < CUT_OFF * PEAK)
    density[inside] = spectrum(omega[inside], PEAK, 3.3)
    return omega[1:], power[1:], density[1:] / density.sum() * HEIGHT**2 / 16.0


def _orbits() -> tuple[Array, Array, Array]:
    """Depths, speed of the water in a regular wave, and that of linear theory."""
    values = {"wave_height": HEIGHT, "wave_period": PERIOD, "wave_components": 1}
    waves = Waves(WAVE_PARAMETERS.checked(values), reach=10.0)
    omega, _, amplitude, _ = waves.components[0]
    depth = np.linspace(0.0, 15.0, 61)
    speed = np.empty(len(depth))
    for k, down in enumerate(depth):
        waves.move_to(np.array([3.0, 2.0, down]), 1.0)
        speed[k] = np.linalg.norm(waves.velocity_ned)
    return depth, speed, amplitude * omega * np.exp(-(omega**2) / GRAVITY * depth)


@cache
def _riding() -> tuple[Array, Array, Array]:
    """Time, height of a floating box, and elevation of the surface in a regular wave of 8 s."""
    body = Body(
        net_buoyancy=(DENSITY * VOLUME - MASS) * GRAVITY,
        centre_of_buoyancy=[0.0, 0.0, -0.01],
        added_mass=[0.5, 0.5, 2.0, 0.0, 0.0, 0.0],
        linear_damping=[20.0] * 3 + [0.2] * 3,
        wave_height=0.4,
        wave_period=8.0,
        wave_components=1,
    )
    body.start(0.01)
    body.run(16.0)
    period = 2.0 * math.pi / float(body.forces.waves.components[0, OMEGA])
    heights, surface = [], []
    for _ in range(200):
        heights.append(-float(body.run(period / 200.0)[-1, 2]))
        surface.append(float(body.forces.waves.sea[ELEVATION]))
    return np.linspace(0.0, period, 200), np.array(heights), np.array(surface)


def _draw_waves(waves: Any, orbits: Any, riding: Any) -> None:
    omega, power, expected = _spectrum()
    width, spacing = 16, omega[1] - omega[0]
    smooth = np.convolve(power, np.ones(width) / width, mode="same")
    shown = omega < 4.0 * PEAK
    waves.plot(omega[shown], smooth[shown] / spacing, color=ORANGE, label="simulation")
    waves.plot(omega[shown], expected[shown] / spacing, "--", color=BLUE, label="JONSWAP, gamma = 3.3")
    waves.set_title("Spectrum of the elevation")
    waves.set_xlabel("angular frequency (rad/s)")
    waves.set_ylabel("density (m^2 s)")
    depth, speed, exact = _orbits()
    orbits.plot(speed, -depth, "o", color=ORANGE, markersize=3, label="simulation")
    orbits.plot(exact, -depth, color=BLUE, label="linear theory")
    orbits.set_title("Orbital speed in a regular wave")
    orbits.set_xlabel("speed (m/s)")
    orbits.set_ylabel("height (m)")
    time, heights, surface = _riding()
    riding.plot(time, heights - heights.mean(), color=ORANGE, label="floating box")
    riding.plot(time, surface, "--", color=BLUE, label="surface")
    riding.set_title("Heave in waves of 8 s")
    riding.set_xlabel("time (s)")
    riding.set_ylabel("height (m)")
    for axes in (waves, orbits, riding):
        axes.legend()


def _tension(span: float) -> float:
    """Horizontal pull (N) of a tether that hangs between the vehicle and an anchor at the same depth."""
    body = Body(
        net_buoyancy=0.0,
        tether_length=CABLE,
        tether_anchor=[0.0, 0.0, 10.0],
        tether_weight=CABLE_WEIGHT,
        tether_stiffness=CABLE_STIFFNESS,
    )
    truth = np.zeros(19)
    truth[:4] = span, 0.0, 10.0, 1.0
    return -float(body.forces.update(truth, np.zeros(3), np.full(14, 1500.0), STEP_S)[0])


def _catenary(span: float) -> float:
    """Horizontal tension (N) of an elastic catenary between ends at the same depth (Irvine), by bisection."""
    low, high = 1e-3, CABLE_STIFFNESS
    for _ in range(200):
        middle = math.sqrt(low * high)
        reach = 2.0 * middle / CABLE_WEIGHT * math.asinh(0.5 * CABLE_WEIGHT * CABLE / middle)
        reach += middle * CABLE / CABLE_STIFFNESS
        low, high = (middle, high) if reach < span else (low, middle)
    return low


def _draw_tether(axes: Any) -> None:
    spans = CABLE * np.linspace(0.85, 1.01, 161)
    axes.plot(spans / CABLE, [_tension(span) for span in spans], color=ORANGE, label="simulation")
    axes.plot(spans / CABLE, [_catenary(span) for span in spans], "--", color=BLUE, label="elastic catenary")
    axes.set_title("Tension of a hanging tether")
    axes.set_xlabel("distance of its ends over its length")
    axes.set_ylabel("tension (N)")
    axes.legend()
