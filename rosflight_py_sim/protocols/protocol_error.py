"""The error of all protocols."""

from __future__ import annotations


class ProtocolError(ValueError):
    """What was received or is to be sent is not of the protocol; the text says what was wrong and what is allowed."""
