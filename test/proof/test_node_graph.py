"""Gaps that the proofs find from stamps and sequence numbers."""

from __future__ import annotations

from proof.node_graph import Gaps, gaps_of

STEP_NS = 2_500_000


def steps(*counts: int) -> list[int]:
    return [count * STEP_NS for count in counts]


def test_steps_without_a_message_are_missing() -> None:
    assert gaps_of(steps(0, 1, 5, 6), [1, 2, 3, 4], STEP_NS) == Gaps(3, 0.01, 0, 0)


def test_repeated_and_decreasing_stamps_are_told_apart() -> None:
    assert gaps_of(steps(4, 4, 3, 4), [1, 2, 3, 4], STEP_NS) == Gaps(0, 0.0025, 1, 0)


def test_messages_that_did_not_arrive_are_no_missing_steps() -> None:
    assert gaps_of(steps(0, 1, 5, 6), [1, 2, 6, 7], STEP_NS) == Gaps(0, 0.0025, 0, 3)


def test_gap_before_a_restarted_publisher_counts() -> None:
    assert gaps_of(steps(0, 1, 5), [7, 8, 1], STEP_NS) == Gaps(3, 0.01, 0, 0)


def test_longer_step_that_a_client_requests_misses_none() -> None:
    stamps, numbers = steps(0, 1, 3, 4), [1, 2, 3, 4]
    assert gaps_of(stamps, numbers, STEP_NS, steps(0, 1, 3)) == Gaps(0, 0.005, 0, 0)
    assert gaps_of(stamps, numbers, STEP_NS, steps(0, 1, 2, 3)) == Gaps(1, 0.005, 0, 0)
