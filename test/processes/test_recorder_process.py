"""The recorder as a separate process and in a composed run, under every kind of end."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.recording.mcap_file import Recording, read_recording
from rosflight_py_sim.step.topics import TRUTH_STATE
from test.processes.conftest import few_steps

pytestmark = pytest.mark.timeout(150)

STEP_NS = 10_000_000
LONG_STEPS = ("--ros-args", "-p", f"step_size:={STEP_NS / NANOSECONDS}")

# System time between two readings of the file, s; a reading takes longer than many messages.
LOOK_S = 0.3

TRUTH = f"/{TRUTH_STATE.name}"


def recorded(path: Path) -> Recording:
    return read_recording(path, lambda topic, type_name: 10**6)


def holds(path: Path, topic: str, count: int) -> bool:
    if not path.exists() or path.stat().st_size < 100:
        return False
    found = recorded(path).named(topic)
    return found is not None and len(found.log_ns) >= count


def assert_every_step(recording: Recording) -> None:
    """Check that no step is missing; a step that takes too long on a busy machine may be published twice."""
    truth = recording.topics[TRUTH].log_ns
    assert np.unique(truth).tolist() == [number * STEP_NS for number in range(len(np.unique(truth)))]


def types_in(recording: Recording) -> dict[str, str]:
    """Type of each recorded topic."""
    return {name: topic.type_name for name, topic in recording.topics.items()}


def published_types(node: Node) -> dict[str, str]:
    """Type of each topic with a publisher known to the node."""
    return {name: kinds[0] for name, kinds in node.get_topic_names_and_types() if node.count_publishers(name)}


def test_recorder_process_finds_every_topic_and_completes_its_file(
    simulate: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    simulation = simulate("lockstep", 0.5, *few_steps("lockstep"))
    observer = simulation.observer()
    observer.wait_for_advance(0.5)
    recorder = simulation.start(
        "recorder", "-p", f"record.file:={path}", "-p", "record.vehicle:=multirotor", "-p", "vehicles:=['']"
    )
    observer.wait_for(lambda: holds(path, TRUTH, 50), "messages in the file", every_s=LOOK_S)
    # On a busy machine, discovery takes a while.
    observer.wait_for(lambda: types_in(recorded(path)) == published_types(observer.node), "all topics", every_s=LOOK_S)
    published = published_types(observer.node)
    recorder.signal(signal.SIGINT)
    assert recorder.wait() == 0
    assert recorder.error_lines == []
    observer.wait_for(lambda: recorded(path).trouble == "", "the end of the file", every_s=LOOK_S)
    recording = recorded(path)
    assert recording.facts["vehicle"] == "multirotor" and json.loads(recording.facts["namespaces"]) == [""]
    assert types_in(recording) == published
    # Simulated times, close together: messages before the first clock message get its time.
    truth = recording.topics[TRUTH].log_ns
    assert (truth % STEP_NS == 0).all() and truth[0] >= 0.4e9
    first, last = recording.span_ns
    # A process that misses another's first announcement receives the next one 3 s later.
    assert truth[0] - first < 4e9 and last - truth[-1] < 1e9


def test_killed_composed_run_leaves_a_complete_file(processes: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    program = processes.command("sim", "--record", str(path), *LONG_STEPS)
    observer = processes.observer()
    observer.wait_for(lambda: holds(path, TRUTH, 100), "messages in the file", every_s=LOOK_S)
    program.kill()
    # The writing process detects that the simulation is gone, and completes the file.
    observer.wait_for(lambda: recorded(path).trouble == "", "the end of the file", every_s=LOOK_S)
    assert_every_step(recorded(path))


def test_killing_all_processes_loses_at_most_one_second(processes: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    program = processes.command("sim", "--record", str(path), *LONG_STEPS)
    observer = processes.observer()
    observer.wait_for(lambda: holds(path, TRUTH, 200), "messages in the file", every_s=LOOK_S)
    found = subprocess.run(
        ["pgrep", "-P", str(program.process.pid), "-f", "mcap_writer"],
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    for number in (int(found.stdout), program.process.pid):
        subprocess.run(["kill", "-KILL", str(number)], check=True, timeout=10)
    program.wait()
    observer.spin(0.2)
    recording = recorded(path)
    assert recording.trouble == "its end is missing"
    assert_every_step(recording)
    assert observer.time_s - recording.topics[TRUTH].log_ns[-1] * 1e-9 < 1.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_terminated_composed_run_leaves_a_complete_file(processes: Any, tmp_path: Path, number: int) -> None:
    path = tmp_path / "run.mcap"
    program = processes.command("sim", "--record", str(path), *LONG_STEPS)
    observer = processes.observer()
    observer.wait_for(lambda: holds(path, TRUTH, 50), "messages in the file", every_s=LOOK_S)
    program.signal(number)
    assert program.wait() == 130
    assert recorded(path).trouble == ""
    assert program.error_lines == []
