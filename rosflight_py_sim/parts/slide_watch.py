"""Detection of a vehicle that slides over the ground because the drag of the wind exceeds friction."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Values, number
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import ChainLink, StepTime
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.step.vehicle_state import VehicleState

# Speed over ground (m/s) from which a vehicle slides, and time (ns) after which a slide does not stop again: a gust
# moves a vehicle for tenths of a second, and an aircraft turns into the wind within two seconds.
_SLIDES_MPS, _SLIDES_NS = 0.1, 3 * NANOSECONDS
# Share of the weight that must rest on the ground.
_STANDS = 0.1
# Share of the weight below which friction is that of rolling wheels: an aircraft may be calibrated while it rolls.
_ROLLS = 0.2


@kernel_record
class Slide:
    """Observations of a vehicle that waits on the ground.

    Attributes:
        mass: kg.
        weight: N.
        most_drag: greatest drag since the start, N.
        least_on_ground: least share of the weight that rested on the ground since the start.
        since_ns: time at which the present slide began, ns; -1 while the vehicle does not slide.
        greatest_drag: greatest drag of the present slide, N.
        friction: sum of the friction over the steps of the present slide, N.
        steps: number of steps of the present slide.
        is_certain: whether drag has moved the vehicle for 3 s; from then on, the attributes do not change.
    """

    mass: float
    weight: float
    most_drag: float
    least_on_ground: float
    since_ns: int
    greatest_drag: float
    friction: float
    steps: int
    is_certain: bool


@kernel
def observe_slide(time_ns: int, truth: NDArray[np.float64], force: NDArray[np.float64], slide: Slide) -> None:
    """Add a true state (19,) and the wrench or force (3 or more,), N, that led to it."""
    if slide.is_certain:
        return
    qw, qx, qy, qz = truth[3], truth[4], truth[5], truth[6]
    north, east, down = rotate_to_inertial(qw, qx, qy, qz, force[0], force[1], force[2])
    a_north, a_east, a_down = rotate_to_inertial(qw, qx, qy, qz, truth[13], truth[14], truth[15])
    v_north, v_east, _ = rotate_to_inertial(qw, qx, qy, qz, truth[7], truth[8], truth[9])
    drag = math.hypot(north, east)
    on_ground = 1.0 + (down - slide.mass * a_down) / slide.weight
    slide.most_drag = max(slide.most_drag, drag)
    slide.least_on_ground = min(slide.least_on_ground, on_ground)
    friction = math.hypot(slide.mass * a_north - north, slide.mass * a_east - east)
    is_slow = math.hypot(v_north, v_east) < _SLIDES_MPS
    if is_slow or on_ground < _STANDS or friction < _ROLLS * slide.weight:
        slide.since_ns = -1
        return
    if slide.since_ns < 0:
        slide.since_ns, slide.greatest_drag, slide.friction, slide.steps = time_ns, 0.0, 0.0, 0
    # The drag decreases as the vehicle gains speed with the wind: the greatest one made it slide.
    slide.greatest_drag = max(slide.greatest_drag, drag)
    slide.friction += friction
    slide.steps += 1
    slide.is_certain = time_ns - slide.since_ns >= _SLIDES_NS and slide.greatest_drag > slide.friction / slide.steps


@kernel
def watch_slide(time: StepTime, truth: NDArray[np.float64], wrench: NDArray[np.float64], slide: Slide) -> None:
    """Add the state and the wrench (6,) of a step; see `observe_slide`."""
    observe_slide(time.time_ns, truth, wrench, slide)


class SlideWatch:
    """Watch on the true state and the wrench of a vehicle that waits on the ground.

    F is the force of air and propulsion, without gravity and contact. The contact force is m a - F - m g; its
    horizontal part is the friction. The horizontal part of F is the drag.
    """

    def __init__(self, mass: float, gravity: float) -> None:
        """`mass` (kg) of the vehicle, and `gravity` (m/s^2)."""
        self._slide = Slide(
            mass=mass,
            weight=mass * gravity,
            most_drag=0.0,
            least_on_ground=1.0,
            since_ns=-1,
            greatest_drag=0.0,
            friction=0.0,
            steps=0,
            is_certain=False,
        )

    @classmethod
    def of(cls, values: Values) -> SlideWatch | None:
        """Watch on a vehicle with these parameters of dynamics; None if they give no mass or no gravity."""
        if "mass" not in values or not number(values, "gravity"):
            return None
        return cls(number(values, "mass"), number(values, "gravity"))

    def observe(self, state: VehicleState, force: NDArray[np.float64]) -> None:
        """Add a true state and the wrench or force (3 or more,), N, that led to it."""
        observe_slide(state.time_ns, state.truth, force, self._slide)

    def link(self, time: StepTime, truth: NDArray[np.float64], wrench: NDArray[np.float64]) -> ChainLink:
        """Link that observes each step; arguments as for `watch_slide`."""
        return ChainLink(bound(watch_slide, time, truth, wrench, self._slide))

    @property
    def text(self) -> str:
        """Reason to abort, with drag and friction, once drag has moved the vehicle for 3 s; empty before."""
        slide = self._slide
        if not slide.is_certain:
            return ""
        return f"the vehicle slides: drag {slide.greatest_drag:.1f} N, friction {slide.friction / slide.steps:.1f} N"

    @property
    def unrest(self) -> str:
        """Reason to abort if the vehicle neither slides nor stands still, with the extremes since the start."""
        slide = self._slide
        drag, least = f"drag up to {slide.most_drag:.1f} N", max(0.0, slide.least_on_ground)
        return f"the vehicle does not stand still: {drag}, down to {least:.0%} of the weight on the ground"
