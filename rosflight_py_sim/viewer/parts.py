"""Parts of a vehicle as it is drawn, and how they turn with the outputs of the flight controller."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.pulse_width import MOTOR, NO_PULSE_US, SERVO, command_of
from rosflight_py_sim.viewer.meshes import Mesh
from rosflight_py_sim.world.colours import Colour

Vector: TypeAlias = tuple[float, float, float]

ROTOR_SPEED = 25.0
"""Speed of a rotor at full command as it is drawn, rad/s: what pictures at 30 Hz can show of a turning blade."""


@dataclass(frozen=True)
class Motion:
    """How a part moves: about an axis, by a command, which is a sum of outputs.

    Attributes:
        kind: a rotor turns on and on, a surface to an angle.
        axis_frd: unit vector in body axes, about which it turns by the right-hand rule.
        gain: of a rotor its speed at full command as it is drawn, rad/s; of a surface its angle, rad.
        outputs: weight of each output in the command, by number.
        is_motor: whether the outputs are a motor's, or a servo's.
    """

    kind: Literal["rotor", "surface"]
    axis_frd: Vector
    gain: float
    outputs: Mapping[int, float]
    is_motor: bool

    def command(self, pwm_us: Sequence[float] | NDArray[np.float64]) -> float:
        """From -1 to 1, of the pulse widths of all outputs, us; an output that gives no pulses asks for nothing."""
        travel, least = (MOTOR, 0.0) if self.is_motor else (SERVO, -1.0)
        total = sum(
            weight * command_of(float(pwm_us[output]), travel)
            for output, weight in self.outputs.items()
            if pwm_us[output] >= NO_PULSE_US
        )
        return min(1.0, max(least, total))


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of one colour.

    Attributes:
        name: unique in its vehicle.
        mesh: in body axes about the pivot, m.
        colour: red, green, blue, 0 to 255.
        pivot_frd: where its origin is in the vehicle, m.
        motion: None for what is fixed.
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
        parts: in the order in which they are drawn.
    """

    name: str
    parts: tuple[Part, ...]

    @property
    def size(self) -> float:
        """Greatest extent along a body axis, m, in which nothing is turned."""
        corners = np.concatenate([part.mesh.vertices + np.array(part.pivot_frd) for part in self.parts])
        return float(np.max(np.ptp(corners, axis=0)))


class MovingParts:
    """Angles of a vehicle's parts, as they are drawn from one picture to the next."""

    def __init__(self, appearance: Appearance) -> None:
        """Surfaces in the middle, rotors as they are built."""
        self._motions = [part.motion for part in appearance.parts]
        self.angles: list[float] = [0.0] * len(appearance.parts)
        """Of each part, about its axis, rad; 0 of what is fixed."""

    def move(self, pwm_us: Sequence[float] | NDArray[np.float64], dt: float) -> None:
        """Turn the rotors on for `dt` s, and put the surfaces where the outputs (us) send them."""
        for k, motion in enumerate(self._motions):
            if motion is None:
                continue
            angle = motion.gain * motion.command(pwm_us)
            if motion.kind == "rotor":
                angle = math.remainder(self.angles[k] + angle * dt, 2.0 * math.pi)
            self.angles[k] = angle


def part_attitude(part: Part, angle: float) -> NDArray[np.float64]:
    """Quaternion w x y z that turns the part's axes into body axes, at an angle (rad) about its axis."""
    if part.motion is None:
        return np.array([1.0, 0.0, 0.0, 0.0])
    from transforms3d.quaternions import axangle2quat  # 7 MB, which the recorder does without

    return np.asarray(axangle2quat(part.motion.axis_frd, angle, is_normalized=True))
