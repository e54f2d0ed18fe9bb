"""Downwash of a multirotor: the jet below its rotors, which moves the air at other vehicles.

Far field of a hovering quadrotor: L. Bauersfeld, K. Muller, D. Ziegler, F. Coletti and D. Scaramuzza, Robotics meets
Fluid Dynamics: A Characterization of the Induced Airflow below a Quadrotor as a Turbulent Jet, IEEE Robotics and
Automation Letters, 2025 (arXiv 2403.13321). From 2.5 l below the rotors on, the jets of all rotors have merged into
one round turbulent jet, whose mean velocity at the distance s along its axis and r across it is

    U(s, r) = U_c / (1 + (sqrt(2) - 1) (r / h)^2)^2,   U_c = 10.11 U_H l / (s + 5.817 l)

with the distance l between opposite rotors and the induced velocity in hover of momentum theory, U_H = sqrt(T / (2 rho
A)), for the thrust T and the area A of all rotor discs. The profile is that of a uniform turbulent viscosity (S. Pope,
Turbulent Flows, Cambridge, 2000, section 5.2), and h the radius at half of U_c. The constants 10.11 and 5.817 are taken
from a public implementation that cites the paper; they have not been compared with the paper's own text.

A round jet spreads linearly, h = S (s + 5.817 l), and its momentum flux is constant (Pope, sections 5.1 and 5.2). It is
that of the rotors' wake, the thrust, which gives S:

    rho pi U_c^2 h^2 / (3 (sqrt(2) - 1)) = T,   S = sqrt(6 (sqrt(2) - 1) A / pi) / (10.11 l)

For four rotors of the radius l / 3.3, S is 0.094, Pope's value of table 5.1.

Beyond the paper, which describes the mean flow of a hovering vehicle in still air from 2.5 l on:

- The half-width follows from the conservation of momentum, not from a fit to the paper's vehicles.
- Up to 2.5 l the formula is continued; over the first l, the velocity grows linearly with s. Above the rotors it is 0.
- The jet blows along the thrust. Its axis is that of a wake of momentum theory: the air passes along the sum of 2 U_H
  along the thrust and the wind relative to the vehicle, so wind and flight sweep the jet back.
- The jet has no fluctuations, passes through ground and obstacles, and takes no time to arrive.
- The velocities of several jets add up.
- The velocity differs over the vehicle by its gradient across the axis at the centre of mass,
  dU/dr = -4 (sqrt(2) - 1) r U / (h^2 (1 + (sqrt(2) - 1) (r / h)^2)). As in `rotational_gusts.py`, a gradient g of the
  velocity along the unit vector e is a rotation of the air with the angular velocity e x g.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.rotations import rotate_to_inertial

DECAY, VIRTUAL_ORIGIN = 10.11, 5.817
"""Constants of the velocity on the axis, over U_H, and of the distance of the virtual origin above the rotors, over l.
"""

FLATNESS = math.sqrt(2.0) - 1.0

HOVER_VELOCITY, SPAN, DISC_AREA = range(3)
"""Columns of the array `jets` of the kernel: U_H (m/s), l (m), A (m^2)."""

JET = ("hover_velocity", "span", "disc_area")
"""Names of these columns."""


@kernel
def half_width(span: float, disc_area: float, along: float) -> float:
    """Half-width h (m) of a jet at the distance `along` (m) from the rotors; `span` is l (m), `disc_area` A (m^2)."""
    spread = math.sqrt(6.0 * FLATNESS * disc_area / math.pi) / (DECAY * span)
    return spread * (along + VIRTUAL_ORIGIN * span)


@kernel
def jet_velocity(hover_velocity: float, span: float, disc_area: float, along: float, across: float) -> float:
    """Mean velocity (m/s) of a jet, `along` (m) its axis from the rotors and `across` (m) it: U_H, l, A, s and r."""
    if along <= 0.0:
        return 0.0
    ratio = across / half_width(span, disc_area, along)
    profile = 1.0 + FLATNESS * ratio * ratio
    on_axis = DECAY * hover_velocity * span / (along + VIRTUAL_ORIGIN * span)
    return min(1.0, along / span) * on_axis / (profile * profile)


@kernel
def blow(
    truths: NDArray[np.float64],
    jets: NDArray[np.float64],
    winds_ned: NDArray[np.float64],
    air_ned: NDArray[np.float64],
) -> None:
    """Write the velocity and rotation of the air that the jets of the others cause at each vehicle.

    Args:
        truths: truth state of each vehicle (n, 19).
        jets: (n, 3), see HOVER_VELOCITY and the other columns; a vehicle with the hover velocity 0 has none.
        winds_ned: wind at each vehicle with a jet, NED, m/s (n, 3).
        air_ned: velocity (m/s) and angular velocity (rad/s) of the air at each vehicle, NED (n, 6).
    """
    count = truths.shape[0]
    for j in range(count):
        for k in range(6):
            air_ned[j, k] = 0.0
    for i in range(count):
        if jets[i, HOVER_VELOCITY] <= 0.0:
            continue
        qw, qx, qy, qz = truths[i, 3], truths[i, 4], truths[i, 5], truths[i, 6]
        north, east, down = rotate_to_inertial(qw, qx, qy, qz, 0.0, 0.0, 1.0)
        u, v, w = rotate_to_inertial(qw, qx, qy, qz, truths[i, 7], truths[i, 8], truths[i, 9])
        wake = 2.0 * jets[i, HOVER_VELOCITY]
        ax, ay, az = wake * north + winds_ned[i, 0] - u, wake * east + winds_ned[i, 1] - v, wake * down
        az += winds_ned[i, 2] - w
        length = math.sqrt(ax * ax + ay * ay + az * az)
        if length < 1e-6:
            continue
        ax, ay, az = ax / length, ay / length, az / length
        for j in range(count):
            if j == i:
                continue
            x, y, z = truths[j, 0] - truths[i, 0], truths[j, 1] - truths[i, 1], truths[j, 2] - truths[i, 2]
            along = x * ax + y * ay + z * az
            x, y, z = x - along * ax, y - along * ay, z - along * az
            across = math.sqrt(x * x + y * y + z * z)
            velocity = jet_velocity(jets[i, HOVER_VELOCITY], jets[i, SPAN], jets[i, DISC_AREA], along, across)
            air_ned[j, 0] += velocity * north
            air_ned[j, 1] += velocity * east
            air_ned[j, 2] += velocity * down
            if along > 0.0:
                ratio = FLATNESS / half_width(jets[i, SPAN], jets[i, DISC_AREA], along) ** 2
                # Over the distance from the axis, with which (x, y, z) becomes a unit vector.
                slope = -4.0 * ratio * velocity / (1.0 + ratio * across * across)
                air_ned[j, 3] += slope * (y * down - z * east)
                air_ned[j, 4] += slope * (z * north - x * down)
                air_ned[j, 5] += slope * (x * east - y * north)
