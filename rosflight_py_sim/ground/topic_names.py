"""Topic names for modules without ROS, and for topics that are not in the table `step.topics`.

The table takes these names from here; code that may import ROS uses rows of the table. Names are relative to the
vehicle's namespace. This module imports no ROS.
"""

from __future__ import annotations

CLOCK = "/clock"

TRUTH_STATE = "sim/truth_state"
TRUTH_WIND = "sim/truth_wind"
TRUTH_WIND_RATES = "sim/truth_wind_rates"
TRUTH_IMU_BIAS = "sim/truth_imu_bias"
TRUTH_BATTERY = "sim/truth_battery"
FORCES_AND_MOMENTS = "sim/forces_and_moments"
PWM_OUTPUT = "sim/pwm_output"
IMU = "sim/sensors/imu/data"
RANGE = "sim/sensors/range"

STATUS = "status"
ATTITUDE_EULER = "attitude/euler"
EXTERNAL_ATTITUDE = "external_attitude"
CORRECTED_AIRSPEED = "airspeed"
CORRECTED_BARO = "baro"
CORRECTED_BATTERY = "battery"

SETPOINT = "autopilot/setpoint"
AUTOPILOT_PHASE = "autopilot/phase"
AUTOPILOT_PATH = "autopilot/path"
AUTOPILOT_ROUTE = "autopilot/route"
AUTOPILOT_PROGRESS = "autopilot/progress"

GUIDED_MODE = "guided/mode"
CAGE_TRIGGERED = "guided/cage_triggered"
CAGE_TRIGGERED_LAST = "guided/cage_triggered_last"

ACTIVE_FAILURES = "sim/failures"

CAMERAS = "camera"


def absolute_name(*parts: str) -> str:
    """Absolute name of which the parts are successive namespaces or names: `/fleet/copter`; `/` without any."""
    return "/" + "/".join(filter(None, (part.strip("/") for part in parts)))


def camera_image(camera: str) -> str:
    """Topic of a camera's images."""
    return f"{CAMERAS}/{camera}/image_raw"


def compressed_image(camera: str) -> str:
    """Topic of a camera's compressed images."""
    return f"{camera_image(camera)}/compressed"


def camera_pose(camera: str) -> str:
    """Topic of a camera's pose on the vehicle (geometry_msgs/PoseStamped)."""
    return f"{CAMERAS}/{camera}/pose"


def camera_info(camera: str) -> str:
    """Topic of a camera's projection (sensor_msgs/CameraInfo)."""
    return f"{CAMERAS}/{camera}/camera_info"
