"""Settings from which the judge of a mission is made, live or for a recording."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from rosflight_py_sim.parameters import Value
from rosflight_py_sim.vehicles import Vehicle, vehicle


@dataclass(frozen=True)
class MissionSettings:
    """Contents of the message on mission/settings.

    Attributes:
        mission: name of the mission.
        name: display name of the vehicle that flies.
        vehicle: argument with which `vehicle` finds it.
        autopilot: executable of its autopilot; empty for none.
        parameters: values of the parameters that the judge takes from the nodes.
    """

    mission: str
    name: str
    vehicle: str
    autopilot: str
    parameters: Mapping[str, Value]

    @property
    def text(self) -> str:
        """The settings as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> MissionSettings:
        """The settings in a text that `text` has returned.

        Raises:
            ValueError: the text is not JSON.
            TypeError: keys are missing, or unknown.
        """
        return cls(**json.loads(text))

    def flown_vehicle(self) -> Vehicle:
        """The vehicle that flies.

        Raises:
            ParameterError: it does not exist here.
        """
        return replace(vehicle(self.vehicle), autopilot=self.autopilot)
