"""Failures of parts, sensors, links and air: the language that describes them, and their effects in simulated time."""
