"""Codecs for other simulators' protocols, between bytes and dataclasses, without ROS and sockets."""
