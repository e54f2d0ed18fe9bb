"""The time modes of a simulation. This module imports no ROS."""

TIME_MODES = ("wall", "paced", "gated", "lockstep")
