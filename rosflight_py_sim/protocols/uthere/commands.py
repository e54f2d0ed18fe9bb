"""Commands of client programs, one class per command, in the protocol's units.

If a command names no plane, `plane` is None, and the command applies to all planes. Angles are in degrees, latitude and
longitude on WGS 84; the units of altitude and airspeed are settings of Ground Control.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class RequestPlaneList:
    """Request the list of planes."""


@dataclass(frozen=True)
class RequestClientIpList:
    """Request the list of client addresses."""


@dataclass(frozen=True)
class DataRequest:
    """Request a variable, or `all` variables, every `interval` seconds."""

    plane: int | None
    variable: str
    interval: float


@dataclass(frozen=True)
class DataPause:
    """Pause sending data."""


@dataclass(frozen=True)
class DataResume:
    """Resume sending data."""


@dataclass(frozen=True)
class DataRemove:
    """Stop sending a variable."""

    plane: int | None
    variable: str


@dataclass(frozen=True)
class DataClear:
    """Stop sending all variables."""


@dataclass(frozen=True)
class FlyTo:
    """Fly to a position and loiter there, without using the waypoint buffer."""

    plane: int | None
    latitude: float
    longitude: float
    altitude: float
    airspeed: float


@dataclass(frozen=True)
class WaypointClearAll:
    """Clear the waypoint buffer."""

    plane: int | None = None


@dataclass(frozen=True)
class WaypointAdd:
    """Add a waypoint to the buffer; the plane continues to `nextwaypointid` from it."""

    waypointid: int
    nextwaypointid: int
    plane: int | None
    latitude: float
    longitude: float
    altitude: float
    airspeed: float


@dataclass(frozen=True)
class FlyToWaypoint:
    """Fly the buffered waypoints, starting with this one."""

    waypointid: int


@dataclass(frozen=True)
class Fly:
    """Set a target state: one lateral, one speed and one vertical target; None for the others.

    Attributes:
        plane: number of the plane.
        latitude, longitude: position to fly to, deg (lateral).
        course: direction over ground, deg from true north (lateral).
        heading: direction of the nose, deg from true north (lateral).
        roll: roll angle, deg, right wing down positive (lateral).
        airspeed: airspeed in Ground Control's unit (speed).
        pitch: pitch angle, deg, nose up positive (speed).
        altitude: altitude in Ground Control's unit (vertical).
        climb: climb rate, ft/s, up positive (vertical; not together with pitch).
        throttle: throttle, percent (vertical).
    """

    plane: int | None = None
    latitude: float | None = None
    longitude: float | None = None
    course: float | None = None
    heading: float | None = None
    roll: float | None = None
    airspeed: float | None = None
    pitch: float | None = None
    altitude: float | None = None
    climb: float | None = None
    throttle: float | None = None


@dataclass(frozen=True)
class FlyEngage:
    """Enable fly() commands."""

    plane: int | None = None


@dataclass(frozen=True)
class FlyDisengage:
    """Disable fly() commands, and enter the lost-signal mode at once."""

    plane: int | None = None


Command: TypeAlias = (
    RequestPlaneList
    | RequestClientIpList
    | DataRequest
    | DataPause
    | DataResume
    | DataRemove
    | DataClear
    | FlyTo
    | WaypointClearAll
    | WaypointAdd
    | FlyToWaypoint
    | Fly
    | FlyEngage
    | FlyDisengage
)

CLASS_OF_NAME: dict[str, type[Command]] = {
    "request_plane_list": RequestPlaneList,
    "request_client_ip_list": RequestClientIpList,
    "data_request": DataRequest,
    "data_pause": DataPause,
    "data_resume": DataResume,
    "data_remove": DataRemove,
    "data_clear": DataClear,
    "fly_to": FlyTo,
    "waypoint_clear_all": WaypointClearAll,
    "waypoint_add": WaypointAdd,
    "fly_to_waypoint": FlyToWaypoint,
    "fly": Fly,
    "fly_engage": FlyEngage,
    "fly_disengage": FlyDisengage,
}
"""Command classes by the name in the protocol."""

NAME_OF_CLASS = {kind: name for name, kind in CLASS_OF_NAME.items()}

OTHER_SPELLINGS = {"fly_disenage": "fly_disengage"}
"""Alternative spellings; the protocol's page uses both."""
