"""The multirotor's graph divided between two machines, which are network namespaces: steps, and their duration.

python -m benchmarks.divided_graph
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from benchmarks.separate_graph import SeparateRun, node_processes, watched
from benchmarks.two_machines import Machine, two_machines
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.vehicles import vehicle

_STEP_NS = 2_500_000

# Time limit of a run beyond its duration, s.
_LIMIT_S = 120.0

Start = Callable[[str, Sequence[str]], "subprocess.Popen[bytes]"]


@dataclass(frozen=True)
class DividedRun:
    """Result of one run.

    Attributes:
        rate: steps per second of system time.
        step_ms: median duration of a step, from /clock to the last message that the time manager waits for, ms.
        round_trip_us: median round-trip time of a datagram between the machines, us; 0 on one machine.
        lost: steps without a truth state.
    """

    rate: float
    step_ms: float
    round_trip_us: float
    lost: int


def divided(one: Machine, two: Machine) -> Start:
    """Function that starts dynamics and forces on the second machine, and all other nodes on the first.

    A step then crosses the cable once in each direction, with the pulse widths and with the truth state.
    """

    def start(executable: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        return (two if executable.endswith(("_dynamics", "_forces_and_moments")) else one).start(command)

    return start


def divided_run(duration_s: float, time_mode: str = "lockstep", machines: int = 2, delay_ms: float = 0.0) -> DividedRun:
    """Run the multirotor as fast as possible, on two machines or on one, and count its truth states.

    Raises:
        NotAllowedError: this system does not allow it.
    """
    with two_machines(delay_ms) as (one, two, _):
        start: Start = divided(one, two) if machines == 2 else lambda _, command: one.start(command, is_alone=True)
        round_trip_us = _round_trip_us(one, two) if machines == 2 else 0.0
        with node_processes(vehicle("multirotor"), time_mode=time_mode, start=start) as processes:
            ids = {executable: process.pid for executable, process in processes.items()}
            found = SeparateRun(
                **json.loads(_printed(one, "benchmarks.divided_graph", json.dumps(ids), str(duration_s)))
            )
    return DividedRun(found.rate, found.step_ms, round_trip_us, found.lost)


def _round_trip_us(one: Machine, two: Machine) -> float:
    echo = two.start(
        [sys.executable, "-m", "benchmarks.round_trip", "echo", two.address], stdout=subprocess.PIPE, text=True
    )
    with echo:
        try:
            assert echo.stdout is not None
            echo.stdout.readline()
            return float(_printed(one, "benchmarks.round_trip", two.address))
        finally:
            echo.kill()


def _printed(machine: Machine, module: str, *arguments: str) -> str:
    """Last line that a module prints on a machine."""
    program = machine.start([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True)
    printed, _ = program.communicate(timeout=_LIMIT_S)
    if program.returncode:
        raise RuntimeError(f"{module} ended with code {program.returncode}")
    return str(printed.splitlines()[-1])


if __name__ == "__main__":
    if len(sys.argv) == 3:
        stay_on_this_machine()
        print(json.dumps(asdict(watched(json.loads(sys.argv[1]), float(sys.argv[2]), _STEP_NS))))
    else:
        print(divided_run(5.0))
