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
    types = np.zeros(OUTPUTS)
    matrix = _selection(_parameters_of(firmware_file), types).matrix
    mixed = command @ matrix
    pulses = {}
    for output in range(MIXER_OUTPUTS):
        if types[output] in TRAVELS and np.any(matrix[:, output]):
            pulses[output] = pulse_of(float(mixed[output]), TRAVELS[OutputType(int(types[output]))])
    return pulses


def mixer_parameters(firmware_file: Path) -> dict[str, float]:
    """Parameters of a firmware file, with those of the mixer that it selects, as the firmware has them."""
    parameters = _parameters_of(firmware_file)
    _selection(parameters, np.zeros(OUTPUTS))
    return {name: float(value) for name, value in parameters.snapshot().items()}


def _parameters_of(firmware_file: Path) -> FirmwareParameters:
    parameters = FirmwareParameters()
    parameters.load(firmware_file, lambda text: print(f"rosflight_py_sim: warning: {text}", file=sys.stderr))
    return parameters


def _selection(parameters: FirmwareParameters, types: NDArray[np.float64]) -> MixerSelection:
    return MixerSelection(parameters, lambda severity, text: None, types)
