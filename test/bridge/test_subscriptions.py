"""Variables due for each client at a simulated time."""

from __future__ import annotations

import pytest

from rosflight_py_sim.bridge.subscriptions import MOST_CLIENTS, MOST_SUBSCRIPTIONS, Subscriptions

MS = 1_000_000


@pytest.fixture
def subscriptions() -> Subscriptions:
    made = Subscriptions()
    assert made.register("a")
    assert made.register("b")
    return made


def due(subscriptions: Subscriptions, time_ms: int, vehicle: int = 0) -> dict[str, list[str]]:
    return dict(subscriptions.due(vehicle, time_ms * MS))


def test_requested_variable_is_sent_at_once_then_at_multiples_of_its_interval(subscriptions: Subscriptions) -> None:
    subscriptions.add("a", 0, "roll", 0.1)
    times = [time_ms for time_ms in range(1030, 1500, 10) if due(subscriptions, time_ms)]
    assert times == [1030, 1100, 1200, 1300, 1400]


def test_variables_with_equal_interval_are_sent_together(subscriptions: Subscriptions) -> None:
    subscriptions.add("a", 0, "roll", 0.2)
    assert due(subscriptions, 510) == {"a": ["roll"]}
    subscriptions.add("a", 0, "pitch", 0.2)
    subscriptions.add("b", 0, "roll", 0.2)
    assert due(subscriptions, 520) == {"a": ["pitch"], "b": ["roll"]}
    assert due(subscriptions, 590) == {}
    assert due(subscriptions, 600) == {"a": ["roll", "pitch"], "b": ["roll"]}


def test_missed_intervals_are_skipped(subscriptions: Subscriptions) -> None:
    subscriptions.add("a", 0, "roll", 0.1)
    due(subscriptions, 0)
    assert due(subscriptions, 1050) == {"a": ["roll"]}
    assert due(subscriptions, 1060) == {}


def test_subscriptions_are_per_vehicle(subscriptions: Subscriptions) -> None:
    subscriptions.add("a", 1, "roll", 0.1)
    assert due(subscriptions, 100, vehicle=0) == {}
    assert due(subscriptions, 100, vehicle=1) == {"a": ["roll"]}


def test_repeated_request_changes_the_interval(subscriptions: Subscriptions) -> None:
    subscriptions.add("a", 0, "roll", 10.0)
    due(subscriptions, 0)
    subscriptions.add("a", 0, "roll", 0.1)
    assert due(subscriptions, 10) == {"a": ["roll"]}
    assert due(subscriptions, 100) == {"a": ["roll"]}


def test_resuming_does_not_catch_up_on_paused_intervals(subscriptions: Subscriptions) -> None:
    subscriptions.add("a", 0, "roll", 0.1)
    due(subscriptions, 0)
    subscriptions.pause("a", paused=True)
    assert due(subscriptions, 500) == {}
    subscriptions.pause("a", paused=False)
    assert due(subscriptions, 510) == {"a": ["roll"]}
    assert due(subscriptions, 520) == {}


def test_removed_variable_is_no_longer_sent(subscriptions: Subscriptions) -> None:
    for variable in ("roll", "pitch"):
        subscriptions.add("a", 0, variable, 0.1)
    assert subscriptions.remove("a", 0, "roll")
    assert not subscriptions.remove("a", 0, "roll")
    assert due(subscriptions, 0) == {"a": ["pitch"]}
    subscriptions.clear("a")
    assert due(subscriptions, 1000) == {}


def test_schedule_follows_time_going_backwards(subscriptions: Subscriptions) -> None:
    subscriptions.add("a", 0, "roll", 1.0)
    due(subscriptions, 5000)
    assert due(subscriptions, 10) == {"a": ["roll"]}
    assert due(subscriptions, 500) == {}
    assert due(subscriptions, 1000) == {"a": ["roll"]}


def test_subscription_and_client_counts_are_bounded(subscriptions: Subscriptions) -> None:
    added = [subscriptions.add("a", k % 4, f"variable_{k}", 1.0) for k in range(MOST_SUBSCRIPTIONS + 1)]
    assert added == [True] * MOST_SUBSCRIPTIONS + [False]
    # The interval of an existing subscription may be changed.
    assert subscriptions.add("a", 0, "variable_0", 2.0)
    assert all(subscriptions.register(f"c{k}") for k in range(2 * MOST_CLIENTS))
    assert len(subscriptions.addresses) == MOST_CLIENTS
    assert "a" in subscriptions.addresses
    for address in subscriptions.addresses:
        subscriptions.add(address, 0, "roll", 1.0)
    assert not subscriptions.register("one more")


def test_vehicle_is_quiet_until_its_next_variable_is_due(subscriptions: Subscriptions) -> None:
    subscriptions.add("a", 0, "roll", 0.1)
    assert not subscriptions.is_quiet(0, 1030 * MS)
    assert due(subscriptions, 1030) == {"a": ["roll"]}
    assert [time_ms for time_ms in range(1030, 1110, 10) if not subscriptions.is_quiet(0, time_ms * MS)] == [1100]
    assert not subscriptions.is_quiet(1, 1030 * MS)
