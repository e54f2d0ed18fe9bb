"""A part of the simulation, without ROS: parameters, ports, and the answer to each step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import FAILURES, Failure
from rosflight_py_sim.failures.schedule import FailureSchedule, Signals
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import ParameterTable, Value
from rosflight_py_sim.ground.shared_parameters import CLOCK_PARAMETERS, with_clock
from rosflight_py_sim.ground.start_date import start_of, unix_ns
from rosflight_py_sim.kernels.chain import Cell, Cells, ChainLink, Due, StepTime, Taken
from rosflight_py_sim.step.join import JoinRule
from rosflight_py_sim.step.ports import Each, Input, Kind, Output, Port, Service, drop, ports_of
from rosflight_py_sim.step.stamped_inputs import StampedInputs

P = TypeVar("P", bound=Port)


class Log(Protocol):
    """Log of a part: the logger of its node, or another object with these methods."""

    def info(self, text: str) -> Any: ...

    def warning(self, text: str) -> Any: ...

    def error(self, text: str) -> Any: ...

    def fatal(self, text: str) -> Any: ...


class NoLog:
    """A log that drops every text."""

    def info(self, text: str) -> None:
        """Drop the text."""

    warning = error = fatal = info


class Relayed(NamedTuple):
    """A message that a part sends for each message it receives on a topic.

    Attributes:
        output: the output.
        count_unsent: counts messages that a chain has not made.
        cell: the numbers; None if kernels cannot serialise the message.
    """

    output: Output[Any]
    count_unsent: Callable[[int], None]
    cell: Cell | None


class Part:
    """Base class of parts: computes an answer to each message of its trigger, and sends it by its outputs.

    The class body declares the ports (`step/ports.py`). A derived class sets its state in `initialise` and implements
    `answer`. Without ROS, `cls(values)` creates a part, which runs in a `Pipeline`. With ROS, it runs as a node whose
    class derives from the part and from `PartNode` (`interfaces/part_node.py`).

    Class attributes:
        KIND: kind of the part's node; a class that another package registers as a node must have one.
        DEFAULT_NAME: name of the part's node unless another is given.
        ALIASES: further node names whose sections in parameter files apply, strongest first.
        FILLS: default names of further nodes that the part's node replaces.
        PARAMETERS: the part's parameters, which `table_for` may extend.
        FALLIBLE: names of the targets that can fail, from `failures.failure.TARGETS`.
        REPLACED: methods that the `links` of the class replace; a class that overrides one runs it instead.

    Attributes:
        values: value of each parameter, checked.
        given: names of the parameters that the user has set, for `ignored_parameters`; empty without ROS.
        has_failures: whether there are failures, active or not.
        lockstep: whether answers wait for the inputs with the trigger's stamp.
        idle_until_ns: time until which triggers need no answer, ns; a pipeline skips earlier ones.
        wake: time at which a chain asks the part for an answer by Python; a gate of its `links`.
        answered_ns: stamp of the last answer, ns; -1 before the first. During `answer`, the stamp of the previous one.
    """

    KIND: ClassVar[NodeKind | None] = None
    DEFAULT_NAME: ClassVar[str]
    ALIASES: ClassVar[tuple[str, ...]] = ()
    FILLS: ClassVar[tuple[str, ...]] = ()
    PARAMETERS: ClassVar[ParameterTable] = CLOCK_PARAMETERS
    FALLIBLE: ClassVar[tuple[str, ...]] = ()
    REPLACED: ClassVar[tuple[str, ...]] = ("answer", "run")

    values: dict[str, Value]
    given: frozenset[str] = frozenset()
    has_failures = False
    lockstep: bool
    idle_until_ns: int
    answered_ns: int
    _log: Log = NoLog()

    def __init_subclass__(cls, **options: Any) -> None:
        """Add the parameters of the clock."""
        super().__init_subclass__(**options)
        if "PARAMETERS" in vars(cls):
            cls.PARAMETERS = with_clock(cls.PARAMETERS)

    def __init__(self, values: Mapping[str, Value], *, log: Log | None = None) -> None:
        """Build the part without ROS.

        Args:
            values: value of each parameter of `table_for`, checked.
            log: the part's log; None drops the texts.

        Raises:
            ParameterError: the values do not fit together.
        """
        self.values = dict(values)
        if log is not None:
            self._log = log
        self.initialise()
        self.configure(self.values)
        self.adopt_failures(self.failures_of(self.values.get(FAILURES.name, [])))

    @property
    def log(self) -> Log:
        """The part's log."""
        return self._log

    @cached_property
    def start_ns(self) -> int:
        """Unix time of stamp 0, ns: `start_date`; 0 for a node whose stamps are from the system clock."""
        return unix_ns(start_of(self.values))

    @classmethod
    def table_for(cls, given: Mapping[str, Any]) -> ParameterTable:
        """The part's parameters: PARAMETERS, and those of the models that the values select.

        Raises:
            ParameterError: a value that selects a model is not allowed.
        """
        return cls.PARAMETERS

    def initialise(self) -> None:
        """Set the initial state; called once, before the first `configure`. Call `super().initialise()` first."""
        self.failures = FailureSchedule()
        self.held = StampedInputs()
        self.lockstep, self.idle_until_ns, self.answered_ns = True, 0, -1
        self.wake = Due(at_ns=0)

    def configure(self, values: dict[str, Value]) -> None:
        """Build everything that depends on parameters; called at the start and at each change.

        After an exception, the part's attributes have their previous values again.

        Raises:
            ParameterError: the values do not fit together.
        """

    def ignored_parameters(self) -> Iterable[str]:
        """Warnings about parameters that have no effect because of the values of others; none by default."""
        return ()

    def begin(self) -> None:
        """Send the messages that precede the first step; called once the outputs are connected."""

    def answer(self, time_ns: int, content: Any) -> None:
        """Send the answer to a message of the trigger.

        Args:
            time_ns: stamp of the message, ns.
            content: the message; None if the answer was triggered by time alone.
        """
        raise NotImplementedError

    def answer_again(self, time_ns: int) -> None:
        """Send the last answer, that of `time_ns`, again; by default send nothing."""

    def run(self, time_ns: int, content: Any = None) -> None:
        """Apply the failures and inputs that take effect in this step, and send its answer."""
        if self.has_failures:
            self.advance_failures(time_ns)
        if self.held.waiting:
            self.held.deliver(time_ns)
        self.answer(time_ns, content)
        self.answered_ns = time_ns

    def hold(self, take: Callable[[Any], None], message: Any) -> None:
        """Pass a message to `take` in the step after its stamp; at once if that has begun, or for another clock."""
        stamp_ns = message.time_ns
        is_held = self.held.take(stamp_ns, self.answered_ns, take, message)
        self.wake.at_ns = min(self.wake.at_ns, stamp_ns + 1 if is_held else 0)

    def is_received(self, output: str) -> bool:
        """Whether an output has receivers; without ROS, this does not change."""
        return getattr(self, output) is not drop

    def count_unsent(self, output: str, count: int) -> None:
        """Count messages that a chain has not made because the output has no receivers. Has no effect without ROS."""

    def end_port(self, name: str) -> None:
        """Stop receiving messages of an input. Without ROS, the pipeline replaces this function."""

    def update_clock(self, time_ns: int) -> None:
        """Set the clock of the part's node, as each trigger does. Has no effect without ROS."""

    def make_stale(self) -> None:
        """Make the last answer stale, so that a repeated trigger gets a new one. Has no effect without ROS."""

    @property
    def answers_at_once(self) -> bool:
        """Whether an answer has been sent when `answer` returns; by default it has."""
        return True

    # Compiled answers.

    def cells(self) -> Cells:
        """Numbers that the kernels of `links` write, by topic, in the order of sending; by default none."""
        return {}

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """The part's answers as links of a chain, to be run in place of `answer`, by ticks or in each step.

        Args:
            time: time of the step.
            cells: numbers of the topics of all parts of the chain.
            taken: the links by which all receivers of another topic take its numbers.

        Returns:
            the links, or None if `answer` must run; by default None.
        """
        return None

    def input_links(self, time: StepTime, topic: str, numbers: NDArray[Any]) -> Sequence[ChainLink] | None:
        """Links by which the part takes the numbers of a topic, in place of the input's method; by default None.

        The numbers and their order are those of the sensor's model, or of the message; there are none for a topic, such
        as the status, of which the chain only repeats the last message. `time` is the message's. For a part in the
        chain, the method is called before its `links`.
        """
        return None

    def relayed(self, topic: str, cell: Cell | None) -> Relayed | None:
        """Message that the part sends on for each message of a topic of `input_links`; by default None."""
        return None

    def relink(self) -> None:
        """Make the links out of date, and store what they have changed: something else changes the part.

        It also applies when memory that the links work on has been replaced. A chain that runs the links replaces this
        function.
        """

    def resume(self) -> None:
        """Continue the chain that waits for the answer of the part's links (`ChainLink.is_answer`), if one does.

        The numbers of `cells` are then those of the answer. A chain that runs the links replaces this function.
        """

    # Failures.

    @classmethod
    def fallible(cls, values: Mapping[str, Any]) -> Collection[str]:
        """Names of the targets that can fail with these parameter values; by default FALLIBLE.

        Failures of other targets are ignored: other nodes, which have the same list, apply them.
        """
        return cls.FALLIBLE

    def fail(self, signals: Signals) -> None:
        """Apply these failures, and no others, from now on."""

    def check_failure(self, failure: Failure) -> None:
        """Check a failure that the parameter `failures` requests; by default all are allowed.

        Raises:
            ParameterError: the vehicle lacks the component that is to fail.
        """

    @property
    def active_failures(self) -> Sequence[str]:
        """Failures that are active, in words."""
        return self.failures.texts

    def is_failing(self, time_ns: int) -> bool:
        """Whether a failure is active at the time of a step, or begins or ends then."""
        failures = self.failures
        return self.has_failures and (len(failures.active) > 0 or not failures.since_ns <= time_ns < failures.until_ns)

    def advance_failures(self, time_ns: int) -> None:
        """Begin and end failures at the time of a step."""
        if self.failures.since_ns <= time_ns < self.failures.until_ns:
            return
        before = self.failures.texts
        self.failures.switch(time_ns)
        self.fail(self.failures.signals())
        self.has_failures = len(self.failures) > 0
        now = self.failures.texts
        for text in now:
            if text not in before:
                self.log.info(f"failure begins: {self.logged_failure(text)}")
        for text in before:
            if text not in now:
                self.log.info(f"failure ends: {self.logged_failure(text)}")
        if now != before:
            self.on_failures_changed(now)
        self.relink()

    def logged_failure(self, text: str) -> str:
        """Text of a failure for the log; by default unchanged."""
        return text

    def on_failures_changed(self, texts: Sequence[str]) -> None:
        """Handle a change of the active failures, whose texts are given; by default do nothing."""

    def failures_of(self, texts: Any) -> FailureSchedule:
        """Schedule of the failures described by texts.

        Raises:
            ParameterError: a text describes no failure, or a failure that does not apply to the part.
        """
        seed = int(str(self.values.get("seed", 0)))
        targets = self.fallible(self.values)
        return FailureSchedule(texts, targets, seed, check=self.check_failure, previous=self.failures)

    def adopt_failures(self, schedule: FailureSchedule) -> None:
        """Use a schedule from the next step on, in which active failures that the schedule lacks end."""
        schedule.active = self.failures.active
        self.failures = schedule
        self.has_failures = self.has_failures or len(schedule) > 0

    # Ports.

    def ports(self, kind: type[P]) -> Iterator[P]:
        """The part's ports of one kind, in the order of declaration."""
        for declared in ports_of(type(self)):
            if isinstance(declared, (kind, Each)):
                yield from (port for port in declared.of(self) if isinstance(port, kind))

    @property
    def join_rule(self) -> JoinRule:
        """Inputs of the part's answers; valid after the first `configure`."""
        return rule_of(self.ports(Port))

    def diagnose(self, period: Any) -> Iterable[Any]:
        """Entries of the part on /diagnostics; see `SimulationNode.diagnose`."""
        return ()


def rule_of(ports: Iterable[Port]) -> JoinRule:
    """Join rule of these inputs and services; other ports have no effect."""
    trigger, admitted_by = "", ""
    synchronized: list[str] = []
    required: list[str] = []
    renewed_by: list[str] = []
    expected: list[str] = []
    for port in ports:
        if isinstance(port, Service) and port.admits:
            admitted_by = port.topic
        if not isinstance(port, Input):
            continue
        name = port.key
        if port.kind is Kind.TRIGGER:
            trigger = name
        elif port.kind is Kind.SYNCHRONIZED:
            synchronized.append(name)
        elif port.kind is Kind.EXPECTED:
            expected.append(name)
        elif port.kind is Kind.ADMITTING:
            admitted_by = name
        if port.required:
            required.append(name)
        if port.renews:
            renewed_by.append(name)
    return JoinRule(
        trigger, tuple(synchronized), tuple(required), tuple(renewed_by), admitted_by, expected=tuple(expected)
    )
