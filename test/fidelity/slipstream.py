"""The propeller's slipstream at the tail, compared with momentum theory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from aircraft import ALTITUDE, NAMES, WITHOUT_PROPELLER, Aircraft
from comparison import Comparison
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.physics.linearisation import truth_of
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREY

TITLE = "the slipstream"
AIR = {"use_standard_atmosphere": False, "rho": 1.2}
ELEVATOR = 0.1
"""Deflection (rad) by whose moment the airspeed at the tail is measured."""
AIRSPEEDS = np.array([0.0, 5.0, 10.0, 15.0, 20.0, 25.0])


class Tail(NamedTuple):
    """Airspeed in the slipstream (m/s) by momentum theory and by the elevator, and the elevator's moment (N m)."""

    theory: float
    simulation: float
    moment: float
    moment_without: float


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    for name in NAMES:
        for airspeed in (0.0, 10.0, 20.0):
            tail = at_tail(name, airspeed)
            yield Comparison(
                f"{name}, airspeed in the slipstream at full throttle and {airspeed:g} m/s",
                f"{tail.simulation:.2f} m/s",
                f"{tail.theory:.2f} m/s (momentum theory)",
                f"{100.0 * abs(tail.simulation / tail.theory - 1.0):.2f} %",
            )


def draw(figure: Figure) -> None:
    """Draw the airspeed at the tail and the elevator's moment over the airspeed."""
    axes = figure.subplots(2, 2)
    figure.subplots_adjust(left=0.06, right=0.97, top=0.88, bottom=0.07, wspace=0.2, hspace=0.3)
    for column, name in enumerate(NAMES):
        tails = [at_tail(name, float(airspeed)) for airspeed in AIRSPEEDS]
        fast, slow = axes[0, column], axes[1, column]
        fast.plot(AIRSPEEDS, [tail.theory for tail in tails], color=BLUE, label="momentum theory")
        fast.plot(AIRSPEEDS, [tail.simulation for tail in tails], "o", color=AMBER, label="simulation, by the elevator")
        fast.plot(AIRSPEEDS, AIRSPEEDS, color=GREY, linestyle="--", label="airspeed")
        fast.set(title=f"{name}: slipstream at full throttle", xlabel="airspeed (m/s)", ylabel="slipstream (m/s)")
        slow.plot(AIRSPEEDS, [tail.moment for tail in tails], color=BLUE, label="with slipstream")
        slow.plot(AIRSPEEDS, [tail.moment_without for tail in tails], color=GREY, linestyle="--", label="without")
        slow.set(title=f"{name}: elevator at {ELEVATOR:g} rad", xlabel="airspeed (m/s)", ylabel="moment (N m)")
        fast.legend()
        slow.legend()


@cache
def at_tail(name: str, airspeed: float) -> Tail:
    """Airspeed in the slipstream at full throttle, from the thrust and from the moment of the elevator."""
    aircraft = Aircraft(name, **AIR)
    parameters = aircraft.parameters
    still = _wrench(Aircraft(name, **{**WITHOUT_PROPELLER, **AIR}), airspeed, 0.0)
    straight, deflected = _wrench(aircraft, airspeed, 0.0), _wrench(aircraft, airspeed, ELEVATOR)
    thrust, moment = straight[0] - still[0], deflected[4] - straight[4]
    # Thrust is mass flow times gain of speed; half of the gain is reached at the disk.
    flow = parameters["rho"] * np.pi / 4.0 * parameters["D_prop"] ** 2
    gain = np.roots([0.5 * flow, flow * airspeed, -thrust]).max()
    power = 0.5 * parameters["rho"] * parameters["wing_s"] * parameters["wing_c"] * parameters["C_m_delta_e"] * ELEVATOR
    share = parameters["slipstream_tail_share"]
    square = (moment / power - (1.0 - share) * airspeed**2) / share
    return Tail(airspeed + float(gain), float(np.sqrt(square)), float(moment), power * airspeed**2)


def _wrench(aircraft: Aircraft, airspeed: float, elevator: float) -> NDArray[np.float64]:
    truth = truth_of(np.array([0.0, 0.0, -ALTITUDE, airspeed, 0.0, 0.0, *np.zeros(6)]))
    return aircraft.model.wrench(truth, np.array([0.0, elevator, 0.0, 1.0]))
