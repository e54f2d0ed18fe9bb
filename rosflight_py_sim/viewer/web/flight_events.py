"""Events of a flight: arming, phases, waypoints, failures and warnings, with their times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.viewer.web.pilot_state import PilotState

MOST = 200
"""Largest number of events kept; older ones are dropped."""

# A waypoint counts as passed when the vehicle departs from it by this share of the closest distance, and this far, m.
_DEPARTURE, _DEPARTED_M = 1.2, 0.5

# Largest distance of a pass, as a share of the distance between waypoints.
_NEAR = 0.3


@dataclass(frozen=True)
class FlightEvent:
    """Something that happened.

    Attributes:
        time_s: simulated time, s.
        text: what happened.
    """

    time_s: float
    text: str


class FlightEvents:
    """Derives the events of one vehicle from the newest messages.

    Attributes:
        events: the events, in order of time.
    """

    def __init__(self) -> None:
        """Begin a flight without events."""
        self.events: list[FlightEvent] = []
        self._state = PilotState()
        self._passes: WaypointPasses | None = None

    def clear(self) -> None:
        """Begin another flight; keep the last known state."""
        self.events.clear()
        self._passes = None

    def note(self, time_s: float, text: str) -> bool:
        """Add an event, unless its text repeats the last one; return whether it was added."""
        if self.events and self.events[-1].text == text:
            return False
        self.events.append(FlightEvent(max(time_s, 0.0), text))
        del self.events[:-MOST]
        return True

    def take_state(self, state: PilotState) -> None:
        """Note what has changed since the last state."""
        before, self._state = self._state, state
        if state.is_armed != before.is_armed and before.has_firmware:
            self.note(state.time_s, "armed" if state.is_armed else "disarmed")
        if state.failsafe and not before.failsafe:
            self.note(state.time_s, f"failsafe: {state.arming_refusal}")
        if state.phase != before.phase and before.phase:
            self.note(state.time_s, f"mission: {state.phase}")
        if state.paused and not before.paused:
            self.note(state.time_s, "paused")

    def take_route(self, waypoints_ned: Sequence[Sequence[float]]) -> None:
        """Watch for the waypoints (m) of a mission."""
        self._passes = WaypointPasses(waypoints_ned)

    def take_position(self, time_s: float, position_ned: Sequence[float]) -> None:
        """Note a waypoint that the vehicle has passed; position in m."""
        if self._passes is not None and (passed := self._passes.take(time_s, position_ned)) is not None:
            number, passed_s, miss_m = passed
            self.note(passed_s, f"waypoint {number} passed at {miss_m:.1f} m")


class WaypointPasses:
    """Times at which a vehicle is nearest to each waypoint, in order."""

    def __init__(self, waypoints_ned: Sequence[Sequence[float]]) -> None:
        """Watch for the first waypoint."""
        self._waypoints = [tuple(map(float, one)) for one in waypoints_ned]
        pairs = zip(self._waypoints, self._waypoints[1:], strict=False)
        self._near_m = _NEAR * min((math.dist(*pair) for pair in pairs if pair[0] != pair[1]), default=math.inf)
        self._next = 0
        self._nearest = (math.inf, 0.0)

    def take(self, time_s: float, position_ned: Sequence[float]) -> tuple[int, float, float] | None:
        """Number of the waypoint that was passed, from 1, with time (s) and distance (m); None if none was."""
        if self._next >= len(self._waypoints):
            return None
        distance = math.dist(position_ned, self._waypoints[self._next])
        nearest, nearest_s = self._nearest
        if distance < nearest:
            self._nearest = distance, time_s
        elif nearest <= self._near_m and distance > max(_DEPARTURE * nearest, nearest + _DEPARTED_M):
            self._next += 1
            self._nearest = math.inf, 0.0
            return self._next, nearest_s, nearest
        return None


def text_of_log(node: str, text: str, namespace: str) -> str:
    """Text of a warning in a node's log; empty if the node is not in the vehicle's namespace, an absolute one."""
    space = namespace.strip("/").replace("/", ".")
    if space and not node.startswith(f"{space}."):
        return ""
    return f"{node.removeprefix(f'{space}.') if space else node}: {text}"
