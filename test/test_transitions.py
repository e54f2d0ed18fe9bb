"""A state machine follows its table."""

from __future__ import annotations

from enum import Enum, auto

from rosflight_py_sim.ground.transitions import TransitionMachine, Transitions


class State(Enum):
    OFF = auto()
    STARTING = auto()
    ON = auto()


class Event(Enum):
    SWITCH = auto()
    READY = auto()


class Lamp:
    def __init__(self) -> None:
        self.machine = TransitionMachine(TRANSITIONS, State.OFF, self)
        self.seen: list[tuple[str, State, int]] = []

    def warm_up(self, watts: int) -> None:
        self.seen.append(("warm up", self.machine.state, watts))
        self.machine.handle(Event.READY, 2 * watts)

    def shine(self, watts: int) -> None:
        self.seen.append(("shine", self.machine.state, watts))


TRANSITIONS: Transitions[State, Event] = {
    State.OFF: {Event.SWITCH: (State.STARTING, (Lamp.warm_up,))},
    State.STARTING: {Event.READY: (State.ON, (Lamp.shine,))},
    State.ON: {Event.SWITCH: (State.OFF, ())},
}


def test_state_is_entered_before_its_actions_run() -> None:
    lamp = Lamp()
    assert lamp.machine.handle(Event.SWITCH, 20) == (Lamp.warm_up,)
    assert lamp.machine.state is State.ON
    assert lamp.seen == [("warm up", State.STARTING, 20), ("shine", State.ON, 40)]
    assert lamp.machine.handle(Event.SWITCH) == ()
    assert lamp.machine.state is State.OFF


def test_unlisted_event_is_ignored() -> None:
    lamp = Lamp()
    assert lamp.machine.handle(Event.READY, 20) == ()
    assert (lamp.machine.state, lamp.seen) == (State.OFF, [])
