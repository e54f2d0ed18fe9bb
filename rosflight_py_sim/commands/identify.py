"""Commands `rosflight_py_sim identify` and `compare`: fit a vehicle to flight logs, and test it against them."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.new_files import prepare
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.process_signals import interrupt_on_signals
from rosflight_py_sim.vehicles import Vehicle, vehicle

if TYPE_CHECKING:
    from rosflight_py_sim.identification.comparison import Comparison
    from rosflight_py_sim.identification.excitation import Excitation
    from rosflight_py_sim.identification.findings import Findings
    from rosflight_py_sim.identification.flight_log import FlightLog
    from rosflight_py_sim.identification.identification import Subject
    from rosflight_py_sim.identification.identified_vehicle import Place

_LOGS = (
    "flight log: an MCAP file or folder of ros2 bag record -s mcap with ROSflight's topics, a PX4 log (.ulg) or an "
    "ArduPilot log (.bin)"
)


def add_identify_parsers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parsers of both commands."""
    identify = commands.add_parser(
        "identify",
        help="fit a vehicle's parameters to flight logs",
        description="Fit parameters of a vehicle to flight logs, beginning with a vehicle file. Print the estimates "
        "with their standard errors, and the parameters that the logs do not show, with the manoeuvres that would. "
        "Write a vehicle file with the estimates, which sim, fly and sweep accept, and a page of plots. Exit code 1: "
        "the logs cannot be read, or show none of the parameters.",
    )
    identify.add_argument("logs", nargs="+", type=Path, metavar="LOG", help=_LOGS)
    identify.add_argument("--vehicle", required=True, metavar="FILE", help="vehicle to begin with: its file or name")
    identify.add_argument(
        "--fit",
        type=_names,
        default=(),
        metavar="NAME,...",
        help="parameters to fit (default: those that logs of such a vehicle usually show); imu_noise for the noise "
        "of the IMU in a log at rest, battery for the parameters of the battery",
    )
    identify.add_argument(
        "--output", type=Path, default=Path("identified"), metavar="DIR", help="output folder (default: identified)"
    )
    identify.add_argument("--stretch", type=_stretch, default=1.0, metavar="S", help=_STRETCH_HELP)
    identify.set_defaults(command=_identify)
    compare = commands.add_parser(
        "compare",
        help="fly the outputs of a flight log in the simulation and measure the gap",
        description="Let a vehicle's model fly the outputs of a flight log, from the logged state at the start of each "
        "stretch. Print the root mean square of log minus model for each reading, by the time since the start, and "
        "write a page of plots. Exit code 1: the log cannot be read or flown.",
    )
    compare.add_argument("log", type=Path, metavar="LOG", help=_LOGS)
    compare.add_argument("--vehicle", required=True, metavar="FILE", help="vehicle file or name")
    compare.add_argument("--stretch", type=_stretch, default=1.0, metavar="S", help=_STRETCH_HELP)
    compare.add_argument("--output", type=Path, metavar="HTML", help="output page (default: LOG.compare.html)")
    compare.set_defaults(command=_compare)


_SHORTEST_S, _LONGEST_S = 0.2, 10.0
_STRETCH_HELP = f"length of the stretches that the model flies, {_SHORTEST_S:g} to {_LONGEST_S:g} s (default: 1)"


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} given; allowed: names of parameters, separated by commas")
    return names


def _stretch(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not _SHORTEST_S <= value <= _LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text!r} given; allowed: {_SHORTEST_S:g} to {_LONGEST_S:g} s")
    return value


def _identify(options: argparse.Namespace) -> int:
    from rosflight_py_sim.identification.flight_log import FlightLogError
    from rosflight_py_sim.identification.identified_vehicle import write_vehicle
    from rosflight_py_sim.identification.report import identification_page
    from rosflight_py_sim.kernels.preparation import prepare_kernels

    interrupt_on_signals()
    _require_packages()
    chosen = vehicle(options.vehicle)
    try:
        logs = _logs_of(options.logs, chosen)
        subject = subject_of(chosen)
        prepare_kernels()
        found = _identified(subject, logs, options)
        if not found.estimates:
            return _refused("; ".join(map(str, found.refused)))
        page = identification_page(found, subject.name, logs)
    except FlightLogError as error:
        return _refused(str(error))
    _print(found, subject.name)
    folder: Path = options.output
    try:
        prepare(folder)
        places = {one.name: places_of(chosen, one.name) for one in found.estimates}
        written = write_vehicle(found.estimates, logs, chosen.file, chosen.parameter_file, places, folder)
        report = folder / "identification.html"
        report.write_text(page, encoding="utf-8")
    except OSError as error:
        return _refused(f"--output: cannot write to '{folder}': {error.strerror}")
    # Refuses a file that is no vehicle.
    vehicle(str(written))
    print(f"vehicle: {written.resolve()}\nreport: {report.resolve()}")
    return 0


def _identified(subject: Subject, logs: Sequence[FlightLog], options: argparse.Namespace) -> Findings:
    """What the logs show about the parameters of --fit.

    Raises:
        FlightLogError: the logs lack what a parameter takes.
        ParameterError: a name is not allowed, or too many logs are given.
    """
    from rosflight_py_sim.identification.battery_fit import BATTERY_NAMES, battery_fit
    from rosflight_py_sim.identification.findings import Findings
    from rosflight_py_sim.identification.identification import identify
    from rosflight_py_sim.identification.rest_noise import REST_NAMES, rest_noise
    from rosflight_py_sim.sensing import SENSOR_PARAMETERS

    groups = {"imu_noise": REST_NAMES, "battery": BATTERY_NAMES}
    names = [name for one in options.fit for name in groups.get(one, (one,))]
    of_rest, of_battery = ([name for name in names if name in group] for group in groups.values())
    of_flight = [name for name in names if name not in (*of_rest, *of_battery)]
    if (of_rest or of_battery) and len(logs) > 1:
        raise ParameterError(f"--fit {','.join(options.fit)}: {len(logs)} logs given; allowed: one")
    flight = rest = battery = None
    if of_flight or not names:
        flight = identify(subject, logs, of_flight, stretch_s=options.stretch, progress=_progress)
    if of_rest:
        rest = rest_noise(logs[0], of_rest, SENSOR_PARAMETERS, subject.sensor_values)
    if of_battery:
        battery = battery_fit(logs[0], of_battery, subject.forces.PARAMETERS, subject.forces_values)
    return Findings(flight, rest, battery)


def _require_packages() -> None:
    """Refuse before the work what would fail after it: the page.

    Raises:
        ParameterError: a package is not installed; the text names the extra.
    """
    try:
        for name in ("jinja2", "matplotlib"):
            import_module(name)
    except ImportError as error:
        raise missing_extra("the page about a flight log", error, "identify") from error


def _compare(options: argparse.Namespace) -> int:
    from rosflight_py_sim.identification.comparison import compare
    from rosflight_py_sim.identification.flight_log import FlightLogError
    from rosflight_py_sim.identification.report import comparison_page
    from rosflight_py_sim.kernels.preparation import prepare_kernels

    interrupt_on_signals()
    _require_packages()
    chosen = vehicle(options.vehicle)
    try:
        (log,) = _logs_of([options.log], chosen)
        prepare_kernels()
        result = compare(subject_of(chosen), log, stretch_s=options.stretch, progress=_progress)
        page = comparison_page(result)
    except FlightLogError as error:
        return _refused(str(error))
    _print_gap(result)
    output: Path = options.output or options.log.with_name(f"{options.log.name}.compare.html")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        return _refused(f"--output: cannot write '{output}': {error.strerror}")
    print(f"report: {output.resolve()}")
    return 0


def _print_gap(result: Comparison) -> None:
    from rich.console import Console
    from rich.table import Table

    from rosflight_py_sim.identification.output_error import READINGS
    from rosflight_py_sim.identification.report import UNITS

    table = Table(title=f"Log minus {result.subject.name}, RMS (and over the log's deviation)", title_justify="left")
    table.add_column("reading", no_wrap=True)
    errors = []
    for horizon_s in result.horizons_s:
        table.add_column(f"up to {horizon_s:.3g} s", justify="right", no_wrap=True)
        errors.append(result.errors(horizon_s))
    for number, name in enumerate(READINGS):
        if math.isnan(errors[0][0][number]):
            continue
        cells = [f"{rms[number]:.3g} ({100.0 * relative[number]:.1f} %)" for rms, relative in errors]
        table.add_row(f"{name}, {UNITS[number]}", *cells)
    console = Console()
    console.print(table)
    console.print(f"mean wind: north {result.wind[0]:.1f}, east {result.wind[1]:.1f} m/s", highlight=False)
    for note in result.notes:
        console.print(note, highlight=False)


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _logs_of(paths: Sequence[Path], chosen: Vehicle) -> list[FlightLog]:
    from rosflight_py_sim.identification.flight_log import FlightLogError
    from rosflight_py_sim.identification.log_files import read_log
    from rosflight_py_sim.vehicles.physics_model import vehicle_class

    motors = [one.output for one in chosen.actuators if one.is_motor]
    logs = [read_log(path, motors) for path in paths]
    own_class = vehicle_class(chosen)
    for log in logs:
        print(
            f"{log.file}: {log.program}{f', {log.vehicle}' if log.vehicle else ''}{f', {log.date}' if log.date else ''}"
        )
        for note in log.notes:
            print(f"  {note}")
        if log.missing:
            print(f"  not logged: {', '.join(log.missing)}")
        mismatch = log.kind.mismatch(own_class, len(motors)) if log.kind else ""
        if mismatch:
            raise FlightLogError(
                f"'{log.file}' {mismatch}; allowed: a vehicle of the log's type (--vehicle {chosen.name} given)"
            )
    return logs


def subject_of(chosen: Vehicle) -> Subject:
    """The vehicle with the parameters of its files.

    Raises:
        ParameterError: a file is unreadable, or the vehicle's forces are not a model of this package's kind.
    """
    from rosflight_py_sim.commands.vehicle_models import given_values
    from rosflight_py_sim.firmware.mixed_outputs import mixer_parameters
    from rosflight_py_sim.ground.registry import registered_node
    from rosflight_py_sim.identification.identification import Subject
    from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
    from rosflight_py_sim.sensing import SENSOR_PARAMETERS
    from rosflight_py_sim.vehicles.physics_model import physics_models, physics_node

    executable = physics_node(chosen)
    forces = registered_node(executable)
    if not forces.is_steady() or not hasattr(forces, "build"):
        names = [name for name, one in physics_models() if one.is_steady() and hasattr(one, "build")]
        raise ParameterError(
            f"vehicle '{chosen.name}' given, whose forces come from {executable}; allowed: vehicles with "
            f"{' or '.join(names)}"
        )
    sources = [chosen.parameter_file]
    aliases = registered_node(chosen.dynamics).ALIASES
    return Subject(
        chosen.name,
        forces,
        given_values(forces.PARAMETERS, sources, forces.DEFAULT_NAME, "", *forces.ALIASES),
        given_values(DYNAMICS_PARAMETERS, sources, "dynamics", "", *aliases),
        given_values(SENSOR_PARAMETERS, sources, "sensors", "", *registered_node(chosen.sensors).ALIASES),
        tuple(one.output for one in chosen.actuators),
        tuple(one.output for one in chosen.actuators if one.is_motor),
        mixer_parameters(chosen.firmware_file),
    )


def excitation_of(chosen: Vehicle, height_m: float) -> Excitation:
    """Manoeuvres that show the vehicle's parameters, about a height above the origin.

    Raises:
        ParameterError: a file is unreadable, or there are no manoeuvres for such a vehicle.
    """
    from rosflight_py_sim.commands.vehicle_models import given_values
    from rosflight_py_sim.identification.fixedwing_excitation import FixedwingExcitation
    from rosflight_py_sim.identification.logged_vehicle import in_words
    from rosflight_py_sim.identification.multirotor_excitation import MultirotorExcitation
    from rosflight_py_sim.vehicles.physics_model import VehicleClass, vehicle_class

    own_class = vehicle_class(chosen)
    if own_class is VehicleClass.ROTORCRAFT:
        return MultirotorExcitation(height_m)
    if own_class is VehicleClass.FIXED_WING:
        table = FixedwingExcitation.PARAMETERS
        return FixedwingExcitation(given_values(table, [chosen.parameter_file], "autopilot", ""), height_m)
    raise ParameterError(f"vehicle '{chosen.name}' given, {in_words(own_class)}; allowed: rotorcraft and fixed wing")


def places_of(chosen: Vehicle, name: str) -> list[Place]:
    """Places of a parameter's value for the nodes of forces, dynamics and sensors that have it."""
    from rosflight_py_sim.ground.registry import registered_node
    from rosflight_py_sim.identification.identified_vehicle import Place
    from rosflight_py_sim.interfaces.given_values import given_by
    from rosflight_py_sim.interfaces.parameter_files import line_in_file
    from rosflight_py_sim.vehicles.physics_model import physics_node

    places = []
    forces = registered_node(physics_node(chosen))
    dynamics = registered_node(chosen.dynamics)
    sensors = registered_node(chosen.sensors)
    for node, one in ((forces.DEFAULT_NAME, forces), ("dynamics", dynamics), ("sensors", sensors)):
        if name in one.PARAMETERS:
            given = [value for value in given_by([chosen.parameter_file], (node, *one.ALIASES)) if value.name == name]
            if given:
                file = Path(given[-1].file)
                place = Place(file, line_in_file(given[-1].file, given[-1].section, name), node)
            else:
                place = Place(None, 0, node)
            if place not in places:
                places.append(place)
    return places


def _print(found: Findings, name: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"Parameters of {name}", title_justify="left")
    for heading in ("parameter", "before", "estimate", "standard error", "unit"):
        table.add_column(heading, justify="left" if heading in ("parameter", "unit") else "right", no_wrap=True)
    for one in found.estimates:
        table.add_row(one.name, f"{one.before:.5g}", f"{one.value:.5g}", one.error_text, one.parameter.unit)
    console = Console()
    console.print(table)
    for text in (*map(str, found.refused), *found.facts):
        console.print(text, highlight=False)


def _refused(text: str) -> int:
    print(f"rosflight_py_sim: {text}", file=sys.stderr)
    return 1
