"""Speed tables: ratios to a bare chain of rclpy nodes, measured alternately in the same run.

Every figure is measured several times, alternating with its reference, in separate processes; the tables show medians.
Absolute numbers vary with the machine and its load, the ratios far less.
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
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.page_frames import CHROMIUM, page_frames
from benchmarks.two_machines import NotAllowedError, two_machines
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.vehicles import STANDALONE, all_vehicles

LIMIT_S = 600.0

COUNTS = (1, 2, 4, 8)
"""Numbers of vehicles in one process to measure, each alternating with a single vehicle."""

MANY, MANY_HZ = (1, 10, 100), (400, 100)
"""Numbers of vehicles in one process, and step rates, to measure for large fleets."""

# One row for names that stand for the same vehicle.
CONFIGURATIONS = list(
    {(one.forces_and_moments, one.parameter_file): key for key, one in all_vehicles().items()}.values()
)
"""(vehicle, dynamics) of all vehicles."""

_OBSERVERS = ("ardupilot", "auv_zeromq", "uthere")

_HELD_TO = ("multirotor", "anaconda", "aerosonde")
"""Vehicles with the target of three times the bare chain's speed: those without a bridge or an external engine."""

PARTS = (
    "no-ros",
    "vehicles",
    "sensors",
    "fleets",
    "many",
    "processes",
    "machines",
    "cameras",
    "paced",
    "ardupilot",
    "px4",
    "auv_zeromq",
    "uthere",
    "front_ends",
    "recording",
    "onlookers",
    "start",
    "sweeps",
    "services",
    "endurance",
)

WITHOUT_FURTHER_ERRORS: dict[str, Value] = {
    "acc_scale_range": 0.0,
    "acc_cross_axis_range": 0.0,
    "acc_resolution": 0.0,
    "acc_bias_temperature_range": 0.0,
    "gyro_scale_range": 0.0,
    "gyro_cross_axis_range": 0.0,
    "gyro_resolution": 0.0,
    "gyro_g_sensitivity_range": 0.0,
    "gyro_bias_temperature_range": 0.0,
    "imu_misalignment_range": 0.0,
    "imu_position": [0.0, 0.0, 0.0],
    "vibration_displacement": 0.0,
    "vibration_angle": 0.0,
    "vibration_harmonics": [0.0] * 4,
    "mag_soft_iron_range": 0.0,
    "mag_current_field": [0.0, 0.0, 0.0],
    "mag_resolution": 0.0,
    "baro_resolution": 0.0,
    "baro_propeller_wash": 0.0,
    "baro_static_port_error": [0.0] * 6,
    "baro_bias_temperature_range": 0.0,
    "airspeed_resolution": 0.0,
    "airspeed_position_error": 0.0,
    "gnss_smoothing_time": 0.0,
    "horizontal_gnss_noise_density": 0.0,
    "vertical_gnss_noise_density": 0.0,
    "range_resolution": 0.0,
    "range_signal_noise": 0.0,
}
"""Parameters of the sensors that leave only noise and biases."""

FRAME_RATES = (400, 1200)
"""Frame rates of ArduPilot to measure, Hz."""


def measured(expression: str, module: str) -> Any:
    """Value of `module.expression` in a fresh process."""
    code = f"import json, dataclasses\nfrom benchmarks import {module} as m\nr = m.{expression}\n"
    code += "print(json.dumps(dataclasses.asdict(r) if dataclasses.is_dataclass(r) else r))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{module}.{expression} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def by_turns(runs: int, subject: Callable[[], float], yardstick: Callable[[], float]) -> tuple[float, float, float]:
    """Medians of subject, reference and their ratio, measured alternately."""
    pairs = [(subject(), yardstick()) for _ in range(runs)]
    ratios = [rate / bare for rate, bare in pairs]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs), statistics.median(ratios)


def composed(name: str, dynamics: str, count: int, seconds: float) -> float:
    """Steps per second of `count` vehicles in one process, without cameras."""
    expression = f"composed_run({name!r}, {dynamics!r}, {count}, {seconds}, cameras=False)"
    return float(measured(expression, "composed_graph")["rate"])


def bare_chain(seconds: float) -> float:
    """Steps per second of the bare chain in one process."""
    return float(measured(f"composed_rate(duration_s={seconds})", "bare_chain"))


def main() -> None:
    """Run the benchmarks and print the tables."""
    options = _parser().parse_args()
    stay_on_this_machine()
    os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
    console = Console()
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} cores; medians of {options.runs} runs\n")
    chosen = [one for one in CONFIGURATIONS if options.vehicle in (None, one[0])]
    if {"no-ros", "vehicles", "processes"} & set(options.parts):
        console.print(_steps(options, chosen))
    if "sensors" in options.parts:
        console.print(_sensors(options))
    if "fleets" in options.parts:
        console.print(_fleets(options, chosen if options.vehicle else chosen[:1]))
    if "many" in options.parts:
        console.print(_many(options))
        _print_without_ros(options, console)
    if "machines" in options.parts:
        _print_machines(options, console)
    if "cameras" in options.parts:
        console.print(_pictures(options))
    if "paced" in options.parts:
        _print_paced(options, console)
    if "auv_zeromq" in options.parts:
        _print_auv_zeromq(options, console)
    if "uthere" in options.parts:
        _print_uthere(options, console)
    if "front_ends" in options.parts:
        _print_front_ends(options, console)
    if "recording" in options.parts:
        _print_recording(options, console)
    if "ardupilot" in options.parts:
        _print_ardupilot(options, console)
    if "px4" in options.parts:
        _print_px4(options, console)
    if "onlookers" in options.parts:
        console.print(_onlookers(options))
        _print_page_frames(options, console)
    if "start" in options.parts:
        _print_start(options, console)
    if "sweeps" in options.parts:
        console.print(_sweeps(options))
    if "services" in options.parts:
        _print_services(options, console)
    if "endurance" in options.parts:
        _print_endurance(options, console)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Print the speed tables.")
    parser.add_argument(
        "parts", nargs="*", default=PARTS, metavar="PART", help=f"tables to print: {', '.join(PARTS)}; default: all"
    )
    parser.add_argument(
        "--vehicle",
        choices=list(dict.fromkeys(name for name, _ in CONFIGURATIONS)),
        help="vehicle to measure; default: all",
    )
    parser.add_argument("--runs", type=int, default=3, help="number of measurements of each figure (default 3)")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measurement (default 5)")
    parser.add_argument(
        "--cycles", type=int, default=100, help="vehicles that the services spawn and delete, at least 20 (default 100)"
    )
    parser.add_argument(
        "--simulated-minutes", type=float, default=60.0, help="length of the endurance run (default 60)"
    )
    parser.add_argument("--paced-seconds", type=float, default=60.0, help="length of the paced run (default 60)")
    parser.add_argument(
        "--peers",
        metavar="PYTHON",
        help="Python of an environment with crazyflow and rotorpy, which `many` then measures, too",
    )
    parser.add_argument("--flights", type=int, default=100, help="number of flights of a sweep (default 100)")
    return parser


def _steps(options: argparse.Namespace, chosen: list[tuple[str, str]]) -> Table:
    runs, seconds = options.runs, options.seconds
    table = Table(title="Steps per second at 400 Hz, every sensor at its default rate")
    for column in ("", "simulator", "bare rclpy chain", "ratio", "target", "real-time factor"):
        table.add_column(column, justify="left" if not column else "right")

    def add(name: str, figures: tuple[float, float, float], wanted: str) -> None:
        rate, bare, ratio = figures
        table.add_row(name, f"{rate:,.0f}", f"{bare:,.0f}", f"{ratio:.2f}", wanted, f"{rate / 400:.1f}")

    if "no-ros" in options.parts:
        for name, is_compiled, wanted in (("compiled steps", True, "200,000 steps/s"), ("by messages", False, "")):
            call = f"rate(m.hovering(is_compiled={is_compiled}), 10.0)"
            alone = statistics.median(measured(call, "held_command") for _ in range(runs))
            table.add_row(
                f"multirotor without ROS: physics, sensors, firmware, {name}",
                *(f"{alone:,.0f}", "", "", wanted, f"{alone / 400:.0f}"),
            )
    if "vehicles" in options.parts:
        for name, dynamics in chosen:
            figures = by_turns(
                runs,
                lambda name=name, dynamics=dynamics: composed(name, dynamics, 1, seconds),  # type: ignore[misc]
                lambda: bare_chain(seconds),
            )
            by = "" if dynamics == STANDALONE else f" by {dynamics}"
            add(f"{name}{by}, one process, lockstep", figures, "3.0" if name in _HELD_TO else "")
    if "processes" in options.parts:
        figures = by_turns(
            runs,
            lambda: float(measured(f"separate_run(0.0, {seconds})", "separate_graph")["rate"]),
            lambda: float(measured(f"separate_rate(duration_s={seconds})", "bare_chain")),
        )
        add("multirotor, one process per node, lockstep", figures, "0.6")
        figures = by_turns(
            runs,
            lambda: float(measured(f"separate_run(0.0, {seconds}, time_mode='gated')", "separate_graph")["rate"]),
            lambda: float(measured(f"separate_run(0.0, {seconds})", "separate_graph")["rate"]),
        )
        add("the same, gated (ratio to lockstep)", figures, "0.6")
    return table


def _fleets(options: argparse.Namespace, chosen: list[tuple[str, str]]) -> Table:
    table = Table(title="Several vehicles in one process, lockstep")
    for column in ("", "vehicles", "steps/s", "vehicle steps/s", "ratio to bare chain", "target", "relative cost"):
        table.add_column(column, justify="left" if not column else "right")
    for name, dynamics in chosen:
        rounds = [
            {count: composed(name, dynamics, count, options.seconds) for count in COUNTS}
            | {0: bare_chain(options.seconds)}
            for _ in range(options.runs)
        ]
        by = "" if dynamics == STANDALONE else f" by {dynamics}"
        for count in COUNTS:
            rate = statistics.median(one[count] for one in rounds)
            ratio = statistics.median(count * one[count] / one[0] for one in rounds)
            cost = statistics.median(one[1] / one[count] / count for one in rounds)
            figures = f"{rate:,.0f}", f"{count * rate:,.0f}", f"{ratio:.2f}", "2.5" if count == 8 else "", f"{cost:.2f}"
            table.add_row(f"{name}{by}", str(count), *figures)
        table.add_section()
    return table


def _many(options: argparse.Namespace) -> Table:
    table = Table(title="Multirotors with every sensor and ROSflight's firmware in one process, lockstep")
    for column in (
        *("step rate (Hz)", "vehicles", "times real time", "vehicle steps/s", "ratio to bare chain"),
        *("cost of a vehicle, relative to one", "memory of a vehicle (MiB)"),
    ):
        table.add_column(column, justify="right")
    for hz in MANY_HZ:
        rounds = [
            {count: _many_run(count, hz, options.seconds) for count in MANY}
            | {0: {"rate": bare_chain(options.seconds)}}
            for _ in range(options.runs)
        ]
        for count in MANY:
            rate = statistics.median(one[count]["rate"] for one in rounds)
            ratio = statistics.median(count * one[count]["rate"] / one[0]["rate"] for one in rounds)
            cost = statistics.median(one[1]["rate"] / one[count]["rate"] / count for one in rounds)
            more = [one[count]["resident_mib"] - one[1]["resident_mib"] for one in rounds]
            memory = f"{statistics.median(more) / (count - 1):.1f}" if count > 1 else ""
            figures = f"{rate / hz:.1f}", f"{count * rate:,.0f}", f"{ratio:.1f}", f"{cost:.2f}", memory
            table.add_row(str(hz), str(count), *figures)
        table.add_section()
    return table


def _many_run(count: int, hz: int, seconds: float) -> dict[str, float]:
    arguments = ["-p", f"step_size:={1.0 / hz}"]
    run = measured(f"composed_run(count={count}, duration_s={seconds}, arguments={arguments})", "composed_graph")
    return dict(run)


_LANES = {
    "64 of them, 50 steps of all in each call": "sensed_rate(64, 2.0)",
    "64 of them in a vectorised environment, a decision every 8 steps": "environments_rate(64, 2.0)",
    "one rigid body with propellers, motor lag and battery": "body_rate(1, 50.0)",
    "64 rigid bodies with propellers, motor lag and battery": "body_rate(64, 5.0)",
}


def _lanes_rate(expression: str) -> float:
    return float(measured(expression, "lanes"))


def _print_without_ros(options: argparse.Namespace, console: Console) -> None:
    """A vehicle without ROS beside other simulators, by turns."""
    rows: list[tuple[str, Callable[[], float]]] = [
        (
            "one multirotor without ROS, with sensors and firmware, on one core",
            lambda: float(measured("rate(hovering(is_compiled=True), 10.0)", "held_command")),
        ),
        *((name, partial(_lanes_rate, expression)) for name, expression in _LANES.items()),
    ]
    if options.peers is not None:
        seconds = ["--seconds", str(options.seconds)]
        rows += [
            ("crazyflow, 1024 worlds, no sensors", partial(_peer, options.peers, "crazyflow", *seconds)),
            ("crazyflow, 1 world", partial(_peer, options.peers, "crazyflow", "--worlds", "1", *seconds)),
            ("RotorPy, one vehicle, no sensors", partial(_peer, options.peers, "rotorpy", *seconds)),
        ]
    rounds = [[rate() for _, rate in rows] for _ in range(options.runs)]
    table = Table(title="Without ROS")
    table.add_column("")
    table.add_column("vehicle steps/s", justify="right")
    for (name, _), rates in zip(rows, zip(*rounds, strict=True), strict=True):
        table.add_row(name, f"{statistics.median(rates):,.0f}")
    console.print(table)


def _peer(python: str, *arguments: str) -> float:
    command = [python, str(Path(__file__).with_name("peers.py")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return float(done.stdout.splitlines()[-1])


def _print_machines(options: argparse.Namespace, console: Console) -> None:
    table = Table(title="The multirotor's graph on two machines, which are network namespaces, and on one")
    for column in (
        "",
        "steps/s",
        "on one machine",
        "ratio",
        "step (ms)",
        "on one (ms)",
        "round trip of a datagram (us)",
    ):
        table.add_column(column, justify="left" if not column else "right")

    def run(time_mode: str, machines: int, delay_ms: float = 0.0) -> dict[str, float]:
        expression = f"divided_run({options.seconds}, {time_mode!r}, {machines}, {delay_ms})"
        return dict(measured(expression, "divided_graph"))

    for time_mode, delay_ms in (("lockstep", 0.0), ("gated", 0.0), ("lockstep", 1.0)):
        name = f"{time_mode}, each packet {delay_ms:g} ms late" if delay_ms else time_mode
        try:
            with two_machines(delay_ms):
                pass
        except NotAllowedError as error:
            console.print(f"two machines, {name}: not measured: {error}")
            continue
        pairs = [(run(time_mode, 2, delay_ms), run(time_mode, 1)) for _ in range(options.runs)]
        ratio = statistics.median(two["rate"] / one["rate"] for two, one in pairs)
        both = [[statistics.median(pair[k][key] for pair in pairs) for key in ("rate", "step_ms")] for k in (0, 1)]
        (rate, step_ms), (rate_of_one, step_ms_of_one) = both
        round_trip_us = statistics.median(two["round_trip_us"] for two, _ in pairs)
        figures = f"{rate:,.0f}", f"{rate_of_one:,.0f}", f"{ratio:.2f}", f"{step_ms:.2f}", f"{step_ms_of_one:.2f}"
        table.add_row(name, *figures, f"{round_trip_us:,.0f}")
    console.print(table)


def _sensors(options: argparse.Namespace) -> Table:
    """Cost of the errors of real sensors, next to ROSflight's noise and biases alone."""
    table = Table(title="The multirotor with the errors of real sensors, and with ROSflight's noise and biases alone")
    for column in ("", "all errors (steps/s)", "noise and biases (steps/s)", "cost of a step", "target"):
        table.add_column(column, justify="left" if not column else "right")
    arguments = [word for name, value in WITHOUT_FURTHER_ERRORS.items() for word in ("-p", f"{name}:={value}")]
    hover, graph = "hovering_rate(sensors={})", f"composed_run(duration_s={options.seconds}, arguments={{!r}})"
    for name, module, real, plain in (
        ("hovering, no ROS", "closed_loop", hover.format({}), hover.format(WITHOUT_FURTHER_ERRORS)),
        ("one process, lockstep", "composed_graph", graph.format([]), graph.format(arguments)),
    ):

        def rate(expression: str, module: str = module) -> float:
            figures = measured(expression, module)
            return float(figures["rate"] if isinstance(figures, dict) else figures)

        slow, fast, ratio = by_turns(options.runs, partial(rate, real), partial(rate, plain))
        table.add_row(name, f"{slow:,.0f}", f"{fast:,.0f}", f"{1.0 / ratio:.2f}", "1.10")
    return table


def _onlookers(options: argparse.Namespace) -> Table:
    table = Table(title="The multirotor in one process, with an observer in another")
    for column in ("", "steps/s", "bare rclpy chain", "ratio", "target"):
        table.add_column(column, justify="left" if not column else "right")
    seconds = options.seconds
    for name, expression, target in (
        ("a subscription to sim/truth_state", f"subscribed_run({seconds})", "4.0"),
        ("visualizer", f"watched_run('visualizer', {seconds})", "2.0"),
        ("web_viewer", f"watched_run('web_viewer', {seconds})", "2.0"),
    ):
        watched, bare, ratio = by_turns(
            options.runs,
            lambda expression=expression: float(measured(expression, "looking_on")["rate"]),  # type: ignore[misc]
            lambda: bare_chain(seconds),
        )
        table.add_row(name, f"{watched:,.0f}", f"{bare:,.0f}", f"{ratio:.2f}", target)
    return table


def _print_page_frames(options: argparse.Namespace, console: Console) -> None:
    if not Path(CHROMIUM).exists():
        console.print(f"frames of the page: not measured, there is no {CHROMIUM}")
        return
    table = Table(title="The page in a browser that renders on the CPU, during a mission at real time")
    for column in ("", "frames/s at 1280 x 760", "at 700 x 420", "target"):
        table.add_column(column, justify="left" if not column else "right")
    for name in ("multirotor", "auv"):
        runs = [page_frames(name, options.seconds, *size) for size in ((1280, 760), (700, 420))]
        table.add_row(name, *(f"{run.frames_per_second:.1f}" for run in runs), "30")
    console.print(table)


def _pictures(options: argparse.Namespace) -> Table:
    table = Table(title="CPU time of images, 320 x 240")
    for column in ("", "rendering (ms)", "JPEG (ms)", "at 30 Hz (% of a core)", "times real time"):
        table.add_column(column, justify="left" if not column else "right")
    shares = []
    for name in ("front", "bottom"):
        runs = [measured(f"picture_run({name!r}, {options.seconds})", "pictures") for _ in range(options.runs)]
        drawn, compressed = (statistics.median(run[key] for run in runs) for key in ("drawn", "compressed"))
        shares.append(3.0 * (drawn + compressed))
        table.add_row(f"{name} camera, without ROS", f"{drawn:.2f}", f"{compressed:.2f}", f"{shares[-1]:.0f}", "")
    table.add_row("both; target: at most 50", "", "", f"{sum(shares):.0f}", "")
    factors: dict[bool, list[float]] = {False: [], True: []}
    costs = []
    for _ in range(options.runs):
        without, filmed = (measured(f"filmed_run({one}, {options.seconds})", "pictures") for one in (False, True))
        factors[False].append(without["real_time_factor"])
        factors[True].append(filmed["real_time_factor"])
        costs.append(100.0 * (filmed["cpu"] - without["cpu"]))
    table.add_row("multirotor without cameras, one process", "", "", "", f"{statistics.median(factors[False]):.1f}")
    share, factor = f"{statistics.median(costs):.0f}", f"{statistics.median(factors[True]):.1f}"
    table.add_row("multirotor with both, JPEG subscribed", "", "", share, factor)
    return table


def _print_recording(options: argparse.Namespace, console: Console) -> None:
    table = Table(title="Recording every topic of one vehicle in one process")
    for column in ("", "steps/s, recorded", "bare rclpy chain", "ratio", "target"):
        table.add_column(column, justify="left" if not column else "right")
    for name in ("multirotor", "anaconda"):
        rate, bare, ratio = by_turns(
            options.runs,
            lambda name=name: measured(f"recorded_run({name!r}, {options.seconds})", "recording")["rate"],  # type: ignore[misc]
            lambda: bare_chain(options.seconds),
        )
        table.add_row(name, f"{rate:,.0f}", f"{bare:,.0f}", f"{ratio:.2f}", "3.0")
    console.print(table)
    handed, direct = (measured(f"{way}_us()", "recording") for way in ("process", "direct"))
    console.print(
        f"CPU time of a message: {handed:.2f} us in the simulation; {direct:.2f} us if it wrote the file itself"
    )


def _print_paced(options: argparse.Namespace, console: Console) -> None:
    paced = measured(f"separate_run(1.0, {options.paced_seconds})", "separate_graph")
    nodes = Table(title=f"One process per node, paced to real time for {options.paced_seconds:.0f} s")
    for column in ("node", "CPU (% of a core)", "memory (MiB)"):
        nodes.add_column(column, justify="left" if column == "node" else "right")
    for name, cpu in paced["cpu"].items():
        nodes.add_row(name, f"{100 * cpu:.0f}", f"{paced['memory_mib'][name]:.0f}")
    nodes.add_section()
    nodes.add_row("all", f"{100 * sum(paced['cpu'].values()):.0f}", f"{sum(paced['memory_mib'].values()):.0f}")
    console.print(nodes)
    console.print(f"{paced['rate']:.1f} steps/s, {paced['steps']} steps seen, {paced['lost']} lost")


def _print_start(options: argparse.Namespace, console: Console) -> None:
    # The best of the runs: other work on the machine only ever delays a start.
    graphs = [measured("separate_start()", "start") for _ in range(options.runs)]
    table = Table(title="The multirotor's nodes, one process each")
    for column in ("node", "ready after (s)", "RSS (MiB)", "PSS (MiB)"):
        table.add_column(column, justify="left" if column == "node" else "right")
    for name in graphs[0]["rss_mib"]:
        ready = min(measured(f"node_start({name!r})", "start") for _ in range(options.runs))
        memory = (f"{min(graph[kind][name] for graph in graphs):.0f}" for kind in ("rss_mib", "pss_mib"))
        table.add_row(name, f"{ready:.2f}", *memory)
    table.add_section()
    sums = (f"{min(sum(graph[kind].values()) for graph in graphs):.0f}" for kind in ("rss_mib", "pss_mib"))
    table.add_row("all", "", *sums)
    console.print(table)
    separate = min(graph["first_step"] for graph in graphs)
    composed = min(measured("composed_start()", "start") for _ in range(options.runs))
    console.print(f"first step: one process per node {separate:.2f} s, `rosflight_py_sim fly` {composed:.2f} s")


def _sweeps(options: argparse.Namespace) -> Table:
    table = Table(title=f"A sweep of {options.flights:,} flights of the multirotor's square, 50 s each, without ROS")
    for column in ("", "time (s)", "flights/s", "ratio", "target"):
        table.add_column(column, justify="left" if not column else "right")
    expressions = (f"flights_s({options.flights})", *(f"sweep_s({workers}, {options.flights})" for workers in (1, 2)))
    rounds = [[float(measured(one, "sweep")) for one in expressions] for _ in range(options.runs)]
    overhead = statistics.median(one / alone - 1.0 for alone, one, _ in rounds)
    speed_up = statistics.median(one / two for _, one, two in rounds)
    rows = (
        ("the flights alone, one process", "", ""),
        ("1 worker; overhead of a run", f"{100.0 * overhead:.1f} %", "at most 5 %"),
        ("2 workers; speed relative to 1", f"{speed_up:.2f}", "1.8"),
    )
    for place, (name, ratio, target) in enumerate(rows):
        taken = statistics.median(one[place] for one in rounds)
        table.add_row(name, f"{taken:.1f}", f"{options.flights / taken:.2f}", ratio, target)
    return table


def _print_services(options: argparse.Namespace, console: Console) -> None:
    run = measured(f"services_run({options.cycles})", "services")
    table = Table(title="The standard services of simulators, for a paused multirotor in one process")
    for column in ("service", "median (ms)", "maximum (ms)"):
        table.add_column(column, justify="left" if column == "service" else "right")
    for one in run["latencies"]:
        table.add_row(one["service"], f"{one['median_ms']:.1f}", f"{one['greatest_ms']:.1f}")
    console.print(table)
    console.print(
        f"{run['cycles']} further vehicles spawned and deleted: memory grew by {run['growth_mib']:.1f} MiB; the last "
        f"ten took {run['slowdown']:.2f} times as long as the first"
    )


def _print_endurance(options: argparse.Namespace, console: Console) -> None:
    run = measured(f"long_run({options.simulated_minutes})", "endurance")
    first, last, growth = run["first_factor"], run["last_factor"], run["growth_mib"]
    console.print(
        f"{options.simulated_minutes:g} simulated minutes of the multirotor: {first:.1f} times real time in the first, "
        f"{last:.1f} in the last ({last / first:.2f}; target: 0.95 to 1.05); memory grew by {growth:.2f} MiB after the "
        "first (target: at most 1)"
    )


def _print_auv_zeromq(options: argparse.Namespace, console: Console) -> None:
    table = Table(title="The AUV protocol: one auv in one process")
    columns = (
        "",
        "real-time factor",
        "CPU per simulated second",
        "telemetry in real time",
        "telemetry interval, 1 % to 99 %",
        "images",
    )
    for column in columns:
        table.add_column(column, justify="left" if not column else "right")
    for cameras in (False, True):
        given = f"({cameras}, {options.seconds})"
        free = [measured(f"free_run{given}", "auv_zeromq_protocol") for _ in range(options.runs)]
        held = measured(f"held_rate{given}", "auv_zeromq_protocol")
        low, high = held["interval_ms"]
        table.add_row(
            "two cameras" if cameras else "no cameras",
            f"{statistics.median(one['real_time_factor'] for one in free):.1f}",
            f"{statistics.median(one['cpu'] for one in free):.2f} s",
            f"{held['telemetry_hz']:.1f} Hz",
            f"{low:.1f} to {high:.1f} ms",
            f"{held['image_hz']:.1f} Hz",
        )
    console.print(table)
    for rate in (83e3, 1e6):
        run = measured(f"flooded_run({rate}, {options.seconds}, {options.runs})", "auv_zeromq_protocol")
        console.print(
            f"a client that sends up to {rate:,.0f} thruster messages per second leaves {run['ratio']:.2f} of the "
            f"speed without clients ({run['flooded']:.1f} of {run['alone']:.1f} times real time; best of the runs)"
        )


def _print_uthere(options: argparse.Namespace, console: Console) -> None:
    table = Table(title="uThere's protocol with the firmware: the anaconda in one process, lockstep")
    for column in ("", "CPU per step (us)", "firmware alone (us)", "ratio"):
        table.add_column(column, justify="left" if not column else "right")

    def cost(flight_controller: str) -> float:
        expression = f"composed_run('anaconda', duration_s={options.seconds}, flight_controller={flight_controller!r})"
        return float(measured(expression, "composed_graph")["cpu_us"])

    served, alone, ratio = by_turns(options.runs, lambda: cost("uthere"), lambda: cost("sil_board"))
    table.add_row("no clients", f"{served:,.0f}", f"{alone:,.0f}", f"{ratio:.2f}")
    console.print(table)
    runs = [measured(f"data_run({4.0 * options.seconds})", "uthere_data") for _ in range(options.runs)]
    total, share, packets = (statistics.median(run[key] for run in runs) for key in ("total", "cost", "packets_hz"))
    console.print(
        f"in real time 20 variables every 0.1 s for 4 programs, {packets:.0f} packets/s, take {100 * share:.1f} % of a "
        f"core (target: at most 5) of {100 * total:.0f} % for the whole graph"
    )


def _print_front_ends(options: argparse.Namespace, console: Console) -> None:
    table = Table(title="Front-ends that observe the multirotor, one process, lockstep")
    for column in ("", "CPU per step (us)", "cost (us)"):
        table.add_column(column, justify="left" if not column else "right")
    combinations = [(), *((name,) for name in _OBSERVERS), _OBSERVERS]
    runs = [
        [float(measured(f"cpu_us({names!r}, {options.seconds})", "front_ends")) for names in combinations]
        for _ in range(options.runs)
    ]
    costs = [[cpu_us - run[0] for cpu_us in run] for run in runs]
    for k, names in enumerate(combinations):
        cpu_us, cost = (statistics.median(row[k] for row in rows) for rows in (runs, costs))
        table.add_row(", ".join(names) or "none", f"{cpu_us:,.1f}", f"{cost:,.1f}")
    console.print(table)
    ratio = statistics.median(run[-1] / sum(run[1:-1]) for run in costs)
    console.print(f"all together cost {ratio:.2f} of the sum of their single costs (target: at most 1.15)")
    for multiplier, pace in ((0.0, "as fast as possible"), (1.0, "in real time")):
        subject = (
            f"cpu_us(('auv_zeromq', 'uthere'), {options.seconds}, frame_rate=800, real_time_multiplier={multiplier})"
        )
        frames = [float(measured(subject, "front_ends")) for _ in range(options.runs)]
        console.print(
            f"flown by ArduPilot at 800 Hz, observed by auv_zeromq and uthere, {pace}: "
            f"{statistics.median(frames):,.1f} us per frame (target: at most 150 us)"
        )


def _print_ardupilot(options: argparse.Namespace, console: Console) -> None:
    table = Table(title="ArduPilot's frames through UDP (multirotor, lockstep), and the graph with sil_board")
    for column in ("", "frames/s", "sil_board", "ratio", "target", "p50 (us)", "p99 (us)"):
        table.add_column(column, justify="left" if not column else "right")

    def add(name: str, wanted: str, subject: str, yardstick: Callable[[], float]) -> None:
        runs: list[dict[str, float]] = []

        def frames() -> float:
            runs.append(measured(subject, "ardupilot"))
            return runs[-1]["rate"]

        rate, own, ratio = by_turns(options.runs, frames, yardstick)
        waits = [f"{statistics.median(run[key] for run in runs):,.0f}" for key in ("p50_us", "p99_us")]
        table.add_row(name, f"{rate:,.0f}", f"{own:,.0f}", f"{ratio:.2f}", wanted, *waits)

    seconds = options.seconds
    for hz in FRAME_RATES:
        own = f"composed_run(duration_s={seconds}, arguments=['-p', 'step_size:={1.0 / hz}'])"
        add(
            f"one process, {hz} Hz",
            "4,500/s",
            f"composed_run({hz}, {seconds})",
            lambda own=own: float(measured(own, "composed_graph")["rate"]),  # type: ignore[misc]
        )
    for hz in FRAME_RATES:
        own = f"separate_run(duration_s={seconds}, step_rate={hz})"
        add(
            f"one process per node, {hz} Hz",
            "",
            f"separate_run({hz}, {seconds})",
            lambda own=own: float(measured(own, "separate_graph")["rate"]),  # type: ignore[misc]
        )
    console.print(table)
    codec = measured("codec_us()", "ardupilot")
    console.print(
        f"parsing a frame takes {codec['decode']:.1f} us, building a reply with all fields {codec['encode']:.1f} us"
    )


def _print_px4(options: argparse.Namespace, console: Console) -> None:
    table = Table(title="PX4's steps through TCP (multirotor, lockstep, one process), and the graph with sil_board")
    for column in ("steps/s", "sil_board", "ratio", "target", "p50 (us)", "p99 (us)"):
        table.add_column(column, justify="right")
    runs: list[dict[str, float]] = []

    def steps() -> float:
        runs.append(measured(f"composed_run({options.seconds})", "px4"))
        return runs[-1]["rate"]

    own = f"composed_run(duration_s={options.seconds})"
    rate, other, ratio = by_turns(options.runs, steps, lambda: float(measured(own, "composed_graph")["rate"]))
    waits = [f"{statistics.median(run[key] for run in runs):,.0f}" for key in ("p50_us", "p99_us")]
    table.add_row(f"{rate:,.0f}", f"{other:,.0f}", f"{ratio:.2f}", "0.6", *waits)
    console.print(table)


if __name__ == "__main__":
    main()
