"""Commands of client programs, one class per command, in the protocol's units.

`plane` is None where a command names none: it is for every plane then. Angles are degrees, latitude and longitude those
of WGS 84; the units of altitude and airspeed are settings of Ground Control.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class RequestPlaneList:
    """Which planes are there?"""


@dataclass(frozen=True)
class RequestClientIpList:
    """Which addresses are served?"""


@dataclass(frozen=True)
class DataRequest:
    """Send a variable, or `all` of them, every `interval` seconds."""

    plane: int | None
    variable: str
    interval: float


@dataclass(frozen=True)
class DataPause:
    """Send no data for now."""


@dataclass(frozen=True)
class DataResume:
    """Send data again."""


@dataclass(frozen=True)
class DataRemove:
    """Send this variable no more."""

    plane: int | None
    variable: str


@dataclass(frozen=True)
class DataClear:
    """Send no variable any more."""


@dataclass(frozen=True)
class FlyTo:
    """Fly to this place and loiter there, past the buffer."""

    plane: int | None
    latitude: float
    longitude: float
    altitude: float
    airspeed: float


@dataclass(frozen=True)
class WaypointClearAll:
    """Forget all waypoints of the buffer."""

    plane: int | None = None


@dataclass(frozen=True)
class WaypointAdd:
    """Put a waypoint in the buffer; the plane flies on to `nextwaypointid` from it."""

    waypointid: int
    nextwaypointid: int
    plane: int | None
    latitude: float
    longitude: float
    altitude: float
    airspeed: float


@dataclass(frozen=True)
class FlyToWaypoint:
    """Fly the buffered waypoints from this one on."""

    waypointid: int


@dataclass(frozen=True)
class Fly:
    """Control the state itself: one lateral, one speed and one vertical target; None where absent.

    Attributes:
        plane: which plane.
        latitude: place to fly to, together with the longitude (lateral).
        longitude: see latitude.
        course: direction over ground, deg from true north (lateral).
        heading: where the nose points, deg from true north (lateral).
        roll: right wing down is positive, deg (lateral).
        airspeed: in Ground Control's unit (speed).
        pitch: nose up is positive, deg (speed).
        altitude: in Ground Control's unit (vertical).
        climb: ft/s, up is positive (vertical; not together with pitch).
        throttle: percent (vertical).
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
    """Take fly() commands from now on."""

    plane: int | None = None


@dataclass(frozen=True)
class FlyDisengage:
    """Take no more fly() commands, and go to the lost-signal mode at once."""

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
"""Name of each command on the line."""

NAME_OF_CLASS = {kind: name for name, kind in CLASS_OF_NAME.items()}

OTHER_SPELLINGS = {"fly_disenage": "fly_disengage"}
"""The protocol's page writes it both ways."""
