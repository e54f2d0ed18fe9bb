"""The bridge as flight controller: each step waits for the commands of a client."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator

from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd, Snapshot
from rosflight_py_sim.bridge.socket_watch import SocketWatch
from rosflight_py_sim.interfaces.diagnostics import Diagnosis, Level
from rosflight_py_sim.interfaces.simulation_node import TIME_MODE, SimulationNode
from rosflight_py_sim.nodes.slot_vehicle import SlotState, SlotVehicle
from rosflight_py_sim.stamps import NANOSECONDS, seconds_text

_WAITING_TIME_MODE = TIME_MODE.overridden("steps wait for a client", default="lockstep", choices=("lockstep",))

# While all vehicles wait, only services need the executor, so the next commands are awaited here: this is faster than a
# wake-up through another thread and a task of the executor. ArduPilot's median reply takes 30 us, less than the wake-up
# of a sleeping process, so the sockets are polled without sleep at first (which shortens 100 us to 65).
_SLEEPLESS_S = 50e-6
_LINGER_S = 1e-3

# A peer without a reply for one to two of these intervals is reported as being waited for.
_CHECK_S = 1.0


class ActuatorExchange:
    """Answers the IMU messages of all vehicles with the PWM of an `ActuatorFrontEnd`, in the flight controller's place.

    The front-end receives a snapshot of time t, and its commands answer the IMU message of t; until then the simulation
    waits. The name of the client that the simulation is waiting for is published on sim/waiting_for of the vehicle
    (empty if none). The step size that the front-end requires is requested on sim/step_size_request; the reply arrives
    on sim/step_size.
    """

    def __init__(self, node: SimulationNode, front_end: ActuatorFrontEnd) -> None:
        """Check the time mode.

        Raises:
            ParameterError: the time mode is not lockstep.
        """
        _WAITING_TIME_MODE.checked(node.values["time_mode"])
        self._node, self._front_end = node, front_end
        self._is_open = False

    def open(self) -> None:
        """Open the front-end, and wait for the first step.

        Raises:
            ParameterError: the front-end's addresses cannot be used.
        """
        node, front_end = self._node, self._front_end
        front_end.open()
        self._pending_before: list[Snapshot | None] = [None] * len(front_end.vehicles)
        self._watch = SocketWatch(front_end.filenos(), self._wake)
        self._poll = select.poll()
        for fileno in front_end.filenos():
            self._poll.register(fileno, select.POLLIN)
        self._is_open = True
        self._vehicles = [
            SlotVehicle(node, index, name, front_end.required_fields, self._on_change)
            for index, name in enumerate(front_end.vehicles)
        ]
        node.create_system_timer(_CHECK_S, self._on_check_timer)

    def close(self) -> None:
        """Close the front-end; may be called again, and without `open`."""
        if self._is_open:
            self._is_open = False
            self._watch.close()
            self._front_end.close()

    def diagnose(self) -> Iterator[Diagnosis]:
        """One entry per vehicle."""
        for vehicle in self._vehicles:
            refused = self._front_end.refused(vehicle.index)
            state = "refused" if refused else "waiting" if vehicle.waiting else "flying"
            yield Diagnosis(
                vehicle.name or "vehicle",
                state,
                Level.OK if state == "flying" else Level.WARN,
                self._front_end.peer(vehicle.index),
                {"time": vehicle.answered_ns / NANOSECONDS, "step": vehicle.step_s, "refused": refused},
            )

    def _wake(self) -> None:
        """Continue in the executor's thread; a task, because the EventsExecutor does not support guard conditions."""
        executor = self._node.executor
        if executor is not None:
            executor.create_task(self._on_readable)

    def _on_change(self) -> None:
        """Exchange snapshots and commands, also those that arrive within `_LINGER_S`."""
        is_waiting = self._exchange()
        if any(vehicle.is_early for vehicle in self._vehicles):
            # The step has not come this far: the arrival of the IMU message calls this method again.
            return
        if is_waiting and all(map(self._is_waiting, self._vehicles)):
            end_s = time.monotonic() + _LINGER_S
            while is_waiting and self._is_readable_soon() and time.monotonic() < end_s:
                is_waiting = self._exchange()
        if is_waiting:
            self._watch.arm()

    def _is_readable_soon(self) -> bool:
        poll, now_s = self._poll.poll, time.monotonic
        end_s = now_s() + _SLEEPLESS_S
        while now_s() < end_s:
            if poll(0):
                return True
        return bool(poll(_LINGER_S * 1e3))

    def _on_readable(self) -> None:
        if self._exchange():
            self._watch.arm()

    def _exchange(self) -> bool:
        """Exchange pending snapshots for commands, and publish these; return whether a reply is still missing."""
        if not self._is_open:
            return False
        is_waiting = False
        for vehicle in self._vehicles:
            if vehicle.pending is None or not self._is_waiting(vehicle):
                continue
            answer = self._front_end.exchange(vehicle.index, vehicle.pending)
            if answer is None:
                is_waiting = True
            else:
                vehicle.take(answer)
        self._publish()
        return is_waiting

    @staticmethod
    def _is_waiting(vehicle: SlotVehicle) -> bool:
        return vehicle.phase is SlotState.ASKING

    def _publish(self) -> None:
        """Publish the commands of all vehicles that have them, if the step has the required length."""
        answered = [v for v in self._vehicles if v.phase.has_commands and not v.is_early]
        for vehicle in answered:
            # A step already under way would end up with two lengths.
            begun = vehicle.pending is not None and self._has_begun(vehicle.pending.time_ns)
            if not vehicle.has_step(self._front_end.requested_step(vehicle.index), may_request=not begun):
                return
        for vehicle in answered:
            if vehicle.waiting:
                self._report_waiting(vehicle, waiting=False)
            vehicle.begin_step()

    def _has_begun(self, time_ns: int) -> bool:
        return any(vehicle.answered_ns >= time_ns for vehicle in self._vehicles)

    def _on_check_timer(self) -> None:
        for vehicle in self._vehicles:
            vehicle.repeat_requests()
            if (
                self._is_waiting(vehicle)
                and vehicle.pending is self._pending_before[vehicle.index]
                and not vehicle.waiting
            ):
                self._report_waiting(vehicle, waiting=True)
            self._pending_before[vehicle.index] = vehicle.pending
        # A front-end may have opened another socket with the file number of a watched one.
        if any(map(self._is_waiting, self._vehicles)):
            self._on_readable()

    def _report_waiting(self, vehicle: SlotVehicle, *, waiting: bool) -> None:
        peer = self._front_end.peer(vehicle.index)
        vehicle.publish_waiting_for(peer if waiting else "")
        assert vehicle.pending is not None
        at = f"at {seconds_text(vehicle.pending.time_ns)}"
        whose = f"{vehicle.name}: " if vehicle.name else ""
        if waiting:
            self._node.get_logger().info(f"{whose}waiting for {peer}; the simulation is held {at}")
        else:
            self._node.get_logger().info(f"{whose}{peer} is connected; the simulation continues {at}")
