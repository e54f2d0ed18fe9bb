"""Steps of a pipeline whose parts answer by kernels: one chain for all of them (`kernels/chain.py`).

A part of the chain may also answer by Python: the chain triggers it with a message, and goes on with the next part once
it has sent its answer, whose numbers the next parts read in memory.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from rosflight_py_sim.kernels.chain import (
    NEVER_NS,
    Cell,
    Cells,
    ChainLink,
    Due,
    StepTime,
    Taken,
    advance_time,
    counted,
    gate,
    is_due,
    keeps,
    look_ahead,
)
from rosflight_py_sim.kernels.jit import bound, chained
from rosflight_py_sim.step.numbers import has_numbers, numbers_of
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Input, Kind, Output
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import CLOCK, TRUTH_STATE, TRUTH_WIND, StepTopic

Take: TypeAlias = Callable[[Any], None]
"""Function that takes a topic's messages."""

IdleUntil: TypeAlias = Callable[[], int] | None
"""Function that returns the time until which messages need not be sent, ns; None: all are needed."""


TakenAt: TypeAlias = Callable[..., Sequence[ChainLink] | None]
"""`Taken` whose first argument is the time that the sender answers."""


class Newest:
    """The newest message of a topic until it is read; `take` stores one."""

    def __init__(self) -> None:
        self._message: deque[Any] = deque(maxlen=1)
        self.take = self._message.append
        self._compiled: CompiledSteps | None = None
        self._topic, self._read_ns = "", -1

    def pop(self) -> Any:
        """Read the message; None if there is none."""
        if self._compiled is not None:
            stamp_ns, make = self._compiled.newest(self._topic)
            if stamp_ns == self._read_ns:
                return None
            self._read_ns = stamp_ns
            return make(stamp_ns)
        return self._message.pop() if self._message else None

    def follow(self, compiled: CompiledSteps, topic: str) -> None:
        """Read the messages of compiled steps from now on."""
        is_read = not self._message
        self._compiled, self._topic = compiled, topic
        self._read_ns = compiled.newest(topic)[0] if is_read else -1
        self._message.clear()

    def end(self) -> None:
        """Read sent messages from now on."""
        if self._compiled is not None:
            message, self._compiled = self.pop(), None
            # Python may have sent messages beside the chain.
            self._message.clear()
            if message is not None:
                self.take(message)


class Receiver(NamedTuple):
    """A receiver of a topic.

    Attributes:
        topic: the topic.
        take: function that takes the messages.
        idle_until: time until which compiled steps need not send messages.
        part: the part whose input it is; None for a receiver besides the parts.
        is_triggered: whether the messages trigger an answer.
        is_kept: whether the newest message is only kept for the part's answers and services.
        newest: for a receiver that only keeps the newest message until it is read, that message.
        links: for a receiver besides the parts, function that returns the links by which a chain does what `take` does,
            or None, given the time of the message, the topic's name, and the numbers of the topics of the chain. Of the
            status, the chain only repeats the last message.
    """

    topic: StepTopic[Any]
    take: Take
    idle_until: IdleUntil = None
    part: Part | None = None
    is_triggered: bool = False
    is_kept: bool = False
    newest: Newest | None = None
    links: Callable[[StepTime, str, Cells], Sequence[ChainLink] | None] | None = None


class Act(NamedTuple):
    """What time triggers in each step.

    Attributes:
        part: the part.
        run: runs it, given the time, ns.
        schedule: times of its answers; None: in each step.
    """

    part: Part
    run: Callable[[int], None]
    schedule: Schedule | None


class Answering:
    """A part of the chain that answers by Python.

    Attributes:
        cells: numbers of the part's topics, which the following parts read.
        take: function for each of these topics that stores the numbers of a message that the part has sent.
        resume: called when an answer arrives that had not been sent when it was requested; by default it does nothing.
    """

    def __init__(self, part: Part, run: Callable[[int, Any], None]) -> None:
        """Store nothing yet.

        Args:
            part: the part.
            run: requests an answer, given the time (ns) and the message of the trigger; None for /clock.
        """
        self.cells: dict[str, Cell] = {}
        self.take: dict[str, Take] = {}
        self.resume: Callable[[], None] = _nothing_follows
        self._run, self._awaited_ns = run, -1
        self._newest: dict[str, Any] = {}
        names = [out.topic.name for out in part.ports(Output) if has_numbers(out.topic.name)]
        # The message that ends the answer.
        self._last = TRUTH_STATE.name if TRUTH_STATE.name in names else "".join(names[-1:])
        for name in names:
            self._add(name)

    def _add(self, topic: str) -> None:
        memory, store = numbers_of(topic)
        newest = self._newest

        def take(message: Any) -> None:
            store(message)
            newest[topic] = message
            if message.time_ns == self._awaited_ns and topic == self._last:
                self._awaited_ns = -1
                self.resume()

        # None before the first message, such as of an output without receivers.
        self.cells[topic] = Cell(memory, lambda stamp_ns: newest.get(topic))
        self.take[topic] = take

    def link(self, time: StepTime, trigger: Cell | None, ahead_ns: int) -> ChainLink:
        """Link that requests the answer.

        Args:
            time: time of the step.
            trigger: numbers of the trigger; None for /clock.
            ahead_ns: time by which the stamp of the answer is ahead of that of the trigger.
        """
        run, newest, last = self._run, self._newest, self._last

        def act(time_ns: int, status: int) -> bool:
            run(time_ns, None if trigger is None else trigger.message(time_ns))
            if last in newest and newest[last].time_ns == time_ns + ahead_ns:
                return False
            self._awaited_ns = time_ns + ahead_ns
            return True

        return ChainLink(bound(is_due, time, Due(at_ns=0)), act, is_answer=True)


def _nothing_follows() -> None:
    """Nothing waits for the answer."""


class CompiledSteps:
    """A chain of the parts that trigger each other, from the one that time triggers on.

    Attributes:
        time: time of the step.
        chain: the kernels; see `kernels.jit.chained`.
        parts: the parts in the chain, in the order of their answers.
        at: number of the last link that Python attended.
        is_suspended: whether the chain is suspended within a step.
        is_awaiting: whether it is suspended until a part has sent its answer.
        may_go_on: whether the chain may go on after a part that answers by Python, given the time (ns) and the number
            of parts that have answered; otherwise it is suspended.
        answered: number of parts that had answered then.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        links: Sequence[Sequence[ChainLink]],
        topics: Sequence[Iterable[str]],
        cells: Cells,
        polled: Cells,
        time: StepTime,
        acts: tuple[Sequence[ChainLink], Sequence[ChainLink]],
        inputs: Mapping[Part, Sequence[ChainLink]],
        followers: Sequence[ChainLink],
        receivers: Sequence[Receiver],
        queue: Sized,
        run_triggered: Callable[[], object],
    ) -> None:
        """Chain the links of parts.

        Args:
            parts: the parts.
            links: the links of each.
            topics: names of the topics of each whose numbers are in `cells`.
            cells: numbers of the topics of all parts.
            polled: numbers of further topics, which receivers read on demand.
            time: time of the step, on which the links work.
            acts: links of what time triggers besides the first part, before it and after it.
            inputs: links by which other receivers take a part's topics.
            followers: links of the parts that the state triggers.
            receivers: receivers of the parts' topics that are not in the chain.
            queue: what messages have triggered, those of Python's actions among them.
            run_triggered: runs that; returns true to suspend the chain, which `resume` continues, until that has run.
        """
        self.time, self.parts, self._run_triggered = time, parts, run_triggered
        self.at, self._queue, self.is_suspended, self.answered = 0, queue, False, 0
        self.is_awaiting = False
        self.may_go_on: Callable[[int, int], bool] | None = None
        self._cells, self._receivers, self._wanted = cells, receivers, list[tuple[Due, Callable[[], int]]]()
        self._polled = polled
        # Sender of each topic, and the time by which its stamps are ahead: the state has that of the end of the step.
        ahead_ns = [*[0] * (len(parts) - 1), time.step_ns]
        self._senders = {
            name: (part, ahead) for part, names, ahead in zip(parts, topics, ahead_ns, strict=True) for name in names
        }
        self._is_last_by_python = any(one.is_answer for one in links[-1])
        self._links: list[ChainLink] = []
        # Number of the link after the last one with which each part answers, and after its last one.
        self._answers: list[int] = []
        self._ends: list[int] = []
        self._triggered = [Due(at_ns=NEVER_NS) for _ in range(len(parts) + 1)]
        self._links += acts[0]
        for index, (part, of_part) in enumerate(zip(parts, links, strict=True)):
            self._links += [one for one in of_part if not one.is_late]
            self._answers.append(len(self._links))
            self._links += inputs.get(part, ())
            self._add_receivers(part)
            if index == 0:
                self._links += acts[1]
            self._links.append(gate(time, self._triggered[index], self._run(index)))
            self._links += [one for one in of_part if one.is_late]
            self._ends.append(len(self._links))
        self._links += followers
        self._links.append(gate(time, self._triggered[-1], self._run(len(parts))))
        self._links.append(ChainLink(bound(advance_time, time)))
        self.chain = chained([one.run for one in self._links])
        numbers = range(len(self._links) - 1)
        self._attend = [self._links[number].attend for number in numbers]
        self._closed = {number for number in numbers if self._links[number].is_closed}
        self._following = [self._following_gate(number) for number in numbers]
        # Number of the parts that have answered before each link.
        self._answered = [bisect_right(self._answers, number) for number in numbers]
        self._by_python = [self._links[number].is_answer for number in numbers]

    def _add_receivers(self, part: Part) -> None:
        """Add a gate for each other part, and each function `idle_until`, that receives topics of a part."""
        names = [name for name, (sender, _) in self._senders.items() if sender is part]
        groups: dict[Any, list[Receiver]] = {}
        for one in self._receivers:
            if one.topic.name in names:
                key = one.idle_until if one.part is None else (one.part, one.idle_until is None)
                groups.setdefault(key, []).append(one)
        for receivers in groups.values():
            self._links.append(self._gate_of(receivers, names))

    def _gate_of(self, receivers: Sequence[Receiver], names: Iterable[str]) -> ChainLink:
        due, step_ns, idle_until = Due(at_ns=0), self.time.step_ns, receivers[0].idle_until
        _, ahead_ns = self._senders[receivers[0].topic.name]
        sent = [(self._cells[name].message, one.take) for name in names for one in receivers if one.topic.name == name]

        def send(time_ns: int) -> None:
            stamp_ns = time_ns + ahead_ns
            for make, take in sent:
                take(make(stamp_ns))
            if idle_until is not None:
                # The state of the step before has the stamp of the next one.
                due.at_ns = idle_until() - step_ns

        if idle_until is not None:
            self._wanted.append((due, idle_until))
        return gate(self.time, due, send)

    def _run(self, index: int) -> Callable[[int], None]:
        due, step_ns = self._triggered[index], self.time.step_ns

        def run(time_ns: int) -> None:
            # After the last part, the step is over.
            self.is_suspended = bool(self._run_triggered()) and index < len(self.parts) - 1
            due.at_ns = NEVER_NS
            for wanted, idle_until in self._wanted:
                wanted.at_ns = idle_until() - step_ns

        return run

    def _following_gate(self, index: int) -> Due:
        """Gate that runs what the messages of a link's action have triggered."""
        part = bisect_right(self._ends, index)
        return self._triggered[min(part + self._links[index].is_late, len(self.parts))]

    def advance(self, until_ns: int) -> None:
        """Take steps until `until_ns`, or until the end of a step in which Python acted."""
        self.time.until_ns = until_ns
        self.arrive(*self.pass_closed(*self.chain(0)), -1)

    def resume(self, until_ns: int = 0) -> None:
        """Continue the step that has been suspended, and, before `until_ns`, take further ones as `advance` does."""
        time = self.time
        suspended_ns, time.until_ns = time.time_ns, until_ns
        self.arrive(*self.pass_closed(*self.chain(self.at + 1)), suspended_ns)

    def pass_closed(self, index: int, status: int) -> tuple[int, int]:
        """From a link where the chain has stopped, run on to the first that is not closed; return number and status."""
        while index in self._closed:
            self._attend[index](self.time.time_ns, status)
            index, status = self.chain(index + 1)
        return index, status

    def arrive(self, index: int, status: int, suspended_ns: int) -> None:
        """Go on where the chain has stopped.

        Args:
            index: number of the link.
            status: its status.
            suspended_ns: time of the step in which the chain had been suspended, ns; -1: it had not.
        """
        time, parts = self.time, self.parts
        self.is_suspended = False
        if index >= len(self._attend):
            self._end_step()
            return
        time.until_ns, before_ns = 0, time.time_ns - time.step_ns
        if time.time_ns != suspended_ns:
            if parts[-1].answered_ns != before_ns:
                for part in parts:
                    part.answered_ns = before_ns
            self.answered = 0
        self._go_on(index, status)

    def note_answer(self) -> None:
        """Note that the part has answered for which the chain waits; `resume` continues."""
        self.is_awaiting = False
        self.answered = self._answered[self.at + 1]
        self.parts[self.answered - 1].answered_ns = self.time.time_ns

    def _go_on(self, index: int, status: int) -> None:
        """Let Python act on the status of a link, and continue to the end of the step."""
        attend, chain, queue, parts = self._attend, self.chain, self._queue, self.parts
        following, answered_by, time_ns = self._following, self._answered, self.time.time_ns
        last, answered = len(attend), self.answered
        while index < last:
            while answered < answered_by[index]:
                parts[answered].answered_ns = time_ns
                answered += 1
            self.at, waiting = index, len(queue)
            if attend[index](time_ns, status):
                self.is_suspended, self.is_awaiting = True, self._by_python[index]
            elif self._by_python[index] and self.may_go_on is not None:
                self.is_suspended = not self.may_go_on(time_ns, answered_by[index + 1])
                answered += self.is_suspended
            if self.is_suspended:
                self.answered = answered
                return
            if len(queue) > waiting:
                following[index].at_ns = 0
            index, status = chain(index + 1)
        self._end_step()

    def _end_step(self) -> None:
        time, parts = self.time, self.parts
        before_ns = time.time_ns - time.step_ns
        for part in parts:
            part.answered_ns = before_ns

    def sends(self, topic: str) -> bool:
        """Whether a part of the chain sends a topic."""
        return topic in self._senders or topic in self._polled

    def newest(self, topic: str) -> tuple[int, Callable[[int], Any]]:
        """Stamp of the newest message of a topic that the chain sends (ns), and the function that makes it."""
        if topic in self._polled:
            polled = self._polled[topic]
            return polled.sent_ns(), polled.message
        sender, ahead_ns = self._senders[topic]
        return sender.answered_ns + ahead_ns, self._cells[topic].message

    def settle(self) -> None:
        """Let the links report how often they have run."""
        for link in self._links:
            link.settle()

    def store(self) -> dict[str, Any]:
        """Store for Python what the kernels have changed; return the newest messages of state and wind, by topic."""
        first = 0
        for part, end in zip(self.parts, self._ends, strict=True):
            for link in self._links[first:end]:
                link.leave(part.answered_ns)
            first = end
        last = self.parts[-1]
        for link in self._links[first:]:
            link.leave(last.answered_ns + self.time.step_ns)
        # A part with kernels may have replaced its memory.
        sent = {name: self._cells[name] for name, (part, _) in self._senders.items() if part is last}
        cells = sent if self._is_last_by_python else last.cells()
        stamp_ns = last.answered_ns + self.time.step_ns
        messages = {name: cell.message(stamp_ns) for name, cell in cells.items()}
        return {name: message for name, message in messages.items() if message is not None}


def _at_end(time: StepTime, made: Callable[[StepTime], Sequence[ChainLink] | None]) -> Sequence[ChainLink] | None:
    """The links that a function returns for the end of the step."""
    step_ns = time.step_ns
    end = StepTime(time_ns=time.time_ns + step_ns, step_ns=step_ns, until_ns=0)
    links = made(end)

    def attending(attend: Callable[[int, int], bool | None]) -> Callable[[int, int], bool | None]:
        return lambda time_ns, status: attend(time_ns + step_ns, status)

    if links is None:
        return None
    at_end = [one._replace(attend=attending(one.attend)) for one in links]
    return [ChainLink(bound(look_ahead, time, end)), *at_end]


def _links_of_act(act: Act, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink]:
    """Links of what time triggers: those of the part, when it is due, or a gate that runs it."""
    part, schedule = act.part, act.schedule
    if schedule is None:
        return (gate(time, Due(at_ns=0), act.run),)
    links = _links_of(part, time, cells, taken)
    if links is None:
        due = Due(at_ns=0)

        def run(time_ns: int) -> None:
            act.run(time_ns)
            due.at_ns = schedule.next_ns

        return (gate(time, due, run),)

    def leave(answered_ns: int) -> None:
        if schedule.since_ns < math.inf:
            part.answered_ns = int(schedule.since_ns)

    return schedule.links(time, links, act.run, leave)


def _links_of(part: Part, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
    """The links of a part; None if it must answer by Python, as while a failure is active."""
    if not keeps(type(part), "links", *part.REPLACED) or part.is_failing(time.time_ns):
        return None
    links = part.links(time, cells, taken)
    if links is None or not part.has_failures:
        return links
    # The next failure begins in the step after this one.
    begins = Due(at_ns=int(min(part.failures.until_ns - time.step_ns, NEVER_NS)))
    return (gate(time, begins, lambda _: part.relink()), *links)


def compiled_steps(
    parts: Sequence[Part],
    time: StepTime,
    acts: Sequence[Act],
    receivers: Sequence[Receiver],
    queue: Sized,
    run_triggered: Callable[[], object],
    answering: Mapping[Part, Answering] = MappingProxyType({}),
) -> CompiledSteps | Part | None:
    """The chain of the parts that trigger each other, which ends with the part that gives state and wind.

    Args:
        parts: all parts.
        time: as for `CompiledSteps`.
        acts: what time triggers.
        receivers: all receivers.
        queue: as for `CompiledSteps`.
        run_triggered: as for `CompiledSteps`.
        answering: the parts that answer by Python; their messages go to `Answering.take`, and they receive messages.

    Returns:
        The chain; a part that must answer by Python and is not among `answering`; or None if there is no chain.
    """
    cells_of = {part: answering[part].cells if part in answering else part.cells() for part in parts}
    triggered = {
        port.topic.name: part
        for part, cells in cells_of.items()
        for port in (part.ports(Input) if cells else ())
        if port.kind is Kind.TRIGGER
    }
    chained_parts: list[Part] = []
    all_cells: dict[str, Cell] = {}
    name = CLOCK.name
    while name in triggered:
        part = triggered.pop(name)
        cells = cells_of[part]
        chained_parts.append(part)
        all_cells |= cells
        name = next((one for one in cells if one in triggered), "")
    if not all_cells.keys() >= {TRUTH_STATE.name, TRUTH_WIND.name}:
        return None
    polled: dict[str, Cell] = {}
    receivers_of: dict[str, list[Receiver]] = {}
    for one in receivers:
        receivers_of.setdefault(one.topic.name, []).append(one)

    def taken(
        sent: StepTime, topic: str, numbers: NDArray[Any], newest: Cell | None = None, *, cell: Cell | None = None
    ) -> Sequence[ChainLink] | None:
        found: list[ChainLink] = []
        cell = cell or newest
        cells = all_cells if cell is None else {**all_cells, topic: cell}
        for one in receivers_of.get(topic, ()):
            if newest is not None and one.newest is not None:
                continue
            links = None if one.part in answering else _links_of_receiver(one, sent, numbers, cells)
            relayed = None if one.part is None else one.part.relayed(topic, cell)
            if links is not None and relayed is not None:
                passed_on = taken(sent, relayed.output.topic.name, numbers, cell=relayed.cell)
                links = None if passed_on is None else (*links, *passed_on, counted(relayed.count_unsent))
            if links is None and newest is not None and one.take is not never_taken:
                links = (gate(sent, Due(at_ns=0), partial(_pass_on, one.take, newest.message)),)
            if links is None:
                return None
            found += links
        if newest is not None:
            polled[topic] = newest
        return found

    def answered(end: StepTime, part: Part) -> Sequence[ChainLink] | None:
        return _links_of(part, end, all_cells, partial(taken, end))

    followers: list[ChainLink] = []
    following: list[Part] = []
    for one in receivers:
        if one.is_triggered and one.topic is TRUTH_STATE and one.part is not None:
            links = _at_end(time, partial(answered, part=one.part))
            followers += links or ()
            following += [one.part] if links else []
    outside = [
        one
        for one in receivers
        if one.topic.name in all_cells
        and not _is_bypassed(one, chained_parts, answering)
        and one.newest is None
        and not (one.part in following and (one.is_triggered or one.is_kept))
    ]
    taken_now = partial(taken, time)
    own = next(index for index, act in enumerate(acts) if act.part is chained_parts[0])
    before, after = (
        [link for act in some for link in _links_of_act(act, time, all_cells, taken_now)]
        for some in (acts[:own], acts[own + 1 :])
    )
    links_of_parts: list[Sequence[ChainLink]] = []
    for part in chained_parts:
        if part in answering:
            ahead_ns = time.step_ns if part is chained_parts[-1] else 0
            links_of_parts.append((answering[part].link(time, _trigger_of(part, all_cells), ahead_ns),))
            continue
        of_part = _links_of(part, time, all_cells, taken_now)
        if of_part is None:
            return part
        links_of_parts.append(of_part)
    inputs: dict[Part, list[ChainLink]] = {part: [] for part in chained_parts}
    numbers_of_all = all_cells | polled
    for one in [one for one in outside if one.part not in answering]:
        sender = next(part for part in chained_parts if one.topic.name in cells_of[part])
        made = partial(_links_of_receiver, one, numbers=all_cells[one.topic.name].memory, cells=numbers_of_all)
        links = _at_end(time, made) if sender is chained_parts[-1] else made(time)
        if links is not None:
            inputs[sender] += links
            outside = [other for other in outside if other is not one]
    return CompiledSteps(
        chained_parts,
        links_of_parts,
        [cells_of[part] for part in chained_parts],
        all_cells,
        polled,
        time,
        (before, after),
        inputs,
        followers,
        outside,
        queue,
        run_triggered,
    )


def _links_of_receiver(
    one: Receiver, time: StepTime, numbers: NDArray[Any], cells: Cells
) -> Sequence[ChainLink] | None:
    """Links by which a receiver takes the numbers of a topic; None if it takes messages."""
    if one.links is not None:
        return one.links(time, one.topic.name, cells)
    return None if one.part is None else one.part.input_links(time, one.topic.name, numbers)


def _pass_on(take: Take, message: Callable[[int], Any], time_ns: int) -> None:
    """Let a receiver take the message with a stamp, ns."""
    take(message(time_ns))


def never_taken(message: Any) -> None:
    """Stand for the function of a receiver to which only the sender can send."""
    raise AssertionError("only the sender can send")


def _is_bypassed(one: Receiver, parts: Sequence[Part], answering: Mapping[Part, Answering]) -> bool:
    """Whether a receiver of a chain's topics gets no messages: its part reads the numbers, or its link triggers it."""
    if one.part is None or one.part not in parts:
        return False
    return one.part not in answering or one.topic.name in (port.topic.name for port in _triggers_of(one.part))


def _trigger_of(part: Part, cells: Cells) -> Cell | None:
    """Numbers of a part's trigger; None for /clock."""
    return next((cells.get(port.topic.name) for port in _triggers_of(part)), None)


def _triggers_of(part: Part) -> Iterator[Input[Any]]:
    return (port for port in part.ports(Input) if port.kind is Kind.TRIGGER)
