"""The first start after an installation compiles the kernels, says so, and can be interrupted meanwhile."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from rosflight_py_sim.kernels import jit
from test.processes.conftest import MULTIROTOR

pytestmark = [
    pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled here"),
    pytest.mark.timeout(600),
    pytest.mark.new_interpreter,
]

COMPILING = "compiling the numeric kernels, once"
WAITING = "waiting for another process that compiles the numeric kernels"

# Time limit of the whole compilation on a busy machine, s; it takes one minute on an idle one.
COMPILATION_S = 500.0

SHORT_SWEEP = """\
description: One second
vehicle: multirotor
runs: 1
seed: 1
parameters:
  mass: {uniform: [3.4, 3.6]}
limit: 1
"""

COMMANDS = {
    "sim": 130,
    "sim --launched": 0,
    "fly": 130,
    "trim --vehicle anaconda --airspeed 18": 130,
    "sweep sweep.yaml": 130,
    "standalone_dynamics": 0,
}
"""Exit code after a signal, by command."""


def processes_with(folder: Path) -> list[str]:
    """Command lines of the running processes that have a folder in their environment."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (one / "environ").read_bytes() and "Z" not in (one / "stat").read_text().split():
                found.append((one / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


def start(processes: Any, command: str) -> Any:
    words = command.split()
    if words[0] == "standalone_dynamics":
        return processes.node(*words)
    return processes.command(*words)


@pytest.fixture
def empty_cache(processes: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    processes.environment["XDG_CACHE_HOME"] = str(folder)
    return folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", COMMANDS)
def test_signal_ends_the_compilation(processes: Any, empty_cache: Path, command: str, number: signal.Signals) -> None:
    (processes.folder / "sweep.yaml").write_text(SHORT_SWEEP)
    observer = processes.observer()
    program = start(processes, command)
    observer.wait_for(lambda: COMPILING in program.stderr, "the compilation")
    observer.wait_for(lambda: any("spawn_main" in one for one in processes_with(empty_cache)), "a compiling process")
    program.signal(number)
    assert program.wait() == COMMANDS[command], program.stderr
    assert "Traceback" not in program.stderr
    assert processes_with(empty_cache) == []
    assert "running" not in program.stdout


def test_compilation_ends_with_the_killed_command(processes: Any, empty_cache: Path) -> None:
    observer = processes.observer()
    program = start(processes, "sim")
    observer.wait_for(lambda: any("spawn_main" in one for one in processes_with(empty_cache)), "a compiling process")
    program.signal(signal.SIGKILL)
    assert program.wait() == -signal.SIGKILL
    observer.wait_for(lambda: processes_with(empty_cache) == [], "the end of the compilation")


def test_one_process_compiles_while_the_others_wait(processes: Any, empty_cache: Path) -> None:
    observer = processes.observer()
    simulation = processes.command("sim", "--duration", "0.1", "--namespace", "one")
    node = processes.node("standalone_dynamics", "-r", "__ns:=/two", "--params-file", str(MULTIROTOR.parameter_file))
    for program in (simulation, node):
        observer.wait_for(lambda p=program: COMPILING in p.stderr or WAITING in p.stderr, "the first line")
        assert "running" not in program.stdout
    assert simulation.wait(COMPILATION_S) == 0, simulation.stderr
    observer.wait_for(lambda: observer.has_node("dynamics"), "dynamics")
    node.signal(signal.SIGINT)
    assert node.wait() == 0, node.stderr
    assert "is running" in simulation.stdout
    assert len([line for one in (simulation, node) for line in one.error_lines if COMPILING in line]) == 1
    assert len([line for one in (simulation, node) for line in one.error_lines if WAITING in line]) == 1
    assert [*empty_cache.glob("rosflight_py_sim/*/rosflight_kernels*")] != []
    assert [*empty_cache.rglob("*.nbi")] == [], "numba compiled kernels a second time, for its cache"
    again = processes.command("sim", "--duration", "0.1")
    assert again.wait() == 0
    assert again.error_lines == []
