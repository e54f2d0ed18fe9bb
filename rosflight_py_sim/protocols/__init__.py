"""Codecs of other simulators' protocols between bytes and dataclasses, without ROS and sockets."""
