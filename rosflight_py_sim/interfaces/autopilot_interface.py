"""The autopilot as a node: it hears where the vehicle is, and commands the flight controller."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from rosflight_msgs.msg import Command
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.guided import Guided
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.interfaces.diagnostics import Diagnosis
from rosflight_py_sim.interfaces.dynamics_interface import LONGEST_STEP_NS
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import (
    AUTOPILOT_PATH,
    AUTOPILOT_PHASE,
    AUTOPILOT_PROGRESS,
    COMMAND,
    SETPOINT,
    TRUTH_STATE,
    ControlCommand,
    Setpoint,
)
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.topic_statistics import Period
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.parameters import Parameter, ParameterTable, number
from rosflight_py_sim.physics.rotations import quaternion_from_euler
from rosflight_py_sim.stamps import NANOSECONDS

COMMAND_FREQUENCY = Parameter(
    "command_frequency", 100.0, "Rate of commands", "Hz", minimum=1.0, maximum=400.0, read_only=True
)

_PROGRESS_RATE_HZ = 10.0


class AutopilotInterface(SimulationNode, ABC):
    """A mission that is flown once autopilot/start has been called, from the true position, velocity and attitude.

    The commands go out on `command`, `command_frequency` times a second. The mission's phase is told on
    autopilot/phase, how much of it is over on autopilot/progress (0 to 1), where the vehicle shall be now on
    autopilot/setpoint and the whole planned path on autopilot/path (all NED).

    Class attributes:
        PHASES: of the mission, from the wait to the end.
        LANDS: whether a vehicle whose mission is done stands on the ground.
    """

    DEFAULT_NAME: ClassVar[str] = "autopilot"
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(COMMAND_FREQUENCY)
    PHASES: ClassVar[type[MissionPhase]]
    LANDS: ClassVar[bool]

    def __init__(self, **arguments: Any) -> None:
        """Listen to the truth state and wait."""
        self._state = VehicleState()
        self._last_ns = -1
        self._phase = ""
        self._publish_path: Callable[[Path], None] | None = None
        super().__init__(**arguments)
        self._schedule = Schedule(number(self.values, "command_frequency"))
        self._progress_schedule = Schedule(_PROGRESS_RATE_HZ)
        self._send_command = self.publisher(COMMAND)
        self._send_setpoint = self.publisher(SETPOINT)
        self._publish_phase = self.publisher(AUTOPILOT_PHASE)
        self._publish_progress = self.publisher(AUTOPILOT_PROGRESS)
        self.create_service(Trigger, "autopilot/start", self._start)
        self.subscribe(TRUTH_STATE, self._on_truth, qos=CHAIN, needed=True)
        self._tell_phase()

    @abstractmethod
    def start_mission(self, state: VehicleState) -> str:
        """Begin the mission; the answer tells the caller what happens now.

        Raises:
            RuntimeError: that cannot be now; the text says why.
        """

    @abstractmethod
    def guide(self, state: VehicleState, dt: float) -> Guided:
        """What to command for the next `dt` seconds; 0 after a gap, in which integrators must not move."""

    @property
    @abstractmethod
    def phase(self) -> MissionPhase:
        """Where in its mission the vehicle is."""

    @property
    @abstractmethod
    def progress(self) -> float:
        """Share of the mission that is over, 0 to 1."""

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """What the mission is about."""
        yield Diagnosis("", self.phase.label, values={"progress": self.progress})

    def tell_path(self, points_ned: Iterable[Vector3]) -> None:
        """Publish the planned path, as a polyline (m); the topic is there from the first one on."""
        self._publish_path = self._publish_path or self.publisher(AUTOPILOT_PATH)
        path = Path()
        path.header.frame_id = "NED"
        path.header.stamp = self.get_clock().now().to_msg()
        for north, east, down in points_ned:
            pose = PoseStamped(header=path.header)
            position = pose.pose.position
            position.x, position.y, position.z = north, east, down
            path.poses.append(pose)
        self._publish_path(path)

    def _start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._state.time_ns < 0:
            response.message = f"no {TRUTH_STATE.name} yet"
            return response
        try:
            response.message = self.start_mission(self._state)
        except RuntimeError as error:
            response.message = str(error)
            return response
        self._tell_phase()
        response.success = True
        return response

    def _on_truth(self, state: VehicleState) -> None:
        if state.time_ns == self._last_ns or not self._schedule.due(state.time_ns):
            return
        self._state = state
        elapsed_ns = state.time_ns - self._last_ns
        # A longer gap, or time going back, is a restart of another node: integrators must not see it.
        known = self._last_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        self._last_ns = state.time_ns
        guided = self.guide(state, elapsed_ns / NANOSECONDS if known else 0.0)
        self._send_command(ControlCommand(state.time_ns, guided.mode, Command.IGNORE_NONE, guided.u))
        w, x, y, z = quaternion_from_euler(0.0, 0.0, guided.yaw_rad)
        self._send_setpoint(Setpoint(state.time_ns, guided.position_ned, (x, y, z, w)))
        self._tell_phase()
        if self._progress_schedule.due(state.time_ns):
            self._publish_progress(Float64(data=self.progress))

    def _tell_phase(self) -> None:
        label = self.phase.label
        if label != self._phase:
            self._phase = label
            self._publish_phase(String(data=label))
