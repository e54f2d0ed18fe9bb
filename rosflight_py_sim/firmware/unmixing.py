"""Inverse mixing from outputs to surfaces and throttle, which describes the servo layout of an aircraft.

In the firmware's mixer, every output is a weighted sum of commands (`mixer.py`). A fixed wing built for that mixer has
the inverse mapping from outputs to surfaces: the commands whose mix fits the outputs best (least squares, minimum
norm). The primary mixer describes the aircraft; a secondary one drives the same servos differently. A reversal
(REV_AILERON ...) is applied before the mixer, for a surface that moves opposite to its command. It is a property of the
aircraft and is not inverted.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.command import FX, QX, QY, QZ
from rosflight_py_sim.firmware.mixer import OutputType
from rosflight_py_sim.firmware.parameter_table import MIXER_OUTPUTS, MIXER_ROWS
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, SERVO

_ROWS = (QX, QY, QZ, FX)
THROTTLE_ROW = _ROWS.index(FX)

TRAVELS = {OutputType.SERVO: SERVO, OutputType.MOTOR: MOTOR}
"""Pulse widths of the outputs in use."""

# Rows of a mixer smaller than others by this factor are rounding errors.
_NEGLIGIBLE = 1e-9


def unmixer(matrix: NDArray[np.float64], types: NDArray[np.float64]) -> NDArray[np.float64]:
    """Aileron, elevator, rudder and throttle as sums of the pulse widths (4, 15).

    Each row has a factor for each of the 14 outputs (1/us), then an offset. Commands that the mixer lacks stay 0.

    Args:
        matrix: (10, 10) row, output.
        types: (10,) `OutputType`; outputs that are neither servo nor motor are ignored.
    """
    driven = [j for j in range(MIXER_OUTPUTS) if types[j] in TRAVELS]
    mixed = np.any(matrix[:, driven] != 0.0, axis=1)
    inverse = np.zeros((MIXER_ROWS, len(driven)))
    inverse[mixed] = np.linalg.pinv(matrix[np.ix_(mixed, driven)].T, rcond=_NEGLIGIBLE)
    inverse = inverse[_ROWS, :]
    sums = np.zeros((len(_ROWS), OUTPUTS + 1))
    for column, j in enumerate(driven):
        zero_us, reach_us = TRAVELS[OutputType(int(types[j]))]
        sums[:, j] = inverse[:, column] / reach_us
        sums[:, OUTPUTS] -= inverse[:, column] * zero_us / reach_us
    return sums


def unmixer_of_parameters(values: Mapping[str, float]) -> NDArray[np.float64]:
    """The `unmixer` of the primary mixer in the flight controller's parameters.

    Raises:
        KeyError: PRI_MIXER_i_j or PRI_MIXER_OUT_j is missing.
    """
    outputs = range(MIXER_OUTPUTS)
    matrix = np.array([[values[f"PRI_MIXER_{i}_{j}"] for j in outputs] for i in range(MIXER_ROWS)])
    return unmixer(matrix, np.array([values[f"PRI_MIXER_OUT_{j}"] for j in outputs]))
