"""Playback controls of a recording: play, pause, speed, time slider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import viser

from rosflight_py_sim.viewer.web.display import Display

SPEEDS = {"0.1 x": 0.1, "0.5 x": 0.5, "1 x": 1.0, "2 x": 2.0, "5 x": 5.0, "20 x": 20.0}
"""Choices of the playback speed."""


class Playing(Protocol):
    """Interface to the player. Methods are called from threads of the web server."""

    first_s: float
    last_s: float

    @property
    def time_s(self) -> float:
        """Playback position, s."""

    @property
    def playing(self) -> bool:
        """Whether playback is running."""

    @property
    def speed(self) -> float:
        """Seconds of the recording per second; 0 while paused."""

    def toggle(self) -> None:
        """Pause or resume."""

    def seek(self, time_s: float) -> None:
        """Move to a time."""

    def set_speed(self, speed: float) -> None:
        """Set the playback speed."""


class Playback:
    """Folder `Recording` of a display."""

    def __init__(
        self,
        server: viser.ViserServer,
        display: Display,
        player: Playing,
        name: str,
        speeds: Mapping[str, float],
        place: viser.GuiTabHandle | None = None,
    ) -> None:
        """Add the folder to a tab, by default the first; `name` is the file's, `speeds` are the choices."""
        self._player = player
        self._display = display
        self._shown = (-1.0, False)
        gui = server.gui
        given = f"{player.speed:g} x"
        speeds = dict(sorted({**speeds, given: player.speed}.items(), key=lambda item: item[1]))
        with place or display.flight:
            self._folder = gui.add_folder("Recording", order=10.0 if place else 0.0)
        with self._folder:
            gui.add_markdown(f"`{name}`")
            self._slider = gui.add_slider(
                "Time, s",
                min=player.first_s,
                max=_last(player),
                step=0.01,
                initial_value=player.first_s,
            )
            self._button = gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE, hint="pause or resume")
            speed = gui.add_dropdown("Speed", tuple(speeds), initial_value=given)
        self._slider.on_update(self._on_slider)
        self._button.on_click(lambda _: self._toggle())
        speed.on_update(lambda _: player.set_speed(speeds[speed.value]))

    @property
    def visible(self) -> bool:
        """Whether the folder is shown."""
        return bool(self._folder.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._folder.visible = visible

    def refresh(self) -> None:
        """Show the playback position, and the span if it has changed."""
        player = self._player
        if (self._slider.min, self._slider.max) != (player.first_s, _last(player)):
            self._slider.min, self._slider.max = player.first_s, _last(player)
        shown = player.time_s, player.playing
        if shown == self._shown:
            return
        if shown[1] != self._shown[1]:
            self._button.label = "Pause" if player.playing else "Play"
            self._button.icon = viser.Icon.PLAYER_PAUSE if player.playing else viser.Icon.PLAYER_PLAY
        self._shown = shown
        # A base class in viser declares it read-only.
        self._slider.value = round(player.time_s, 2)  # type: ignore[misc]

    def go_to(self, time_s: float) -> None:
        """Go to a time of the recording."""
        if time_s < self._player.time_s:
            self._display.scene.clear_paths()
        self._player.seek(time_s)

    def _on_slider(self, event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
        # A change of the value by this program has no client.
        if event.client is not None:
            self.go_to(float(event.target.value))

    def _toggle(self) -> None:
        self._player.toggle()
        self.refresh()


def _last(player: Playing) -> float:
    """End of the slider, which must not be empty."""
    return max(round(player.last_s, 2), player.first_s + 0.01)
