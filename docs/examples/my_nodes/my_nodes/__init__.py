"""Nodes of your own: a balloon on a string, its dynamics with ballast, and a time manager with a breakpoint."""

from pathlib import Path

VEHICLES = Path(__file__).with_name("vehicles")
