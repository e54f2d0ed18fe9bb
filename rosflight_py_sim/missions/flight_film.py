"""Film of the missions that `fly` flies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from rosflight_py_sim.camera import NoPandaError
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.vehicle_physics import physics_of_sources
from rosflight_py_sim.recording.state_log import StateLog
from rosflight_py_sim.viewer.appearance import Appearance, appearance
from rosflight_py_sim.viewer.film import NoFilmError, check_film, write_film
from rosflight_py_sim.viewer.film_scene import FilmedVehicle
from rosflight_py_sim.world import DRY_LAND, WORLD, World, world_of


class FlightFilm:
    """Film of a flight, drawn at its end: shapes and world are taken from the graph, motions from the judges' logs."""

    def __init__(self, path: Path) -> None:
        """Check that the film can be made.

        Raises:
            ParameterError: it cannot.
        """
        try:
            check_film(path)
        except NoFilmError as error:
            raise ParameterError(f"--gif: {error}") from error
        self._path = path
        self._shapes: list[Appearance] = []
        self._world: World

    def load(self, graph: ComposedGraph, members: Sequence[Member], namespace: str) -> None:
        """Take the shapes of vehicles, and the world, from the graph in a namespace."""
        values = (node.values for node in graph.nodes if isinstance(node, SimulationNode))
        self._world = next((world_of(one) for one in values if WORLD.name in one), DRY_LAND)
        self._shapes = [_shape(graph, member, namespace) for member in members]

    def write(self, logs: Sequence[StateLog], console: Console) -> bool:
        """Write the film and print its name; return False, after a line on stderr, if impossible."""
        vehicles = [FilmedVehicle(shape, log) for shape, log in zip(self._shapes, logs, strict=True)]
        try:
            write_film(self._path, vehicles, self._world)
        except (OSError, NoPandaError, NoFilmError) as error:
            print(f"rosflight_py_sim: the film '{self._path}' cannot be written: {error}", file=sys.stderr)
            return False
        console.print(f"film: {self._path.resolve()}", highlight=False, soft_wrap=True)
        return True


def _shape(graph: ComposedGraph, member: Member, namespace: str) -> Appearance:
    shape = member.vehicle.appearance
    sources = graph.node_of("dynamics", member.namespace).sources
    return appearance(shape, physics_of_sources(sources, shape, namespace, member.namespace))
