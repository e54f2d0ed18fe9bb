"""Failures of actuators, sensors and links, and wind fronts: their language and their effects in simulated time."""
