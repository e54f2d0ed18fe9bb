"""The bridge as flight controller: each step of the vehicles waits for what a program commands."""

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

_WAITING_TIME_MODE = TIME_MODE.overridden("steps wait for a program", default="lockstep", choices=("lockstep",))

# While all vehicles wait nothing else goes on but services, so a program's next commands are awaited here: that is
# quicker than to be woken by another thread and a task of the executor. ArduPilot's median answer takes 30 us, less
# than a sleeping process takes to wake (100 us came down to 65 with this), so it is looked for without sleep at first.
_SLEEPLESS_S = 50e-6
_LINGER_S = 1e-3

# A partner that has said nothing for one to two of these is being waited for.
_LOOK_S = 1.0


class ActuatorExchange:
    """Answers the IMU messages of all vehicles with the PWM of an `ActuatorFrontEnd`, in the flight controller's place.

    The front-end is shown a vehicle at time t, and what it commands answers the IMU message of t; until it commands,
    the simulation holds still. Who is waited for is told on sim/waiting_for of that vehicle (empty: nobody). The
    length of a step for which the front-end wishes is asked for on sim/step_size_request, and awaited on sim/step_size.
    """

    def __init__(self, node: SimulationNode, front_end: ActuatorFrontEnd) -> None:
        """Look at the time mode.

        Raises:
            ParameterError: no step waits in it.
        """
        _WAITING_TIME_MODE.checked(node.values["time_mode"])
        self._node, self._front_end = node, front_end
        self._listens = False

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
        self._listens = True
        self._vehicles = [
            SlotVehicle(node, index, name, front_end.wants, self._on_news)
            for index, name in enumerate(front_end.vehicles)
        ]
        node.create_system_timer(_LOOK_S, self._on_look)

    def close(self) -> None:
        """Close the front-end; may be called again, and without `open`."""
        if self._listens:
            self._listens = False
            self._watch.close()
            self._front_end.close()

    def diagnose(self) -> Iterator[Diagnosis]:
        """An entry of each vehicle."""
        for vehicle in self._vehicles:
            refused = self._front_end.refused(vehicle.index)
            state = "refused" if refused else "waiting" if vehicle.waiting else "flying"
            yield Diagnosis(
                vehicle.name or "vehicle",
                state,
                Level.OK if state == "flying" else Level.WARN,
                self._front_end.partner(vehicle.index),
                {"time": vehicle.answered_ns / NANOSECONDS, "step": vehicle.step_s, "refused": refused},
            )

    def _wake(self) -> None:
        """Hand over from the thread that watches the sockets: guard conditions are unknown to the EventsExecutor."""
        executor = self._node.executor
        if executor is not None:
            executor.create_task(self._on_readable)

    def _on_news(self) -> None:
        """Exchange what there is, and what comes within a moment."""
        silent = self._exchange()
        if any(vehicle.is_early for vehicle in self._vehicles):
            # The step has not come so far: its IMU messages are news, too.
            return
        if silent and all(map(self._waits, self._vehicles)):
            end_s = time.monotonic() + _LINGER_S
            while silent and self._something_comes() and time.monotonic() < end_s:
                silent = self._exchange()
        if silent:
            self._watch.arm()

    def _something_comes(self) -> bool:
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
        """Ask for what has not been answered, and publish what has; whether somebody is still waited for."""
        if not self._listens:
            return False
        silent = False
        for vehicle in self._vehicles:
            if vehicle.pending is None or not self._waits(vehicle):
                continue
            answer = self._front_end.exchange(vehicle.index, vehicle.pending)
            if answer is None:
                silent = True
            else:
                vehicle.take(answer)
        self._publish()
        return silent

    @staticmethod
    def _waits(vehicle: SlotVehicle) -> bool:
        return vehicle.phase is SlotState.ASKING

    def _publish(self) -> None:
        """Publish the commands that there are, if the step has the length that suits them."""
        answered = [v for v in self._vehicles if v.phase.has_commands and not v.is_early]
        for vehicle in answered:
            # With one vehicle amid the step, it would be of two lengths.
            begun = vehicle.pending is not None and self._has_begun(vehicle.pending.time_ns)
            if not vehicle.has_step(self._front_end.requested_step(vehicle.index), may_ask=not begun):
                return
        for vehicle in answered:
            if vehicle.waiting:
                self._tell_waiting(vehicle, waiting=False)
            vehicle.begin_step()

    def _has_begun(self, time_ns: int) -> bool:
        return any(vehicle.answered_ns >= time_ns for vehicle in self._vehicles)

    def _on_look(self) -> None:
        for vehicle in self._vehicles:
            vehicle.look()
            if self._waits(vehicle) and vehicle.pending is self._pending_before[vehicle.index] and not vehicle.waiting:
                self._tell_waiting(vehicle, waiting=True)
            self._pending_before[vehicle.index] = vehicle.pending
        # A front-end may have opened another socket under the number of one that was being watched.
        if any(map(self._waits, self._vehicles)):
            self._on_readable()

    def _tell_waiting(self, vehicle: SlotVehicle, *, waiting: bool) -> None:
        partner = self._front_end.partner(vehicle.index)
        vehicle.tell_waiting(partner if waiting else "")
        assert vehicle.pending is not None
        at = f"at {seconds_text(vehicle.pending.time_ns)}"
        whose = f"{vehicle.name}: " if vehicle.name else ""
        if waiting:
            self._node.get_logger().info(f"{whose}waiting for {partner}; the simulation holds still {at}")
        else:
            self._node.get_logger().info(f"{whose}{partner} is there; the simulation goes on {at}")
