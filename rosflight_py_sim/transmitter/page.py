"""Transmitter on the browser viewer's page: keyboard, gamepad or two drawn sticks; the page reports over a topic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.transmitter.channels import ARM, HIGH, OVERRIDE, SWITCHES, Log
from rosflight_py_sim.transmitter.mapping import Mapping, example, mapping_for

KEYBOARD, DRAWN_STICKS = "keyboard on the page", "sticks on the page"
"""Names of the devices that every page has; config/joysticks.yaml maps them. Gamepads have names of their own."""

STANDARD_GAMEPAD = "standard gamepad: "
"""Prefix of the names of gamepads that the browser reports in its standard layout."""

SILENCE_S = 3.0
"""System time without a report after which the signal counts as lost, s.

The viewer reports a silent page sooner; this limit is for a viewer that has ended itself."""


@dataclass(frozen=True)
class StickReport:
    """One report of the page.

    Attributes:
        device: name of the device; empty after the pilot has left the controls.
        axes: positions from -1 to 1.
        buttons: whether each button is pressed. A report without axes and buttons means that the page was closed or
            hidden, or stopped reporting.
    """

    device: str
    axes: Sequence[float] = ()
    buttons: Sequence[bool] = ()

    def get_axis(self, axis_number: int, /) -> float:
        """Position of an axis, as in `controls.Device`."""
        return self.axes[axis_number]

    def get_button(self, button: int, /) -> bool:
        """Whether a button is pressed, as in `controls.Device`."""
        return self.buttons[button]


class PageTransmitter:
    """Sends the frames of a page's pilot; sends none after the page was closed or hidden, or stopped reporting.

    When a pilot takes the controls, the override switch moves to on, and the other switches keep their positions. When
    the pilot leaves the controls, all switches keep their positions. If the pilot leaves an armed vehicle that the
    computer does not fly, the RC signal is lost, because sticks at rest would stop the motors in the air.

    Frames change only with reports, so a recorded run can be repeated from its reports.
    """

    def __init__(self, mappings: Sequence[Mapping], log: Log) -> None:
        """Start without a pilot; `mappings` are in order of precedence."""
        self.frame: list[int] | None = None
        self.is_present = False
        self._mappings, self._log = mappings, log
        self._device, self._mapping = "", mappings[0]
        self._last: list[int] = []
        self._received_s = -math.inf
        self._refused: set[str] = set()

    def receive(self, report: StickReport, at_rest: list[int], now_s: float) -> None:
        """Take a report; one that does not fit its device's mapping is ignored.

        Args:
            report: the report.
            at_rest: frame (8), us, sent while there is no pilot; its switches follow the pilot's when the pilot leaves.
            now_s: monotonic system time.
        """
        if not report.device:
            self._leave(at_rest)
        elif not report.axes and not report.buttons:
            self._lose("the page was closed or hidden, or stopped reporting")
        elif all(map(math.isfinite, report.axes)):
            mapping = self._mapping_of(report)
            if mapping is None:
                return
            if self.frame is None or report.device != self._device:
                self._take(report.device, mapping, at_rest)
            self.frame = self._last = mapping.read(report)
            self._received_s = now_s

    def poll(self, now_s: float) -> None:
        """As in Transmitter."""
        if now_s - self._received_s > SILENCE_S:
            self._lose(f"no report from the {self._device} for {SILENCE_S:g} s")

    def close(self) -> None:
        """As in Transmitter."""
        self.frame = None

    def _mapping_of(self, report: StickReport) -> Mapping | None:
        device = report.device
        mapping = self._mapping if device == self._device else mapping_for(device, self._mappings)
        lacking = mapping.lacking(len(report.axes), len(report.buttons)) if mapping else ""
        if mapping is not None and not lacking:
            return mapping
        if device not in self._refused:
            self._refused.add(device)
            why = f"mapping '{mapping.name}' does not fit: {lacking}" if mapping else "no mapping found"
            self._log.warning(
                f"gamepad '{device}' of the browser ({len(report.axes)} axes, {len(report.buttons)} buttons) cannot be "
                f"used: {why}. Write a mapping and set the parameter mapping_file to it:\n{example(device)}"
            )
        return None

    def _take(self, device: str, mapping: Mapping, at_rest: Sequence[int]) -> None:
        start = list(self._last if self.is_present else at_rest)
        if not self.is_present:
            start[OVERRIDE] = HIGH
        mapping.adopt(start)
        self._device, self._mapping, self.is_present = device, mapping, True
        self._log.info(f"a pilot flies with the {device} (mapping '{mapping.name}')")

    def _lose(self, why: str) -> None:
        if self.frame is not None:
            self._log.warning(f"{why}: RC signal lost until a pilot takes the controls on the page")
        self.frame = None

    def _leave(self, at_rest: list[int]) -> None:
        if not self.is_present:
            return
        if self._last[ARM] == HIGH and self._last[OVERRIDE] == HIGH:
            self._lose("the pilot left the controls of an armed vehicle that the computer does not fly")
            return
        for channel in SWITCHES:
            at_rest[channel] = self._last[channel]
        self._log.info("the pilot on the page left the controls")
        self.frame, self.is_present = None, False
