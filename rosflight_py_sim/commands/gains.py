"""Command `rosflight_py_sim gains`: the firmware's attitude gains for a multirotor, with bandwidths and margins."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rosflight_py_sim.firmware.multirotor_gains import AxisDesign, Hover, designed, firmware_gains, hover_of
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.ground.parameters import ParameterError, number
from rosflight_py_sim.ground.shared_parameters import STEP_SIZE
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.vehicles import Vehicle, vehicle

_ATTITUDE_OVER_VELOCITY = 2.0
"""Least ratio of the rate loop's crossover over four times the velocity loop's: attitude over velocity."""


def add_gains_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "gains",
        help="design the flight controller's attitude gains for a multirotor",
        description="Design the attitude and rate gains of the ROSflight firmware for a multirotor from its vehicle "
        "file: print gains, bandwidths and stability margins, and with --output write a firmware parameter file.",
    )
    parser.add_argument("vehicle", metavar="VEHICLE", help="name or path of a vehicle file")
    parser.add_argument(
        "--crossover",
        type=float,
        metavar="RAD/S",
        help="crossover of the roll and pitch rate loops, rad/s (default: the highest with a phase margin of 60 deg)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write the vehicle's firmware parameters with these gains to a file, for --firmware-file of sim and fly",
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    if options.crossover is not None and not 0.1 <= options.crossover <= 1000.0:
        raise ParameterError(f"--crossover: {options.crossover:g} given; allowed: from 0.1 to 1000 rad/s")
    prepare_kernels()
    chosen = vehicle(options.vehicle)
    hover, firmware, least = design_inputs(chosen)
    designs = designed(hover, crossover=options.crossover, least_crossover=least)
    gains = firmware_gains(designs)
    console = Console()
    console.print(_gain_table(chosen.name, gains, firmware))
    console.print(_margin_table(designs))
    console.print(f"autopilot: max_thrust {hover.max_thrust:.4g} N", highlight=False)
    if options.output is not None:
        firmware.load_texts(f"{name} {value!r}" for name, value in gains.items())
        firmware.export(options.output)
        console.print(f"firmware parameters: {options.output.resolve()}", highlight=False, soft_wrap=True)
    return 0


def design_inputs(chosen: Vehicle) -> tuple[Hover, FirmwareParameters, float]:
    """Linear model and firmware parameters of a vehicle, and the least crossover that its position controller needs.

    Raises:
        ParameterError: the vehicle is no multirotor with the ROSflight firmware, or cannot hover.
    """
    from rosflight_py_sim.commands.vehicle_models import given_values
    from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
    from rosflight_py_sim.ground.registry import registered_node
    from rosflight_py_sim.nodes.running import node_class
    from rosflight_py_sim.vehicles.physics_model import physics_node

    executable = physics_node(chosen)
    forces = registered_node(executable)
    if "rotor_rotation_directions" not in forces.PARAMETERS:
        raise ParameterError(
            f"vehicle '{chosen.name}' given, whose forces come from {executable}; gains supports vehicles with "
            "multirotor_forces_and_moments"
        )
    sources = [chosen.parameter_file]
    values = given_values(forces.PARAMETERS, sources, forces.DEFAULT_NAME, "", *forces.ALIASES)
    dynamics = given_values(DYNAMICS_PARAMETERS, sources, "dynamics", "", *registered_node(chosen.dynamics).ALIASES)
    manager = node_class(TIME_MANAGERS["lockstep"])
    step_s = number(given_values(manager.PARAMETERS, sources, manager.DEFAULT_NAME, ""), STEP_SIZE.name)
    firmware = FirmwareParameters()
    firmware.load(chosen.firmware_file)
    velocity_gain = 0.0
    if chosen.autopilot:
        autopilot = node_class(chosen.autopilot)
        if "horizontal_velocity_gain" in autopilot.PARAMETERS:
            known = given_values(autopilot.PARAMETERS, sources, autopilot.DEFAULT_NAME, "")
            velocity_gain = number(known, "horizontal_velocity_gain")
    return hover_of(values, dynamics, firmware, step_s), firmware, _ATTITUDE_OVER_VELOCITY * velocity_gain


def _gain_table(name: str, gains: Mapping[str, float], firmware: FirmwareParameters) -> Table:
    table = Table(title=f"Gains of {name}", title_justify="left")
    table.add_column("parameter")
    table.add_column("design", justify="right")
    table.add_column("firmware file", justify="right")
    for parameter, value in gains.items():
        table.add_row(parameter, f"{value:.4g}", f"{firmware[parameter]:.4g}")
    return table


def _margin_table(designs: Mapping[str, AxisDesign]) -> Table:
    table = Table(title="Loops", title_justify="left")
    table.add_column("")
    for name in designs:
        table.add_column(f"{name} rate" if name == "yaw" else f"{name} angle", justify="right")
    rows = {
        "crossover of the rate loop, rad/s": [f"{one.crossover:.3g}" for one in designs.values()],
        "bandwidth of the angle, rad/s": [f"{one.bandwidth:.3g}" if one.p else "" for one in designs.values()],
        "rise time of the angle, s": [f"{one.rise_time_s:.2f}" if one.p else "" for one in designs.values()],
        "phase margin, deg": [f"{one.margins.phase_deg:.3g}" for one in designs.values()],
        "gain margin, dB": [f"{one.margins.gain_db:.3g}" for one in designs.values()],
        "phase crossover, Hz": [f"{one.margins.oscillation / math.tau:.3g}" for one in designs.values()],
    }
    for label, cells in rows.items():
        table.add_row(label, *cells)
    return table
