"""Subscriptions of clients to variables of vehicles, at intervals of simulated time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rosflight_py_sim.ground.stamps import NANOSECONDS

MOST_CLIENTS = 64
MOST_SUBSCRIPTIONS = 256
"""Per client."""
MOST_PACKETS_HZ = 500.0
"""Packets per simulated second to one client."""
MOST_PACKETS_OF_ALL_HZ = 1000.0
"""Packets per simulated second to all clients together: sending them takes some 6 ms."""
EXPIRES_AFTER_S = 600.0
"""Simulated time after which the subscriptions of a client that sends nothing end."""
SHORTEST_INTERVAL = 0.02
"""Shortest interval, s; shorter requests are raised to this value."""

_ROUNDING = 1e-6


@dataclass
class _Schedule:
    """Interval and next time of a variable; the times are multiples of the interval."""

    interval_ns: int
    next_ns: int = 0

    def is_due(self, time_ns: int) -> bool:
        """True once per interval; missed intervals are skipped, and an earlier time restarts the schedule."""
        if time_ns < self.next_ns <= time_ns + self.interval_ns:
            return False
        self.next_ns = (time_ns // self.interval_ns + 1) * self.interval_ns
        return True


@dataclass
class _Client:
    """Subscriptions of one client: variables and schedules by vehicle number."""

    paused: bool = False
    variables: dict[int, dict[str, _Schedule]] = field(default_factory=dict)
    packets_hz: float = 0.0
    last_ns: int = 0

    def count_rate(self) -> None:
        """Update `packets_hz`."""
        schedules = (schedule for variables in self.variables.values() for schedule in variables.values())
        self.packets_hz = sum(NANOSECONDS / schedule.interval_ns for schedule in schedules)

    def __len__(self) -> int:
        return sum(map(len, self.variables.values()))


class Subscriptions:
    """Subscriptions of all clients, by address."""

    def __init__(self) -> None:
        """Start without clients."""
        self._clients: dict[str, _Client] = {}
        self._time_ns = 0
        # Time interval without due data, for each vehicle, so that most calls return at once.
        self._quiet_ns: dict[int, tuple[int, int]] = {}

    @property
    def addresses(self) -> list[str]:
        """Addresses of all clients, the most recent sender last."""
        return list(self._clients)

    def register(self, address: str) -> bool:
        """Register a sender; return whether it is served. At the limit, it replaces a client without subscriptions."""
        client = self._clients.pop(address, None)
        if client is None:
            if len(self._clients) >= MOST_CLIENTS:
                idle = next((one for one, other in self._clients.items() if not other), None)
                if idle is None:
                    return False
                del self._clients[idle]
            client = _Client()
        client.last_ns = self._time_ns
        self._clients[address] = client
        return True

    def excess(self, address: str, vehicle: int, variable: str, interval: float) -> str:
        """Reason why a subscription would be too much data: its client's rate, or that of all; empty if it is not."""
        client = self._clients[address]
        known = client.variables.get(vehicle, {}).get(variable)
        more = 1.0 / max(interval, SHORTEST_INTERVAL) - (NANOSECONDS / known.interval_ns if known else 0.0)
        if client.packets_hz + more > MOST_PACKETS_HZ + _ROUNDING:
            return f"more than {MOST_PACKETS_HZ:g} packets per second"
        if sum(one.packets_hz for one in self._clients.values()) + more > MOST_PACKETS_OF_ALL_HZ + _ROUNDING:
            return f"more than {MOST_PACKETS_OF_ALL_HZ:g} packets per second to all clients together"
        return ""

    def forget(self, address: str) -> None:
        """End all subscriptions of a client, and its registration if it is registered."""
        self._clients.pop(address, None)

    def expire(self, time_ns: int) -> list[str]:
        """Note the simulated time; return the clients whose subscriptions end now because they sent nothing."""
        expires_ns = round(EXPIRES_AFTER_S * NANOSECONDS)
        if not 0 <= time_ns - self._time_ns <= expires_ns:
            # The first time, or another start of the simulation.
            for client in self._clients.values():
                client.last_ns = time_ns
        self._time_ns = time_ns
        expired = [address for address, client in self._clients.items() if time_ns - client.last_ns > expires_ns]
        for address in expired:
            del self._clients[address]
        return expired

    def add(self, address: str, vehicle: int, variable: str, interval: float) -> bool:
        """Subscribe a client to a variable every `interval` s; False: it has too many subscriptions."""
        client = self._clients[address]
        variables = client.variables.setdefault(vehicle, {})
        if variable not in variables and len(client) >= MOST_SUBSCRIPTIONS:
            return False
        variables[variable] = _Schedule(round(max(interval, SHORTEST_INTERVAL) * NANOSECONDS))
        client.count_rate()
        self._quiet_ns.clear()
        return True

    def remove(self, address: str, vehicle: int, variable: str) -> bool:
        """End a subscription; return whether it existed."""
        client = self._clients[address]
        existed = client.variables.get(vehicle, {}).pop(variable, None) is not None
        client.count_rate()
        return existed

    def clear(self, address: str) -> None:
        """End all subscriptions of a client."""
        self._clients[address].variables.clear()
        self._clients[address].count_rate()

    def pause(self, address: str, paused: bool) -> None:
        """Pause or resume the subscriptions of a client."""
        self._clients[address].paused = paused
        self._quiet_ns.clear()

    def is_quiet(self, vehicle: int, time_ns: int) -> bool:
        """Whether it is known that no variable of a vehicle is due now."""
        since_ns, until_ns = self._quiet_ns.get(vehicle, (0, 0))
        return since_ns <= time_ns < until_ns

    def due(self, vehicle: int, time_ns: int) -> Iterator[tuple[str, list[str]]]:
        """Clients' addresses, each with the variables of a vehicle that are due now."""
        if self.is_quiet(vehicle, time_ns):
            return
        next_ns = time_ns + 3600 * NANOSECONDS
        for address, client in self._clients.items():
            variables = client.variables.get(vehicle)
            if client.paused or not variables:
                continue
            due = [variable for variable, schedule in variables.items() if schedule.is_due(time_ns)]
            next_ns = min(next_ns, *(schedule.next_ns for schedule in variables.values()))
            if due:
                yield address, due
        self._quiet_ns[vehicle] = time_ns, next_ns
