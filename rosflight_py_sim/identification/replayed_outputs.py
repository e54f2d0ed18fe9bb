"""Kernels that give a vehicle the outputs of a flight, step by step, and keep its states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record


@kernel_record
class Row:
    """Place in the tables of outputs and states.

    Attributes:
        index: row of the present step.
        end: row after that of the last step.
    """

    index: int
    end: int


@kernel
def take_outputs(row: Row, pulses_us: NDArray[np.float64], pwm_us: NDArray[np.float64]) -> None:
    """Put the pulse widths (14,), us, of the present row of `pulses_us` (n, 14) in force."""
    for output in range(pwm_us.shape[0]):
        pwm_us[output] = pulses_us[row.index, output]


@kernel
def pass_wind(change_ned: NDArray[np.float64], wind_ned: NDArray[np.float64]) -> None:
    """Change the wind (3,), m/s, by what it changes in a step."""
    for axis in range(wind_ned.shape[0]):
        wind_ned[axis] += change_ned[axis]


@kernel
def turn_as_logged(
    row: Row,
    rates: NDArray[np.float64],
    inertia: NDArray[np.float64],
    step_s: float,
    wrench: NDArray[np.float64],
) -> None:
    """Replace the moment in the wrench (6,) by the one that takes the angular rates from this row to the next.

    From Euler's equation M = J w' + w x (J w), with the change of the rates in the step; `rates` (n, 3) in body axes,
    rad/s, `inertia` (3, 3), kg m^2.
    """
    following = min(row.index + 1, row.end - 1)
    for axis in range(3):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        moment = 0.0
        for column in range(3):
            rate = rates[row.index, column]
            moment += inertia[axis, column] * (rates[following, column] - rate) / step_s
            moment += rate * (
                rates[row.index, one] * inertia[other, column] - rates[row.index, other] * inertia[one, column]
            )
        wrench[3 + axis] = moment


@kernel
def keep_state(row: Row, truth: NDArray[np.float64], states: NDArray[np.float64]) -> None:
    """Write the state (19,) into the present row of `states` (n, 19)."""
    for element in range(truth.shape[0]):
        states[row.index, element] = truth[element]


@kernel
def next_row(row: Row) -> bool:
    """Go on to the next row; return whether the last one has been reached."""
    row.index += 1
    return row.index >= row.end
