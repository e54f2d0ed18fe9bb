"""Compiled kernels and plain Python give the same readings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.kernels.jit import COMPILED
from rosflight_py_sim.sensing import (
    SENSOR_PARAMETERS,
    Barometer,
    BatteryMonitor,
    GnssReceiver,
    InertialSensor,
    Magnetometer,
    PitotTube,
    RangeFinder,
    Thermometer,
)


def all_readings():
    """1100 steps of every sensor along a turning path in and over a pool (more than one block of random numbers)."""
    values = SENSOR_PARAMETERS.checked({"world": "pool", "gnss_outage_interval": 0.3, "gnss_multipath_interval": 0.3})
    rng = np.random.default_rng(11)
    kinds = (InertialSensor, Thermometer, Magnetometer, Barometer, GnssReceiver, RangeFinder, PitotTube, BatteryMonitor)
    inertial, thermometer, magnetometer, barometer, gnss, ranger, pitot, battery = (k(values, rng) for k in kinds)
    wind, rotors = np.array([1.0, -2.0, 0.3]), np.array([300.0, 0.0, 420.0])
    readings = []
    for step in range(1100):
        truth = rng.standard_normal(19)
        truth[2] *= 6.0
        truth[3] += 3.0
        truth[3:7] /= np.linalg.norm(truth[3:7])
        truth[7] += 15.0
        dt = 0.002 + 0.001 * (step % 3)
        inertial.sample(truth, dt, step % 2 == 0, rotors + step, thermometer.temperature_k)
        barometer.sample(truth, wind, 3.0, dt)
        gnss.sample(truth, dt)
        pitot.sample(truth, wind, dt)
        battery.sample(22.0, 3.0, dt)
        readings += [*inertial.accel, *inertial.gyro, *inertial.accel_bias, *inertial.gyro_bias]
        readings += [thermometer.sample(truth, dt), *(1e6 * magnetometer.sample(truth, dt))]
        readings += [barometer.pressure_pa, barometer.temperature_k, barometer.altitude_m]
        readings += [gnss.latitude_deg, gnss.longitude_deg, gnss.altitude_msl_m, *gnss.velocity_ned]
        readings += [ranger.sample(truth, dt), pitot.differential_pressure_pa, pitot.airspeed_mps]
        readings += [battery.voltage, battery.current]
    return [float(reading) for reading in readings]


@pytest.mark.skipif(not COMPILED, reason="kernels are plain already")
def test_plain_python_readings_equal_compiled_readings():
    program = "import json, test_sensing_plain as t; assert not t.COMPILED; print(json.dumps(t.all_readings()))"
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "ROSFLIGHT_PY_SIM_NO_JIT": "1", "PYTHONPATH": path}
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    plain, compiled = np.array(json.loads(result.stdout)), np.array(all_readings())
    assert np.isinf(plain).any(), "no reading out of range: the range finder was not exercised"
    # Altitudes are differences of 6e6 m, which are rounded to 1e-9 m.
    np.testing.assert_allclose(compiled, plain, rtol=4e-12, atol=1e-12)
