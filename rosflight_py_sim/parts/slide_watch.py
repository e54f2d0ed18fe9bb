"""Detection of a vehicle that slides over the ground, because the wind pushes it more than friction holds it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.parameters import Values, number
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.step.vehicle_state import VehicleState

# Speed over ground (m/s) of a vehicle that slides, and the time (s) after which it does not stop again: a gust moves it
# for tenths of a second, and an aircraft turns into the wind within two.
_SLIDES_MPS, _SLIDES_S = 0.1, 3.0
# Share of the weight that must rest on the ground.
_STANDS = 0.1
# Share of the weight below which friction is that of rolling wheels: an aircraft may be calibrated while it rolls.
_ROLLS = 0.2


class SlideWatch:
    """Watches the true state and the wrench of a vehicle that waits on the ground.

    With the wrench F of air and propulsion, which excludes gravity and contact, the contact force is m a - F - m g. Its
    horizontal part is the friction; the horizontal part of F is the drag.

    Attributes:
        text: reason with both forces, once drag has moved the vehicle for 3 s; empty before.
    """

    def __init__(self, mass: float, gravity: float) -> None:
        """`mass` in kg and `gravity` in m/s^2 are the vehicle's."""
        self.text = ""
        self._most_drag, self._least_on_ground = 0.0, 1.0
        self._mass, self._weight = mass, mass * gravity
        self._since_ns: int | None = None
        self._greatest_drag = 0.0
        self._friction: list[float] = []

    @classmethod
    def of(cls, values: Values) -> SlideWatch | None:
        """Watch for a vehicle with these values of its dynamics; None if they do not give its mass."""
        if "mass" not in values or not number(values, "gravity"):
            return None
        return cls(number(values, "mass"), number(values, "gravity"))

    def observe(self, state: VehicleState, force_body: Iterable[float]) -> None:
        """Take a true state, and the force (3,), N, under which it came about."""
        quaternion = state.quaternion.tolist()
        north, east, down = _inertial(quaternion, force_body)
        a_north, a_east, a_down = _inertial(quaternion, state.acceleration_body.tolist())
        v_north, v_east, _ = _inertial(quaternion, state.velocity_body.tolist())
        drag = math.hypot(north, east)
        on_ground = 1.0 + (down - self._mass * a_down) / self._weight
        self._most_drag, self._least_on_ground = max(self._most_drag, drag), min(self._least_on_ground, on_ground)
        friction = math.hypot(self._mass * a_north - north, self._mass * a_east - east)
        is_slow = math.hypot(v_north, v_east) < _SLIDES_MPS
        if is_slow or on_ground < _STANDS or friction < _ROLLS * self._weight:
            self._since_ns, self._greatest_drag = None, drag
            self._friction.clear()
            return
        if self._since_ns is None:
            self._since_ns = state.time_ns
        # The drag decreases as the vehicle gains speed with the wind: the greatest one made it slide.
        self._greatest_drag = max(self._greatest_drag, drag)
        self._friction.append(friction)
        if self.text or state.time_ns - self._since_ns < _SLIDES_S * NANOSECONDS:
            return
        mean = sum(self._friction) / len(self._friction)
        if self._greatest_drag > mean:
            self.text = f"the vehicle slides: drag {self._greatest_drag:.1f} N, friction {mean:.1f} N"

    @property
    def unrest(self) -> str:
        """Reason for a vehicle that does not slide, but does not stand still either: extremes since the start."""
        drag, least = f"drag up to {self._most_drag:.1f} N", max(0.0, self._least_on_ground)
        return f"the vehicle does not stand still: {drag}, down to {least:.0%} of the weight on the ground"


def _inertial(quaternion: Iterable[float], vector_body: Iterable[float]) -> Vector3:
    w, qx, qy, qz = quaternion
    x, y, z = map(float, vector_body)
    return rotate_to_inertial(w, qx, qy, qz, x, y, z)
