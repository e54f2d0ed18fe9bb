"""A vehicle of one's own: a balloon on a string."""

from pathlib import Path

VEHICLES = Path(__file__).with_name("vehicles")
