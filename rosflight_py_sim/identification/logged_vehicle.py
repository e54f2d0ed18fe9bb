"""Type of the vehicle that a flight log names, and whether a vehicle file is of that type.

PX4 logs its parameter MAV_TYPE (MAVLink's common message set, enum MAV_TYPE), ArduPilot its name and the parameters
FRAME_CLASS and Q_ENABLE (ardupilot.org, complete parameter lists of Copter and Plane).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rosflight_py_sim.vehicles.physics_model import VehicleClass


class LoggedVehicle(NamedTuple):
    """A vehicle as a log names it.

    Attributes:
        name: in words.
        vehicle_class: class of the vehicle; None for one that no model of this package describes.
        motors: number of its motors; 0 if the log does not tell.
    """

    name: str
    vehicle_class: VehicleClass | None
    motors: int = 0

    def mismatch(self, vehicle_class: VehicleClass, motors: int) -> str:
        """Why a vehicle of this class, with so many motors, is not the logged one; empty if it may be."""
        if self.vehicle_class is not vehicle_class:
            return f"is the log of {_with_article(self.name)}, and the vehicle is a {in_words(vehicle_class)}"
        if self.motors not in (0, motors):
            return f"is the log of {_with_article(self.name)} with {self.motors} motors, and the vehicle has {motors}"
        return ""


def in_words(vehicle_class: VehicleClass) -> str:
    """Name of a class of vehicles."""
    return vehicle_class.name.lower().replace("_", " ")


def _with_article(name: str) -> str:
    return f"an {name}" if name[0] in "aeio" else f"a {name}"


_ROTORCRAFT, _FIXED_WING, _UNDERWATER = VehicleClass.ROTORCRAFT, VehicleClass.FIXED_WING, VehicleClass.UNDERWATER

_MAV_TYPES = {
    1: LoggedVehicle("fixed wing", _FIXED_WING),
    2: LoggedVehicle("quadrotor", _ROTORCRAFT, 4),
    3: LoggedVehicle("coaxial helicopter", None),
    4: LoggedVehicle("helicopter", None),
    7: LoggedVehicle("airship", None),
    10: LoggedVehicle("rover", None),
    11: LoggedVehicle("boat", None),
    12: LoggedVehicle("submarine", _UNDERWATER),
    13: LoggedVehicle("hexarotor", _ROTORCRAFT, 6),
    14: LoggedVehicle("octorotor", _ROTORCRAFT, 8),
    15: LoggedVehicle("tricopter", None),
    29: LoggedVehicle("dodecarotor", _ROTORCRAFT, 12),
    35: LoggedVehicle("decarotor", _ROTORCRAFT, 10),
    **{number: LoggedVehicle("VTOL aircraft", None) for number in range(19, 26)},
}

# vehicle_status.vehicle_type.
_PX4_TYPES = {
    1: LoggedVehicle("rotorcraft", _ROTORCRAFT),
    2: LoggedVehicle("fixed wing", _FIXED_WING),
    3: LoggedVehicle("rover", None),
    4: LoggedVehicle("airship", None),
}

_FRAME_CLASSES = {
    1: LoggedVehicle("quadrotor", _ROTORCRAFT, 4),
    2: LoggedVehicle("hexarotor", _ROTORCRAFT, 6),
    3: LoggedVehicle("octorotor", _ROTORCRAFT, 8),
    4: LoggedVehicle("octorotor of coaxial pairs", _ROTORCRAFT, 8),
    5: LoggedVehicle("Y6 multirotor", _ROTORCRAFT, 6),
    7: LoggedVehicle("tricopter", None),
    12: LoggedVehicle("dodecarotor", _ROTORCRAFT, 12),
    14: LoggedVehicle("decarotor", _ROTORCRAFT, 10),
    **{number: LoggedVehicle("helicopter", None) for number in (6, 11, 13)},
    **{number: LoggedVehicle("copter with thrust vanes or tilting rotors", None) for number in (8, 9, 10)},
}


def vehicle_of_px4(parameters: Mapping[str, float], vehicle_type: int) -> LoggedVehicle | None:
    """Vehicle of PX4's parameters; without MAV_TYPE, that of vehicle_status.vehicle_type; None if unknown."""
    named = _MAV_TYPES.get(int(parameters.get("MAV_TYPE", 0)))
    found = named or _PX4_TYPES.get(vehicle_type)
    if found is None:
        return None
    facts = [f"{name} {int(parameters[name])}" for name in ("MAV_TYPE", "SYS_AUTOSTART") if name in parameters]
    return found._replace(name=f"{found.name} ({', '.join(facts)})") if facts else found


# Frames for which ArduCopter was built before it had FRAME_CLASS.
_FRAMES = {"quad": 1, "hexa": 2, "octa": 3, "octa_quad": 4, "y6": 5, "heli": 6, "tri": 7, "single": 8, "coax": 9}


_PROGRAMS = {"ArduRover": "rover", "Rover": "rover", "Blimp": "airship", "AntennaTracker": "antenna tracker"}


def vehicle_of_ardupilot(program: str, frame: str, parameters: Mapping[str, float]) -> LoggedVehicle | None:
    """Vehicle of ArduPilot's program, such as ArduCopter, its frame, such as quad, and parameters; None if unknown."""
    if program == "ArduCopter" or (not program and "FRAME_CLASS" in parameters):
        number = int(parameters.get("FRAME_CLASS", 0))
        found = _FRAME_CLASSES.get(number or _FRAMES.get(frame, 0), LoggedVehicle("rotorcraft", _ROTORCRAFT))
        return found._replace(name=f"{found.name} (FRAME_CLASS {number})") if number else found
    if program == "ArduPlane":
        if parameters.get("Q_ENABLE", 0.0) > 0.0:
            return LoggedVehicle("VTOL aircraft (Q_ENABLE 1)", None)
        return LoggedVehicle("fixed wing", _FIXED_WING)
    if program == "ArduSub":
        return LoggedVehicle("submarine", _UNDERWATER)
    return LoggedVehicle(_PROGRAMS.get(program, program), None) if program else None
