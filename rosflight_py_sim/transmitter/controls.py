"""Controls that drive a channel: an axis, one or two buttons, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rosflight_py_sim.transmitter.channels import CENTRE, HIGH, LOW, pulse_us


class Device(Protocol):
    """Interface of a joystick (pygame's Joystick fits)."""

    def get_axis(self, axis_number: int, /) -> float:
        """Position from -1 to 1."""

    def get_button(self, button: int, /) -> bool:
        """Whether the button is pressed."""


class Control(Protocol):
    """Gives the pulse width of a channel."""

    @property
    def axes(self) -> int:
        """Number of axes that the device must have."""

    @property
    def buttons(self) -> int:
        """Number of buttons that the device must have."""

    def read(self, device: Device) -> int:
        """Current pulse width, us."""


@dataclass(frozen=True)
class AxisControl:
    """A stick, or a switch that the device reports as an axis: low_at gives 1000 us, high_at 2000 us."""

    axis: int
    low_at: float = -1.0
    high_at: float = 1.0

    buttons = 0

    @property
    def axes(self) -> int:
        """As for Control."""
        return self.axis + 1

    def read(self, device: Device) -> int:
        """As for Control."""
        return pulse_us((device.get_axis(self.axis) - self.low_at) / (self.high_at - self.low_at))


@dataclass
class ButtonControl:
    """Button that steps through `positions`; with `momentary` it gives the last position while pressed."""

    button: int
    positions: tuple[int, ...]
    position: int = 0
    momentary: bool = False
    # A button held at the first poll does not count as a press.
    _was_pressed: bool = True

    axes = 0

    @property
    def buttons(self) -> int:
        """As for Control."""
        return self.button + 1

    def read(self, device: Device) -> int:
        """As for Control."""
        pressed = bool(device.get_button(self.button))
        if self.momentary:
            return self.positions[-1 if pressed else 0]
        if pressed and not self._was_pressed:
            self.position = (self.position + 1) % len(self.positions)
        self._was_pressed = pressed
        return self.positions[self.position]

    def move_to(self, width_us: int) -> None:
        """Move a toggle to the position with this pulse width, us, if it has one."""
        if not self.momentary and width_us in self.positions:
            self.position = self.positions.index(width_us)


@dataclass(frozen=True)
class ThreePositionControl:
    """Three-position switch reported as two buttons, one at each end."""

    low_button: int
    high_button: int

    axes = 0

    @property
    def buttons(self) -> int:
        """As for Control."""
        return max(self.low_button, self.high_button) + 1

    def read(self, device: Device) -> int:
        """As for Control."""
        if device.get_button(self.low_button):
            return LOW
        return HIGH if device.get_button(self.high_button) else CENTRE


@dataclass(frozen=True)
class FixedControl:
    """Constant channel."""

    width_us: int

    axes = 0
    buttons = 0

    def read(self, device: Device) -> int:
        """As for Control."""
        return self.width_us
