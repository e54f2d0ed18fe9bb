"""Topic from the browser viewer's page to the transmitter."""

from __future__ import annotations

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Joy

from rosflight_py_sim.step.topics import StepTopic

PILOT = StepTopic[Joy]("rc/pilot", Joy, QoSProfile(depth=20, reliability=ReliabilityPolicy.RELIABLE))
"""Sticks and buttons of the page's pilot, as `transmitter.page.StickReport`: `frame_id` names the device.

The queue keeps every report, because a report that is lost may hold the press of a switch."""
