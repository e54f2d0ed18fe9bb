"""Tab `Timeline`: the events of a flight as buttons that go to their times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import viser

from rosflight_py_sim.viewer.web.flight_events import FlightEvent

SHOWN = 40
"""Largest number of events shown: the newest."""

_NONE = '<div style="padding:0.4em 0.8em;font-size:0.85em">no events yet</div>'


class Timeline:
    """The events; a click on one calls `go_to` with its time.

    Attributes:
        tab: the tab.
    """

    def __init__(self, gui: viser.GuiApi, tabs: viser.GuiTabGroupHandle, go_to: Callable[[float], None]) -> None:
        """Add the tab."""
        self._gui = gui
        self._go_to = go_to
        self.tab = tabs.add_tab("Timeline", viser.Icon.HISTORY)
        self._buttons: dict[FlightEvent, viser.GuiButtonHandle] = {}
        with self.tab:
            self._folder = gui.add_folder("Events", order=50.0)
        with self._folder:
            self._empty = gui.add_html(_NONE)

    def show(self, events: Sequence[FlightEvent]) -> None:
        """Show the events, in order of time."""
        shown = list(dict.fromkeys(events[-SHOWN:]))
        for gone in self._buttons.keys() - set(shown):
            self._buttons.pop(gone).remove()
        for event in shown:
            if event not in self._buttons:
                self._add(event)
        self._empty.visible = not shown

    def _add(self, event: FlightEvent) -> None:
        with self._folder:
            # In order of time: an event may be found later than the next one.
            button = self._gui.add_button(f"{event.time_s:.1f} s  {event.text}", color="gray", order=event.time_s)
        button.on_click(lambda _: self._go_to(event.time_s))
        self._buttons[event] = button
