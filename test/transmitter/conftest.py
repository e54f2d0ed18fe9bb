"""What tests of transmitters share: a log that is kept."""

from __future__ import annotations

import pytest


class RecordingLog:
    """Keeps what a transmitter tells the pilot."""

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
