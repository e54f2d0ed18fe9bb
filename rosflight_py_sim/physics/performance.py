"""Steady performance of a vehicle from its steady model: glide, climb, fastest and slowest level flight, endurance.

All values are of unaccelerated flight in still air with a full battery, except endurance, which empties it. A climb at
a given throttle is a trim (`trim.py`) with the flight-path angle as unknown in place of the throttle.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rosflight_py_sim.physics.fixedwing import FixedWing
from rosflight_py_sim.physics.multirotor import Multirotor
from rosflight_py_sim.physics.steady_model import Array, ModelInput, SteadyModel
from rosflight_py_sim.physics.trim import FlightCondition, Trim, TrimError, trim

_ROUNDS = 20
"""Most rounds of the search for a flight-path angle; it needs about six."""
_HALVINGS = 6
"""Rounds of a bisection: 1/64 of its range."""
_STILL_AIR = np.zeros(3)


def steady_climb(model: SteadyModel, airspeed: float, throttle: float, altitude: float = 0.0) -> Trim:
    """Climb or descent at an airspeed (m/s) and a throttle (0 to 1): its trim, with the surfaces as inputs.

    `model` has angles and one throttle as inputs. In the search a force along body x replaces the throttle; the
    flight-path angle is the one at which it vanishes.

    Raises:
        ArithmeticError: the aircraft has no steady flight with this throttle.
        TrimError: it cannot hold the airspeed near the one that it would have.
    """
    surfaces = [i for i in model.inputs if i.is_angle]
    weight = model.mass * model.gravity

    def wrench(truth: Array, inputs: Array) -> Array:
        wrench = model.wrench(truth, np.array([*inputs[:-1], throttle]))
        wrench[0] += inputs[-1]
        return wrench

    pushed = model.replaced([*surfaces, ModelInput("push", -weight, weight, 0.0)], wrench)
    climb, slope = 0.0 if throttle > 0.0 else -0.1, weight
    before: tuple[float, float] | None = None
    for _ in range(_ROUNDS):
        found = trim(pushed, FlightCondition(airspeed, climb, altitude=altitude))
        push = float(found.inputs[-1])
        if abs(push) < 1e-10 * weight:
            return found
        # The force replaces weight along the path, nearly one for one; from the second on, a secant.
        if before is not None:
            slope = (push - before[1]) / (climb - before[0])
        before = climb, push
        climb -= push / slope
    raise ArithmeticError(f"no steady flight found at {airspeed:g} m/s with a throttle of {throttle:g}")


def climb_rate(model: SteadyModel, airspeed: float, throttle: float) -> float:
    """Climb rate (m/s) at an airspeed (m/s) and a throttle; see `steady_climb`."""
    return airspeed * math.sin(steady_climb(model, airspeed, throttle).condition.flight_path_angle)


def farthest(model: SteadyModel, condition: Callable[[float], FlightCondition], start: float, end: float) -> float:
    """Last parameter between `start`, at which `condition` can be held, and `end`, at which it cannot, by bisection."""
    held, refused = start, end
    for _ in range(_HALVINGS):
        middle = 0.5 * (held + refused)
        try:
            trim(model, condition(middle))
        except TrimError:
            refused = middle
        else:
            held = middle
    return held


def greatest_lift(model: SteadyModel, airspeed: float) -> tuple[float, float]:
    """Greatest lift (N) at an airspeed (m/s) with neutral surfaces and no throttle, and its angle of attack (rad)."""
    angles = np.radians(np.arange(0.0, 45.0, 0.1))
    truth, inputs = np.zeros(19), np.zeros(len(model.inputs))
    truth[3] = 1.0
    lifts = []
    for angle in angles:
        truth[7], truth[9] = airspeed * math.cos(angle), airspeed * math.sin(angle)
        wrench = model.wrench(truth, inputs)
        lifts.append(wrench[0] * math.sin(angle) - wrench[2] * math.cos(angle))
    best = int(np.argmax(lifts))
    return float(lifts[best]), float(angles[best])


def endurance(
    vehicle: FixedWing | Multirotor,
    trimmed: Trim,
    throttle: float,
    pulses: Callable[[float], Array],
    capacity_ah: float,
) -> float:
    """Time (s) for which a vehicle with a full battery flies a trimmed state whose throttle is `throttle` at first.

    The motors keep their speed at a constant voltage, so the throttle rises as the battery's voltage falls. The flight
    ends with a throttle above 1 or an empty battery. `pulses`: pulse widths (14,) of a throttle.
    """
    step, time = 1.0, 0.0
    for _ in range(100):
        vehicle.update(trimmed.truth, _STILL_AIR, pulses(throttle), 0.1)
    motor_voltage = throttle * vehicle.battery_voltage
    while throttle <= 1.0 and vehicle.charge_drawn_ah < capacity_ah:
        vehicle.update(trimmed.truth, _STILL_AIR, pulses(throttle), step)
        throttle = motor_voltage / vehicle.battery_voltage
        time += step
    return time
