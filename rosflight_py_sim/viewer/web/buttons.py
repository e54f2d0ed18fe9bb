"""Buttons of the page that call services; a button that cannot work is grey and gives the reason in its tooltip."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import viser

from rosflight_py_sim.viewer.web.pilot_state import PilotState

Hindrance = Callable[[PilotState], str]
"""Function that returns why a button cannot work in a state, or an empty text if it can."""


def always(_: PilotState) -> str:
    """Hindrance of a button that works in every state."""
    return ""


@dataclass
class ServiceButton:
    """A button and the services that it needs.

    Attributes:
        handle: the button.
        services: names, relative to the namespace of the simulation or of the vehicle.
        hint: tooltip of a button that works.
        of_vehicle: whether the services are the selected vehicle's.
        hindrance: function that returns why the button cannot work in a state.
    """

    handle: viser.GuiButtonHandle
    services: tuple[str, ...]
    hint: str
    of_vehicle: bool
    hindrance: Hindrance

    def show(self, missing: Collection[str], state: PilotState) -> None:
        """Enable the button, or disable it and give the reason."""
        absent = f"service not available: {', '.join(missing)}" if missing else ""
        reason = absent or self.hindrance(state)
        if self.handle.disabled != bool(reason):
            self.handle.disabled = bool(reason)
        if self.handle.hint != (reason or self.hint):
            self.handle.hint = reason or self.hint


class Buttons:
    """All buttons of the page that call services.

    Attributes:
        offered: names of the available services, relative to the simulation's namespace.
    """

    def __init__(self, gui: viser.GuiApi, prefix: Callable[[], str]) -> None:
        """Start without buttons; `prefix` returns the selected vehicle's namespace and a slash, or an empty text."""
        self._gui = gui
        self._prefix = prefix
        self._buttons: list[ServiceButton] = []
        self.offered: Collection[str] = ()

    def add(
        self,
        label: str,
        services: tuple[str, ...],
        hint: str,
        icon: viser.IconName,
        act: Callable[[], None],
        *,
        of_vehicle: bool = True,
        hindrance: Hindrance = always,
    ) -> viser.GuiButtonHandle:
        """Add a button at the current place; it is disabled until its services are available."""
        handle = self._gui.add_button(label, disabled=True, hint=hint, icon=icon)
        handle.on_click(lambda _: act())
        self._buttons.append(ServiceButton(handle, services, hint, of_vehicle, hindrance))
        return handle

    def uses(self, service: str) -> bool:
        """Whether a button calls a service; the name is relative to the simulation's namespace."""
        return any(service == name or service.endswith(f"/{name}") for one in self._buttons for name in one.services)

    def has(self, service: str) -> bool:
        """Whether a service of the selected vehicle is available."""
        return self._prefix() + service in self.offered

    def show(self, state: PilotState) -> None:
        """Enable the buttons that can work."""
        prefix = self._prefix()
        for one in self._buttons:
            own = prefix if one.of_vehicle else ""
            one.show([name for name in one.services if own + name not in self.offered], state)
