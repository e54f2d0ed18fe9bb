"""Parts of a drawn vehicle, and their motion with the flight controller's outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.pulse_width import MOTOR, NO_PULSE_US, SERVO, command_of
from rosflight_py_sim.shapes.meshes import Mesh
from rosflight_py_sim.world.colours import Colour

Vector: TypeAlias = tuple[float, float, float]

ROTOR_SPEED = 25.0
"""Drawn speed of a rotor at full command, rad/s: slow enough that images at 30 Hz show the blade turning."""


@dataclass(frozen=True)
class Motion:
    """Motion of a part about an axis, driven by a command, which is a sum of outputs.

    Attributes:
        kind: a rotor turns continuously, a surface to an angle.
        axis_frd: unit vector in body axes; rotation by the right-hand rule.
        gain: drawn speed of a rotor at full command, rad/s; angle of a surface at full command, rad.
        outputs: weight of each output in the command, by output number.
        is_motor: whether the outputs drive a motor; otherwise a servo.
    """

    kind: Literal["rotor", "surface"]
    axis_frd: Vector
    gain: float
    outputs: Mapping[int, float]
    is_motor: bool

    def command(self, pwm_us: Sequence[float] | NDArray[np.float64]) -> float:
        """Command from -1 to 1, for the pulse widths of all outputs, us; an output without pulses counts as 0."""
        travel, least = (MOTOR, 0.0) if self.is_motor else (SERVO, -1.0)
        total = sum(
            weight * command_of(float(pwm_us[output]), travel)
            for output, weight in self.outputs.items()
            if pwm_us[output] >= NO_PULSE_US
        )
        return min(1.0, max(least, total))


@dataclass(frozen=True, eq=False)
class DrawnPart:
    """A mesh of one colour.

    Attributes:
        name: unique within the vehicle.
        mesh: body axes about the pivot, m.
        colour: red, green, blue, 0 to 255.
        pivot_frd: position of the pivot in the vehicle, m.
        motion: None for a fixed part.
    """

    name: str
    mesh: Mesh
    colour: Colour
    pivot_frd: Vector = (0.0, 0.0, 0.0)
    motion: Motion | None = None


@dataclass(frozen=True, eq=False)
class Appearance:
    """All parts of a vehicle.

    Attributes:
        name: as in the parameter.
        parts: in drawing order.
    """

    name: str
    parts: tuple[DrawnPart, ...]

    @property
    def size(self) -> float:
        """Greatest extent along a body axis, m, with all parts at rest."""
        corners = np.concatenate([part.mesh.vertices + np.array(part.pivot_frd) for part in self.parts])
        return float(np.max(np.ptp(corners, axis=0)))


class MovingParts:
    """Angles of a vehicle's parts over successive images."""

    def __init__(self, appearance: Appearance) -> None:
        """Start with surfaces centred and rotors at angle 0."""
        self._motions = [part.motion for part in appearance.parts]
        self.angles: list[float] = [0.0] * len(appearance.parts)
        """Angle of each part about its axis, rad; 0 for fixed parts."""

    def move(self, pwm_us: Sequence[float] | NDArray[np.float64], dt: float) -> None:
        """Turn the rotors for `dt` s, and set the surfaces to the outputs (us)."""
        for k, motion in enumerate(self._motions):
            if motion is None:
                continue
            angle = motion.gain * motion.command(pwm_us)
            if motion.kind == "rotor":
                angle = math.remainder(self.angles[k] + angle * dt, 2.0 * math.pi)
            self.angles[k] = angle


def part_attitude(part: DrawnPart, angle: float) -> NDArray[np.float64]:
    """Quaternion w x y z from the part's axes to body axes, at an angle (rad) about its axis."""
    if part.motion is None:
        return np.array([1.0, 0.0, 0.0, 0.0])
    from transforms3d.quaternions import axangle2quat  # Imported here: 7 MB that the recorder does not need

    return np.asarray(axangle2quat(part.motion.axis_frd, angle, is_normalized=True))
