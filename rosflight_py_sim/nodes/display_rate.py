"""Rate at which a display shows a fleet."""

from __future__ import annotations

STATES_HZ = 1000
"""Largest number of vehicle states that are sent to or shown by a display, per second of system time."""


def display_rate(rate_hz: float, vehicles: int) -> float:
    """Updates per second for a number of vehicles, at most `rate_hz`."""
    return min(rate_hz, STATES_HZ / vehicles)
