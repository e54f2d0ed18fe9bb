"""Command `rosflight_py_sim trim`: prints a trimmed state, and can apply it to the running simulation."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from rosflight_py_sim.graph.command_options import add_options
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.options import TRIM
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.process_signals import interrupt_on_signals
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.physics.linearisation import Mode, linearise
from rosflight_py_sim.physics.steady_model import Array, SteadyVehicle
from rosflight_py_sim.physics.trim import FlightCondition, Trim, TrimError, trim
from rosflight_py_sim.vehicles import Vehicle, vehicle

if TYPE_CHECKING:
    from rosflight_py_sim.interfaces.given_values import Source

SLOWEST = 1e-3
"""Magnitude below which a mode counts as neutral, 1/s."""


def add_trim_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "trim",
        help="find a steady flight, and optionally apply it",
        description="Find the attitude and inputs of a steady flight in still air; print them and the modes of motion.",
        epilog="Arguments after --ros-args are passed to ROS; -p NAME:=VALUE also applies to the trim.",
    )
    add_options(parser, TRIM)
    parser.add_argument("--airspeed", type=float, required=True, metavar="M/S", help="airspeed, m/s")
    parser.add_argument(
        "--flight-path-angle", type=float, default=0.0, metavar="DEG", help="climb angle, deg (default: 0, level)"
    )
    parser.add_argument(
        "--turn-radius",
        type=float,
        default=math.inf,
        metavar="M",
        help="turn radius, m; positive: right, negative: left (default: inf, straight)",
    )
    parser.add_argument(
        "--altitude", type=float, default=50.0, metavar="M", help="altitude above the origin, m (default: 50)"
    )
    parser.add_argument("--set", action="store_true", help="apply the state, heading north, to the running simulation")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    # Loads the vehicle's parts, and with them ROS, which other commands do without.
    from rosflight_py_sim.commands.vehicle_models import steady_vehicle

    chosen = vehicle(options.vehicle)
    condition = FlightCondition(
        options.airspeed, math.radians(options.flight_path_angle), options.turn_radius, options.altitude
    )
    interrupt_on_signals()
    prepare_kernels()
    steady = steady_vehicle(chosen, _sources(chosen, options), options.namespace)
    try:
        trimmed = trim(steady.model, condition)
    except TrimError as error:
        raise ParameterError(f"{chosen.name}, {error}") from None
    print_trim(chosen.name, steady, trimmed, Console())
    if options.set:
        from rosflight_py_sim.commands.set_state_client import set_state

        print(set_state(trimmed.truth, options.namespace, options.ros_arguments))
    return 0


def _sources(chosen: Vehicle, options: argparse.Namespace) -> list[Source]:
    """Parameter files and single values, in increasing order of precedence."""
    from rosflight_py_sim.graph.plan import named_arguments, planned_nodes
    from rosflight_py_sim.interfaces.given_values import sources_of_arguments

    given = named_arguments(planned_nodes([Member(chosen)]), options.ros_arguments)
    return [chosen.parameter_file, *options.params_file, *sources_of_arguments(given)]


def print_trim(name: str, steady: SteadyVehicle, trimmed: Trim, console: Console) -> None:
    """Print state, inputs and modes as three tables."""
    console.print(_state_table(name, trimmed))
    console.print(_input_table(steady, trimmed))
    console.print(_mode_table(linearise(steady.model, trimmed).modes))


def _state_table(name: str, trimmed: Trim) -> Table:
    condition, truth = trimmed.condition, trimmed.truth
    table = Table(title=f"Trim of {name}", show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column()
    turn = "none" if math.isinf(condition.turn_radius) else f"{abs(condition.turn_radius):g} m to the "
    if math.isfinite(condition.turn_radius):
        turn += f"{'right' if condition.turn_radius > 0.0 else 'left'}, {math.degrees(condition.turn_rate):.2f} deg/s"
    climb = condition.airspeed * math.sin(condition.flight_path_angle)
    for label, text in (
        ("airspeed", f"{condition.airspeed:g} m/s"),
        ("flight path", f"{_angle(condition.flight_path_angle)}, climbing {climb:.2f} m/s"),
        ("turn", turn),
        ("altitude above the origin", f"{condition.altitude:g} m"),
        ("angle of attack", _angle(trimmed.alpha)),
        ("sideslip", _angle(trimmed.beta)),
        ("roll", _angle(trimmed.euler[0])),
        ("pitch", _angle(trimmed.euler[1])),
        ("crab angle", _angle(trimmed.euler[2])),
        ("velocity u v w", f"{_numbers(truth[7:10])} m/s"),
        ("body rates p q r", f"{_numbers([math.degrees(rate) for rate in truth[10:13]])} deg/s"),
        ("quaternion w x y z", _numbers(truth[3:7], 5)),
        ("greatest residual", f"{trimmed.residual:.1e} (forces over weight, rad/s^2)"),
    ):
        table.add_row(label, text)
    return table


def _input_table(steady: SteadyVehicle, trimmed: Trim) -> Table:
    table = Table(title="Inputs", title_justify="left")
    table.add_column("input")
    table.add_column("value", justify="right")
    table.add_column("of its range", justify="right")
    for limits, value in zip(steady.model.inputs, trimmed.inputs, strict=True):
        share = (value - limits.minimum) / (limits.maximum - limits.minimum)
        text = _angle(value) if limits.is_angle else f"{value:.4f}"
        table.add_row(limits.name, text, f"{100.0 * share:.1f} %")
    pulses = steady.pulse_widths(trimmed.inputs)
    table.add_section()
    for output, pulse_us in pulses.items():
        table.add_row(f"output {output}", f"{pulse_us:.1f} us", "")
    return table


def _mode_table(modes: Sequence[Mode]) -> Table:
    table = Table(title="Modes", title_justify="left")
    for heading in ("mode", "eigenvalue 1/s", "rad/s", "damping", "period", "time to 1/e"):
        table.add_column(heading, justify="left" if heading == "mode" else "right", no_wrap=True)
    for mode in modes:
        value = mode.eigenvalue
        imaginary = f" ± {value.imag:.3f}i" if value.imag > 0.0 else ""
        swings = math.isfinite(mode.period)
        table.add_row(
            mode.name,
            f"{value.real + 0.0:.3f}{imaginary}",
            f"{mode.natural_frequency:.3f}" if swings else "",
            f"{mode.damping_ratio:.3f}" if swings else "",
            f"{mode.period:.2f} s" if swings else "",
            _time_constant(mode),
        )
    return table


def _time_constant(mode: Mode) -> str:
    if abs(mode.eigenvalue.real) < SLOWEST:
        return "neutral"
    return f"{'' if mode.time_constant > 0.0 else 'grows '}{abs(mode.time_constant):.3g} s"


def _angle(radians: float) -> str:
    return f"{_numbers([math.degrees(radians)])} deg = {_numbers([radians], 5)} rad"


def _numbers(values: Sequence[float] | Array, digits: int = 3) -> str:
    # Adding 0 turns a negative zero into zero.
    return ", ".join(f"{round(float(value), digits) + 0.0:.{digits}f}" for value in values)
