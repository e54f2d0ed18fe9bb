"""Folder `Result`: the verdicts of a flight of the command `fly`, with the buttons *Fly again* and *Replay*."""

from __future__ import annotations

from collections.abc import Callable

import viser

from rosflight_py_sim.viewer.web.buttons import Buttons
from rosflight_py_sim.viewer.web.flight_verdict import FLY_AGAIN, Verdicts


class ResultPanel:
    """The verdicts; hidden during a flight."""

    def __init__(
        self, gui: viser.GuiApi, buttons: Buttons, call: Callable[[str], None], replay: Callable[[], None]
    ) -> None:
        """Add the hidden folder at the current place; `call` calls a service of the simulation, given its name."""
        self._folder = gui.add_folder("Result", order=0.5, visible=False)
        with self._folder:
            self._headline = gui.add_html("")
            buttons.add(
                "Fly again",
                (FLY_AGAIN,),
                "start the vehicles and their missions once more",
                viser.Icon.PLANE_DEPARTURE,
                lambda: call(FLY_AGAIN),
                of_vehicle=False,
            )
            button = gui.add_button("Replay", icon=viser.Icon.REPEAT, hint="show this flight again")
            self._details = gui.add_html("")
        button.on_click(lambda _: replay())

    def show(self, verdicts: Verdicts) -> None:
        """Show the verdicts of a flight that has ended."""
        self._headline.content, self._details.content = verdicts.headline, verdicts.details
        self._folder.visible = True

    def hide(self) -> None:
        """Hide the verdicts of the last flight."""
        self._folder.visible = False
