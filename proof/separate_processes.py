"""Comparison of a graph in one process with the same graph in one process per node.

The run in one process is recorded. The subscriber to the separate processes misses the first steps, so messages are
compared by stamp.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.separate_graph import node_processes
from proof.outside_subscriber import message_hash, outside_subscriber
from proof.results import Row
from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns
from rosflight_py_sim.interfaces.canonical_messages import canonical_form
from rosflight_py_sim.interfaces.message_definitions import is_stamped, message_class
from rosflight_py_sim.recording.mcap_file import Recording, Topic, read_recording
from rosflight_py_sim.step.topics import RC, STATUS, TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle

# Upper limit of the pace, times real time: the subscriber must not lose messages.
_PACE = 0.5

_START_S = 15.0
_TIMEOUT_S = 300.0

# No node waits for these topics, so messages that depend on them may come some steps later.
_NOT_AWAITED = (RC.name, STATUS.name, "status/rosflight_errors", "rc_raw", "battery")

Hashes = dict[int, str]
"""Hash of the first message of each stamp (ns)."""


def compare_with_separate_processes(name: str, seconds: float, folder: Path) -> Iterator[Row]:
    """Compare the runs of a vehicle at rest in wind, in one process and in one process per node."""
    chosen = vehicle(name)
    settings = ("-p", "seed:=7", "--params-file", str(chosen.weather_file))
    file = folder / "one.mcap"
    command = ["-m", "rosflight_py_sim", "sim", "--vehicle", name, "--time-mode", "lockstep", "--record", str(file)]
    # Longer than compared, because a message may be published later than its stamp (GNSS has a latency).
    command += ["--duration", str(seconds + 1.0), "--real-time-multiplier", "0", "--ros-args", *settings]
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, timeout=_TIMEOUT_S)
    one = _stamped(read_recording(file, lambda topic, type_name: 10**7))
    with (
        outside_subscriber() as subscriber,
        node_processes(chosen, *settings, "-p", f"real_time_multiplier:={_PACE}"),
    ):
        # Twice the duration, for a busy machine.
        time.sleep(_START_S + 2.0 * seconds / _PACE)
    many = {topic: one.hashes for topic, one in subscriber.received.items() if one.hashes}
    yield from _rows(name, one, many, round(seconds * NANOSECONDS))


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


def _rows(name: str, one: dict[str, Hashes], many: dict[str, Hashes], end_ns: int) -> Iterator[Row]:
    awaited: list[str] = []
    others: list[str] = []
    compared = missing = 0
    last_ns = min(end_ns, max(many.get(f"/{TRUTH_STATE.name}", {0: ""})))
    for topic in sorted({*one, *many} - {"/diagnostics"}):
        mine, theirs = (
            {stamp: one for stamp, one in hashes.get(topic, {}).items() if stamp < last_ns} for hashes in (one, many)
        )
        first_ns = min(theirs, default=last_ns)
        expected = {stamp for stamp in mine if stamp >= first_ns}
        both = expected & theirs.keys()
        compared += len(both)
        missing += len(expected - both)
        unequal = [stamp for stamp in both if mine[stamp] != theirs[stamp]]
        surplus = theirs.keys() - mine.keys()
        if unequal or surplus:
            text = f"{topic}: {len(unequal)} of {len(both)} unequal, {len(surplus)} extra"
            (others if topic.strip("/") in _NOT_AWAITED else awaited).append(text)
    text = f"{compared:,} messages up to {last_ns / NANOSECONDS:.1f} s compared by stamp, {missing} not received"
    what = f"{name} at rest in wind, one process per node"
    ending = "; different: " + "; ".join(awaited) if awaited else "; all equal"
    yield Row(
        f"{what}: topics of the step", "equal to the run in one process", text + ending, not awaited and compared > 0
    )
    measured = "; ".join(others) if others else "all equal in this run"
    yield Row(f"{what}: {', '.join(_NOT_AWAITED)}", "none: no node waits for these topics", measured, None)
