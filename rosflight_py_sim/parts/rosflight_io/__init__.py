"""ROS interface of the flight controller, as in ROSflight's rosflight_io."""
