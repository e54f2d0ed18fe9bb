"""Requests of a node to the process that runs it, carried out between two turns of the executor."""

from __future__ import annotations

from collections.abc import Callable


class ProcessControl:
    """One for all nodes of a process.

    Attributes:
        has_quit: whether a node has requested the end of the process.
        restart: starts the simulation again at time 0; its argument is whether it is paused then. None if the process
            does not run the whole simulation.
    """

    def __init__(self, restart: Callable[[bool], None] | None = None) -> None:
        """Control a process; `restart` as of the class."""
        self.has_quit = False
        self.restart = restart
        self._paused: bool | None = None

    def quit(self) -> None:
        """Request the end of the process."""
        self.has_quit = True

    def request_restart(self, paused: bool) -> None:
        """Request a restart of the simulation; the requesting node stays."""
        assert self.restart is not None
        self._paused = paused

    @property
    def is_restarting(self) -> bool:
        """Whether a requested restart has yet to be carried out."""
        return self._paused is not None

    def carry_out(self) -> None:
        """Carry out the requested restart."""
        assert self.restart is not None
        assert self._paused is not None
        self.restart(self._paused)
        self._paused = None
