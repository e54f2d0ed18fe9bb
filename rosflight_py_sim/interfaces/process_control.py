"""Requests of a node to the process that runs it, carried out between two turns of the executor."""

from __future__ import annotations


class ProcessControl:
    """One for all nodes of a process.

    Attributes:
        has_quit: whether a node has requested the end of the process.
    """

    has_quit = False

    def quit(self) -> None:
        """Request the end of the process."""
        self.has_quit = True
