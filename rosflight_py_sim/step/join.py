"""Join of a step's inputs: a node answers a message once its other inputs with the same stamp have arrived."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from rosflight_py_sim.step.stamped_inputs import ExpectedInput

_NONE_NS = -1
_EVERY_NS = -2
_NO_TRIGGER: tuple[int, Any] = (_NONE_NS, None)


class JoinRule(NamedTuple):
    """Inputs of a node's answer in a step, by topic.

    Attributes:
        trigger: topic whose messages each request an answer.
        synchronized: topics whose messages with the trigger's stamp go into the answer.
        required: topics that must have received a message, with any stamp, before the first answer.
        renewed_by: synchronized topics whose messages with the stamp of the last answer make that answer stale.
        admitted_by: topic that in lockstep must admit the trigger's stamp, by itself or with all others, before the
            answer; empty if none.
        expected: topics of `ExpectedInput`, for whose messages the answer waits only while they are late.
    """

    trigger: str
    synchronized: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    renewed_by: tuple[str, ...] = ()
    admitted_by: str = ""
    expected: tuple[str, ...] = ()


class StepJoin:
    """Joins the inputs of a step by stamp, and requests the step's answer exactly once.

    - A message of the trigger, stamped t, requests the answer of t. It replaces a trigger with another stamp that is
      still waiting.
    - In lockstep the answer waits until the newest message of every synchronized topic is stamped t and no expected
      topic is late, so that a process without processor time does not look like a lost transmitter.
    - A trigger repeated while it is waiting ends the wait: an input is lost, and the answer uses the newest messages.
      If an expected topic is late, no later answer waits for any until it is regular again.
    - A trigger with the stamp of the last answer gets the same answer again, unless that answer is stale.
    - In lockstep a trigger older than the newest one has no effect at first, because it may be a late copy. If the
      same stamp is repeated before a trigger with another stamp arrives, the clock was set back, and the stamp counts
      as a new time.
    - `repeat` has the effect of a repeated trigger, if the trigger of that stamp has arrived.
    - A message of a topic in `renewed_by` with the stamp of the last answer (a state was set) makes that answer
      stale, and so does `make_stale`. The next trigger with that stamp is treated as a new one.
    - Outside of lockstep a trigger does not wait for synchronized topics: its answer uses the newest messages.
    - In any mode a trigger waits, however often it is repeated, until each `required` input has arrived once. In
      lockstep, if the rule has `admitted_by`, it also waits until `admit` has been called for its stamp or for all.

    Outside of lockstep an older trigger counts as a new time. The inputs of different topics arrive in any order. The
    caller stores the contents of inputs before it reports them.

    Attributes:
        waiting_ns: stamp of the trigger that is waiting, ns; -1 if none is.
        answered_ns: stamp of the last answer, ns; -1 before the first. During a call of `answer`, still the previous.
    """

    __slots__ = (
        "_admitted_ns",
        "_again",
        "_answer",
        "_awaited",
        "_content",
        "_expected",
        "_is_lockstep",
        "_is_quiet",
        "_is_stale",
        "_late_after_ns",
        "_missing",
        "_names",
        "_older",
        "_renewed_by",
        "_stamps",
        "_waits_for",
        "answered_ns",
        "waiting_ns",
    )

    def __init__(
        self, rule: JoinRule, answer: Callable[[int, Any], None], again: Callable[[int], None], *, lockstep: bool
    ) -> None:
        """Wait for the first trigger.

        Args:
            rule: inputs of the answer.
            answer: called with stamp (ns) and content of a trigger to make its answer.
            again: called with the stamp (ns) of the last answer to give that answer again.
            lockstep: whether answers wait for synchronized topics.
        """
        self.waiting_ns = self.answered_ns = _NONE_NS
        self._answer, self._again = answer, again
        self._names = list(dict.fromkeys((*rule.synchronized, *rule.required)))
        # Of synchronized inputs only: the stamps of those that are only required have no effect.
        self._stamps = [_NONE_NS] * len(rule.synchronized)
        self._waits_for = len(self._stamps) if lockstep else 0
        self._expected = {name: ExpectedInput() for name in rule.expected}
        self._awaited = tuple(self._expected.values()) if lockstep else ()
        self._missing = {self._names.index(name) for name in rule.required}
        self._admitted_ns = _NONE_NS if rule.admitted_by and lockstep else _EVERY_NS
        self._is_lockstep = lockstep
        # Stamp and content of the last trigger, if it was older than the newest.
        self._older = _NO_TRIGGER
        self._renewed_by = rule.renewed_by if lockstep else ()
        self._content: Any = None
        self._is_stale = False
        # Whether only stamps decide about the next trigger: all answers are admitted and every required input has
        # arrived, no trigger is waiting, the last answer is not stale, and the last trigger was the newest.
        self._is_quiet = False
        # Time after which an expected input is late.
        self._late_after_ns = math.inf

    def input(self, name: str) -> Callable[..., None]:
        """Function that reports a message of a synchronized, required or expected input.

        Call it with the message's stamp, ns; without one if the input is only required, or if it is expected and the
        age of its messages counts from their arrival.

        Raises:
            ValueError: the rule has no such input.
        """
        if name in self._expected:
            return partial(self._expected_arrived, self._expected[name])
        return partial(self._arrived, self._number(name), name in self._renewed_by)

    def _number(self, name: str) -> int:
        """Place of a synchronized or required input.

        Raises:
            ValueError: the rule has no such input.
        """
        if name not in self._names:
            raise ValueError(f"input '{name}' given; allowed: {', '.join(self._names)}")
        return self._names.index(name)

    def taking(self, name: str, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """Function that passes each message of a synchronized or required input to `take`, and reports its stamp.

        Raises:
            ValueError: the rule has no such input.
        """
        index, renews, stamps = self._number(name), name in self._renewed_by, self._stamps

        if index >= len(stamps):

            def on_required(message: Any) -> None:
                take(message)
                self._arrived(index, renews)

            return on_required

        def on_message(message: Any) -> None:
            take(message)
            stamp_ns = message.time_ns
            if self._is_quiet and stamp_ns != self.answered_ns:
                stamps[index] = stamp_ns
            else:
                self._arrived(index, renews, stamp_ns)

        return on_message

    def admit(self, stamp_ns: int = _EVERY_NS) -> None:
        """Admit the answer of this stamp, and no other; without a stamp, all answers; with -1, none."""
        self._admitted_ns = stamp_ns
        self._is_quiet = False
        self._give_if_complete()

    def is_late(self, stamp_ns: int) -> bool:
        """Whether a trigger would be held back: in lockstep, it is older than the newest and no repetition."""
        return self._is_lockstep and stamp_ns < self._newest_ns and stamp_ns != self._older[0]

    def trigger(self, stamp_ns: int, content: Any = None) -> None:
        """Process a message of the trigger: answer it, repeat the answer, or wait."""
        if (
            self._is_quiet
            and self.answered_ns < stamp_ns <= self._late_after_ns
            and self._stamps.count(stamp_ns) >= self._waits_for
        ):
            self._content = content
            self._answer(stamp_ns, content)
            self.answered_ns = stamp_ns
            return
        self._is_quiet = False
        if stamp_ns <= self.answered_ns or stamp_ns < self.waiting_ns:
            if self.is_late(stamp_ns):
                self._older = stamp_ns, content
                return
            if stamp_ns == self.answered_ns and not self._is_stale:
                self._older = _NO_TRIGGER
                self._again(stamp_ns)
                return
        self._older = _NO_TRIGGER
        is_repeated = stamp_ns == self.waiting_ns
        self.waiting_ns, self._content = stamp_ns, content
        if is_repeated:
            self.give_up()
        else:
            self._give_if_complete()

    def is_ready(self, stamp_ns: int) -> bool:
        """Whether only the inputs of a trigger decide whether it is answered at once, as the next one."""
        is_quiet = self._is_quiet or (
            self._admitted_ns == stamp_ns
            and self.waiting_ns == _NONE_NS
            and self._older is _NO_TRIGGER
            and not (self._missing or self._is_stale)
        )
        return is_quiet and self.answered_ns < stamp_ns <= self._late_after_ns

    def has_inputs(self, stamp_ns: int) -> bool:
        """Whether the newest messages of all synchronized inputs have this stamp."""
        return self._stamps.count(stamp_ns) >= self._waits_for

    def keep(self, content: Any) -> None:
        """Keep the content of the last trigger, which has been answered in another way."""
        self._content = content

    def repeat(self, stamp_ns: int) -> None:
        """Repeat the trigger of that stamp, with its content; without effect if it has not arrived."""
        if stamp_ns in (self.waiting_ns, self.answered_ns):
            self.trigger(stamp_ns, self._content)
        elif stamp_ns == self._older[0]:
            self.trigger(*self._older)

    def give_up(self) -> None:
        """End the wait, if there is one, as a repeated trigger does."""
        self._give_if_complete(are_inputs_lost=True)

    def make_stale(self) -> None:
        """Make the last answer stale: the next trigger with its stamp gets a new one.

        A call from within `answer` applies to the answer under way.
        """
        self._is_stale = True
        self._is_quiet = False

    def _arrived(self, index: int, renews: bool, stamp_ns: int = _NONE_NS) -> None:
        if renews and stamp_ns == self.answered_ns:
            self.make_stale()
        if index < len(self._stamps):
            self._stamps[index] = stamp_ns
        self._missing.discard(index)
        self._give_if_complete()

    @property
    def _newest_ns(self) -> int:
        """Stamp of the newest trigger."""
        return self.answered_ns if self.waiting_ns == _NONE_NS else self.waiting_ns

    def _expected_arrived(self, one: ExpectedInput, stamp_ns: int = _NONE_NS) -> None:
        one.received(self._newest_ns if stamp_ns == _NONE_NS else stamp_ns)
        self._note_lateness()
        self._give_if_complete()

    def _note_lateness(self) -> None:
        self._late_after_ns = min((one.late_after_ns for one in self._awaited), default=math.inf)

    def _give_if_complete(self, *, are_inputs_lost: bool = False) -> None:
        """Answer the trigger that is waiting, if there is one and its inputs are complete or lost."""
        stamp_ns = self.waiting_ns
        is_late = stamp_ns > self._late_after_ns
        if (
            stamp_ns == _NONE_NS
            or self._missing
            or self._admitted_ns not in (_EVERY_NS, stamp_ns)
            or (not are_inputs_lost and (is_late or self._stamps.count(stamp_ns) < self._waits_for))
        ):
            return
        if is_late:
            for one in self._awaited:
                one.give_up()
            self._note_lateness()
        self.waiting_ns = _NONE_NS
        self._is_stale = False
        self._is_quiet = self._admitted_ns == _EVERY_NS and self._older is _NO_TRIGGER
        self._answer(stamp_ns, self._content)
        self.answered_ns = stamp_ns
