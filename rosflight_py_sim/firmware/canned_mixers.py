"""Ready-made mixers, selected by PRIMARY_MIXER and SECONDARY_MIXER.

The matrices of the multirotors are the pseudo-inverse of their geometry, so that a mixed command reproduces the
commanded forces and torques.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.command import FX, FZ, QX, QY, QZ
from rosflight_py_sim.firmware.mixer import OutputType
from rosflight_py_sim.firmware.parameter_table import MIXER_OUTPUTS, MIXER_ROWS

NEGLIGIBLE = 1e-6
"""Threshold below which elements of an inverted matrix are rounding errors."""


class MixerChoice(IntEnum):
    """Values of PRIMARY_MIXER and SECONDARY_MIXER."""

    ESC_CALIBRATION = 0
    QUADCOPTER_PLUS = 1
    QUADCOPTER_X = 2
    HEX_PLUS = 3
    HEX_X = 4
    OCTO_PLUS = 5
    OCTO_X = 6
    Y6 = 7
    X8 = 8
    FIXED_WING = 9
    INVERTED_V_TAIL = 10
    CUSTOM = 11
    NONE = 255


@dataclass(frozen=True)
class Mixer:
    """Output types, PWM rates (Hz) and the matrix (row, output)."""

    types: tuple[OutputType, ...]
    rates: tuple[float, ...]
    matrix: NDArray[np.float64]


# Azimuth of each rotor in degrees from the nose, clockwise seen from above. Neighbours in the list turn in opposite
# directions, the first with a positive yaw torque.
ROTOR_AZIMUTHS: dict[MixerChoice, tuple[float, ...]] = {
    MixerChoice.QUADCOPTER_PLUS: (0, 90, 180, 270),
    MixerChoice.QUADCOPTER_X: (45, 135, 225, 315),
    MixerChoice.HEX_PLUS: (0, 60, 120, 180, 240, 300),
    MixerChoice.HEX_X: (30, 90, 150, 210, 270, 330),
    MixerChoice.OCTO_PLUS: (0, 45, 90, 135, 180, 225, 270, 315),
    MixerChoice.OCTO_X: (22.5, 67.5, 112.5, 157.5, 202.5, 247.5, 292.5, 337.5),
    MixerChoice.Y6: (60, 60, 180, 180, 300, 300),
    MixerChoice.X8: (45, 45, 135, 135, 225, 225, 315, 315),
}


def rotor_geometry(choice: MixerChoice) -> NDArray[np.float64]:
    """Contribution of each rotor to Fx, Fy, Fz, Qx, Qy, Qz and the spare rows: (10, 10), one column per rotor.

    Thrust points up (Fz -1/n), arms are of unit length, the yaw torque is +1 or -1.
    """
    azimuths = np.radians(ROTOR_AZIMUTHS[choice])
    count = len(azimuths)
    geometry = np.zeros((MIXER_ROWS, MIXER_OUTPUTS))
    geometry[FZ, :count] = -1.0 / count
    geometry[QX, :count] = -np.sin(azimuths)
    geometry[QY, :count] = np.cos(azimuths)
    geometry[QZ, :count] = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    return geometry


def canned_mixer(choice: MixerChoice) -> Mixer:
    """A ready-made mixer.

    Raises:
        ValueError: `choice` is CUSTOM or NONE.
    """
    motor, servo, aux = OutputType.MOTOR, OutputType.SERVO, OutputType.AUX
    matrix = np.zeros((MIXER_ROWS, MIXER_OUTPUTS))
    slow = (50.0,) * MIXER_OUTPUTS
    if choice in ROTOR_AZIMUTHS:
        count = len(ROTOR_AZIMUTHS[choice])
        inverse = np.linalg.pinv(rotor_geometry(choice), rcond=NEGLIGIBLE).T.astype(np.float64)
        inverse[np.abs(inverse) < NEGLIGIBLE] = 0.0
        # As in ROSflight: banks of four outputs.
        fast = 4 if count <= 4 else 8
        rates = (490.0,) * fast + (50.0,) * (MIXER_OUTPUTS - fast)
        return Mixer((motor,) * count + (aux,) * (MIXER_OUTPUTS - count), rates, inverse)
    if choice is MixerChoice.ESC_CALIBRATION:
        matrix[FZ] = -1.0
        return Mixer((motor,) * MIXER_OUTPUTS, slow, matrix)
    if choice is MixerChoice.FIXED_WING:
        matrix[QX, 0] = matrix[QY, 1] = matrix[QZ, 2] = matrix[FX, 4] = 1.0
    elif choice is MixerChoice.INVERTED_V_TAIL:
        matrix[QX, 0] = matrix[FX, 4] = 1.0
        matrix[QY, 1], matrix[QY, 2] = -0.5, 0.5
        matrix[QZ, 1] = matrix[QZ, 2] = 0.5
    else:
        raise ValueError(f"mixer {choice.name} is not a ready-made one")
    return Mixer((servo,) * 3 + (aux, motor) + (aux,) * 5, slow, matrix)
