"""Motion of a vehicle from its sensors, for policies: attitude from the firmware or the IMU, position from GNSS."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.firmware import FirmwareParameters, estimator
from rosflight_py_sim.ground.parameters import ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import (
    GRAVITY,
    ORIGIN_ALTITUDE,
    ORIGIN_LATITUDE,
    ORIGIN_LONGITUDE,
    WATER_DENSITY,
)
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.parts.policy import Motion
from rosflight_py_sim.physics.atmosphere import pressure
from rosflight_py_sim.physics.dynamics import INITIAL_ALTITUDE, INITIAL_HEADING, INITIAL_POSITION
from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler
from rosflight_py_sim.step.topics import AttitudeEstimate, BaroSample, GnssSample, ImuSample

SENSED_MOTION_PARAMETERS = ParameterTable(
    INITIAL_POSITION,
    INITIAL_ALTITUDE,
    INITIAL_HEADING,
    ORIGIN_LATITUDE,
    ORIGIN_LONGITUDE,
    ORIGIN_ALTITUDE,
    WATER_DENSITY,
    GRAVITY,
)


class SensedMotion:
    """Newest estimates of attitude and rates, position and velocity, from a start whose place and heading are known.

    The attitude is the firmware's, or that of the same filter fed with IMU samples. Its yaw is the integral of the yaw
    rate from `initial_heading` on. The horizontal position is `initial_position` and the way since the first GNSS fix,
    the height `initial_altitude` and the change of the pressure altitude since the first reading, and the velocity that
    of the last fix. Under water, where there is no fix, the depth is that of the pressure above that of the air at the
    origin, and the velocity stays 0.
    """

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of SENSED_MOTION_PARAMETERS; others are ignored."""
        self._heading = math.radians(number(values, INITIAL_HEADING.name))
        self._origin = [number(values, one.name) for one in (ORIGIN_LATITUDE, ORIGIN_LONGITUDE, ORIGIN_ALTITUDE)]
        self._air_pressure = pressure(self._origin[2])
        self._weight = number(values, WATER_DENSITY.name) * number(values, GRAVITY.name)
        north, east = cast("list[float]", values[INITIAL_POSITION.name])
        self._start: Vector3 = (north, east, -number(values, INITIAL_ALTITUDE.name))
        self._position = self._start
        self._first_fix: Vector3 | None = None
        self._first_altitude: float | None = None
        self._velocity: Vector3 = (0.0, 0.0, 0.0)
        self._attitude = (1.0, 0.0, 0.0, 0.0)
        self._rates: Vector3 = (0.0, 0.0, 0.0)
        self._settings = estimator.estimator_settings(FirmwareParameters())
        self._filter = estimator.new_estimator_state()
        self._start_ns = self._imu_ns = -1

    @property
    def motion(self) -> Motion:
        """The newest estimates."""
        roll, pitch, yaw = euler_from_quaternion(*self._attitude)
        attitude = quaternion_from_euler(roll, pitch, yaw + self._heading)
        return Motion(self._position, self._velocity, attitude, self._rates)

    def take_attitude(self, message: AttitudeEstimate) -> None:
        """Take an estimate of the firmware."""
        x, y, z, w = message.quaternion_xyzw
        p, q, r = message.angular_velocity
        self._attitude, self._rates = (w, x, y, z), (p, q, r)

    def take_imu(self, sample: ImuSample) -> None:
        """Advance the filter by an IMU sample."""
        time_ns = sample.time_ns
        if self._start_ns < 0:
            self._start_ns = self._imu_ns = time_ns
        accel, gyro = np.array(sample.accel, dtype=np.float64), np.array(sample.gyro, dtype=np.float64)
        since_s, dt = (time_ns - self._start_ns) / NANOSECONDS, (time_ns - self._imu_ns) / NANOSECONDS
        estimator.estimator_step(self._settings, self._filter, accel, gyro, since_s, dt)
        self._imu_ns = time_ns
        w, x, y, z = self._filter[estimator.ATTITUDE : estimator.ATTITUDE + 4].tolist()
        p, q, r = self._filter[estimator.RATE : estimator.RATE + 3].tolist()
        self._attitude, self._rates = (w, x, y, z), (p, q, r)

    def take_fix(self, fix: GnssSample) -> None:
        """Take a GNSS fix."""
        import pymap3d  # two megabytes that a policy with the true motion does not need

        fixed = fix.latitude_deg, fix.longitude_deg, fix.altitude_msl_m
        north, east, down = map(float, pymap3d.geodetic2ned(*fixed, *self._origin))
        first = self._first_fix = self._first_fix or (north, east, down)
        place = self._start[0] + north - first[0], self._start[1] + east - first[1]
        self._position = (*place, self._position[2])
        self._velocity = fix.velocity_north, fix.velocity_east, fix.velocity_down

    def take_pressure(self, sample: BaroSample) -> None:
        """Take the depth under water, or the change of height."""
        if self._weight > 0.0:
            down = (sample.pressure - self._air_pressure) / self._weight
        else:
            if self._first_altitude is None:
                self._first_altitude = sample.altitude
            down = self._start[2] + self._first_altitude - sample.altitude
        self._position = (*self._position[:2], down)
