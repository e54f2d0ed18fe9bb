"""Long run with every front-end, the viewer, the recorder, and clients that never read.

    python -m proof.soak [--hours 1]

runs the scenario `harbour` as fast as the machine allows, and compares the first quarter of the run with the last:
memory, file descriptors and threads of each process, CPU time and real-time factor, and duration of each node's
callbacks.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.free_ports import free_ports
from proof.marked_processes import MarkedProgram
from proof.node_graph import Observer, TimedOutError
from proof.results import Row, publish
from proof.silent_clients import silent_clients
from rosflight_py_sim.ground.process_environment import stay_on_this_machine

PROJECT = Path(__file__).parents[1]
STAND_IN = PROJECT / "docs" / "examples" / "ardupilot_stand_in" / "ardupilot_stand_in.py"

# Part of the run that counts towards neither quarter: caches fill, and the recorder discovers all topics.
_WARM_UP = 0.1

# Limits of the change from the first quarter to the last.
MEMORY_MIB, MEMORY_MIB_PER_HOUR = 8.0, 16.0
DESCRIPTORS, THREADS = 3, 2
FACTOR_RATIO, CALLBACK_RATIO, CALLBACK_US = 0.75, 1.5, 30.0

# System time without progress after which the run is aborted, s.
_STANDSTILL_S = 240.0

# Load average per core above which durations are not judged; the simulation itself keeps four processes busy.
_BUSY = 4.0

_DOMAIN = 180


@dataclass
class Usage:
    """Samples of one process, oldest first.

    Attributes:
        cpu_s: CPU time per simulated second.
        memory_mib: resident memory.
        descriptors: open file descriptors.
        threads: threads.
    """

    cpu_s: list[float] = field(default_factory=list)
    memory_mib: list[float] = field(default_factory=list)
    descriptors: list[float] = field(default_factory=list)
    threads: list[float] = field(default_factory=list)


@dataclass
class Soak:
    """Samples of a run.

    Attributes:
        usage: of each process, by name.
        alive: names of the processes at the last sample.
        factor: real-time factor, one value per second.
        callbacks_us: median duration of the busiest callback of each node, one value per second.
        simulated_s: simulated duration of the run.
        clients: names of the clients that never read.
        ended: exit code of the simulation after SIGINT.
        trouble: reason why the run ended early; empty if it did not.
        logged: end of the simulation's output on stderr.
        load: largest load average (1 min).
    """

    usage: dict[str, Usage] = field(default_factory=dict)
    alive: set[str] = field(default_factory=set)
    factor: list[float] = field(default_factory=list)
    callbacks_us: dict[str, list[float]] = field(default_factory=dict)
    simulated_s: float = 0.0
    clients: list[str] = field(default_factory=list)
    ended: int | None = None
    trouble: str = ""
    logged: str = ""
    load: float = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether the machine was too busy for durations to be judged."""
        return self.load > _BUSY * (os.cpu_count() or 1)


def soak(simulated_s: float, domain: int = _DOMAIN) -> Soak:
    """Run the scenario for some simulated time."""
    names = ("ardupilot", "uthere_in", "uthere_out", "image", "thruster", "telemetry", "page")
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    parameters = {
        "ardupilot.port": ports["ardupilot"],
        "uthere.udp_port_in": ports["uthere_in"],
        "uthere.udp_port_out": ports["uthere_out"],
        **{f"auv_zeromq.{name}_port": ports[name] for name in ("image", "thruster", "telemetry")},
        "web_viewer.port": ports["page"],
        # At 30 images per simulated second, raw images would fill the disk.
        "record.raw_images": "false",
    }
    environment = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    arguments = ["sim", "--scenario", "harbour", "--real-time-multiplier", "0", "--view", "--record", "run.mcap"]
    arguments += ["--ros-args", "--log-level", "warn"]
    arguments += [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    found = Soak()
    with contextlib.ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        program = MarkedProgram("rosflight_py_sim", arguments, folder, environment)
        closing.callback(program.close)
        closing.enter_context(_stand_in(ports["ardupilot"]))
        found.clients = closing.enter_context(silent_clients(ports))
        observer = Observer(domain)
        closing.callback(observer.close)
        _watch(program, observer, simulated_s, found)
        program.interrupt()
        found.ended = program.wait(60.0)
        found.logged = program.stderr[-2000:]
    return found


@contextlib.contextmanager
def _stand_in(port: int) -> Iterator[None]:
    command = [sys.executable, str(STAND_IN), "--port", str(port), "--linger", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _watch(program: MarkedProgram, observer: Observer, simulated_s: float, found: Soak) -> None:
    progress_s = time.monotonic()
    begin_s = -1.0
    before: dict[int, tuple[float, float]] = {}
    while found.simulated_s < simulated_s:
        with contextlib.suppress(TimedOutError):
            observer.spin(1.0)
        reports = {name: one[-1] for name, one in observer.reports.items()}
        observer.reports.clear()
        now_s = reports["time_manager"].time_s if "time_manager" in reports else begin_s
        if begin_s < 0.0:
            begin_s = now_s
        if now_s - begin_s > found.simulated_s:
            progress_s, found.simulated_s = time.monotonic(), now_s - begin_s
        if program.process.poll() is not None or time.monotonic() > progress_s + _STANDSTILL_S:
            found.trouble = program.stderr.strip()[-300:] or "simulated time does not advance"
            return
        if found.simulated_s < _WARM_UP * simulated_s:
            continue
        found.load = max(found.load, os.getloadavg()[0])
        found.alive = set()
        for process_id in program.processes():
            _sample(process_id, found, before)
        if "time_manager" in reports:
            found.factor.append(float(reports["time_manager"].values["real-time factor"]))
        for name, report in reports.items():
            if "callback median (us)" in report.values:
                found.callbacks_us.setdefault(name, []).append(float(report.values["callback median (us)"]))


def _sample(process_id: int, found: Soak, before: dict[int, tuple[float, float]]) -> None:
    """Add a sample of a process; `before` has the simulated and CPU time (s) of each process at its last sample."""
    entry = Path(f"/proc/{process_id}")
    with contextlib.suppress(OSError):
        words = (entry / "cmdline").read_bytes().decode().split("\0")
        status = (entry / "status").read_text("ascii")
        descriptors = sum(1 for _ in (entry / "fd").iterdir())
        found.alive.add(_name_of(words))
        usage = found.usage.setdefault(_name_of(words), Usage())
        usage.memory_mib.append(_number(status, "VmRSS") / 1024.0)
        usage.threads.append(_number(status, "Threads"))
        usage.descriptors.append(descriptors)
        user, system = (entry / "stat").read_text("ascii").rsplit(")", 1)[1].split()[11:13]
        cpu_s = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        simulated_before_s, cpu_before_s = before.get(process_id, (0.0, 0.0))
        elapsed_s = found.simulated_s - simulated_before_s
        if simulated_before_s and elapsed_s > 0.0:
            usage.cpu_s.append((cpu_s - cpu_before_s) / elapsed_s)
        if elapsed_s > 0.0:
            before[process_id] = found.simulated_s, cpu_s


def _name_of(words: Sequence[str]) -> str:
    """Name of a process, from its command line."""
    text = " ".join(words)
    known = {" sim --scenario": "simulation", " web_viewer ": "web_viewer", "mcap_writer": "writer of the recording"}
    return next((name for part, name in known.items() if part in text), words[0])


def _number(status: str, key: str) -> float:
    found = re.search(rf"^{key}:\s*(\d+)", status, re.MULTILINE)
    return float(found[1]) if found else 0.0


def quarters(samples: Sequence[float]) -> tuple[float, float]:
    """Medians of the first and of the last quarter."""
    count = max(1, len(samples) // 4)
    return median(samples[:count]), median(samples[-count:])


def _thinned(samples: Sequence[float]) -> tuple[float, ...]:
    """Medians of up to 100 equal parts of a series."""
    size = max(1, len(samples) // 100)
    return tuple(round(median(samples[first : first + size]), 3) for first in range(0, len(samples), size))


def soak_rows(found: Soak) -> Iterator[Row]:
    """One row for each process and quantity."""
    promise = "flat from the first quarter of the run to the last"
    for name, usage in found.usage.items():
        before, after = quarters(usage.memory_mib)
        flat = after <= before + MEMORY_MIB + MEMORY_MIB_PER_HOUR * found.simulated_s / 3600.0
        text = f"{before:.1f} MiB, then {after:.1f} MiB"
        yield Row(f"memory of the {name}", promise, text, flat, _thinned(usage.memory_mib))
        before, after = quarters(usage.descriptors)
        flat = after <= before + DESCRIPTORS
        yield Row(f"file descriptors of the {name}", promise, f"{before:.0f}, then {after:.0f}", flat)
        before, after = quarters(usage.threads)
        yield Row(f"threads of the {name}", promise, f"{before:.0f}, then {after:.0f}", after <= before + THREADS)
    cpu = found.usage["simulation"].cpu_s if "simulation" in found.usage else []
    if cpu:
        before, after = quarters(cpu)
        text = f"{before:.2f} s per simulated second, then {after:.2f} s"
        flat = after <= before / FACTOR_RATIO
        yield Row("CPU time of the simulation", promise, text, None if found.is_busy else flat, _thinned(cpu))
    if found.factor:
        before, after = quarters(found.factor)
        text = f"{before:.2f} x real time, then {after:.2f} x"
        yield Row("real-time factor", promise, text, None if found.is_busy else after >= FACTOR_RATIO * before)
    for name, samples in found.callbacks_us.items():
        before, after = quarters(samples)
        flat = after <= max(CALLBACK_RATIO * before, before + CALLBACK_US)
        text = f"{before:.0f} us, then {after:.0f} us"
        yield Row(f"callbacks of `{name}` (median)", promise, text, None if found.is_busy else flat)
    text = f"{found.simulated_s:.0f} simulated seconds" + (f", then: {found.trouble}" if found.trouble else "")
    yield Row("length of the run", "simulated time always advances", text, not found.trouble)
    missing = sorted({"simulation", "web_viewer", "writer of the recording"} - found.alive)
    text = f"ended before the simulation: {', '.join(missing)}" if missing else "all ran to the end"
    yield Row("processes of the run", "none ends before the simulation", text, not missing)
    yield Row("end of the run by Ctrl-C", "exit code 130", f"{found.ended}", found.ended == 130)


def main() -> None:
    """Run the proof; exit code 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(prog="python -m proof.soak", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--hours", type=float, default=1.0, help="simulated hours (default: 1)")
    hours = parser.parse_args().hours
    stay_on_this_machine()
    began_s = time.monotonic()
    found = soak(3600.0 * hours)
    notes = [
        f"{hours:g} simulated {'hour' if hours == 1.0 else 'hours'} of the scenario `harbour` in "
        f"{time.monotonic() - began_s:.0f} s, with the page, a recording and the stand-in for ArduPilot.",
        f"Clients that never read: {', '.join(found.clients)}.",
        f"The first {_WARM_UP:.0%} of the run counts towards neither quarter.",
        f"Load average: at most {found.load:.1f}. Above {_BUSY:g} per core, durations are not judged.",
    ]
    sys.exit(publish("soak", "Soak", soak_rows(found), notes))


if __name__ == "__main__":
    main()
