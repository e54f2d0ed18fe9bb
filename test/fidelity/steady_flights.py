"""Glide, stall, steady turn and energy of the simulated aircraft, compared with the book's equations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import book_equations as book
import numpy as np
from aircraft import ALTITUDE, Aircraft, Array, Flight, without_propeller

from rosflight_py_sim.physics.linearisation import truth_of
from rosflight_py_sim.physics.performance import steady_climb
from rosflight_py_sim.physics.trim import FlightCondition, Trim, trim

STEP = 1.0 / 400.0
"""The graph's own step (s)."""


@dataclass(frozen=True)
class Glide:
    """A glide at one airspeed: the flight, its glide ratio, and lift to drag by the book's coefficients."""

    airspeed: float
    flight: Flight
    flown_ratio: float
    lift_to_drag: float


@dataclass(frozen=True)
class Stall:
    """Coefficients of lift and drag over the angle of attack (rad), of the model and of the book."""

    alpha: Array
    lift: Array
    drag: Array
    book_lift: Array
    book_drag: Array
    plate_lift: Array


@dataclass(frozen=True)
class Turn:
    """A steady turn as flown: radius (m), rate (rad/s), bank (rad), load factor, and the largest drifts."""

    condition: FlightCondition
    flight: Flight
    radius: float
    rate: float
    bank: float
    load_factor: float
    height_drift: float


@dataclass(frozen=True)
class EnergyBalance:
    """Energy of a glide (J, from its start), and the work of the aerodynamic forces by the book (J)."""

    flight: Flight
    energy: Array
    work: Array
    work_of_drag: Array


@cache
def glide_trim(aircraft: Aircraft, airspeed: float) -> Trim:
    """The power-off glide: the descent that needs no force along body x; ArithmeticError if there is none."""
    return steady_climb(aircraft.model, airspeed, 0.0, ALTITUDE)


def glide(aircraft: Aircraft, airspeed: float, duration: float = 10.0) -> Glide:
    """Glide from the trimmed state with the throttle closed, and measure the glide ratio."""
    start = glide_trim(aircraft, airspeed)
    flight = aircraft.fly(start.truth, np.array([*start.inputs[:3], 0.0]), duration, STEP, 4)
    way = flight.truth[-1, :3] - flight.truth[0, :3]
    parameters, elevator = aircraft.parameters, float(start.inputs[1])
    lift = book.lift_coefficient(parameters, start.alpha) + parameters["C_L_delta_e"] * elevator
    drag = book.drag_coefficient(parameters, start.alpha) + parameters["C_D_delta_e"] * elevator
    return Glide(airspeed, flight, float(math.hypot(way[0], way[1]) / way[2]), lift / drag)


def stall(name: str) -> Stall:
    """Lift and drag of the model without rotation, deflections and propeller, from -10 to 90 degrees."""
    aircraft = without_propeller(name)
    parameters = aircraft.parameters
    airspeed = 20.0
    alpha = np.radians(np.arange(-10.0, 90.01, 0.25))
    scale = 0.5 * parameters["rho"] * airspeed**2 * parameters["wing_s"]
    lift, drag = np.empty_like(alpha), np.empty_like(alpha)
    for k, angle in enumerate(alpha):
        truth = truth_of(np.array([0, 0, 0, airspeed * math.cos(angle), 0, airspeed * math.sin(angle), *np.zeros(6)]))
        x, _, z = aircraft.model.wrench(truth, np.zeros(4))[:3] / scale
        lift[k] = x * math.sin(angle) - z * math.cos(angle)
        drag[k] = -x * math.cos(angle) - z * math.sin(angle)
    return Stall(
        alpha,
        lift,
        drag,
        np.array([book.lift_coefficient(parameters, a) for a in alpha]),
        np.array([book.drag_coefficient(parameters, a) for a in alpha]),
        np.array([book.flat_plate_lift(a) for a in alpha]),
    )


def turn(aircraft: Aircraft, condition: FlightCondition, duration: float = 20.0) -> Turn:
    """Fly a trimmed turn with the inputs held."""
    trimmed = trim(aircraft.model, condition)
    flight = aircraft.fly(trimmed.truth, trimmed.inputs, duration, STEP, 20)
    north, east = flight.truth[:, 0], flight.truth[:, 1]
    # A circle by least squares: n^2 + e^2 = 2 n n0 + 2 e e0 + c.
    solution = np.linalg.lstsq(np.column_stack([2.0 * north, 2.0 * east, np.ones_like(north)]), north**2 + east**2)[0]
    radius = math.sqrt(solution[2] + solution[0] ** 2 + solution[1] ** 2)
    heading = np.unwrap(flight.euler[:, 2])
    gravity = aircraft.model.gravity
    # The truth's acceleration is the sum of all forces over mass; less gravity, it is what an accelerometer measures.
    # The first state was set, before any wrench.
    roll, pitch = flight.euler[:, 0], flight.euler[:, 1]
    down = np.column_stack([-np.sin(pitch), np.sin(roll) * np.cos(pitch), np.cos(roll) * np.cos(pitch)])
    felt = np.linalg.norm(flight.truth[:, 13:16] - gravity * down, axis=1)
    return Turn(
        condition,
        flight,
        radius,
        float(np.polyfit(flight.time, heading, 1)[0]),
        float(np.mean(roll)),
        float(np.mean(felt[1:]) / gravity),
        float(np.max(np.abs(flight.truth[:, 2] - flight.truth[0, 2]))),
    )


def energy_balance(name: str, airspeed: float, duration: float = 20.0, step: float = STEP) -> EnergyBalance:
    """A glide without propeller that starts a fifth too fast, and therefore oscillates."""
    aircraft = without_propeller(name)
    start = glide_trim(aircraft, airspeed)
    truth = start.truth.copy()
    truth[7:10] *= 1.2
    surfaces = (float(start.inputs[1]), float(start.inputs[0]), float(start.inputs[2]))
    flight = aircraft.fly(truth, np.array([*start.inputs[:3], 0.0]), duration, step)
    p = aircraft.parameters
    inertia = np.array([[p["Jxx"], p["Jxy"], p["Jxz"]], [p["Jxy"], p["Jyy"], p["Jyz"]], [p["Jxz"], p["Jyz"], p["Jzz"]]])
    velocity, rates = flight.truth[:, 7:10], flight.truth[:, 10:13]
    energy = 0.5 * p["mass"] * np.sum(velocity**2, axis=1) + 0.5 * np.sum(rates @ inertia * rates, axis=1)
    energy -= p["mass"] * p["gravity"] * flight.truth[:, 2]
    loads = np.array(
        [
            book.forces_and_moments(p, tuple(v), tuple(w), surfaces, (0.0, 0.0))
            for v, w in zip(velocity, rates, strict=True)
        ]
    )
    power = np.sum(loads[:, :3] * velocity, axis=1) + np.sum(loads[:, 3:] * rates, axis=1)
    alpha = np.arctan2(velocity[:, 2], velocity[:, 0])
    drag = -loads[:, 0] * np.cos(alpha) - loads[:, 2] * np.sin(alpha)
    return EnergyBalance(flight, energy - energy[0], _integral(power, step), _integral(-drag * flight.speed, step))


def _integral(rate: Array, step: float) -> Array:
    """Integral from the start (n,) by the trapezoidal rule."""
    return np.concatenate([[0.0], np.cumsum(0.5 * step * (rate[1:] + rate[:-1]))])
