"""The bridge's transition tables: every pair of state and event, and the results of known event sequences."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from rosflight_py_sim.bridge.actuated_vehicle import (
    EXCHANGE_TRANSITIONS,
    ActuatedVehicle,
    ExchangeEvent,
    ExchangeState,
)
from rosflight_py_sim.bridge.ardupilot_link import STEP_TRANSITIONS, ArduPilotLink, StepEvent, StepState
from rosflight_py_sim.bridge.ardupilot_peer import PEER_TRANSITIONS, ArduPilotPeer, PeerEvent, PeerState
from rosflight_py_sim.bridge.px4_link import PX4_TRANSITIONS, Px4Event, Px4Link, Px4State
from rosflight_py_sim.ground.transitions import Transitions

TABLES: list[tuple[Transitions[Any, Any], Enum, type[Enum], type]] = [
    (STEP_TRANSITIONS, StepState.WAITING, StepEvent, ArduPilotLink),
    (PEER_TRANSITIONS, PeerState.NONE, PeerEvent, ArduPilotPeer),
    (PX4_TRANSITIONS, Px4State.ABSENT, Px4Event, Px4Link),
    (EXCHANGE_TRANSITIONS, ExchangeState.STEPPING, ExchangeEvent, ActuatedVehicle),
]
of_each_table = pytest.mark.parametrize(
    ("transitions", "start", "events", "owner"), TABLES, ids=[owner.__name__ for *_, owner in TABLES]
)

S, E, P, F, V, N, X, Y = (
    StepState,
    StepEvent,
    PeerState,
    PeerEvent,
    ExchangeState,
    ExchangeEvent,
    Px4State,
    Px4Event,
)

# Events of frames occur only while frames are being received.
_OF_FRAMES = set(StepEvent) - {E.SNAPSHOT}
# Before there is a peer, every sender is a newcomer.
_OF_PEER = set(PeerEvent) - {F.FROM_NEWCOMER}
_OTHERS = {F.FROM_OTHER, F.FROM_OTHER_AGAIN}
_OF_THE_FRONT_END = {N.COMMANDS, N.START_OVER}
_CONNECTIONS = {Y.FIRST, Y.ANOTHER}
_OF_PX4 = {Y.ANSWER, Y.REGULAR, Y.DUE, Y.OVERDUE}
_OF_RESETS = {N.RESET_DONE, N.NEW_STATE}

CHANGES_NOTHING: dict[Enum, set[Any]] = {
    # Ignored frames, or the end of frames that required no action.
    S.WAITING: {E.CROSSING, E.LATE, E.SILENCE},
    # Several repetitions get one answer; snapshots arrive only after receiving.
    S.REPEATED: {E.DUPLICATE, E.CROSSING, E.LATE, E.SNAPSHOT},
    S.STEPPING: _OF_FRAMES,
    # Repetitions received during the step get only the answer that is due.
    S.ANSWERING: {E.DUPLICATE, E.CROSSING, E.LATE, E.SNAPSHOT},
    S.STARTING_OVER: _OF_FRAMES,
    P.NONE: _OF_PEER,
    # The peer has sent nothing since: the other sender may be the peer itself, after a restart.
    P.NEW: _OTHERS,
    P.SENDING: set(),
    P.CONTESTED: _OTHERS,
    X.ABSENT: _OF_PX4 | {Y.SNAPSHOT, Y.LOST},
    X.STARTING_OVER: _OF_PX4 | _CONNECTIONS,
    X.FREE: {Y.ANSWER, Y.OVERDUE} | _CONNECTIONS,
    X.FREE_STEP: _OF_PX4 | _CONNECTIONS,
    X.AWAITING: {Y.REGULAR, Y.DUE} | _CONNECTIONS,
    # A second answer takes no second step.
    X.STEP: _OF_PX4 | _CONNECTIONS,
    # No request to the front-end or the reset services is pending.
    V.STEPPING: _OF_THE_FRONT_END | _OF_RESETS | {N.PUBLISH, N.OVERDUE},
    # The front-end may take any length of time.
    V.AWAITING_COMMANDS: _OF_RESETS | {N.PUBLISH, N.OVERDUE},
    # The front-end is asked once.
    V.ANSWERED: _OF_THE_FRONT_END | _OF_RESETS | {N.OVERDUE},
    # The next state that the front-end receives is that of the vehicle at its start.
    V.RESETTING: _OF_THE_FRONT_END | {N.SNAPSHOT, N.PUBLISH},
    V.SERVICES_REPLIED: _OF_THE_FRONT_END | {N.SNAPSHOT, N.PUBLISH, N.RESET_DONE},
    V.STATE_RESET: _OF_THE_FRONT_END | {N.SNAPSHOT, N.PUBLISH, N.NEW_STATE},
}


@of_each_table
def test_every_event_in_every_state_is_in_the_table_or_explicitly_ignored(
    transitions: Transitions[Any, Any], start: Enum, events: type[Enum], owner: type
) -> None:
    assert set(transitions) == set(type(start))
    for state, row in transitions.items():
        assert set(row) == set(events) - CHANGES_NOTHING[state], state


@of_each_table
def test_every_state_can_be_entered_and_left(
    transitions: Transitions[Any, Any], start: Enum, events: type[Enum], owner: type
) -> None:
    reached, found = {start}, [start]
    while found:
        targets = {target for target, _ in transitions[found.pop()].values()} - reached
        reached |= targets
        found += targets
    assert reached == set(type(start))
    assert all({target for target, _ in row.values()} - {state} for state, row in transitions.items())


@of_each_table
def test_actions_are_methods_of_the_table_owner(
    transitions: Transitions[Any, Any], start: Enum, events: type[Enum], owner: type
) -> None:
    for row in transitions.values():
        for _, actions in row.values():
            assert all(getattr(owner, action.__name__) is action for action in actions)


def walk(transitions: Transitions[Any, Any], state: Enum, *events: Enum) -> tuple[Enum, list[str]]:
    """State after these events, and the actions taken."""
    taken: list[str] = []
    for event in events:
        state, actions = transitions[state].get(event, (state, ()))
        taken += [action.__name__ for action in actions]
    return state, taken


STEP_SEQUENCES: dict[str, tuple[list[StepEvent], StepState, list[str]]] = {
    "first contact": (
        [E.SNAPSHOT, E.SILENCE, E.SNAPSHOT, E.NEXT],
        S.STEPPING,
        ["_receive_frames"] * 2 + ["_command_step"],
    ),
    "step and answer": (
        [E.NEXT, E.SNAPSHOT, E.SILENCE],
        S.WAITING,
        ["_command_step", "_restart_timeout", "_receive_frames", "_answer"],
    ),
    "frames sent ahead, or lost ones": (
        [E.NEXT, E.SNAPSHOT, E.NEXT],
        S.STEPPING,
        ["_command_step", "_restart_timeout", "_receive_frames", "_answer", "_command_step"],
    ),
    "answer that was lost": (
        [E.SNAPSHOT, E.DUPLICATE, E.DUPLICATE, E.SILENCE],
        S.WAITING,
        ["_receive_frames", "_answer_again"],
    ),
    "repetition that crossed the answer": ([E.SNAPSHOT, E.CROSSING, E.SILENCE], S.WAITING, ["_receive_frames"]),
    "repetition before the next frame": ([E.DUPLICATE, E.NEXT], S.STEPPING, ["_command_step"]),
    "repetitions during the step": (
        [E.NEXT, E.SNAPSHOT, E.DUPLICATE, E.LATE, E.SILENCE],
        S.WAITING,
        ["_command_step", "_restart_timeout", "_receive_frames", "_answer"],
    ),
    "restart": ([E.RESTART, E.SNAPSHOT], S.STEPPING, ["_start_over", "_command_step"]),
    "restart during the step": (
        [E.NEXT, E.SNAPSHOT, E.RESTART, E.SNAPSHOT],
        S.STEPPING,
        ["_command_step", "_restart_timeout", "_receive_frames", "_start_over", "_command_step"],
    ),
}


@pytest.mark.parametrize(("events", "state", "actions"), STEP_SEQUENCES.values(), ids=STEP_SEQUENCES)
def test_frames_trigger_steps_and_replies(events: list[StepEvent], state: StepState, actions: list[str]) -> None:
    assert walk(STEP_TRANSITIONS, S.WAITING, *events) == (state, actions)


_TAKEN_OVER = ["_connect", "_take_frame"]
PEER_SEQUENCES: dict[str, tuple[list[PeerEvent], PeerState, list[str]]] = {
    "first contact": (
        [F.FROM_NEWCOMER, F.FROM_PEER_IN_SHARED, F.FROM_PEER],
        P.SENDING,
        [*_TAKEN_OVER, "_take_frame", "_take_frame"],
    ),
    "frame from before its own socket, too late": (
        [F.FROM_NEWCOMER, F.FROM_PEER, F.FROM_PEER_IN_SHARED],
        P.SENDING,
        [*_TAKEN_OVER, "_take_frame", "_count_late_frame"],
    ),
    "second peer": (
        [F.FROM_NEWCOMER, F.FROM_PEER, F.FROM_OTHER, F.FROM_PEER, F.FROM_OTHER_AGAIN],
        P.CONTESTED,
        [*_TAKEN_OVER, "_take_frame", "_take_frame", "_warn_of_second_sender"],
    ),
    "restart with a new port, then silence ends": (
        [F.FROM_NEWCOMER, F.FROM_PEER, F.FROM_OTHER, F.FROM_OTHER_AGAIN, F.FROM_NEWCOMER],
        P.NEW,
        [*_TAKEN_OVER, "_take_frame", *_TAKEN_OVER],
    ),
    "former peer that returns before the new one has sent again": (
        [F.FROM_NEWCOMER, F.FROM_PEER, F.FROM_OTHER, F.FROM_PEER, F.FROM_NEWCOMER, F.FROM_OTHER_AGAIN],
        P.NEW,
        [*_TAKEN_OVER, "_take_frame", "_take_frame", *_TAKEN_OVER],
    ),
    "restart of a peer that sent one frame": (
        [F.FROM_NEWCOMER, F.FROM_OTHER, F.FROM_OTHER_AGAIN, F.FROM_NEWCOMER],
        P.NEW,
        _TAKEN_OVER * 2,
    ),
}


@pytest.mark.parametrize(("events", "state", "actions"), PEER_SEQUENCES.values(), ids=PEER_SEQUENCES)
def test_peer_follows_its_transition_table(events: list[PeerEvent], state: PeerState, actions: list[str]) -> None:
    assert walk(PEER_TRANSITIONS, P.NONE, *events) == (state, actions)


_ANSWERED = [N.SNAPSHOT, N.COMMANDS]
EXCHANGE_SEQUENCES: dict[str, tuple[list[ExchangeEvent], ExchangeState, list[str]]] = {
    "step": ([*_ANSWERED, N.PUBLISH], V.STEPPING, ["_pass_snapshot", "_publish_commands"]),
    "start over, services first": (
        [N.SNAPSHOT, N.START_OVER, N.RESET_DONE, N.NEW_STATE],
        V.AWAITING_COMMANDS,
        ["_pass_snapshot", "_call_reset_services", "_pass_snapshot"],
    ),
    "start over, state first": (
        [N.SNAPSHOT, N.START_OVER, N.NEW_STATE, N.NEW_STATE, N.RESET_DONE],
        V.AWAITING_COMMANDS,
        ["_pass_snapshot", "_call_reset_services", "_pass_snapshot"],
    ),
    "timeout while starting over": (
        [N.SNAPSHOT, N.START_OVER, N.NEW_STATE, N.OVERDUE, N.RESET_DONE],
        V.SERVICES_REPLIED,
        ["_pass_snapshot", "_call_reset_services", "_call_reset_services"],
    ),
    "node restarted amid the step": ([*_ANSWERED, N.SNAPSHOT], V.AWAITING_COMMANDS, ["_pass_snapshot"] * 2),
}


@pytest.mark.parametrize(("events", "state", "actions"), EXCHANGE_SEQUENCES.values(), ids=EXCHANGE_SEQUENCES)
def test_exchange_follows_its_transition_table(
    events: list[ExchangeEvent], state: ExchangeState, actions: list[str]
) -> None:
    assert walk(EXCHANGE_TRANSITIONS, V.STEPPING, *events) == (state, actions)


_SENT = ["_pace", "_send_measurements"]
_BEGUN = ["_begin", *_SENT]
PX4_SEQUENCES: dict[str, tuple[list[Px4Event], Px4State, list[str]]] = {
    "boot": ([Y.FIRST, Y.DUE, Y.SNAPSHOT, Y.ANSWER], X.FREE, [*_BEGUN, "_command_free_step", *_SENT]),
    "first step in lockstep": ([Y.FIRST, Y.REGULAR, Y.ANSWER], X.STEP, [*_BEGUN, "_begin_lockstep", "_command_step"]),
    "step": (
        [Y.FIRST, Y.REGULAR, Y.ANSWER, Y.ANSWER, Y.SNAPSHOT],
        X.AWAITING,
        [*_BEGUN, "_begin_lockstep", "_command_step", "_send_measurements"],
    ),
    "no outputs": (
        [Y.FIRST, Y.REGULAR, Y.OVERDUE, Y.SNAPSHOT],
        X.FREE,
        [*_BEGUN, "_begin_lockstep", "_warn_of_timeout", "_command_free_step", *_SENT],
    ),
    "restart": (
        [Y.FIRST, Y.LOST, Y.SNAPSHOT, Y.ANOTHER, Y.SNAPSHOT],
        X.FREE,
        [*_BEGUN, "_begin", "_start_over", "_pace_from_now", *_SENT],
    ),
    "restart while starting over": ([Y.FIRST, Y.LOST, Y.ANOTHER, Y.LOST], X.ABSENT, [*_BEGUN, "_begin", "_start_over"]),
}


@pytest.mark.parametrize(("events", "state", "actions"), PX4_SEQUENCES.values(), ids=PX4_SEQUENCES)
def test_px4s_steps_follow_their_transition_table(events: list[Px4Event], state: Px4State, actions: list[str]) -> None:
    assert walk(PX4_TRANSITIONS, X.ABSENT, *events) == (state, actions)
