"""Lines of sweep files that keep flights short, and the flight of a run."""

from __future__ import annotations

from rosflight_py_sim.sweep.definition import Row, Sweep, run_of
from rosflight_py_sim.sweep.fly_run import fly_run

# A firmware that knows the biases of its IMU at switch-on: the pilot need not calibrate, which takes 1,001 steps.
SMALL_BIASES = "  acc_bias_range: 0.0\n  gyro_bias_range: 0.0"
CALIBRATED = "FILT_INIT_T: 0, GYRO_X_BIAS: 0.003, GYRO_Y_BIAS: -0.002, GYRO_Z_BIAS: 0.001"

# A square of a few seconds.
SQUARE = """\
  square_side: 0.5
  square_height: 1.0
  square_acceleration: 4.0
  corner_pause: 0.0
  landing_height: 0.5
  landing_speed: 0.8"""


def flown_directly(sweep: Sweep, number: int = 0) -> Row:
    """Fly a run without ROS."""
    return fly_run(sweep, run_of(sweep, number))
