"""Base class of time managers, which advance the simulated time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from rclpy.clock import ClockType
from rclpy.exceptions import InvalidTopicNameException
from rclpy.task import Future
from rclpy.timer import Timer
from rclpy.validate_topic_name import validate_topic_name
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value, number
from rosflight_py_sim.ground.shared_parameters import STEP_SIZE, TIME_MODE, TIME_MODES
from rosflight_py_sim.ground.stamps import NANOSECONDS, seconds_text
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import output, queued, service
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import CLOCK, FAULT, HAS_STARTED, PAUSED, topic_of

VEHICLES = Parameter(
    "vehicles",
    [""],
    "Namespaces of the vehicles served, relative to the node's namespace; empty text for the node's own",
    read_only=True,
)

REAL_TIME_MULTIPLIER = Parameter(
    "real_time_multiplier", 1.0, "Simulated seconds per second of system time", minimum=1e-3, maximum=1e6
)

_SIMULATED = TIME_MODE.overridden(
    "this node advances simulated time, which wall does not have",
    default="paced",
    choices=tuple(mode for mode in TIME_MODES if mode != "wall"),
)

TIME_MANAGER_PARAMETERS = ParameterTable(
    _SIMULATED,
    REAL_TIME_MULTIPLIER,
    VEHICLES,
    Parameter("step_count", 1, "Steps that one call of time_manager/step advances", minimum=1, maximum=1e9),
)


def only(time_mode: str) -> Parameter:
    """The parameter `time_mode` of a time manager that serves a single one."""
    return _SIMULATED.overridden("the only one of this time manager", default=time_mode, choices=(time_mode,))


# Below this share of the requested pace, the machine counts as too slow.
_KEEPS_PACE = 0.9

# System time in which a time manager that is restarted in a running graph receives the graph's time, s.
_TIME_ARRIVES_S = 15.0

# Number of consecutive reports without a step that causes a warning; a single step may outlast a report's period.
_SILENT_PERIODS = 2

# The same before the first step, while nodes may still be starting.
_START_PERIODS = 10


class TimedVehicle(Part):
    """A vehicle, as a time manager receives it.

    Attributes:
        name: its namespace, relative to the time manager's.
        manager: the time manager.
    """

    send_has_started = output(HAS_STARTED)

    def __init__(self, name: str, manager: Any) -> None:
        """Store the attributes."""
        self.name, self.manager = name, manager
        super().__init__({})

    def begin(self) -> None:
        """Send whether time has started, because a vehicle may join later."""
        self.send_has_started(Bool(data=self.manager.steps > 0))

    @queued(FAULT)
    def _on_fault(self, message: String) -> None:
        if message.data:
            self.manager.on_fault(self.name, message.data)


class TimeManagerInterface(PartNode, ABC):
    """Publishes /clock and sim/paused; offers time_manager/toggle_pause and time_manager/step.

    A derived class calls `advance` whenever a new time is due and `may_advance` is true, and `check_end` once per step.
    It implements `update_time`, which advances its time, and `get_seconds` and `get_nanoseconds`, which return it. A
    class that waits for the graph's answer to a time also overrides `step_is_complete`, and calls `answer_step` when
    the answer is complete.
    A message on any vehicle's sim/fault pauses the simulation. sim/has_started of each vehicle is false until the first
    time after 0, so that dynamics publishes the initial state at time 0, but waits for /clock when it is restarted.

    Attributes:
        is_held: whether the condition of `advance_while` has ended the simulation.
        is_between_steps: whether no further step begins, see `stay_between_steps`.
        vehicles: namespaces of the vehicles, relative to the node's own.
        timed: a part for each vehicle, of the class in HOSTS, which is derived from `TimedVehicle`.
        steps: number of times that time has been advanced.
        lags: how often the simulation fell so far behind its pace that it stopped catching up.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.TIME_MANAGER
    DEFAULT_NAME: ClassVar[str] = "time_manager"
    PARAMETERS: ClassVar[ParameterTable] = TIME_MANAGER_PARAMETERS
    HOSTS: ClassVar[tuple[type[Any], ...]] = (TimedVehicle,)

    send_time = output(CLOCK)
    send_paused = output(PAUSED)

    def initialise(self) -> None:
        """Set the state before the first step."""
        super().initialise()
        self._is_paused = self.is_held = self.is_between_steps = False
        self._go_on: Callable[[], bool] = lambda: True
        self.vehicles: list[str] = []
        self._knows_vehicles = False
        self.timed: Sequence[Any] = ()
        self.lags = 0
        self.steps, self._steps_reported = 0, 0
        self._late_periods = self._silent_periods = 0
        self._steps_left = self._steps_requested = 0
        self._stepped: Future[Trigger.Response] | None = None
        self._has_warned = False
        self._knows_time_s = time.monotonic() + _TIME_ARRIVES_S
        self._has_started = False

    def begin(self) -> None:
        """Connect the vehicles."""
        self.follow_stamps()
        self.send_paused(Bool(data=self.paused))
        for vehicle in self.timed:
            self.host(vehicle, vehicle.name)

    def configure(self, values: dict[str, Value]) -> None:
        """Check the names of the vehicles; a derived class calls this first."""
        if not self._knows_vehicles:
            self._knows_vehicles = True
            self.vehicles = vehicle_namespaces(values["vehicles"])
            self.timed = [self.HOSTS[0](name, self) for name in self.vehicles]

    def create_timer(
        self, timer_period_sec: float, callback: Callable[[], None], *arguments: Any, **options: Any
    ) -> Timer:
        """As rclpy's; a timer on simulated time, which cannot advance that time, causes a warning."""
        timer = super().create_timer(timer_period_sec, callback, *arguments, **options)
        if timer.clock.clock_type is ClockType.ROS_TIME and self.get_parameter("use_sim_time").value:
            self.get_logger().warning(
                f"the timer of {timer_period_sec:g} s runs on simulated time, which this node itself advances: it does "
                "not fire before the time advances; create a timer that advances the time with create_system_timer"
            )
        return timer

    @abstractmethod
    def update_time(self) -> None:
        """Advance the simulated time to the next instant."""

    @abstractmethod
    def get_seconds(self) -> int:
        """Whole seconds of the simulation's time."""

    @abstractmethod
    def get_nanoseconds(self) -> int:
        """Nanoseconds of the simulation's time beyond the whole seconds."""

    def on_resume(self) -> None:
        """Called when a pause ends or steps are requested, to take a step that was held back."""

    @property
    def paused(self) -> bool:
        """Whether the simulation is paused; each change is published."""
        return self._is_paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        if paused is not self._is_paused:
            self._is_paused = paused
            self.send_paused(Bool(data=paused))

    @property
    def step_is_complete(self) -> bool:
        """Whether all answers to the current time have arrived; true by default."""
        return True

    @property
    def is_stalled(self) -> bool:
        """Whether steps have stopped for a reason that the derived class reports; false by default."""
        return False

    @property
    def stands_still(self) -> bool:
        """Whether no step will be completed without an event from outside of the step."""
        return not self.steps or self.paused or self.is_stalled

    @property
    def may_advance(self) -> bool:
        """Whether time may advance: not held, and not paused, or paused with requested steps left."""
        return not self.is_held and not self.is_between_steps and (not self.paused or self._steps_left > 0)

    def advance_while(self, go_on: Callable[[], bool]) -> None:
        """Advance until `go_on` returns False; it is called once per step, when the step is complete.

        The step at which the simulation ends therefore depends on simulated events only.
        """
        self._go_on = go_on
        if self.is_held:
            self.is_held = False
            self.on_resume()

    def stay_between_steps(self, stay: bool) -> None:
        """Begin no further step, so that vehicles can be added and removed; with `stay` False, continue."""
        self.is_between_steps = stay
        if not stay:
            self.on_resume()

    @property
    def joining_ns(self) -> int:
        """Time of the first step of a vehicle that is added now, ns."""
        return self._present_ns

    def add_vehicle(self, name: str) -> None:
        """Serve another vehicle; call this only between two steps.

        Args:
            name: its namespace, relative to the node's own.
        """
        vehicle = self.HOSTS[0](name, self)
        self.vehicles, self.timed = [*self.vehicles, name], [*self.timed, vehicle]
        self.host(vehicle, name)

    def remove_vehicle(self, name: str) -> None:
        """Stop serving a vehicle; call this only between two steps."""
        vehicle = next(one for one in self.timed if one.name == name)
        self.vehicles = [other for other in self.vehicles if other != name]
        self.timed = [one for one in self.timed if one is not vehicle]
        self.unhost(vehicle)

    def check_end(self) -> None:
        """Hold the simulation once the condition of `advance_while` is false; called once per step."""
        self.is_held = self.is_held or not self._go_on()

    def advance(self) -> None:
        """Advance time by one step and publish it."""
        self.update_time()
        self.publish_time()
        self.steps += 1
        if self._steps_left > 0:
            self._steps_left -= 1
        if self._stepped is not None and self.step_is_complete:
            self.answer_step()

    def publish_time(self) -> None:
        """Publish the current time, even if it has been published before."""
        time_ns = self._present_ns
        if not self._has_started and time_ns:
            self._has_started = True
            for vehicle in self.timed:
                vehicle.send_has_started(Bool(data=True))
        self.update_clock(time_ns)
        self.send_time(time_ns)

    @property
    def _present_ns(self) -> int:
        return self.get_seconds() * NANOSECONDS + self.get_nanoseconds()

    def answer_step(self) -> None:
        """Reply to time_manager/step if the last requested step has been taken."""
        if self._stepped is not None and self._steps_left == 0:
            count, stepped = self._steps_requested, self._stepped
            self._stepped = None
            text = f"advanced {count} step{'s' if count > 1 else ''}, to {self.time_text}"
            stepped.set_result(Trigger.Response(success=True, message=text))

    @property
    def has_time(self) -> bool:
        """Whether the time to begin with is known; true by default."""
        return True

    def knows_time(self, time_ns: int) -> bool:
        """As in SimulationNode, but no other node tells a time manager that time has not started."""
        return bool(time_ns) or self.has_time or time.monotonic() >= self._knows_time_s

    def time_mode_mismatch(self, *, amiss: bool = True) -> str:
        """As in SimulationNode, but always checked: steps may continue even if a node runs in another time mode."""
        return super().time_mode_mismatch(amiss=True)

    def warn_of_missing(self, text: str) -> None:
        """Log that messages are missing, once until `end_of_missing`; call it repeatedly while they are.

        A node that runs in another time mode is named instead. Before its report can have arrived, nothing is logged.
        """
        if not self._has_warned and not self.time_mode_mismatch() and self.time_modes_are_known:
            self._has_warned = True
            self.get_logger().warning(text)

    def end_of_missing(self) -> None:
        """Have the next call of `warn_of_missing` log again."""
        self._has_warned = False

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Rate at which time passes, compared with the requested rate."""
        steps, self._steps_reported = self.steps - self._steps_reported, self.steps
        requested, factor = number(self.values, "real_time_multiplier"), period.real_time_factor
        late = steps > 0 and not self.paused and factor < _KEEPS_PACE * requested
        # One late period causes no warning, because it may contain the start or a pause.
        self._late_periods = self._late_periods + 1 if late else 0
        silent = steps == 0 and not self.paused and not self.is_stalled
        silent = silent and (requested == 0.0 or requested * period.wall_s > STEP_SIZE.maximum)
        self._silent_periods = self._silent_periods + 1 if silent else 0
        values = {"steps": self.steps, "steps/s": steps / period.wall_s, "fallen behind": self.lags}
        level = Level.OK
        if self.paused:
            message = f"paused at {self.time_text}"
        elif self._silent_periods >= (_SILENT_PERIODS if self.steps else _START_PERIODS):
            level, message = Level.WARN, f"no step after {self.time_text} although not paused"
        elif self._late_periods > 1:
            level, message = Level.WARN, f"{factor:.2f} x real time; requested: {requested:g}"
        else:
            message = f"{factor:.2f} x real time"
        yield Diagnosis("", message, level, values=values)

    @property
    def time_text(self) -> str:
        """Current time as text."""
        return seconds_text(self._present_ns)

    @service(Trigger, "time_manager/toggle_pause")
    def _toggle_pause(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.paused = not self.paused
        response.success = True
        response.message = f"{'paused' if self.paused else 'running'} at {self.time_text}"
        self.get_logger().info(response.message)
        if not self.paused:
            self._steps_left = 0
            self.answer_step()
            self.on_resume()
        return response

    @service(Trigger, "time_manager/step")
    def _step(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response | Future[Trigger.Response]:
        if not self.paused:
            response.message = "the simulation is running; pause it with time_manager/toggle_pause before stepping"
            return response
        if self._stepped is not None:
            response.message = "the steps of an earlier call are not complete yet"
            return response
        self._steps_left = self._steps_requested = int(number(self.values, "step_count"))
        stepped: Future[Trigger.Response] = Future()
        self._stepped = stepped
        # Without vehicles, the steps are complete when this returns.
        self.on_resume()
        return stepped

    def on_fault(self, vehicle: str, text: str) -> None:
        """Pause because of a vehicle's fault."""
        self.paused = True
        whose = f"{vehicle}: " if vehicle else ""
        self.get_logger().error(f"paused at {self.time_text}: {whose}{text}")


def vehicle_namespaces(given: Value, parameter: str = VEHICLES.name) -> list[str]:
    """Checked value of a parameter that lists vehicles; only another one than `vehicles` may be empty.

    Raises:
        ParameterError: the list has a duplicate or an invalid namespace, or may not be empty.
    """
    names = [str(name) for name in given] if isinstance(given, list) else []
    try:
        for name in names:
            validate_topic_name(topic_of(name, FAULT.name))
    except InvalidTopicNameException as error:
        raise ParameterError(f"parameter '{parameter}': {given!r} given; allowed: namespaces ({error})") from error
    least = "at least one namespace" if parameter == VEHICLES.name else "namespaces"
    if len(set(names)) < max(len(names), parameter == VEHICLES.name):
        raise ParameterError(f"parameter '{parameter}': {given!r} given; allowed: {least}, each once")
    return names
