"""Battery, motors and propellers: the electric powertrain shared by all vehicles.

All rotors of a vehicle are equal and draw on one battery. Their state is in arrays, so that a step allocates nothing:
`throttles` (n,) share of the battery's voltage at each motor, `speeds` (n,) rad/s, `battery` (3,) VOLTAGE (V), CURRENT
(A), CHARGE_DRAWN (A s). `powertrain` holds the parameters, at the indices named here.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.physics.atmosphere import density
from rosflight_py_sim.physics.battery import BATTERY_PARAMETERS, battery_load, loaded_voltage, open_circuit_voltage
from rosflight_py_sim.physics.propulsion import coefficient, steady_rotor_speed
from rosflight_py_sim.shared_parameters import ORIGIN_ALTITUDE

POWERTRAIN_PARAMETERS = ParameterTable(
    Parameter("CT_0", 0.08729101, "Thrust coefficient at standstill", required=True),
    Parameter("CT_1", -0.11006411, "Thrust coefficient, linear in the advance ratio", required=True),
    Parameter("CT_2", -0.12928596, "Thrust coefficient, quadratic in the advance ratio", required=True),
    Parameter("CQ_0", 0.00428594, "Torque coefficient at standstill", minimum=0.0, above_minimum=True, required=True),
    Parameter("CQ_1", 0.00146105, "Torque coefficient, linear in the advance ratio", required=True),
    Parameter("CQ_2", -0.01440988, "Torque coefficient, quadratic in the advance ratio", required=True),
    Parameter("D_prop", 0.381, "Propeller diameter", "m", minimum=0.0, above_minimum=True, required=True),
    Parameter("R_motor", 0.042, "Motor winding resistance", "ohm", minimum=0.0, above_minimum=True, required=True),
    Parameter("I_0", 1.5, "Motor no-load current", "A", minimum=0.0, required=True),
    Parameter(
        "KQ",
        0.028937,
        "Motor torque constant, equal to its back-emf constant in V s/rad",
        "N m/A",
        minimum=0.0,
        above_minimum=True,
        required=True,
    ),
    Parameter("motor_time_constant", 0.03, "Time constant of the rotor speed lag; 0 for no lag", "s", minimum=0.0),
)

AIR_PARAMETERS = ParameterTable(
    Parameter(
        "use_standard_atmosphere", True, "Compute the air density from the altitude; if false, it is rho everywhere"
    ),
    Parameter("rho", 1.225, "Air density if use_standard_atmosphere is false", "kg/m^3", minimum=0.0),
    ORIGIN_ALTITUDE,
)

_NUMBERS = (
    *(parameter.name for parameter in POWERTRAIN_PARAMETERS),
    *(parameter.name for parameter in BATTERY_PARAMETERS),
    *(parameter.name for parameter in AIR_PARAMETERS),
)
CT_0, CT_1, CT_2, CQ_0, CQ_1, CQ_2, DIAMETER, RESISTANCE, NO_LOAD_CURRENT, TORQUE_CONSTANT, LAG = range(11)
FULL_VOLTAGE, CAPACITY, INTERNAL_RESISTANCE, STANDARD_ATMOSPHERE, RHO, ORIGIN_HEIGHT = range(11, 17)

VOLTAGE, CURRENT, CHARGE_DRAWN = range(3)


def powertrain_numbers(values: Values) -> NDArray[np.float64]:
    """The `powertrain` array of the kernels."""
    powertrain = np.array([number(values, name) for name in _NUMBERS])
    # mA h to A s.
    powertrain[CAPACITY] *= 3.6
    return powertrain


def full_battery(powertrain: NDArray[np.float64]) -> NDArray[np.float64]:
    """The `battery` array of a full battery without load."""
    return np.array([powertrain[FULL_VOLTAGE], 0.0, 0.0])


@kernel
def air_density(powertrain: NDArray[np.float64], down: float) -> float:
    """Density (kg/m^3) at `down` (m) below the origin."""
    if powertrain[STANDARD_ATMOSPHERE] != 0.0:
        return density(powertrain[ORIGIN_HEIGHT] - down)
    return float(powertrain[RHO])


@kernel
def supply_voltage(
    powertrain: NDArray[np.float64],
    battery: NDArray[np.float64],
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
) -> float:
    """Voltage (V) at the battery's terminals from its charge and the motor load."""
    voltage = powertrain[FULL_VOLTAGE]
    if powertrain[CAPACITY] > 0.0:
        voltage = open_circuit_voltage(1.0 - battery[CHARGE_DRAWN] / powertrain[CAPACITY], voltage)
    if powertrain[INTERNAL_RESISTANCE] > 0.0:
        voltage = loaded_voltage(
            voltage,
            powertrain[INTERNAL_RESISTANCE],
            throttles,
            speeds,
            powertrain[RESISTANCE],
            powertrain[TORQUE_CONSTANT],
        )
    return float(voltage)


@kernel
def balanced_speed(powertrain: NDArray[np.float64], voltage: float, inflow: float, air: float) -> float:
    """Equilibrium speed (rad/s) of motor and propeller; see `steady_rotor_speed`."""
    return steady_rotor_speed(
        voltage,
        inflow,
        air,
        powertrain[DIAMETER],
        powertrain[CQ_0],
        powertrain[CQ_1],
        powertrain[CQ_2],
        powertrain[RESISTANCE],
        powertrain[NO_LOAD_CURRENT],
        powertrain[TORQUE_CONSTANT],
    )


@kernel
def followed_share(powertrain: NDArray[np.float64], dt: float) -> float:
    """Share of the speed error that a rotor closes in dt (s): the exact solution of its first-order lag."""
    lag = powertrain[LAG]
    return 1.0 - math.exp(-dt / lag) if lag > 0.0 else 1.0


@kernel
def propeller_load(
    powertrain: NDArray[np.float64], speed: float, inflow: float, air: float, limited: bool
) -> tuple[float, float]:
    """Thrust (N) and torque (N m) of a propeller that turns with `speed` (rad/s) in an inflow (m/s); none at rest.

    C rho D^4 w^2 / (4 pi^2), and D times that for the torque, with C quadratic in the advance ratio 2 pi V / (w D);
    `limited` keeps both coefficients above 0, see `coefficient`.
    """
    if speed <= 0.0:
        return 0.0, 0.0
    ratio = 2.0 * math.pi * inflow / (speed * powertrain[DIAMETER])
    if limited:
        ct = coefficient(ratio, powertrain[CT_0], powertrain[CT_1], powertrain[CT_2])
        cq = coefficient(ratio, powertrain[CQ_0], powertrain[CQ_1], powertrain[CQ_2])
    else:
        ct = powertrain[CT_0] + ratio * (powertrain[CT_1] + ratio * powertrain[CT_2])
        cq = powertrain[CQ_0] + ratio * (powertrain[CQ_1] + ratio * powertrain[CQ_2])
    scale = air * powertrain[DIAMETER] ** 4 / (4.0 * math.pi**2) * speed * speed
    return ct * scale, cq * scale * powertrain[DIAMETER]


@kernel
def load_battery(
    powertrain: NDArray[np.float64],
    battery: NDArray[np.float64],
    voltage: float,
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
    dt: float,
) -> None:
    """Discharge the battery by the motor current at `voltage` (V) for dt (s)."""
    current = battery_load(voltage, throttles, speeds, powertrain[RESISTANCE], powertrain[TORQUE_CONSTANT])
    battery[VOLTAGE] = voltage
    battery[CURRENT] = current
    # No discharge without current, even for an infinite dt.
    if powertrain[CAPACITY] > 0.0 and current > 0.0:
        battery[CHARGE_DRAWN] = min(powertrain[CAPACITY], battery[CHARGE_DRAWN] + current * dt)


class BatteryPowered:
    """Battery readings from the `battery` array that the vehicle holds as `_battery`."""

    _battery: NDArray[np.float64]

    @property
    def battery_voltage(self) -> float:
        """Voltage at the battery's terminals (V)."""
        return self._battery.item(VOLTAGE)

    @property
    def current_a(self) -> float:
        """Total current drawn from the battery (A)."""
        return self._battery.item(CURRENT)

    @property
    def charge_drawn_ah(self) -> float:
        """Charge drawn from the battery so far (A h), at most its capacity; 0 for a battery that never empties."""
        return self._battery.item(CHARGE_DRAWN) / 3600.0
