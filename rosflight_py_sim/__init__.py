"""A flight simulator that is a ROS 2 node graph."""

__version__ = "1.0.0"
