"""Missions that a vehicle's autopilot flies."""
