"""A vehicle of the bridge that a front-end commands, over a link that may fail."""

from __future__ import annotations

from typing import ClassVar

from rosflight_py_sim.bridge.bridged_vehicle import BridgedVehicle
from rosflight_py_sim.bridge.front_end_interface import FrontEndInterface
from rosflight_py_sim.failures.failure import LINKS, Failure
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.parameters import ParameterError


class CommandedVehicle(BridgedVehicle):
    """Passes failures of the link to the front-end that commands the vehicle.

    Attributes:
        commander: the front-end.
    """

    FALLIBLE: ClassVar[tuple[str, ...]] = LINKS

    commander: FrontEndInterface

    def check_failure(self, failure: Failure) -> None:
        """Refuse failures of a link that cannot fail."""
        if obstacle := self.commander.link_obstacle(self.values):
            raise ParameterError(link_refusal(failure.text, self.name, obstacle))

    def logged_failure(self, text: str) -> str:
        """The failure, preceded by the vehicle's name."""
        return f"{self.name}: {text}" if self.name else text

    def fail(self, signals: Signals) -> None:
        """Apply the failures of the link."""
        self.commander.fail(self.index, signals)


def link_refusal(failure: str, vehicle: str, obstacle: str) -> str:
    """Error text for a failure of a link that cannot fail."""
    of = f" of vehicle '{vehicle}'" if vehicle else ""
    return f"failure '{failure}': the link{of} cannot fail: {obstacle}; allowed: failures of other parts"
