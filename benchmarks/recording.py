"""Cost of recording: steps per second with every topic recorded, and CPU time per message by method of writing."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.composed_graph import ComposedRun, composed_run
from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.recording.mcap_writer import BufferedFile, McapRecording
from rosflight_py_sim.recording.pipe_messages import DESCRIPTIONS, PIPE_HEADER, Channel
from rosflight_py_sim.recording.writer_process import WriterProcess
from rosflight_py_sim.step.topics import CLOCK, TRUTH_STATE

MESSAGES = 100_000
"""Number of messages in the comparison of methods."""

_BODY = bytes(range(240))
_CHANNEL = Channel("/imu", "sensor_msgs/msg/Imu", "", stamped=True)


def recorded_run(name: str, seconds: float) -> ComposedRun:
    """Run one vehicle in one process with every topic recorded.

    Raises:
        RuntimeError: a step is missing from the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.mcap"
        run = composed_run(name, duration_s=seconds, cameras=False, record=str(path))
        topics = read_recording(path, lambda topic, type_name: 0).topics
        clock, truth = (len(set(topics[topic].log_ns.tolist())) for topic in (CLOCK.name, f"/{TRUTH_STATE.name}"))
        if truth < clock:
            raise RuntimeError(f"{truth} of {clock} steps are in the recording")
    return run


def process_us() -> float:
    """CPU time per message in the simulation's process, us: stored, and sent in batches as in a run."""
    with tempfile.TemporaryDirectory() as folder:
        writer = WriterProcess(Path(folder) / "one.mcap", simulated=False, facts={})
        take = writer.channel(_CHANNEL)
        began = time.process_time()
        for number in range(MESSAGES):
            take(_BODY)
            if number % 1000 == 0:
                writer.flush()
        used = time.process_time() - began
        writer.close()
    return 1e6 * used / MESSAGES


def direct_us() -> float:
    """CPU time per message in a process that writes the file itself, us."""
    with tempfile.TemporaryDirectory() as folder:
        recording = McapRecording(BufferedFile(Path(folder) / "one.mcap"), simulated=False, facts={})
        description = json.dumps({"number": 1, **asdict(_CHANNEL)}).encode()
        recording.take(PIPE_HEADER.pack(DESCRIPTIONS, 0, len(description)) + description)
        piped = PIPE_HEADER.pack(1, 0, len(_BODY)) + _BODY
        began = time.process_time()
        for _ in range(MESSAGES // 1000):
            recording.take(piped * 1000)
        recording.finish()
        used = time.process_time() - began
    return 1e6 * used / MESSAGES
