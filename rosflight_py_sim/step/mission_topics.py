"""Topics of a mission flown by `fly`, in addition to those of the graph."""

from __future__ import annotations

from std_msgs.msg import String

from rosflight_py_sim.step.qos import LATCHED, LATCHED_LOG
from rosflight_py_sim.step.topics import StepTopic

MISSION_SETTINGS = StepTopic[String]("mission/settings", String, LATCHED)
"""Settings of the mission (`MissionSettings`), as JSON."""

MISSION_LOG = StepTopic[String]("mission/log", String, LATCHED_LOG)
"""Lines that a mission's client program prints."""

MISSION_END = StepTopic[String]("mission/end", String, LATCHED)
"""End of the mission: the reason if the mission was aborted, otherwise empty."""

MISSION_VERDICT = StepTopic[String]("mission/verdict", String, LATCHED)
"""Verdicts, tables and plot of the missions that `fly --view` has flown (`FlightResult`), as JSON."""
