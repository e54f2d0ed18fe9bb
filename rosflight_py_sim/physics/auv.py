"""Forces and moments of an underwater vehicle: buoyancy, damping, thrusters and tether.

Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control (Wiley, 2011), section 7.5: the terms of the equations
of motion that depend only on the current state, in body axes at the centre of mass:

    buoyancy  -B s (e_down - a_w / g), at the middle of the immersed part of the hull (section 4.1, eq. 4.1 to 4.6)
    damping   -s (D nu_r + D_n |nu_r| nu_r), |nu_r| nu_r component by component (section 6.4; matrices D and D_n)
    thrust    sum T_i a_i, with the moments r_i x T_i a_i

nu_r is the velocity relative to the water; the current takes the place of the wind. a_w is the acceleration of the
water in waves: its pressure accelerates the hull as it would the water in its place (Froude and Krylov; the hull is
short compared with the waves). s is the submerged share of the hull. B is rho g V of the whole hull: the weight and the
net buoyancy, to which a vehicle is trimmed with ballast. Added mass is part of the inertia, not a force, and is handled
with the weight in `rigid_body.py`.
Not modelled: lift, waves that the hull reflects or radiates, thruster-induced flow, wind on the part above the water.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import MASS
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import assign, kernel_record
from rosflight_py_sim.physics.battery import (
    BATTERY_PARAMETERS,
    Battery,
    BatteryPowered,
    full_battery,
    open_circuit_voltage,
)
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS, earth_of
from rosflight_py_sim.physics.hydrodynamics import DAMPING_PARAMETERS, matrix_of
from rosflight_py_sim.physics.immersion import HULL_PARAMETERS, hull_numbers, immersed_part, reach_of
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.tether import TETHER_PARAMETERS, Tether, add_tether, tether_of
from rosflight_py_sim.physics.thrusters import (
    AXIS,
    PLACE,
    THRUSTER_PARAMETERS,
    advance_thrust,
    motor_current,
    thruster_numbers,
)
from rosflight_py_sim.physics.waves import ELEVATION, ORBITAL_ACCELERATION, SLOPE, WAVE_PARAMETERS, Waves
from rosflight_py_sim.physics.wind_model import NO_ROTATION

_BODY_PARAMETERS = EARTH_PARAMETERS + ParameterTable(
    MASS,
    Parameter(
        "net_buoyancy",
        0.0,
        "Buoyancy of the fully submerged vehicle minus its weight; positive: it floats up",
        "N",
        minimum=-10_000.0,
        maximum=10_000.0,
    ),
    Parameter(
        "electronics_current", 0.0, "Current drawn by everything except the thrusters", "A", minimum=0.0, maximum=1e4
    ),
)

AUV_PARAMETERS = (
    _BODY_PARAMETERS
    + DAMPING_PARAMETERS
    + HULL_PARAMETERS
    + WAVE_PARAMETERS
    + TETHER_PARAMETERS
    + THRUSTER_PARAMETERS
    + BATTERY_PARAMETERS
)


@kernel_record
class Body:
    """Parameters of an underwater vehicle without its thrusters.

    Attributes:
        buoyancy: of the whole hull (N).
        displaced: mass of the water that the whole hull displaces (kg).
        propeller: diameter of the propellers (m).
        electronics: current of everything except the thrusters (A).
        full_voltage: of the full battery without load (V).
        capacity: charge of the full battery (A s); 0 for a battery that never empties.
        resistance: of battery and wires (ohm).
    """

    buoyancy: float
    displaced: float
    propeller: float
    electronics: float
    full_voltage: float
    capacity: float
    resistance: float


@kernel
def auv_wrench(
    body: Body,
    damping: NDArray[np.float64],
    hull: NDArray[np.float64],
    sea: NDArray[np.float64],
    tether: Tether,
    thrusters: NDArray[np.float64],
    pulses_us: NDArray[np.float64],
    thrusts: NDArray[np.float64],
    battery: Battery,
    wrench: NDArray[np.float64],
    truth: NDArray[np.float64],
    current_ned: NDArray[np.float64],
    pwm_us: NDArray[np.float64],
    dt: float,
) -> None:
    """Advance thrusters and battery by dt to the state, write the wrench (6,), and put the outputs in force.

    `damping` (6, 12): the linear matrix, and beside it the quadratic one. `hull` as in
    `immersion.py`, `sea` as in `waves.py`, `thrusters` (n, 13) as in `thrusters.py`, `pulses_us` (n,): the
    previous outputs, `thrusts` (n,) N.
    """
    qw, qx, qy, qz = truth[3], truth[4], truth[5], truth[6]
    share, bx, by, bz = immersed_part(truth, hull, sea)
    moved, wave = share * body.displaced, ORBITAL_ACCELERATION
    weight = share * body.buoyancy
    fx, fy, fz = rotate_to_body(
        qw, qx, qy, qz, moved * sea[wave], moved * sea[wave + 1], moved * sea[wave + 2] - weight
    )
    wrench[0], wrench[1], wrench[2] = fx, fy, fz
    wrench[3], wrench[4], wrench[5] = by * fz - bz * fy, bz * fx - bx * fz, bx * fy - by * fx
    cx, cy, cz = rotate_to_body(qw, qx, qy, qz, current_ned[0], current_ned[1], current_ned[2])
    u, v, w, p, q, r = truth[7] - cx, truth[8] - cy, truth[9] - cz, truth[10], truth[11], truth[12]
    uu, vv, ww, pp, qq, rr = u * abs(u), v * abs(v), w * abs(w), p * abs(p), q * abs(q), r * abs(r)
    for i in range(6):
        drag = damping[i, 0] * u + damping[i, 1] * v + damping[i, 2] * w
        drag += damping[i, 3] * p + damping[i, 4] * q + damping[i, 5] * r
        drag += damping[i, 6] * uu + damping[i, 7] * vv + damping[i, 8] * ww
        drag += damping[i, 9] * pp + damping[i, 10] * qq + damping[i, 11] * rr
        wrench[i] -= share * drag
    drawn = body.electronics
    dx, dy, dz = rotate_to_body(qw, qx, qy, qz, sea[SLOPE], sea[SLOPE + 1], 1.0)
    for k in range(thrusters.shape[0]):
        thruster = thrusters[k]
        thrusts[k] = advance_thrust(thruster, pulses_us[k], thrusts[k], dt)
        pulses_us[k] = pwm_us[k]
        # Without lag at once.
        thrusts[k] = advance_thrust(thruster, pulses_us[k], thrusts[k], 0.0)
        drawn += motor_current(thruster, thrusts[k])
        x, y, z = thruster[PLACE], thruster[PLACE + 1], thruster[PLACE + 2]
        depth = truth[2] + sea[ELEVATION] + dx * x + dy * y + dz * z
        thrust = thrusts[k] * min(1.0, max(0.0, 0.5 + depth / body.propeller))
        tx, ty, tz = thrust * thruster[AXIS], thrust * thruster[AXIS + 1], thrust * thruster[AXIS + 2]
        wrench[0] += tx
        wrench[1] += ty
        wrench[2] += tz
        wrench[3] += y * tz - z * ty
        wrench[4] += z * tx - x * tz
        wrench[5] += x * ty - y * tx
    if tether.length > 0.0:
        add_tether(truth, current_ned, tether, wrench)
    charge = 1.0
    if body.capacity > 0.0:
        battery.charge_drawn = min(body.capacity, battery.charge_drawn + drawn * dt)
        charge -= battery.charge_drawn / body.capacity
    battery.current = drawn
    battery.voltage = max(0.0, open_circuit_voltage(charge, body.full_voltage) - body.resistance * drawn)


class Auv(BatteryPowered):
    """Forces and moments of an underwater vehicle from its truth state, the current and the outputs.

    `values` contains AUV_PARAMETERS. Raises ParameterError as `matrix_of`, `Waves` and `thruster_numbers` do.

    Attributes:
        waves: the sea, calm until it is moved to the vehicle's position and time.
        wrench: last wrench (6,), N and N m; each update overwrites the array.
    """

    def __init__(self, values: Values) -> None:
        self._thrusters = thruster_numbers(values)
        self._hull = hull_numbers(values)
        self.waves = Waves(values, reach_of(values))
        self._tether = tether_of(values)
        gravity = earth_of(values).gravity
        buoyancy = number(values, "mass") * gravity + number(values, "net_buoyancy")
        self._body = self._supply = Body(
            buoyancy=buoyancy,
            displaced=buoyancy / gravity if gravity > 0.0 else 0.0,
            propeller=number(values, "thruster_diameter"),
            electronics=number(values, "electronics_current"),
            full_voltage=number(values, "V_max"),
            # mA h to A s.
            capacity=number(values, "battery_capacity_mah") * 3.6,
            resistance=number(values, "battery_internal_resistance"),
        )
        self._damping = np.hstack([matrix_of(values, "linear_damping"), matrix_of(values, "quadratic_damping")])
        self._pulses_us = np.zeros(len(self._thrusters))
        self._thrusts = np.zeros(len(self._thrusters))
        self._battery = full_battery(self._body.full_voltage)
        self.wrench = np.zeros(6)
        self._models = (
            self._body,
            self._damping,
            self._hull,
            self.waves.sea,
            self._tether,
            self._thrusters,
            self._pulses_us,
            self._thrusts,
            self._battery,
            self.wrench,
        )
        self._advance = bound(auv_wrench, *self._models)

    def bound_update(
        self,
        truth: NDArray[np.float64],
        current_ned: NDArray[np.float64],
        pwm_us: NDArray[np.float64],
        dt: float,
        current_rates: NDArray[np.float64],
    ) -> Callable[[], None]:
        """`update` for steps of `dt` as one kernel, which works on the arrays by their memory."""
        return bound(auv_wrench, *self._models, truth, current_ned, pwm_us, dt)

    def update(
        self,
        truth: NDArray[np.float64],
        current_ned: NDArray[np.float64],
        pwm_us: NDArray[np.float64],
        dt: float,
        current_rates: NDArray[np.float64] = NO_ROTATION,
    ) -> NDArray[np.float64]:
        """Wrench (6,), N and N m in body axes, without weight, contact and added mass, dt (s) after the last pulses.

        `truth` (19,), `current_ned` (3,) m/s, `pwm_us` (14,): 1500 +/- 500 us is -1 to 1 of the thruster of that
        number, less than NO_PULSE_US means no output. The pulse widths take effect from this instant on: thrusters with
        a lag show it from the next call on. The rotation of the water, `current_rates`, has no effect. The
        next call overwrites the returned array.
        """
        self._advance(truth, current_ned, pwm_us, dt)
        return self.wrench

    @property
    def outputs(self) -> int:
        """Number of thrusters; output i drives thruster i."""
        return len(self._thrusts)

    @property
    def thrusts(self) -> NDArray[np.float64]:
        """Thrusts (n,), N, negative in reverse, as if fully in water; each update overwrites the array."""
        return self._thrusts

    @property
    def rotor_speeds(self) -> NDArray[np.float64]:
        """None (0,): the model has thrusts, not the speeds of the propellers."""
        return np.zeros(0)

    def adopt(self, other: Auv) -> None:
        """Copy the state of thrusters and battery of another vehicle; additional thrusters start at rest."""
        count = min(len(self._thrusts), len(other._thrusts))
        self._pulses_us[:count] = other._pulses_us[:count]
        self._thrusts[:count] = other._thrusts[:count]
        assign(self._battery, other._battery)
