"""Health reports of a node on /diagnostics.

The name of an entry is the node's name with its namespace, without the leading slash, followed by the subject. The
first entry is about the node as a whole and has its rates; the entry `TOPIC_RATES` has the rate of each topic.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.topic_statistics import Period, TopicFlow, TopicStatistics

DIAGNOSTICS_TOPIC = "/diagnostics"

# Queue size as in other packages: a viewer that is briefly blocked must not miss a node's report.
DIAGNOSTICS_QOS = QoSProfile(depth=10)

TIME_MODE_KEY = "time mode"
"""Key of the time mode in the entry for a node as a whole."""

PROCESS_KEY = "process"
"""Key of process and host in the entry for a node as a whole."""

TOPIC_RATES = "topics"
"""Subject of the entry that has the rates of the node's topics."""

FAILURES = "failures"
"""Subject of the entry that has the node's active failures."""

RECEIVED, PUBLISHED = "in ", "out "
"""Prefixes of the topic names in the keys of that entry."""

_PLUMBING = (DIAGNOSTICS_TOPIC, "/parameter_events")

# An input counts as stopped only if time has advanced by more: a report may fall within a step.
_SHORTEST_S = 0.1


def process_text() -> str:
    """Process id and host of this process."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def watch_reports(
    node: Node, take: Callable[[DiagnosticStatus], None], wanted: Callable[[bytes], bool] = lambda _: True
) -> Subscription[DiagnosticArray]:
    """Subscribe to the reports of all nodes.

    Args:
        node: node that subscribes.
        take: called with each entry of a report.
        wanted: whether an encoded report is decoded. Decoding costs a hundred times as much as searching it.
    """

    def on_report(message: bytes) -> None:
        if wanted(message):
            for status in deserialize_message(message, DiagnosticArray).status:
                take(status)

    # The reports of a whole fleet may arrive at once.
    return node.create_subscription(DiagnosticArray, DIAGNOSTICS_TOPIC, on_report, QoSProfile(depth=200), raw=True)


class Diagnosed(Protocol):
    """A node that reports its health."""

    @property
    def time_mode(self) -> str:
        """Time mode of the node; empty if it has none."""

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Entries for the past period."""

    @property
    def active_failures(self) -> Sequence[str]:
        """Injected failures that are active, in words."""

    def knows_time(self, time_ns: int) -> bool:
        """Whether `time_ns`, the time of the node's clock, is the graph's; a clock at 0 may not have received that."""

    def check_publishers(self) -> str:
        """Other publishers of the topics that only this node may publish; empty if there are none."""

    def time_mode_mismatch(self, *, amiss: bool) -> str:
        """Nodes of the simulation that run in another time mode; empty if none is known.

        Args:
            amiss: whether a diagnosis of the node gives reason to suspect a mismatch.
        """


class Reports:
    """Publishes the diagnoses of a node each time that `report` is called.

    Nothing is published until the node knows the time, see `Diagnosed.knows_time`.
    """

    def __init__(self, node: Node, diagnosed: Diagnosed, statistics: TopicStatistics) -> None:
        self._publish = node.create_publisher(DiagnosticArray, DIAGNOSTICS_TOPIC, DIAGNOSTICS_QOS).publish
        self._owner = node.get_fully_qualified_name().lstrip("/")
        self._clock = node.get_clock()
        self._diagnosed, self._statistics = diagnosed, statistics
        self._wall_s = time.monotonic()
        self._time_ns = self._clock.now().nanoseconds

    def report(self) -> None:
        """Publish the diagnoses since the last report, stamped with the node's time."""
        now, wall_s = self._clock.now(), time.monotonic()
        if not self._diagnosed.knows_time(now.nanoseconds):
            return
        elapsed_s = max(0.0, (now.nanoseconds - self._time_ns) / NANOSECONDS)
        period = self._statistics.read(max(wall_s - self._wall_s, 1e-9), elapsed_s)
        self._time_ns, self._wall_s = now.nanoseconds, wall_s
        message = DiagnosticArray()
        message.header.stamp = now.to_msg()
        message.status = [self._status(diagnosis) for diagnosis in self._entries(period)]
        self._publish(message)

    def _entries(self, period: Period) -> Iterator[Diagnosis]:
        diagnoses = list(self._diagnosed.diagnose(period))
        own = [d for d in diagnoses if not d.subject] + list(_missing_inputs(period))
        if self._diagnosed.time_mode:
            values_of_mode = {TIME_MODE_KEY: self._diagnosed.time_mode}
            amiss = any(d.level > Level.OK for d in own)
            mismatch = self._diagnosed.time_mode_mismatch(amiss=amiss)
            own.append(Diagnosis("", mismatch, Level.ERROR if mismatch else Level.OK, values=values_of_mode))
        if conflict := self._diagnosed.check_publishers():
            own.append(Diagnosis("", conflict, Level.ERROR))
        level = max((d.level for d in own), default=Level.OK)
        message = "; ".join(d.message for d in own if d.message and d.level == level) or "running"
        values = {PROCESS_KEY: process_text()} | {key: value for d in own for key, value in d.values.items()}
        hardware = next((d.hardware_id for d in own if d.hardware_id), "")
        yield Diagnosis("", message, level, hardware, values | _rates(period))
        yield from (d for d in diagnoses if d.subject)
        if failures := self._diagnosed.active_failures:
            values_of_failures = {str(number): text for number, text in enumerate(failures, start=1)}
            yield Diagnosis(FAILURES, ", ".join(failures), Level.WARN, values=values_of_failures)
        flows = [(RECEIVED, flow) for flow in period.received] + [(PUBLISHED, flow) for flow in period.published]
        yield Diagnosis(TOPIC_RATES, "Hz of the node's time", values=_by_topic(period, flows))

    def _status(self, diagnosis: Diagnosis) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=bytes([diagnosis.level]),
            name=f"{self._owner}: {diagnosis.subject}" if diagnosis.subject else self._owner,
            message=diagnosis.message,
            hardware_id=diagnosis.hardware_id,
            values=[KeyValue(key=key, value=_text(value)) for key, value in diagnosis.values.items()],
        )


def _missing_inputs(period: Period) -> Iterator[Diagnosis]:
    """Diagnoses of required inputs that have never arrived, or that have stopped while time advances."""
    never = [flow.topic for flow in period.received if flow.needed and not flow.total]
    if never:
        yield Diagnosis("", f"no {', '.join(never)} so far", Level.WARN)
    if period.simulated_s > _SHORTEST_S:
        stopped = [flow.topic for flow in period.received if flow.needed and flow.total and not flow.count]
        if stopped:
            yield Diagnosis("", f"{', '.join(stopped)} has stopped", Level.ERROR)


def _rates(period: Period) -> dict[str, object]:
    received, published = (sum(flow.count for flow in flows) for flows in (period.received, period.published))
    rates: dict[str, object] = {
        "in (Hz)": period.hz(received),
        "out (Hz)": period.hz(published),
        "in (1/s of system time)": received / period.wall_s,
        "out (1/s of system time)": published / period.wall_s,
        "real-time factor": period.real_time_factor,
        "load": period.load,
    }
    busiest = period.busiest
    if busiest is not None and busiest.callback_us is not None:
        rates["busiest callback"] = busiest.topic
        rates["callback median (us)"], rates["callback max (us)"] = busiest.callback_us
    return rates


def _by_topic(period: Period, flows: Iterable[tuple[str, TopicFlow]]) -> dict[str, object]:
    counts: dict[str, int] = {}
    for way, flow in flows:
        if flow.topic not in _PLUMBING:
            counts[way + flow.topic] = counts.get(way + flow.topic, 0) + flow.count
    return {key: period.hz(count) for key, count in counts.items()}


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
