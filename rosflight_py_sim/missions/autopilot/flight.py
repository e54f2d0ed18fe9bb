"""A mission flown by the vehicle's autopilot: the pilot that starts it, the recorder, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nav_msgs.msg import Path as PathMessage
from rich.console import Console
from std_msgs.msg import Float64, String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.interfaces.autopilot_interface import AutopilotInterface
from rosflight_py_sim.interfaces.step_topics import (
    AUTOPILOT_PATH,
    AUTOPILOT_PHASE,
    AUTOPILOT_PROGRESS,
    SETPOINT,
    STATUS,
    TRUTH_BATTERY,
    vector3,
)
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.autopilot.picture import draw_flight
from rosflight_py_sim.missions.autopilot.summary import summarise
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.missions.mission_recorder import MissionRecorder
from rosflight_py_sim.missions.summary_table import print_summary
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.vehicles import Vehicle


def autopilot_class(vehicle: Vehicle) -> type[AutopilotInterface]:
    """Class of the vehicle's autopilot node."""
    cls = node_class(vehicle.autopilot)
    assert issubclass(cls, AutopilotInterface)
    return cls


class FlightRecorder(MissionRecorder):
    """Records the autopilot's flight, from its start on."""

    DEFAULT_NAME = "flight_recorder"
    SUBSCRIBES = (TRUTH_BATTERY, SETPOINT, STATUS)

    def __init__(self, vehicle: Vehicle, **arguments: Any) -> None:
        """Listen."""
        phases = autopilot_class(vehicle).PHASES
        self.log = FlightLog(vehicle.actuators, phases)
        self.path_ned: list[tuple[float, float, float]] = []
        self.progress = 0.0
        self._phases = {phase.label: phase for phase in phases}
        self._waiting = self._phase = phases(0)
        super().__init__(vehicle, **arguments)
        self.subscribe(AUTOPILOT_PHASE, self._on_phase)
        self.subscribe(AUTOPILOT_PATH, self._on_path)
        self.subscribe(AUTOPILOT_PROGRESS, self._on_progress)

    @property
    def is_on(self) -> bool:
        """Whether the mission has begun."""
        return self._phase is not self._waiting

    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Write a row."""
        _, voltage, current = self.newest(TRUTH_BATTERY)
        setpoint = vector3(self.newest(SETPOINT).position_ned)
        errors = self.newest(STATUS).error_code
        state = self.state
        self.log.append(state.time_s, state.truth, setpoint, commands, flow_ned, voltage, current, self._phase, errors)

    def _on_phase(self, message: String) -> None:
        self._phase = self._phases[message.data]

    def _on_path(self, message: PathMessage) -> None:
        places = [stamped.pose.position for stamped in message.poses]
        self.path_ned = [(place.x, place.y, place.z) for place in places]

    def _on_progress(self, message: Float64) -> None:
        self.progress = message.data


class AutopilotFlight(Flight):
    """Takes off, and flies the mission of the vehicle's autopilot until it ends."""

    def __init__(self, vehicle: Vehicle) -> None:
        """Add the autopilot to the nodes."""
        super().__init__(vehicle)
        self.executables = (vehicle.autopilot,)

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create pilot and recorder."""
        self._recorder = graph.join(FlightRecorder, self.vehicle, namespace=namespace)
        self._pilot = graph.join(MissionPilot, lands=autopilot_class(self.vehicle).LANDS, namespace=namespace)

    @property
    def doing(self) -> str:
        """Activity of the pilot or the autopilot."""
        return self._pilot.doing

    @property
    def progress(self) -> float:
        """Completed share of the mission."""
        return 1.0 if self._pilot.done else self._recorder.progress

    @property
    def over(self) -> bool:
        """Whether the flight has ended, with or without success."""
        # The log gets its last row a moment after the pilot receives the end of the mission.
        return (self._pilot.done and self._recorder.log.is_completed) or self._pilot.failure is not None

    @property
    def failure(self) -> str:
        """Why there is nothing to report."""
        if self._pilot.failure is None and self._pilot.done:
            return ""
        return str(self._pilot.failure or self._pilot.doing)

    def report(self, console: Console, picture: Path) -> bool:
        """Print the table and draw the picture."""
        recorder = self._recorder
        summary = summarise(recorder.log, recorder.path_ned, self.vehicle.name, recorder.wall_s)
        print_summary(summary, console)
        draw_flight(recorder.log, summary, picture)
        return True
