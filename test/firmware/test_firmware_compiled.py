"""Compiled and plain kernels give the same flight."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.kernels import jit

ROOT = Path(__file__).parents[2]

FLIGHT = """
import json
import numpy as np
from rosflight_py_sim.kernels import jit
from rosflight_py_sim.firmware import Firmware, FirmwareParameters

generator = np.random.default_rng(7)
parameters = FirmwareParameters()
parameters.load("config/multirotor_firmware.yaml")
parameters.restore({"ACC_X_BIAS": 0.01, "PID_ROLL_RATE_I": 0.2, "PID_ROLL_RATE_D": 0.01, "TAKE_MIN_THR": 1,
                    "IMU_YAW": 30.0})
firmware = Firmware(parameters)
firmware.receive_battery(23.0, 1.0)
pwm, attitude = [], []
for k in range(1, 401):
    t = 2500 * k
    if k % 8 == 0:
        throttle = 1000 if k < 40 else 1500
        firmware.receive_rc(t, [1500, 1450, throttle, 1600, 2000 if k > 20 else 1000, 1000, 1000, 1000])
    if k % 4 == 0 and k > 100:
        firmware.set_command(t, 1 + k // 40 % 2, 0, [0, 0, 0.4, 0.1, -0.1, 0.2, 0, 0, 0, 0])
        firmware.receive_baro(90000.0 + k, 285.0)
    if k % 50 == 0:
        firmware.set_external_attitude([0.99, 0.05, 0.02, 0.1])
    firmware.receive_imu(t, generator.normal([0.1, 0.0, 0.2], 0.1), generator.normal([0.1, 0.2, -9.8], 0.2), 290.0)
    pwm.append(firmware.step(t).tolist())
    attitude.append(firmware.attitude.tolist())
print(json.dumps({"compiled": jit.COMPILED, "armed": firmware.status.armed, "pwm": pwm, "attitude": attitude}))
"""


@pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled here")
def test_compiled_flight_equals_plain_python_flight() -> None:
    flights = []
    for plain in ("0", "1"):
        environment = {**os.environ, "ROSFLIGHT_PY_SIM_NO_JIT": plain}
        done = subprocess.run(
            [sys.executable, "-c", FLIGHT],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=100,
        )
        flights.append(json.loads(done.stdout))
    compiled, plain_flight = flights
    assert (compiled["compiled"], plain_flight["compiled"]) == (True, False)
    assert compiled["armed"]
    assert np.ptp(compiled["pwm"], axis=0)[:4].min() > 10.0
    # Rounding of the last bit in sums that the compiler reorders.
    np.testing.assert_allclose(compiled["pwm"], plain_flight["pwm"], rtol=1e-12, atol=0)
    np.testing.assert_allclose(compiled["attitude"], plain_flight["attitude"], rtol=0, atol=1e-12)
