"""What a channel is taken from: an axis, a button or two, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rosflight_py_sim.transmitter.channels import CENTRE, HIGH, LOW, pulse_us


class Device(Protocol):
    """A joystick as its controls see it (pygame's Joystick fits)."""

    def get_axis(self, axis_number: int, /) -> float:
        """Position from -1 to 1."""

    def get_button(self, button: int, /) -> bool:
        """Whether it is pressed."""


class Control(Protocol):
    """Gives the pulse width of a channel."""

    @property
    def axes(self) -> int:
        """How many axes the device must have for it."""

    @property
    def buttons(self) -> int:
        """How many buttons the device must have for it."""

    def read(self, device: Device) -> int:
        """Pulse width, us, now."""


@dataclass(frozen=True)
class AxisControl:
    """A stick, or a switch that the device reports as an axis: low_at gives 1000 us, high_at 2000 us."""

    axis: int
    low_at: float = -1.0
    high_at: float = 1.0

    buttons = 0

    @property
    def axes(self) -> int:
        """As of Control."""
        return self.axis + 1

    def read(self, device: Device) -> int:
        """As of Control."""
        return pulse_us((device.get_axis(self.axis) - self.low_at) / (self.high_at - self.low_at))


@dataclass
class ButtonControl:
    """A button whose presses step through `positions`; with `momentary` it is the last while it is pressed."""

    button: int
    positions: tuple[int, ...]
    position: int = 0
    momentary: bool = False
    # Pressed when first looked at is no press.
    _was_pressed: bool = True

    axes = 0

    @property
    def buttons(self) -> int:
        """As of Control."""
        return self.button + 1

    def read(self, device: Device) -> int:
        """As of Control."""
        pressed = bool(device.get_button(self.button))
        if self.momentary:
            return self.positions[-1 if pressed else 0]
        if pressed and not self._was_pressed:
            self.position = (self.position + 1) % len(self.positions)
        self._was_pressed = pressed
        return self.positions[self.position]


@dataclass(frozen=True)
class ThreePositionControl:
    """A switch with a contact at each end, reported as two buttons: between them it is in the centre."""

    low_button: int
    high_button: int

    axes = 0

    @property
    def buttons(self) -> int:
        """As of Control."""
        return max(self.low_button, self.high_button) + 1

    def read(self, device: Device) -> int:
        """As of Control."""
        if device.get_button(self.low_button):
            return LOW
        return HIGH if device.get_button(self.high_button) else CENTRE


@dataclass(frozen=True)
class FixedControl:
    """A channel that nothing moves."""

    width_us: int

    axes = 0
    buttons = 0

    def read(self, device: Device) -> int:
        """As of Control."""
        return self.width_us
