"""Order of convergence of the whole loop: controller, actuators, wrench, body. A subject of the fidelity page.

A controller reads the true state 50 times a second and sets the outputs, which the actuators follow; the graph's models
compute the wrench and move the body. The same flight at several step rates, against one at REFERENCE_HZ, shows how the
error falls with the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from comparison import Comparison
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.commands.vehicle_models import given_values, steady_vehicle
from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.parts.modelled_forces import VehicleModel
from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.physics.trim import FlightCondition, trim
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN, GREY, ORANGE

TITLE = "whole loop"

Array = NDArray[np.float64]
Law = Callable[[Array, Array], Array]
"""From the truth state (19,) and a random number for each axis (4,) to the pulse widths (14,), us."""

RATES_HZ = (100, 200, 400, 800)
REFERENCE_HZ = 6400
CONTROL_HZ = 50
DURATION_S = 3.0
CALM = np.zeros(3)

COLOURS = {"multirotor": BLUE, "anaconda": AMBER, "aerosonde": ORANGE, "bluerov2": GREEN}
NAMES = tuple(COLOURS)

_MODELS: Mapping[str, tuple[ParameterTable, Callable[[Any], Any]]] = {
    "multirotor_forces_and_moments": (MULTIROTOR_PARAMETERS, Multirotor),
    "fixedwing_forces_and_moments": (FIXEDWING_PARAMETERS, FixedWing),
    "auv_forces_and_moments": (AUV_PARAMETERS, Auv),
}


def parts(name: str, **changed: Any) -> tuple[VehicleModel, VehicleDynamics]:
    """A shipped vehicle's forces and body, away from the ground, with some parameters changed."""
    chosen = vehicle(name)
    sources = [chosen.parameter_file]
    table, kind = _MODELS[chosen.forces_and_moments]
    forces = given_values(table, sources, "forces_and_moments", "", chosen.forces_and_moments)
    dynamics = given_values(DYNAMICS_PARAMETERS, sources, "dynamics", "", chosen.dynamics)
    forces = {**forces, **{key: value for key, value in changed.items() if key in table}}
    own = {key: value for key, value in changed.items() if key in DYNAMICS_PARAMETERS}
    body = VehicleDynamics(DYNAMICS_PARAMETERS.checked({**dynamics, "ground_contact": False, **own}))
    model: VehicleModel = kind(table.checked(forces))
    return model, body


def hover(name: str) -> tuple[Array, Law]:
    """A multirotor in hover; the random numbers move thrust, roll, pitch and yaw."""
    steady = steady_vehicle(vehicle(name), [vehicle(name).parameter_file])
    throttles = trim(steady.model, FlightCondition(0.0, altitude=50.0)).inputs
    truth = np.zeros(19)
    truth[2], truth[3] = -50.0, 1.0
    mix = np.array([[1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0], [1.0, 1.0, 1.0, 1.0]])

    def law(state: Array, noise: Array) -> Array:
        roll, pitch, _ = euler_from_quaternion(*(float(one) for one in state[3:7]))
        p, q, r = state[10:13]
        axes = np.array([0.1 * noise[0], 0.05 * noise[1] - 0.1 * roll - 0.03 * p, 0.05 * noise[2], 0.03 * noise[3]])
        axes[2] -= 0.1 * pitch + 0.03 * q
        axes[3] += 0.05 * r
        return pulses(1000.0, 1000.0 * np.clip(throttles + mix @ axes, 0.0, 1.0), range(4))

    return truth, law


def cruise(name: str) -> tuple[Array, Law]:
    """A fixed wing in cruise; the random numbers move aileron, elevator, rudder and throttle."""
    steady = steady_vehicle(vehicle(name), [vehicle(name).parameter_file])
    trimmed = trim(steady.model, FlightCondition(20.0, altitude=100.0))
    pitch_at_trim = euler_from_quaternion(*(float(one) for one in trimmed.truth[3:7]))[1]

    def law(state: Array, noise: Array) -> Array:
        roll, pitch, _ = euler_from_quaternion(*(float(one) for one in state[3:7]))
        p, q, _ = state[10:13]
        inputs = trimmed.inputs + np.array([0.1, 0.05, 0.1, 0.3]) * noise
        inputs[0] -= 0.3 * roll + 0.02 * p
        inputs[1] += 0.5 * (pitch - pitch_at_trim) + 0.05 * q
        inputs[3] = min(1.0, max(0.0, inputs[3]))
        widths = steady.pulse_widths(inputs)
        return pulses(1500.0, np.array(list(widths.values())) - 1500.0, widths)

    return trimmed.truth, law


def dive(name: str) -> tuple[Array, Law]:
    """An underwater vehicle; the random numbers move its thrusters."""
    truth = np.zeros(19)
    truth[2], truth[3] = 10.0, 1.0

    def law(state: Array, noise: Array) -> Array:
        commands = 0.5 * np.resize(noise, 6) - 0.3 * state[12]
        return pulses(1500.0, 500.0 * np.clip(commands, -1.0, 1.0), range(6))

    return truth, law


def pulses(rest: float, change: Array, outputs: Any) -> Array:
    """Pulse widths (14,), us: `rest`, with a change (n,) of some outputs."""
    pwm_us = np.full(14, rest)
    pwm_us[list(outputs)] += change
    return pwm_us


FLIGHTS: Mapping[str, Callable[[str], tuple[Array, Law]]] = {
    "multirotor": hover,
    "anaconda": cruise,
    "aerosonde": cruise,
    "bluerov2": dive,
}


@cache
def flown(name: str, rate_hz: int) -> Array:
    """States (n, 19) at each instant of the controller, the last included."""
    truth, law = FLIGHTS[name](name)
    model, body = parts(name, world="", ground_altitude=-50.0)
    body.set_truth(truth)
    noise = np.random.default_rng(7).uniform(-1.0, 1.0, (round(DURATION_S * CONTROL_HZ), 4))
    # From trim: a body whose first step begins with a jump of the moment has nothing to extrapolate it from.
    noise[0] = 0.0
    pwm_us = law(body.truth, np.zeros(4))
    for _ in range(400):
        model.update(body.truth, CALM, pwm_us, 0.01, CALM)
    rows = []
    dt, every = 1.0 / rate_hz, rate_hz // CONTROL_HZ
    for k in range(len(noise) * every):
        if k % every == 0:
            rows.append(body.truth.copy())
            pwm_us = law(body.truth, noise[k // every])
        body.step(model.update(body.truth, CALM, pwm_us, dt if k else 0.0, CALM), dt)
    return np.array([*rows, body.truth])


def errors(name: str, part: slice) -> Array:
    """Root mean square error of a part of the state over the flight, for each of RATES_HZ."""
    exact = flown(name, REFERENCE_HZ)[:, part]
    return np.array([np.sqrt(np.mean(np.sum((flown(name, rate)[:, part] - exact) ** 2, axis=1))) for rate in RATES_HZ])


def order(name: str, part: slice) -> float:
    """Slope of the error over the step, in logarithms."""
    return float(-np.polyfit(np.log(RATES_HZ), np.log(errors(name, part)), 1)[0])


def surface_travel() -> Array:
    """Deflection of the aerosonde's aileron at 0, 2.5 and 5 ms after a step of its output, over that of the end."""
    truth, _ = cruise("aerosonde")
    model, _ = parts("aerosonde")
    assert isinstance(model, FixedWing)
    reached = []
    for k in range(403):
        width = 1500.0 if k == 0 else 1750.0
        model.update(truth, CALM, np.full(14, width), 0.0025)
        reached.append(float(model.deflections[0]))
    return np.array(reached[1:4]) / reached[-1]


PARTS = {"position": slice(0, 3), "attitude": slice(3, 7), "velocity": slice(7, 10)}


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    for k, share in enumerate(surface_travel()):
        expected = 1.0 - np.exp(-k * 0.0025 / 0.02)
        yield Comparison(
            f"surface {2.5 * k:g} ms after a step of its output, over its travel",
            f"{share:.4f}",
            f"{expected:.4f} (lag of 0.02 s)",
            f"{100.0 * abs(share - expected):.2f} %",
        )
    for name in NAMES:
        at_400 = 1e3 * errors(name, PARTS["position"])[RATES_HZ.index(400)]
        yield Comparison(
            f"{name}, position at 400 Hz, RMS over {DURATION_S:g} s", f"{at_400:.2g} mm off", f"{REFERENCE_HZ} Hz", ""
        )
        for what, part in PARTS.items():
            yield Comparison(f"{name}, order of convergence of the {what}", f"{order(name, part):.1f}", "2", "")


def draw(figure: Figure) -> None:
    """Errors over the step, with the slope of the second order."""
    panels = figure.subplots(1, 3)
    figure.subplots_adjust(left=0.06, right=0.98, top=0.88, bottom=0.1, wspace=0.2)
    steps = 1e3 / np.array(RATES_HZ)
    for panel, (what, part) in zip(panels, PARTS.items(), strict=True):
        for name in NAMES:
            panel.loglog(steps, errors(name, part), marker="o", color=COLOURS[name], label=name)
        lowest = min(errors(name, part)[0] for name in NAMES)
        panel.loglog(steps, 0.3 * lowest * (steps / steps[0]) ** 2, "--", color=GREY, label="second order")
        panel.set_title(f"{what}, difference from {REFERENCE_HZ} Hz")
        panel.set_xlabel("step, ms")
        panel.legend()
