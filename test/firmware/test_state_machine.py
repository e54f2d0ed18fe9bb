"""Every row of the transition table, and no others."""

from __future__ import annotations

import pytest

from rosflight_py_sim.firmware.state_machine import (
    TRANSITIONS,
    Condition,
    ErrorFlag,
    Event,
    Severity,
    State,
    StateMachine,
    Transition,
)

REACH: dict[State, list[Event]] = {
    State.INIT: [],
    State.PREFLIGHT: [Event.INITIALIZED],
    State.ERROR: [Event.INITIALIZED, Event.RC_LOST],
    State.CALIBRATING: [Event.INITIALIZED, Event.REQUEST_ARM],
    State.ARMED: [Event.INITIALIZED, Event.REQUEST_ARM],
    State.FAILSAFE: [Event.INITIALIZED, Event.REQUEST_ARM, Event.RC_LOST],
}


class FakeEnvironment:
    def __init__(self) -> None:
        self.low = True
        self.guarded = True
        self.calibrate = False
        self.started = 0
        self.logged: list[str] = []

    def throttle_stick_is_low(self) -> bool:
        return self.low

    def throttle_is_guarded(self) -> bool:
        return self.guarded

    def needs_gyro_calibration(self) -> bool:
        return self.calibrate

    def start_gyro_calibration(self) -> None:
        self.started += 1

    def log(self, severity: Severity, text: str) -> None:
        self.logged.append(text)


def machine_in(state: State) -> tuple[StateMachine, FakeEnvironment]:
    environment = FakeEnvironment()
    environment.calibrate = state is State.CALIBRATING
    machine = StateMachine(environment)
    for event in REACH[state]:
        machine.handle(event)
    assert machine.state is state
    return machine, environment


def settle(state: State, errors: int) -> State:
    """Final state after a row's transition, once the errors raised by its actions are processed."""
    if errors and state in (State.PREFLIGHT, State.CALIBRATING):
        return State.ERROR
    if not errors and state is State.ERROR:
        return State.PREFLIGHT
    return state


@pytest.mark.parametrize("row", TRANSITIONS, ids=lambda row: f"{row.state.name}-{row.event.name}-{row.condition.name}")
def test_transition_leads_to_its_target(row: Transition) -> None:
    machine, environment = machine_in(row.state)
    environment.low = row.condition is not Condition.THROTTLE_HIGH
    environment.guarded = row.condition is not Condition.NO_THROTTLE_GUARD
    environment.calibrate = row.condition is Condition.GYRO_CALIBRATION_WANTED
    if row.condition is Condition.HAS_ERROR:
        machine.raise_error(ErrorFlag.UNHEALTHY_ESTIMATOR)
    if row.event is Event.NO_ERROR:
        machine.errors = 0
    if row.event is Event.ERROR:
        machine.errors = int(ErrorFlag.INVALID_MIXER)
    machine.handle(row.event)
    assert machine.state is settle(row.target, machine.errors)
    assert machine.armed is (machine.state in (State.ARMED, State.FAILSAFE))
    if row.target is State.CALIBRATING and row.state is State.PREFLIGHT:
        assert environment.started == 1


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_event_without_transition_changes_nothing(state: State, event: Event) -> None:
    if any(row.state is state and row.event is event for row in TRANSITIONS):
        return
    machine, environment = machine_in(state)
    machine.changed = False
    before = (machine.state, machine.armed, machine.failsafe, machine.error, machine.errors)
    machine.handle(event)
    assert (machine.state, machine.armed, machine.failsafe, machine.error, machine.errors) == before
    assert not machine.changed
    assert not environment.logged


@pytest.mark.parametrize("flag", [flag for flag in ErrorFlag if flag])
def test_each_error_prevents_arming_and_is_logged_once(flag: ErrorFlag) -> None:
    machine, environment = machine_in(State.PREFLIGHT)
    machine.raise_error(flag)
    for _ in range(75):
        machine.handle(Event.REQUEST_ARM)
    assert machine.state is State.ERROR
    assert not machine.armed
    assert environment.logged == [f"cannot arm: {flag.reason}"]
    machine.clear_error(flag)
    machine.handle(Event.REQUEST_ARM)
    assert machine.state is State.ARMED


def test_error_while_armed_enters_error_state_on_disarm() -> None:
    machine, _ = machine_in(State.ARMED)
    machine.raise_error(ErrorFlag.UNHEALTHY_ESTIMATOR)
    assert machine.state is State.ARMED
    assert machine.error
    machine.handle(Event.REQUEST_DISARM)
    assert machine.state is State.ERROR
    machine.clear_error(ErrorFlag.UNHEALTHY_ESTIMATOR)
    assert machine.state is State.PREFLIGHT


def test_failsafe_and_its_error_clear_when_rc_returns() -> None:
    machine, _ = machine_in(State.FAILSAFE)
    assert machine.failsafe
    assert machine.errors == ErrorFlag.RC_LOST
    machine.handle(Event.RC_FOUND)
    assert machine.state is State.ARMED
    assert not machine.failsafe
    assert machine.errors == 0
    assert not machine.error


def test_vehicle_disarmed_in_failsafe_needs_rc_before_preflight() -> None:
    machine, _ = machine_in(State.FAILSAFE)
    machine.handle(Event.REQUEST_DISARM)
    assert machine.state is State.ERROR
    assert not machine.armed
    machine.handle(Event.RC_FOUND)
    assert machine.state is State.PREFLIGHT
    assert not machine.failsafe
