"""Playback controls of a recording: play, pause, speed, time slider."""

from __future__ import annotations

import viser

from rosflight_py_sim.viewer.web.display import Display
from rosflight_py_sim.viewer.web.pilot_state import PilotState
from rosflight_py_sim.viewer.web.player import Player

# Choices of the playback speed.
_SPEEDS = {"0.1 x": 0.1, "0.5 x": 0.5, "1 x": 1.0, "2 x": 2.0, "5 x": 5.0, "20 x": 20.0}


class Playback:
    """Folder `Recording` of a display."""

    def __init__(
        self,
        server: viser.ViserServer,
        display: Display,
        player: Player,
        name: str,
        place: viser.GuiTabHandle | None = None,
    ) -> None:
        """Add the folder to a tab, by default the first; `name` is what is played."""
        self._player = player
        self._display = display
        self._shown = (-1.0, False)
        gui = server.gui
        given = f"{player.speed:g} x"
        speeds = dict(sorted({**_SPEEDS, given: player.speed}.items(), key=lambda item: item[1]))
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
        # A recording has no pilot whose state the page could show.
        self._display.show_state(PilotState(paused=not player.playing))
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


def _last(player: Player) -> float:
    """End of the slider, which must not be empty."""
    return max(round(player.last_s, 2), player.first_s + 0.01)
