"""Conversions of units at the edges; SI inside."""

from __future__ import annotations

ZERO_CELSIUS_K = 273.15
"""0 deg C, K."""
