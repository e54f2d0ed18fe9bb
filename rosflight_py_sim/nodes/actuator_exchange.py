"""The bridge as flight controller: each step waits for the commands of a client."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator, Sequence

from rosflight_py_sim.bridge.socket_watch import SocketWatch
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.bridged_vehicle import VehicleFrontEnds
from rosflight_py_sim.nodes.slot_vehicle import SlotState, SlotVehicle
from rosflight_py_sim.shared_parameters import TIME_MODE
from rosflight_py_sim.stamps import NANOSECONDS, seconds_text
from rosflight_py_sim.step.diagnosis import Diagnosis, Level

_WAITING_TIME_MODE = TIME_MODE.overridden("steps wait for a client", default="lockstep", choices=("lockstep",))

# While all vehicles wait, only services need the executor. The exchange therefore waits here for the next commands,
# which is faster than a wake-up through another thread and a task of the executor. ArduPilot's median reply takes
# 30 us, less than the wake-up of a sleeping process, so the sockets are first polled without sleep (65 us instead of
# 100).
_SLEEPLESS_S = 50e-6
_LINGER_S = 1e-3

# The wait for a peer is reported after one to two of these intervals without a reply.
_CHECK_S = 1.0


class ActuatorExchange:
    """Answers the IMU messages of vehicles with the PWM of their `ActuatorFrontEnd`, instead of a flight controller.

    A front-end receives a snapshot of time t, and its commands answer the IMU message of t; until then the simulation
    waits. The name of the client that the simulation is waiting for is published on sim/waiting_for of the vehicle
    (empty if none). The step length that a front-end requests is published on sim/step_size_request, with the stamp of
    the step.
    """

    def __init__(self, node: SimulationNode) -> None:
        """Check the time mode.

        Raises:
            ParameterError: the time mode is not lockstep.
        """
        _WAITING_TIME_MODE.checked(node.values["time_mode"])
        self._node = node
        self._is_open = False

    def open(self, vehicles: Sequence[VehicleFrontEnds]) -> None:
        """Wait for the first step of the vehicles; their front-ends are open."""
        self._is_open = True
        self._vehicles = [SlotVehicle(self._node, one, self._on_change) for one in vehicles]
        filenos = [fileno for one in {v.commander for v in self._vehicles} for fileno in one.filenos()]
        self._watch = SocketWatch(filenos, self._wake)
        self._poll = select.poll()
        for fileno in filenos:
            self._poll.register(fileno, select.POLLIN)
        self._node.create_system_timer(_CHECK_S, self._on_check_timer)

    def close(self) -> None:
        """Stop the exchange; may be called again, and without `open`. The front-ends must still be open."""
        if self._is_open:
            self._is_open = False
            self._watch.close()

    def diagnose(self) -> Iterator[Diagnosis]:
        """One entry per vehicle."""
        for vehicle in self._vehicles:
            refused = vehicle.commander.refused(vehicle.index)
            state = "refused" if refused else "waiting" if vehicle.waiting else "flying"
            yield Diagnosis(
                vehicle.name or "vehicle",
                state,
                Level.OK if state == "flying" else Level.WARN,
                vehicle.commander.peer(vehicle.index),
                {"time": vehicle.answered_ns / NANOSECONDS, "step": vehicle.step_s, "refused": refused},
            )

    def _wake(self) -> None:
        """Continue in the executor's thread; a task, because the EventsExecutor does not support guard conditions."""
        executor = self._node.executor
        if executor is not None:
            executor.create_task(self._on_readable)

    def _on_change(self) -> None:
        """Exchange snapshots and commands, including those that arrive within `_LINGER_S`."""
        is_waiting = self._exchange()
        if any(vehicle.is_early for vehicle in self._vehicles):
            # Too early in the step: the arrival of the IMU message calls this method again.
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
        """Exchange pending snapshots for commands and publish them; return whether a reply is still missing."""
        if not self._is_open:
            return False
        is_waiting = False
        for vehicle in self._vehicles:
            if vehicle.pending is None or not self._is_waiting(vehicle):
                continue
            answer = vehicle.commander.exchange(vehicle.index, vehicle.pending)
            if answer is None:
                is_waiting = True
            else:
                vehicle.take(answer)
        self._publish()
        return is_waiting

    @staticmethod
    def _is_waiting(vehicle: SlotVehicle) -> bool:
        return vehicle.phase is SlotState.AWAITING_COMMANDS

    def _publish(self) -> None:
        """Publish the commands of all vehicles that have them."""
        for vehicle in self._vehicles:
            if vehicle.phase is SlotState.ANSWERED and not vehicle.is_early:
                if vehicle.waiting:
                    self._report_waiting(vehicle, waiting=False)
                vehicle.begin_step()

    def _on_check_timer(self) -> None:
        are_waiting = any(map(self._is_waiting, self._vehicles))
        for vehicle in self._vehicles:
            vehicle.count_second(may_be_undecided=are_waiting)
            if self._is_waiting(vehicle) and vehicle.pending is vehicle.pending_before and not vehicle.waiting:
                self._report_waiting(vehicle, waiting=True)
            vehicle.pending_before = vehicle.pending
        # A front-end may have opened another socket with the file number of a watched one.
        if any(map(self._is_waiting, self._vehicles)):
            self._on_readable()

    def _report_waiting(self, vehicle: SlotVehicle, *, waiting: bool) -> None:
        peer = vehicle.commander.peer(vehicle.index)
        vehicle.publish_waiting_for(peer if waiting else "")
        assert vehicle.pending is not None
        at = f"at {seconds_text(vehicle.pending.time_ns)}"
        whose = f"{vehicle.name}: " if vehicle.name else ""
        if waiting:
            self._node.get_logger().info(f"{whose}waiting for {peer}; the simulation is held {at}")
        else:
            self._node.get_logger().info(f"{whose}{peer} is connected; the simulation continues {at}")
