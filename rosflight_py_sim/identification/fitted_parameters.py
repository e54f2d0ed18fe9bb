"""Parameters that flight logs can show, and the manoeuvres that show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value, Values, number
from rosflight_py_sim.vehicles.physics_model import VehicleClass

_PITCH_STEPS = "pitch steps to and fro (3-2-1-1, 0.1 to 0.3 s each)"
_ROLL_STEPS = "roll steps to and fro (3-2-1-1, 0.1 to 0.3 s each)"
_YAW_STEPS = "yaw rate steps to and fro (3-2-1-1, 0.2 to 0.4 s each)"
_THROTTLE_STEPS = "throttle steps to and fro (3-2-1-1, 0.1 to 0.3 s each)"
_RUDDER_STEPS = "rudder steps to and fro (3-2-1-1, half the period of the Dutch roll each)"
_SPEEDS = "level flight at several airspeeds, from slow to fast"

LATENCY = "imu_latency"
"""Parameter of the time between outputs and response: the age of the IMU's readings at their stamps."""

MANOEUVRES: Mapping[str, str] = {
    "mass": "climbs, descents and accelerated flight, with a known thrust: CT_0 and the inertia must not be fitted too",
    "CT_0": "hover and throttle steps, with a known mass and a logged battery voltage",
    "CT_1": "fast climbs and descents",
    "CT_2": "fast climbs and descents",
    "CQ_0": _YAW_STEPS,
    "CQ_1": f"{_YAW_STEPS} in fast climbs",
    "CQ_2": f"{_YAW_STEPS} in fast climbs",
    "Jxx": _ROLL_STEPS,
    "Jyy": _PITCH_STEPS,
    "Jzz": _YAW_STEPS,
    "Jxz": f"{_ROLL_STEPS} and {_YAW_STEPS}",
    "CD": "flight at several speeds in opposite directions, the fastest with at least 8 m/s through the air",
    "A_c": "the same as CD, of which it is a factor: fit one of them",
    "CD_induced": "flight at several speeds in opposite directions, and turns in wind",
    "motor_time_constant": _THROTTLE_STEPS,
    "rotor_inertia": f"{_YAW_STEPS}, logged at 200 Hz or more",
    "R_motor": f"{_THROTTLE_STEPS} from idle to full, with a known CQ_0 and KQ",
    "KQ": f"{_THROTTLE_STEPS} from idle to full, with a known CT_0, CQ_0 and R_motor",
    "I_0": "flight near idle, with a known CQ_0 and KQ",
    "servo_tau": f"{_ROLL_STEPS}, logged at 100 Hz or more",
    LATENCY: f"{_ROLL_STEPS} and {_PITCH_STEPS}, logged at 200 Hz or more",
    "C_L_O": _SPEEDS,
    "C_L_alpha": f"{_PITCH_STEPS}, and {_SPEEDS}",
    "C_L_q": _PITCH_STEPS,
    "C_L_delta_e": _PITCH_STEPS,
    "C_D_O": f"{_SPEEDS}, and glides",
    "C_D_alpha": f"{_SPEEDS}, and glides",
    "wing_epsilon": f"{_SPEEDS}, and glides",
    "C_Y_beta": _RUDDER_STEPS,
    "C_Y_delta_r": _RUDDER_STEPS,
    "C_ell_beta": _RUDDER_STEPS,
    "C_ell_p": _ROLL_STEPS,
    "C_ell_r": _RUDDER_STEPS,
    "C_ell_delta_a": _ROLL_STEPS,
    "C_ell_delta_r": _RUDDER_STEPS,
    "C_m_O": _SPEEDS,
    "C_m_alpha": _PITCH_STEPS,
    "C_m_q": _PITCH_STEPS,
    "C_m_delta_e": _PITCH_STEPS,
    "C_n_beta": _RUDDER_STEPS,
    "C_n_p": _ROLL_STEPS,
    "C_n_r": _RUDDER_STEPS,
    "C_n_delta_a": _ROLL_STEPS,
    "C_n_delta_r": _RUDDER_STEPS,
}
"""Manoeuvre that shows a parameter, by the parameter's name."""

_ROLL, _PITCH, _YAW, _AHEAD, _SIDE, _LIFT = range(6)
"""Readings of the IMU: rates about x, y, z and specific forces along x, y, z."""

_READINGS: Mapping[str, int] = {
    "mass": _LIFT,
    "CT_0": _LIFT,
    "CQ_0": _YAW,
    "Jxx": _ROLL,
    "Jyy": _PITCH,
    "Jzz": _YAW,
    "motor_time_constant": _ROLL,
    "rotor_inertia": _YAW,
    "Jxz": _ROLL,
    "CQ_1": _YAW,
    "CQ_2": _YAW,
    "CD": _AHEAD,
    "CD_induced": _AHEAD,
    "servo_tau": _ROLL,
    LATENCY: _ROLL,
}
_COEFFICIENTS = {"C_L": _LIFT, "C_D": _AHEAD, "C_Y": _SIDE, "C_ell": _ROLL, "C_m": _PITCH, "C_n": _YAW}


def reading_of(name: str) -> int | None:
    """Number of the IMU's reading that shows a parameter best, in the order of `output_error.READINGS`; None: any."""
    coefficient = max((one for one in _COEFFICIENTS if name.startswith(f"{one}_")), key=len, default="")
    return _READINGS.get(name, _COEFFICIENTS.get(coefficient))


def needs_moments(name: str) -> bool:
    """Whether the gyro is the reading that determines a parameter, so that moments must be modelled."""
    return reading_of(name) in (_ROLL, _PITCH, _YAW)


def is_scale(name: str) -> bool:
    """Whether a parameter scales the specific force that determines it, even if the force is constant, as in hover."""
    return name in ("mass", "CT_0")


_MULTIROTOR = ("CT_0", "CQ_0", "Jxx", "Jyy", "Jzz", "CD", "CD_induced", "motor_time_constant")
_FIXEDWING = (
    *("CT_0", "C_L_O", "C_L_alpha", "C_D_O", "C_m_O", "C_m_alpha", "C_m_q", "C_m_delta_e"),
    *("C_Y_beta", "C_ell_beta", "C_ell_p", "C_ell_delta_a", "C_n_beta", "C_n_r", "C_n_delta_r"),
)

DEFAULTS: Mapping[VehicleClass, Sequence[str]] = {
    VehicleClass.ROTORCRAFT: _MULTIROTOR,
    VehicleClass.FIXED_WING: _FIXEDWING,
}
"""Parameters that are fitted unless others are named, by class of the vehicle."""


_LATENCY_SCALE_S = 0.02


def scale_of(parameter: Parameter, values: Values) -> float:
    """Size of the value in the vehicle's file, in which changes are counted.

    Raises:
        ParameterError: the parameter is no number, or 0, so that it has no size.
    """
    if parameter.name == LATENCY:
        return _LATENCY_SCALE_S
    value: Value = values[parameter.name]
    if parameter.scalar_type is not float or isinstance(value, (list, str)):
        raise ParameterError(f"--fit: {parameter.name} given, a {parameter.type_name}; allowed: numbers")
    if number(values, parameter.name) == 0.0:
        raise ParameterError(
            f"--fit: {parameter.name} given, which is 0 in the vehicle's file; allowed: parameters with a value there, "
            "from which the search starts"
        )
    return abs(number(values, parameter.name))


def least_size_of(name: str) -> float:
    """Least size of a value over its scale, by which its standard error is judged: a latency may be 0."""
    return 0.2 if name == LATENCY else 0.05


def fitted(names: Sequence[str], tables: Sequence[ParameterTable]) -> list[Parameter]:
    """The parameters of these names, each from the first table that has it.

    Raises:
        ParameterError: a name is unknown, or given twice.
    """
    found: list[Parameter] = []
    for name in names:
        table = next((table for table in tables if name in table), None)
        if table is None:
            known = [one for one in MANOEUVRES if any(one in table for table in tables)]
            raise ParameterError(f"--fit: {name} given; allowed: parameters of the vehicle, such as {', '.join(known)}")
        if name in {one.name for one in found}:
            raise ParameterError(f"--fit: {name} given twice; allowed: each name once")
        found.append(table[name])
    return found
