"""Answers of a vehicle's nodes by one chain of kernels, in a process that runs all of them.

In lockstep, sensors, flight controller, forces and dynamics trigger each other by messages that nothing else needs to
receive. A message of /clock then runs the chain of their kernels for one step (`step/compiled_steps.py`), and only the
state and the wind are sent. Topics that something outside of the chain receives are sent in each step, too. The
trajectory is the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rosflight_py_sim.interfaces.hand_off_ends import Deliver, Inlet, Outlet
from rosflight_py_sim.kernels.chain import Cell, StepTime
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.compiled_steps import Act, CompiledSteps, Receiver, compiled_steps
from rosflight_py_sim.step.ports import Kind, Output

if TYPE_CHECKING:
    from rosflight_py_sim.interfaces.hand_off import HandOff
    from rosflight_py_sim.interfaces.part_ports import PartPorts

# Number of steps by messages before the first chain and after the end of one; twice as many after each that was short.
_FEWEST_STEPS, _MOST_STEPS = 3, 384

# A chain that ran for fewer steps was hardly worth making.
_SHORT = 100

_IMMEDIATE = (Kind.SYNCHRONIZED, Kind.NEWEST)


class _Link(NamedTuple):
    """A topic from one part of a chain to the next.

    Attributes:
        ports: ports of its sender.
        outlet: its publishing end.
        cell: its numbers.
        is_sent: whether the messages are sent in each step, for receivers outside of the chain.
    """

    ports: PartPorts
    outlet: Outlet
    cell: Cell
    is_sent: bool

    def refresh(self) -> None:
        """Let the outlet have its newest message."""
        stamp_ns = self.ports.part.answered_ns
        if self.outlet.last is None or self.outlet.last.time_ns != stamp_ns:
            self.outlet.last = self.cell.message(stamp_ns)


class CompiledVehicle:
    """Runs the answers of a part that /clock triggers, and of those after it, by messages or by a chain."""

    def __init__(self, hand_off: HandOff, first: PartPorts) -> None:
        """Begin with messages.

        Args:
            hand_off: connects the parts.
            first: ports of the part that /clock triggers.
        """
        self._hand_off, self._first = hand_off, first
        self._steps: CompiledSteps | None = None
        self._chain: Sequence[PartPorts] = ()
        self._between: Sequence[_Link] = ()
        self._revision = -1
        self._uncounted = self._taken = 0
        self._wait = self._waits = _FEWEST_STEPS
        self._is_running = self._is_out_of_date = False

    @property
    def is_compiled(self) -> bool:
        """Whether the last step was compiled."""
        return self._steps is not None

    def run(self, time_ns: int, content: Any) -> None:
        """Answer a message of /clock."""
        if self._steps is not None and not self._fits(time_ns):
            self.leave()
        if self._steps is None:
            self._wait -= 1
            if self._wait >= 0 or not self._hand_off.compiles or not self._compile(time_ns):
                self._first.part.run(time_ns, content)
                return
        steps = self._steps
        assert steps is not None
        self._uncounted += 1
        self._is_running = True
        try:
            steps.advance(time_ns + self._step_ns)
        except StateDivergedError:
            # The last part has handled it, and keeps its last state.
            self._is_out_of_date = True
            self._note_answers(time_ns)
            last = self._chain[-1].part
            last.make_stale()
        finally:
            self._is_running = False
        self._last_join.answered_ns = time_ns
        if self._is_out_of_date:
            self.leave()

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
        """Store for Python what the kernels have changed, and count the messages that were not made."""
        if self._steps is None or self._is_running:
            return
        self._steps.store()
        count, self._uncounted = self._uncounted, 0
        self._taken += count
        for one in self._between:
            if not one.is_sent:
                one.outlet.counter.count += count
        for ports in self._chain:
            for name in ports.part.UNSENT:
                ports.count_unsent(name, count)

    def leave(self) -> None:
        """Answer by messages from now on."""
        self.settle()
        for one in self._between:
            one.refresh()
            one.outlet.refresh = None
            for inlet in one.outlet.inlets:
                self._pass_on(one.outlet.last, inlet)
        for ports in self._chain:
            ports.compiled = None
        self._steps = None
        self._waits = _FEWEST_STEPS if self._taken >= _SHORT else min(2 * self._waits, _MOST_STEPS)
        self._wait = self._waits

    def _pass_on(self, message: Any, inlet: Inlet) -> None:
        """Let an inlet of the chain have the newest message, as if it had been answered."""
        owner = inlet.owner
        if owner is None or owner[0] not in self._chain:
            return
        ports, port = owner
        if port.kind is Kind.TRIGGER:
            ports.join.keep(message)
        elif inlet.deliver is not None:
            inlet.deliver(message)

    def _fits(self, time_ns: int) -> bool:
        """Whether the next step can be taken by the chain."""
        if time_ns != self._time.time_ns or self._hand_off.revision != self._revision:
            return False
        if self._truth.step_ns != self._step_ns:
            return False
        return self._are_ready(time_ns)

    def _are_ready(self, time_ns: int) -> bool:
        """Whether all joins would answer at once, given their triggers."""
        for join, has_inputs in self._joins:
            if not join.is_ready(time_ns) or (has_inputs and not join.has_inputs(time_ns)):
                return False
        return True

    def _compile(self, time_ns: int) -> bool:
        """Make the chain, if it can take the next step."""
        hand_off = self._hand_off
        self._wait = _MOST_STEPS
        chain = list(self._parts_from(self._first))
        last = chain[-1].part
        if hand_off.has_guests or not isinstance(last, Truth) or not last.time_is_known or last.time_ns != time_ns:
            return False
        step_ns = last.step_ns
        if any(ports.part.answered_ns != time_ns - step_ns or not ports.part.lockstep for ports in chain):
            return False
        between: list[_Link] = []
        receivers: list[Receiver] = []
        inner: set[str] = set()
        for ports in chain:
            cells = ports.part.cells()
            for out, outlet in ports.outlets.values():
                inside = [inlet.owner for inlet in outlet.inlets if inlet.owner and inlet.owner[0] in chain]
                is_last = ports is chain[-1] and out.topic.name in cells
                outside = [] if is_last else list(_outside(outlet, chain))
                receivers += [
                    Receiver(out.topic, _never, part=owner.part, is_triggered=port.kind is Kind.TRIGGER)
                    for owner, port in inside
                ]
                if is_last:
                    receivers.append(Receiver(out.topic, self._sender(ports, out)))
                elif outside or outlet.is_encoded or outlet.history is not None:
                    queued = [one for one in outside if not one.is_at_once]
                    receivers.append(Receiver(out.topic, _sending(outlet, outside), is_triggered=bool(queued)))
                if out.topic.name in cells and not is_last:
                    inner.add(out.topic.name)
                    is_sent = bool(outside) or outlet.is_encoded or outlet.history is not None
                    between.append(_Link(ports, outlet, cells[out.topic.name], is_sent))
        self._chain, self._truth = chain, last
        self._joins = [(ports.join, ports.join.waits_for_others(inner)) for ports in chain]
        self._joins[0] = (chain[0].join, False)
        if any(map(_has_other_publishers, chain)) or not self._others_are_ready(time_ns):
            return False
        self._time = time = StepTime(time_ns=time_ns, step_ns=step_ns, until_ns=0)
        acts = [Act(chain[0].part, chain[0].part.run, None)]
        steps = compiled_steps([ports.part for ports in chain], time, acts, receivers, deque[Any](), _nothing)
        if steps is None or list(steps.parts) != [ports.part for ports in chain]:
            return False
        self._steps, self._between, self._step_ns = steps, between, step_ns
        self._last_join = chain[-1].join
        for one in between:
            one.outlet.refresh = one.refresh
        for ports in chain:
            ports.compiled = self
        self._uncounted = self._taken = 0
        self._is_out_of_date = False
        self._revision = hand_off.revision
        return True

    def _others_are_ready(self, time_ns: int) -> bool:
        """As `_are_ready`, without the first part, which answers already."""
        return all(
            join.is_ready(time_ns) and (not has_inputs or join.has_inputs(time_ns))
            for join, has_inputs in self._joins[1:]
        )

    def _parts_from(self, first: PartPorts) -> Iterator[PartPorts]:
        """Ports of the parts that trigger each other by topics of their kernels, from this one on."""
        seen: list[PartPorts] = []
        ports: PartPorts | None = first
        while ports is not None and ports not in seen:
            seen.append(ports)
            yield ports
            ports = next(self._triggered_by(ports), None)

    @staticmethod
    def _triggered_by(ports: PartPorts) -> Iterator[PartPorts]:
        cells = ports.part.cells()
        for out, outlet in ports.outlets.values():
            if out.topic.name in cells:
                for inlet in outlet.inlets:
                    if inlet.owner and inlet.owner[1].kind is Kind.TRIGGER and inlet.owner[0].part.cells():
                        yield inlet.owner[0]

    def _sender(self, ports: PartPorts, out: Output[Any]) -> Deliver:
        """Function that sends a message of the last part; the others have answered by then."""
        send: Deliver = getattr(ports.part, out.name)

        def send_last(message: Any) -> None:
            self._note_answers(self._time.time_ns)
            send(message)

        return send_last

    def _note_answers(self, time_ns: int) -> None:
        for ports in self._chain[:-1]:
            ports.join.answered_ns = time_ns


def _outside(outlet: Outlet, chain: Sequence[PartPorts]) -> Iterator[Inlet]:
    """Subscriptions that do not belong to the chain; a polled one fetches its message when needed."""
    for inlet in outlet.inlets:
        if inlet.deliver is not None and (inlet.owner is None or inlet.owner[0] not in chain):
            yield inlet


def _has_other_publishers(ports: PartPorts) -> bool:
    """Whether an input that takes effect within the step may receive messages of other processes."""
    kinds = (Kind.TRIGGER, *_IMMEDIATE)
    return any(inlet.has_external for port, inlet in ports.inlets if port.kind in kinds)


def _sending(outlet: Outlet, outside: Sequence[Inlet]) -> Deliver:
    """Function that sends a message of the chain to its receivers outside."""
    rounded, counter = outlet.topic.as_received, outlet.counter
    deliver_all = outlet.delivery_to(outside)

    def send(message: Any) -> None:
        counter.count += 1
        if rounded is not None:
            message = rounded(message)
        outlet.last = message
        if outlet.history is not None:
            outlet.history.append(message)
        for deliver in deliver_all:
            deliver(message)

    return send


def _never(message: Any) -> None:
    """Take a message between two parts of the chain, of which none are made."""
    raise AssertionError(message)


def _nothing() -> None:
    """Run nothing: the hand-off delivers the messages that are sent in a step after it."""


Run = Callable[[int, Any], None]
"""Function that answers a message, given its stamp (ns) and its content."""
