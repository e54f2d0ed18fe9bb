"""Take-off in a crosswind, and braking, of the aircraft on their wheels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from aircraft import NAMES, Aircraft, Array
from comparison import Comparison
from matplotlib.figure import Figure

from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FixedWing, direct_mixer
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_body, rotate_to_inertial
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN, GREY

TITLE = "the ground roll"
STEP = 1.0 / 400.0
CROSSWIND = 5.0
HEADING_GAIN, RATE_GAIN = 3.0, 1.0
"""Command of rudder and nose wheel per heading error (1/rad) and yaw rate (s/rad)."""
ROTATION = {"anaconda": 13.0, "aerosonde": 17.0}
BRAKING = 0.3
SPEED = 10.0

WITHOUT: Mapping[str, Mapping[str, bool]] = {
    "without slipstream": {"slipstream": False},
    "without steered wheel": {"steering": False},
    "with neither": {"slipstream": False, "steering": False},
}


class Roll(NamedTuple):
    """Way (m), sideways distance (m), heading (deg) and speed (m/s) in each step on the ground."""

    north: Array
    east: Array
    heading: Array
    speed: Array


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    for name in NAMES:
        whole = greatest_heading(take_off(name))
        for text, changes in WITHOUT.items():
            without = greatest_heading(take_off(name, **changes))
            yield Comparison(
                f"{name}, greatest heading error of a take-off in {CROSSWIND:g} m/s of crosswind, {text}",
                f"{without:.1f} deg",
                f"{whole:.1f} deg (with slipstream and steered nose wheel)",
                f"{without - whole:+.1f} deg",
            )
        found, expected = braking_way(name), SPEED**2 / (2.0 * deceleration(name))
        yield Comparison(
            f"{name}, braking distance of the main wheels from {SPEED:g} m/s, without air",
            f"{found:.2f} m",
            f"{expected:.2f} m (Coulomb friction with load transfer)",
            f"{100.0 * abs(found / expected - 1.0):.1f} %",
        )


def greatest_heading(roll: Roll) -> float:
    """Greatest deviation of the heading (deg) before the aircraft lifts off."""
    return float(np.max(np.abs(roll.heading)))


@cache
def take_off(name: str, *, slipstream: bool = True, steering: bool = True) -> Roll:
    """Roll at full throttle from rest to rotation, the rudder and the nose wheel turned against the heading error."""
    aircraft = Aircraft(name) if slipstream else Aircraft(name, slipstream_tail_share=0.0)
    body, plane = _on_wheels(aircraft, {} if steering else {"contact_steering": []}), FixedWing(aircraft.forces)
    plane.set_mixer(direct_mixer())
    air = np.array([0.0, CROSSWIND, 0.0])
    rows = []
    for _ in range(round(15.0 / STEP)):
        truth = body.truth
        roll, _, yaw = euler_from_quaternion(*truth[3:7])
        if truth[2] < body.initial_truth[2] - 0.05 or truth[7] > ROTATION[name]:
            break
        rows.append((truth[0], truth[1], math.degrees(yaw), math.hypot(truth[7], truth[8])))
        left = min(1.0, max(-1.0, HEADING_GAIN * yaw + RATE_GAIN * truth[12]))
        level = min(1.0, max(-1.0, -roll - 0.1 * truth[10]))
        body.steering.turn(-left)
        body.step(plane.update(truth, air, _pulses(level, left, 1.0), STEP), STEP)
    return Roll(*np.array(rows).T)


@cache
def braking_way(name: str) -> float:
    """Way (m) on the main wheels' brakes from SPEED to rest in a vacuum."""
    aircraft = Aircraft(name)
    body = _on_wheels(aircraft, {"contact_braking_friction": [BRAKING, BRAKING], "brake_offset": 1.0})
    truth = body.truth.copy()
    truth[7:10] = rotate_to_body(*truth[3:7], SPEED, 0.0, 0.0)
    body.set_truth(truth)
    start = body.truth[0]
    for _ in range(round(10.0 / STEP)):
        body.step(np.zeros(6), STEP)
    return float(body.truth[0] - start)


def deceleration(name: str) -> float:
    """Deceleration (m/s^2): friction of the main wheels, which it relieves, and of the nose wheel, which it loads."""
    aircraft = Aircraft(name)
    parameters, attitude = aircraft.dynamics, _on_wheels(aircraft, {}).initial_truth[3:7]
    points = np.array(parameters["contact_points"]).reshape(-1, 3)
    main, nose = (rotate_to_inertial(*attitude, *points[i]) for i in (0, 2))
    rolling, gravity = float(parameters["contact_rolling_friction"][0]), float(parameters["gravity"])
    # Moments about the centre of mass: nose N_n - main N_m = height m a, with N_n + N_m = m g.
    base = nose[0] - main[0]
    return (rolling + BRAKING * nose[0] / base) * gravity / (1.0 + BRAKING * main[2] / base)


def draw(figure: Figure) -> None:
    """Draw headings and tracks of the take-offs."""
    axes = figure.subplots(2, 2)
    figure.subplots_adjust(left=0.06, right=0.97, top=0.88, bottom=0.07, wspace=0.2, hspace=0.3)
    kinds = [("with both", {}, BLUE), *zip(WITHOUT, WITHOUT.values(), (AMBER, GREEN, GREY), strict=True)]
    for column, name in enumerate(NAMES):
        for text, changes, color in kinds:
            roll = take_off(name, **changes)
            axes[0, column].plot(roll.speed, roll.heading, color=color, label=text)
            axes[1, column].plot(roll.north, roll.east, color=color, label=text)
        title = f"{name}: take-off in {CROSSWIND:g} m/s from the left"
        axes[0, column].set(title=title, xlabel="speed (m/s)", ylabel="heading error (deg)")
        axes[1, column].set(title="track", xlabel="way (m)", ylabel="to the right (m)")
        axes[0, column].legend()


def _on_wheels(aircraft: Aircraft, changes: Mapping[str, object]) -> VehicleDynamics:
    own = {key: value for key, value in changes.items() if key in DYNAMICS_PARAMETERS}
    return VehicleDynamics(DYNAMICS_PARAMETERS.checked({**aircraft.dynamics, "ground_contact": True, **own}))


def _pulses(aileron: float, rudder: float, throttle: float) -> Array:
    """Pulse widths (us) for one servo for each surface."""
    pwm_us = np.full(14, 1500.0)
    pwm_us[0] += 500.0 * aileron
    pwm_us[2] += 500.0 * rudder
    pwm_us[4] = 1000.0 + 1000.0 * throttle
    return pwm_us
