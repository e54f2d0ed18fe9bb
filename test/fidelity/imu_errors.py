"""Parameters that switch off the errors of IMU and magnetometer other than noise, biases and their warm-up."""

from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.sensing import SENSOR_PARAMETERS

_ENDINGS = ("_scale_range", "_cross_axis_range", "_sensitivity_range", "_misalignment_range", "_temperature_range")

IDEAL_IMU: dict[str, Value] = {
    **{name: 0.0 for name in SENSOR_PARAMETERS.defaults() if name.endswith(_ENDINGS)},
    **dict.fromkeys(("gyro_range", "gyro_resolution", "acc_range", "acc_resolution"), 0.0),
    **dict.fromkeys(("vibration_displacement", "vibration_angle"), 0.0),
    "imu_position": [0.0, 0.0, 0.0],
}

IDEAL_MAGNETOMETER: dict[str, Value] = {
    **dict.fromkeys(("mag_soft_iron_range", "mag_range", "mag_resolution"), 0.0),
    "mag_current_field": [0.0, 0.0, 0.0],
}
