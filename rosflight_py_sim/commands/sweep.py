"""Command `rosflight_py_sim sweep`: fly all runs of a sweep file, or one of them again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.ground.process_signals import interrupt_on_signals
from rosflight_py_sim.missions.flight_progress import PERIOD_S, WATCHED_PACE
from rosflight_py_sim.sweep import require_packages

if TYPE_CHECKING:
    from rosflight_py_sim.sweep.definition import Run, Sweep


def add_sweep_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "sweep",
        help="fly a mission many times with drawn parameters (Monte Carlo)",
        description="Fly the runs of a sweep file on all CPUs, without ROS, and write a table and a report page. If "
        "the folder already holds runs of the same sweep, only the missing runs are flown: after Ctrl-C, kill -9 or a "
        "full disk, give the same command again. A terminal shows a progress bar; a file or pipe receives a line every "
        f"{PERIOD_S:g} s. Exit code 0: the table is complete, even if runs failed; 1: it is not.",
        epilog="With --run, arguments after --ros-args are passed to ROS.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="sweep file, YAML")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder for the results (default: FILE's name with the extension .sweep; with --run: flights)",
    )
    add_run_options(parser, "run", "sweep")
    parser.set_defaults(command=_sweep)


def add_run_options(parser: argparse.ArgumentParser, one: str, whole: str) -> None:
    """Add the options that say where runs are flown, and which is flown alone; `one` and `whole` are their words."""
    parser.add_argument("--workers", type=int, metavar="N", help=f"number of {one}s at a time (default: one per CPU)")
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="fly on a Ray cluster: its host:port, auto for the one on this machine, or local to start one that "
        "listens only on 127.0.0.1",
    )
    parser.add_argument(
        "--graph", action="store_true", help=f"fly each {one} in the node graph; slower, with the same results"
    )
    parser.add_argument(
        "--run", type=int, metavar="N", help=f"fly only {one} N of the {whole}, in the node graph, and summarize it"
    )
    parser.add_argument(
        "--view",
        action="store_true",
        help=f"with --run: show the {one} in a browser, at {WATCHED_PACE:g} times real time",
    )


def check_run_options(options: argparse.Namespace, one: str) -> None:
    """Check the options of `add_run_options`.

    Raises:
        ParameterError: --view without --run.
    """
    if options.view and options.run is None:
        raise ParameterError(f"--view given without --run; allowed: --run N --view, which shows {one} N")


def _sweep(options: argparse.Namespace) -> int:
    check_run_options(options, "run")
    require_packages()
    from rosflight_py_sim.sweep.definition import run_of
    from rosflight_py_sim.sweep.sweep_file import read_sweep

    sweep = read_sweep(options.file)
    if options.run is None:
        return _fly_sweep(sweep, options)
    try:
        run = run_of(sweep, options.run)
    except ValueError as error:
        raise ParameterError(f"--run: {error}") from error
    return fly_again(sweep, run, options, options.output or Path("flights"))


def _fly_sweep(sweep: Sweep, options: argparse.Namespace) -> int:
    import pyarrow.parquet as pq

    from rosflight_py_sim.sweep.execution import execute, flight_function
    from rosflight_py_sim.sweep.fly_run import ignored_in
    from rosflight_py_sim.sweep.store import SweepError, default_folder
    from rosflight_py_sim.sweep.table import SUCCEEDED

    folder = options.output or default_folder(sweep)
    fly = flight_function(sweep, graph=options.graph)
    interrupt_on_signals()
    try:
        table = execute(sweep, folder, fly, workers=options.workers, ray=options.ray)
        for text in ignored_in(sweep):
            print(f"rosflight_py_sim: warning: {text}", file=sys.stderr)
        succeeded = pq.ParquetFile(table).read([SUCCEEDED])[SUCCEEDED].to_pylist()
        print(f"{len(succeeded)} runs, {succeeded.count(False)} failed\ntable: {table.resolve()}")
        from rosflight_py_sim.sweep.report import write_report  # imported here because it takes almost a second

        print(f"report: {write_report(folder, sweep).resolve()}")
    except SweepError as error:
        print(f"rosflight_py_sim: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("rosflight_py_sim: interrupted; give the same command again to fly the remaining runs", file=sys.stderr)
        raise
    return 0


def fly_again(sweep: Sweep, run: Run, options: argparse.Namespace, output: Path) -> int:
    """Fly one run in the composed graph, as `fly` does, with results in the folder `output`; return the exit code."""
    from rosflight_py_sim.missions.catalogue import flight_of
    from rosflight_py_sim.missions.flight import fly
    from rosflight_py_sim.sweep.definition import scenario_of

    scenario = scenario_of(sweep, run)
    values = {one.key: one.parameter.text_of(run.values[one.key]) for one in sweep.quantities}
    print(", ".join([f"run {run.number}", *(f"{key} {text}" for key, text in values.items())]), flush=True)
    settings: dict[str, Value] = {"real_time_multiplier": WATCHED_PACE} if options.view else {}
    return fly(
        scenario,
        [flight for member in scenario.members if (flight := flight_of(member)) is not None],
        settings=settings,
        ros_arguments=options.ros_arguments,
        namespace="",
        output=output,
        sidecars=["web_viewer"] if options.view else [],
        limit_s=sweep.limit_s,
    )
