"""The pilot's seat of a page: one pilot at a time, whose keys, sticks or gamepad become reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from rosflight_py_sim.transmitter.channels import PITCH, ROLL, YAW
from rosflight_py_sim.transmitter.keyboard import Action
from rosflight_py_sim.transmitter.page import KEYBOARD, StickReport
from rosflight_py_sim.viewer.web.key_times import KeyTimes

LEFT = StickReport("")
"""Report of a pilot who has left the controls."""

# Keys of the switches, in the order in which config/joysticks.yaml numbers them as buttons.
_SWITCH_KEYS = (Action.ARM, Action.OVERRIDE, Action.ATTITUDE_TYPE)

_MOST = 64
_LONGEST_NAME = 200

_ARMED_THROTTLE = 0.5

# Time without a report of the pilot's page after which its signal counts as lost, s. On a busy machine without a
# graphics card, drawing keeps a page from reporting for more than a second.
_SILENCE_S = 2.0


class BadMessageError(ValueError):
    """A message that the page does not send."""


class PilotSeat:
    """The seat; any object, such as its connection, identifies a browser."""

    def __init__(self, send: Callable[[StickReport], None]) -> None:
        """Create an empty seat; `send` is called with each report."""
        self._send = send
        self._pilot: object = None
        self._device = ""
        self._keys = KeyTimes(0.0, 0.0)
        self._received_s = 0.0
        self._is_silent = False

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
        self._keys = KeyTimes(_ARMED_THROTTLE if armed else 0.0, now_s)
        self._is_silent = False
        return ""

    def leave(self, browser: object) -> None:
        """Let the pilot leave the controls, if the pilot flies from this browser."""
        if self.is_taken_by(browser):
            self._pilot = None
            self._send(LEFT)

    def lose(self, browser: object) -> None:
        """Report the loss of this browser's page, if its pilot flies; the pilot must take the controls again."""
        if self.is_taken_by(browser):
            self._interrupt()
            self._pilot = None

    def wait(self, now_s: float) -> None:
        """Move the sticks by keys while the page reports nothing; after 2 s, report its silence once."""
        if self._is_silent:
            return
        if now_s - self._received_s > _SILENCE_S:
            self._interrupt()
        elif self._device == KEYBOARD:
            self._report_keys(now_s)

    def report(self, browser: object, message: Mapping[str, object], now_s: float) -> None:
        """Send a report of the pilot: `axes` and `buttons`, or the held keys; other browsers are ignored.

        Keys are the actions `held` from the time `at` on, s of the page's clock.

        Raises:
            BadMessageError: the message has neither, or invalid values.
        """
        if not self.is_taken_by(browser):
            return
        if self._device == KEYBOARD:
            self._keys.take(_actions(message.get("held")), _seconds(message.get("at")), now_s)
            self._received_s, self._is_silent = now_s, False
            self._report_keys(now_s)
            return
        axes, buttons = _axes(message.get("axes")), _buttons(message.get("buttons"))
        self._received_s, self._is_silent = now_s, False
        self._send(StickReport(self._device, axes, buttons))

    def _report_keys(self, now_s: float) -> None:
        for sticks, held in self._keys.until(now_s):
            deflection = sticks.deflection
            axes = (deflection[ROLL], deflection[PITCH], 2.0 * sticks.throttle - 1.0, deflection[YAW])
            self._send(StickReport(KEYBOARD, axes, tuple(action in held for action in _SWITCH_KEYS)))

    def _interrupt(self) -> None:
        """Report the silence of the page, until its next report."""
        self._is_silent = True
        self._keys.release()
        self._send(StickReport(self._device))


def _actions(held: object) -> set[Action]:
    try:
        return {Action(one) for one in _items(held)}
    except ValueError as error:
        raise BadMessageError(f"'held': {error}") from error


def _seconds(at: object) -> float:
    if not isinstance(at, (int, float)) or not math.isfinite(at):
        raise BadMessageError("'at': allowed: a finite number")
    return float(at)


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
