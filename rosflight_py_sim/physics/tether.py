"""Tether between a fixed anchor and an underwater vehicle: its weight, its drag and its tension.

The cable is quasi-static and shallow: a chord of length D between its ends, which carries a uniform load q per length
across it and sags under it as a parabola. With the axial stiffness EA its mean tension T follows from the length of
that parabola (Irvine, Cable Structures, MIT Press, 1981, chapter 2):

    L (1 + T / EA) = D (1 + q^2 D^2 / (24 T^2))

a cubic equation in T with one positive root. The tension therefore rises smoothly from that of a slack cable, q D
sqrt(D / (24 (L - D))), to that of a stretched one, EA (D - L) / L. Damping within the cable (Kelvin and Voigt) counts
as a stretch of tau times the rate of D.

The load is the weight in water plus the normal drag of Morison's equation (Berteaux, Buoy Engineering, Wiley, 1976: 1/2
rho C d |v_n| v_n per length, with the velocity v_n of the water across the chord), where the cable's own velocity grows
linearly from zero at the anchor to the vehicle's. Each end carries its share of the load, as two forces on a beam.

Defaults: 7.6 mm is the diameter in a drag calculation by Blue Robotics for an ROV's tether (forum, thread 9092), 1.2
the drag coefficient of a smooth cylinder, 0 the weight of a neutrally buoyant cable; stiffness and damping are
estimates. Not modelled: deep slack, friction along the cable, its own and the added inertia, bending, contact with
floor and objects, a current that changes along the cable.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import WATER_DENSITY
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial

TETHER_PARAMETERS = ParameterTable(
    WATER_DENSITY,
    Parameter(
        "tether_length",
        0.0,
        "Length of the tether, 0 for none",
        "m",
        minimum=0.1,
        maximum=20_000.0,
        also_allowed=(0.0,),
    ),
    Parameter(
        "tether_anchor",
        [0.0, 0.0, 0.0],
        "Fixed end of the tether, NED: on a vessel, a pier or the floor",
        "m",
        minimum=-1e4,
        maximum=1e4,
        length=3,
    ),
    Parameter(
        "tether_attachment",
        [0.0, 0.0, 0.0],
        "End of the tether on the vehicle, in body axes from the centre of mass",
        "m",
        minimum=-1000.0,
        maximum=1000.0,
        length=3,
    ),
    Parameter(
        "tether_weight",
        0.0,
        "Weight of the tether in water per length; negative for a floating tether",
        "N/m",
        minimum=-1e3,
        maximum=1e3,
    ),
    Parameter("tether_diameter", 0.0076, "Diameter of the tether", "m", minimum=0.0, maximum=1.0),
    Parameter(
        "tether_drag_coefficient", 1.2, "Drag coefficient of the tether across the flow", minimum=0.0, maximum=10.0
    ),
    Parameter(
        "tether_stiffness",
        10_000.0,
        "Axial stiffness EA of the tether: tension per strain",
        "N",
        minimum=1.0,
        maximum=1e10,
    ),
    Parameter(
        "tether_damping_time",
        0.01,
        "Ratio of damping to stiffness of the stretched tether",
        "s",
        minimum=0.0,
        maximum=10.0,
    ),
)


@kernel_record
class Tether:
    """Parameters of a tether.

    Attributes:
        length: m; 0 for none.
        anchor_north: of the fixed end NED (m); `anchor_east` and `anchor_down` likewise.
        x: of the end on the vehicle, in body axes (m); `y` and `z` likewise.
        weight: in water (N/m).
        drag: normal force over length and squared velocity, 1/2 rho C d (N s^2/m^3).
        stiffness: EA (N).
        damping_time: s.
    """

    length: float
    anchor_north: float
    anchor_east: float
    anchor_down: float
    x: float
    y: float
    z: float
    weight: float
    drag: float
    stiffness: float
    damping_time: float


def tether_of(values: Values) -> Tether:
    """The tether that TETHER_PARAMETERS describe."""
    north, east, down = np.array(values["tether_anchor"], dtype=np.float64).tolist()
    x, y, z = np.array(values["tether_attachment"], dtype=np.float64).tolist()
    density, diameter = number(values, "water_density"), number(values, "tether_diameter")
    return Tether(
        length=number(values, "tether_length"),
        anchor_north=north,
        anchor_east=east,
        anchor_down=down,
        x=x,
        y=y,
        z=z,
        weight=number(values, "tether_weight"),
        drag=0.5 * density * number(values, "tether_drag_coefficient") * diameter,
        stiffness=number(values, "tether_stiffness"),
        damping_time=number(values, "tether_damping_time"),
    )


@kernel
def mean_tension(stretch: float, chord: float, load: float, length: float, stiffness: float) -> float:
    """Mean tension (N): the positive root of (L / EA) T^3 - s T^2 - q^2 D^3 / 24 = 0.

    `stretch` s is D - L (m), negative for a slack cable; `load` q is that across the chord D (N/m).
    """
    cubic, rest = length / stiffness, load * load * chord * chord * chord / 24.0
    if rest <= 0.0:
        return max(0.0, stretch) / cubic
    # Newton's method from above the root, where the cubic is convex, decreases steadily.
    tension = max(0.0, stretch) / cubic + (rest / cubic) ** (1.0 / 3.0)
    if stretch < 0.0:
        tension = min(tension, math.sqrt(-rest / stretch))
    for _ in range(50):
        value = (cubic * tension - stretch) * tension * tension - rest
        step = value / ((3.0 * cubic * tension - 2.0 * stretch) * tension)
        tension -= step
        if step <= 1e-12 * tension:
            break
    return float(tension)


@kernel
def add_tether(
    truth: NDArray[np.float64], current_ned: NDArray[np.float64], tether: Tether, wrench: NDArray[np.float64]
) -> None:
    """Add the force of a tether longer than 0 at its end on the vehicle to the wrench (6,)."""
    qw, qx, qy, qz = truth[3], truth[4], truth[5], truth[6]
    x, y, z = tether.x, tether.y, tether.z
    p, q, r = truth[10], truth[11], truth[12]
    an, ae, ad = rotate_to_inertial(qw, qx, qy, qz, x, y, z)
    vn, ve, vd = rotate_to_inertial(
        qw, qx, qy, qz, truth[7] + q * z - r * y, truth[8] + r * x - p * z, truth[9] + p * y - q * x
    )
    n = tether.anchor_north - truth[0] - an
    e = tether.anchor_east - truth[1] - ae
    d = tether.anchor_down - truth[2] - ad
    chord = math.sqrt(n * n + e * e + d * d)
    if chord > 0.0:
        n, e, d = n / chord, e / chord, d / chord
    # Gauss's points on the way from the anchor to the vehicle; exact for drag that does not change its sign.
    load_n, load_e, load_d = 0.0, 0.0, tether.weight
    end_n, end_e, end_d = 0.0, 0.0, 0.5 * tether.weight
    for k in range(2):
        part = 0.5 + (0.28867513459481287 if k == 1 else -0.28867513459481287)
        un, ue, ud = current_ned[0] - part * vn, current_ned[1] - part * ve, current_ned[2] - part * vd
        along = un * n + ue * e + ud * d
        un, ue, ud = un - along * n, ue - along * e, ud - along * d
        drag = 0.5 * tether.drag * math.sqrt(un * un + ue * ue + ud * ud)
        load_n, load_e, load_d = load_n + drag * un, load_e + drag * ue, load_d + drag * ud
        end_n, end_e, end_d = end_n + part * drag * un, end_e + part * drag * ue, end_d + part * drag * ud
    along = load_n * n + load_e * e + load_d * d
    across = math.sqrt(max(0.0, load_n * load_n + load_e * load_e + load_d * load_d - along * along))
    lengthening = -(vn * n + ve * e + vd * d)
    stretch = chord - tether.length + tether.damping_time * lengthening
    tension = mean_tension(stretch, chord, across, tether.length, tether.stiffness)
    fx, fy, fz = rotate_to_body(
        qw,
        qx,
        qy,
        qz,
        tension * n + tether.length * end_n,
        tension * e + tether.length * end_e,
        tension * d + tether.length * end_d,
    )
    wrench[0] += fx
    wrench[1] += fy
    wrench[2] += fz
    wrench[3] += y * fz - z * fy
    wrench[4] += z * fx - x * fz
    wrench[5] += x * fy - y * fx
