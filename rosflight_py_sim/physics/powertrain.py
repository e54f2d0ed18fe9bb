"""Battery, speed controllers, motors and propellers: the electric powertrain shared by all vehicles.

A speed controller supplies the throttle's share of the battery's voltage to its motor, or, where the motor's current
would exceed `esc_current_limit`, the voltage at which the current is at the limit.
All rotors of a vehicle are equal and draw on one battery. Their state is in arrays, so that a step allocates nothing:
`throttles` (n,) share of the battery's voltage at each motor, `speeds` (n,) rad/s, `accelerations` (n,) rad/s^2.

Actuators are causal: a rotor with a lag has turned under the throttles and the voltage of the previous instant up to
the present one, from which on the new throttles are in force. So a new throttle changes neither thrust nor torque of
the propeller at its own instant; the acceleration, and with it the reaction on the body, jumps with the motor's
current. A rotor without lag has its new speed at once.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.remembered import remembered
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.atmosphere import density
from rosflight_py_sim.physics.battery import Battery, battery_load, loaded_voltage, open_circuit_voltage
from rosflight_py_sim.physics.descent import descent_shares, figure_of_merit, flow_slope, hover_velocity
from rosflight_py_sim.physics.earth import ALTITUDE_PARAMETERS, Site, altitude_at, site_of
from rosflight_py_sim.physics.propulsion import SLOWEST_SPEED, coefficient, steady_rotor_speed

_coefficient = partial(Parameter, minimum=-10.0, maximum=10.0, required=True)

POWERTRAIN_PARAMETERS = ParameterTable(
    _coefficient("CT_0", 0.08729101, "Thrust coefficient at standstill"),
    _coefficient("CT_1", -0.11006411, "Thrust coefficient, linear in the advance ratio"),
    _coefficient("CT_2", -0.12928596, "Thrust coefficient, quadratic in the advance ratio"),
    Parameter("CQ_0", 0.00428594, "Torque coefficient at standstill", minimum=1e-7, maximum=10.0, required=True),
    _coefficient("CQ_1", 0.00146105, "Torque coefficient, linear in the advance ratio"),
    _coefficient("CQ_2", -0.01440988, "Torque coefficient, quadratic in the advance ratio"),
    Parameter("D_prop", 0.381, "Propeller diameter", "m", minimum=0.005, maximum=50.0, required=True),
    Parameter("R_motor", 0.042, "Motor winding resistance", "ohm", minimum=1e-9, maximum=1e3, required=True),
    Parameter("I_0", 1.5, "Motor no-load current", "A", minimum=0.0, maximum=1e3, required=True),
    Parameter(
        "KQ",
        0.028937,
        "Motor torque constant, equal to its back-emf constant in V s/rad",
        "N m/A",
        minimum=1e-5,
        maximum=100.0,
        required=True,
    ),
    Parameter(
        "rotor_inertia",
        0.0,
        "Moment of inertia of a propeller with the rotating part of its motor, about its axis; 0 for none",
        "kg m^2",
        minimum=0.0,
        maximum=100.0,
    ),
    Parameter(
        "esc_current_limit",
        0.0,
        "Current to which the speed controller limits each motor; 0 for no limit",
        "A",
        minimum=0.0,
        maximum=1000.0,
    ),
    Parameter(
        "motor_time_constant",
        0.03,
        "Time constant of the rotor speed lag; 0 for no lag",
        "s",
        minimum=0.0,
        maximum=100.0,
    ),
)

AIR_PARAMETERS = ALTITUDE_PARAMETERS + ParameterTable(
    Parameter(
        "use_standard_atmosphere", True, "Compute the air density from the altitude; if false, it is rho everywhere"
    ),
    Parameter("rho", 1.225, "Air density if use_standard_atmosphere is false", "kg/m^3", minimum=0.0, maximum=100.0),
)


@kernel_record
class Powertrain:
    """Parameters of battery, motors, propellers and air.

    Attributes:
        ct_0: thrust coefficient at standstill; `ct_1` and `ct_2`: linear and quadratic in the advance ratio.
        cq_0: torque coefficient at standstill; `cq_1` and `cq_2`: linear and quadratic in the advance ratio.
        diameter: of a propeller (m).
        hover_velocity: induced velocity in hover over the rotor speed (m), see `descent.py`.
        flow_slope: beta of `descent.py`.
        merit: figure of merit of a propeller in hover.
        resistance: of a motor's winding (ohm).
        no_load_current: of a motor (A).
        torque_constant: of a motor (N m/A, V s/rad).
        rotor_inertia: of a propeller with the rotating part of its motor, about its axis (kg m^2).
        current_limit: of a motor (A); infinite for no limit.
        lag: time constant of the rotor speed (s); 0 for no lag.
        full_voltage: of the full battery without load (V).
        capacity: charge of the full battery (A s); 0 for a battery that never empties.
        internal_resistance: of battery and wires (ohm).
        standard_atmosphere: whether the air density is computed from the altitude; if false, it is `rho`.
        rho: air density (kg/m^3).
        site: the launch point.
    """

    ct_0: float
    ct_1: float
    ct_2: float
    cq_0: float
    cq_1: float
    cq_2: float
    diameter: float
    hover_velocity: float
    flow_slope: float
    merit: float
    resistance: float
    no_load_current: float
    torque_constant: float
    rotor_inertia: float
    current_limit: float
    lag: float
    full_voltage: float
    capacity: float
    internal_resistance: float
    standard_atmosphere: bool
    rho: float
    site: Site


@remembered
def powertrain_of(values: Values) -> Powertrain:
    """The powertrain that POWERTRAIN_PARAMETERS, BATTERY_PARAMETERS and AIR_PARAMETERS describe."""
    ct_0, ct_1, cq_0 = number(values, "CT_0"), number(values, "CT_1"), number(values, "CQ_0")
    return Powertrain(
        ct_0=ct_0,
        ct_1=ct_1,
        ct_2=number(values, "CT_2"),
        cq_0=cq_0,
        cq_1=number(values, "CQ_1"),
        cq_2=number(values, "CQ_2"),
        diameter=number(values, "D_prop"),
        hover_velocity=hover_velocity(ct_0, number(values, "D_prop")),
        flow_slope=flow_slope(ct_0, ct_1),
        merit=figure_of_merit(ct_0, cq_0),
        resistance=number(values, "R_motor"),
        no_load_current=number(values, "I_0"),
        torque_constant=number(values, "KQ"),
        rotor_inertia=number(values, "rotor_inertia"),
        current_limit=number(values, "esc_current_limit") or math.inf,
        lag=number(values, "motor_time_constant"),
        full_voltage=number(values, "V_max"),
        # mA h to A s.
        capacity=number(values, "battery_capacity_mah") * 3.6,
        internal_resistance=number(values, "battery_internal_resistance"),
        standard_atmosphere=bool(values["use_standard_atmosphere"]),
        rho=number(values, "rho"),
        site=site_of(values),
    )


@kernel
def air_density(powertrain: Powertrain, truth: NDArray[np.float64]) -> float:
    """Density (kg/m^3) at the position of a truth state (19,)."""
    if powertrain.standard_atmosphere:
        return density(altitude_at(powertrain.site, truth[0], truth[1], truth[2]))
    return powertrain.rho


@kernel
def supply_voltage(
    powertrain: Powertrain,
    battery: Battery,
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
) -> float:
    """Voltage (V) at the battery's terminals from its charge and the motor load."""
    voltage = powertrain.full_voltage
    if powertrain.capacity > 0.0:
        voltage = open_circuit_voltage(1.0 - battery.charge_drawn / powertrain.capacity, voltage)
    if powertrain.internal_resistance > 0.0:
        voltage = loaded_voltage(
            voltage,
            powertrain.internal_resistance,
            throttles,
            speeds,
            powertrain.resistance,
            powertrain.torque_constant,
            powertrain.current_limit,
        )
    return voltage


@kernel
def balanced_speed(
    powertrain: Powertrain, stall_current: float, conductance: float, inflow: float, air: float
) -> float:
    """Equilibrium speed (rad/s) of motor and propeller; see `steady_rotor_speed`."""
    return steady_rotor_speed(
        stall_current,
        conductance,
        inflow,
        air,
        powertrain.diameter,
        powertrain.cq_0,
        powertrain.cq_1,
        powertrain.cq_2,
        powertrain.no_load_current,
        powertrain.torque_constant,
    )


@kernel
def advanced_speed(powertrain: Powertrain, voltage: float, inflow: float, air: float, dt: float, speed: float) -> float:
    """Speed (rad/s) of a rotor after dt (s), from `speed`.

    It follows the equilibrium speed at `voltage` (V) with a first-order lag, solved exactly. If the motor's current
    would then exceed its limit L, the voltage is K Omega + R L, with the mean speed Omega over the step; this holds for
    an infinite step as well. In descent, the propeller's torque beyond that in hover is that of the present speed.
    """
    conductance, emf, limit = 1.0 / powertrain.resistance, powertrain.torque_constant, powertrain.current_limit
    driving = 0.0
    if inflow < 0.0:
        turning = max(SLOWEST_SPEED, speed)
        in_hover = propeller_load(powertrain, turning, 0.0, air, True)[1]
        driving = (in_hover - propeller_load(powertrain, turning, inflow, air, True)[1]) / emf
        inflow = 0.0
    balance = balanced_speed(powertrain, voltage * conductance + driving, conductance, inflow, air)
    follow = followed_share(powertrain, dt)
    advanced = speed + follow * (balance - speed)
    if voltage - emf * advanced > powertrain.resistance * limit:
        # Share of the error that is left on average over the step.
        left = follow * powertrain.lag / dt if dt > 0.0 and powertrain.lag > 0.0 else 1.0 - follow
        rest = left * conductance
        balance = balanced_speed(powertrain, limit + rest * emf * speed + driving, rest, inflow, air)
        advanced = speed + follow * (balance - speed)
    return advanced


@kernel
def set_inflow(powertrain: Powertrain, dt: float, inflow: float, inflows: NDArray[np.float64]) -> None:
    """Note the present inflow of a rotor, in m/s, dt (s) after the last one.

    `inflows` (2,) receives it, and the constant inflow with which the rotor's lag would have the same effect over the
    step as with one that changes linearly.
    """
    share, lag = 1.0, powertrain.lag
    if lag > 0.0 and dt > 0.0:
        share = 1.0 / followed_share(powertrain, dt) - lag / dt
    inflows[1] = inflows[0] + share * (inflow - inflows[0])
    inflows[0] = inflow


@kernel
def voltage_halfway(
    powertrain: Powertrain,
    battery: Battery,
    throttles: NDArray[np.float64],
    inflows: NDArray[np.float64],
    air: float,
    dt: float,
    speeds: NDArray[np.float64],
    halfway: NDArray[np.float64],
) -> float:
    """Voltage (V) in the middle of a step of dt (s) from the present speeds (n,); `halfway` (n,): scratch space."""
    if powertrain.internal_resistance == 0.0 or powertrain.lag == 0.0 or dt == 0.0:
        return battery.voltage
    for i in range(speeds.shape[0]):
        voltage = throttles[i] * battery.voltage
        halfway[i] = advanced_speed(powertrain, voltage, inflows[i, 1], air, 0.5 * dt, speeds[i])
    return supply_voltage(powertrain, battery, throttles, halfway)


@kernel
def turn_rotors(
    powertrain: Powertrain,
    battery: Battery,
    commanded: NDArray[np.float64],
    throttles: NDArray[np.float64],
    inflows: NDArray[np.float64],
    air: float,
    dt: float,
    speeds: NDArray[np.float64],
    accelerations: NDArray[np.float64],
    halfway: NDArray[np.float64],
) -> None:
    """Advance speeds (n,) and battery by dt (s) under the throttles in force, then put those `commanded` (n,) in force.

    `inflows` (n, 2) as in `set_inflow`, `air` density in kg/m^3, `halfway` (n,): scratch space. The voltage is that in
    the middle of the step, so that the speeds are accurate to second order in dt.

    `accelerations` (n,) receives the mean over this step and the next, taken to be equally long: second order in dt,
    without delay, and its sum over time is the change of speed. The speed of a rotor without lag jumps, and counts as
    changed over a step. A step of no length does not change it.
    """
    lagging, turning = powertrain.lag > 0.0, powertrain.rotor_inertia > 0.0 and dt > 0.0
    if not lagging:
        set_throttles(powertrain, battery, commanded, throttles, speeds)
    voltage = voltage_halfway(powertrain, battery, throttles, inflows, air, dt, speeds, halfway)
    for i in range(speeds.shape[0]):
        before = speeds[i]
        speeds[i] = advanced_speed(powertrain, throttles[i] * voltage, inflows[i, 1], air, dt, before)
        if turning:
            accelerations[i] = (speeds[i] - before) / dt
    # No discharge without current, even for an infinite dt.
    if powertrain.capacity > 0.0 and battery.current > 0.0:
        battery.charge_drawn = min(powertrain.capacity, battery.charge_drawn + battery.current * dt)
    set_throttles(powertrain, battery, commanded, throttles, speeds)
    if turning and lagging:
        voltage = voltage_halfway(powertrain, battery, throttles, inflows, air, dt, speeds, halfway)
        for i in range(speeds.shape[0]):
            after = advanced_speed(powertrain, throttles[i] * voltage, inflows[i, 0], air, dt, speeds[i])
            accelerations[i] += 0.5 * ((after - speeds[i]) / dt - accelerations[i])


@kernel
def set_throttles(
    powertrain: Powertrain,
    battery: Battery,
    commanded: NDArray[np.float64],
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
) -> None:
    """Put the throttles that are `commanded` (n,) in force, and set voltage and current of the battery under them."""
    for i in range(throttles.shape[0]):
        throttles[i] = commanded[i]
    load_battery(powertrain, battery, throttles, speeds)


@kernel
def followed_share(powertrain: Powertrain, dt: float) -> float:
    """Share of the speed error that a rotor closes in dt (s)."""
    lag = powertrain.lag
    return 1.0 - math.exp(-dt / lag) if lag > 0.0 else 1.0


@kernel
def propeller_load(
    powertrain: Powertrain, speed: float, inflow: float, air: float, limited: bool
) -> tuple[float, float]:
    """Thrust (N) and torque (N m) of a propeller that turns with `speed` (rad/s) in an inflow (m/s); none at rest.

    C rho D^4 w^2 / (4 pi^2), and D times that for the torque, with C quadratic in the advance ratio 2 pi V / (w D);
    `limited` keeps both coefficients above 0, see `coefficient`. For an inflow below 0 see `descent.py`.
    """
    if speed <= 0.0:
        return 0.0, 0.0
    scale = air * powertrain.diameter**4 / (4.0 * math.pi**2) * speed * speed
    if inflow < 0.0:
        thrust, torque = descent_shares(
            inflow / (powertrain.hover_velocity * speed), powertrain.flow_slope, powertrain.merit
        )
        return thrust * powertrain.ct_0 * scale, torque * powertrain.cq_0 * scale * powertrain.diameter
    ratio = 2.0 * math.pi * inflow / (speed * powertrain.diameter)
    if limited:
        ct = coefficient(ratio, powertrain.ct_0, powertrain.ct_1, powertrain.ct_2)
        cq = coefficient(ratio, powertrain.cq_0, powertrain.cq_1, powertrain.cq_2)
    else:
        ct = powertrain.ct_0 + ratio * (powertrain.ct_1 + ratio * powertrain.ct_2)
        cq = powertrain.cq_0 + ratio * (powertrain.cq_1 + ratio * powertrain.cq_2)
    return ct * scale, cq * scale * powertrain.diameter


@kernel
def load_battery(
    powertrain: Powertrain, battery: Battery, throttles: NDArray[np.float64], speeds: NDArray[np.float64]
) -> None:
    """Set voltage and current of the battery under the motors' load."""
    battery.voltage = supply_voltage(powertrain, battery, throttles, speeds)
    battery.current = battery_load(
        battery.voltage,
        throttles,
        speeds,
        powertrain.resistance,
        powertrain.torque_constant,
        powertrain.current_limit,
    )
