"""Modes of guided flight, and their transitions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum


class Mode(IntEnum):
    """Guided mode; its number is the variable `control_operate_mode`.

    3 and 24 are uThere's numbers of the modes that follow waypoints and fly(); the others are this project's.
    LOST_SIGNAL is left as soon as it is entered.
    """

    STANDBY = 0
    MANUAL = 1
    TAKE_OFF = 2
    WAYPOINT = 3
    RETURN_HOME = 5
    LOST_SIGNAL = 7
    PACKET_TARGET = 24

    @property
    def label(self) -> str:
        """The mode in words."""
        return self.name.lower().replace("_", " ")


class Event(Enum):
    """Event that may change the mode; its value is a description."""

    OVERRIDE_ON = "override on"
    DISARMED = "disarmed"
    ON_GROUND = "armed, override off, on the ground"
    IN_AIR = "armed, override off, in the air"
    HIGH_ENOUGH = "high enough"
    FLY = "fly() inside the cage, while engaged"
    WAYPOINT_COMMAND = "fly_to, fly_to_waypoint"
    TARGET_OUTSIDE = "fly() outside the cage, while engaged"
    CAGE_LEFT = "deadman, or cage left"
    DISENGAGED = "fly_disengage"
    ENGAGED = "fly_engage"
    GOES_TO_WAYPOINT = "lost_signal_mode is waypoint"
    GOES_HOME = "lost_signal_mode is return_home"


_TAKEN_OVER = {Event.OVERRIDE_ON: Mode.MANUAL, Event.DISARMED: Mode.STANDBY}

TRANSITIONS: Mapping[Mode, Mapping[Event, Mode]] = {
    Mode.STANDBY: {Event.OVERRIDE_ON: Mode.MANUAL, Event.ON_GROUND: Mode.TAKE_OFF, Event.IN_AIR: Mode.WAYPOINT},
    Mode.MANUAL: {Event.DISARMED: Mode.STANDBY, Event.ON_GROUND: Mode.TAKE_OFF, Event.IN_AIR: Mode.WAYPOINT},
    Mode.TAKE_OFF: {**_TAKEN_OVER, Event.HIGH_ENOUGH: Mode.WAYPOINT},
    Mode.WAYPOINT: {**_TAKEN_OVER, Event.FLY: Mode.PACKET_TARGET, Event.TARGET_OUTSIDE: Mode.LOST_SIGNAL},
    Mode.PACKET_TARGET: {
        **_TAKEN_OVER,
        Event.WAYPOINT_COMMAND: Mode.WAYPOINT,
        Event.TARGET_OUTSIDE: Mode.LOST_SIGNAL,
        Event.CAGE_LEFT: Mode.LOST_SIGNAL,
        Event.DISENGAGED: Mode.LOST_SIGNAL,
    },
    Mode.LOST_SIGNAL: {Event.GOES_TO_WAYPOINT: Mode.WAYPOINT, Event.GOES_HOME: Mode.RETURN_HOME},
    Mode.RETURN_HOME: {**_TAKEN_OVER, Event.ENGAGED: Mode.WAYPOINT},
}
"""Transitions: mode to event to next mode; other events leave the mode unchanged."""
