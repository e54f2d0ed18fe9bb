"""Flight of one vehicle without ROS: the parts of its nodes in a pipeline, with a pilot and the judge of its mission.

The trajectory equals that of the composed graph, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from std_msgs.msg import String

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.graph.parameter_sources import ParameterSources
from rosflight_py_sim.graph.plan import planned_nodes
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import number
from rosflight_py_sim.ground.shared_parameters import STEP_SIZE
from rosflight_py_sim.ground.stamps import NANOSECONDS, seconds_text
from rosflight_py_sim.interfaces.node_of_part import part_of
from rosflight_py_sim.missions.autopilot.judge import AutopilotJudge
from rosflight_py_sim.missions.flight import not_done
from rosflight_py_sim.missions.mission_judge import Input as JudgeInput
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.nodes.lockstep_time_manager import LockstepTimeManager
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.parts.autopilot import AutopilotPart
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.compiled_steps import Newest, Receiver, Take
from rosflight_py_sim.step.mission_topics import MISSION_END
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.ports import Input, Output, ports_of
from rosflight_py_sim.step.topics import StepTopic
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import CAMERA


class NeedsGraphError(ValueError):
    """The vehicle cannot fly without ROS; the text gives the reason."""


class Sent(NamedTuple):
    """A topic that a node sends.

    Attributes:
        namespace: that of the vehicle; empty for a single one.
        node: default name of the node.
        topic: the topic.
        is_lazy: whether its messages are made only for receivers.
    """

    namespace: str
    node: str
    topic: StepTopic[Any]
    is_lazy: bool

    @property
    def name(self) -> str:
        """Name of the topic, after the vehicle's namespace and a slash."""
        return f"{self.namespace}/{self.topic.name}" if self.namespace else self.topic.name


Observe: TypeAlias = Callable[[Sent, Callable[[], int]], Take | None]
"""Function called with each topic that the nodes send, and a function that returns the time, ns.

It returns a function that takes the messages, or None."""


class PipelineFlight:
    """A vehicle that flies the mission of its autopilot, without ROS.

    Attributes:
        pipeline: the vehicle's parts, and the pilot.
        board: the flight controller.
        judge: judge of the mission.
        step_ns: length of a step, ns.
    """

    def __init__(
        self, member: Member, sources: ParameterSources, time_manager: str = "", *, observe: Observe | None = None
    ) -> None:
        """Put the vehicle at its start.

        Args:
            member: the vehicle.
            sources: sources of its parameters.
            time_manager: executable of the time manager, whose step size applies; empty: that of lockstep.
            observe: further receivers; None: none.

        Raises:
            NeedsGraphError: a part of the vehicle, or the time manager, runs only as a node.
            ParameterError: a parameter is missing or not allowed.
        """
        parts = built_parts(parts_of(member), member, sources)
        self.board: Any = next(part for part in parts if part.KIND is NodeKind.FLIGHT_CONTROLLER)
        if not self.board.values.get("use_timer", True):
            raise NeedsGraphError("firmware that is run by service calls (use_timer: false) needs the node graph")
        autopilot = next(part for part in parts if isinstance(part, AutopilotPart))
        limits = AutopilotJudge.limits_for(member.vehicle)
        self.judge = AutopilotJudge(member.vehicle, {limit.name: autopilot.values[limit.name] for limit in limits})
        self._dynamics = dynamics = next(part for part in parts if isinstance(part, Truth))
        self._pilot = autopilot.PILOT({}, dynamics=dynamics.values, autopilot=autopilot.values)
        self.step_ns = round(step_size_s(time_manager, sources) * NANOSECONDS)
        receivers: list[Receiver | tuple[StepTopic[Any], Take]]
        receivers = [_receiver(self.judge, one) for one in self.judge.inputs]
        parts.append(self._pilot)
        if observe is not None:
            sent: dict[str, Sent] = {}
            for part in parts:
                for port in part.ports(Output):
                    one = Sent(member.namespace, part.DEFAULT_NAME, port.topic, port.lazy)
                    sent.setdefault(port.topic.name, one)
            takes = ((one.topic, observe(one, self.time_ns)) for one in sent.values())
            receivers += [(topic, take) for topic, take in takes if take is not None]
        self.pipeline = Pipeline(parts, self.step_ns, receivers)
        self.judge.relink = self.pipeline.relink

    def time_ns(self) -> int:
        """Time of the step under way, ns; 0 before the first."""
        return self.pipeline.now_ns if hasattr(self, "pipeline") else 0

    @property
    def state(self) -> VehicleState:
        """True state."""
        return VehicleState(self.pipeline.time_ns, self._dynamics.compute_truth().copy())

    @property
    def is_over(self) -> bool:
        """Whether the mission has ended, with or without success."""
        pilot, judge = self._pilot, self.judge
        return pilot.failure is not None or bool(judge.take_off.text) or (pilot.done and judge.log.is_completed)

    def fly(self, limit_s: float) -> None:
        """Fly until the mission has ended, at most `limit_s` of simulated time; then report the end to the judge."""
        limit_ns = round(limit_s * NANOSECONDS)
        pipeline, reason = self.pipeline, ""
        try:
            while not self.is_over and pipeline.time_ns < limit_ns:
                pipeline.advance(limit_ns)
        except StateDivergedError as error:
            reason = f"{error} at {seconds_text(pipeline.time_ns + self.step_ns)}"
        if self._pilot.failure is not None:
            reason = str(self._pilot.failure)
        elif not reason and self.judge.take_off.text:
            reason = f"{self._pilot.activity}: {self.judge.take_off.text}"
        elif not reason and not self.is_over:
            reason = not_done(self._pilot.activity, limit_s)
        pipeline.give(MISSION_END, String(data=reason))


def _receiver(judge: MissionJudge, wanted: JudgeInput) -> Receiver:
    """Receiver of an input of a judge."""
    if wanted.is_kept:
        newest = Newest()
        judge.polled[wanted.topic.name] = newest.pop
        return Receiver(wanted.topic, newest.take, newest=newest)
    return Receiver(wanted.topic, wanted.take, partial(getattr, judge, "idle_until_ns"), links=judge.links)


def parts_of(member: Member) -> dict[str, type[Part]]:
    """Parts of a vehicle that flies the mission of its autopilot, by executable; cameras are left out.

    Raises:
        NeedsGraphError: a part of the vehicle runs only as a node.
    """
    vehicle, controller = member.vehicle, flight_controller_of(member)
    if vehicle.mission is not None:
        raise NeedsGraphError(f"mission '{vehicle.mission.task}', flown by a program, runs only in the node graph")
    if not vehicle.autopilot:
        raise NeedsGraphError("a vehicle without an autopilot flies only in the node graph")
    parts = planned_parts(member, vehicle.autopilot)
    if not controller.follows(vehicle.autopilot):
        raise NeedsGraphError(f"flight controller '{controller.name}' does not follow '{vehicle.autopilot}'")
    return parts


def planned_parts(member: Member, *further: str) -> dict[str, type[Part]]:
    """Parts of a vehicle's nodes, and of `further` executables, by executable; cameras are left out.

    Raises:
        NeedsGraphError: a part runs only as a node.
    """
    planned = [one.executable for one in planned_nodes([member]) if one.executable != CAMERA]
    parts: dict[str, type[Part]] = {}
    for executable in dict.fromkeys([*planned, *further]):
        part = part_of(node_class(executable))
        # A part that receives another vehicle's topics needs that vehicle.
        if part is None or any(isinstance(port, Input) and port.at for port in ports_of(part)):
            raise NeedsGraphError(f"node '{executable}' runs only in the node graph")
        parts[executable] = part
    return parts


def built_parts(parts: Mapping[str, type[Part]], member: Member, sources: ParameterSources) -> list[Part]:
    """The parts of a vehicle, built with its parameters.

    Raises:
        ParameterError: a parameter is missing or not allowed.
    """
    return [part(sources.values_of(node_class(executable), member)) for executable, part in parts.items()]


def step_size_s(time_manager: str, sources: ParameterSources, varied: Collection[str] = ()) -> float:
    """Length of the steps that a flight without ROS takes, s: the parameter `step_size` of the time manager.

    Args:
        time_manager: executable of the time manager; empty: that of lockstep.
        sources: sources of its parameters.
        varied: names of parameters that differ from run to run.

    Raises:
        NeedsGraphError: the time manager determines the time in another way, or has been given a parameter that
            LockstepTimeManager does not have.
        ParameterError: a parameter is not allowed.
    """
    cls = node_class(time_manager or TIME_MANAGERS["lockstep"])
    if not issubclass(cls, LockstepTimeManager) or cls.update_time is not LockstepTimeManager.update_time:
        raise NeedsGraphError(
            f"time manager '{time_manager}' runs only in the node graph; a flight without ROS takes the steps of "
            "LockstepTimeManager and of classes derived from it without an update_time of their own"
        )
    values = sources.values_of(cls, None)
    for one in cls.PARAMETERS:
        is_given = one.name in varied or values[one.name] != one.default
        if is_given and one.name not in LockstepTimeManager.PARAMETERS:
            raise NeedsGraphError(
                f"parameter '{one.name}' of time manager '{time_manager}' given, which has an effect only in the node "
                f"graph; allowed: its default, {one.text_of(one.default)}"
            )
    return number(values, STEP_SIZE.name)
