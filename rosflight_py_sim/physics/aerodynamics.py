"""Aerodynamic forces and moments of an aircraft with wings and three control surfaces.

Beard and McLain, Small Unmanned Aircraft, chapter 4, with every coefficient linear in its arguments:

    C = C_O + C_alpha a + C_beta beta + (C_p b p + C_q c q + C_r b r) / 2V + C_delta_a da + C_delta_e de + C_delta_r dr

for C of C_L, C_D, C_Y, C_ell, C_m and C_n, with stall and induced drag (eq. 4.9 to 4.11):

    C_L: (1 - sigma) (C_L_O + C_L_alpha alpha) + 2 sigma sgn(alpha) sin^2(alpha) cos(alpha) replaces its first two terms
    C_D: (C_L_O + C_L_alpha a)^2 / (pi e AR) is added
    sigma = (1 + e^-M(alpha-alpha0) + e^M(alpha+alpha0)) / ((1 + e^-M(alpha-alpha0)) (1 + e^M(alpha+alpha0)))

V is the airspeed, alpha = atan2(w, u) and beta = asin(v / V) are the angles of attack and sideslip; lift and drag turn
into body axes by alpha (eq. 4.18 and 4.19). a equals alpha in attached flow and blends into sin alpha as the wing
stalls: the linear terms hold for attached flow only and would grow without bound for flow from the side or from behind.
For the same reason the terms of beta are constant beyond a sideslip of 45 deg: fin and fuselage have stalled by then,
and the normal force of a plate in separated flow hardly changes from 45 to 90 deg (Hoerner, Fluid-Dynamic Drag, 1965,
chapter 3).

Behind a propeller with the thrust T and the disk area A the air is faster by the slipstream's speed

    s = sqrt(V_x^2 + 2 T / (rho A)) - V_x

relative to the air before the disk, which comes along the axis at V_x (momentum theory, fully developed: twice the
induced velocity at the disk; McCormick, Aerodynamics, Aeronautics, and Flight Mechanics, chapter 6). It acts on shares
of the aircraft, as in the component model of Selig, Real-Time Flight Simulation of Highly Maneuverable Unmanned Aerial
Vehicles, J. Aircraft 51 (2014):

- on a share of the tail: the terms of elevator and rudder scale there with the square of the airspeed in the
  slipstream, and those of pitch and yaw rate, except in the rolling moment, with the airspeed in it;
- on a share of the wing: lift and drag of that part are those of a flow with u + s in place of u.

The effect on the tail's part in C_m_alpha and C_n_beta, swirl, and the slipstream's contraction and deflection are not
modelled.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

LARGEST_SIDESLIP = math.sqrt(0.5)
"""Sine of 45 deg, the sideslip angle beyond which the terms of sideslip are constant."""

# Rows and columns of the derivatives, with the values of ROSflight's anaconda.
COEFFICIENTS = ("C_L", "C_D", "C_Y", "C_ell", "C_m", "C_n")
CAUSES = ("O", "alpha", "beta", "p", "q", "r", "delta_a", "delta_e", "delta_r")
_ANACONDA = (
    (0.506, 5.61, 0.0, 0.0, 7.95, 0.0, 0.0, 0.13, 0.0),
    (0.043, 0.03, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0135, 0.0),
    (0.0, 0.0, -0.98, 0.0, 0.0, 0.0, 0.075, 0.0, 0.19),
    (0.0, 0.0, -0.13, -0.51, 0.0, 0.25, 0.17, 0.0, 0.0024),
    (0.135, -2.74, 0.0, 0.0, -38.21, 0.0, 0.0, -0.99, 0.0),
    (0.0, 0.0, 0.1301, -0.0364, 0.0, -0.1541, -0.011, 0.0, -0.069),
)
_MEANS = ("Lift", "Drag", "Side force", "Rolling moment", "Pitching moment", "Yawing moment")
_OF = (
    "at zero angles, rates and deflections",
    "derivative with respect to angle of attack",
    "derivative with respect to sideslip angle",
    "derivative with respect to roll rate times b/2V",
    "derivative with respect to pitch rate times c/2V",
    "derivative with respect to yaw rate times b/2V",
    "derivative with respect to aileron deflection",
    "derivative with respect to elevator deflection",
    "derivative with respect to rudder deflection",
)

AERODYNAMIC_PARAMETERS = ParameterTable(
    Parameter("wing_s", 0.52, "Wing area", "m^2", minimum=1e-4, maximum=1e3, required=True),
    Parameter("wing_b", 2.08, "Wing span", "m", minimum=0.01, maximum=100.0, required=True),
    Parameter("wing_c", 0.235, "Mean wing chord", "m", minimum=1e-3, maximum=100.0, required=True),
    Parameter(
        "wing_M",
        50.0,
        "Sharpness of the stall: rate of the sigmoid",
        "1/rad",
        minimum=0.0,
        maximum=500.0,
        required=True,
    ),
    Parameter(
        "wing_epsilon",
        0.9,
        "Oswald efficiency factor for the induced drag; a huge one removes it",
        minimum=0.01,
        maximum=1e12,
        required=True,
    ),
    Parameter(
        "wing_alpha0",
        0.2618,
        "Angle of attack at which the wing is half stalled; above pi the wing never stalls",
        "rad",
        minimum=0.0,
        maximum=100.0,
        required=True,
    ),
    Parameter(
        "slipstream_tail_share",
        0.0,
        "Share of the tail's area in the propeller's slipstream; 0 for no slipstream",
        minimum=0.0,
        maximum=1.0,
    ),
    Parameter(
        "slipstream_wing_share",
        0.0,
        "Share of the wing's area in the propeller's slipstream; 0 for a propeller behind the wing",
        minimum=0.0,
        maximum=1.0,
    ),
    *(
        Parameter(
            f"{coefficient}_{cause}",
            _ANACONDA[i][j],
            f"{_MEANS[i]} coefficient {_OF[j]}",
            "1/rad" if cause == "alpha" or cause == "beta" or cause.startswith("delta") else "",
            minimum=-100.0,
            maximum=100.0,
            required=True,
        )
        for i, coefficient in enumerate(COEFFICIENTS)
        for j, cause in enumerate(CAUSES)
    ),
)


@kernel_record
class Airframe:
    """Dimensions, stall and slipstream of an airframe.

    Attributes:
        area: of the wing (m^2).
        span: of the wing (m).
        chord: mean chord of the wing (m).
        stall_rate: steepness of the transition to separated flow (1/rad).
        stall_angle: angle of attack at which half of the flow is separated (rad).
        induced: pi e AR; the induced drag is the square of the lift over it.
        tail_share: share of the tail in the slipstream; `wing_share`: of the wing.
    """

    area: float
    span: float
    chord: float
    stall_rate: float
    stall_angle: float
    induced: float
    tail_share: float
    wing_share: float


NO_LIMIT = 700.0
"""Largest argument for which exp does not overflow."""


@kernel
def stalled_share(alpha: float, rate: float, stall_angle: float) -> float:
    """Flow separation, 0 to 1, at an angle of attack (rad): eq. 4.10, in a form that does not overflow."""
    below = 1.0 / (1.0 + math.exp(min(NO_LIMIT, rate * (alpha - stall_angle))))
    above = 1.0 / (1.0 + math.exp(min(NO_LIMIT, -rate * (alpha + stall_angle))))
    return 1.0 - below * above


@kernel
def normal_share(airspeed: float, u: float, w: float) -> float:
    """Share of the dynamic pressure that acts on the wing's lift and induced drag, 0 to 1.

    Only the flow component normal to a wing's span generates lift (R. T. Jones, Wing Plan Forms for High-Speed Flight,
    NACA Report 863, 1947). At a sideslip of 90 deg that component is zero and the angle of attack is undefined: with
    the full pressure, lift of random sign would shake an aircraft parked in a crosswind. Chapter 4 assumes small
    sideslip and uses the full pressure; so does this function up to a sideslip of 45 deg. Beyond, the share is
    2 cos^2(beta).
    """
    half = 0.5 * airspeed * airspeed
    across = u * u + w * w
    return 1.0 if across >= half else across / half


@kernel
def slipstream_speed(thrust: float, inflow: float, air: float, diameter: float) -> float:
    """s (m/s) behind a propeller with this thrust (N) and inflow V_x (m/s); 0 without thrust or air."""
    if thrust <= 0.0 or air <= 0.0:
        return 0.0
    return math.sqrt(inflow * inflow + 8.0 * thrust / (math.pi * air * diameter * diameter)) - inflow


@kernel
def wing_force(
    u: float, w: float, air: float, airframe: Airframe, derivatives: NDArray[np.float64]
) -> tuple[float, float]:
    """Force (N) of the wing along body x and z in a flow without sideslip: lift, and drag except by deflections."""
    alpha = math.atan2(w, u)
    sigma = stalled_share(alpha, airframe.stall_rate, airframe.stall_angle)
    sine, cosine = math.sin(alpha), math.cos(alpha)
    bounded = alpha + sigma * (sine - alpha)
    scale = 0.5 * air * (u * u + w * w) * airframe.area
    attached = derivatives[0, 0] + derivatives[0, 1] * alpha
    lift = scale * ((1.0 - sigma) * attached + sigma * math.copysign(2.0 * sine * sine, alpha) * cosine)
    polar = derivatives[0, 0] + derivatives[0, 1] * bounded
    drag = scale * (derivatives[1, 0] + derivatives[1, 1] * bounded + polar * polar / airframe.induced)
    return lift * sine - drag * cosine, -lift * cosine - drag * sine


@kernel
def aerodynamic_wrench(
    airspeed: float,
    u: float,
    v: float,
    w: float,
    p: float,
    q: float,
    r: float,
    air: float,
    slipstream: float,
    deflections: NDArray[np.float64],
    airframe: Airframe,
    derivatives: NDArray[np.float64],
    causes: NDArray[np.float64],
    wrench: NDArray[np.float64],
) -> None:
    """Write the wrench (6,) of the airframe.

    `u`, `v`, `w`: velocity through the air, body axes (m/s); `p`, `q`, `r`: angular velocity relative to the air
    (rad/s); `slipstream`: s (m/s). `deflections` (3,): rad. `derivatives` (6, 9): COEFFICIENTS by CAUSES. `causes` (9,)
    is scratch space: each cause times the dynamic pressure, which avoids a division by an airspeed of 0.
    """
    alpha = math.atan2(w, u)
    beta = math.asin(min(LARGEST_SIDESLIP, max(-LARGEST_SIDESLIP, v / airspeed))) if airspeed > 0.0 else 0.0
    sigma = stalled_share(alpha, airframe.stall_rate, airframe.stall_angle)
    sine, cosine = math.sin(alpha), math.cos(alpha)
    bounded = alpha + sigma * (sine - alpha)
    pressure = 0.5 * air * airspeed * airspeed
    half_damping = 0.25 * air * airspeed
    causes[0] = pressure
    normal = pressure * normal_share(airspeed, u, w)
    causes[1] = normal * bounded
    causes[2] = pressure * beta
    causes[3] = half_damping * airframe.span * p
    causes[4] = half_damping * airframe.chord * q
    causes[5] = half_damping * airframe.span * r
    for k in range(3):
        causes[6 + k] = pressure * deflections[k]
    yaw_damping = causes[5]
    if airframe.tail_share > 0.0:
        at_tail = math.sqrt((u + slipstream) ** 2 + v * v + w * w)
        tail_pressure = pressure + airframe.tail_share * (0.5 * air * at_tail * at_tail - pressure)
        tail_damping = half_damping + airframe.tail_share * (0.25 * air * at_tail - half_damping)
        causes[4] = tail_damping * airframe.chord * q
        causes[5] = tail_damping * airframe.span * r
        causes[7], causes[8] = tail_pressure * deflections[1], tail_pressure * deflections[2]
    for i in range(6):
        total = 0.0
        for k in range(2 if i == 0 else 0, 9):
            total += derivatives[i, k] * causes[k]
        wrench[i] = airframe.area * total
    attached = derivatives[0, 0] + derivatives[0, 1] * alpha
    plate = math.copysign(2.0 * sine * sine, alpha) * cosine
    lift = wrench[0] + airframe.area * normal * ((1.0 - sigma) * attached + sigma * plate)
    polar = derivatives[0, 0] + derivatives[0, 1] * bounded
    drag = wrench[1] + airframe.area * normal * polar * polar / airframe.induced
    wrench[1] = wrench[2]
    wrench[0] = lift * sine - drag * cosine
    wrench[2] = -lift * cosine - drag * sine
    if airframe.wing_share > 0.0:
        x, z = wing_force(u, w, air, airframe, derivatives)
        fast_x, fast_z = wing_force(u + slipstream, w, air, airframe, derivatives)
        wrench[0] += airframe.wing_share * (fast_x - x)
        wrench[2] += airframe.wing_share * (fast_z - z)
    if airframe.tail_share > 0.0:
        wrench[3] -= airframe.area * derivatives[3, 5] * (causes[5] - yaw_damping)
    wrench[3] *= airframe.span
    wrench[4] *= airframe.chord
    wrench[5] *= airframe.span


def airframe_of(values: Values) -> Airframe:
    """The airframe that AERODYNAMIC_PARAMETERS describe."""
    aspect_ratio = number(values, "wing_b") ** 2 / number(values, "wing_s")
    return Airframe(
        area=number(values, "wing_s"),
        span=number(values, "wing_b"),
        chord=number(values, "wing_c"),
        stall_rate=number(values, "wing_M"),
        stall_angle=number(values, "wing_alpha0"),
        induced=math.pi * number(values, "wing_epsilon") * aspect_ratio,
        tail_share=number(values, "slipstream_tail_share"),
        wing_share=number(values, "slipstream_wing_share"),
    )


def derivative_numbers(values: Values) -> NDArray[np.float64]:
    """The `derivatives` array of the kernel."""
    return np.array([[number(values, f"{coefficient}_{cause}") for cause in CAUSES] for coefficient in COEFFICIENTS])
