"""The bridge beside a flight controller: client commands become offboard commands, and no step waits for them."""

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

# Longest interval between two reads of the sockets, also while the simulation is paused or slow: shorter than a person
# notices.
_SERVE_S = 0.02


class OffboardExchange:
    """Gives an `OffboardFrontEnd` snapshots at `command_frequency`, and publishes its replies on `command`.

    A command has the stamp of the state that it was computed from, as with an autopilot.
    """

    def __init__(self, node: SimulationNode, front_end: OffboardFrontEnd) -> None:
        """Keep node and front-end; `open` opens the sockets."""
        self._node, self._front_end = node, front_end
        self._served_ns = -1
        self._is_open = False

    def open(self) -> None:
        """Open the front-end, and wait for the first state.

        Raises:
            ParameterError: the front-end's addresses cannot be used.
        """
        node, front_end = self._node, self._front_end
        front_end.open()
        self._is_open = True
        self._vehicles = [
            _OffboardVehicle(node, index, name, front_end.required_fields, self._command)
            for index, name in enumerate(front_end.vehicles)
        ]
        node.create_system_timer(_SERVE_S, self._serve)

    def close(self) -> None:
        """Close the front-end; may be called again, and without `open`."""
        if self._is_open:
            self._is_open = False
            self._front_end.close()

    def diagnose(self) -> Iterator[Diagnosis]:
        """One entry per vehicle."""
        for vehicle in self._vehicles:
            yield Diagnosis(
                vehicle.name or "vehicle",
                self._front_end.doing(vehicle.index),
                hardware_id=self._front_end.peer(vehicle.index),
                values={"time": vehicle.answered_ns / NANOSECONDS, **self._front_end.details(vehicle.index)},
            )

    def _serve(self) -> None:
        if self._is_open:
            self._front_end.serve()

    def _command(self, vehicle: _OffboardVehicle, snapshot: Snapshot, dt: float) -> None:
        if not self._is_open:
            return
        # Once for all vehicles, so that commands sent together take effect in the same step.
        if snapshot.time_ns != self._served_ns:
            self._served_ns = snapshot.time_ns
            self._front_end.serve()
        command = self._front_end.command(vehicle.index, snapshot, dt)
        vehicle.publish_guided_state(self._front_end.guided_state(vehicle.index))
        if command is not None:
            vehicle.send_command(ControlCommand(snapshot.time_ns, command.mode, Command.IGNORE_NONE, command.u))


class _OffboardVehicle(BridgedVehicle):
    """Calls `on_due` once per command period, with a snapshot and the time since the previous one (s)."""

    def __init__(
        self,
        node: SimulationNode,
        index: int,
        name: str,
        required_fields: frozenset[str],
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
        super().__init__(node, index, name, required_fields)

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
        time_ns = state.time_ns
        # The period number is the same for all vehicles, and gives round times in the data.
        period = time_ns // self._period_ns
        if period == self._period:
            return
        self._period = period
        self._state = state
        elapsed_ns = time_ns - self.answered_ns
        # After a longer gap, or if time goes back, another node was restarted: integrators must not advance.
        is_step = self.answered_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        snapshot = self._snapshot(time_ns)
        self.answered_ns = time_ns
        self._on_due(self, snapshot, elapsed_ns / NANOSECONDS if is_step else 0.0)
