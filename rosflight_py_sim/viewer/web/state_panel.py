"""Folder `Set state`: sliders for the state of the selected vehicle."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler
from rosflight_py_sim.viewer.web.buttons import Buttons
from rosflight_py_sim.viewer.web.display import Display

SET_STATE = "dynamics/set_sim_state"


class StatePanel:
    """Sliders, and buttons that copy the vehicle's state to them and set it."""

    def __init__(
        self, gui: viser.GuiApi, buttons: Buttons, display: Display, set_state: Callable[[NDArray[np.float64]], None]
    ) -> None:
        """Add the folder at the current place; `set_state` sets a truth vector (19,)."""
        self._display = display
        with gui.add_folder("Set state", order=40.0, expand_by_default=False):
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
            buttons.add(
                "Set",
                (SET_STATE,),
                "set the vehicle to this state, with zero rotation rates",
                viser.Icon.ARROW_BIG_UP_LINES,
                lambda: set_state(self._state()),
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
