"""One chain of kernels for the answers of a vehicle's nodes, in a process that runs all of these nodes.

In lockstep, sensors, flight controller, forces and dynamics trigger each other by messages. If one of them answers by
kernels, a message on /clock runs the chain for one step (`step/compiled_steps.py`). Messages are made only for parts
that answer by Python, and for receivers outside the chain. The trajectory is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from rosflight_py_sim.interfaces.hand_off_ends import Deliver, Inlet, Outlet
from rosflight_py_sim.kernels.chain import Cell, Cells, ChainLink, StepTime
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.compiled_steps import (
    Act,
    Answering,
    CompiledSteps,
    Receiver,
    compiled_steps,
    never_taken,
)
from rosflight_py_sim.step.join import StepJoin
from rosflight_py_sim.step.numbers import has_numbers
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Kind, Output
from rosflight_py_sim.step.serialised_cells import can_serialise, serialising_links

if TYPE_CHECKING:
    from rosflight_py_sim.interfaces.hand_off import HandOff
    from rosflight_py_sim.interfaces.part_ports import PartPorts

# Number of steps by messages before the first chain, and after one that was worth making; twice as many after each that
# was not, because it ended before it had taken so many steps.
_FEWEST_STEPS, _MOST_STEPS, _WORTH_STEPS = 3, 192, 50

# Number of steps after which a chain that cannot be made is tried again; twice as many after each time.
_FEWEST_STEPS_OF_FAILURE, _MOST_STEPS_OF_FAILURE = 50, 6400

# Inputs whose messages take effect within a step.
_WITHIN_STEP = (Kind.TRIGGER, Kind.SYNCHRONIZED, Kind.NEWEST)


class _Sent(NamedTuple):
    """A topic whose numbers the chain writes.

    Attributes:
        ports: ports of the sender.
        outlet: the publishing end.
        cell: the numbers.
        ahead_ns: time by which the stamp is ahead of the sender's answer, ns.
        inside: receiving ends of the chain's parts.
        stamps: receiving ends of inputs that take only the stamp.
        is_counted: whether sending counts the message of each step; if false, `settle` counts it.
        take: for a part that answers by Python, function that stores the numbers of its messages.
    """

    ports: PartPorts
    outlet: Outlet
    cell: Cell
    ahead_ns: int
    inside: Sequence[Inlet]
    stamps: Sequence[Inlet]
    is_counted: bool
    take: Deliver | None = None

    def connect(self) -> None:
        """Let the chain read the topic in memory."""
        if self.take is None:
            self.outlet.refresh = self.refresh
        self.outlet.bypass((*self.inside, *self.stamps), self.take)

    def refresh(self) -> None:
        """Let the outlet have its newest message."""
        last, stamp_ns = self.outlet.last, self.ports.part.answered_ns + self.ahead_ns
        if last is None or last.time_ns != stamp_ns:
            self.outlet.last = self.cell.message(stamp_ns)


class CompiledVehicle:
    """Answers of a part that /clock triggers, and of those that follow, by messages or by a chain."""

    def __init__(self, hand_off: HandOff, first: PartPorts) -> None:
        """Begin with messages.

        Args:
            hand_off: connects the parts.
            first: ports of the part that /clock triggers.
        """
        self._hand_off, self._first = hand_off, first
        self._steps: CompiledSteps | None = None
        self._chain: Sequence[PartPorts] = ()
        self._sent: Sequence[_Sent] = ()
        self._uncounted = self._taken = 0
        self._wait = self._waits = _FEWEST_STEPS
        self._waits_of_failure = _FEWEST_STEPS_OF_FAILURE
        self._is_running = self._is_out_of_date = False

    def trigger(self, time_ns: int, content: Any = None) -> None:
        """Process a message of /clock, as the join of the first part does."""
        if self._steps is None:
            self._first.join.trigger(time_ns, content)
        else:
            # Once all nodes have received the time, as by messages.
            self._hand_off.put(self._step, time_ns)

    def _step(self, time_ns: int) -> None:
        if self._steps is not None:
            if not self._steps.is_suspended and self._fits(time_ns):
                self._advance(time_ns)
                return
            self.leave()
        self._first.join.trigger(time_ns)

    def answer(self, time_ns: int, content: Any) -> None:
        """Answer a trigger of the first part, whose inputs have arrived."""
        self._wait -= 1
        if self._wait < 0 and self._hand_off.compiles:
            if self._compile(time_ns):
                self._waits_of_failure = _FEWEST_STEPS_OF_FAILURE
                self._advance(time_ns)
                return
            self._wait = self._waits_of_failure
            self._waits_of_failure = min(2 * self._waits_of_failure, _MOST_STEPS_OF_FAILURE)
        self._first.part.run(time_ns, content)

    def _fits(self, time_ns: int) -> bool:
        """Whether the chain can take the next step: it is up to date, and no join would wait."""
        if time_ns != self._time.time_ns or self._truth.step_ns != self._time.step_ns or self._has_other_ends():
            return False
        return all(map(StepJoin.is_ready, self._joins, repeat(time_ns)))

    def _may_go_on(self, time_ns: int, answered: int) -> bool:
        """Whether the parts after the first `answered` ones can take the step."""
        if self._truth.step_ns != self._time.step_ns:
            return False
        return all(ports.join.is_ready(time_ns) for ports in self._chain[answered:])

    def _has_other_ends(self) -> bool:
        """Whether publishers or subscriptions have changed; for guests, each message otherwise checks that."""
        hand_off = self._hand_off
        if hand_off.has_guests and hand_off.revision == self._revision:
            for ports in self._chain:
                for _, outlet in ports.outlets.values():
                    if outlet.has_changed():
                        hand_off.check_matches(outlet.name)
        return hand_off.revision != self._revision

    def _advance(self, time_ns: int) -> None:
        assert self._steps is not None
        self._uncounted += 1
        self._hand_off.compiled_steps += 1
        self._run(self._steps, partial(self._steps.advance, time_ns + self._time.step_ns))

    def _resume(self, time_ns: int) -> None:
        """Continue a step, once the messages that were sent in it have been delivered."""
        steps = self._steps
        if steps is None or not steps.is_suspended or time_ns != self._time.time_ns:
            return
        if self._has_other_ends() or not self._may_go_on(time_ns, steps.answered):
            self.leave()
        else:
            self._run(steps, steps.resume)

    def _run(self, steps: CompiledSteps, run: Callable[[], None]) -> None:
        """Run the chain to the end of the step, or until messages are to be delivered first."""
        time_ns, chain = self._time.time_ns, self._chain
        self._is_running, has_diverged = True, False
        try:
            run()
        except StateDivergedError:
            # The last part has handled it: it keeps its last state, and sends none.
            self._is_running, has_diverged = False, True
            self.leave()
            self._note_answers(time_ns, len(chain) - 1)
            self._truth.make_stale()
        self._is_running = False
        if steps.is_suspended:
            self._note_answers(time_ns, steps.answered + steps.is_awaiting)
            if not steps.is_awaiting:
                self._hand_off.put(self._resume, time_ns)
        else:
            chain[-1].join.answered_ns = time_ns
            if not has_diverged:
                for take, ahead_ns in self._stamps:
                    self._hand_off.put(take, time_ns + ahead_ns)
        if self._is_out_of_date:
            self.leave()

    def resume_later(self) -> None:
        """Continue a step in which the answer of a part by Python has arrived."""
        steps = self._steps
        if steps is not None and steps.is_awaiting:
            steps.note_answer()
            self._hand_off.put(self._resume, self._time.time_ns)

    def _note_answers(self, time_ns: int, count: int) -> None:
        """Let the joins of the first parts know that these have answered."""
        for ports in self._chain[:count]:
            ports.join.answered_ns = time_ns

    def relink(self) -> None:
        """End the chain, after the present step if it is under way, because something else changes a part."""
        if self._steps is None:
            return
        if self._is_running:
            self._is_out_of_date = True
            self._steps.store()
        else:
            self.leave()

    def settle(self) -> None:
        """Count the messages that sending has not counted."""
        if self._steps is None:
            return
        self._steps.settle()
        count, self._uncounted = self._uncounted, 0
        self._taken += count
        for one in self._sent:
            if not one.is_counted:
                one.outlet.counter.count += count

    def leave(self) -> None:
        """Answer by messages from now on; the parts receive the newest message of each topic."""
        steps = self._steps
        if steps is None:
            return
        self.settle()
        steps.store()
        self._steps = None
        # In a step under way, these parts answer by messages.
        following = self._chain[steps.answered :] if steps.is_suspended else ()
        for one in self._sent:
            if one.take is None:
                one.refresh()
            one.outlet.refresh = None
            for deliver, inlet in zip(one.outlet.bypass(()), (*one.inside, *one.stamps), strict=True):
                assert inlet.owner is not None
                ports, port = inlet.owner
                if port.is_stamp:
                    continue
                if port.kind is not Kind.TRIGGER:
                    deliver(one.outlet.last)
                elif following and ports is following[0]:
                    # A part that is to answer by Python has its trigger.
                    if steps.is_awaiting:
                        ports.join.keep(one.outlet.last)
                    else:
                        self._hand_off.put(deliver, one.outlet.last)
                else:
                    ports.join.keep(one.outlet.last)
            if one.ports in following and not one.is_counted:
                one.outlet.counter.count -= 1
        for ports in self._chain:
            ports.compiled = None
        self._is_out_of_date = False
        self._waits = _FEWEST_STEPS if self._taken >= _WORTH_STEPS else min(2 * self._waits, _MOST_STEPS)
        self._wait = self._waits

    # Making the chain.

    def _compile(self, time_ns: int) -> bool:
        """Make the chain, if it can take the next step."""
        chain = self._path(self._first, [])
        last = chain[-1].part if chain else None
        if not isinstance(last, Truth) or last.time_ns != time_ns:
            return False
        step_ns = last.step_ns
        if not all(_is_in_step(ports, time_ns, step_ns) for ports in chain):
            return False
        if not chain[0].join.has_inputs(time_ns):
            return False
        self._chain, self._truth = chain, last
        self._time = StepTime(time_ns=time_ns, step_ns=step_ns, until_ns=0)
        parts, acts = [ports.part for ports in chain], [Act(chain[0].part, chain[0].part.run, None)]
        answering = {ports.part: self._answering(ports) for ports in chain if not ports.part.cells()}
        while len(answering) < len(chain):
            sent, receivers = self._topics(chain, step_ns, answering)
            # What an action has sent is delivered before the chain continues.
            steps = compiled_steps(parts, self._time, acts, receivers, self._hand_off.waiting, lambda: True, answering)
            if not isinstance(steps, Part):
                break
            answering[steps] = self._answering(next(ports for ports in chain if ports.part is steps))
        else:
            return False
        if steps is None or list(steps.parts) != parts:
            return False
        # What decides about the parts after one that answers by Python is known only once that has answered.
        first = next((number for number, ports in enumerate(chain) if ports.part in answering), len(chain))
        self._joins = [ports.join for ports in chain[: first + 1]]
        if not all(map(StepJoin.is_ready, self._joins, repeat(time_ns))):
            return False
        self._steps, self._sent = steps, sent
        steps.may_go_on = self._may_go_on if answering else None
        for one in sent:
            one.connect()
        for by_python in answering.values():
            by_python.resume = self.resume_later
        self._stamps = [
            (port.function.__get__(ports.part), one.ahead_ns)
            for one in sent
            for ports, port in (inlet.owner for inlet in one.stamps if inlet.owner is not None)
        ]
        for ports in chain:
            ports.compiled = self
        self._uncounted = self._taken = 0
        self._revision = self._hand_off.revision
        return True

    def _path(self, ports: PartPorts, before: Sequence[PartPorts]) -> list[PartPorts]:
        """Ports of a part, after `before`, and of those that are triggered one after the other, up to the truth."""
        path = [*before, ports]
        if isinstance(ports.part, Truth):
            return path
        for out, outlet in ports.outlets.values():
            for inlet in outlet.inlets if has_numbers(out.topic.name) else ():
                if inlet.owner is not None and inlet.owner[1].kind is Kind.TRIGGER and inlet.owner[0] not in path:
                    found = self._path(inlet.owner[0], path)
                    if found:
                        return found
        return []

    def _answering(self, ports: PartPorts) -> Answering:
        """Answers of a part by Python."""
        outlets = {out.topic.name: outlet for out, outlet in ports.outlets.values() if has_numbers(out.topic.name)}
        answering = Answering(ports.part, self._runner(ports))
        for name, outlet in outlets.items():
            if outlet.newest() is not None:
                answering.take[name](outlet.newest())
        return answering

    def _runner(self, ports: PartPorts) -> Callable[[int, Any], None]:
        """Function that requests an answer, given time and message of the trigger."""
        if ports is self._first:
            return ports.part.run
        (deliver,) = [
            inlet.deliver for port, inlet in ports.inlets if port.kind is Kind.TRIGGER and inlet.deliver is not None
        ]
        return lambda time_ns, message: deliver(message)

    def _topics(
        self, chain: Sequence[PartPorts], step_ns: int, answering: Mapping[Part, Answering]
    ) -> tuple[list[_Sent], list[Receiver]]:
        """Topics of the chain, and the receivers of all topics of its parts."""

        def is_inside(inlet: Inlet) -> bool:
            if inlet.owner is None or inlet.owner[0] not in chain:
                return False
            ports, port = inlet.owner
            return ports.part not in answering or port.kind is Kind.TRIGGER

        sent: list[_Sent] = []
        receivers: list[Receiver] = []
        for ports in chain:
            by_python = answering.get(ports.part)
            cells, is_last = ports.part.cells() if by_python is None else by_python.cells, ports is chain[-1]
            for out, outlet in ports.outlets.values():
                name = out.topic.name
                inside = [one for one in outlet.inlets if is_inside(one)]
                if by_python is not None:
                    if name in cells:
                        take = by_python.take[name]
                        sent.append(_Sent(ports, outlet, cells[name], 0, inside, (), is_counted=True, take=take))
                    continue
                outside = [one for one in outlet.inlets if one not in inside]
                if name not in cells:
                    receivers += [
                        Receiver(out.topic, never_taken, part=one.owner[0].part) for one in inside if one.owner
                    ]
                    if outside or outlet.is_encoded:
                        is_alone = not outside and outlet.history is None
                        links = partial(_serialising, outlet) if is_alone else None
                        receivers.append(Receiver(out.topic, never_taken, links=links))
                    continue
                # A polled subscription fetches the message when needed.
                taking = [one for one in outside if one.deliver is not None]
                # Messages for others keep their order only as messages.
                are_stamps = is_last and all(one.owner is not None and one.owner[1].is_stamp for one in taking)
                stamps, taking = (taking, []) if are_stamps else ([], taking)
                is_counted = bool(taking) or outlet.is_encoded or outlet.history is not None
                if is_counted and not taking and outlet.history is None and can_serialise(out.topic, cells[name]):
                    receivers.append(Receiver(out.topic, never_taken, links=partial(_serialising, outlet)))
                    is_counted = outlet.ends_turns
                elif is_counted:
                    # Between the parts of the chain, no other part can answer.
                    triggers = any(not one.is_at_once for one in taking)
                    receivers.append(Receiver(out.topic, self._sending(ports, out), is_triggered=triggers))
                sent.append(_Sent(ports, outlet, cells[name], step_ns if is_last else 0, inside, stamps, is_counted))
        return sent, receivers

    def _sending(self, ports: PartPorts, out: Output[Any]) -> Deliver:
        """Function that sends a message of the chain; before those of the last part, the others have answered."""
        given: Deliver = getattr(ports.part, out.name)
        send = (lambda message: given(lambda: message)) if out.lazy else given
        if ports is not self._chain[-1]:
            return send

        def send_last(message: Any) -> None:
            self._note_answers(self._time.time_ns, len(self._chain) - 1)
            send(message)

        return send_last


def _serialising(outlet: Outlet, time: StepTime, topic: str, cells: Cells) -> Sequence[ChainLink] | None:
    """Links that serialise the messages of an outlet, and pass them on; None if kernels cannot."""
    if topic not in cells or not can_serialise(outlet.topic, cells[topic]):
        return None
    return serialising_links(outlet.topic, cells[topic], time, partial(outlet.serialised_links, time))


def _is_in_step(ports: PartPorts, time_ns: int, step_ns: int) -> bool:
    """Whether a part in lockstep has answered the previous step, and neither sends nor receives in another way."""
    part = ports.part
    return (
        part.lockstep
        and ports.sends_as_bound
        and part.answered_ns == time_ns - step_ns
        and not any(inlet.has_external for port, inlet in ports.inlets if port.kind in _WITHIN_STEP)
    )
