"""The error of all protocols."""

from __future__ import annotations


class ProtocolError(ValueError):
    """Message that violates its protocol; the text names what was wrong and what is allowed."""
