"""The bridge: a program that speaks another simulator's protocol flies the vehicles, in the autopilot's place."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from typing import Any, ClassVar

from rosflight_py_sim.bridge.ardupilot_front_end import ArduPilotFrontEnd
from rosflight_py_sim.bridge.auv_front_end import AuvFrontEnd
from rosflight_py_sim.bridge.front_end_interface import START_OVER, FrontEndInterface, Snapshot
from rosflight_py_sim.bridge.socket_watch import SocketWatch
from rosflight_py_sim.interfaces.diagnostics import Diagnosis, Level, report_diagnostics
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.interfaces.wire import NANOSECONDS
from rosflight_py_sim.nodes.bridged_vehicle import BridgedVehicle
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterTable

FRONT_ENDS: dict[str, type[FrontEndInterface]] = {"ardupilot": ArduPilotFrontEnd, "auv": AuvFrontEnd}
"""Value of the parameter front_end to the class that speaks the protocol."""

# While all vehicles wait nothing else goes on but services, so a program's next commands are awaited here: that is
# quicker than to be woken by another thread and a task of the executor. ArduPilot's median answer takes 30 us, less
# than a sleeping process takes to wake (100 us came down to 65 with this), so it is looked for without sleep at first.
_SLEEPLESS_S = 50e-6
_LINGER_S = 1e-3

# A partner that has said nothing for one to two of these is being waited for.
_LOOK_S = 1.0


class Bridge(SimulationNode):
    """Fills the autopilot slot of all vehicles with programs behind sockets: answers IMU messages with their PWM.

    The front-end is shown a vehicle at time t, and what it commands answers the IMU message of t; until it commands,
    the simulation holds still. Who is waited for is told on sim/waiting_for of that vehicle (empty: nobody). The
    length of a step for which the front-end wishes is asked for on sim/step_wish, and awaited on sim/step_size.
    """

    DEFAULT_NAME: ClassVar[str] = "bridge"
    FILLS: ClassVar[tuple[str, ...]] = ("sil_board",)
    PARAMETERS: ClassVar[ParameterTable] = sum(
        (front_end.PARAMETERS for front_end in FRONT_ENDS.values()),
        start=ParameterTable(
            Parameter(
                "time_mode",
                "lockstep",
                "Who advances the simulation; a program behind the bridge needs steps that wait for it",
                choices=("lockstep",),
                read_only=True,
            ),
            VEHICLES,
            Parameter(
                "front_end", "ardupilot", "Protocol that the bridge speaks", choices=tuple(FRONT_ENDS), read_only=True
            ),
        ),
    )

    # Here because a node that refuses its parameters is destroyed, too.
    _listens = False

    def __init__(self, **arguments: Any) -> None:
        """Open the front-end's sockets and wait for the first step."""
        super().__init__(**arguments)
        names = vehicle_namespaces(self.values["vehicles"])
        self._pending_before: list[Snapshot | None] = [None] * len(names)
        self.front_end = FRONT_ENDS[str(self.values["front_end"])](self.values, self.get_logger(), names)
        self.front_end.open()
        self._watch = SocketWatch(self.front_end.filenos(), self._wake)
        self._poll = select.poll()
        for fileno in self.front_end.filenos():
            self._poll.register(fileno, select.POLLIN)
        self._listens = True
        self.follow_stamps()
        wants = self.front_end.wants
        self._vehicles = [BridgedVehicle(self, i, name, wants, self._on_news) for i, name in enumerate(names)]
        self.create_system_timer(_LOOK_S, self._on_look)
        report_diagnostics(self, self._diagnose)

    def destroy_node(self) -> None:
        """Close the sockets, too."""
        if self._listens:
            self._listens = False
            self._watch.close()
            self.front_end.close()
        super().destroy_node()

    def _wake(self) -> None:
        """Hand over from the thread that watches the sockets: guard conditions are unknown to the EventsExecutor."""
        executor = self.executor
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
            if not self._waits(vehicle) or vehicle.pending is None:
                continue
            answer = self.front_end.exchange(vehicle.index, vehicle.pending)
            if answer is None:
                silent = True
            elif answer is START_OVER:
                vehicle.start_over()
            else:
                vehicle.commands = answer
        self._publish()
        return silent

    @staticmethod
    def _waits(vehicle: BridgedVehicle) -> bool:
        return vehicle.pending is not None and vehicle.commands is None and not vehicle.starting_over

    def _publish(self) -> None:
        """Publish the commands that there are, if the step has the length that suits them."""
        answered = [v for v in self._vehicles if v.commands is not None and not v.is_early]
        for vehicle in answered:
            # With one vehicle amid the step, it would be of two lengths.
            begun = vehicle.pending is not None and self._has_begun(vehicle.pending.time_ns)
            if not vehicle.has_step(self.front_end.wanted_step(vehicle.index), may_ask=not begun):
                return
        for vehicle in answered:
            if vehicle.waiting:
                self._tell_waiting(vehicle, waiting=False)
            vehicle.publish_commands()

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

    def _tell_waiting(self, vehicle: BridgedVehicle, *, waiting: bool) -> None:
        partner = self.front_end.partner(vehicle.index)
        vehicle.tell_waiting(partner if waiting else "")
        assert vehicle.pending is not None
        at = f"at {vehicle.pending.time_ns / NANOSECONDS:.6g} s"
        whose = f"{vehicle.name}: " if vehicle.name else ""
        if waiting:
            self.get_logger().info(f"{whose}waiting for {partner}; the simulation holds still {at}")
        else:
            self.get_logger().info(f"{whose}{partner} is there; the simulation goes on {at}")

    def _diagnose(self) -> Iterator[Diagnosis]:
        counters = dict.fromkeys(self.front_end.COUNTERS, 0) | dict(self.front_end.counters)
        yield Diagnosis("", str(self.values["front_end"]), values=counters)
        for vehicle in self._vehicles:
            refused = self.front_end.refused(vehicle.index)
            state = "refused" if refused else "waiting" if vehicle.waiting else "flying"
            yield Diagnosis(
                vehicle.name or "vehicle",
                state,
                Level.OK if state == "flying" else Level.WARN,
                self.front_end.partner(vehicle.index),
                {"time": vehicle.answered_ns / NANOSECONDS, "step": vehicle.step_s, "refused": refused},
            )


def main() -> None:
    """Run the node."""
    run(Bridge)


if __name__ == "__main__":
    main()
