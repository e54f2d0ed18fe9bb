"""Disturbances other than kills: stopped nodes, duplicated messages, DDS participants, pauses, a full disk, load.

python -m proof.disturbances
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from mcap.exceptions import EndOfFile
from mcap.reader import NonSeekingReader

from proof.node_graph import (
    MULTIROTOR,
    PAUSE_S,
    Gaps,
    Launch,
    NodeGraph,
    Observer,
    TimedOutError,
    new_interpreter,
)
from proof.results import Row, publish
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import FORCES_AND_MOMENTS, IMU, PWM_OUTPUT

_LOG_LINE = re.compile(r"\[(WARN|ERROR|FATAL)\] \[[\d.]+\] \[[^\]]*\]: (.*)")

# A busy recorder warns of each topic whose messages it loses.
_LOST = "arrive too fast to be recorded"

STEPS = 100
"""Number of steps after a disturbance that show that the graph continues."""

MESSAGES_KEPT = 100
"""Number of messages that a recording must have if it ended because the disk is full."""

# ROS domain of the first graph, apart from the domains of the tests.
_DOMAIN = 170

# Extent of each disturbance; durations in s of system time.
_STOPPED_S, _INJECTED_S, _PAUSED_S, _BUSY_S = 3.0, 5.0, 60.0, 20.0
_PARTICIPANTS_COUNT, _BUSY_COUNT = 50, 20

_TIME_MODES = ("wall", "paced", "gated", "lockstep")


@dataclass(frozen=True)
class Aftermath:
    """Behaviour of a graph during and after a disturbance.

    Attributes:
        goes_on: whether the graph takes steps after the disturbance.
        gaps: in the truth states.
        logged: number of warnings and errors logged by the nodes.
        repeated: warnings that a node logged more than once, compared without their numbers.
        alarms: entries on /diagnostics that are not OK.
        doubled: number of IMU messages with the stamp of an earlier one, besides those that the disturbance publishes.
    """

    goes_on: bool
    gaps: Gaps
    logged: int
    repeated: tuple[str, ...]
    alarms: int
    doubled: int

    @property
    def text(self) -> str:
        """Text for the table."""
        first = f" ({self.repeated[0]})" if self.repeated else ""
        return (
            f"{'continues' if self.goes_on else 'HALTED'}; {self.gaps.missing} steps missing, stamps at most "
            f"{1e3 * self.gaps.longest_s:.3g} ms apart, {self.gaps.back} decreases; {self.logged} warnings logged, "
            f"{len(self.repeated)} of them repeated{first}; {self.alarms} reports not OK; {self.doubled} IMU stamps "
            "repeated"
        )

    def holds(self, time_mode: str) -> bool:
        """Whether the graph continues, no stamp decreases or repeats, no warning does, and lockstep loses no step."""
        exact = time_mode != "lockstep" or not self.gaps.missing
        return self.goes_on and not (self.gaps.back or self.repeated or self.doubled) and exact


PROMISE = (
    "the graph continues; no stamp decreases; no stamp of the IMU repeats; in lockstep no step is missing; no warning "
    "is repeated"
)


@contextlib.contextmanager
def running(
    time_mode: str,
    domain: int,
    multiplier: float = 1.0,
    launch: Launch = new_interpreter,
    settings: Mapping[str, Any] | None = None,
    steps: int = STEPS,
) -> Iterator[tuple[NodeGraph, Observer]]:
    """Graph of the multirotor, once it has taken `steps` steps and all nodes report them."""
    graph, observer = NodeGraph(MULTIROTOR, time_mode, domain, multiplier, launch, settings), Observer(domain)
    try:
        graph.start_all()
        observer.wait_for(lambda: len(observer.stamps) > steps, "the start of the graph")
        observer.wait_for(observer.new_reports(graph.node_names, 2), "the first reports of all nodes")
        yield graph, observer
    finally:
        graph.close()
        observer.close()


def aftermath(
    graph: NodeGraph,
    observer: Observer,
    disturb: Callable[[], None],
    *,
    copies_imu: bool = False,
    steps: int = STEPS,
) -> Aftermath:
    """Disturb a graph, then wait until it has taken `steps` steps.

    `copies_imu`: the disturbance repeats IMU messages.
    """
    first, first_imu = len(observer.stamps) - 1, len(observer.imu.stamps)
    before = {name: len(warnings_of(graph.log_of(name))) for name in graph.executables}
    known = {name: len(reports) for name, reports in observer.reports.items()}
    disturb()
    count, all_report = len(observer.stamps), observer.new_reports(graph.node_names, 2)
    try:
        observer.wait_for(
            lambda: all_report() and len(set(observer.stamps[count:])) > steps, "steps and reports afterwards"
        )
        goes_on = True
    except TimedOutError:
        goes_on = False
    gaps = observer.truth.gaps(first, graph.step_ns)
    logged, repeated = 0, []
    for name in graph.executables:
        texts = Counter(warnings_of(graph.log_of(name))[before[name] :])
        logged += sum(texts.values())
        repeated += [f"{name}: {text}" for text, number in texts.items() if number > 1]
    alarms = sum(r.level > 0 for name, reports in observer.reports.items() for r in reports[known.get(name, 0) :])
    imu = observer.imu.stamps[first_imu:]
    doubled = 0 if copies_imu else len(imu) - len(set(imu))
    return Aftermath(goes_on, gaps, logged, tuple(repeated), alarms, doubled)


def warnings_of(log: str) -> list[str]:
    """Texts of the warnings and errors in a log, without their numbers."""
    return [re.sub(r"[\d.]+", "N", match[2]) for match in map(_LOG_LINE.match, log.splitlines()) if match]


def stop(graph: NodeGraph, observer: Observer, executable: str, seconds: float) -> None:
    """Stop a node with SIGSTOP for some system time."""
    graph.processes[executable].send_signal(signal.SIGSTOP)
    observer.spin(seconds)
    graph.processes[executable].send_signal(signal.SIGCONT)


def inject(observer: Observer, seconds: float) -> None:
    """Publish messages of the step again: at once, after their successor, and 20 messages later."""
    ends = []
    has_ended = threading.Event()
    for topic in (IMU, PWM_OUTPUT, FORCES_AND_MOMENTS):
        publisher = observer.node.create_publisher(topic.message_type, topic.name, topic.qos)
        kept: list[bytes] = []
        own: set[bytes] = set()

        def on_message(
            message: bytes,
            publish: Callable[[bytes], None] = publisher.publish,
            kept: list[bytes] = kept,
            own: set[bytes] = own,
        ) -> None:
            if has_ended.is_set() or message in own:
                return
            own.add(message)
            kept.append(message)
            for again in (message, *kept[-2:-1], *kept[-21:-20]):
                publish(again)

        subscription = observer.node.create_subscription(topic.message_type, topic.name, on_message, CHAIN, raw=True)
        ends.append((publisher, subscription))
    observer.spin(seconds)
    # The executor may still have messages for these subscriptions.
    has_ended.set()
    for publisher, subscription in ends:
        observer.node.destroy_subscription(subscription)
        observer.node.destroy_publisher(publisher)


_PARTICIPANTS = """
import sys, time, rclpy
from rclpy.context import Context
from rclpy.node import Node
for number in range(int(sys.argv[1])):
    context = Context()
    rclpy.init(context=context)
    node = Node(f"visitor_{number}", context=context)
    time.sleep(0.05)
    node.destroy_node()
    context.shutdown()
"""


def visit(graph: NodeGraph, observer: Observer, count: int) -> None:
    """Add `count` short-lived participants to the domain, one after another."""
    visitor = graph.run(["-c", _PARTICIPANTS, str(count)], "visitor")
    try:
        observer.wait_for(lambda: visitor.poll() is not None, "the end of the participants", 4.0 * count + 60.0)
    finally:
        visitor.kill()
        visitor.wait()


def pause(observer: Observer, seconds: float) -> None:
    """Pause time for some system time."""
    observer.trigger("time_manager/toggle_pause")
    observer.spin(seconds)
    observer.trigger("time_manager/toggle_pause")


@contextlib.contextmanager
def load(count: int) -> Iterator[None]:
    """Run `count` busy processes."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def under_load(observer: Observer, count: int, seconds: float) -> None:
    """Run the graph together with `count` busy processes."""
    with load(count):
        observer.spin(seconds)


@dataclass(frozen=True)
class FullDisk:
    """Behaviour of a recorder whose file has reached its largest allowed size.

    Attributes:
        errors: warnings and errors that it logged, without their numbers and without those of lost messages.
        reported: whether /diagnostics shows the end of the recording.
        runs: whether the recorder is still running.
        messages: count of messages that a reader finds in the file.
    """

    errors: list[str]
    reported: bool
    runs: bool
    messages: int


# The file-size limit also applies to bytecode files: truncated ones would break later processes, so none are written.
_LIMITED = """
import os, resource, runpy, sys
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
runpy.run_module("rosflight_py_sim.executables", run_name="__main__", alter_sys=True)
"""


def full_disk(graph: NodeGraph, observer: Observer, limit: int) -> FullDisk:
    """Start a recorder whose file is limited to `limit` bytes, and wait for the end of the recording."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.mcap"
        words = ["-c", _LIMITED, str(limit), "recorder", "--ros-args", "--log-level", "warn"]
        recorder = graph.run([*words, "-p", f"record.file:={file}", "-p", "vehicles:=['']"], "recorder")

        def is_over() -> bool:
            return recorder.poll() is not None

        def has_ended() -> bool:
            return any("has ended" in report.message for report in observer.reports.get("recorder", ()))

        try:
            observer.wait_for(lambda: is_over() or has_ended(), "the end of the recording")
            follow = observer.new_reports(["recorder"], 2)
            observer.wait_for(lambda: is_over() or follow(), "reports afterwards")
            reported = has_ended() and observer.reports["recorder"][-1].level == 2
        except TimedOutError:
            reported = False
        runs = not is_over()
        try:
            recorder.send_signal(signal.SIGTERM)
            recorder.wait(30.0)
        finally:
            recorder.kill()
        errors = [text for text in warnings_of(graph.log_of("recorder")) if _LOST not in text]
        return FullDisk(errors, reported, runs, messages_in(file))


def messages_in(file: Path) -> int:
    """Count of the messages in a recording, which may have lost its end."""
    count = 0
    with file.open("rb") as source, contextlib.suppress(EndOfFile):
        for _ in NonSeekingReader(source, validate_crcs=True).iter_messages(log_time_order=False):
            count += 1
    return count


STOPPED = ("standalone_dynamics", "standalone_sensors", "sil_board", "rc")


def disturbance_rows() -> Iterator[Row]:
    """Rows of all disturbances in each time mode; two graphs run at the same time."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        runs = [pool.submit(disturbed, mode, _DOMAIN + number) for number, mode in enumerate(_TIME_MODES)]
        for run in runs:
            yield from run.result()


def disturbed(time_mode: str, domain: int) -> list[Row]:
    """Rows of all disturbances of the multirotor's graph in a time mode."""
    manager = TIME_MANAGERS.get(time_mode)
    rows = []

    def row(
        what: str,
        disturb: Callable[[], None],
        promise: str = PROMISE,
        *,
        quiet: bool = False,
        copies_imu: bool = False,
    ) -> None:
        found = aftermath(graph, observer, disturb, copies_imu=copies_imu)
        holds = found.holds(time_mode) and not (quiet and (found.gaps.longest_s > PAUSE_S or found.logged))
        rows.append(Row(f"{what}: multirotor, {time_mode}", promise, found.text, holds))

    with running(time_mode, domain) as (graph, observer):
        for one in (*STOPPED, *([manager] if manager else [])):
            row(f"`{one}` stopped for {_STOPPED_S:g} s", partial(stop, graph, observer, one, _STOPPED_S))
        row(
            "IMU, PWM and wrench messages duplicated, reordered, and delayed by 20 messages, by an injecting node",
            lambda: inject(observer, _INJECTED_S),
            copies_imu=True,
        )
        row(f"{_PARTICIPANTS_COUNT} short-lived DDS participants", lambda: visit(graph, observer, _PARTICIPANTS_COUNT))
        if manager:
            row(
                f"time paused for {_PAUSED_S:g} s",
                lambda: pause(observer, _PAUSED_S),
                "time stops, then continues; nothing is logged",
                quiet=True,
            )
        disk = full_disk(graph, observer, 200_000)
        rows.append(
            Row(
                f"full disk (recording limited to 200 kB): multirotor, {time_mode}",
                "one error in the log, ERROR on /diagnostics; recorder and graph continue; written data is kept",
                f"{len(disk.errors)} errors, {'reported' if disk.reported else 'not reported'}, the recorder "
                f"{'continues' if disk.runs else 'HAS ENDED'}, {disk.messages} messages can be read",
                len(disk.errors) == 1 and disk.reported and disk.runs and disk.messages >= MESSAGES_KEPT,
            )
        )
        row(
            f"{_BUSY_COUNT} busy processes beside the graph for {_BUSY_S:g} s",
            lambda: under_load(observer, _BUSY_COUNT, _BUSY_S),
        )
    return rows


def main() -> int:
    """Run the proof."""
    parser = argparse.ArgumentParser(prog="python -m proof.disturbances", description=(__doc__ or "").split("\n\n")[0])
    parser.parse_args()
    stay_on_this_machine()
    return publish("disturbances", "Disturbances", disturbance_rows())


if __name__ == "__main__":
    sys.exit(main())
