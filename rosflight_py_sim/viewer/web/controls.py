"""Buttons and sliders for a running simulation; a `Simulation` object executes the actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler
from rosflight_py_sim.viewer.web.display import Display

PAUSE, STEP, SET_STATE = "time_manager/toggle_pause", "time_manager/step", "dynamics/set_sim_state"
TIME_PARAMETERS = "time_manager/set_parameters"

_AS_FAST_AS_POSSIBLE = "as fast as possible"
_MULTIPLIERS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)

_NEWS_S = 8.0


@dataclass(frozen=True)
class Trigger:
    """A button that calls services of the selected vehicle, in this order.

    Attributes:
        label: text of the button.
        services: names relative to the vehicle's namespace.
        icon: icon next to the label.
        hint: tooltip.
    """

    label: str
    services: tuple[str, ...]
    icon: viser.IconName
    hint: str


TRIGGERS = (
    Trigger(
        "Calibrate",
        ("calibrate_imu",),
        viser.Icon.RULER_MEASURE,
        "calibrate the IMU at rest, before the first arming",
    ),
    Trigger("Arm, disarm", ("toggle_arm",), viser.Icon.POWER, "toggle the transmitter's arm switch"),
    Trigger(
        "Override",
        ("toggle_override",),
        viser.Icon.SWITCH_HORIZONTAL,
        "toggle the RC override switch: sticks or commands",
    ),
    Trigger("Start mission", ("autopilot/start",), viser.Icon.PLANE_DEPARTURE, "start the autopilot's mission"),
    Trigger(
        "Reset",
        ("dynamics/reset", "forces_and_moments/reset"),
        viser.Icon.RESTORE,
        "reset the vehicle to its initial state; time continues",
    ),
)


class Simulation(Protocol):
    """Interface to the simulation. Methods are called from threads of the web server."""

    def call(self, services: Sequence[str]) -> None:
        """Call services of type std_srvs/Trigger in order, until one fails."""

    def step(self, count: int) -> None:
        """Take `count` steps while paused."""

    def set_pace(self, multiplier: float) -> None:
        """Set the simulated seconds per second; 0: as fast as possible."""

    def set_state(self, truth: NDArray[np.float64]) -> None:
        """Set the state (19,) of the selected vehicle."""


class Controls:
    """Folders `Time`, `Pilot` and `Set state` of a display.

    Attributes:
        pace: the multiplier in effect, or the user's choice that has not been set yet.
    """

    def __init__(self, server: viser.ViserServer, display: Display, simulation: Simulation) -> None:
        """Add the folders; buttons are disabled until `offer` reports their services."""
        self._server = server
        self._gui = server.gui
        self._display = display
        self._simulation = simulation
        self._multiplier = math.nan
        self._buttons: list[tuple[viser.GuiButtonHandle, tuple[str, ...], str, bool]] = []
        with display.flight:
            self._add_time_folder()
            with self._gui.add_folder("Pilot", order=20.0):
                for trigger in TRIGGERS:
                    self._add_trigger(trigger)
            self._add_state_folder()

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
        self._simulation.set_pace(self._choices[self.pace.value])

    def uses(self, service: str) -> bool:
        """Whether a button calls a service; the name is relative to the simulation's namespace."""
        return any(
            service == name or service.endswith(f"/{name}") for _, needed, _, _ in self._buttons for name in needed
        )

    def offer(self, services: Collection[str]) -> None:
        """Enable the buttons whose services are available; names are relative to the simulation's namespace."""
        prefix = f"{self._display.chosen}/" if self._display.chosen else ""
        for button, needed, hint, is_vehicles in self._buttons:
            missing = [name for name in needed if (prefix + name if is_vehicles else name) not in services]
            text = f"service not available: {', '.join(missing)}" if missing else hint
            if button.disabled != bool(missing):
                button.disabled = bool(missing)
            if button.hint != text:
                button.hint = text

    def notify(self, what: str, text: str, *, good: bool) -> None:
        """Show the result of an action in every browser."""
        for client in self._server.get_clients().values():
            client.add_notification(
                what, text, auto_close_seconds=_NEWS_S, color="green" if good else "red", with_close_button=True
            )

    def _add_button(
        self,
        label: str,
        services: tuple[str, ...],
        hint: str,
        icon: viser.IconName,
        act: Callable[[], None],
        *,
        is_vehicles: bool,
    ) -> None:
        button = self._gui.add_button(label, disabled=True, hint=hint, icon=icon)
        button.on_click(lambda _: act())
        self._buttons.append((button, services, hint, is_vehicles))

    def _add_trigger(self, trigger: Trigger) -> None:
        def act() -> None:
            prefix = f"{self._display.chosen}/" if self._display.chosen else ""
            self._simulation.call([prefix + service for service in trigger.services])

        self._add_button(trigger.label, trigger.services, trigger.hint, trigger.icon, act, is_vehicles=True)

    def _add_time_folder(self) -> None:
        gui, simulation = self._gui, self._simulation
        with gui.add_folder("Time", order=10.0):
            self._add_button(
                "Pause, resume",
                (PAUSE,),
                "pause or resume simulated time",
                viser.Icon.PLAYER_PAUSE,
                lambda: simulation.call([PAUSE]),
                is_vehicles=False,
            )
            count = gui.add_number("Steps", 1, min=1, max=1_000_000, step=1)
            self._add_button(
                "Step",
                (STEP, TIME_PARAMETERS),
                "take this number of steps while paused",
                viser.Icon.PLAYER_SKIP_FORWARD,
                lambda: simulation.step(int(count.value)),
                is_vehicles=False,
            )
            self.pace = gui.add_dropdown("Pace", (_pace_text(1.0),))
            self.show_pace(1.0)
            self._add_button(
                "Set pace",
                (TIME_PARAMETERS,),
                "simulated seconds per second",
                viser.Icon.BRAND_SPEEDTEST,
                self.set_pace,
                is_vehicles=False,
            )

    def _add_state_folder(self) -> None:
        gui = self._gui
        with gui.add_folder("Set state", order=30.0, expand_by_default=False):
            self._sliders: dict[str, viser.GuiSliderHandle[float]] = {
                "north, m": gui.add_slider("north, m", -200.0, 200.0, 0.1, 0.0),
                "east, m": gui.add_slider("east, m", -200.0, 200.0, 0.1, 0.0),
                "height, m": gui.add_slider("height, m", -20.0, 300.0, 0.1, 20.0),
                "roll, deg": gui.add_slider("roll, deg", -180.0, 180.0, 1.0, 0.0),
                "pitch, deg": gui.add_slider("pitch, deg", -90.0, 90.0, 1.0, 0.0),
                "yaw, deg": gui.add_slider("yaw, deg", -180.0, 180.0, 1.0, 0.0),
                "forward, m/s": gui.add_slider("forward, m/s", -20.0, 40.0, 0.1, 0.0),
                "right, m/s": gui.add_slider("right, m/s", -20.0, 20.0, 0.1, 0.0),
                "down, m/s": gui.add_slider("down, m/s", -20.0, 20.0, 0.1, 0.0),
            }
            present = gui.add_button("Copy current state", icon=viser.Icon.TARGET)
            present.on_click(lambda _: self._take_present())
            self._add_button(
                "Set",
                (SET_STATE,),
                "set the vehicle to this state, with zero rotation rates",
                viser.Icon.ARROW_BIG_UP_LINES,
                lambda: self._simulation.set_state(self._state()),
                is_vehicles=True,
            )

    def _state(self) -> NDArray[np.float64]:
        north, east, height, roll, pitch, yaw, *velocity = (float(one.value) for one in self._sliders.values())
        truth = np.zeros(19)
        truth[0:3] = north, east, -height
        truth[3:7] = quaternion_from_euler(*(math.radians(angle) for angle in (roll, pitch, yaw)))
        truth[7:10] = velocity
        return truth

    def _take_present(self) -> None:
        view = self._display.view_of(self._display.chosen)
        if view is None:
            return
        north, east, down = view.truth[0:3].tolist()
        angles = [math.degrees(angle) for angle in euler_from_quaternion(*view.truth[3:7].tolist())]
        present = [north, east, -down, *angles, *view.truth[7:10].tolist()]
        for slider, value in zip(self._sliders.values(), present, strict=True):
            slider.value = float(min(max(value, slider.min), slider.max))  # type: ignore[misc]


def _pace_text(multiplier: float) -> str:
    return f"{multiplier:g} x" if multiplier else _AS_FAST_AS_POSSIBLE
