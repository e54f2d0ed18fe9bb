"""Failures of the MAVLink link, with a program that uses nothing of the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mavlink_client import is_valid, messages_of

from test.bridge.board_bench import STEP_NS, Bench

STEP_S = STEP_NS * 1e-9


def fail(bench: Bench, *texts: str, seed: int = 0) -> None:
    bench.part.values["seed"] = seed
    bench.part.adopt_failures(bench.part.failures_of(list(texts)))
    # The bench's RC frames precede the step in which the failure begins.
    bench.run(STEP_S)
    bench.program.datagrams()


def test_lost_link_carries_nothing_and_ends_offboard_control_after_its_timeout(bench: Bench) -> None:
    def stream(seconds: float) -> None:
        for _ in range(round(seconds / 0.01)):
            bench.program.send("OFFBOARD_CONTROL", mode=2)
            bench.run(0.01)

    fail(bench, "link lost at 1.2025 for 1")
    stream(0.2)
    assert bench.part.firmware.command.offboard_active
    frames = bench.link_counters["frames"]
    bench.program.datagrams()
    stream(0.08)
    # OFFBOARD_TIMEOUT is 100 ms.
    assert bench.part.firmware.command.offboard_active
    stream(0.92)
    assert not bench.part.firmware.command.offboard_active
    assert bench.program.datagrams() == []
    assert bench.link_counters["frames"] == frames
    stream(0.02)
    assert bench.part.firmware.command.offboard_active
    assert bench.program.messages()


def test_direction_to_the_board_is_lost_alone(bench: Bench) -> None:
    fail(bench, "uplink lost")
    bench.program.command("SEND_VERSION")
    bench.run(0.1)
    names = {one.name for one in bench.program.messages()}
    assert "SMALL_IMU" in names and "ROSFLIGHT_VERSION" not in names
    assert bench.link_counters["frames"] == 0


def test_direction_from_the_board_is_lost_alone(bench: Bench) -> None:
    fail(bench, "downlink lost")
    bench.program.set_parameter("FAILSAFE_THR", 0.25)
    bench.run(0.1)
    assert bench.program.datagrams() == []
    assert bench.part.firmware.parameters["FAILSAFE_THR"] == 0.25


def test_late_link_delays_both_directions_in_simulated_time(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(link_latency=0.0)
    fail(bench, "link late 0.2 at 1.1025 for 5")
    bench.run(0.1)
    bench.program.datagrams()
    bench.run(0.2)
    assert bench.program.datagrams() == []
    bench.run(STEP_S)
    first = [one for one in bench.program.messages() if one.name == "SMALL_IMU"]
    # Sent in the pass at 1.1025 s, 102.5 ms after the first.
    assert [one.fields["time_boot_us"] for one in first] == [102_500]
    sent_ns = bench.time_ns
    bench.program.set_parameter("FAILSAFE_THR", 0.25)
    bench.program.messages()
    while bench.part.firmware.parameters["FAILSAFE_THR"] != 0.25:
        bench.run(STEP_S)
    # Read in the pass at `sent_ns`, and received in the one 0.2 s later, which the time of the bench has passed.
    assert bench.time_ns - sent_ns == 202_500_000
    set_ns = bench.time_ns
    while not bench.program.received("PARAM_VALUE"):
        bench.run(STEP_S)
    assert bench.time_ns - set_ns == 200_000_000


def test_damaged_frames_fail_the_checksum_at_both_ends(bench: Bench) -> None:
    fail(bench, "link damaged 0.3")
    for _ in range(200):
        bench.program.send("OFFBOARD_CONTROL", mode=2)
        bench.run(0.005)
    datagrams = bench.program.datagrams()
    damaged = [one for one in datagrams if not is_valid(one)]
    # Five standard deviations of the binomial distribution.
    assert abs(len(damaged) - 0.3 * len(datagrams)) < 5 * (len(datagrams) * 0.3 * 0.7) ** 0.5
    assert {message.name for one in datagrams if is_valid(one) for message in messages_of(one)} >= {"SMALL_IMU"}
    counters = bench.link_counters
    assert abs(counters["frames"] - 140) < 5 * (200 * 0.3 * 0.7) ** 0.5
    # A changed start byte makes the whole frame stray; a changed length or id makes another fault.
    faults = sum(counters[name] for name in ("wrong_checksum", "wrong_length", "unknown_message"))
    assert faults > 0.8 * (200 - counters["frames"])
    assert counters["stray_bytes"] > 0


def test_link_that_is_damaged_wholly_gives_no_valid_frame(bench: Bench) -> None:
    fail(bench, "link damaged 1")
    for _ in range(100):
        bench.program.set_parameter("FAILSAFE_THR", 0.25)
        bench.run(0.005)
    assert not [one for one in bench.program.datagrams() if is_valid(one)]
    assert bench.link_counters["frames"] == 0
    assert bench.part.firmware.parameters["FAILSAFE_THR"] == pytest.approx(0.3)


def test_same_seed_damages_the_same_frames(make_bench: Callable[..., Bench]) -> None:
    def run(seed: int, *texts: str) -> tuple[list[bytes], dict[str, int]]:
        bench = make_bench()
        fail(bench, *texts, seed=seed)
        for k in range(100):
            bench.program.send("OFFBOARD_CONTROL", mode=2, u=[0.01 * k] * 10)
            bench.run(0.005)
        return bench.program.datagrams(), dict(bench.link_counters)

    first = run(1, "link damaged 0.3")
    assert run(1, "link damaged 0.3") == first
    assert run(1, "link damaged 0.3", "command late 0.1 at 1.2") == first
    assert run(2, "link damaged 0.3") != first


def test_failures_of_the_link_need_the_link(make_bench: Callable[..., Bench]) -> None:
    values: dict[str, Any] = {"mavlink.port": 0}
    bench = make_bench(**values)
    fail(bench, "link lost")
    bench.run(0.01)
    assert bench.part.active_failures == []
