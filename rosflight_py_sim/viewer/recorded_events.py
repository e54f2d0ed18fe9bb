"""Events of a recorded flight, derived from its messages in the same way as those of a live flight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle
from rosflight_py_sim.recording.rosout import decoded, warnings_of
from rosflight_py_sim.viewer.web.flight_events import FlightEvent, FlightEvents, text_of_log
from rosflight_py_sim.viewer.web.pilot_state import PilotState

EVENT_TOPICS = (
    topic_names.STATUS,
    topic_names.AUTOPILOT_PHASE,
    topic_names.AUTOPILOT_ROUTE,
    topic_names.ACTIVE_FAILURES,
    "rosout",
)
"""Topics whose messages cause events, relative to a vehicle's namespace, and the log of all nodes."""

_OF_STATUS = ("armed", "failsafe", "error_code")


def recorded_events(vehicle: RecordedVehicle, zero_s: float) -> list[FlightEvent]:
    """Events in order of time; their times are those of the recording minus `zero_s`, s."""
    reader = _Reader(vehicle, zero_s)
    for _, read in sorted(reader.messages(), key=lambda one: one[0]):
        read()
    return sorted(reader.found.events, key=lambda event: event.time_s)


class _Reader:
    """Passes the messages of a recording to `FlightEvents`."""

    def __init__(self, vehicle: RecordedVehicle, zero_s: float) -> None:
        self._vehicle, self._zero_s = vehicle, zero_s
        self._state = PilotState()
        self.found = FlightEvents()

    def messages(self) -> Iterator[tuple[float, Callable[[], object]]]:
        """Times of all messages that may cause events, and functions that read them."""
        read: dict[str, Callable[[float, Any], object]] = {
            topic_names.STATUS: self._read_status,
            topic_names.AUTOPILOT_PHASE: lambda time_s, one: self._take(time_s, phase=str(one.data)),
            topic_names.AUTOPILOT_ROUTE: self._read_route,
            topic_names.ACTIVE_FAILURES: lambda time_s, one: self.found.note(time_s, f"failures of {one.data}"),
        }
        for name, take in read.items():
            topic = self._vehicle.recording.named(f"{self._vehicle.namespace}/{name}")
            if topic is not None:
                for time_s, message in zip((topic.kept_s - self._zero_s).tolist(), decoded(topic), strict=False):
                    yield time_s, partial(take, time_s, message)
        for time_s, truth in zip((self._vehicle.time_s - self._zero_s).tolist(), self._vehicle.truth, strict=True):
            yield time_s, partial(self.found.take_position, time_s, truth[:3].tolist())
        for log_s, node, text in warnings_of(self._vehicle.recording):
            if line := text_of_log(node, text, self._vehicle.namespace):
                yield log_s - self._zero_s, partial(self.found.note, log_s - self._zero_s, line)

    def _take(self, time_s: float, **change: Any) -> None:
        self._state = replace(self._state, time_s=time_s, **change)
        self.found.take_state(self._state)

    def _read_status(self, time_s: float, message: Any) -> None:
        self._take(time_s, **{name: getattr(message, name) for name in _OF_STATUS})

    def _read_route(self, _: float, message: Any) -> None:
        places = [pose.pose.position for pose in message.poses]
        self.found.take_route([(place.x, place.y, place.z) for place in places])
