"""Folder `Time`: pause, steps and pace."""

from __future__ import annotations

import math
from collections.abc import Callable

import viser

from rosflight_py_sim.viewer.web.buttons import Buttons
from rosflight_py_sim.viewer.web.pilot_state import PilotState

PAUSE, STEP = "time_manager/toggle_pause", "time_manager/step"
TIME_PARAMETERS = "time_manager/set_parameters"

_AS_FAST_AS_POSSIBLE = "as fast as possible"
_MULTIPLIERS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)


class TimePanel:
    """Buttons for simulated time.

    Attributes:
        pace: the multiplier in effect, or the user's choice that has not been set yet.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        buttons: Buttons,
        toggle_pause: Callable[[str], None],
        step: Callable[[int], None],
        set_pace: Callable[[float], None],
    ) -> None:
        """Add the folder at the current place.

        Args:
            gui: the page.
            buttons: takes the buttons.
            toggle_pause: pauses or resumes, given the name of the action.
            step: takes a number of steps.
            set_pace: sets the simulated seconds per second; 0: as fast as possible.
        """
        self._set_pace = set_pace
        self._multiplier = math.nan
        with gui.add_folder("Time", order=10.0):
            self._pause = buttons.add(
                "Pause",
                (PAUSE,),
                "pause or resume simulated time",
                viser.Icon.PLAYER_PAUSE,
                lambda: toggle_pause(self._pause.label),
                of_vehicle=False,
            )
            count = gui.add_number("Steps", 1, min=1, max=1_000_000, step=1)
            buttons.add(
                "Step",
                (STEP, TIME_PARAMETERS),
                "take this number of steps",
                viser.Icon.PLAYER_SKIP_FORWARD,
                lambda: step(int(count.value)),
                of_vehicle=False,
                hindrance=lambda state: "" if state.paused else "time is running; press Pause first",
            )
            self.pace = gui.add_dropdown("Pace", (_pace_text(1.0),))
            self.show_pace(1.0)
            buttons.add(
                "Set pace",
                (TIME_PARAMETERS,),
                "simulated seconds per second",
                viser.Icon.BRAND_SPEEDTEST,
                self.set_pace,
                of_vehicle=False,
            )

    def show(self, state: PilotState) -> None:
        """Name the button after what it does now."""
        label = "Resume" if state.paused else "Pause"
        if self._pause.label != label:
            self._pause.label = label
            self._pause.icon = viser.Icon.PLAYER_PLAY if state.paused else viser.Icon.PLAYER_PAUSE

    def show_pace(self, multiplier: float) -> None:
        """Show the multiplier in effect; a choice that has not been set yet stays until the multiplier changes."""
        if multiplier == self._multiplier:
            return
        self._multiplier = multiplier
        self._choices = {_pace_text(one): one for one in sorted({*_MULTIPLIERS, multiplier})}
        self.pace.options = tuple(self._choices)
        # A base class in viser declares it read-only.
        self.pace.value = _pace_text(multiplier)  # type: ignore[misc]

    def set_pace(self) -> None:
        """Set the chosen multiplier; the next `show_pace` shows the one in effect, even after a refusal."""
        self._multiplier = math.nan
        self._set_pace(self._choices[self.pace.value])


def _pace_text(multiplier: float) -> str:
    return f"{multiplier:g} x" if multiplier else _AS_FAST_AS_POSSIBLE
