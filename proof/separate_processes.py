"""Comparison of a graph in one process with the same graph in one process per node.

The run in one process is recorded. The subscriber to the separate processes misses the first steps, so messages are
compared by stamp.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.separate_graph import node_processes
from proof.outside_subscriber import OutsideSubscriber, message_hash, outside_subscriber
from proof.results import Row
from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns
from rosflight_py_sim.interfaces.canonical_messages import canonical_form
from rosflight_py_sim.interfaces.message_definitions import is_stamped, message_class
from rosflight_py_sim.recording.mcap_file import Recording, Topic, read_recording
from rosflight_py_sim.step.topics import BATTERY, RC, STATUS, TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle

# Upper limit of the pace, times real time: the subscriber must not lose messages.
PACE = 0.5

_TIMEOUT_S = 300.0

# No node waits for these topics, so messages that depend on them may come some steps later.
_NOT_AWAITED = (RC.name, STATUS.name, "status/rosflight_errors", "rc_raw", BATTERY.name, "battery")

Hashes = dict[int, str]
"""Hash of the first message of each stamp (ns)."""


def compare_with_separate_processes(name: str, seconds: float, folder: Path) -> Iterator[Row]:
    """Compare the runs of a vehicle at rest in wind, in one process and in one process per node."""
    chosen = vehicle(name)
    settings = ("-p", "seed:=7", "--params-file", str(chosen.weather_file))
    one = hashes_in_one_process(name, seconds, folder / "one.mcap", settings)
    with (
        outside_subscriber(seconds) as subscriber,
        node_processes(chosen, *settings, "-p", f"real_time_multiplier:={PACE}"),
    ):
        subscriber.wait(_TIMEOUT_S)
    comparison = Comparison(one, subscriber, seconds)
    what = f"{name} at rest in wind, one process per node"
    promise = "equal to the run in one process"
    yield Row(f"{what}: topics of the step", promise, comparison.text, comparison.is_equal)
    measured = "; ".join(comparison.others) if comparison.others else "all equal in this run"
    yield Row(f"{what}: {', '.join(_NOT_AWAITED)}", "none: no node waits for these topics", measured, None)


def hashes_in_one_process(name: str, seconds: float, file: Path, settings: Sequence[str]) -> dict[str, Hashes]:
    """Hashes of the topics of a vehicle's simulation in one process, which is recorded in a file."""
    command = ["-m", "rosflight_py_sim", "sim", "--vehicle", name, "--time-mode", "lockstep", "--record", str(file)]
    # Longer than compared, because a message may be published later than its stamp (GNSS has a latency).
    command += ["--duration", str(seconds + 1.0), "--real-time-multiplier", "0", "--ros-args", *settings]
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, timeout=_TIMEOUT_S)
    return _stamped(read_recording(file, lambda topic, type_name: 10**7))


def _stamped(recording: Recording) -> dict[str, Hashes]:
    """Hashes of each topic that has stamps."""
    return {
        name: _hashes(topic) for name, topic in recording.topics.items() if is_stamped(message_class(topic.type_name))
    }


def _hashes(topic: Topic) -> Hashes:
    convert = canonical_form(topic.type_name)
    found: dict[int, bytes] = {}
    for message in topic.messages:
        found.setdefault(stamp_ns(message), message)
    return {stamp: message_hash(convert(message)) for stamp, message in found.items()}


class Comparison:
    """Comparison by stamp of the messages of one process with those that a subscriber to several received.

    Attributes:
        differences: topics of the step that differ, each with its numbers.
        others: topics that differ and for which no node waits.
        compared: number of messages compared.
        missing: number of messages that the subscriber did not receive, although it received earlier ones of the topic.
    """

    def __init__(self, one: dict[str, Hashes], subscriber: OutsideSubscriber, seconds: float) -> None:
        """Compare the messages before `seconds` of simulated time."""
        many = {topic: received.hashes for topic, received in subscriber.received.items() if received.hashes}
        last_ns = min(round(seconds * NANOSECONDS), max(many.get(f"/{TRUTH_STATE.name}", {0: ""})))
        self.differences: list[str] = []
        self.others: list[str] = []
        self.compared = self.missing = 0
        for topic in sorted({*one, *many} - {"/diagnostics"}):
            mine, theirs = (
                {stamp: one for stamp, one in hashes.get(topic, {}).items() if stamp < last_ns}
                for hashes in (one, many)
            )
            first_ns = min(theirs, default=last_ns)
            expected = {stamp for stamp in mine if stamp >= first_ns}
            both = expected & theirs.keys()
            self.compared += len(both)
            self.missing += len(expected - both)
            unequal = [stamp for stamp in both if mine[stamp] != theirs[stamp]]
            surplus = theirs.keys() - mine.keys()
            if unequal or surplus:
                text = f"{topic}: {len(unequal)} of {len(both)} unequal, {len(surplus)} extra"
                (self.others if topic.strip("/") in _NOT_AWAITED else self.differences).append(text)
        self._end_s = last_ns / NANOSECONDS

    @property
    def is_equal(self) -> bool:
        """Whether all topics of the step are equal, and messages were compared."""
        return not self.differences and self.compared > 0

    @property
    def text(self) -> str:
        """Numbers of messages, and the topics that differ."""
        text = f"{self.compared:,} messages up to {self._end_s:.1f} s compared by stamp, {self.missing} not received"
        return text + ("; different: " + "; ".join(self.differences) if self.differences else "; all equal")
