"""The entities of the standard services, by name: the initial ones and the spawned ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rosflight_py_sim.nodes.entity import Entity


class Entities(Mapping[str, Entity]):
    """The present entities by name, in the order of their arrival."""

    def __init__(
        self, host: Callable[[Entity, str], Entity], unhost: Callable[[Entity], None], start: list[Entity]
    ) -> None:
        """Connect the initial entities.

        Args:
            host: connects an entity in a namespace.
            unhost: disconnects an entity.
            start: the initial entities.
        """
        self._host, self._unhost, self._start = host, unhost, start
        self._present: dict[str, Entity] = {}
        for entity in start:
            self.add(entity)

    def __getitem__(self, name: str) -> Entity:
        """The entity with this name."""
        return self._present[name]

    def __iter__(self) -> Iterator[str]:
        """Names of the entities."""
        return iter(self._present)

    def __len__(self) -> int:
        """Number of entities."""
        return len(self._present)

    @property
    def spawned(self) -> list[Entity]:
        """The spawned entities."""
        return [one for one in self._present.values() if one not in self._start]

    def add(self, entity: Entity) -> None:
        """Connect another entity."""
        entity.truth, entity.description = None, entity.initial
        self._present[entity.name] = entity
        self._host(entity, entity.namespace)

    def remove(self, entity: Entity) -> None:
        """Disconnect an entity."""
        del self._present[entity.name]
        self._unhost(entity)

    def leave(self) -> None:
        """Remove all entities; from now on, there are no initial ones."""
        self._start = []
        self.restart(entirely=True)

    def restart(self, *, entirely: bool) -> None:
        """Discard all states and descriptions; with `entirely`, return to the initial entities."""
        if entirely:
            for entity in list(self._present.values()):
                if entity not in self._start:
                    self.remove(entity)
            for entity in self._start:
                if entity.name not in self._present:
                    self.add(entity)
            self._present = {one.name: one for one in self._start}
        for entity in self._present.values():
            entity.truth, entity.description = None, entity.initial
