"""Two simulations in one ROS domain: the second is refused; if it is not, both report each other."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from rosflight_py_sim.interfaces.diagnostics import process_text
from rosflight_py_sim.interfaces.publishers import local_participants, participants_known_to
from test.processes.conftest import SLOWLY, few_steps

pytestmark = pytest.mark.timeout(300)

TIMEOUT_S = 90.0
SLOW = ("--real-time-multiplier", str(SLOWLY), "--ros-args", *few_steps("lockstep"), "-p", "device:=none")


def wait_for(condition: Callable[[], object], what: str) -> None:
    end_s = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end_s, what
        time.sleep(0.1)


@pytest.fixture
def running(processes: Any) -> Any:
    """A simulation that runs, and where its process is."""
    program = processes.command("sim", *SLOW)
    observer = processes.observer()
    observer.wait_for_advance(0.05)
    return program


def place_of(program: Any) -> str:
    """Process and host, as in the reports."""
    return f"process {program.process.pid} on {process_text().rpartition(' ')[2]}"


@pytest.mark.parametrize("arguments", [("sim",), ("fly",), ("sim", "--namespace", "other")], ids=" ".join)
def test_second_simulation_is_refused_in_one_line(processes: Any, running: Any, arguments: tuple[str, ...]) -> None:
    refused = processes.command(*arguments)
    assert refused.wait() == 1
    (line,) = refused.error_lines
    already = f"rosflight_py_sim: ROS domain {processes.domain} already has a simulation: /time_manager "
    assert line.startswith(f"{already}({place_of(running)}) publishes /clock; ")
    assert "ROS_DOMAIN_ID" in line and "--share-domain" in line


def test_refly_beside_a_simulation_is_refused_unless_the_domain_is_shared(
    processes: Any, running: Any, tmp_path: Path
) -> None:
    file = str(tmp_path / "run.mcap")
    recorded = processes.command("sim", "--share-domain", "--duration", "0.1", "--record", file, *SLOW)
    assert recorded.wait() == 0, recorded.stderr
    refused = processes.command("refly", file)
    assert refused.wait() == 2
    (line,) = refused.error_lines
    assert f"already has a simulation: /time_manager ({place_of(running)}) publishes /clock; " in line
    assert "--share-domain" in line
    shared = processes.command("refly", file, "--share-domain")
    # Its flight is disturbed by the other simulation, or not.
    assert shared.wait() in (0, 1)
    assert "already has a simulation" not in shared.stderr


PROGRAM = """
import sys
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.other_simulation import OtherSimulation
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.vehicles import vehicle

vehicles = [Member(vehicle("multirotor"))]
try:
    with OtherSimulation(allowed=False) as other:
        other.refuse(vehicles, "lockstep")
    ComposedGraph(vehicles, alone=True).spin(lambda: False)
except ParameterError as error:
    sys.exit(str(error))
"""


def test_graph_of_a_program_is_refused_as_in_the_docs(processes: Any, running: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=processes.environment, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 1
    assert f"already has a simulation: /time_manager ({place_of(running)}) publishes /clock; " in done.stderr


def test_simulation_in_another_namespace_without_a_clock_is_allowed(processes: Any, running: Any) -> None:
    other = processes.command("sim", "--namespace", "other", "--time-mode", "wall", "--duration", "0.2")
    assert other.wait() == 0
    assert "published by" not in running.stderr + other.stderr


def test_simulations_that_share_a_domain_report_each_other(processes: Any, running: Any) -> None:
    second = processes.command("sim", "--share-domain", *SLOW)
    for one, other in ((running, second), (second, running)):
        for node, topic in (
            ("time_manager", "/clock"),
            ("dynamics", "/sim/truth_state"),
            ("sil_board", "/sim/pwm_output"),
        ):
            both = f"published by /{node} ({place_of(one)}) and by /{node} ({place_of(other)}); end one"
            wait_for(
                lambda one=one, both=both, topic=topic: any(
                    "[ERROR]" in line and topic in line and both in line for line in one.stderr.splitlines()
                ),
                f"{node} of {one.process.pid}: {both}",
            )
    status = processes.command("status", "--once", "--json")
    assert status.wait() == 1
    assert '"health": "ERROR"' in status.stdout and "and by /time_manager" in status.stdout


def test_foreign_publisher_of_the_clock_is_reported(processes: Any, running: Any) -> None:
    observer = processes.observer()
    observer.node.create_publisher(Clock, "/clock", QoSProfile(depth=1))
    observer.wait_for(lambda: "and by /observer (process" in running.stderr, "the report", TIMEOUT_S)
    (line,) = [line for line in running.stderr.splitlines() if "[ERROR]" in line]
    assert "[time_manager]: /clock: published by /time_manager" in line
    assert "on this host)" in line


def test_participants_of_a_domain_on_this_machine_are_counted_and_discovered(ros_domain: int) -> None:
    rclpy.init()
    try:
        node = rclpy.create_node("one")
        before = local_participants(ros_domain)
        assert before >= 1 and len(participants_known_to(node)) >= 1
        other = Context()
        rclpy.init(context=other)
        second = rclpy.create_node("two", context=other)
        assert local_participants(ros_domain) == before + 1
        wait_for(lambda: len(participants_known_to(node)) == before + 1, "discovery of the second participant")
        second.destroy_node()
        rclpy.shutdown(context=other)
        wait_for(lambda: local_participants(ros_domain) == before, "the end of the second participant")
    finally:
        rclpy.shutdown()
