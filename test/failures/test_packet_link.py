"""Failures of a link between programs and a vehicle: lost, late and damaged packets."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rosflight_py_sim.failures.failure import DOWNLINK, LINKS, UPLINK
from rosflight_py_sim.failures.packet_link import PacketLink
from rosflight_py_sim.failures.schedule import FailureSchedule, Signals

S = 1_000_000_000
PACKETS = [bytes([k % 128]) * 8 for k in range(2000)]


def signals(*texts: str, seed: int = 1) -> Signals:
    schedule = FailureSchedule(texts, LINKS, seed)
    schedule.switch(0)
    return schedule.signals()


def link(*texts: str, direction: str = UPLINK, seed: int = 1) -> PacketLink[int]:
    made: PacketLink[int] = PacketLink(direction)
    made.fail([signals(*texts, seed=seed)])
    return made


def passed(one: PacketLink[int], packets: Sequence[bytes] = PACKETS, time_ns: int = 0) -> list[bytes]:
    return [data for data, _ in one.passed(time_ns, [(data, 0) for data in packets])]


def test_packets_pass_at_once_without_failures() -> None:
    assert passed(PacketLink(UPLINK)) == PACKETS
    assert passed(link()) == PACKETS


@pytest.mark.parametrize(("failing", "passing"), [(UPLINK, DOWNLINK), (DOWNLINK, UPLINK)])
def test_direction_fails_alone_or_with_the_link(failing: str, passing: str) -> None:
    assert passed(link(f"{failing} lost", direction=failing)) == []
    assert passed(link(f"{failing} lost", direction=passing)) == PACKETS
    assert passed(link("link lost", direction=failing)) == passed(link("link lost", direction=passing)) == []


def test_late_packets_arrive_in_order_after_the_sum_of_the_delays() -> None:
    one = link("link late 0.3", "uplink late 0.2", "downlink late 9")
    assert list(one.passed(0, [(b"a", 1)])) == list(one.passed(S // 10, [(b"b", 2)])) == []
    assert list(one.passed(S // 2 - 1)) == []
    assert list(one.passed(S // 2)) == [(b"a", 1)]
    assert list(one.passed(S)) == [(b"b", 2)]


def test_packets_in_transit_are_lost_when_the_failures_change_and_not_otherwise() -> None:
    one = link("link late 0.3")
    active = signals("link late 0.3")
    one.fail([active])
    assert list(one.passed(0, [(b"a", 1)])) == []
    one.fail([active])
    assert list(one.passed(S)) == [(b"a", 1)]
    assert list(one.passed(S, [(b"b", 2)])) == []
    one.fail([{}])
    assert list(one.passed(2 * S)) == []
    assert passed(one) == PACKETS


def test_share_of_the_packets_is_damaged_in_one_byte_each() -> None:
    seen = passed(link("link damaged 0.25"))
    damaged = [(was, now) for was, now in zip(PACKETS, seen, strict=True) if was != now]
    # Five standard deviations of the binomial distribution.
    assert len(damaged) == pytest.approx(500, abs=5 * (2000 * 0.25 * 0.75) ** 0.5)
    for was, now in damaged:
        changed = [k for k in range(8) if was[k] != now[k]]
        assert len(now) == 8 and len(changed) == 1
        assert not now.isascii()
    places = {k for was, now in damaged for k in range(8) if was[k] != now[k]}
    assert places == set(range(8))
    assert passed(link("link damaged 1"), [b""]) == [b""]


def test_damage_depends_on_seed_failure_direction_and_number_of_the_packet_alone() -> None:
    text = "link damaged 0.25"
    seen = passed(link(text))
    assert passed(link(text)) == passed(link(text, "link late 0")) == seen
    one = link(text)
    assert [data for packet in PACKETS for data in passed(one, [packet])] == seen
    assert passed(link(text, seed=2)) != seen != passed(link(text, direction=DOWNLINK))


def test_failure_of_several_vehicles_of_one_link_counts_once() -> None:
    one: PacketLink[int] = PacketLink(UPLINK)
    one.fail([signals("link late 0.3"), signals("link late 0.3", "uplink damaged 1")])
    assert passed(one, [b"a"]) == []
    (data,) = passed(one, [], 3 * S // 10)
    assert data != b"a"


def test_late_link_holds_a_bounded_number_of_bytes() -> None:
    one = link("link late 60")
    packet = bytes(1 << 20)
    assert passed(one, [packet] * 100) == []
    held = len(passed(one, [], 60 * S))
    assert 60 <= held <= 64
    assert passed(one, [packet] * 100) == []
    assert len(passed(one, [], 120 * S)) == held
