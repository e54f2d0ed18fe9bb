"""Counters and log lines for incidents on a vehicle's link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from rosflight_py_sim.bridge.front_end_interface import Logger
from rosflight_py_sim.bridge.rare_warnings import RareWarnings

# Number of senders about which warnings are logged: source addresses may be forged.
_MOST_SENDERS = 16


class Incidents:
    """Counts incidents by kind and logs them, prefixed with the name of the vehicle.

    Attributes:
        counters: number of incidents of each kind.
    """

    def __init__(self, vehicle: str, counters: Counter[str], warn: RareWarnings, logger: Logger) -> None:
        """Use `counters` and `warn`, which links may share; `vehicle` is empty for a single vehicle."""
        self.counters = counters
        self._vehicle, self._warn, self._logger = vehicle, warn, logger
        self._prefix = f"{vehicle}: " if vehicle else ""
        self._warned: dict[str, set[Hashable]] = {}

    def apart(self) -> Incidents:
        """Copy with the same counters and a separate rate limit, so that other warnings do not suppress these."""
        return Incidents(self._vehicle, self.counters, RareWarnings(self._logger), self._logger)

    def count(self, kind: str, text: str, *details: object, times: int = 1) -> None:
        """Count `times` incidents of a kind, and log a warning."""
        self.counters[kind] += times
        self.warn(kind, text, *details)

    def count_of(self, sender: Hashable, kind: str, text: str, *details: object) -> None:
        """Count an incident of a kind; log a warning once for each sender."""
        self.counters[kind] += 1
        self.warn_of(sender, kind, text, *details)

    def warn_of(self, sender: Hashable, kind: str, text: str, *details: object) -> None:
        """Log a warning, as `warn` does, unless one of this kind about the sender has been logged."""
        warned = self._warned.setdefault(kind, set())
        if sender not in warned and len(warned) < _MOST_SENDERS and self.warn(kind, text, *details):
            warned.add(sender)

    def warn(self, kind: str, text: str, *details: object) -> bool:
        """Log a warning with the count of its kind, at most once per second; see RareWarnings."""
        return self._warn(kind, f"{self._prefix}{text}", self.counters[kind], *details)

    def inform(self, text: str) -> None:
        """Log information for the user."""
        self._logger.info(f"{self._prefix}{text}")
