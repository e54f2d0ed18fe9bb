"""The ROS side of the flight controller, as in ROSflight's rosflight_io: sensors in, status and parameters out."""
