"""Judge of a mission flown by the vehicle's autopilot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from nav_msgs.msg import Path as PathMessage
from std_msgs.msg import String

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values
from rosflight_py_sim.kernels.chain import Cells, ChainLink, StepTime, keeps
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.missions.acceptance import Limit
from rosflight_py_sim.missions.autopilot.log import FlightLog, FlightStatus, log_flight
from rosflight_py_sim.missions.autopilot.picture import draw_flight
from rosflight_py_sim.missions.autopilot.summary import Demands, FlightSummary, summarise
from rosflight_py_sim.missions.autopilot.table import summary_rows, words_of
from rosflight_py_sim.missions.mission_judge import MissionJudge, Verdict
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.parts.autopilot import AutopilotPart
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.step.ports import Input, ports_of
from rosflight_py_sim.step.topics import (
    AUTOPILOT_PATH,
    AUTOPILOT_PHASE,
    AUTOPILOT_ROUTE,
    PWM_OUTPUT,
    SETPOINT,
    STATUS,
    TRUTH_BATTERY,
    TRUTH_STATE,
    TRUTH_WIND,
    StatusReport,
    vector3,
)
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import Vehicle
from rosflight_py_sim.vehicles.physics_model import vehicle_class

_LOGGED = (TRUTH_STATE, TRUTH_WIND, SETPOINT, TRUTH_BATTERY, PWM_OUTPUT)


def autopilot_class(vehicle: Vehicle) -> type[AutopilotPart]:
    """Class of the vehicle's autopilot node."""
    cls = node_class(vehicle.autopilot)
    assert issubclass(cls, AutopilotPart)
    return cls


def _limits_of(autopilot: type[AutopilotPart]) -> tuple[Parameter | None, Parameter | None, Parameter | None]:
    """Limits of an autopilot for misses of waypoints, for their height errors, and for misses of the landing place."""
    return autopilot.WAYPOINT_RADIUS, autopilot.WAYPOINT_HEIGHT_ERROR, autopilot.LANDING_RADIUS


class AutopilotJudge(MissionJudge):
    """Logs the autopilot's flight, from the mission's first phase on."""

    SUBSCRIBES = (TRUTH_BATTERY, SETPOINT)
    SUMMARY = FlightSummary

    def __init__(self, vehicle: Vehicle, values: Values) -> None:
        """Judge a flight of the vehicle."""
        super().__init__(vehicle, values)
        autopilot = autopilot_class(vehicle)
        phases, self._plans_path = autopilot.PHASES, autopilot.PLANS_PATH
        self.log: FlightLog = FlightLog(vehicle.actuators, phases)
        self._vehicle_class = vehicle_class(vehicle)
        self._status = FlightStatus(phase=0.0, errors=0.0)
        # A pilot that receives the status has a flight controller that reports it.
        if any(isinstance(port, Input) and port.topic is STATUS for port in ports_of(autopilot.PILOT)):
            self.subscribe(STATUS, self._on_status)
        waypoint, height, landing = (
            None if one is None else Limit.of(one, self.values) for one in _limits_of(autopilot)
        )
        self._demands = Demands(waypoint=waypoint, height=height, landing=landing)
        self._path: Array = np.empty((0, 3))
        self._phases = {phase.label: phase for phase in phases}
        self._waiting = self._phase = phases(0)
        self.subscribe(AUTOPILOT_PHASE, self._on_phase)
        if self._plans_path:
            self.subscribe(AUTOPILOT_PATH, self._on_path)
        else:
            self._demands = replace(self._demands, route_ned=None)
        if self._plans_path and waypoint is not None:
            self.subscribe(AUTOPILOT_ROUTE, self._on_route, needed=False)

    @classmethod
    def limits_for(cls, vehicle: Vehicle) -> ParameterTable:
        """Parameters of the vehicle's autopilot that limit misses of waypoints and of the landing place."""
        return super().limits_for(vehicle) + ParameterTable(*filter(None, _limits_of(autopilot_class(vehicle))))

    @property
    def is_on(self) -> bool:
        """Whether the mission has begun."""
        return self._phase is not self._waiting

    @property
    def has_begun(self) -> bool:
        """Whether the log suffices for a verdict, which also needs the planned path, if there is one."""
        return super().has_begun and (len(self._path) >= 2 or not self._plans_path)

    @property
    def path_ned(self) -> Array | None:
        """Planned path, m (n, 3); None for an autopilot that plans none."""
        return self._path if self._plans_path else None

    def write(self, commands: list[float], flow_ned: Sequence[float]) -> None:
        """Log a row."""
        _, voltage, current = self.newest(TRUTH_BATTERY)
        setpoint = vector3(self.newest(SETPOINT).position_ned)
        state, errors = self.state, int(self._status.errors)
        self.log.append(state.time_s, state.truth, setpoint, commands, flow_ned, voltage, current, self._phase, errors)

    def links(self, time: StepTime, topic: str, cells: Cells) -> Sequence[ChainLink] | None:
        """Log rows in the chain after the first one, and ignore a repeated status."""
        if topic != TRUTH_STATE.name:
            return () if topic == STATUS.name and keeps(type(self), "links", "_on_status") else None
        if not self.is_logging or not cells.keys() >= {topic.name for topic in _LOGGED}:
            return None
        if not keeps(type(self), "links", "write", "is_on", "_on_truth"):
            return None
        actuators = np.array([(one.output, *one.travel, one.is_motor) for one in self.vehicle.actuators])
        truth, *logged = (cells[topic.name].memory for topic in _LOGGED)
        log, rows = self.log.memory
        first = log.count

        def take(time_ns: int) -> None:
            self._on_truth(VehicleState(time_ns, truth.copy()))
            self.relink()

        def leave(answered_ns: int) -> None:
            if log.count > first:
                self.wall_s = self.system_s() - (self._began_s or 0.0)
                row = rows[log.count - 1]
                self._row_ns = int(self._schedule.since_ns)
                self.state = VehicleState(self._row_ns, row[1:20].copy())

        logging = bound(log_flight, time, log, rows, self.take_off.ground, self._status, actuators, truth, *logged)
        return self._schedule.links(time, [ChainLink(logging, lambda time_ns, _: take(time_ns))], take, leave)

    def verdict(self) -> Verdict:
        """Evaluate the flight along the planned path; a flight that ended with a failure is not a success."""
        s = self.summary
        return Verdict(
            f"{words_of(s.vehicle_class).trip} of {s.vehicle}",
            summary_rows(s),
            s.completed and not self.reason,
            s.shortfall,
        )

    def draw(self, plot: Path) -> None:
        """Draw path, height, attitude, commands, tracking error and battery."""
        draw_flight(self.log, self.summary, plot)

    @cached_property
    def summary(self) -> FlightSummary:
        """Key figures of the log."""
        return summarise(self.log, self.path_ned, self.name, self.wall_s, self._demands, self._vehicle_class)

    def _on_status(self, status: StatusReport) -> None:
        self._status.errors = status.error_code

    def _on_phase(self, message: String) -> None:
        was_on, self._phase = self.is_on, self._phases[message.data]
        self._status.phase = self._phase
        if self.is_on is not was_on:
            self.relink()

    def _on_path(self, message: PathMessage) -> None:
        places = [stamped.pose.position for stamped in message.poses]
        self._path = np.array([(place.x, place.y, place.z) for place in places]).reshape(-1, 3)

    def _on_route(self, message: PathMessage) -> None:
        places = [stamped.pose.position for stamped in message.poses]
        route = np.array([(place.x, place.y, place.z) for place in places]).reshape(-1, 3)
        self._demands = replace(self._demands, route_ned=route, first_row=len(self.log))
