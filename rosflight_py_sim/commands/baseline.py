"""Command `rosflight_py_sim baseline`: record named flights, or check that they have not changed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_baseline_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "baseline",
        help="record flights, and check later that they have not changed",
        description="Fly the named flights of a baseline file, without ROS. `record` writes their hashes and measures "
        "into the file, which you commit; `check` compares. For a changed flight, both print the first step and node "
        "that differ, and a table of the changed measures. Exit code of check: 0: no change, or within the file's "
        "tolerance; 1: a flight has changed or is not recorded.",
    )
    parser.add_argument("action", choices=("record", "check"), help="record replaces what the file has recorded")
    parser.add_argument(
        "file", type=Path, nargs="?", default=Path("baseline.yaml"), metavar="FILE", help="default: %(default)s"
    )
    parser.set_defaults(command=_baseline)


def _baseline(options: argparse.Namespace) -> int:
    from rich.console import Console

    from rosflight_py_sim.testing.baseline import all_versions, changed_versions, compare, print_comparison
    from rosflight_py_sim.testing.baseline_file import read_baseline

    baseline = read_baseline(options.file)
    for text in changed_versions(baseline.versions):
        print(f"rosflight_py_sim: {text}", file=sys.stderr)
    console = Console()
    comparisons = []
    for one in compare(baseline):
        print_comparison(one, baseline.tolerance, console)
        comparisons.append(one)
    for name in baseline.recorded:
        if name not in baseline.flights:
            print(f"{name}: recorded, but not a flight of the file any more")
    if options.action == "record":
        size = baseline.write({one.name: one.now for one in comparisons}, all_versions())
        print(f"recorded: {options.file}, {len(comparisons)} flights, {size / 1e3:.0f} kB")
        return 0
    is_unchanged = all(one.is_accepted(baseline.tolerance) for one in comparisons)
    return 0 if is_unchanged and {*baseline.recorded} <= {*baseline.flights} else 1
