"""Missions flown by a vehicle's autopilot."""
