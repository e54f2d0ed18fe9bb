"""Command `rosflight_py_sim refly`: repeats a recorded run and finds the first difference."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.other_simulation import OtherSimulation
from rosflight_py_sim.graph.run_description import RunDescription, recorded_run, versions
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.canonical_messages import canonical_form
from rosflight_py_sim.interfaces.hand_off_ends import Listener
from rosflight_py_sim.interfaces.message_definitions import message_class, type_name_of
from rosflight_py_sim.interfaces.outside_inputs import OUTSIDE_INPUTS, OutsideInput, RepeatedInputs
from rosflight_py_sim.missions.catalogue import flight_of
from rosflight_py_sim.missions.flight import Flight, Flights
from rosflight_py_sim.recording.columns import NoColumnsError
from rosflight_py_sim.recording.known_topics import require_type
from rosflight_py_sim.recording.mcap_file import Recording, Topic, read_recording
from rosflight_py_sim.step.mission_topics import MISSION_SETTINGS
from rosflight_py_sim.step.topics import CLOCK

# Nodes that a mission adds to the graph; MissionPilot is the name of MissionScript in older recordings.
_OF_MISSIONS = {"JudgeNode", "MissionScript", "MissionPilot", "FollowerScript", "UnderwaterScript"}

# System time without progress after which a run has ended, s: due recorded inputs never wait.
_STILL_S = 5.0


@dataclass(frozen=True)
class Difference:
    """First difference between two runs.

    Attributes:
        topic: name of the topic.
        number: number of the message on the topic, from 0.
        time_ns: simulated time of the last clock message before the difference, ns.
        step: number of that clock message, from 0.
        text: field with both values, or the run that lacks the message.
    """

    topic: str
    number: int
    time_ns: int
    step: int
    text: str

    def __str__(self) -> str:
        when = f"step {self.step} ({self.time_ns / NANOSECONDS:.4f} s)"
        return f"first difference: {when}, {self.topic}, message {self.number}: {self.text}"


class Comparison:
    """Comparison of the messages of a run with those of a recording, topic by topic.

    Attributes:
        first: the first difference; None if there is none.
        messages: number of messages compared.
        topics: names of the topics compared.
        other_types: descriptions of recorded topics that are not compared because the run's have another type.
    """

    def __init__(self, recording: Recording, skipped: Sequence[str]) -> None:
        """Compare all topics except those in `skipped`.

        Raises:
            ParameterError: the recording has no clock, or a topic of another type instead.
        """
        clock = recording.named(CLOCK.name)
        if clock is None:
            raise ParameterError(f"the recording has no messages of {CLOCK.name}")
        try:
            require_type(clock, type_name_of(CLOCK.message_type))
        except NoColumnsError as error:
            raise ParameterError(str(error)) from error
        self._recording, self._skipped = recording, skipped
        self.end_ns = stamp_ns(clock.messages[-1])
        self._last_clock = len(clock.messages) - 1
        self._end_place = clock.places[-1]
        self._counts: dict[str, int] = {}
        self.first: Difference | None = None
        self.other_types: list[str] = []
        self._time_ns, self._step = 0, -1

    @property
    def topics(self) -> list[str]:
        """Names of the topics compared."""
        return sorted(self._counts)

    @property
    def messages(self) -> int:
        """Number of messages compared."""
        return sum(self._counts.values())

    def tap(self, name: str, message_type: Any, _: QoSProfile) -> Listener | None:
        """Listener that compares a publisher's messages; None if the topic is not compared."""
        topic = self._recording.topics.get(name)
        if topic is None or name in self._skipped:
            return None
        try:
            require_type(topic, type_name_of(message_type))
        except NoColumnsError as error:
            self.other_types.append(str(error))
            return None
        recorded, counts = topic.messages, self._counts
        counts.setdefault(name, 0)
        is_clock = name == CLOCK.name

        def take(message: bytes) -> None:
            if self.first is not None:
                return
            number = counts[name]
            if number >= len(recorded):
                # After the last recorded clock message, the recorded run may have ended within the step.
                if self._step < self._last_clock:
                    self._differ(topic, number, "not in the recording")
                return
            counts[name] += 1
            if is_clock:
                self._step, self._time_ns = number, stamp_ns(message)
            if message != recorded[number]:
                self._compare(topic, number, message)

        return Listener(take)

    def finish(self) -> None:
        """Find recorded messages that the run has not published."""
        if self.first is not None:
            return
        missing = [
            (topic.places[count], topic, count)
            for name, count in self._counts.items()
            if count < len((topic := self._recording.topics[name]).places) and topic.places[count] < self._end_place
        ]
        if missing:
            _, topic, count = min(missing, key=lambda one: one[0])
            self._differ(topic, count, "only in the recording")

    def _compare(self, topic: Topic, number: int, message: bytes) -> None:
        convert = canonical_form(topic.type_name)
        if convert(message) == convert(topic.messages[number]):
            return
        kind = message_class(topic.type_name)
        fields = _differing_fields(
            deserialize_message(topic.messages[number], kind), deserialize_message(message, kind)
        )
        path, recorded, now = next(fields)
        self._differ(topic, number, f"{path}: {recorded} recorded, {now} now")

    def _differ(self, topic: Topic, number: int, text: str) -> None:
        self.first = Difference(topic.name, number, self._time_ns, max(self._step, 0), text)


def refly(path: Path, arguments: Sequence[str], *, share_domain: bool = False) -> int:
    """Repeat a recorded run with further ROS arguments; return the exit code: 0 equal, 1 different.

    Raises:
        ParameterError: the run cannot be repeated, or the ROS domain, unless shared, has another simulation.
        NotMcapError: the file cannot be read.
    """
    with OtherSimulation(allowed=share_domain) as other:
        return _refly_alone(path, arguments, other, alone=not share_domain)


def _refly_alone(path: Path, arguments: Sequence[str], other: OtherSimulation, *, alone: bool) -> int:
    recording = read_recording(path, lambda name, type_name: sys.maxsize)
    if recording.torn:
        raise ParameterError(f"the run cannot be repeated: {recording.torn}")
    with tempfile.TemporaryDirectory() as folder:
        run = recorded_run(recording.run, Path(folder))
        _require_repeatable(run)
        for warning in _warnings(recording, run):
            print(f"rosflight_py_sim: {warning}", file=sys.stderr)
        inputs = _outside_inputs(recording)
        # The recording has outside messages on their topics, mixed with those of the graph.
        skipped = [one.end.split()[1] for one in inputs if one.end.startswith("topic ")]
        comparison = Comparison(recording, skipped)
        options = run.options
        other.refuse(run.members, options["time_mode"], observers=options["observers"], namespace=options["namespace"])
        graph = ComposedGraph(
            run.members,
            **{
                **options,
                "arguments": [*options["arguments"], "-p", "real_time_multiplier:=0.0", *arguments[1:]],
            },
            tap=comparison.tap,
            repeated=RepeatedInputs(inputs, run.paced),
            alone=alone,
        )
        flights: list[Flight] = []
        try:
            flights = _join_missions(graph, run, recording)
            graph.spin(_condition(graph, comparison, Flights(flights) if flights else None))
        finally:
            for flight in flights:
                flight.close()
            graph.close()
    comparison.finish()
    for text in comparison.other_types:
        print(f"rosflight_py_sim: not compared: {text}", file=sys.stderr)
    count = f"{len(comparison.topics)} topics, {comparison.messages} messages"
    inputs_text = f", {len(inputs)} outside inputs" if inputs else ""
    if comparison.first is None:
        print(f"equal: {comparison.end_ns / NANOSECONDS:.4f} s, {count}{inputs_text}")
        return 0
    print(f"{comparison.first}\nequal before: {count}{inputs_text}")
    return 1


def _condition(graph: ComposedGraph, comparison: Comparison, flights: Flights | None) -> Callable[[], bool]:
    """Condition to continue: no difference so far, and the recording's end is not reached."""
    before_ns, moved_s = -1, time.monotonic()

    def go_on() -> bool:
        nonlocal before_ns, moved_s
        now_ns, now_s = graph.time_ns, time.monotonic()
        if now_ns != before_ns:
            before_ns, moved_s = now_ns, now_s
        over = flights is not None and flights.over
        return comparison.first is None and not over and now_ns < comparison.end_ns and now_s - moved_s < _STILL_S

    return go_on


def _join_missions(graph: ComposedGraph, run: RunDescription, recording: Recording) -> list[Flight]:
    flights = []
    for member in run.members:
        at = absolute_name(run.options["namespace"], member.namespace)
        if absolute_name(at, MISSION_SETTINGS.name) in recording.topics:
            flight = flight_of(member)
            assert flight is not None
            flight.join(graph, at)
            flights.append(flight)
    return flights


def _require_repeatable(run: RunDescription) -> None:
    """Reject a run that depends on inputs that are not in its recording.

    Raises:
        ParameterError: the text names the missing inputs.
    """
    time_mode = run.options["time_mode"]
    if time_mode != "lockstep":
        raise ParameterError(f"the recorded run has the time mode '{time_mode}'; allowed: lockstep")
    if run.unrepeatable:
        raise ParameterError(f"the recording does not contain all inputs of its run: {', '.join(run.unrepeatable)}")
    others = sorted({*run.joined} - _OF_MISSIONS)
    if others:
        raise ParameterError(
            f"a program added nodes to the recorded graph, which cannot be repeated: {', '.join(others)}"
        )


def _warnings(recording: Recording, run: RunDescription) -> Iterator[str]:
    if recording.trouble:
        yield f"the recording is truncated ({recording.trouble}); it is compared up to its end"
    for name, now in versions().items():
        recorded = run.versions.get(name, "unknown")
        if recorded != now:
            yield f"recorded with {name} {recorded}, repeated with {now}: results may differ"
    for file in run.changed:
        yield f"'{file}' has changed or is missing; its recorded contents are used"


def _outside_inputs(recording: Recording) -> list[OutsideInput]:
    topic = recording.named(OUTSIDE_INPUTS)
    if topic is None:
        return []
    try:
        return [OutsideInput.of_text(deserialize_message(one, String).data) for one in topic.messages]
    except ValueError as error:
        raise ParameterError(f"the recording's outside inputs cannot be read: {error}") from error


def _differing_fields(recorded: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Path and values of each field that differs."""
    if hasattr(recorded, "get_fields_and_field_types"):
        for field in recorded.get_fields_and_field_types():
            yield from _differing_fields(
                getattr(recorded, field), getattr(now, field), f"{path}.{field}" if path else field
            )
    elif isinstance(recorded, list | np.ndarray) and len(recorded) == len(now):
        for index, (one, other) in enumerate(zip(recorded, now, strict=True)):
            yield from _differing_fields(one, other, f"{path}[{index}]")
    elif repr(recorded) != repr(now):
        yield path, recorded, now
