"""Who wants to be told what, how often, in simulated time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rosflight_py_sim.stamps import NANOSECONDS

MOST_CLIENTS = 64
MOST_SUBSCRIPTIONS = 256
"""Of one client."""
SHORTEST_INTERVAL = 0.02
"""Shorter intervals, s, become this one."""


@dataclass
class _Rhythm:
    """How often something is to be told, and when next; on a grid that all with the same interval share."""

    interval_ns: int
    next_ns: int = 0

    def is_due(self, time_ns: int) -> bool:
        """True once per interval; what was missed is skipped, and a time before the last one counts anew."""
        if time_ns < self.next_ns <= time_ns + self.interval_ns:
            return False
        self.next_ns = (time_ns // self.interval_ns + 1) * self.interval_ns
        return True


@dataclass
class _Client:
    """Whoever is at an address: number of each vehicle to the variables of it that are to be told."""

    paused: bool = False
    told: dict[int, dict[str, _Rhythm]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.told.values()))


class Subscriptions:
    """The clients, by their addresses, and the variables of the vehicles that each of them wants to be told."""

    def __init__(self) -> None:
        """Nobody yet."""
        self._clients: dict[str, _Client] = {}
        # Vehicle to the times between which nothing of it is due, so that most looks cost nothing.
        self._quiet_ns: dict[int, tuple[int, int]] = {}

    @property
    def addresses(self) -> list[str]:
        """Of all clients, whoever spoke last at the end."""
        return list(self._clients)

    def heard(self, address: str) -> bool:
        """Somebody has spoken; whether it is served. One more than can be takes the place of one who wants nothing."""
        client = self._clients.pop(address, None)
        if client is None:
            if len(self._clients) >= MOST_CLIENTS:
                idle = next((one for one, other in self._clients.items() if not other), None)
                if idle is None:
                    return False
                del self._clients[idle]
            client = _Client()
        self._clients[address] = client
        return True

    def add(self, address: str, vehicle: int, variable: str, interval: float) -> bool:
        """Tell a client a variable now and then every `interval` s; False: it is told too much already."""
        client = self._clients[address]
        told = client.told.setdefault(vehicle, {})
        if variable not in told and len(client) >= MOST_SUBSCRIPTIONS:
            return False
        told[variable] = _Rhythm(round(max(interval, SHORTEST_INTERVAL) * NANOSECONDS))
        self._quiet_ns.clear()
        return True

    def remove(self, address: str, vehicle: int, variable: str) -> bool:
        """Tell a client this no more; whether it was told."""
        return self._clients[address].told.get(vehicle, {}).pop(variable, None) is not None

    def clear(self, address: str) -> None:
        """Tell a client nothing more."""
        self._clients[address].told.clear()

    def pause(self, address: str, paused: bool) -> None:
        """Tell a client nothing for now, or what it wanted again."""
        self._clients[address].paused = paused
        self._quiet_ns.clear()

    def due(self, vehicle: int, time_ns: int) -> Iterator[tuple[str, list[str]]]:
        """Address of each client that is to be told something of a vehicle now, and the variables."""
        since_ns, until_ns = self._quiet_ns.get(vehicle, (0, 0))
        if since_ns <= time_ns < until_ns:
            return
        next_ns = time_ns + 3600 * NANOSECONDS
        for address, client in self._clients.items():
            told = client.told.get(vehicle)
            if client.paused or not told:
                continue
            due = [variable for variable, rhythm in told.items() if rhythm.is_due(time_ns)]
            next_ns = min(next_ns, *(rhythm.next_ns for rhythm in told.values()))
            if due:
                yield address, due
        self._quiet_ns[vehicle] = time_ns, next_ns
