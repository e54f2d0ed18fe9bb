"""Sticks and switches moved by keys: key layouts and stick motion.

A window receives key presses and releases, so a stick ramps to its end while the key is held and springs back after. A
terminal receives only repeated characters while a key is held: each nudges the stick, which then drifts back.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from rosflight_py_sim.transmitter.channels import (
    ARM,
    ATTITUDE_TYPE,
    HIGH,
    LOW,
    OVERRIDE,
    PITCH,
    ROLL,
    THROTTLE,
    YAW,
    frame_at_rest,
    pulse_us,
)


class Action(Enum):
    """Action of a key."""

    ROLL_LEFT = "roll left"
    ROLL_RIGHT = "roll right"
    PITCH_FORWARD = "pitch forward"
    PITCH_BACK = "pitch back"
    THROTTLE_UP = "throttle up"
    THROTTLE_DOWN = "throttle down"
    YAW_LEFT = "yaw left"
    YAW_RIGHT = "yaw right"
    ARM = "arm"
    OVERRIDE = "override"
    ATTITUDE_TYPE = "attitude"


_ARROWS = {
    "left": Action.ROLL_LEFT,
    "right": Action.ROLL_RIGHT,
    "up": Action.PITCH_FORWARD,
    "down": Action.PITCH_BACK,
}
_SWITCH_KEYS = {"t": Action.ARM, "r": Action.OVERRIDE, "m": Action.ATTITUDE_TYPE}

LAYOUTS: dict[str, dict[str, Action]] = {
    "vimfly": {
        "a": Action.THROTTLE_UP,
        "s": Action.THROTTLE_DOWN,
        "d": Action.YAW_LEFT,
        "f": Action.YAW_RIGHT,
        "h": Action.ROLL_LEFT,
        "j": Action.PITCH_BACK,
        "k": Action.PITCH_FORWARD,
        "l": Action.ROLL_RIGHT,
        **_ARROWS,
        **_SWITCH_KEYS,
    },
    "wasd": {
        "w": Action.THROTTLE_UP,
        "s": Action.THROTTLE_DOWN,
        "a": Action.YAW_LEFT,
        "d": Action.YAW_RIGHT,
        **_ARROWS,
        **_SWITCH_KEYS,
    },
}
"""Keys of each layout, by their pygame names."""

_STICKS = {
    Action.ROLL_LEFT: (ROLL, -1.0),
    Action.ROLL_RIGHT: (ROLL, 1.0),
    Action.PITCH_FORWARD: (PITCH, -1.0),
    Action.PITCH_BACK: (PITCH, 1.0),
    Action.YAW_LEFT: (YAW, -1.0),
    Action.YAW_RIGHT: (YAW, 1.0),
}
_THROTTLE = {Action.THROTTLE_UP: 1.0, Action.THROTTLE_DOWN: -1.0}
_SWITCHES = {Action.ARM: ARM, Action.OVERRIDE: OVERRIDE, Action.ATTITUDE_TYPE: ATTITUDE_TYPE}

# Half-travels a second: a tap of a tenth of a second is a quarter of full deflection.
_DEFLECT_RATE = 2.5
_SPRING_RATE = 5.0
_THROTTLE_RATE = 0.5

# A held key repeats about 30 times a second, after an initial delay of up to 0.7 s.
_NUDGE = 0.2
_THROTTLE_NUDGE = 0.02
_DRIFT_RATE = 0.8


class KeyboardSticks:
    """Position of the sticks, from -1 to 1, the throttle, from 0 to 1, and the switches.

    Initially at rest. Roll right, nose up and yaw right are positive.
    """

    def __init__(self) -> None:
        self.deflection = {ROLL: 0.0, PITCH: 0.0, YAW: 0.0}
        self.throttle = 0.0
        frame = frame_at_rest()
        self.switches = {channel: frame[channel] == HIGH for channel in _SWITCHES.values()}

    def press(self, action: Action) -> None:
        """Throw a switch; ignore stick keys."""
        if action in _SWITCHES:
            channel = _SWITCHES[action]
            self.switches[channel] = not self.switches[channel]

    def hold(self, actions: Iterable[Action], seconds: float) -> None:
        """Advance by a time during which exactly these keys were held."""
        wanted = dict.fromkeys(self.deflection, 0.0)
        for action in set(actions):
            if action in _STICKS:
                channel, direction = _STICKS[action]
                wanted[channel] += direction
            elif action in _THROTTLE:
                self._move_throttle(_THROTTLE[action] * _THROTTLE_RATE * seconds)
        for channel, target in wanted.items():
            now, left_s = self.deflection[channel], seconds
            if target * now <= 0.0:
                # Towards the centre, a stick moves at least as fast as its spring.
                left_s -= min(abs(now) / _SPRING_RATE, seconds)
                now = _approached(now, 0.0, _SPRING_RATE * seconds)
            self.deflection[channel] = _approached(now, target, _DEFLECT_RATE * left_s)

    def nudge(self, action: Action) -> None:
        """Process one character of a key that was pressed or is held."""
        self.press(action)
        if action in _STICKS:
            channel, direction = _STICKS[action]
            # A key opposite to the deflection first centres the stick.
            now = self.deflection[channel]
            self.deflection[channel] = 0.0 if now * direction < 0.0 else _approached(now, direction, _NUDGE)
        elif action in _THROTTLE:
            self._move_throttle(_THROTTLE[action] * _THROTTLE_NUDGE)

    def drift(self, seconds: float) -> None:
        """Advance by a time without characters."""
        for channel, now in self.deflection.items():
            self.deflection[channel] = _approached(now, 0.0, _DRIFT_RATE * seconds)

    @property
    def frame(self) -> list[int]:
        """Pulse widths (8), us."""
        frame = frame_at_rest()
        for channel, deflection in self.deflection.items():
            frame[channel] = pulse_us(0.5 + 0.5 * deflection)
        frame[THROTTLE] = pulse_us(self.throttle)
        for channel, on in self.switches.items():
            frame[channel] = HIGH if on else LOW
        return frame

    def _move_throttle(self, change: float) -> None:
        self.throttle = min(max(self.throttle + change, 0.0), 1.0)


def keys_of(layout: str, action: Action) -> list[str]:
    """Keys of a layout for an action, letters first."""
    return [key for key, does in LAYOUTS[layout].items() if does is action]


def _approached(now: float, target: float, most: float) -> float:
    return min(now + most, target) if target > now else max(now - most, target)
