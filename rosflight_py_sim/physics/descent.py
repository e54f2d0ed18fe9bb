"""Rotor in axial descent: hover, vortex ring and windmill brake states, from momentum theory.

In descent the coefficients of a propeller, which are fitted to inflow from ahead, do not apply. With the climb speed V
(here below 0) and the induced velocity v, both over the induced velocity in hover v_h, the flow through the rotor is

    lambda = V + v
    T / T_0 = 1 + beta (1 - lambda)                                  blade element theory, twisted blades, no stall
    T / T_0 = lambda v                          V > -s               momentum theory, upward flow outside the wake
    lambda = s (0.373 y^3 - 0.991 y), y = V / s   -2 s < V < -s      vortex ring state: fit to measurements
    T / T_0 = -lambda v                         V < -2 s             momentum theory, windmill brake state

with the thrust T_0 in hover at the same rotor speed and s^2 = T / T_0. The fit is Johnson's (Helicopter Theory, 1980,
p. 106): the mean of a flow that fluctuates. beta follows from the slope of thrust over inflow in hover, which is that
of the propeller's own coefficients. The shaft's power is T lambda v_h plus the profile power of hover.

Not modelled: thrust fluctuations in the vortex ring state, speed across the axis (which ends the vortex ring state
above about v_h), blade stall.
"""

from __future__ import annotations

import math

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.propulsion import SMALLEST_COEFFICIENT

_NEWTON_STEPS = 8


def hover_velocity(ct_0: float, diameter: float) -> float:
    """Induced velocity in hover over the rotor speed (m): sqrt(T / (2 rho A)) / Omega."""
    return diameter / (2.0 * math.pi) * math.sqrt(2.0 * max(SMALLEST_COEFFICIENT, ct_0) / math.pi)


def flow_slope(ct_0: float, ct_1: float) -> float:
    """beta: loss of thrust, as a share of the thrust in hover, per flow through the rotor in excess of v_h.

    A propeller's thrust changes with the inflow by sigma T_0 / v_h; momentum theory gives sigma = -beta / (2 + beta).
    sigma is limited to the range from -0.9 to 0.
    """
    if ct_0 <= 0.0:
        return 0.0
    sigma = min(0.0, max(-0.9, ct_1 / ct_0 * math.sqrt(2.0 * ct_0 / math.pi)))
    return -2.0 * sigma / (1.0 + sigma)


def figure_of_merit(ct_0: float, cq_0: float) -> float:
    """Induced power in hover over shaft power in hover, at most 1."""
    return min(1.0, max(0.0, ct_0) * math.sqrt(2.0 * max(0.0, ct_0) / math.pi) / (2.0 * math.pi * cq_0))


@kernel
def descent_flow(climb: float, beta: float) -> float:
    """Flow lambda through a rotor, over v_h, at the climb speed `climb` over v_h, which is not above 0."""
    loaded = 1.0 + beta
    middle = 0.5 * (climb - beta)
    flow = middle + math.sqrt(middle * middle + loaded)
    if climb * climb <= loaded - beta * flow:
        return flow
    middle = 0.5 * (climb + beta)
    if climb <= -2.0 * loaded:
        return middle - math.sqrt(middle * middle - loaded)
    # climb = y s, with s from s^2 = 1 + beta - beta g s, where g = lambda / s is the fit.
    y = -1.5
    for _ in range(_NEWTON_STEPS):
        g = y * (0.373 * y * y - 0.991)
        half = 0.5 * beta * g
        root = math.sqrt(half * half + loaded)
        s = root - half
        slope = s - y * 0.5 * beta * (1.0 - half / root) * (1.119 * y * y - 0.991)
        change = (y * s - climb) / slope
        y = min(-1.0, max(-2.0, y - change))
        if abs(change) < 1e-9:
            break
    g = y * (0.373 * y * y - 0.991)
    half = 0.5 * beta * g
    return g * (math.sqrt(half * half + loaded) - half)


@kernel
def descent_shares(climb: float, beta: float, merit: float) -> tuple[float, float]:
    """Thrust and torque over those in hover at the same rotor speed; `climb` over v_h is not above 0."""
    flow = descent_flow(climb, beta)
    thrust = 1.0 + beta * (1.0 - flow)
    return thrust, merit * thrust * flow + 1.0 - merit
