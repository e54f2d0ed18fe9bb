"""The example of a time manager in docs/add_a_node.md flies a graph of other processes' nodes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
import rclpy
from rcl_interfaces.msg import Log
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import EPOCH, time_ns_of
from rosflight_py_sim.interfaces.time_manager_interface import TimeManagerInterface
from rosflight_py_sim.nodes.gated_time_manager import GatedTimeManager
from rosflight_py_sim.nodes.lockstep_time_manager import LockstepTimeManager
from rosflight_py_sim.nodes.standalone_time_manager import StandaloneTimeManager

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "add_a_node.md").read_text(encoding="utf-8").partition("## A time manager of your own")[2]
EXAMPLE = PAGE.split("```python\n")[1].split("```")[0]

WARNING = 30


@pytest.fixture
def observer(ros_domain: int) -> Iterator[Node]:
    rclpy.init(args=[])
    node = Node("observer")
    yield node
    node.destroy_node()
    rclpy.shutdown()


def test_example_advances_time_by_its_step_with_the_settings_of_a_launch_file(observer: Node, tmp_path: Path) -> None:
    program = tmp_path / "ticking_time_manager.py"
    program.write_text(EXAMPLE, encoding="utf-8")
    times: list[int] = []
    observer.create_subscription(Clock, "clock", lambda message: times.append(time_ns_of(message.clock)), 100)
    settings = ["time_mode:=gated", "use_sim_time:=true", "step_size:=0.004", "real_time_multiplier:=2.0"]
    words = [sys.executable, str(program), "--ros-args", "-r", "__node:=time_manager"]
    words += [word for setting in settings for word in ("-p", setting)]
    process = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(PROJECT)})
    try:
        while len(times) < 100:
            rclpy.spin_once(observer, timeout_sec=0.1)
            assert process.poll() is None
        assert all(time_ns % 4_000_000 == 0 for time_ns in times)
        assert times == sorted(set(times))
        process.send_signal(signal.SIGINT)
        assert process.wait(20.0) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("cls", "allowed", "refused"),
    [
        (StandaloneTimeManager, "paced", "gated"),
        (GatedTimeManager, "gated", "lockstep"),
        (LockstepTimeManager, "lockstep", "wall"),
    ],
)
def test_time_manager_accepts_its_own_time_mode_only(
    observer: Node, cls: type[TimeManagerInterface], allowed: str, refused: str
) -> None:
    made = cls(parameter_overrides=[rclpy.Parameter("time_mode", value=allowed)])
    assert made.time_mode == allowed
    made.destroy_node()
    with pytest.raises(ParameterError, match=f"'{refused}' given; allowed: text, one of {allowed}"):
        cls(parameter_overrides=[rclpy.Parameter("time_mode", value=refused)])


@pytest.mark.parametrize("cls", [StandaloneTimeManager, GatedTimeManager])
def test_clock_of_other_time_modes_starts_at_the_date(observer: Node, cls: type[TimeManagerInterface]) -> None:
    times: list[int] = []
    observer.create_subscription(Clock, "clock", lambda message: times.append(message.clock.sec), 10)
    given = {"use_sim_time": True, "clock_from_start_date": True, "start_date": "2026-06-01T12:00:00Z"}
    manager = cls(parameter_overrides=[rclpy.Parameter(name, value=value) for name, value in given.items()])
    try:
        while not times:
            manager.publish_time()
            rclpy.spin_once(observer, timeout_sec=0.1)
        assert times[0] == datetime(2026, 6, 1, 12, tzinfo=timezone.utc).timestamp()
        assert manager.now_ns == 0
    finally:
        EPOCH.ns = 0
        manager.destroy_node()


class _WaitingForItself(TimeManagerInterface):
    """A time manager whose timer runs on the time that it advances."""

    def __init__(self, **arguments: object) -> None:
        super().__init__(**arguments)
        self.create_timer(0.0025, self.advance)

    def update_time(self) -> None:
        """Not called."""

    def get_seconds(self) -> int:
        """Time 0."""
        return 0

    def get_nanoseconds(self) -> int:
        """Time 0."""
        return 0


@pytest.mark.parametrize("simulated", [True, False])
def test_timer_on_the_time_that_its_node_advances_causes_a_warning(observer: Node, simulated: bool) -> None:
    logged: list[Log] = []
    observer.create_subscription(Log, "/rosout", logged.append, 100)
    made = _WaitingForItself(
        parameter_overrides=[rclpy.Parameter("use_sim_time", value=simulated)], start_parameter_services=False
    )
    made.get_logger().error("made")
    while not any(line.msg == "made" for line in logged):
        rclpy.spin_once(observer, timeout_sec=0.1)
    warnings = [line.msg for line in logged if line.level == WARNING]
    assert [("create_system_timer" in line) for line in warnings] == ([True] if simulated else [])
    made.destroy_node()
