"""Settings from which the judge of a live or recorded mission is created."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.vehicles import Vehicle, vehicle


@dataclass(frozen=True)
class MissionSettings:
    """Contents of the message on mission/settings.

    Attributes:
        mission: name of the mission.
        name: display name of the vehicle.
        vehicle: argument for the function `vehicle`.
        autopilot: executable of the vehicle's autopilot; empty for none.
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
        """Settings from the JSON text of `text`.

        Raises:
            ValueError: the text is not JSON.
            TypeError: keys are missing, or unknown.
        """
        return cls(**json.loads(text))

    def flown_vehicle(self) -> Vehicle:
        """The vehicle that flies.

        Raises:
            ParameterError: the vehicle does not exist in this installation.
        """
        return replace(vehicle(self.vehicle), autopilot=self.autopilot)
