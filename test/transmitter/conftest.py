"""Fixtures for tests of transmitters: a log that stores its lines."""

from __future__ import annotations

import pytest


class RecordingLog:
    """Stores a transmitter's messages to the pilot."""

    def __init__(self) -> None:
        self.infos: list[str] = []
        self.warnings: list[str] = []

    def info(self, message: str) -> None:
        self.infos.append(message)

    def warning(self, message: str) -> None:
        self.warnings.append(message)


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()
