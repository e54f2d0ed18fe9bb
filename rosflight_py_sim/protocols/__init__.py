"""Codecs for other simulators' protocols, between bytes and dataclasses, without ROS and sockets."""

from __future__ import annotations


class ProtocolError(ValueError):
    """Message that violates its protocol; the text names the value given and the values allowed."""
