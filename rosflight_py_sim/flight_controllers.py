"""The flight controllers that come with the package: each is nodes that stand between sensors and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rosflight_py_sim.parameters import ParameterError, Value
from rosflight_py_sim.resources import share_directory
from rosflight_py_sim.vehicles import Vehicle

CONFIG = share_directory() / "config"


@dataclass(frozen=True)
class FlightController:
    """What answers the sensors with servo outputs.

    Attributes:
        name: as users type it.
        executables: of its nodes.
        text: what it is, in a few words.
        settings: parameters of the nodes that go with it, as weak as a parameter file.
        needs_file: whether it can fly only vehicles that have a parameter file for it.
    """

    name: str
    executables: tuple[str, ...]
    text: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    needs_file: bool = False

    def files_for(self, vehicle: Vehicle) -> list[Path]:
        """Parameter files of all nodes that the vehicle needs to be flown by it; stronger than the vehicle's own.

        Raises:
            ParameterError: it needs one, and the vehicle has none.
        """
        if self.name in vehicle.pairings:
            return [CONFIG / vehicle.pairings[self.name].file]
        if self.needs_file:
            able = [name for name, one in FLIGHT_CONTROLLERS.items() if not one.needs_file or name in vehicle.pairings]
            raise ParameterError(
                f"flight controller '{self.name}' given for vehicle '{vehicle.name}', which has no parameter file for "
                f"it; allowed: {', '.join(able)}"
            )
        return []

    def instructions(self, vehicle: Vehicle) -> str:
        """What to do beside starting the simulation so that the vehicle flies, in one line; empty: nothing."""
        if self.name not in vehicle.pairings or not vehicle.pairings[self.name].command:
            return ""
        return "in another terminal: " + vehicle.pairings[self.name].command.format(config=CONFIG)


FLIGHT_CONTROLLERS = {
    one.name: one
    for one in [
        FlightController("sil_board", ("sil_board",), "the ROSflight firmware"),
        FlightController(
            "ardupilot", ("bridge",), "ArduPilot, by its JSON interface", {"front_end": "ardupilot"}, needs_file=True
        ),
        FlightController("hold", ("auv_autopilot",), "holds an underwater vehicle's depth and heading, by services"),
        FlightController(
            "zeromq", ("bridge",), "clients of the AUV protocol over ZeroMQ", {"front_end": "auv"}, needs_file=True
        ),
        FlightController(
            "uthere",
            ("sil_board", "bridge"),
            "the ROSflight firmware, commanded by clients of uThere Ground Control's text protocol",
            {"front_end": "uthere"},
            needs_file=True,
        ),
    ]
}
"""By name."""


def chosen_flight_controller(name: str) -> FlightController:
    """The flight controller of that name.

    Raises:
        ParameterError: there is none.
    """
    try:
        return FLIGHT_CONTROLLERS[name]
    except KeyError:
        raise ParameterError(f"flight controller '{name}' given; allowed: {', '.join(FLIGHT_CONTROLLERS)}") from None
