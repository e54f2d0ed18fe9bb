"""The speed table: ratios to a bare chain of rclpy nodes measured in the same run, by turns.

Every figure is taken several times, each beside its yardstick, in processes of their own; the table shows medians.
Absolute numbers drift with the machine and its other work, the ratios far less.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

LIMIT_S = 600.0


def measured(expression: str, module: str) -> Any:
    """Value of `module.expression` in a fresh process."""
    code = f"import json, dataclasses\nfrom benchmarks import {module} as m\nr = m.{expression}\n"
    code += "print(json.dumps(dataclasses.asdict(r) if dataclasses.is_dataclass(r) else r))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{module}.{expression} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def by_turns(runs: int, subject: Callable[[], float], yardstick: Callable[[], float]) -> tuple[float, float, float]:
    """Medians of subject, yardstick and their ratio, taken by turns."""
    pairs = [(subject(), yardstick()) for _ in range(runs)]
    ratios = [rate / bare for rate, bare in pairs]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs), statistics.median(ratios)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Print the speed table.")
    parser.add_argument("--runs", type=int, default=3, help="how often each figure is taken (default 3)")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measurement (default 5)")
    parser.add_argument("--paced-seconds", type=float, default=60.0, help="length of the paced run (default 60)")
    options = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
    console = Console()
    seconds = options.seconds

    console.print(f"Python {platform.python_version()}, {os.cpu_count()} cores; medians of {options.runs} runs\n")
    alone = statistics.median(measured("hovering_rate()", "closed_loop") for _ in range(options.runs))
    composed = by_turns(
        options.runs,
        lambda: float(measured(f"composed_rate(duration_s={seconds})", "composed_graph")),
        lambda: float(measured(f"composed_rate(duration_s={seconds})", "bare_chain")),
    )
    separate = by_turns(
        options.runs,
        lambda: float(measured(f"separate_run(0.0, {seconds})", "separate_graph")["rate"]),
        lambda: float(measured(f"separate_rate(duration_s={seconds})", "bare_chain")),
    )
    paced = measured(f"separate_run(1.0, {options.paced_seconds})", "separate_graph")

    table = Table(title="Steps per second at 400 Hz, every sensor at its default rate")
    for column in ("", "simulator", "bare rclpy chain", "ratio", "wanted", "real-time factor"):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row(
        "physics, sensors and firmware, no ROS", f"{alone:,.0f}", "", "", "50,000 steps/s", f"{alone / 400:.0f}"
    )
    for name, (rate, bare, ratio), wanted in (
        ("whole graph, one process, lockstep", composed, "0.5"),
        ("whole graph, a process a node, lockstep", separate, "0.6"),
    ):
        table.add_row(name, f"{rate:,.0f}", f"{bare:,.0f}", f"{ratio:.2f}", wanted, f"{rate / 400:.1f}")
    console.print(table)

    nodes = Table(title=f"A process a node, held to real time for {options.paced_seconds:.0f} s")
    for column in ("node", "CPU (% of a core)", "memory (MiB)"):
        nodes.add_column(column, justify="left" if column == "node" else "right")
    for name, cpu in paced["cpu"].items():
        nodes.add_row(name, f"{100 * cpu:.0f}", f"{paced['memory_mib'][name]:.0f}")
    nodes.add_section()
    nodes.add_row("all", f"{100 * sum(paced['cpu'].values()):.0f}", f"{sum(paced['memory_mib'].values()):.0f}")
    console.print(nodes)
    console.print(f"{paced['rate']:.1f} steps/s, {paced['steps']} steps seen, {paced['lost']} lost")


if __name__ == "__main__":
    main()
