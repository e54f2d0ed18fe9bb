"""A flight controller on the bench: level and at rest, with a transmitter, fed at 400 Hz."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rosflight_py_sim.firmware import REPAIRED, Firmware, FirmwareParameters, Quirks, Severity

STEP_US = 2500
LEVEL = (0.0, 0.0, -9.80665)
STILL = (0.0, 0.0, 0.0)


class Bench:
    """Steps a controller; `rc` is sent every eighth step unless it is None."""

    def __init__(
        self,
        quirks: Quirks = REPAIRED,
        *,
        offboard_without_rc: bool = False,
        link_latency_us: int = 0,
        **parameters: float,
    ) -> None:
        self.parameters = FirmwareParameters(unlimited_numbers=quirks.unlimited_numbers)
        # A calibrated quadrotor whose switches are 4 arm and 5 override.
        self.parameters.restore(
            {
                "PRIMARY_MIXER": 2,
                "FAILSAFE_THR": 0.3,
                "GYRO_X_BIAS": 1e-12,
                "RC_ARM_CHN": 4,
                "RC_ATT_OVRD_CHN": 5,
                "RC_THR_OVRD_CHN": 5,
                "RC_NUM_CHN": 8,
                "RC_OVRD_LAG_T": 1000,
            }
        )
        self.parameters.restore(parameters)
        self.log_lines: list[tuple[Severity, str]] = []
        self.firmware = Firmware(
            self.parameters,
            lambda severity, text: self.log_lines.append((severity, text)),
            quirks,
            offboard_without_rc,
            link_latency_us,
        )
        self.time_us = 0
        self.rc: list[int] | None = [1500, 1500, 1000, 1500, 1000, 1000, 1000, 1000]
        self.accel: Sequence[float] = LEVEL
        self.gyro: Sequence[float] = STILL
        self.command: tuple[int, int, Sequence[float]] | None = None
        self._count = 0

    def run(self, seconds: float) -> NDArray[np.float64]:
        """Run for some time, and return the last pulse widths."""
        pwm = np.zeros(14)
        for _ in range(round(seconds * 1e6 / STEP_US)):
            self.time_us += STEP_US
            if self.rc is not None and self._count % 8 == 0:
                self.firmware.receive_rc(self.time_us, self.rc)
            if self.command is not None and self._count % 4 == 0:
                mode, ignore, values = self.command
                self.firmware.set_command(self.time_us, mode, ignore, values)
            self._count += 1
            self.firmware.receive_imu(self.time_us, self.gyro, self.accel, 290.0)
            pwm = self.firmware.step(self.time_us)
        return pwm.copy()

    def sticks(self, roll: float = 0.0, pitch: float = 0.0, throttle: float = 0.0, yaw: float = 0.0) -> None:
        """Move the sticks: -1..1, throttle 0..1."""
        assert self.rc is not None
        self.rc[:4] = [
            round(1500 + 500 * roll),
            round(1500 + 500 * pitch),
            round(1000 + 1000 * throttle),
            round(1500 + 500 * yaw),
        ]

    def switch(self, channel: int, on: bool) -> None:
        """Flip a switch."""
        assert self.rc is not None
        self.rc[channel] = 2000 if on else 1000

    def arm(self) -> None:
        """Arm by the switch, at rest."""
        self.run(0.1)
        self.switch(4, True)
        self.run(0.05)
        assert self.firmware.state_machine.armed, self.log_lines

    def logged(self, text: str) -> bool:
        """Whether a log line contains the text."""
        return any(text in line for _, line in self.log_lines)


@pytest.fixture
def make_bench() -> type[Bench]:
    return Bench
