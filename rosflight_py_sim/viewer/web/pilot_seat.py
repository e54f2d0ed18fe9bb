"""The pilot's seat of a page: one pilot at a time, whose keys, sticks or gamepad become reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from rosflight_py_sim.transmitter.channels import PITCH, ROLL, YAW
from rosflight_py_sim.transmitter.keyboard import Action, KeyboardSticks
from rosflight_py_sim.transmitter.page import KEYBOARD, StickReport

LEFT = StickReport("")
"""Report of a pilot who has left the controls."""

# Keys of the switches, in the order in which config/joysticks.yaml numbers them as buttons.
_SWITCH_KEYS = (Action.ARM, Action.OVERRIDE, Action.ATTITUDE_TYPE)

_MOST = 64
_LONGEST_NAME = 200

_ARMED_THROTTLE = 0.5


class BadMessageError(ValueError):
    """A message that the page does not send."""


class PilotSeat:
    """The seat; any object, such as its connection, identifies a browser."""

    def __init__(self, send: Callable[[StickReport], None]) -> None:
        """Create an empty seat; `send` is called with each report."""
        self._send = send
        self._pilot: object = None
        self._device = ""
        self._keys = KeyboardSticks()
        self._held: set[Action] = set()
        self._received_s = 0.0

    def is_taken_by(self, browser: object) -> bool:
        """Whether the pilot flies from this browser."""
        return self._pilot is not None and self._pilot is browser

    @property
    def is_free(self) -> bool:
        """Whether no pilot flies."""
        return self._pilot is None

    def take(self, browser: object, device: object, now_s: float, *, armed: bool) -> str:
        """Let a browser's pilot take the controls; return the reason of a refusal, or an empty text.

        Args:
            browser: the browser.
            device: name of the pilot's device.
            now_s: monotonic system time.
            armed: whether the vehicle is armed: the keyboard's throttle then starts at half.

        Raises:
            BadMessageError: the name is not a text of 1 to 200 characters.
        """
        if not isinstance(device, str) or not 0 < len(device) <= _LONGEST_NAME:
            raise BadMessageError(f"'take': allowed: the name of a device, 1 to {_LONGEST_NAME} characters")
        if self._pilot not in (None, browser):
            return "another browser flies the vehicle: its pilot must leave the controls first"
        self._pilot, self._device, self._received_s = browser, device, now_s
        self._keys, self._held = KeyboardSticks(), set()
        self._keys.throttle = _ARMED_THROTTLE if armed else 0.0
        return ""

    def leave(self, browser: object) -> None:
        """Let the pilot leave the controls, if the pilot flies from this browser."""
        if self.is_taken_by(browser):
            self._pilot = None
            self._send(LEFT)

    def lose(self, browser: object) -> None:
        """Report the loss of this browser's page, if its pilot flies; the pilot must take the controls again."""
        if self.is_taken_by(browser):
            self.interrupt()
            self._pilot = None

    def interrupt(self) -> None:
        """Report the silence of the pilot's page; the next report ends it."""
        self._held.clear()
        self._send(StickReport(self._device))

    def report(self, browser: object, message: Mapping[str, object], now_s: float) -> None:
        """Send a report of the pilot: held keys as `held`, or `axes` and `buttons`; other browsers are ignored.

        Raises:
            BadMessageError: the message has neither, or invalid values.
        """
        if not self.is_taken_by(browser):
            return
        if self._device == KEYBOARD:
            self._send(self._report_of_keys(_actions(message.get("held")), now_s))
            return
        axes, buttons = _axes(message.get("axes")), _buttons(message.get("buttons"))
        self._send(StickReport(self._device, axes, buttons))

    def _report_of_keys(self, held: set[Action], now_s: float) -> StickReport:
        # The keys were held as in the last report until now.
        self._keys.hold(self._held, now_s - self._received_s)
        self._held, self._received_s = held, now_s
        deflection = self._keys.deflection
        axes = (deflection[ROLL], deflection[PITCH], 2.0 * self._keys.throttle - 1.0, deflection[YAW])
        return StickReport(KEYBOARD, axes, tuple(action in held for action in _SWITCH_KEYS))


def _actions(held: object) -> set[Action]:
    try:
        return {Action(one) for one in _items(held)}
    except ValueError as error:
        raise BadMessageError(f"'held': {error}") from error


def _axes(axes: object) -> tuple[float, ...]:
    items = _items(axes)
    if not all(isinstance(one, (int, float)) and math.isfinite(one) for one in items):
        raise BadMessageError("'axes': allowed: finite numbers")
    return tuple(min(max(float(one), -1.0), 1.0) for one in items)  # type: ignore[arg-type]


def _buttons(buttons: object) -> tuple[bool, ...]:
    return tuple(bool(one) for one in _items(buttons))


def _items(given: object) -> Sequence[object]:
    if not isinstance(given, list) or len(given) > _MOST:
        raise BadMessageError(f"allowed: a list of at most {_MOST} items")
    return given
