"""Tab `Timeline` of a live page: events, and the replay of the flight so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import viser

from rosflight_py_sim.viewer.web.display import Display
from rosflight_py_sim.viewer.web.flight_events import FlightEvent
from rosflight_py_sim.viewer.web.intervals import Intervals
from rosflight_py_sim.viewer.web.past import Past
from rosflight_py_sim.viewer.web.timeline import Timeline
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView

_EVENTS_PERIOD_S = 0.5


class FlightHistory:
    """What the page remembers of a flight.

    Attributes:
        past: replay of the flight.
    """

    def __init__(
        self, server: viser.ViserServer, display: Display, request: Callable[[Callable[[], None]], None]
    ) -> None:
        """Add the tab; `request` calls a function in the display's thread."""
        self._display = display
        self._timeline = Timeline(server.gui, display.tabs, lambda time_s: self.past.go_to(time_s))
        self.past = Past(server, display, self._timeline.tab, request)
        self._intervals = Intervals(events=_EVENTS_PERIOD_S)

    def take(self, views: Mapping[str, VehicleView]) -> bool:
        """Remember states, by vehicle, and show them or the past; return whether a new flight has begun."""
        has_restarted = self.past.take(views)
        if not self.past.is_shown:
            self._display.show(views)
        return has_restarted

    def refresh(self, events: Sequence[FlightEvent]) -> None:
        """Show the past, if it is to be shown, and the events of the selected vehicle."""
        if self.past.is_shown:
            self.past.draw()
        if self._intervals.is_due("events"):
            self._timeline.show(events)
