"""Underwater thrusters: thrust from a command, with dead zone, saturation, lag and direction.

A command u from -1 to 1 gives no thrust up to the dead zone d and full thrust from the saturation s on; in between

    T = sign(u) T_full ((|u| - d) / (s - d))^n

with T_full forward or in reverse; n is 1 for a controller that commands thrust and near 2 for one that commands speed,
because a propeller's static thrust is proportional to its speed squared. The thrust follows with a first-order lag,
solved exactly. A propeller that comes out of the water loses its thrust over its own diameter. The motor current is
proportional to thrust to the power of 3/2, like the static power of an actuator disc. Not modelled: loss of thrust with
the speed of advance, reaction torque, interaction, the battery's voltage.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground import pulse_width
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.pulse_width import NO_PULSE_US, OUTPUTS, SERVO
from rosflight_py_sim.kernels.jit import kernel, kernel_part

command_of = kernel_part(pulse_width.command_of)

_EACH = "one number for all thrusters, or one for each"

THRUSTER_PARAMETERS = ParameterTable(
    Parameter(
        "num_thrusters",
        4,
        "Number of thrusters; output i drives thruster i",
        minimum=1,
        maximum=OUTPUTS,
        required=True,
    ),
    Parameter(
        "thruster_positions",
        [],
        "Thruster positions, x y z each, in body axes from the centre of mass",
        "m",
        minimum=-100.0,
        maximum=100.0,
    ),
    Parameter(
        "thruster_directions",
        [],
        "Thrust directions for a positive command, x y z each, in body axes, of any length above 0",
        minimum=-1e3,
        maximum=1e3,
    ),
    Parameter("thruster_forward_thrusts", [], f"Thrust at full command; {_EACH}", "N", minimum=1e-3, maximum=1e5),
    Parameter(
        "thruster_reverse_thrusts",
        [],
        f"Thrust at full negative command; {_EACH}; if empty, the forward thrusts",
        "N",
        minimum=1e-3,
        maximum=1e5,
    ),
    Parameter(
        "thruster_dead_zones",
        [0.0],
        f"Command magnitude up to which there is no thrust; {_EACH}",
        minimum=0.0,
        maximum=0.9,
    ),
    Parameter(
        "thruster_saturations",
        [1.0],
        f"Command magnitude from which on thrust is full; {_EACH}",
        minimum=0.01,
        maximum=1.0,
    ),
    Parameter(
        "thruster_exponents",
        [1.0],
        f"Exponent of thrust over command; {_EACH}",
        minimum=0.5,
        maximum=3.0,
    ),
    Parameter(
        "thruster_time_constants",
        [0.1],
        f"Time constant of the thrust lag, 0 for no lag; {_EACH}",
        "s",
        minimum=0.0,
        maximum=100.0,
    ),
    Parameter(
        "thruster_full_currents", [0.0], f"Current at full forward thrust; {_EACH}", "A", minimum=0.0, maximum=1e4
    ),
    Parameter("thruster_diameter", 0.05, "Propeller diameter", "m", minimum=1e-3, maximum=10.0),
)

THRUSTER_SIZE = 13
PLACE, AXIS, FORWARD, REVERSE, DEAD_ZONE, SATURATION, EXPONENT, LAG, FULL_CURRENT = 0, 3, 6, 7, 8, 9, 10, 11, 12

_COLUMNS = {
    FORWARD: "thruster_forward_thrusts",
    REVERSE: "thruster_reverse_thrusts",
    DEAD_ZONE: "thruster_dead_zones",
    SATURATION: "thruster_saturations",
    EXPONENT: "thruster_exponents",
    LAG: "thruster_time_constants",
    FULL_CURRENT: "thruster_full_currents",
}


def thruster_numbers(values: Values) -> NDArray[np.float64]:
    """The `thrusters` array (n, THRUSTER_SIZE) of the kernels.

    Raises:
        ParameterError: the length of a list does not match `num_thrusters`, a direction is zero, or a dead zone is not
        below its saturation.
    """
    count = int(number(values, "num_thrusters"))
    thrusters = np.zeros((count, THRUSTER_SIZE))
    for first, name in ((PLACE, "thruster_positions"), (AXIS, "thruster_directions")):
        given = np.array(values[name], dtype=np.float64)
        if len(given) != 3 * count:
            raise ParameterError(
                f"parameter '{name}': {len(given)} numbers given; allowed: {3 * count}, x y z for each of the {count} "
                "thrusters of num_thrusters"
            )
        thrusters[:, first : first + 3] = given.reshape(count, 3)
    lengths = np.linalg.norm(thrusters[:, AXIS : AXIS + 3], axis=1)
    if np.min(lengths) < 1e-6:
        raise ParameterError(
            f"parameter 'thruster_directions': {values['thruster_directions']!r} given; allowed: vectors of any length "
            "above 0"
        )
    thrusters[:, AXIS : AXIS + 3] /= lengths[:, np.newaxis]
    for column, name in _COLUMNS.items():
        given = np.array(values[name], dtype=np.float64)
        if name == "thruster_reverse_thrusts" and len(given) == 0:
            given = thrusters[:, FORWARD]
        if len(given) not in (1, count):
            raise ParameterError(
                f"parameter '{name}': {len(given)} numbers given; allowed: 1 for all, or {count}, one for each of "
                "the thrusters of num_thrusters"
            )
        thrusters[:, column] = given
    if np.any(thrusters[:, DEAD_ZONE] >= thrusters[:, SATURATION]):
        raise ParameterError(
            f"parameter 'thruster_dead_zones': {values['thruster_dead_zones']!r} given; allowed: less than "
            f"thruster_saturations, {values['thruster_saturations']!r}"
        )
    return thrusters


@kernel
def settled_thrust(thruster: NDArray[np.float64], pulse_us: float) -> float:
    """Steady-state thrust (N, negative in reverse) for a pulse width."""
    if pulse_us < NO_PULSE_US:
        return 0.0
    command = command_of(pulse_us, SERVO)
    share = (abs(command) - thruster[DEAD_ZONE]) / (thruster[SATURATION] - thruster[DEAD_ZONE])
    if share <= 0.0:
        return 0.0
    part = min(1.0, share) ** thruster[EXPONENT]
    return float(part * thruster[FORWARD] if command > 0.0 else -part * thruster[REVERSE])


@kernel
def settled_command(thruster: NDArray[np.float64], thrust: float) -> float:
    """Command (-1 to 1) for a thrust (N): the inverse of `settled_thrust`, saturated."""
    part = thrust / thruster[FORWARD] if thrust >= 0.0 else -thrust / thruster[REVERSE]
    if part == 0.0:
        return 0.0
    share = min(1.0, part) ** (1.0 / thruster[EXPONENT])
    command = thruster[DEAD_ZONE] + share * (thruster[SATURATION] - thruster[DEAD_ZONE])
    return float(command if thrust >= 0.0 else -command)


@kernel
def advance_thrust(thruster: NDArray[np.float64], pulse_us: float, thrust: float, dt: float) -> float:
    """Thrust (N) after dt (s): the exact solution of its first-order lag."""
    settled = settled_thrust(thruster, pulse_us)
    lag = thruster[LAG]
    return settled + (thrust - settled) * (math.exp(-dt / lag) if lag > 0.0 else 0.0)


@kernel
def motor_current(thruster: NDArray[np.float64], thrust: float) -> float:
    """Current (A) of a motor at a thrust (N)."""
    full = thruster[FORWARD] if thrust >= 0.0 else thruster[REVERSE]
    return float(thruster[FULL_CURRENT] * (abs(thrust) / full) ** 1.5)
