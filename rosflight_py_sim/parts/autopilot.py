"""Autopilots: the part that flies a mission by commanding the flight controller."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path as PathMessage
from numpy.typing import NDArray
from rosflight_msgs.msg import Command
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, number
from rosflight_py_sim.ground.shared_parameters import TAKE_OFF_TIMEOUT
from rosflight_py_sim.ground.stamps import NANOSECONDS, set_time
from rosflight_py_sim.kernels.chain import (
    NEVER_NS,
    Cell,
    Cells,
    ChainLink,
    Due,
    StepTime,
    Taken,
    Tick,
    advance_tick,
    gate,
    keeps,
    skip_after,
)
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.parts.pilot_script import AutopilotScript, MissionScript, PilotScript, awaited_by, hindrance_of
from rosflight_py_sim.physics.rotations import quaternion_from_euler
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Input, Kind, drop, output, polled, service, trigger
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS, Schedule
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    AUTOPILOT_PATH,
    AUTOPILOT_PHASE,
    AUTOPILOT_PROGRESS,
    AUTOPILOT_ROUTE,
    COMMAND,
    SETPOINT,
    STATUS,
    TRUTH_STATE,
    ControlCommand,
    SetpointSample,
    StatusReport,
    new_message,
)
from rosflight_py_sim.step.vehicle_state import TRUTH_SIZE, VehicleState

COMMAND_FREQUENCY = Parameter(
    "command_frequency", 100.0, "Rate of commands", "Hz", minimum=1.0, maximum=400.0, read_only=True
)

# Each access to a constant of a message class takes two dictionary lookups.
_IGNORE_NONE = Command.IGNORE_NONE

_PROGRESS_RATE_HZ = 10.0

# Mode, bits of values to ignore, and ten values.
_COMMAND_NUMBERS = 12


class Guided(Protocol):
    """A command with the target that it leads to, such as `AutopilotCommand`."""

    @property
    def position_ned(self) -> Vector3:
        """Target position, m."""

    @property
    def yaw_rad(self) -> float:
        """Target direction of nose or course."""


class AutopilotPart(Part, ABC):
    """Flies a mission from the true position, velocity and attitude once autopilot/start has been called.

    Publishes commands on `command`, or another topic of `send_command`, `command_frequency` times a second; the
    mission's phase on autopilot/phase, its progress on autopilot/progress (0 to 1), the current target pose on
    autopilot/setpoint, the whole planned path on autopilot/path and the waypoints that the mission must pass, in order,
    on autopilot/route (all NED).

    Attributes:
        command_numbers: memory of the command in a chain (12,): mode, bits of values to ignore, ten values.
        seen: memory of the state in a chain that the command answers (19,).

    Class attributes:
        PHASES: phases of the mission, in order.
        PLANS_PATH: whether it publishes its path on autopilot/path when the mission begins.
        WAYPOINT_RADIUS: parameter with the largest miss of a waypoint in a completed mission, m; None: no waypoints.
            An autopilot without a planned path has one waypoint, its moving set-point, in the phases with `on_path`.
        WAYPOINT_HEIGHT_ERROR: parameter with the largest height error at a waypoint in a completed mission, m;
            WAYPOINT_RADIUS then limits the horizontal distance. None: WAYPOINT_RADIUS limits the distance with height.
        LANDING_RADIUS: parameter with the largest distance of a landing from the intended place, m; None: no limit.
        PILOT: script that makes the flight controller ready and starts the mission.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.AUTOPILOT
    DEFAULT_NAME: ClassVar[str] = "autopilot"
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(COMMAND_FREQUENCY, TAKE_OFF_TIMEOUT)
    PHASES: ClassVar[type[MissionPhase]]
    PLANS_PATH: ClassVar[bool] = True
    WAYPOINT_RADIUS: ClassVar[Parameter | None] = None
    WAYPOINT_HEIGHT_ERROR: ClassVar[Parameter | None] = None
    LANDING_RADIUS: ClassVar[Parameter | None] = None
    PILOT: ClassVar[type[AutopilotScript]] = MissionScript
    REPLACED: ClassVar[tuple[str, ...]] = ("answer", "run", "send_guidance")

    send_command = output(COMMAND)
    send_setpoint = output(SETPOINT)
    send_phase = output(AUTOPILOT_PHASE)
    send_path = output(AUTOPILOT_PATH, when="plans_path")
    send_route = output(AUTOPILOT_ROUTE, when="plans_path")
    send_progress = output(AUTOPILOT_PROGRESS)
    states = trigger(TRUTH_STATE, needed=True)
    take_status = polled(STATUS, when="commands_firmware")

    def initialise(self) -> None:
        """Wait for the start."""
        super().initialise()
        self._status: StatusReport | None = None
        self._state = VehicleState()
        self._guided_ns = -1
        # Numbers of the last command in a chain, and the state that it answers.
        self.command_numbers, self.seen = np.zeros(_COMMAND_NUMBERS), np.zeros(TRUTH_SIZE)
        self._give: Callable[[Any], None] | None = None
        self._tick = Tick(time_ns=-1, dt=0.0, longest_ns=LONGEST_STEP_NS)
        # Position (m) and yaw angle (rad) of the last set-point, and its stamp.
        self._target, self._target_ns = np.zeros(4), -1
        self._phase: MissionPhase | None = None
        self._progress_schedule = Schedule(_PROGRESS_RATE_HZ)

    @cached_property
    def schedule(self) -> Schedule:
        """Due times of the commands; an answer at another time does nothing."""
        return Schedule(number(self.values, COMMAND_FREQUENCY.name))

    def begin(self) -> None:
        """Send the phase before the mission."""
        self._report_phase()

    @abstractmethod
    def start_mission(self, state: VehicleState) -> str:
        """Begin the mission, and return the reply of autopilot/start.

        Raises:
            RuntimeError: the mission cannot begin now, with the reason.
        """

    @abstractmethod
    def guide(self, state: VehicleState, dt: float) -> Guided | None:
        """Compute the command and the set-point; `dt` is the time since the previous call, s, and 0 after a gap.

        None sends nothing: the autopilot calls `send_guidance` itself.
        """

    @property
    def seen_state(self) -> VehicleState:
        """A copy of the state that the last command in a chain answers."""
        return VehicleState(self._tick.time_ns, self.seen.copy())

    @property
    def awaits_guidance(self) -> bool:
        """Whether `guide` has returned None because `send_guidance` follows from outside; a chain waits for it."""
        return False

    @property
    @abstractmethod
    def phase(self) -> MissionPhase:
        """Phase of the mission."""

    @property
    @abstractmethod
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1."""

    @property
    def has_state(self) -> bool:
        """Whether a truth state has arrived, so that the time is known."""
        return self._state.time_ns >= 0

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Phase and progress of the mission."""
        yield Diagnosis("", self.phase.label, values={"progress": self.progress})

    def publish_path(self, points_ned: Iterable[Vector3]) -> None:
        """Publish the planned path as a polyline (m); for classes with PLANS_PATH.

        Raises:
            RuntimeError: no truth state has arrived, so the time is not known.
        """
        self.send_path(self._places(AUTOPILOT_PATH.name, points_ned))

    def publish_route(self, waypoints_ned: Iterable[Vector3]) -> None:
        """Publish the waypoints that the mission must pass, in order (m); for classes with PLANS_PATH.

        Raises:
            RuntimeError: no truth state has arrived, so the time is not known.
        """
        self.send_route(self._places(AUTOPILOT_ROUTE.name, waypoints_ned))

    def commands_firmware(self) -> bool:
        """Whether the flight controller is ROSflight's firmware, whose status is an input."""
        return issubclass(self.PILOT, PilotScript)

    def hindrance(self) -> str:
        """Why the flight controller cannot fly the mission, and what to do; empty if nothing is known."""
        self._status = self.take_status() or self._status
        return hindrance_of(self._status) if self._status is not None else ""

    def awaited(self) -> str:
        """What the mission that has just begun waits for; empty if nothing is known."""
        return awaited_by(self._status) if self._status is not None else ""

    def plans_path(self) -> bool:
        """Whether the path and the waypoints are outputs."""
        return self.PLANS_PATH

    def _places(self, topic: str, places_ned: Iterable[Vector3]) -> PathMessage:
        if not self.has_state:
            raise RuntimeError(f"no {TRUTH_STATE.name} yet: {topic} would have no stamp")
        path = PathMessage()
        path.header.frame_id = "NED"
        set_time(path.header.stamp, self._state.time_ns)
        for north, east, down in places_ned:
            pose = PoseStamped(header=path.header)
            position = pose.pose.position
            position.x, position.y, position.z = north, east, down
            path.poses.append(pose)
        return path

    @service(Trigger, "autopilot/start")
    def _start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self.has_state:
            response.message = f"no {TRUTH_STATE.name} yet"
            return response
        hindrance = self.hindrance()
        if hindrance:
            response.message = hindrance
            return response
        try:
            response.message = "; ".join(filter(None, (self.start_mission(self._state), self.awaited())))
        except RuntimeError as error:
            response.message = str(error)
            return response
        self._report_phase()
        response.success = True
        return response

    def answer(self, time_ns: int, content: VehicleState) -> None:
        """Send the command and the set-point when they are due."""
        if time_ns == self._guided_ns or not self.schedule.due(time_ns):
            return
        self.idle_until_ns = self.schedule.next_ns
        self._state = content
        elapsed_ns = time_ns - self._guided_ns
        # After a longer gap, or if time goes back, another node was restarted: integrators must not advance.
        is_step = self._guided_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        self._guided_ns = time_ns
        guided = self.guide(content, elapsed_ns / NANOSECONDS if is_step else 0.0)
        if guided is not None:
            self.send_guidance(time_ns, guided)

    def send_guidance(self, time_ns: int, guided: Any) -> None:
        """Send the command and the set-point that `guide` has returned, and the state of the mission."""
        if self._give is not None and self.awaits_guidance:
            self._give(guided)
            return
        self.give_command(time_ns, guided)
        self._set_target(time_ns, guided)
        self.send_setpoint(self._setpoint(time_ns))
        self._report(time_ns)

    def _set_target(self, time_ns: int, guided: Guided) -> None:
        self._target[:3], self._target[3], self._target_ns = guided.position_ned, guided.yaw_rad, time_ns

    def _setpoint(self, time_ns: int) -> SetpointSample:
        north, east, down, yaw = self._target.tolist()
        w, x, y, z = quaternion_from_euler(0.0, 0.0, yaw)
        return SetpointSample(time_ns, (north, east, down), (x, y, z, w))

    def _report(self, time_ns: int) -> None:
        self._report_phase()
        if self._progress_schedule.due(time_ns):
            self.send_progress(Float64(data=self.progress))

    def prepare_command(self, mode: int, target: Guided) -> None:
        """Set the mode of the command in a chain, and the target of the set-point."""
        self.command_numbers[:2] = mode, _IGNORE_NONE
        self._set_target(self._guided_ns, target)

    def give_command(self, time_ns: int, guided: Any) -> None:
        """Send the command that `guide` has returned; a class whose `guide` returns another one overrides this."""
        self.send_command(new_message(ControlCommand, (time_ns, guided.mode, _IGNORE_NONE, guided.u)))

    # Compiled answers.

    def guide_link(
        self,
        tick: Tick,
        cells: Cells,
        command: NDArray[np.float64],
        target: NDArray[np.float64],
    ) -> Callable[[], bool] | None:
        """`guide` as a kernel of a chain; None if Python must guide.

        It returns whether Python must guide in this step; then it has not advanced the mission.

        Args:
            tick: time of the state, and the time since the last one.
            cells: numbers of the topics of the chain, the true state (19,) and the wind (3,) among them.
            command: the command that the kernel writes: mode, bits of values to ignore, ten values.
            target: position (m, 3) and yaw angle (rad) of the set-point that it writes.
        """
        return None

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Guide in the chain when a command is due, by a kernel or by Python; None if a receiver needs messages.

        A command of another kind is sent as a message.
        """
        truth = cells[TRUTH_STATE.name]
        command, seen = self.command_numbers, self.seen
        has_numbers = type(self).send_command.topic is COMMAND and keeps(type(self), "links", "give_command")
        received = taken(COMMAND.name, command) if has_numbers else ()
        if received is None:
            return None
        tick = self._tick = Tick(time_ns=self._guided_ns, dt=0.0, longest_ns=LONGEST_STEP_NS)
        guided = self.guide_link(tick, cells, command, self._target) if has_numbers else None

        def sent_ns() -> int:
            return self._target_ns if guided is None else max(self._target_ns, tick.time_ns)

        if taken(SETPOINT.name, self._target, Cell(self._target, self._setpoint, sent_ns)) != []:
            return None
        kept = [
            (port.taker(self), cells[port.topic.name].message)
            for port in self.ports(Input)
            if port.kind is Kind.NEWEST and port.function is None and port.topic.name in cells
        ]
        silent = Due(at_ns=NEVER_NS)

        def state_at(time_ns: int) -> VehicleState:
            for take, message in kept:
                take(message(time_ns))
            state: VehicleState = truth.message(time_ns)
            return state

        def answer_by_python(time_ns: int) -> None:
            if time_ns >= self.idle_until_ns:
                self.run(time_ns, state_at(time_ns))

        def guide_by_python(time_ns: int) -> bool:
            self.schedule.due(time_ns)
            self.idle_until_ns = self.schedule.next_ns
            self._state, self._guided_ns, self._give = state_at(time_ns), time_ns, give
            guided: Any = self.guide(self._state, tick.dt)
            silent.at_ns = NEVER_NS if guided is not None or self.awaits_guidance else 0
            if guided is not None:
                give(guided)
            return self.awaits_guidance

        def give(guided: Any) -> None:
            if has_numbers:
                self.prepare_command(guided.mode, guided)
                command[2:] = guided.u
            else:
                self.give_command(self._guided_ns, guided)
                self._set_target(self._guided_ns, guided)
            self._report(self._guided_ns)

        def report(time_ns: int) -> None:
            self._report(time_ns)
            progress.at_ns = self._progress_schedule.next_ns

        is_progress_sent = self.send_progress is not drop
        progress = Due(at_ns=self._progress_schedule.next_ns if is_progress_sent else NEVER_NS)

        def leave(answered_ns: int) -> None:
            self.idle_until_ns, self.answered_ns, self._give = self.schedule.next_ns, tick.time_ns, None
            # Otherwise Python has guided at that time.
            if tick.time_ns > self._guided_ns:
                self._guided_ns = self._target_ns = tick.time_ns
                self._state = VehicleState(tick.time_ns, seen.copy())

        answered = (
            ChainLink(bound(advance_tick, time, tick, truth.memory, seen)),
            gate(time, Due(at_ns=0), guide_by_python)
            if guided is None
            else ChainLink(guided, lambda time_ns, _: guide_by_python(time_ns)),
            ChainLink(bound(skip_after, time, silent, len(received))),
            *received,
            gate(time, progress, report),
        )
        return self.schedule.links(time, answered, answer_by_python, leave)

    def _report_phase(self) -> None:
        phase = self.phase
        if phase is not self._phase:
            self._phase = phase
            self.send_phase(String(data=phase.label))


class Mission(Protocol):
    """A mission that an autopilot flies."""

    @property
    def phase(self) -> MissionPhase:
        """Present phase."""

    @property
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1."""


M = TypeVar("M", bound=Mission)


class MissionAutopilot(AutopilotPart, Generic[M]):
    """An autopilot whose phase and progress are those of its mission.

    Attributes:
        mission: the mission, set by the first `configure`.
    """

    mission: M

    @property
    def phase(self) -> MissionPhase:
        """Phase of the mission."""
        return self.mission.phase

    @property
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1."""
        return self.mission.progress
