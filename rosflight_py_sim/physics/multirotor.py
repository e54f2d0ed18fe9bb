"""Forces and moments of a multirotor: rotors, battery, drag, ground effect.

Beard and McLain, Small Unmanned Aircraft, section 4.3, and its supplement on multirotors (chapter 14), as flown by
ROSflight, for any number, position, tilt and spin of equal rotors:

    T = C_T rho D^4 Omega^2 / (4 pi^2),   Q = C_Q rho D^5 Omega^2 / (4 pi^2)
    F = sum T_i a_i + sum H_i - rho A_c CD |V| V / 2,   H_i = -T_i CD_induced (V_i - (V_i a_i) a_i)
    M = sum r_i x (T_i a_i + H_i) + direction_i Q_i a_i - dh_i/dt - omega x h_i,   h_i = -direction_i J_r Omega_i a_i

with a_i the thrust axis and r_i the hub's position of rotor i, V the velocity of the centre of mass through the air and
V_i = V + omega x r_i that of the hub, in body axes. The rotor speed follows the equilibrium speed of motor and
propeller with the first-order lag `motor_time_constant`. With `rotor_inflow: centre`, as in ROSflight, V_i is V, H_i
has no moment, and inflow from behind counts as 0; with `hub`, thrust damps pitch and roll, and `descent.py` gives
thrust and torque in descent.

The rotor drag H_i lumps the flapping of the blades, which tilts the thrust away from the motion by an angle in
proportion to the advance ratio, with the blades' induced and profile drag (Mahony, Kumar and Corke, Multirotor Aerial
Vehicles, IEEE Robotics & Automation Magazine 19(3), 2012).

A rotor's angular momentum h_i relative to the body, with `rotor_inertia` J_r, gives the reaction to its acceleration
and the gyroscopic moment. The moments of inertia in dynamics are those of the vehicle with its rotors at rest. The
acceleration is the mean over the step before and the step after, so that the moment's impulse is -J_r times the change
of the speed.

Ground effect raises the thrust of a rotor whose wake meets the ground (Cheeseman and Bennett, The effect of the ground
on a helicopter rotor in forward flight, ARC R&M 3021, 1955, at constant power and without forward speed):

    T / T_far = 1 / (1 - k (R / 4z)^2)

with the radius R and the distance z from the hub to the ground along the wake. k is `rotor_ground_effect`; the paper's
single rotor has 1. The formula is valid for z above R / 2, so k (R / 4z)^2 is at most 1/4, its value there for k = 1.
ROSflight's own ground effect is `ground_effect`, a polynomial of the height above the origin: a force along body -z at
any attitude and thrust, never negative.

Not modelled: moments of stiff blades at the hub, effect of the speed across the axis on thrust (translational lift) and
torque, a limit of the rotor drag, which is linear in the speed, interaction between rotors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground import pulse_width
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, pulse_of
from rosflight_py_sim.ground.remembered import remembered
from rosflight_py_sim.ground.shared_parameters import GROUND_ALTITUDE
from rosflight_py_sim.kernels.chain import copy_numbers
from rosflight_py_sim.kernels.jit import bound, kernel, kernel_part
from rosflight_py_sim.kernels.record import assign, kernel_record
from rosflight_py_sim.physics.battery import BATTERY_PARAMETERS, Battery, BatteryPowered, full_battery
from rosflight_py_sim.physics.powertrain import (
    AIR_PARAMETERS,
    POWERTRAIN_PARAMETERS,
    Powertrain,
    air_density,
    load_battery,
    powertrain_of,
    propeller_load,
    set_inflow,
    turn_rotors,
)
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.wind_model import NO_ROTATION

# Height in metres at which the ground has no effect on the rotors, and accuracy of the throttle in hover.
_FAR_FROM_GROUND, _THROTTLE_ACCURACY = 100.0, 1e-6

command_of = kernel_part(pulse_width.command_of)

_AIRFRAME_PARAMETERS = ParameterTable(
    Parameter("num_rotors", 4, "Number of rotors; output i drives rotor i", minimum=1, maximum=OUTPUTS, required=True),
    Parameter(
        "rotor_positions",
        [],
        "Rotor positions, x y z each, in body axes from the centre of mass; if given, rotor_dists, rotor_radial_angles "
        "and rotor_height are ignored",
        "m",
        minimum=-100.0,
        maximum=100.0,
    ),
    Parameter(
        "rotor_dists",
        [],
        "Rotor distances from the centre of mass, in the body xy plane",
        "m",
        minimum=0.0,
        maximum=100.0,
    ),
    Parameter(
        "rotor_radial_angles",
        [],
        "Rotor azimuths from the nose, clockwise seen from above",
        "deg",
        minimum=-3600.0,
        maximum=3600.0,
    ),
    Parameter(
        "rotor_height",
        0.0,
        "Height of the rotors above the centre of mass, if rotor_dists and rotor_radial_angles place them",
        "m",
        minimum=-10.0,
        maximum=10.0,
    ),
    Parameter(
        "rotor_tilts",
        [],
        "Rotor tilts, roll and pitch each (pitch first, then roll about the tilted x axis: positive roll tips the "
        "thrust right, positive pitch back); if empty, all rotors point straight up",
        "deg",
        minimum=-3600.0,
        maximum=3600.0,
    ),
    Parameter(
        "rotor_rotation_directions",
        [-1, 1, -1, 1],
        "Rotation directions, 1 or -1; the propeller torque of a rotor with 1 yaws the vehicle to the left",
        minimum=-1,
        maximum=1,
        required=True,
    ),
    Parameter("CD", 2.05, "Drag coefficient of the body", minimum=0.0, maximum=100.0, required=True),
    Parameter(
        "A_c", 0.04, "Reference area of the body's drag coefficient", "m^2", minimum=0.0, maximum=1e3, required=True
    ),
    Parameter(
        "CD_induced",
        0.05,
        "Rotor drag per thrust and airspeed across the rotor axis",
        "s/m",
        minimum=0.0,
        maximum=10.0,
        required=True,
    ),
    Parameter(
        "rotor_inflow",
        "centre",
        "Air velocity at each rotor: centre (that of the centre of mass, without inflow from behind; rotor drag has no "
        "moment, as in ROSflight) or hub (that of the hub, in climb and descent; rotor drag acts at the hub)",
        choices=("centre", "hub"),
    ),
    Parameter(
        "rotor_ground_effect",
        0.0,
        "Ground effect on the thrust of each rotor, relative to that of a single rotor; 0 for none",
        minimum=0.0,
        maximum=20.0,
    ),
    Parameter(
        "ground_effect",
        [0.0, 0.0, 0.0, 0.0, 0.0],
        "Force of the ground effect as in ROSflight, independent of thrust and attitude: polynomial coefficients over "
        "the height above the origin (m), fourth power first",
        "N",
        minimum=-1e4,
        maximum=1e4,
        length=5,
    ),
    GROUND_ALTITUDE,
)

MULTIROTOR_PARAMETERS = BATTERY_PARAMETERS + _AIRFRAME_PARAMETERS + POWERTRAIN_PARAMETERS + AIR_PARAMETERS


@kernel_record
class Aerodynamics:
    """Drag and ground effect of a multirotor.

    Attributes:
        drag_area: drag coefficient of the body times its reference area (m^2).
        rotor_drag: of a rotor per thrust and airspeed across its axis (s/m).
        at_hub: whether rotors meet the air at their hubs, where their drag acts; if false, at the centre of mass.
        ground_effect: k of the ground effect on thrust.
        ground_down: down coordinate of the ground (m).
    """

    drag_area: float
    rotor_drag: float
    at_hub: bool
    ground_effect: float
    ground_down: float


@kernel
def ground_factor(strength: float, radius: float, height: float, upward: float) -> float:
    """Thrust of a rotor near the ground over its thrust far away, 1 for a rotor whose wake goes up.

    `strength` k, `radius` (m), `height` of the hub above the ground (m), `upward` component of the thrust axis.
    """
    if upward <= 0.0:
        return 1.0
    ratio = 0.25 * radius * upward / max(1e-3 * radius, height)
    return 1.0 / (1.0 - min(0.25, strength * ratio * ratio))


@kernel
def multirotor_wrench(
    aerodynamics: Aerodynamics,
    ground_effect: NDArray[np.float64],
    powertrain: Powertrain,
    rotors: NDArray[np.float64],
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
    accelerations: NDArray[np.float64],
    inflows: NDArray[np.float64],
    halfway: NDArray[np.float64],
    commanded: NDArray[np.float64],
    battery: Battery,
    wrench: NDArray[np.float64],
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    wind_rates: NDArray[np.float64],
    pwm_us: NDArray[np.float64],
    dt: float,
) -> None:
    """Advance rotors and battery by dt to the state, write the wrench (6,), and put the outputs in force.

    `ground_effect` (5,): coefficients of the force (N) over the height, fourth power first. `rotors` (n, 7):
    position, thrust axis, direction. `commanded` (n,): scratch space. The rest as in `powertrain.py`.
    """
    air = air_density(powertrain, truth)
    qw, qx, qy, qz = truth[3], truth[4], truth[5], truth[6]
    wx, wy, wz = rotate_to_body(qw, qx, qy, qz, wind_ned[0], wind_ned[1], wind_ned[2])
    dx, dy, dz = rotate_to_body(qw, qx, qy, qz, 0.0, 0.0, 1.0)
    u, v, w = truth[7] - wx, truth[8] - wy, truth[9] - wz

    scale = 0.5 * air * aerodynamics.drag_area * math.sqrt(u * u + v * v + w * w)
    fx, fy, fz = -scale * u, -scale * v, -scale * w
    mx, my, mz = 0.0, 0.0, 0.0
    p, q, r, lever = 0.0, 0.0, 0.0, 0.0
    if aerodynamics.at_hub:
        p, q, r = truth[10] - wind_rates[0], truth[11] - wind_rates[1], truth[12] - wind_rates[2]
        lever = 1.0
    for i in range(rotors.shape[0]):
        x, y, z = rotors[i, 0], rotors[i, 1], rotors[i, 2]
        along = (u + q * z - r * y) * rotors[i, 3]
        along += (v + r * x - p * z) * rotors[i, 4] + (w + p * y - q * x) * rotors[i, 5]
        set_inflow(powertrain, dt, along if aerodynamics.at_hub else max(0.0, along), inflows[i])
        commanded[i] = min(1.0, max(0.0, command_of(pwm_us[i], MOTOR)))
    turn_rotors(powertrain, battery, commanded, throttles, inflows, air, dt, speeds, accelerations, halfway)
    for i in range(rotors.shape[0]):
        x, y, z = rotors[i, 0], rotors[i, 1], rotors[i, 2]
        ax, ay, az = rotors[i, 3], rotors[i, 4], rotors[i, 5]
        ui, vi, wi = u + q * z - r * y, v + r * x - p * z, w + p * y - q * x
        along = ui * ax + vi * ay + wi * az
        thrust, torque = propeller_load(powertrain, speeds[i], inflows[i, 0], air, True)
        height = aerodynamics.ground_down - truth[2] - (x * dx + y * dy + z * dz)
        upward = -(ax * dx + ay * dy + az * dz)
        thrust *= ground_factor(aerodynamics.ground_effect, 0.5 * powertrain.diameter, height, upward)
        tx, ty, tz = thrust * ax, thrust * ay, thrust * az
        side = -thrust * aerodynamics.rotor_drag
        hx, hy, hz = side * (ui - along * ax), side * (vi - along * ay), side * (wi - along * az)
        fx += tx + hx
        fy += ty + hy
        fz += tz + hz
        tx, ty, tz = tx + lever * hx, ty + lever * hy, tz + lever * hz
        turn = rotors[i, 6] * (torque + powertrain.rotor_inertia * accelerations[i])
        spin = rotors[i, 6] * powertrain.rotor_inertia * speeds[i]
        mx += y * tz - z * ty + turn * ax + spin * (truth[11] * az - truth[12] * ay)
        my += z * tx - x * tz + turn * ay + spin * (truth[12] * ax - truth[10] * az)
        mz += x * ty - y * tx + turn * az + spin * (truth[10] * ay - truth[11] * ax)
    height = -truth[2]
    lift = 0.0
    for k in range(5):
        lift = lift * height + ground_effect[k]
    wrench[0], wrench[1], wrench[2] = fx, fy, fz - max(0.0, lift)
    wrench[3], wrench[4], wrench[5] = mx, my, mz


@kernel
def disc_velocity(
    powertrain: Powertrain,
    rotors: NDArray[np.float64],
    speeds: NDArray[np.float64],
    inflows: NDArray[np.float64],
    disc_area: float,
    truth: NDArray[np.float64],
) -> float:
    """Velocity (m/s) that momentum theory gives the air in the rotor discs, in hover with the present thrust, upwards.

    `disc_area` (m^2) is that of all rotors; the rest as in `multirotor_wrench`.
    """
    air = air_density(powertrain, truth)
    thrust = 0.0
    for i in range(rotors.shape[0]):
        thrust -= rotors[i, 5] * propeller_load(powertrain, speeds[i], inflows[i, 0], air, True)[0]
    return math.sqrt(max(0.0, thrust) / (2.0 * air * disc_area))


@kernel
def settle(
    aerodynamics: Aerodynamics,
    ground_effect: NDArray[np.float64],
    powertrain: Powertrain,
    rotors: NDArray[np.float64],
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
    accelerations: NDArray[np.float64],
    inflows: NDArray[np.float64],
    halfway: NDArray[np.float64],
    commanded: NDArray[np.float64],
    battery: Battery,
    wrench: NDArray[np.float64],
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    wind_rates: NDArray[np.float64],
    pwm_us: NDArray[np.float64],
    before: NDArray[np.float64],
) -> None:
    """Let rotors and battery settle without drawing charge; arguments as of `multirotor_wrench`, `before` (n,) scratch.

    Speeds and voltage are coupled; each iteration reduces the error by more than half in practice.
    """
    drawn = battery.charge_drawn
    for _ in range(200):
        copy_numbers(speeds, before)
        battery.charge_drawn = drawn
        load_battery(powertrain, battery, throttles, speeds)
        multirotor_wrench(
            aerodynamics,
            ground_effect,
            powertrain,
            rotors,
            throttles,
            speeds,
            accelerations,
            inflows,
            halfway,
            commanded,
            battery,
            wrench,
            truth,
            wind_ned,
            wind_rates,
            pwm_us,
            math.inf,
        )
        is_settled = True
        for i in range(len(speeds)):
            if not abs(speeds[i] - before[i]) <= 1e-13 * before[i]:
                is_settled = False
        if is_settled:
            break


class Multirotor(BatteryPowered):
    """Forces and moments of a multirotor from its truth state, the wind and the outputs of the flight controller.

    `values` contains MULTIROTOR_PARAMETERS. Raises ParameterError if the length of a rotor list does not match
    `num_rotors`, or a direction is neither 1 nor -1.
    """

    def __init__(self, values: Values) -> None:
        self._rotors = rotor_geometry(values)
        count = len(self._rotors)
        diameter = number(values, "D_prop")
        hubs = self._rotors[:, :3]
        # A jet needs some width, also that of a single rotor.
        self._span = max(diameter, float(np.max(np.linalg.norm(hubs[:, None] - hubs, axis=2))))
        self._disc_area = 0.25 * math.pi * count * diameter * diameter
        self._aerodynamics = Aerodynamics(
            drag_area=number(values, "CD") * number(values, "A_c"),
            rotor_drag=number(values, "CD_induced"),
            at_hub=values["rotor_inflow"] == "hub",
            ground_effect=number(values, "rotor_ground_effect"),
            ground_down=-number(values, "ground_altitude"),
        )
        self._ground_effect = np.array(values["ground_effect"], dtype=np.float64)
        self._powertrain = self._supply = powertrain_of(values)
        self._throttles = np.zeros(count)
        self._speeds = np.zeros(count)
        self._accelerations, self._inflows = np.zeros(count), np.zeros((count, 2))
        self._halfway, self._commanded = np.zeros(count), np.zeros(count)
        self._battery = full_battery(self._powertrain.full_voltage)
        self.wrench = np.zeros(6)
        self._models = (
            self._aerodynamics,
            self._ground_effect,
            self._powertrain,
            self._rotors,
            self._throttles,
            self._speeds,
            self._accelerations,
            self._inflows,
            self._halfway,
            self._commanded,
            self._battery,
            self.wrench,
        )
        self._disc_velocity = bound(
            disc_velocity, self._powertrain, self._rotors, self._speeds, self._inflows, self._disc_area
        )
        self._advance = bound(multirotor_wrench, *self._models)

    def bound_update(
        self,
        truth: NDArray[np.float64],
        wind_ned: NDArray[np.float64],
        pwm_us: NDArray[np.float64],
        dt: float,
        wind_rates: NDArray[np.float64],
    ) -> Callable[[], None]:
        """`update` for steps of `dt` as one kernel, which works on the arrays by their memory."""
        return bound(multirotor_wrench, *self._models, truth, wind_ned, wind_rates, pwm_us, dt)

    def update(
        self,
        truth: NDArray[np.float64],
        wind_ned: NDArray[np.float64],
        pwm_us: NDArray[np.float64],
        dt: float,
        wind_rates: NDArray[np.float64] = NO_ROTATION,
    ) -> NDArray[np.float64]:
        """Wrench (6,), N and N m in body axes, without gravity and contact, dt (s) after the previous pulse widths.

        `truth` (19,), `wind_ned` (3,) m/s, `pwm_us` (14,) pulse widths in us: 1000 to 2000 is throttle 0 to 1 of the
        rotor of that number, `wind_rates` (3,) angular velocity of the air in body axes, rad/s. The pulse widths take
        effect from this instant on: the speed of a rotor with a lag changes from the next call on, but the reaction to
        its acceleration acts at once. The next call overwrites the returned array.
        """
        self._advance(truth, wind_ned, wind_rates, pwm_us, dt)
        return self.wrench

    def steady_wrench(
        self, truth: NDArray[np.float64], wind_ned: NDArray[np.float64], throttles: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Wrench (6,) once rotors and battery have settled at `throttles` (n,), 0 to 1; the state is left unchanged.

        The array is new.
        """
        return self._settled(truth, wind_ned, throttles)[0]

    def steady_speeds(
        self, truth: NDArray[np.float64], wind_ned: NDArray[np.float64], throttles: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Rotor speeds (n,), rad/s, in the steady state of `steady_wrench`. The array is new."""
        return self._settled(truth, wind_ned, throttles)[1]

    def hover(self, throttle: float) -> None:
        """Let all rotors turn with a throttle, 0 to 1, in still air and far from the ground."""
        self._throttles[:] = throttle
        _, self._speeds[:] = self._settled(self._in_the_air(), np.zeros(3), self._throttles)
        load_battery(self._powertrain, self._battery, self._throttles, self._speeds)

    def hover_throttle(self, weight: float) -> float:
        """Throttle of all rotors, 0 to 1, whose thrust, in still air and far from the ground, is `weight` (N).

        Raises:
            ParameterError: the thrust at full throttle is smaller.
        """
        truth, still_air = self._in_the_air(), np.zeros(3)

        def lift(throttle: float) -> float:
            return -float(self.steady_wrench(truth, still_air, np.full(self.outputs, throttle))[2])

        most = lift(1.0)
        if most < weight:
            raise ParameterError(
                f"parameter 'starts_in_flight': true given for a weight of {weight:.4g} N; allowed: false, or a weight "
                f"up to the thrust of all rotors, {most:.4g} N"
            )
        low, high = 0.0, 1.0
        while high - low > _THROTTLE_ACCURACY:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if lift(middle) < weight else (low, middle)
        return high

    def _in_the_air(self) -> NDArray[np.float64]:
        """Truth state (19,) of a vehicle that is level, at rest and far from the ground."""
        truth = np.zeros(19)
        truth[2], truth[3] = -_FAR_FROM_GROUND - abs(self._aerodynamics.ground_down), 1.0
        return truth

    def _settled(
        self, truth: NDArray[np.float64], wind_ned: NDArray[np.float64], throttles: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wrench (6,) and rotor speeds (n,) once rotors and battery have settled at `throttles` (n,)."""
        pwm_us = pulse_of(throttles, MOTOR)
        work, speeds, battery = throttles.copy(), self._speeds.copy(), copy(self._battery)
        accelerations, inflows, wrench = np.zeros(len(work)), np.zeros((len(work), 2)), np.zeros(6)
        settle(
            self._aerodynamics,
            self._ground_effect,
            self._powertrain,
            self._rotors,
            work,
            speeds,
            accelerations,
            inflows,
            self._halfway,
            self._commanded,
            battery,
            wrench,
            truth,
            wind_ned,
            NO_ROTATION,
            pwm_us,
            np.empty(len(work)),
        )
        return wrench, speeds

    def jet(self, truth: NDArray[np.float64]) -> tuple[float, float, float]:
        """The row of `jets` in `downwash.py` for the rotors as they are after an update in a truth state (19,)."""
        return self._disc_velocity(truth), self._span, self._disc_area

    @property
    def outputs(self) -> int:
        """Number of rotors; output i drives rotor i."""
        return len(self._speeds)

    @property
    def rotor_speeds(self) -> NDArray[np.float64]:
        """Rotor speeds (n,), rad/s; each update overwrites the array."""
        return self._speeds

    def adopt(self, other: Multirotor) -> None:
        """Copy the rotors' state and the battery of another multirotor; additional rotors start at rest."""
        count = min(len(self._speeds), len(other._speeds))
        self._throttles[:count] = other._throttles[:count]
        self._speeds[:count] = other._speeds[:count]
        self._accelerations[:count] = other._accelerations[:count]
        self._inflows[:count] = other._inflows[:count]
        assign(self._battery, other._battery)


@remembered
def rotor_geometry(values: Values) -> NDArray[np.float64]:
    """Rotors (n, 7): position in body axes (m), thrust axis (unit vector), direction of rotation."""
    count = int(number(values, "num_rotors"))

    def listed(name: str, per_rotor: int) -> NDArray[np.float64]:
        given = np.array(values[name], dtype=np.float64)
        if len(given) != count * per_rotor:
            raise ParameterError(
                f"parameter '{name}': {len(given)} numbers given; allowed: {count * per_rotor}, "
                f"{per_rotor} for each of the {count} rotors of num_rotors"
            )
        return given.reshape(count, per_rotor)

    rotors = np.zeros((count, 7))
    if values["rotor_positions"]:
        rotors[:, 0:3] = listed("rotor_positions", 3)
    else:
        distance = listed("rotor_dists", 1)[:, 0]
        azimuth = np.radians(listed("rotor_radial_angles", 1)[:, 0])
        rotors[:, 0], rotors[:, 1] = distance * np.cos(azimuth), distance * np.sin(azimuth)
        rotors[:, 2] = -number(values, "rotor_height")
    rotors[:, 5] = -1.0
    if values["rotor_tilts"]:
        roll, pitch = np.radians(listed("rotor_tilts", 2)).T
        rotors[:, 3] = -np.sin(pitch) * np.cos(roll)
        rotors[:, 4] = np.sin(roll)
        rotors[:, 5] = -np.cos(pitch) * np.cos(roll)
    rotors[:, 6] = listed("rotor_rotation_directions", 1)[:, 0]
    if np.any(np.abs(rotors[:, 6]) != 1.0):
        raise ParameterError(
            f"parameter 'rotor_rotation_directions': {values['rotor_rotation_directions']!r} given; "
            "allowed: 1 or -1 for each rotor"
        )
    return rotors
