"""Ctrl-C and SIGTERM at a grid of moments, from the start to the end of each command.

python -m proof.interruptions [--moments 9]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from proof.marked_processes import MarkedProgram
from proof.results import Row, publish
from rosflight_py_sim.ground.process_environment import stay_on_this_machine

COMMAND = "rosflight_py_sim"

INTERRUPTED = 130
"""Documented exit code of a command ended by a signal."""

LONGEST_S = 3.0
"""Documented longest time from the signal to the end of a command on a quiet machine, s."""

# ROS domain of the first command, apart from the domains of the tests.
_DOMAIN = 176

# A command that is still running after this time (s) hangs.
_GIVE_UP_S = 20.0

# Time (s) by which processes that complete a file may outlive the command: that of a write.
_GRACE_S = 2.0


@dataclass(frozen=True)
class Interrupted:
    """A command to interrupt.

    Attributes:
        arguments: its command line.
        last_s: last moment of the grid, s after the signal handlers are set.
        beside: command line of a simulation to run at the same time; empty for none.
    """

    arguments: tuple[str, ...]
    last_s: float
    beside: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the command for the table."""
        return " ".join(self.arguments)


SIMULATION = ("sim", "--ros-args", "--log-level", "warn")

COMMANDS = (
    Interrupted(("sim",), 4.0),
    Interrupted(("sim", "--record"), 4.0),
    # Long enough for the flight and its plot.
    Interrupted(("fly",), 12.0),
    Interrupted(("fly", "--view"), 6.0),
    Interrupted(("hand-over",), 4.0, SIMULATION),
    Interrupted(("hand-over", "--namespace", "none"), 4.0),
    Interrupted(("trim", "--airspeed", "6", "--set"), 3.5, SIMULATION),
    Interrupted(("trim", "--airspeed", "6", "--set", "--namespace", "none"), 6.0),
)


@dataclass
class Endings:
    """Results of the interrupted runs of one command.

    Attributes:
        runs: number of runs.
        finished: runs that had already ended when the signal was sent.
        longest_s: longest time from the signal to the end.
        load: largest load average (1 min) before a run.
        codes: number of runs with each exit code, without the finished ones.
        orphans: runs that left processes behind.
        noisy: moments (s) of the runs that printed a traceback, with its last line.
        wrong: moments (s) of the runs with an undocumented exit code, with that code.
    """

    runs: int = 0
    finished: int = 0
    longest_s: float = 0.0
    load: float = 0.0
    codes: Counter[str] = field(default_factory=Counter)
    orphans: int = 0
    noisy: list[tuple[float, str]] = field(default_factory=list)
    wrong: list[tuple[float, str]] = field(default_factory=list)

    @property
    def are_clean(self) -> bool:
        """Whether all runs ended with a documented exit code, without traceback or orphans."""
        return not (self.orphans or self.noisy or self.wrong)


def interrupt_at(command: Interrupted, moments_s: Sequence[float], number: signal.Signals, domain: int) -> Endings:
    """Run the command once for each moment, and interrupt it at that moment.

    Args:
        command: the command.
        moments_s: times of the signal, s after the command has set its signal handlers.
        number: SIGINT, sent to the whole process group as by a terminal, or SIGTERM.
        domain: ROS domain.
    """
    endings = Endings()
    environment = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    with tempfile.TemporaryDirectory() as name, _beside(command, Path(name), environment):
        for moment_s in moments_s:
            program = MarkedProgram(COMMAND, command.arguments, Path(name), environment)
            try:
                _interrupt(program, moment_s, number, endings)
            finally:
                program.close()
    return endings


def _interrupt(program: MarkedProgram, moment_s: float, number: signal.Signals, endings: Endings) -> None:
    endings.runs += 1
    endings.load = max(endings.load, os.getloadavg()[0])
    while program.process.poll() is None and not program.handles(signal.SIGTERM):
        time.sleep(0.002)
    if program.wait(moment_s) is not None:
        endings.finished += 1
        return
    began_s = time.monotonic()
    if number is signal.SIGINT:
        program.interrupt()
    else:
        os.kill(program.process.pid, number)
    code = program.wait(_GIVE_UP_S)
    endings.longest_s = max(endings.longest_s, time.monotonic() - began_s)
    text = "still running" if code is None else str(code)
    endings.codes[text] += 1
    # A command that was about to end anyway has succeeded.
    if code not in (INTERRUPTED, 0):
        said = program.stderr.strip().splitlines()[-1:]
        endings.wrong.append((moment_s, ": ".join([text, *said])))
    if code is not None and program.orphans(_GRACE_S):
        endings.orphans += 1
    if "Traceback" in program.stderr or "Exception ignored" in program.stderr:
        endings.noisy.append((moment_s, program.stderr.strip().splitlines()[-1]))


@contextlib.contextmanager
def _beside(command: Interrupted, folder: Path, environment: dict[str, str]) -> Iterator[None]:
    if not command.beside:
        yield
        return
    program = MarkedProgram(COMMAND, command.beside, folder, environment)
    try:
        time.sleep(4.0)
        yield
    finally:
        program.interrupt()
        program.wait(_GIVE_UP_S)
        program.close()


def interruption_rows(count: int) -> Iterator[Row]:
    """One row for each command and signal, with `count` moments each; two commands run at the same time.

    The first moment is the one at which the command has set its signal handlers.
    """
    signals = (signal.SIGINT, signal.SIGTERM)
    with ThreadPoolExecutor(len(signals)) as pool:
        for command in COMMANDS:
            moments_s = [command.last_s * k / (count - 1) for k in range(count)]
            runs = [
                pool.submit(interrupt_at, command, moments_s, number, _DOMAIN + place)
                for place, number in enumerate(signals)
            ]
            for number, run in zip(signals, runs, strict=True):
                yield _row(command, number, run.result())


def _row(command: Interrupted, number: signal.Signals, endings: Endings) -> Row:
    codes = ", ".join(f"{count} x {code}" for code, count in sorted(endings.codes.items())) or "none"
    text = f"{endings.runs} runs, {endings.finished} ended before the signal; exit codes {codes}; "
    text += f"{endings.orphans} orphans; ended within {endings.longest_s:.2f} s, load average {endings.load:.0f}"
    for moment_s, found in endings.wrong[:3]:
        text += f"; {found} at {moment_s:.2f} s"
    for moment_s, line in endings.noisy[:3]:
        text += f"; {line!r} at {moment_s:.2f} s"
    return Row(
        f"{number.name} to `{command.name}`",
        f"exit code {INTERRUPTED}, no orphan, no traceback, within {LONGEST_S:g} s on a quiet machine",
        text,
        endings.are_clean and (endings.longest_s <= LONGEST_S or endings.load > (os.cpu_count() or 1)),
    )


def main() -> int:
    """Run the proof."""
    parser = argparse.ArgumentParser(prog="python -m proof.interruptions", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--moments", type=int, default=9, help="moments of each signal and command (default: 9)")
    given = parser.parse_args()
    stay_on_this_machine()
    notes = ["Signals are sent only once the command has set its handlers. Until then, Python's own handling applies."]
    return publish("interruptions", "Interrupted commands", interruption_rows(given.moments), notes)


if __name__ == "__main__":
    sys.exit(main())
