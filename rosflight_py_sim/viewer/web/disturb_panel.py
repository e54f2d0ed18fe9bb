"""Folder `Disturb`: wind, gusts, failures and mass of the selected vehicle during the flight."""

from __future__ import annotations

from collections.abc import Callable

import viser

from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.viewer.web.buttons import Buttons
from rosflight_py_sim.viewer.web.disturbance import (
    DISTURBED,
    DYNAMICS,
    FORCES,
    GUST_S,
    SENSORS,
    Disturbance,
    gust,
    velocity_ned,
)


class DisturbPanel:
    """Fields, and buttons that set parameters of the simulation's nodes."""

    def __init__(self, gui: viser.GuiApi, buttons: Buttons, disturbance: Disturbance, *, underwater: bool) -> None:
        """Add the folder at the current place."""
        flow = "current" if underwater else "wind"
        self._buttons = buttons
        self._add_failure = disturbance.add_failure
        with gui.add_folder("Disturb", order=30.0, expand_by_default=False):
            speed = gui.add_number(f"{flow}, m/s", 0.3 if underwater else 6.0, min=0.0, max=50.0, step=0.1)
            origin = gui.add_number("from, deg", 270.0, min=0.0, max=360.0, step=1.0)

            def velocity() -> list[float]:
                return velocity_ned(float(speed.value), float(origin.value))

            buttons.add(
                f"Set {flow}",
                (_setter(DYNAMICS),),
                f"replace the steady {flow} by this {flow}",
                viser.Icon.WIND,
                lambda: disturbance.set_parameters(
                    f"Set {flow}",
                    DYNAMICS,
                    {"sim_has_wind": True, "use_random_wind": False, "steady_state_wind": velocity()},
                    f"{speed.value:g} m/s from {origin.value:g} deg",
                ),
            )
            hint = f"add this {flow} for {GUST_S} s"
            self._add_button("Gust", DYNAMICS, hint, viser.Icon.TORNADO, lambda: gust(velocity()))
            motor = gui.add_number("motor", 1, min=1, max=OUTPUTS, step=1)
            self._add_button(
                "Motor off",
                FORCES,
                "stop this motor",
                viser.Icon.PROPELLER_OFF,
                lambda: f"motor {int(motor.value)} off",
            )
            self._add_button(
                "GNSS lost", SENSORS, "jam the GNSS receiver", viser.Icon.MAP_PIN_OFF, lambda: "gnss jammed"
            )
            buttons.add(
                "End failures",
                tuple(map(_setter, DISTURBED)),
                "end gusts and the failures of motors and sensors",
                viser.Icon.CIRCLE_CHECK,
                lambda: disturbance.end_failures("End failures"),
            )
            self._mass = gui.add_number("mass, kg", 1.0, min=1e-3, max=1e6, step=0.1)
            self._shown_mass: float | None = None
            buttons.add(
                "Set mass",
                (_setter(DYNAMICS),),
                "set the vehicle's mass, for example after it picks up or drops a load",
                viser.Icon.WEIGHT,
                lambda: disturbance.set_parameters(
                    "Set mass", DYNAMICS, {"mass": float(self._mass.value)}, f"{self._mass.value:g} kg"
                ),
            )

    def show_mass(self, mass_kg: object) -> None:
        """Show the mass in effect; a value that has not been set yet stays until the mass changes."""
        if isinstance(mass_kg, float) and mass_kg != self._shown_mass:
            self._shown_mass = mass_kg
            self._mass.value = mass_kg  # type: ignore[misc]

    def _add_button(self, label: str, node: str, hint: str, icon: viser.IconName, text: Callable[[], str]) -> None:
        self._buttons.add(
            label, (_setter(node), f"{node}/get_parameters"), hint, icon, lambda: self._add_failure(label, node, text())
        )


def _setter(node: str) -> str:
    return f"{node}/set_parameters"
