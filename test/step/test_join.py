"""The join of a step's inputs: every order, loss, duplicate and repetition of the messages of a few stamps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import pytest

from rosflight_py_sim.step.join import JoinRule, StepJoin

RULE = JoinRule("pwm", synchronized=("state", "wind"), renewed_by=("state",))
STAMPS = (0, 1)


class Message(NamedTuple):
    topic: str
    stamp_ns: int
    version: int = 0

    @property
    def time_ns(self) -> int:
        return self.stamp_ns


class Answer(NamedTuple):
    stamp_ns: int
    inputs: tuple[Message, ...]


class Joined:
    """A node that stores its answers, each with the messages from which it was computed.

    Its inputs pass through the join, as those of a part do; `by_stamp`: they only report their stamps.
    """

    def __init__(self, rule: JoinRule = RULE, *, lockstep: bool = True, by_stamp: bool = False) -> None:
        self.answers: list[Answer] = []
        self.computed = 0
        self.newest: dict[str, Message] = {}
        self.join = StepJoin(rule, self._answer, self._again, lockstep=lockstep)
        self._trigger = rule.trigger
        by_stamp_only = (*rule.synchronized, *rule.required, *rule.expected) if by_stamp else rule.expected
        self._inputs = {name: self.join.taking(name, self._take) for name in (*rule.synchronized, *rule.required)}
        self._inputs |= {name: self._reporting(self.join.input(name)) for name in by_stamp_only}

    def _take(self, message: Message) -> None:
        self.newest[message.topic] = message

    def _reporting(self, arrived: Callable[[int], None]) -> Callable[[Message], None]:
        def on_message(message: Message) -> None:
            self._take(message)
            arrived(message.stamp_ns)

        return on_message

    def _answer(self, stamp_ns: int, content: Message) -> None:
        self.computed += 1
        self.given = Answer(stamp_ns, (content, *(self.newest[name] for name in sorted(self.newest))))
        self.answers.append(self.given)

    def _again(self, stamp_ns: int) -> None:
        assert stamp_ns == self.given.stamp_ns
        self.answers.append(self.given)

    def receive(self, *messages: Message) -> list[Answer]:
        """The answers to the messages."""
        before = len(self.answers)
        for message in messages:
            if message.topic == self._trigger:
                self.join.trigger(message.stamp_ns, message)
            else:
                self._inputs[message.topic](message)
        return self.answers[before:]


def pwm(stamp_ns: int) -> Message:
    return Message("pwm", stamp_ns)


def state(stamp_ns: int, version: int = 0) -> Message:
    return Message("state", stamp_ns, version)


def wind(stamp_ns: int) -> Message:
    return Message("wind", stamp_ns)


class World:
    """The join's guarantees, checked at each message."""

    def __init__(self, path: tuple[Message, ...], *, by_stamp: bool) -> None:
        self.node = Joined(by_stamp=by_stamp)
        self.waiting_ns = -1
        self.older_ns = -1
        self.requests = 0
        self.last: Answer | None = None
        self.is_stale = False
        # Whether neither a trigger nor a new state has come since the last answer: the join then takes a shorter way.
        self.is_undisturbed = False
        for message in path:
            self.receive(message)

    def receive(self, message: Message) -> None:
        answers = self.node.receive(message)
        newest = self.node.newest
        is_answered = self.last is not None and message.stamp_ns == self.last.stamp_ns
        if message.topic == "pwm":
            self.is_undisturbed = False
            newest_ns = self.waiting_ns if self.waiting_ns >= 0 else self.last.stamp_ns if self.last else -1
            is_late = message.stamp_ns < newest_ns and message.stamp_ns != self.older_ns
            self.older_ns = message.stamp_ns if is_late else -1
            if is_late:
                assert not answers, "an answer to a late message"
                return
            if is_answered and not self.is_stale:
                assert answers == [self.last], "another answer than before"
                return
            self.requests = self.requests + 1 if message.stamp_ns == self.waiting_ns else 1
            self.waiting_ns = message.stamp_ns
        elif message.topic == "state" and is_answered:
            self.is_stale, self.is_undisturbed = True, False
        if self.waiting_ns < 0:
            assert not answers, "an answer that was not requested"
            return
        inputs = [newest[topic] for topic in sorted(RULE.synchronized) if topic in newest]
        complete = [one.stamp_ns for one in inputs] == [self.waiting_ns] * len(RULE.synchronized)
        if self.requests == 1 and not complete:
            assert not answers, "an answer before its inputs"
            return
        assert answers == [Answer(self.waiting_ns, (pwm(self.waiting_ns), *inputs))], "not the answer of these inputs"
        self.last, self.is_stale, self.waiting_ns = answers[0], False, -1
        self.is_undisturbed = True

    @property
    def key(self) -> tuple[object, ...]:
        """The state on which answers to later messages may depend."""
        newest = tuple(sorted(self.node.newest.items()))
        own = self.waiting_ns, self.older_ns, self.requests, self.last, self.is_stale, self.is_undisturbed
        return newest, self.node.join.waiting_ns, *own


def next_messages(path: tuple[Message, ...], *, goes_back: bool) -> Iterator[Message]:
    latest_ns = max((one.stamp_ns for one in path if one.topic == "pwm"), default=0)
    for stamp in STAMPS:
        if goes_back or stamp >= latest_ns:
            yield pwm(stamp)
        yield from (state(stamp), state(stamp, 1), wind(stamp))


@pytest.mark.parametrize("by_stamp", [False, True])
@pytest.mark.parametrize("goes_back", [False, True])
def test_each_stamp_gets_one_answer_from_its_own_inputs_in_any_order_with_any_loss(
    goes_back: bool, by_stamp: bool
) -> None:
    # Every reachable state, which covers message sequences of any length.
    reached = {World((), by_stamp=by_stamp).key: ()}
    paths: list[tuple[Message, ...]] = [()]
    for path in paths:
        for message in next_messages(path, goes_back=goes_back):
            longer = (*path, message)
            key = World(longer, by_stamp=by_stamp).key
            if key not in reached:
                reached[key] = longer
                paths.append(longer)
    assert len(reached) > 200


def test_every_lossless_interleaving_answers_each_stamp_immediately() -> None:
    topics = [pwm, state, wind]
    for order in set(product(range(3), repeat=6)):
        if any(order.count(k) != 2 for k in range(3)):
            continue
        seen = [0, 0, 0]
        messages = []
        for k in order:
            messages.append(topics[k](seen[k]))
            seen[k] += 1
        answers = Joined().receive(*messages)
        assert all(one.stamp_ns == answer.stamp_ns for answer in answers for one in answer.inputs)
        # A node sends the inputs of the next step after the answer to this one.
        if max(order.index(0), order.index(1), order.index(2)) == 2:
            assert [answer.stamp_ns for answer in answers] == [0, 1]


def test_set_state_invalidates_its_answer_until_requested_again() -> None:
    node = Joined()
    node.receive(wind(1), state(1), pwm(1))
    assert node.receive(state(1, 1)) == []
    assert node.receive(pwm(1)) == [Answer(1, (pwm(1), state(1, 1), wind(1)))]
    assert node.receive(pwm(1), pwm(1)) == node.answers[-1:] * 2
    assert node.computed == 2


def test_invalidated_answer_is_recomputed() -> None:
    node = Joined()
    node.receive(wind(1), state(1), pwm(1))
    node.join.make_stale()
    node.receive(pwm(1), pwm(1))
    assert node.computed == 2


def test_failed_answer_is_retried_on_each_request() -> None:
    tried: list[int] = []

    def fail(stamp_ns: int, content: object) -> None:
        tried.append(stamp_ns)
        join.make_stale()

    join = StepJoin(JoinRule("wrench"), fail, lambda _: pytest.fail("there is no answer"), lockstep=True)
    for _ in range(3):
        join.trigger(1)
    assert tried == [1, 1, 1]


def test_outside_lockstep_only_the_trigger_is_answered_with_latest_inputs() -> None:
    node = Joined(lockstep=False)
    assert node.receive(pwm(1)) == [Answer(1, (pwm(1),))]
    assert node.receive(state(5), pwm(2)) == [Answer(2, (pwm(2), state(5)))]
    assert node.receive(wind(2), state(2), pwm(2)) == [Answer(2, (pwm(2), state(5)))]


@pytest.mark.parametrize("lockstep", [True, False])
def test_repetition_does_not_replace_a_required_input(lockstep: bool) -> None:
    node = Joined(JoinRule("clock", required=("state",)), lockstep=lockstep)
    assert node.receive(*[Message("clock", 1)] * 3) == []
    node.join.give_up()
    assert node.answers == []
    assert [one.stamp_ns for one in node.receive(state(-1))] == [1]


def test_companions_do_not_replace_a_required_input() -> None:
    node = Joined(JoinRule("wrench", synchronized=("pwm",), required=("step size",)))
    assert node.receive(Message("wrench", 1), pwm(1)) == []
    assert [one.stamp_ns for one in node.receive(Message("step size", -1))] == [1]


def test_required_input_with_the_stamp_of_the_trigger_does_not_replace_a_companion() -> None:
    node = Joined(JoinRule("clock", synchronized=("state", "wind"), required=("sphere",)))
    clock, sphere = (lambda ns: Message("clock", ns)), (lambda ns: Message("sphere", ns))
    assert not node.receive(sphere(0), state(0), clock(0))
    assert [one.stamp_ns for one in node.receive(wind(0))] == [0]
    # Also once the join takes its shorter way.
    assert not node.receive(sphere(1), state(1), clock(1))
    assert [one.stamp_ns for one in node.receive(wind(1))] == [1]


def test_required_companion_with_other_stamp_ends_the_wait_only_on_repetition() -> None:
    node = Joined(JoinRule("clock", synchronized=("state",), required=("state",)))
    assert node.receive(Message("clock", 5), Message("clock", 5), state(3)) == []
    assert [one.stamp_ns for one in node.receive(Message("clock", 5))] == [5]


def test_late_triggers_are_ignored_however_old_they_are() -> None:
    node = Joined(JoinRule("pwm"))
    node.receive(pwm(1_000_000_000), pwm(1_010_000_000))
    assert node.join.is_late(1_000_000_000)
    assert node.receive(pwm(1_000_000_000), pwm(0), pwm(10_000_000)) == []
    node.receive(pwm(1_020_000_000))
    assert node.receive(pwm(10_000_000)) == [], "a newer trigger has arrived in between"


@pytest.mark.parametrize("again", ["trigger", "repeat"])
def test_older_trigger_that_is_repeated_sets_the_clock_back(again: str) -> None:
    node = Joined(JoinRule("pwm"))
    node.receive(pwm(30_000_000))
    node.receive(pwm(0))
    assert not node.join.is_late(0)
    if again == "repeat":
        node.join.repeat(0)
    else:
        node.receive(pwm(0))
    assert node.answers[1:] == [Answer(0, (pwm(0),))]
    assert [one.stamp_ns for one in node.receive(pwm(10_000_000))] == [10_000_000]


def test_older_trigger_sets_the_clock_back_outside_lockstep() -> None:
    node = Joined(JoinRule("pwm"), lockstep=False)
    node.receive(pwm(200_000_000))
    assert not node.join.is_late(150_000_000)
    assert [one.stamp_ns for one in node.receive(pwm(150_000_000))] == [150_000_000]


def test_repetition_of_a_stamp_repeats_its_trigger_with_the_content() -> None:
    node = Joined()
    node.join.repeat(1)
    assert node.answers == []
    node.receive(pwm(1))
    node.join.repeat(0)
    assert node.answers == []
    node.join.repeat(1)
    node.join.repeat(1)
    assert node.answers == [Answer(1, (pwm(1),))] * 2
    assert node.computed == 1


def test_giving_up_answers_the_pending_trigger_once() -> None:
    node = Joined()
    node.join.give_up()
    node.receive(pwm(1))
    node.join.give_up()
    node.join.give_up()
    assert node.answers == [Answer(1, (pwm(1),))]


def test_previous_answer_stamp_is_available_while_computing() -> None:
    known: list[int] = []
    join = StepJoin(JoinRule("clock"), lambda *_: known.append(join.answered_ns), lambda _: None, lockstep=True)
    for stamp in (3, 5):
        join.trigger(stamp)
    assert known == [-1, 3]
    assert join.answered_ns == 5


def test_input_missing_from_the_rule_is_rejected() -> None:
    with pytest.raises(ValueError, match="input 'rain' given; allowed: "):
        Joined().join.input("rain")
    with pytest.raises(ValueError, match="input 'rain' given; allowed: "):
        Joined().join.taking("rain", lambda _: None)


@pytest.mark.parametrize("repeats", [0, 3])
def test_answer_waits_until_its_stamp_is_admitted(repeats: int) -> None:
    joined = Joined(JoinRule("pwm", synchronized=("state",), admitted_by="step"))
    early = [pwm(0), Message("state", 0), *[pwm(0)] * repeats]
    assert joined.receive(*early) == []
    joined.join.give_up()
    # The admission of another step, from before.
    joined.join.admit(7)
    assert joined.answers == []
    joined.join.admit(0)
    assert [answer.stamp_ns for answer in joined.answers] == [0]
    # That of one step is not that of the next.
    assert joined.receive(pwm(1), Message("state", 1), pwm(1)) == []
    joined.join.admit(1)
    assert [answer.stamp_ns for answer in joined.answers] == [0, 1]
    assert [answer.stamp_ns for answer in joined.receive(pwm(1))] == [1]


def test_admission_of_all_steps_holds_for_each() -> None:
    joined = Joined(JoinRule("pwm", admitted_by="step"))
    joined.join.admit()
    assert [answer.stamp_ns for answer in joined.receive(pwm(0), pwm(1), pwm(2))] == [0, 1, 2]


def test_no_admission_is_needed_outside_lockstep() -> None:
    joined = Joined(JoinRule("pwm", admitted_by="step"), lockstep=False)
    assert [answer.stamp_ns for answer in joined.receive(pwm(0), pwm(1))] == [0, 1]


def test_admission_does_not_replace_a_companion() -> None:
    joined = Joined(JoinRule("pwm", synchronized=("state",), admitted_by="step"))
    assert joined.receive(pwm(0)) == []
    joined.join.admit(0)
    assert joined.answers == []
    assert [answer.stamp_ns for answer in joined.receive(Message("state", 0))] == [0]


MS = 1_000_000
REGULAR = JoinRule("pwm", expected=("rc",))


def rc(stamp_ns: int) -> Message:
    return Message("rc", stamp_ns)


def test_answer_waits_for_an_expected_input_only_while_it_is_late() -> None:
    node = Joined(REGULAR)
    assert len(node.receive(pwm(0))) == 1, "never arrived"
    node.receive(rc(0), rc(20 * MS))
    assert len(node.receive(pwm(70 * MS))) == 1, "not late yet"
    assert node.receive(pwm(71 * MS)) == []
    assert [one.stamp_ns for one in node.receive(rc(71 * MS))] == [71 * MS]


def test_repeated_trigger_ends_the_wait_for_an_expected_input_until_it_is_regular_again() -> None:
    node = Joined(REGULAR)
    node.receive(rc(0), rc(20 * MS))
    assert node.receive(pwm(100 * MS)) == []
    assert len(node.receive(pwm(100 * MS))) == 1
    assert len(node.receive(pwm(200 * MS))) == 1
    node.receive(rc(200 * MS), rc(220 * MS))
    assert node.receive(pwm(300 * MS)) == []


def test_answer_outside_lockstep_does_not_wait_for_an_expected_input() -> None:
    node = Joined(REGULAR, lockstep=False)
    node.receive(rc(0), rc(20 * MS))
    assert len(node.receive(pwm(100 * MS))) == 1


def test_late_copy_of_an_expected_input_does_not_end_the_wait() -> None:
    node = Joined(REGULAR)
    node.receive(rc(0), rc(20 * MS))
    assert node.receive(pwm(100 * MS)) == []
    assert node.receive(rc(40 * MS)) == []
    assert len(node.receive(rc(60 * MS))) == 1


def test_expected_input_of_another_clock_is_late_by_its_arrival() -> None:
    node = Joined(REGULAR)
    arrived = node.join.input("rc")
    node.receive(pwm(10 * MS))
    arrived()
    node.receive(pwm(30 * MS))
    arrived()
    assert len(node.receive(pwm(80 * MS))) == 1
    assert node.receive(pwm(90 * MS)) == []
    arrived()
    assert node.join.answered_ns == 90 * MS
