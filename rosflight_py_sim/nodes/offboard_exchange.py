"""The bridge beside a flight controller: what programs want becomes offboard commands, and no step waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rosflight_msgs.msg import Command
from std_msgs.msg import UInt8, UInt32

from rosflight_py_sim.bridge.front_end_interface import GuidedState, OffboardFrontEnd, Snapshot
from rosflight_py_sim.interfaces.diagnostics import Diagnosis
from rosflight_py_sim.interfaces.dynamics_interface import LONGEST_STEP_NS
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import (
    CAGE_TRIGGERED,
    CAGE_TRIGGERED_LAST,
    COMMAND,
    GUIDED_MODE,
    ControlCommand,
)
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.nodes.bridged_vehicle import BridgedVehicle
from rosflight_py_sim.parameters import number
from rosflight_py_sim.stamps import NANOSECONDS

# Between two looks at the sockets when the simulation stands still, or is slow: shorter than a person notices.
_SERVE_S = 0.02


class OffboardExchange:
    """Shows an `OffboardFrontEnd` each vehicle `command_frequency` times a second, and publishes `command` as it says.

    The state of such a time is the command's stamp, as with an autopilot.
    """

    def __init__(self, node: SimulationNode, front_end: OffboardFrontEnd) -> None:
        """Nothing is opened yet."""
        self._node, self._front_end = node, front_end
        self._served_ns = -1
        self._listens = False

    def open(self) -> None:
        """Open the front-end, and wait for the first state.

        Raises:
            ParameterError: the front-end's addresses cannot be used.
        """
        node, front_end = self._node, self._front_end
        front_end.open()
        self._listens = True
        self._vehicles = [
            _OffboardVehicle(node, index, name, front_end.wants, self._command)
            for index, name in enumerate(front_end.vehicles)
        ]
        node.create_system_timer(_SERVE_S, self._serve)

    def close(self) -> None:
        """Close the front-end; may be called again, and without `open`."""
        if self._listens:
            self._listens = False
            self._front_end.close()

    def diagnose(self) -> Iterator[Diagnosis]:
        """An entry of each vehicle."""
        for vehicle in self._vehicles:
            yield Diagnosis(
                vehicle.name or "vehicle",
                self._front_end.doing(vehicle.index),
                hardware_id=self._front_end.partner(vehicle.index),
                values={"time": vehicle.answered_ns / NANOSECONDS, **self._front_end.details(vehicle.index)},
            )

    def _serve(self) -> None:
        if self._listens:
            self._front_end.serve()

    def _command(self, vehicle: _OffboardVehicle, snapshot: Snapshot, dt: float) -> None:
        if not self._listens:
            return
        # Once for all vehicles, so that what is sent together is obeyed in the same step.
        if snapshot.time_ns != self._served_ns:
            self._served_ns = snapshot.time_ns
            self._front_end.serve()
        command = self._front_end.command(vehicle.index, snapshot, dt)
        vehicle.publish_guided_state(self._front_end.guided_state(vehicle.index))
        if command is not None:
            vehicle.send_command(ControlCommand(snapshot.time_ns, command.mode, Command.IGNORE_NONE, command.u))


class _OffboardVehicle(BridgedVehicle):
    """Calls `on_due` with a snapshot of itself and the time since the one before (s), once each command period."""

    def __init__(
        self,
        node: SimulationNode,
        index: int,
        name: str,
        wants: frozenset[str],
        on_due: Callable[[_OffboardVehicle, Snapshot, float], None],
    ) -> None:
        self._on_due = on_due
        self._period_ns = round(NANOSECONDS / number(node.values, "command_frequency"))
        self._period = -1
        self.send_command = node.publisher(COMMAND, name)
        self._publish_mode = node.publisher(GUIDED_MODE, name)
        self._publish_triggered = node.publisher(CAGE_TRIGGERED, name)
        self._publish_triggered_last = node.publisher(CAGE_TRIGGERED_LAST, name)
        self._guided: GuidedState | None = None
        super().__init__(node, index, name, wants)

    def publish_guided_state(self, guided: GuidedState) -> None:
        """Publish what has changed."""
        before, self._guided = self._guided, guided
        if before is None or guided.mode != before.mode:
            self._publish_mode(UInt8(data=guided.mode))
        if before is None or guided.cage_triggered != before.cage_triggered:
            self._publish_triggered(UInt32(data=guided.cage_triggered))
        if before is None or guided.cage_triggered_last != before.cage_triggered_last:
            self._publish_triggered_last(UInt32(data=guided.cage_triggered_last))

    def _on_truth(self, state: VehicleState) -> None:
        time_ns = state.time_ns
        # The same for all vehicles, and with round times in the data.
        period = time_ns // self._period_ns
        if period == self._period:
            return
        self._period = period
        self._state = state
        elapsed_ns = time_ns - self.answered_ns
        # A longer gap, or time going back, is a restart of another node: integrators must not see it.
        known = self.answered_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        snapshot = self._snapshot(time_ns)
        self.answered_ns = time_ns
        self._on_due(self, snapshot, elapsed_ns / NANOSECONDS if known else 0.0)
