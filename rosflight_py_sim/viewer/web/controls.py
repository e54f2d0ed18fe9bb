"""The panels that control a running simulation; a `Simulation` object executes their actions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.viewer.web.buttons import Buttons
from rosflight_py_sim.viewer.web.display import Display
from rosflight_py_sim.viewer.web.disturb_panel import DisturbPanel
from rosflight_py_sim.viewer.web.disturbance import Disturbance
from rosflight_py_sim.viewer.web.pilot_panel import PilotPanel
from rosflight_py_sim.viewer.web.pilot_state import PilotState
from rosflight_py_sim.viewer.web.result_panel import ResultPanel
from rosflight_py_sim.viewer.web.state_panel import StatePanel
from rosflight_py_sim.viewer.web.time_panel import PAUSE, TimePanel

_NEWS_S = 8.0


class Simulation(Disturbance, Protocol):
    """Interface to the simulation. Methods are called from threads of the web server."""

    def call(self, label: str, services: Sequence[str]) -> None:
        """Call services of type std_srvs/Trigger in order, until one fails; `label` names the action."""

    def step(self, count: int) -> None:
        """Take `count` steps while paused."""

    def set_pace(self, multiplier: float) -> None:
        """Set the simulated seconds per second; 0: as fast as possible."""

    def set_state(self, truth: NDArray[np.float64]) -> None:
        """Set the state (19,) of the selected vehicle."""


class Controls:
    """Panels of a display: flight, time, pilot, state.

    Attributes:
        result: verdicts of the last flight.
        pilot: the pilot's buttons, and the checklist.
        disturb: wind, failures and mass.
        pace: the multiplier in effect, or the user's choice that has not been set yet.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        display: Display,
        simulation: Simulation,
        replay: Callable[[], None] = lambda: None,
    ) -> None:
        """Add the panels; buttons are disabled until `offer` reports their services; `replay` shows the flight."""
        self._server = server
        self._display = display
        self._simulation = simulation
        self._state = PilotState()
        gui = server.gui
        self._buttons = Buttons(gui, lambda: display.of_chosen(""))
        with display.flight:
            self.result = ResultPanel(
                gui, self._buttons, lambda service: simulation.call("Fly again", [service]), replay
            )
            self.pilot = PilotPanel(gui, self._buttons, self._call_of_vehicle)
            self._time = TimePanel(
                gui,
                self._buttons,
                lambda label: simulation.call(label, [PAUSE]),
                simulation.step,
                simulation.set_pace,
            )
            self.disturb = DisturbPanel(gui, self._buttons, simulation, underwater=display.is_underwater)
            self._set_state = StatePanel(gui, self._buttons, display, simulation.set_state)
        self.pace = self._time.pace
        self.show_pace, self.set_pace = self._time.show_pace, self._time.set_pace

    def uses(self, service: str) -> bool:
        """Whether a button calls a service; the name is relative to the simulation's namespace."""
        return self._buttons.uses(service)

    def offer(self, services: Collection[str]) -> None:
        """Enable the buttons whose services are available; names are relative to the simulation's namespace."""
        self._buttons.offered = services
        self._buttons.show(self._state)

    def show(self, state: PilotState) -> None:
        """Show a state of the selected vehicle, and enable the buttons that can work in it."""
        self._state = state
        self.pilot.show(state)
        self._time.show(state)
        self._buttons.show(state)

    def notify(self, what: str, text: str, *, good: bool) -> None:
        """Show the result of an action, by its name, in every browser."""
        if not good:
            self.pilot.note_refusal(what, text)
        for client in self._server.get_clients().values():
            client.add_notification(
                what, text, auto_close_seconds=_NEWS_S, color="green" if good else "red", with_close_button=True
            )

    def _call_of_vehicle(self, label: str, services: Sequence[str]) -> None:
        self._simulation.call(label, [self._display.of_chosen(name) for name in services])
