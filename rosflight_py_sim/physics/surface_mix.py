"""Surface mix: parameters that map outputs to surfaces, for flight controllers that do not report their mixer.

The command of a surface is a weighted sum of the outputs' servo commands, (pulse width - 1500 us) / 500 us; the
throttle is a weighted sum of their motor commands, (pulse width - 1000 us) / 1000 us. Elevons and V-tails are sums of
two outputs, and a surface that moves the other way has a negative weight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, SERVO
from rosflight_py_sim.kernels.jit import kernel

_CENTRE_US = SERVO.zero_us

# The rows of a mixer (4, 15).
_COMMANDS = {"aileron": SERVO, "elevator": SERVO, "rudder": SERVO, "throttle": MOTOR}

SURFACE_MIX_PARAMETERS = ParameterTable(
    *(
        Parameter(
            f"{name}_mix",
            [],
            f"Weight of each output, from output 0, in the {'throttle' if name == 'throttle' else f'{name} command'}; "
            "outputs beyond the end of the list have no weight. If all four lists are empty, the flight controller's "
            "mixer is used",
            minimum=-100.0,
            maximum=100.0,
            read_only=True,
        )
        for name in _COMMANDS
    )
)


def output_weights(values: Values, parameter: str) -> NDArray[np.float64]:
    """Weight of each output, from output 0, as a list parameter gives them; (n,), n at most 14.

    Raises:
        ParameterError: more weights than outputs.
    """
    weights = np.array(values[parameter], dtype=np.float64)
    if len(weights) > OUTPUTS:
        raise ParameterError(
            f"parameter '{parameter}': {len(weights)} weights given; allowed: at most {OUTPUTS}, one for each output"
        )
    return weights


def servo_weights(values: Values, parameter: str) -> NDArray[np.float64]:
    """Weight of each output (14,) per us of pulse width, from a list parameter; 0 where the list ends.

    Raises:
        ParameterError: more weights than outputs.
    """
    weights, given = np.zeros(OUTPUTS), output_weights(values, parameter)
    weights[: len(given)] = given / SERVO.reach_us
    return weights


@kernel
def mixed(weights: NDArray[np.float64], pwm_us: NDArray[np.float64]) -> float:
    """Sum of the outputs' servo commands, with the weights of `servo_weights`."""
    total = 0.0
    for j in range(len(weights)):
        if weights[j] != 0.0:
            total += weights[j] * (pwm_us[j] - _CENTRE_US)
    return total


@kernel
def take_pulses(pulse_us: NDArray[np.int64], pwm_us: NDArray[np.float64]) -> None:
    """Copy the pulse widths of the flight controller's outputs."""
    for j in range(len(pulse_us)):
        pwm_us[j] = pulse_us[j]


def mixer_of_values(values: Values) -> NDArray[np.float64] | None:
    """The mixer (4, 15) given by SURFACE_MIX_PARAMETERS, see `FixedWing.set_mixer`; None if all of them are empty.

    Raises:
        ParameterError: more weights than outputs.
    """
    mixer = np.zeros((len(_COMMANDS), OUTPUTS + 1))
    given = False
    for row, (name, (zero_us, reach_us)) in enumerate(_COMMANDS.items()):
        weights = output_weights(values, f"{name}_mix")
        given = given or len(weights) > 0
        mixer[row, : len(weights)] = weights / reach_us
        mixer[row, OUTPUTS] = -weights.sum() * zero_us / reach_us
    return mixer if given else None
