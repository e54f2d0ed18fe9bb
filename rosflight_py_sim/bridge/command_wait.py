"""Wait for the commands of clients: in place, then by a notification when a socket becomes readable."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rosflight_py_sim.bridge.actuated_vehicle import ActuatedVehicle
from rosflight_py_sim.bridge.brief_wait import BRIEF_S, BriefWait
from rosflight_py_sim.bridge.socket_watch import SocketWatch


class CommandWait:
    """Exchanges the snapshots of vehicles for commands as these arrive."""

    def __init__(self, vehicles: Sequence[ActuatedVehicle], call_later: Callable[[Callable[[], None]], None]) -> None:
        """Watch the sockets of the vehicles' front-ends, which are open.

        Args:
            vehicles: the vehicles; their `wait` is set.
            call_later: calls a function in the thread of the vehicles; called from another thread.
        """
        self._vehicles = vehicles
        filenos = [fileno for one in {vehicle.commander for vehicle in vehicles} for fileno in one.filenos()]
        self._watch = SocketWatch(filenos, lambda: call_later(self.exchange))
        self._brief_wait = BriefWait(filenos)
        for vehicle in vehicles:
            vehicle.wait, vehicle.is_alone = self._wait, len(vehicles) == 1
        self._is_open = True

    def close(self) -> None:
        """Stop; may be called again. The front-ends must still be open."""
        self._is_open = False
        self._watch.close()

    def check(self) -> None:
        """Call `check` of the vehicles, and exchange again; call this once a second."""
        is_undecided = any(vehicle.awaits_commands for vehicle in self._vehicles)
        for vehicle in self._vehicles:
            vehicle.check(may_be_undecided=is_undecided)
        # A front-end may have opened another socket with the file number of a watched one.
        self.exchange()

    def exchange(self) -> None:
        """Exchange the snapshots of the waiting vehicles; call this often for front-ends that wait for a time."""
        if self._is_open and self._exchange_all():
            self._watch.arm()

    def _exchange_all(self) -> bool:
        """Exchange the snapshots of the waiting vehicles; return whether commands are still missing."""
        waiting = [vehicle for vehicle in self._vehicles if vehicle.awaits_commands]
        for vehicle in waiting:
            vehicle.exchange()
        return any(vehicle.awaits_commands for vehicle in waiting)

    def _wait(self) -> None:
        """Wait for missing commands, if the IMU messages of all vehicles have arrived; the last one calls this, too."""
        waiting = [vehicle for vehicle in self._vehicles if vehicle.awaits_commands]
        if not waiting or not self._is_open or any(vehicle.is_early for vehicle in self._vehicles):
            return
        is_waiting = True
        if len(waiting) == len(self._vehicles):
            # Only services need the executor now. To wait here for the next commands is faster than a wake-up through
            # another thread and a task of the executor.
            end_s = time.monotonic() + BRIEF_S
            while is_waiting and self._brief_wait.is_readable_soon() and time.monotonic() < end_s:
                is_waiting = self._exchange_all()
        if is_waiting:
            self._watch.arm()
