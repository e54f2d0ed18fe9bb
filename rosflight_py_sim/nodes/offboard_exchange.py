"""Offboard exchange of the bridge: client commands become offboard commands, for which no step waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rosflight_msgs.msg import Command
from std_msgs.msg import UInt8, UInt32

from rosflight_py_sim.bridge.front_end_interface import GuidedState, OffboardFrontEnd, Snapshot
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.bridged_vehicle import BridgedVehicle, VehicleFrontEnds
from rosflight_py_sim.parameters import number
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topics import (
    CAGE_TRIGGERED,
    CAGE_TRIGGERED_LAST,
    COMMAND,
    GUIDED_MODE,
    ControlCommand,
)
from rosflight_py_sim.step.vehicle_state import VehicleState


class OffboardExchange:
    """Passes snapshots to `OffboardFrontEnd`s at `command_frequency`, and publishes their replies on `command`.

    A command has the stamp of the state from which it was computed, like an autopilot's.
    """

    def __init__(self, node: SimulationNode) -> None:
        """Store the node; all time modes are supported."""
        self._node = node
        self._served_ns: dict[OffboardFrontEnd, int] = {}
        self._is_open = False

    def open(self, vehicles: Sequence[VehicleFrontEnds]) -> None:
        """Wait for the first state of the vehicles; their front-ends are open."""
        self._is_open = True
        self._vehicles = [_OffboardVehicle(self._node, one, self._command) for one in vehicles]

    def close(self) -> None:
        """Stop the exchange; may be called again, and without `open`."""
        self._is_open = False

    def diagnose(self) -> Iterator[Diagnosis]:
        """One entry per vehicle."""
        for vehicle in self._vehicles:
            yield Diagnosis(
                vehicle.name or "vehicle",
                vehicle.commander.activity(vehicle.index),
                hardware_id=vehicle.commander.peer(vehicle.index),
                values={"time": vehicle.answered_ns / NANOSECONDS, **vehicle.commander.details(vehicle.index)},
            )

    def _command(self, vehicle: _OffboardVehicle, snapshot: Snapshot, dt: float) -> None:
        if not self._is_open:
            return
        front_end = vehicle.commander
        # Once for all vehicles, so that commands sent together take effect in the same step.
        if snapshot.time_ns != self._served_ns.get(front_end):
            self._served_ns[front_end] = snapshot.time_ns
            front_end.serve()
        command = front_end.command(vehicle.index, snapshot, dt)
        vehicle.publish_guided_state(front_end.guided_state(vehicle.index))
        if command is not None:
            vehicle.send_command(ControlCommand(snapshot.time_ns, command.mode, Command.IGNORE_NONE, command.u))


class _OffboardVehicle(BridgedVehicle):
    """Calls `on_due` once per command period, with a snapshot and the time since the previous one (s)."""

    def __init__(
        self,
        node: SimulationNode,
        front_ends: VehicleFrontEnds,
        on_due: Callable[[_OffboardVehicle, Snapshot, float], None],
    ) -> None:
        assert isinstance(front_ends.commander, OffboardFrontEnd)
        self.commander = front_ends.commander
        name = front_ends.name
        self._on_due = on_due
        self._period_ns = round(NANOSECONDS / number(node.values, "command_frequency"))
        self._period = -1
        self.send_command = node.publisher(COMMAND, name)
        self._publish_mode = node.publisher(GUIDED_MODE, name)
        self._publish_triggered = node.publisher(CAGE_TRIGGERED, name)
        self._publish_triggered_last = node.publisher(CAGE_TRIGGERED_LAST, name)
        self._guided: GuidedState | None = None
        super().__init__(node, front_ends)

    def publish_guided_state(self, guided: GuidedState) -> None:
        """Publish the fields that have changed."""
        before, self._guided = self._guided, guided
        if before is None or guided.mode != before.mode:
            self._publish_mode(UInt8(data=guided.mode))
        if before is None or guided.cage_triggered != before.cage_triggered:
            self._publish_triggered(UInt32(data=guided.cage_triggered))
        if before is None or guided.cage_triggered_last != before.cage_triggered_last:
            self._publish_triggered_last(UInt32(data=guided.cage_triggered_last))

    def _on_truth(self, state: VehicleState) -> None:
        super()._on_truth(state)
        time_ns = state.time_ns
        # The period number is the same for all vehicles, and gives round times in the data.
        period = time_ns // self._period_ns
        if period == self._period:
            return
        self._period = period
        elapsed_ns = time_ns - self.answered_ns
        # After a longer gap, or if time goes back, another node was restarted: integrators must not advance.
        is_step = self.answered_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        snapshot = self._snapshot(time_ns)
        self.answered_ns = time_ns
        self._on_due(self, snapshot, elapsed_ns / NANOSECONDS if is_step else 0.0)
