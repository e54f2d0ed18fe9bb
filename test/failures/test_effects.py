"""Effects of failures over simulated time: on numbers, on outputs and on links."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from rosflight_py_sim.failures.failure import LOST, OFF, TARGETS
from rosflight_py_sim.failures.outputs import FailedOutputs
from rosflight_py_sim.failures.schedule import FailureSchedule
from rosflight_py_sim.failures.signal import FRONT_RISE_S, FailedSignal, Link

S = 1_000_000_000


def signal_of(text: str, seconds: float = 0.0, seed: int = 1) -> FailedSignal:
    """The signal of the only failure, at a time."""
    schedule = FailureSchedule([text], TARGETS, seed)
    schedule.switch(round(seconds * S))
    (signal,) = schedule.signals().values()
    return signal


def test_each_kind_has_its_effect() -> None:
    assert signal_of("mag off").applied(0, (1.0, 2.0, 3.0)) is None
    assert signal_of("mag wrong by 1 0 -1").applied(0, (1.0, 2.0, 3.0)) == [2.0, 2.0, 2.0]
    assert signal_of("baro drift -2 at 10", 10.0).applied(13 * S, (100.0,)) == [94.0]
    stuck = signal_of("battery stuck")
    assert [stuck.applied(t, (float(t),)) for t in (5, 6, 7)] == [(5.0,)] * 3


def test_noise_has_the_deviation_given_and_depends_on_seed_and_failure_alone() -> None:
    def drawn(texts: Sequence[str], seed: int) -> list[float]:
        schedule = FailureSchedule(texts, TARGETS, seed)
        schedule.switch(0)
        signal = schedule.signals()["baro", 0]
        values = []
        for t in range(2000):
            changed = signal.applied(t, (10.0,))
            assert changed is not None
            values.append(changed[0])
        return values

    noise = drawn(["baro noisy 3"], 1)
    # Five standard errors of mean and deviation.
    assert np.mean(noise) == pytest.approx(10.0, abs=5 * 3 / math.sqrt(2000))
    assert np.std(noise) == pytest.approx(3.0, abs=5 * 3 / math.sqrt(4000))
    assert drawn(["mag noisy 1", "baro noisy 3"], 1) == noise
    assert drawn(["baro noisy 3"], 2) != noise
    twice = drawn(["baro noisy 3", "baro noisy 3"], 1)
    assert np.std(twice) == pytest.approx(3.0 * math.sqrt(2.0), abs=5 * 3 * math.sqrt(2.0 / 4000))


def test_failures_begin_and_end_on_time() -> None:
    schedule = FailureSchedule(["mag off at 2 for 3", "gnss jammed at 4"], TARGETS)

    def active(seconds: float) -> list[str]:
        time_ns = round(seconds * S)
        if not schedule.since_ns <= time_ns < schedule.until_ns:
            schedule.switch(time_ns)
        return [effect.failure.target for effect in schedule.active]

    assert active(0.0) == []
    assert schedule.until_ns == 2 * S
    assert active(1.9999) == []
    assert active(2.0) == ["mag"]
    assert active(4.0) == ["mag", "gnss"]
    assert active(5.0) == ["gnss"]
    assert schedule.until_ns == math.inf
    # The clock has been set back.
    assert active(3.0) == ["mag"]


def test_without_failures_a_schedule_never_switches_again() -> None:
    schedule = FailureSchedule(["mag off"], ["gnss"])
    schedule.switch(0)
    assert (schedule.since_ns, schedule.until_ns, schedule.active) == (-math.inf, math.inf, ())


def test_failure_without_a_time_begins_at_once_and_survives_a_longer_list() -> None:
    first = FailureSchedule(["baro drift 1 for 10"], TARGETS)
    first.switch(5 * S)
    second = FailureSchedule(["baro drift 1 for 10", "baro drift 1 for 10"], TARGETS, previous=first)
    second.switch(7 * S)
    assert second.signals()["baro", 0].applied(9 * S, (0.0,)) == [(9 - 5) + (9 - 7)]
    assert second.until_ns == 15 * S


def test_stuck_signal_is_released_at_the_end() -> None:
    schedule = FailureSchedule(["baro stuck at 1 for 1", "mag off at 9"], TARGETS)
    schedule.switch(S)
    signal = schedule.signals()["baro", 0]
    assert signal.applied(S, (1.0,)) == signal.applied(S, (2.0,)) == (1.0,)
    schedule.switch(2 * S)
    # As after a reset of the time.
    schedule.switch(S)
    assert schedule.signals()["baro", 0].applied(S, (3.0,)) == (3.0,)


def test_wind_front_rises_and_falls() -> None:
    signal = signal_of("wind front 4 0 -2 at 10 for 20", 10.0)

    def north(seconds: float) -> float:
        changed = signal.applied(round(seconds * S), (1.0, 1.0, 1.0))
        assert changed is not None
        return changed[0] - 1.0

    assert north(10.0) == 0.0
    assert north(10.0 + FRONT_RISE_S / 2) == pytest.approx(2.0)
    assert north(20.0) == pytest.approx(4.0)
    assert north(30.0 - FRONT_RISE_S / 2) == pytest.approx(2.0)
    assert north(30.0) == pytest.approx(0.0)


def test_outputs_fail_by_their_number() -> None:
    schedule = FailureSchedule(["motor 2 off", "servo 3 off", "servo 4 stuck", "motor 1 wrong by -100"], TARGETS)
    schedule.switch(0)
    outputs = FailedOutputs(schedule.signals())
    for pulse in (1200.0, 1300.0):
        pwm = np.full(14, pulse)
        outputs.apply(0, pwm)
        assert pwm.tolist() == [pulse - 100.0, 0.0, 1500.0, 1200.0, *[pulse] * 10]


def test_link_is_late_or_lost() -> None:
    late: Link[int] = Link(signal_of("rc late 0.5"), OFF)
    for t in range(10):
        late.send(t * S // 10, t)
    assert late.arrived(4 * S // 10) == []
    assert late.arrived(7 * S // 10) == [0, 1, 2]
    assert late.arrived(8 * S // 10) == [3]
    lost: Link[int] = Link(signal_of("command lost"), LOST)
    lost.send(0, 1)
    assert lost.arrived(S) == []
