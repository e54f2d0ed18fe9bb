"""Pulse widths with which a firmware file's primary mixer answers a command."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.mixer import OutputType
from rosflight_py_sim.firmware.mixer_selection import MixerSelection
from rosflight_py_sim.firmware.parameter_table import MIXER_OUTPUTS
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.unmixing import TRAVELS
from rosflight_py_sim.ground.pulse_width import OUTPUTS, pulse_of


def mixed_pulse_widths(command: NDArray[np.float64], firmware_file: Path) -> dict[int, float]:
    """Pulse width (us) of each output that a firmware file's primary mixer drives for `command` (10,)."""
    parameters = FirmwareParameters()
    parameters.load(firmware_file, lambda text: print(f"rosflight_py_sim: warning: {text}", file=sys.stderr))
    types = np.zeros(OUTPUTS)
    matrix = MixerSelection(parameters, lambda severity, text: None, types).matrix
    mixed = command @ matrix
    pulses = {}
    for output in range(MIXER_OUTPUTS):
        if types[output] in TRAVELS and np.any(matrix[:, output]):
            pulses[output] = pulse_of(float(mixed[output]), TRAVELS[OutputType(int(types[output]))])
    return pulses
