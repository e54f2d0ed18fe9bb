"""A flight simulator that is a ROS 2 node graph."""

__version__ = "0.1.0"
