"""Loops of the position controller as kernels; `PositionController` explains the formulas and names the sources."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot import loops
from rosflight_py_sim.kernels.hypot import hypot
from rosflight_py_sim.kernels.jit import kernel, kernel_part
from rosflight_py_sim.kernels.record import kernel_record

within, wrap_angle = kernel_part(loops.within), kernel_part(loops.wrap_angle)


@kernel_record
class LoopSettings:
    """Parameters of the loops, see POSITION_CONTROLLER_PARAMETERS; `..._down` are those of the vertical loop.

    Attributes:
        throttle_per_acceleration: mass over largest thrust (s^2/m).
        least: smallest thrust over mass (m/s^2).
        most: largest thrust over mass (m/s^2).
        yaw_gain: yaw rate per yaw error (1/s).
    """

    gravity: float
    throttle_per_acceleration: float
    least: float
    most: float
    max_tilt: float
    max_speed: float
    max_climb_speed: float
    max_descent_speed: float
    max_acceleration: float
    max_integral: float
    spool_up_time: float
    position_gain: float
    velocity_gain: float
    integral_gain: float
    position_gain_down: float
    velocity_gain_down: float
    integral_gain_down: float
    max_yaw_rate: float
    yaw_gain: float


@kernel_record
class LoopMemory:
    """State of the loops: acceleration from each integrator (NED, m/s^2), and time since the take-off began (s)."""

    north: float
    east: float
    down: float
    age_s: float


@kernel
def within_circle(x: float, y: float, radius: float) -> tuple[float, float]:
    """The vector (x, y), shortened to `radius`."""
    length = hypot(x, y)
    if length <= radius:
        return x, y
    return x * radius / length, y * radius / length


@kernel
def limited_velocity(settings: LoopSettings, north: float, east: float, down: float) -> tuple[float, float, float]:
    """Velocity (m/s) limited in speed, climb and descent."""
    north, east = within_circle(north, east, settings.max_speed)
    return north, east, min(max(down, -settings.max_climb_speed), settings.max_descent_speed)


@kernel
def approach_velocity(
    settings: LoopSettings,
    north: float,
    east: float,
    down: float,
    reference_north: float,
    reference_east: float,
    reference_down: float,
) -> tuple[float, float, float]:
    """Velocity (m/s) towards a point at (north, east, down), m, that moves at the reference velocity (m/s).

    The speed per distance is the position gain nearby; farther away braking at half the acceleration limits it.
    """
    distance = hypot(north, east)
    rate, braking = settings.position_gain, 0.5 * settings.max_acceleration
    if not rate * rate * distance <= braking:
        rate = math.sqrt(braking * (2.0 * distance - braking / (rate * rate))) / distance
    return limited_velocity(
        settings,
        reference_north + rate * north,
        reference_east + rate * east,
        reference_down + settings.position_gain_down * down,
    )


@kernel
def turn_rate(settings: LoopSettings, error: float) -> float:
    """Yaw rate (rad/s) that reduces a yaw error (rad)."""
    return within(settings.yaw_gain * error, settings.max_yaw_rate)


@kernel
def attitude_and_throttle(
    settings: LoopSettings,
    memory: LoopMemory,
    velocity_north: float,
    velocity_east: float,
    velocity_down: float,
    yaw: float,
    target_north: float,
    target_east: float,
    target_down: float,
    forward_north: float,
    forward_east: float,
    forward_down: float,
    given_roll: float,
    given_pitch: float,
    given_throttle: float,
    dt: float,
) -> tuple[float, float, float]:
    """Roll (rad), pitch (rad) and throttle for the next `dt` seconds, which advance the integrators in `memory`.

    They lead from a velocity (NED, m/s) to the target velocity, with a feed-forward acceleration (NED, m/s^2), at a yaw
    angle (rad). Given are roll (rad), pitch (rad) and throttle (0 to 1) from outside: not a number where the loops
    determine them.
    """
    gain, gain_down = settings.velocity_gain, settings.velocity_gain_down
    target_north, target_east, target_down = limited_velocity(settings, target_north, target_east, target_down)
    error_north, error_east = target_north - velocity_north, target_east - velocity_east
    error_down = target_down - velocity_down
    asked_north = forward_north + gain * error_north + memory.north
    asked_east = forward_east + gain * error_east + memory.east
    asked_down = forward_down + gain_down * error_down + memory.down

    memory.age_s += dt
    ceiling = 1.0
    if settings.spool_up_time > 0.0:
        ceiling = min(memory.age_s / settings.spool_up_time, 1.0)
    # Vertical thrust, or the whole thrust if a throttle is given, and thrust available for horizontal acceleration.
    is_given = not math.isnan(given_throttle)
    if is_given:
        lift = max(given_throttle / settings.throttle_per_acceleration, settings.least)
        room = min(settings.max_acceleration, lift * math.sin(settings.max_tilt))
    else:
        lift = min(max(settings.gravity - asked_down, settings.least), settings.most)
        left = math.sqrt(max(settings.most * settings.most - lift * lift, 0.0))
        room = min(min(settings.max_acceleration, lift * math.tan(settings.max_tilt)), left)
    if ceiling < settings.gravity * settings.throttle_per_acceleration:
        # The vehicle cannot have left the ground, and tilting would only press a foot into it.
        room = 0.0
    north, east = within_circle(asked_north, asked_east, room)
    thrust = lift
    if is_given:
        lift = math.sqrt(lift * lift - north * north - east * east)

    cosine, sine = math.cos(yaw), math.sin(yaw)
    ahead, right = cosine * north + sine * east, -sine * north + cosine * east
    pitch = math.atan2(-ahead, lift) if math.isnan(given_pitch) else within(given_pitch, settings.max_tilt)
    roll = math.atan2(right * math.cos(pitch), lift)
    if not math.isnan(given_roll):
        roll = within(given_roll, settings.max_tilt)
    upright = math.cos(pitch) * math.cos(roll)
    if not is_given:
        thrust = min(lift / upright, settings.most)

    # Achievable acceleration instead of the commanded one.
    ahead, right = -thrust * math.cos(roll) * math.sin(pitch), thrust * math.sin(roll)
    north, east = cosine * ahead - sine * right, sine * ahead + cosine * right
    cut_north, cut_east = north - asked_north, east - asked_east
    cut_down = settings.gravity - thrust * upright - asked_down
    back_north = cut_north / gain if gain > 0.0 else 0.0
    back_east = cut_east / gain if gain > 0.0 else 0.0
    back_down = cut_down / gain_down if gain_down > 0.0 else 0.0
    most = settings.max_integral
    memory.north = within(memory.north + settings.integral_gain * (error_north + back_north) * dt, most)
    memory.east = within(memory.east + settings.integral_gain * (error_east + back_east) * dt, most)
    memory.down = within(memory.down + settings.integral_gain_down * (error_down + back_down) * dt, most)
    return roll, pitch, min(thrust * settings.throttle_per_acceleration, ceiling)


@kernel
def follow_setpoint(
    settings: LoopSettings,
    memory: LoopMemory,
    north: float,
    east: float,
    down: float,
    velocity_north: float,
    velocity_east: float,
    velocity_down: float,
    yaw: float,
    target_north: float,
    target_east: float,
    target_down: float,
    reference_north: float,
    reference_east: float,
    reference_down: float,
    forward_north: float,
    forward_east: float,
    forward_down: float,
    target_yaw: float,
    dt: float,
) -> tuple[float, float, float, float]:
    """Roll (rad), pitch (rad), yaw rate (rad/s) and throttle for the next `dt` seconds.

    They lead from a position (m), velocity (m/s) and yaw angle (rad) to a setpoint with position (m), velocity (m/s),
    acceleration (m/s^2) and yaw angle (rad), all NED.
    """
    wanted_north, wanted_east, wanted_down = approach_velocity(
        settings,
        target_north - north,
        target_east - east,
        target_down - down,
        reference_north,
        reference_east,
        reference_down,
    )
    turn = turn_rate(settings, wrap_angle(target_yaw - yaw))
    roll, pitch, throttle = attitude_and_throttle(
        settings,
        memory,
        velocity_north,
        velocity_east,
        velocity_down,
        yaw,
        wanted_north,
        wanted_east,
        wanted_down,
        forward_north,
        forward_east,
        forward_down,
        math.nan,
        math.nan,
        math.nan,
        dt,
    )
    return roll, pitch, turn, throttle
