"""A whole flight: the composed graph, a pilot, a recorder, and what to show of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from geometry_msgs.msg import PoseStamped, Vector3Stamped
from nav_msgs.msg import Path as PathMessage
from rclpy.node import Node
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rosflight_msgs.msg import BatteryStatus, PwmOutput, SimState
from std_msgs.msg import Float64, String

from rosflight_py_sim.composition import ComposedGraph
from rosflight_py_sim.fleet import Member
from rosflight_py_sim.interfaces.autopilot_interface import SETPOINT_WIRE, AutopilotInterface
from rosflight_py_sim.interfaces.dynamics_interface import WIND_WIRE
from rosflight_py_sim.interfaces.forces_and_moments_interface import BATTERY_WIRE, PWM_WIRE
from rosflight_py_sim.interfaces.qos import CHAIN, LATCHED
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.interfaces.wire import stamp_ns
from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.recording.flight_log import FlightLog
from rosflight_py_sim.recording.flight_summary import FlightSummary, summarise
from rosflight_py_sim.vehicles import Vehicle
from rosflight_py_sim.viewer.flight_picture import draw_flight
from rosflight_py_sim.viewer.summary_table import print_summary

LOG_RATE_HZ = 50.0

# The bar is redrawn this often on the wall clock: a terminal costs more than a step.
_REDRAW_S = 0.1


class FlightRecorder(Node):
    """Writes the flight down, 50 times a simulated second, from the topics that anybody can hear.

    Messages are kept as they come and read only when a row is due: most of them never are.
    """

    def __init__(self, vehicle: Vehicle, **arguments: Any) -> None:
        """Listen."""
        super().__init__("flight_recorder", **arguments)
        phases = autopilot_class(vehicle).PHASES
        self.log = FlightLog(vehicle.actuators, phases)
        self.path_ned: list[tuple[float, float, float]] = []
        self.progress = 0.0
        self.wall_s = 0.0
        self._began_s = 0.0
        self._schedule = Schedule(LOG_RATE_HZ)
        self._state = VehicleState()
        self._newest: dict[str, bytes] = {}
        self._actuators = vehicle.actuators
        self._phases = {phase.label: phase for phase in phases}
        self._waiting = self._phase = phases(0)
        for topic, message_type in (
            ("sim/truth_wind", Vector3Stamped),
            ("sim/truth_battery", BatteryStatus),
            ("sim/pwm_output", PwmOutput),
            ("autopilot/setpoint", PoseStamped),
        ):
            self._keep(topic, message_type)
        self.create_subscription(SimState, "sim/truth_state", self._on_truth, CHAIN, raw=True)
        self.create_subscription(String, "autopilot/phase", self._on_phase, LATCHED)
        self.create_subscription(PathMessage, "autopilot/path", self._on_path, LATCHED)
        self.create_subscription(Float64, "autopilot/progress", self._on_progress, CHAIN)

    def _keep(self, topic: str, message_type: Any) -> None:
        def keep(message: bytes) -> None:
            self._newest[topic] = message

        self.create_subscription(message_type, topic, keep, CHAIN, raw=True)

    def _on_phase(self, message: String) -> None:
        self._phase = self._phases[message.data]

    def _on_path(self, message: PathMessage) -> None:
        places = [stamped.pose.position for stamped in message.poses]
        self.path_ned = [(place.x, place.y, place.z) for place in places]

    def _on_progress(self, message: Float64) -> None:
        self.progress = message.data

    def _on_truth(self, message: bytes) -> None:
        flying = self._phase is not self._waiting and len(self._newest) == 4
        if not flying or not self._schedule.due(stamp_ns(message)):
            return
        self._state.read(message)
        wind = WIND_WIRE.decode(self._newest["sim/truth_wind"])[2:]
        voltage, current = BATTERY_WIRE.decode(self._newest["sim/truth_battery"])[2:4]
        pwm_us = PWM_WIRE.decode(self._newest["sim/pwm_output"])[2:]
        setpoint = SETPOINT_WIRE.decode(self._newest["autopilot/setpoint"])[2:5]
        commands = [actuator.command(pwm_us[actuator.output]) for actuator in self._actuators]
        self._began_s = self._began_s or time.monotonic()
        self.wall_s = time.monotonic() - self._began_s
        state = self._state
        self.log.append(state.time_s, state.truth, setpoint, commands, wind, voltage, current, self._phase)


def fly(
    vehicle: Vehicle,
    *,
    files: Sequence[str],
    settings: dict[str, Any],
    ros_arguments: Sequence[str],
    namespace: str,
    output: Path,
) -> int:
    """Fly the mission and show it; the exit code: 0 flown, 1 given up."""
    console = Console()
    graph = ComposedGraph(
        [Member(vehicle)],
        files=files,
        settings=settings,
        # What the nodes say at INFO would break the progress bar; the user's own level is stronger.
        arguments=["--log-level", "warn", *ros_arguments[1:]],
        namespace=namespace,
        executables=[vehicle.autopilot],
    )
    recorder = FlightRecorder(vehicle, namespace=namespace)
    pilot = Pilot(lands=autopilot_class(vehicle).LANDS, namespace=namespace)
    for node in (recorder, pilot):
        graph.adopt(node)
        graph.executor.add_node(node)
    try:
        _spin(graph, recorder, pilot, console)
    finally:
        graph.close()
    if pilot.failure is not None or not pilot.done:
        console.print(f"[red]given up[/red] while {pilot.failure or pilot.doing}", highlight=False)
        return 1
    summary = summarise(recorder.log, recorder.path_ned, vehicle.name, recorder.wall_s)
    print_summary(summary, console)
    console.print(f"picture: {_draw(recorder.log, summary, output)}", highlight=False, soft_wrap=True)
    return 0


def autopilot_class(vehicle: Vehicle) -> type[AutopilotInterface]:
    """Class of the vehicle's autopilot."""
    cls = node_class(vehicle.autopilot)
    assert issubclass(cls, AutopilotInterface)
    return cls


def _spin(graph: ComposedGraph, recorder: FlightRecorder, pilot: Pilot, console: Console) -> None:
    columns = (TextColumn("{task.description:34s}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    with Progress(*columns, TimeElapsedColumn(), console=console, auto_refresh=False) as progress:
        task = progress.add_task(pilot.doing, total=1.0)
        redraw_s = 0.0

        def go_on() -> bool:
            nonlocal redraw_s
            now_s = time.monotonic()
            # The log has its last row a moment after the pilot has heard of the end.
            over = (pilot.done and recorder.log.is_completed) or pilot.failure is not None
            if over or now_s > redraw_s:
                redraw_s = now_s + _REDRAW_S
                progress.update(task, description=pilot.doing, completed=1.0 if pilot.done else recorder.progress)
                progress.refresh()
            return not over

        graph.spin(go_on)


def _draw(log: FlightLog, summary: FlightSummary, output: Path) -> Path:
    output.mkdir(parents=True, exist_ok=True)
    name = f"{summary.vehicle}-{datetime.now():%Y%m%d-%H%M%S}.png"
    return draw_flight(log, summary, output / name).resolve()
