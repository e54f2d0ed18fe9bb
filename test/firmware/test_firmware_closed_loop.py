"""The controller holds a rigid body whose rotors are implemented independently here, which checks every sign."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.firmware import CommandMode, Firmware, FirmwareParameters

DT = 0.0025
ROOT = Path(__file__).parents[2]
INERTIA = np.array([0.08, 0.08, 0.12])
ARM, LAG_S, DENSITY, VOLTAGE = 0.25, 0.03, 1.2, 23.5
SPIN = np.array([1.0, -1.0, 1.0, -1.0])
AZIMUTH = np.radians([45.0, 135.0, 225.0, 315.0])


class Quadrotor:
    """Attitude of a quadrotor in hover under its controller; angles are integrated as a rotation matrix."""

    def __init__(self, yaw: float) -> None:
        self.parameters = FirmwareParameters()
        self.parameters.load(ROOT / "config/multirotor_firmware.yaml")
        self.parameters.restore({"TAKE_MIN_THR": 1, "GYRO_X_BIAS": 1e-12})
        self.firmware = Firmware(self.parameters)
        c, s = math.cos(yaw), math.sin(yaw)
        self.rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self.rate = np.zeros(3)
        self.speed = np.zeros(4)
        self.steps = 0

    def rotor_speed(self, throttle: np.ndarray) -> np.ndarray:
        """Steady speed: torque of the motor equals that of the propeller."""
        get = self.parameters.__getitem__
        r, kv = get("MOTOR_RESISTANCE"), get("MOTOR_KV")
        drag = DENSITY * get("PROP_DIAMETER") ** 5 * get("PROP_CQ") / (4 * math.pi**2)
        driving = np.maximum(VOLTAGE * throttle - r * get("NO_LOAD_CURRENT"), 0.0)
        return (-kv + np.sqrt(kv**2 + 4 * drag * r / kv * driving)) / (2 * drag * r / kv)

    def run(self, seconds: float, command: list[float]) -> None:
        get = self.parameters.__getitem__
        k = DENSITY / (4 * math.pi**2) * get("PROP_DIAMETER") ** 4
        for _ in range(round(seconds / DT)):
            self.steps += 1
            time_us = self.steps * 2500
            armed = self.steps > 40
            self.firmware.receive_battery(VOLTAGE, 10.0)
            if self.steps % 8 == 0:
                # The throttle is raised after arming, so that the computer's throttle is the lower one.
                throttle = 2000 if self.steps > 60 else 1000
                self.firmware.receive_rc(
                    time_us, [1500, 1500, throttle, 1500, 2000 if armed else 1000, 1000, 1000, 1000]
                )
            if self.steps % 4 == 0:
                self.firmware.set_command(time_us, CommandMode.ROLL_PITCH_YAWRATE_THROTTLE, 0, command)
            self.firmware.receive_imu(time_us, self.rate, self.rotation.T @ [0.0, 0.0, -9.80665], 290.0)
            throttles = (self.firmware.step(time_us)[:4] - 1000.0) / 1000.0
            self.speed += (self.rotor_speed(throttles) - self.speed) * DT / LAG_S
            thrust = k * get("PROP_CT") * self.speed**2
            drag = k * get("PROP_DIAMETER") * get("PROP_CQ") * self.speed**2
            torque = np.array(
                [
                    -ARM * np.sin(AZIMUTH) @ thrust,
                    ARM * np.cos(AZIMUTH) @ thrust,
                    SPIN @ drag,
                ]
            )
            self.rate += (torque - np.cross(self.rate, INERTIA * self.rate)) / INERTIA * DT
            p, q, r = self.rate * DT
            turn = np.array([[1.0, -r, q], [r, 1.0, -p], [-q, p, 1.0]])
            left, _, right = np.linalg.svd(self.rotation @ turn)
            self.rotation = left @ right

    def angles(self) -> tuple[float, float]:
        roll = math.atan2(self.rotation[2, 1], self.rotation[2, 2])
        return roll, -math.asin(self.rotation[2, 0])


@pytest.mark.parametrize("yaw", [0.0, math.pi])
def test_vehicle_tracks_commanded_roll_pitch_and_yaw_rate(yaw: float) -> None:
    vehicle = Quadrotor(yaw)
    vehicle.run(1.0, [0, 0, 0.4, 0, 0, 0, 0, 0, 0, 0])
    assert vehicle.firmware.status.armed
    assert vehicle.firmware.status.rc_override == 0
    assert vehicle.angles() == pytest.approx((0.0, 0.0), abs=1e-3)
    vehicle.run(1.5, [0, 0, 0.4, 0.2, -0.1, 0, 0, 0, 0, 0])
    # The remaining error is overshoot that the angle integrators have not yet unwound.
    assert vehicle.angles() == pytest.approx((0.2, -0.1), abs=0.015)
    vehicle.run(1.5, [0, 0, 0.4, 0.0, 0.0, 0.3, 0, 0, 0, 0])
    assert vehicle.angles() == pytest.approx((0.0, 0.0), abs=0.015)
    assert vehicle.rate[2] == pytest.approx(0.3, abs=0.02)
