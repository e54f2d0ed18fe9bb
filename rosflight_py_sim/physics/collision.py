"""Collision of vehicles: spheres around the centres of mass, with spring and dashpot between two that overlap.

With the overlap d of two spheres and the speed of approach d', the vehicles push each other apart along the line
between their centres, with the force

    F = max(0, k d + c d'),   k = m w^2,   c = 2 z m w,   w = pi / T

for the reduced mass m = m_1 m_2 / (m_1 + m_2), where T is the duration of the collision without the dashpot. The
stiffness follows from the duration so that light and heavy vehicles collide in equally many steps. Vehicles of
different data are connected in series: 1/k = 1/k_1 + 1/k_2 with k_i = m_i w_i^2, and z is the mean of theirs.

The force never pulls. The coefficient of restitution e, the speed of separation over that of approach, is then (T.
Schwager and T. Poschel, Coefficient of restitution and linear-dashpot model revisited, Granular Matter 9, 2007; with
u = sqrt(1 - z^2), their formulas for weak and strong damping are one)

    e = exp(-(z / u) (pi - atan2(2 z u, 1 - 2 z^2))),   0 <= z < 1,   e > exp(-2)

The force is computed at the beginning of a step and held over it. It is therefore that of the middle of the step, to
which the overlap is extrapolated: the method then neither adds energy to a spring nor takes any, for w times the step
below 2, and converges at second order while the spheres touch.

The contact has no friction, and its force no moment: a collision changes no rotation.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.rotations import rotate_to_inertial

COLLISION_RADIUS = Parameter(
    "collision_radius",
    0.0,
    "Radius of the sphere around the centre of mass with which the vehicle collides with other vehicles; 0: it does "
    "not collide. Otherwise dynamics waits for the node encounters",
    "m",
    minimum=1e-3,
    maximum=1e3,
    also_allowed=(0.0,),
    read_only=True,
)

COLLISION_PARAMETERS = ParameterTable(
    COLLISION_RADIUS,
    Parameter(
        "collision_duration",
        0.05,
        "Duration of an elastic collision of two such vehicles, which gives the stiffness; at least four steps",
        "s",
        minimum=2e-3,
        maximum=1.0,
    ),
    Parameter(
        "collision_restitution",
        0.5,
        "Speed of separation of two such vehicles after a head-on collision, over their speed of approach",
        minimum=0.15,
        maximum=1.0,
    ),
)

RADIUS, MASS, STIFFNESS, DAMPING_RATIO = range(4)
"""Columns of the array `spheres` of the kernel: m, kg, N/m, 1."""

SPHERE = ("radius", "mass", "stiffness", "damping_ratio")
"""Names of these columns."""

FIRST, SECOND, OVERLAP, APPROACH, FORCE = range(5)
"""Columns of the array `contacts` of the kernel: numbers of the two vehicles, m in the middle of the step, m/s, N."""

SHORTEST_DURATION = 4.0
"""Shortest duration of a collision, in steps."""


def sphere_of(values: Values) -> tuple[float, float, float, float]:
    """The row of `spheres` of a vehicle; `values` contains COLLISION_PARAMETERS and `mass`."""
    mass, rate = number(values, "mass"), math.pi / number(values, "collision_duration")
    damping_ratio = damping_ratio_of(number(values, "collision_restitution"))
    return number(values, COLLISION_RADIUS.name), mass, mass * rate * rate, damping_ratio


def duration_of(mass: float, stiffness: float) -> float:
    """Duration of an elastic collision of two equal vehicles (s), from the columns of `spheres`."""
    return math.pi * math.sqrt(mass / stiffness)


def restitution_of(damping_ratio: float) -> float:
    """Coefficient of restitution for a damping ratio, at least 0 and less than 1."""
    root = math.sqrt(1.0 - damping_ratio * damping_ratio)
    phase = math.atan2(2.0 * damping_ratio * root, 1.0 - 2.0 * damping_ratio * damping_ratio)
    return math.exp(-damping_ratio / root * (math.pi - phase))


def damping_ratio_of(restitution: float) -> float:
    """Damping ratio for a coefficient of restitution in (exp(-2), 1], by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle < 1.0 and restitution_of(middle) > restitution:
            low = middle
        else:
            high = middle
    return low


@kernel
def collide(
    truths: NDArray[np.float64],
    spheres: NDArray[np.float64],
    forces: NDArray[np.float64],
    contacts: NDArray[np.float64],
    dt: float,
) -> int:
    """Write the force of the others on each vehicle, and the contacts; return the number of contacts.

    The forces on two vehicles in contact are equal and opposite to the bit. The order of the rows decides on the order
    of summation, and on nothing else.

    Args:
        truths: truth state of each vehicle (n, 19).
        spheres: (n, 4), see RADIUS and the other columns; a vehicle with the radius 0 collides with none.
        forces: force on each vehicle, NED, N (n, 3).
        contacts: the first rows are overwritten (n (n - 1) / 2, 5), see FIRST and the other columns.
        dt: length of the step over which the forces are held (s).
    """
    count = truths.shape[0]
    found = 0
    for i in range(count):
        forces[i, 0], forces[i, 1], forces[i, 2] = 0.0, 0.0, 0.0
    for i in range(count):
        if spheres[i, RADIUS] <= 0.0:
            continue
        own_speed = math.sqrt(truths[i, 7] ** 2 + truths[i, 8] ** 2 + truths[i, 9] ** 2)
        for j in range(i + 1, count):
            if spheres[j, RADIUS] <= 0.0:
                continue
            speed = math.sqrt(truths[j, 7] ** 2 + truths[j, 8] ** 2 + truths[j, 9] ** 2)
            radii = spheres[i, RADIUS] + spheres[j, RADIUS]
            reach = radii + 0.5 * dt * (own_speed + speed)
            north = truths[j, 0] - truths[i, 0]
            east = truths[j, 1] - truths[i, 1]
            down = truths[j, 2] - truths[i, 2]
            if abs(north) >= reach or abs(east) >= reach or abs(down) >= reach:
                continue
            distance = math.sqrt(north * north + east * east + down * down)
            if distance >= reach:
                continue
            # Unit vector from the first to the second; of two vehicles in one place, the second goes down.
            if distance > 1e-9:
                north, east, down = north / distance, east / distance, down / distance
            else:
                north, east, down = 0.0, 0.0, 1.0
            ui, vi, wi = rotate_to_inertial(
                truths[i, 3], truths[i, 4], truths[i, 5], truths[i, 6], truths[i, 7], truths[i, 8], truths[i, 9]
            )
            uj, vj, wj = rotate_to_inertial(
                truths[j, 3], truths[j, 4], truths[j, 5], truths[j, 6], truths[j, 7], truths[j, 8], truths[j, 9]
            )
            approach = (ui - uj) * north + (vi - vj) * east + (wi - wj) * down
            overlap = radii - distance + 0.5 * dt * approach
            if overlap <= 0.0:
                continue
            stiffness = spheres[i, STIFFNESS] * spheres[j, STIFFNESS]
            stiffness /= spheres[i, STIFFNESS] + spheres[j, STIFFNESS]
            mass = spheres[i, MASS] * spheres[j, MASS] / (spheres[i, MASS] + spheres[j, MASS])
            damping = (spheres[i, DAMPING_RATIO] + spheres[j, DAMPING_RATIO]) * math.sqrt(stiffness * mass)
            force = max(0.0, stiffness * overlap + damping * approach)
            forces[i, 0] -= force * north
            forces[i, 1] -= force * east
            forces[i, 2] -= force * down
            forces[j, 0] += force * north
            forces[j, 1] += force * east
            forces[j, 2] += force * down
            contacts[found, FIRST], contacts[found, SECOND] = i, j
            contacts[found, OVERLAP], contacts[found, APPROACH] = overlap, approach
            contacts[found, FORCE] = force
            found += 1
    return found
