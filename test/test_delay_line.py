"""Delay line: order, times of arrival, and dropped items."""

from __future__ import annotations

import math

from rosflight_py_sim.ground.delay_line import DelayLine


def line(delay: int) -> tuple[DelayLine[str], list[tuple[str, int]]]:
    arrived: list[tuple[str, int]] = []
    return DelayLine(delay, lambda message, time: arrived.append((message, time))), arrived


def test_message_arrives_at_the_first_call_after_the_delay() -> None:
    delayed, arrived = line(5)
    delayed.send(0, "a")
    delayed.send(3, "b")
    assert delayed.due == 5
    delayed.advance(4)
    assert arrived == []
    delayed.advance(7)
    assert arrived == [("a", 7)]
    assert delayed.due == 8
    delayed.advance(20)
    assert arrived == [("a", 7), ("b", 20)]
    assert delayed.due == math.inf


def test_messages_that_arrive_together_keep_their_order() -> None:
    delayed, arrived = line(5)
    for time, message in enumerate("abc"):
        delayed.send(time, message)
    delayed.advance(100)
    assert [message for message, _ in arrived] == ["a", "b", "c"]


def test_message_of_an_earlier_time_arrives_before_later_ones() -> None:
    delayed, arrived = line(5)
    for time, message in ((0, "a"), (4, "d"), (2, "b"), (2, "c")):
        delayed.insert(time, message)
    assert delayed.due == 5
    delayed.advance(7)
    delayed.advance(100)
    assert arrived == [("a", 7), ("b", 7), ("c", 7), ("d", 100)]
    prompt, arrived = line(0)
    prompt.insert(3, "a")
    assert arrived == [("a", 3)]


def test_without_a_delay_a_message_arrives_at_once() -> None:
    prompt, arrived = line(0)
    prompt.send(3, "a")
    assert arrived == [("a", 3)]
    assert prompt.due == math.inf


def test_cleared_messages_never_arrive() -> None:
    delayed, arrived = line(5)
    delayed.send(0, "a")
    delayed.clear()
    assert delayed.due == math.inf
    delayed.advance(100)
    assert arrived == []
