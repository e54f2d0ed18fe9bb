"""Replay of a live flight from the states that the page has shown; the simulation continues meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import viser

from rosflight_py_sim.viewer.web.display import Display
from rosflight_py_sim.viewer.web.memory import Memory
from rosflight_py_sim.viewer.web.playback import Playback
from rosflight_py_sim.viewer.web.player import Player
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView

_NOTE = "replay of this flight; press Back to live to see the simulation"


class Past:
    """The states of a flight, and the buttons that replay them.

    Attributes:
        is_shown: whether the page shows a past state instead of the present one.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        display: Display,
        place: viser.GuiTabHandle,
        request: Callable[[Callable[[], None]], None],
    ) -> None:
        """Add buttons and playback controls to a tab; `request` calls a function in the display's thread."""
        self.is_shown = False
        self._display = display
        self._memory = Memory(display.names)
        self._player = Player(0.0, 0.0, 1.0)
        self._request = request
        self._drawn_s = 0.0
        gui = server.gui
        with place:
            replay = gui.add_button("Replay", icon=viser.Icon.REPEAT, hint="show this flight again", order=1.0)
            self._back = gui.add_button(
                "Back to live", icon=viser.Icon.PLAYER_SKIP_FORWARD, hint="show the running simulation again", order=2.0
            )
        self._back.disabled = True
        self._playback = Playback(server, display, self._player, "this flight", place=place)
        self._playback.visible = False
        replay.on_click(lambda _: self.replay())
        self._back.on_click(lambda _: request(self.leave))

    def replay(self) -> None:
        """Show the flight from its beginning."""
        self._request(lambda: self._go_to(self._memory.span_s[0]))

    def go_to(self, time_s: float) -> None:
        """Show the flight from a time on."""
        self._request(lambda: self._go_to(time_s))

    def take(self, views: Mapping[str, VehicleView]) -> bool:
        """Remember the newest states, by vehicle; return whether time went back, so that a new flight has begun."""
        restarts = [self._memory.take(name, view) for name, view in views.items()]
        has_restarted = any(restarts)
        if has_restarted and self.is_shown:
            self.leave()
        return has_restarted

    def leave(self) -> None:
        """Show the present."""
        self._set_shown(False)
        self._display.scene.clear_paths()

    def draw(self) -> None:
        """Show the state at the playback position."""
        now_s = time.monotonic()
        time_s = self._player.advance(now_s - self._drawn_s)
        self._drawn_s = now_s
        self._display.show_pace(self._player.speed)
        views = {name: self._memory.at(name, time_s) for name in self._display.names}
        self._display.show({name: view for name, view in views.items() if view is not None})
        self._playback.refresh()

    def _go_to(self, time_s: float) -> None:
        first_s, last_s = self._memory.span_s
        if last_s <= first_s:
            return
        self._player.play_from(time_s, first_s, last_s)
        self._drawn_s = time.monotonic()
        self._display.scene.clear_paths()
        self._set_shown(True)

    def _set_shown(self, shown: bool) -> None:
        self.is_shown = shown
        self._display.note("replay", _NOTE if shown else "")
        self._back.disabled = not shown
        self._playback.visible = shown
