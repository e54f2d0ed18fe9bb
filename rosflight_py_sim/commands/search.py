"""Command `rosflight_py_sim search`: find a flight that breaks a property, and the smallest such case."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rosflight_py_sim.commands.sweep import add_run_options, check_run_options, fly_again
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.process_signals import interrupt_on_signals
from rosflight_py_sim.missions.flight_progress import PERIOD_S
from rosflight_py_sim.search import require_packages

if TYPE_CHECKING:
    from rosflight_py_sim.sweep.definition import Row, Sweep

_BUNDLE = "counterexample"


def add_search_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "search",
        help="search for parameters, wind and failures that break a property, and reduce them to the smallest case",
        description="Search the distributions of a sweep file for a flight that breaks its property, on all CPUs and "
        "without ROS, then reduce the values to the smallest failing case, and record that flight for "
        "'rosflight_py_sim refly'. After Ctrl-C, kill -9 or a full disk, the same command continues. A terminal shows "
        f"a progress bar; a file or pipe receives a line every {PERIOD_S:g} s. Exit code 0: no flight breaks the "
        "property; 1: a flight breaks it, or the search is not complete.",
        epilog="With --run, arguments after --ros-args are passed to ROS.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="sweep file with a property, YAML")
    parser.add_argument(
        "--budget",
        type=int,
        metavar="N",
        help="largest number of flights until one breaks the property (default: the key 'runs' of FILE)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="root seed of the search and of the flights (default: that of FILE)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder for the results (default: FILE's name with the extension .search; with --run --view: flights)",
    )
    add_run_options(parser, "flight", "complete search")
    parser.set_defaults(command=_search)


def _search(options: argparse.Namespace) -> int:
    check_run_options(options, "flight")
    require_packages()
    from rosflight_py_sim.search.execution import default_folder, read_property, searched_sweep
    from rosflight_py_sim.sweep.sweep_file import SWEEP_PARAMETERS, read_sweep

    for name, parameter in (("seed", SWEEP_PARAMETERS["seed"]), ("budget", SWEEP_PARAMETERS["runs"])):
        value = getattr(options, name)
        if value is not None and not parameter.minimum <= value <= parameter.maximum:
            raise ParameterError(f"--{name}: {value} given; allowed: {parameter.allowed}")
    given = read_sweep(options.file)
    read_property(given)
    sweep = searched_sweep(given, seed=options.seed, budget=options.budget)
    folder = options.output or default_folder(sweep)
    if options.run is None:
        return _fly_search(sweep, given.digest, folder, options)
    run = _row_of(sweep, folder, options.run).run
    return fly_again(sweep, run, options, Path("flights"))


def _fly_search(sweep: Sweep, digest: str, folder: Path, options: argparse.Namespace) -> int:
    from rosflight_py_sim.search.execution import Findings, read_property, search
    from rosflight_py_sim.search.summary import summary
    from rosflight_py_sim.sweep.execution import flight_function
    from rosflight_py_sim.sweep.store import SweepError

    fly = flight_function(sweep, graph=options.graph)
    interrupt_on_signals()
    findings = Findings()
    try:
        table = search(sweep, folder, fly, findings, digest=digest, workers=options.workers, ray=options.ray)
        text = summary(sweep, read_property(sweep), findings)
        print(f"{text}\ntable: {table.resolve()}", flush=True)
        from rosflight_py_sim.search.report import write_search_report

        print(f"report: {write_search_report(folder, sweep, findings).resolve()}", flush=True)
        if findings.smallest is None:
            return 0
        print(_bundle(sweep, findings.smallest, folder))
    except SweepError as error:
        print(f"rosflight_py_sim: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(summary(sweep, read_property(sweep), findings), flush=True)
        print("rosflight_py_sim: interrupted; give the same command again to continue", file=sys.stderr)
        raise
    return 1


def _bundle(sweep: Sweep, row: Row, folder: Path) -> str:
    """Record a flight; return lines that say where the recording is, and how to repeat it."""
    from rosflight_py_sim.search.summary import case_in_words
    from rosflight_py_sim.sweep.definition import scenario_of
    from rosflight_py_sim.testing.bundle import write_bundle
    from rosflight_py_sim.testing.flight import fly, prepared

    flight = replace(prepared(sweep), scenario=scenario_of(sweep, row.run))
    keys = {"sweep file": str(sweep.file), "flight": row.run.number, "seed": row.run.seed, "values": row.run.values}
    title = f"search {sweep.file}: {case_in_words(sweep, row)}"
    return write_bundle(folder / _BUNDLE, title, row.reason, keys, fly(flight))


def _row_of(sweep: Sweep, folder: Path, number: int) -> Row:
    """A flight of a complete search.

    Raises:
        ParameterError: the folder has no complete search, or that of another file, seed or budget, or no such flight.
    """
    from rosflight_py_sim.search.execution import stored_row
    from rosflight_py_sim.sweep.store import SweepError

    try:
        return stored_row(sweep, folder, number)
    except SweepError as error:
        raise ParameterError(f"--run: {error}") from error
