"""Processes that the commands start end with them, even if a command is killed with SIGKILL."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rosflight_py_sim.missions.client_program import ClientProgram

pytestmark = pytest.mark.timeout(180)

TIMEOUT_S = 60.0

_PR_SET_CHILD_SUBREAPER = 36

# A program that ignores SIGTERM and has a child of its own; both write their process ids.
STUBBORN = """
import os, signal, subprocess, sys, time
from pathlib import Path
assert sys.stdin.read() == ""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600.0)"])
Path("pids.part").write_text(f"{os.getpid()} {child.pid}")
Path("pids.part").rename("pids")
time.sleep(600.0)
"""

CLIENT = """
import time
from pathlib import Path
from rosflight_py_sim.missions.client_program import ClientProgram
client = ClientProgram(Path("stubborn.py"), ["--word", "ROS"])
time.sleep(600.0)
"""

# Started in another thread, which ends: a signal on the parent's death would follow the thread.
FROM_THREAD = """
import threading, time
from pathlib import Path
from rosflight_py_sim.missions.client_program import ClientProgram
started = []
one = threading.Thread(target=lambda: started.append(ClientProgram(Path("stubborn.py"), ["--word", "ROS"])))
one.start()
one.join()
time.sleep(3.0)
assert started[0].code is None
Path("outlived").touch()
time.sleep(600.0)
"""

# A process that does not read its connection, as the worker of a sweep during a run.
WORKER = """
import subprocess, sys, time
from multiprocessing import Pipe
from pathlib import Path
ours, other = Pipe()
code = "import sys, time; from rosflight_py_sim.ground.with_parent import end_with_parent; "
code += "end_with_parent(int(sys.argv[1])); time.sleep(600.0)"
number = other.fileno()
worker = subprocess.Popen([sys.executable, "-c", code, str(number)], pass_fds=[number], start_new_session=True)
other.close()
Path("pids.part").write_text(str(worker.pid))
Path("pids.part").rename("pids")
time.sleep(600.0)
"""

COMPILER = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from rosflight_py_sim.kernels.library import end_with_this_process
if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=end_with_this_process)
    pid = pool.submit(os.getpid).result()
    Path("pids.part").write_text(str(pid))
    Path("pids.part").rename("pids")
    pool.submit(time.sleep, 600.0).result()
"""


@pytest.fixture
def _child_subreaper() -> Iterator[None]:
    """Make this process the parent of orphans, to collect their exit codes; not every container has an init process."""
    prctl = ctypes.CDLL(None).prctl
    assert prctl(_PR_SET_CHILD_SUBREAPER, 1) == 0
    yield
    prctl(_PR_SET_CHILD_SUBREAPER, 0)


def wait_for(condition: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end_s, what
        time.sleep(0.05)


def has_exited(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def pids_of(folder: Path) -> list[int]:
    wait_for((folder / "pids").exists, "the process ids")
    return [int(word) for word in (folder / "pids").read_text().split() if word.isdigit()]


FLY = """
import sys
from dataclasses import replace
from pathlib import Path
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.missions.catalogue import flight_of, single_member
from rosflight_py_sim.missions.flight import fly
from rosflight_py_sim.vehicles import vehicle
plane = vehicle("uthere")
member = single_member(replace(plane, mission=replace(plane.mission, program=Path("stubborn.py").resolve())))
scenario = Scenario([member], "lockstep", settings=plane.mission.settings, name="uthere")
sys.exit(fly(scenario, [flight_of(member)], settings={}, ros_arguments=[], namespace="", output=Path("sky")))
"""


def started(script: str, folder: Path) -> subprocess.Popen[bytes]:
    """A Python program that runs in a folder."""
    (folder / "stubborn.py").write_text(STUBBORN)
    (folder / "started.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with (folder / "output").open("w") as output:
        return subprocess.Popen(
            [sys.executable, "started.py"], cwd=folder, env=environment, stdout=output, stderr=output
        )


@pytest.mark.usefixtures("_child_subreaper", "ros_domain")
@pytest.mark.parametrize(
    "script",
    [FLY, CLIENT, FROM_THREAD, WORKER, COMPILER],
    ids=["client of fly", "client", "client started by a thread", "worker", "pool"],
)
def test_process_ends_with_its_killed_parent(tmp_path: Path, script: str) -> None:
    parent = started(script, tmp_path)
    children = pids_of(tmp_path)
    if script is FROM_THREAD:
        wait_for((tmp_path / "outlived").exists, "the program outlives the thread that started it")
    assert not any(map(has_exited, children))
    parent.kill()
    parent.wait()
    wait_for(lambda: all(map(has_exited, children)), f"the end of {children}")


def test_client_program_runs_as_a_program_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("TEXT = 'a module beside it'\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, beside\nprint(__name__, sys.argv[1:], beside.TEXT, repr(sys.stdin.read()))\nsys.exit(3)\n"
    )
    client = ClientProgram(program, ["--word", "ROS"])
    wait_for(lambda: client.code is not None, "the end of the program")
    assert client.code == 3
    assert client.lines() == ["__main__ ['--word', 'ROS'] a module beside it ''"]
    client.close()
