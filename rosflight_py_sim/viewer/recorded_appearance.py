"""Appearance of vehicles of a recording."""

from __future__ import annotations

import sys

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle, facts_of, json_fact
from rosflight_py_sim.viewer.appearance import Appearance, appearance


def appearance_of(vehicle: RecordedVehicle) -> Appearance:
    """Appearance of a vehicle; a dart if the recording names none, or, with a note on stderr, one that is not known."""
    facts = facts_of(vehicle.recording, vehicle.namespace)
    try:
        return appearance(str(facts.get("appearance", "dart")), json_fact(facts, "physics", {}))
    except ParameterError as error:
        print(f"rosflight_py_sim: {vehicle.name} is drawn as a dart: {error}", file=sys.stderr)
        return appearance("dart")
