"""Requests of a node to the process that runs it, carried out between two turns of the executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.vehicles import Vehicle


class PoseError(ParameterError):
    """Error for a pose that the dynamics of a vehicle refuse."""


class Simulation(Protocol):
    """The whole simulation, and the changes that its process can make while it runs.

    Attributes:
        can_restart: whether time can be set back.
    """

    can_restart: bool

    def restart(self, *, paused: bool, entirely: bool) -> None:
        """Start again at time 0, `entirely` with the initial vehicles, otherwise with the present ones."""

    def load_world(self, world: str) -> None:
        """Start again in another world, without vehicles and paused; later restarts return to this world.

        Args:
            world: value of the parameter `world`.
        """

    def spawn(self, vehicle: Vehicle, namespace: str, truth: NDArray[np.float64], world: str) -> None:
        """Add a vehicle.

        Args:
            vehicle: the vehicle.
            namespace: namespace of its nodes, relative to the simulation's; no other vehicle has it.
            truth: (19,) truth vector of its start.
            world: value of the parameter `world`.

        Raises:
            PoseError: its dynamics refuse the start.
            ParameterError: a node refuses its parameters.
        """

    def delete(self, namespace: str) -> None:
        """Remove the vehicle with this namespace.

        Raises:
            ParameterError: a node that serves several vehicles serves it.
        """


class ProcessControl:
    """One for all nodes of a process.

    Attributes:
        has_quit: whether a node has requested the end of the process.
        simulation: the simulation; None if the process does not run all of it, or if it must not change.
        is_spawning: whether the nodes of a vehicle are being created that will take its first step later.
        error: why the last request was refused; None if it was carried out.
    """

    def __init__(self, simulation: Simulation | None = None) -> None:
        """Control a process."""
        self.has_quit = self.is_spawning = False
        self.simulation = simulation
        self.error: ParameterError | None = None
        self._act: Callable[[], None] | None = None

    def quit(self) -> None:
        """Request the end of the process."""
        self.has_quit = True

    def request(self, act: Callable[[], None]) -> None:
        """Request a call of a method of `simulation`; the requesting node remains."""
        assert self._act is None
        self._act, self.error = act, None

    @property
    def has_request(self) -> bool:
        """Whether a request has yet to be carried out."""
        return self._act is not None

    def carry_out(self) -> None:
        """Carry out the request."""
        assert self._act is not None
        try:
            self._act()
        except ParameterError as error:
            self.error = error
        self._act = None
