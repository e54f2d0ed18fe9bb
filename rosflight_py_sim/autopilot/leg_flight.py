"""Flight along the straight legs of a mission as kernels: the setpoint, and the guidance of a multirotor towards it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.autopilot.straight_leg import Leg, Nine, leg_motion
from rosflight_py_sim.autopilot.take_off_and_landing import Stillness, has_touched_down
from rosflight_py_sim.autopilot.velocity_loops import LoopMemory, LoopSettings, follow_setpoint
from rosflight_py_sim.firmware import CommandMode
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import Tick
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial

ARRIVED, LANDED = 1, 2
"""Events: the vehicle is at the end of a leg whose time is over; it has touched down."""

_MODE = int(CommandMode.ROLL_PITCH_YAWRATE_THROTTLE)
_ALMOST_DONE = 0.999


@kernel_record
class LegFlight:
    """State of a mission on one of its legs.

    Attributes:
        leg: the leg.
        flies: whether the vehicle flies or is about to.
        lands: whether the leg ends at the touch-down.
        is_last: whether there is no further leg.
        start_s: time at which the leg began, s.
        nominal_s: nominal duration of the leg and the pause after it, s.
        arrival_radius: distance from the end at which the leg is over, m.
        home_down: down coordinate of the take-off point, m.
        yaw: yaw angle during the mission, rad.
        before_s: nominal duration of the legs before, s.
        total_s: nominal duration of the mission, s.
        progress: completed share of the mission.
    """

    leg: Leg
    flies: bool
    lands: bool
    is_last: bool
    start_s: float
    nominal_s: float
    arrival_radius: float
    home_down: float
    yaw: float
    before_s: float
    total_s: float
    progress: float


@kernel
def leg_event(
    flight: LegFlight, still: Stillness, time_s: float, north: float, east: float, down: float, velocity_down: float
) -> int:
    """ARRIVED or LANDED if that follows from the time (s), position (m) and velocity (m/s), else 0."""
    if flight.lands and has_touched_down(still, time_s, flight.home_down - down, velocity_down):
        return LANDED
    if flight.is_last or not time_s - flight.start_s >= flight.nominal_s:
        return 0
    leg = flight.leg
    x, y, z = north - leg.end_north, east - leg.end_east, down - leg.end_down
    return ARRIVED if math.sqrt(x * x + y * y + z * z) <= flight.arrival_radius else 0


@kernel
def leg_setpoint(flight: LegFlight, time_s: float) -> Nine:
    """Position, velocity and acceleration of the setpoint at a time (s), which advances the progress."""
    elapsed_s = time_s - flight.start_s
    done = (flight.before_s + min(elapsed_s, flight.nominal_s)) / flight.total_s
    flight.progress = max(flight.progress, min(done, _ALMOST_DONE))
    return leg_motion(flight.leg, elapsed_s)


@kernel
def guide_along_leg(
    tick: Tick,
    flight: LegFlight,
    still: Stillness,
    settings: LoopSettings,
    memory: LoopMemory,
    truth: NDArray[np.float64],
    command: NDArray[np.float64],
    target: NDArray[np.float64],
) -> bool:
    """Guide a multirotor, or return that Python must, because the phase changes or the state is not finite.

    Args:
        tick: time of the state, and the time since the last one.
        flight: state of the mission.
        still: state of the touch-down detection.
        settings: parameters of the position controller.
        memory: state of the position controller.
        truth: true state (19,).
        command: mode, bits of values to ignore, ten values.
        target: position of the setpoint (m), and yaw angle (rad).
    """
    north, east, down = truth[0], truth[1], truth[2]
    qw, qx, qy, qz = truth[3], truth[4], truth[5], truth[6]
    u, v, w = rotate_to_inertial(qw, qx, qy, qz, truth[7], truth[8], truth[9])
    for i in range(len(command)):
        command[i] = 0.0
    command[0] = _MODE
    target[3] = flight.yaw
    if not flight.flies:
        memory.north = memory.east = memory.down = memory.age_s = 0.0
        target[0], target[1], target[2] = north, east, down
        return False
    _, _, yaw = euler_from_quaternion(qw, qx, qy, qz)
    time_s = tick.time_ns / NANOSECONDS
    is_finite = math.isfinite(north + east + down + u + v + w + yaw)
    if not is_finite or leg_event(flight, still, time_s, north, east, down, w) != 0:
        return True
    to_north, to_east, to_down, u_to, v_to, w_to, ahead, right, below = leg_setpoint(flight, time_s)
    target[0], target[1], target[2] = to_north, to_east, to_down
    command[5], command[6], command[7], command[4] = follow_setpoint(
        settings,
        memory,
        north,
        east,
        down,
        u,
        v,
        w,
        yaw,
        to_north,
        to_east,
        to_down,
        u_to,
        v_to,
        w_to,
        ahead,
        right,
        below,
        flight.yaw,
        tick.dt,
    )
    return False
