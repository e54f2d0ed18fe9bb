"""Base class of protocol errors."""

from __future__ import annotations


class ProtocolError(ValueError):
    """Message that violates its protocol; the text names the value given and the values allowed."""
