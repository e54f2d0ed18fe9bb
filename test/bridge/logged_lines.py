"""Logger of a front-end under test."""

from __future__ import annotations


class LoggedLines:
    """A logger that stores all lines."""

    def __init__(self) -> None:
        self.infos: list[str] = []
        self.warnings: list[str] = []

    def info(self, message: str) -> None:
        self.infos.append(message)

    def warning(self, message: str) -> None:
        self.warnings.append(message)
