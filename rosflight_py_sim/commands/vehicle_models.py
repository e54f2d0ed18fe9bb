"""Physics of a vehicle, for tools without a node graph: the model and its parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rosflight_py_sim.firmware.command import FX, QX, QY, QZ
from rosflight_py_sim.firmware.mixer import OutputType
from rosflight_py_sim.firmware.mixer_selection import MixerSelection
from rosflight_py_sim.firmware.parameter_table import MIXER_OUTPUTS, MIXER_ROWS
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.unmixing import TRAVELS
from rosflight_py_sim.interfaces.parameter_files import check_files, files_of_arguments, values_of_arguments
from rosflight_py_sim.parameters import ParameterError, ParameterTable, Value, number
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, SURFACES, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.steady_model import Array, ModelInput, SteadyModel
from rosflight_py_sim.pulse_width import MOTOR, OUTPUTS, pulse_of
from rosflight_py_sim.vehicles import Vehicle

Given: TypeAlias = dict[str, Value]
PulseWidths: TypeAlias = Callable[[Array], dict[int, float]]

_STILL_AIR = np.zeros(3)


@dataclass(frozen=True)
class SteadyVehicle:
    """A vehicle for trim and linearisation.

    Attributes:
        model: its steady model.
        pulse_widths: function from the model's inputs to the pulse width (us) of each output in use.
    """

    model: SteadyModel
    pulse_widths: PulseWidths


@dataclass(frozen=True)
class SteadyPhysics:
    """Parameters of a forces-and-moments model; `vehicle` builds a vehicle from them and the values of dynamics."""

    parameters: ParameterTable
    vehicle: Callable[[Given, Given, Path], SteadyVehicle]


def fixedwing(forces: Given, dynamics: Given, firmware_file: Path) -> SteadyVehicle:
    """A fixed wing; inputs are the deflections of its surfaces (rad) and the throttle."""
    aircraft = FixedWing(forces)
    limits = np.radians([number(forces, f"max_{surface}_deflection_angle") for surface in SURFACES])

    def wrench(truth: Array, inputs: Array) -> Array:
        return aircraft.steady_wrench(truth, _STILL_AIR, *(float(value) for value in inputs))

    def pulse_widths(inputs: Array) -> dict[int, float]:
        command = np.zeros(MIXER_ROWS)
        command[[QX, QY, QZ]] = inputs[:3] / limits
        command[FX] = inputs[3]
        return mixed_pulse_widths(command, firmware_file)

    surfaces = [
        ModelInput(name, -limit, limit, 0.0, is_angle=True) for name, limit in zip(SURFACES, limits, strict=True)
    ]
    return SteadyVehicle(
        SteadyModel(dynamics, [*surfaces, ModelInput("throttle", 0.0, 1.0, 0.5)], wrench), pulse_widths
    )


def multirotor(forces: Given, dynamics: Given, firmware_file: Path) -> SteadyVehicle:
    """A multirotor; inputs are the throttles of its motors, each driven by the output with its number."""
    vehicle = Multirotor(forces)
    motors = [ModelInput(f"motor {i}", 0.0, 1.0, 0.5) for i in range(len(vehicle.rotor_speeds))]

    def wrench(truth: Array, inputs: Array) -> Array:
        return vehicle.steady_wrench(truth, _STILL_AIR, inputs)

    def pulse_widths(inputs: Array) -> dict[int, float]:
        return {output: pulse_of(float(throttle), MOTOR) for output, throttle in enumerate(inputs)}

    return SteadyVehicle(SteadyModel(dynamics, motors, wrench), pulse_widths)


STEADY_PHYSICS = {
    "fixedwing_forces_and_moments": SteadyPhysics(FIXEDWING_PARAMETERS, fixedwing),
    "multirotor_forces_and_moments": SteadyPhysics(MULTIROTOR_PARAMETERS, multirotor),
}
"""Physics by executable of the forces-and-moments node."""


def steady_vehicle(vehicle: Vehicle, arguments: Sequence[str], namespace: str = "") -> SteadyVehicle:
    """Vehicle with the parameters that ROS arguments (`--params-file`, `-p`) give to its nodes.

    Raises:
        ParameterError: a file is unreadable, or a parameter is missing or not allowed.
    """
    executable = vehicle.forces_and_moments
    if executable not in STEADY_PHYSICS:
        raise ParameterError(
            f"vehicle '{vehicle.name}' given, whose forces come from {executable}; trim supports vehicles with "
            f"{' or '.join(STEADY_PHYSICS)}"
        )
    physics = STEADY_PHYSICS[executable]
    check_files(files_of_arguments(arguments))
    forces = given_values(physics.parameters, arguments, "forces_and_moments", namespace, executable)
    dynamics = given_values(DYNAMICS_PARAMETERS, arguments, "dynamics", namespace, "standalone_dynamics")
    return physics.vehicle(forces, dynamics, vehicle.firmware_file)


def given_values(table: ParameterTable, arguments: Sequence[str], node: str, namespace: str, alias: str) -> Given:
    """Values of `table` that ROS arguments give to a node."""
    given = values_of_arguments(arguments, node, namespace, [alias])
    # A node has parameters that its model lacks, and a file has sections for other nodes.
    return table.checked({name: value for name, value in given.items() if name in table})


def mixed_pulse_widths(command: Array, firmware_file: Path) -> dict[int, float]:
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
