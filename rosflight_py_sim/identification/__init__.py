"""Identification of vehicles from flight logs, and comparison of the simulation with flights."""
