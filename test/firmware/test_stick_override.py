"""Override by moved sticks and arming by gesture, pass by pass, against CommandManager and RC of rosflight_firmware."""

from __future__ import annotations

import random

import pytest

from rosflight_py_sim.firmware import AS_ROSFLIGHT, REPAIRED, Quirks

DEVIATION = 0.1
AXES = (4, 8, 16)
SECONDS = 20


class OriginalOverride:
    """CommandManager::stick_deviated for x, y and z, called at every pass as in rosflight_firmware's simulator."""

    def __init__(self, lag_ms: int) -> None:
        self._lag_ms = lag_ms
        self._last_override_ms = [0, 0, 0]

    def bits(self, time_us: int, sticks: list[float]) -> int:
        now_ms = time_us // 1000
        bits = 0
        for i, (bit, stick) in enumerate(zip(AXES, sticks, strict=True)):
            if now_ms < self._last_override_ms[i] + self._lag_ms:
                bits |= bit
            elif abs(stick) > DEVIATION:
                self._last_override_ms[i] = now_ms
                bits |= bit
        return bits


class OriginalGesture:
    """RC::look_for_arm_disarm_signal without an arm switch, called at every pass."""

    def __init__(self) -> None:
        self._previous_ms = 0
        self._held_ms = 0

    def requests_arming(self, time_us: int, is_held: bool) -> bool:
        now_ms = time_us // 1000
        elapsed_ms, self._previous_ms = now_ms - self._previous_ms, now_ms
        self._held_ms = self._held_ms + elapsed_ms if is_held else 0
        return self._held_ms > 1000


# 33 and 47 ms are no multiples of the period, and lags begin and end between frames and between milliseconds.
@pytest.mark.parametrize("lag_ms", [33, 47, 100, 1000])
@pytest.mark.parametrize("period_us", [2500, 2717, 1000])
@pytest.mark.parametrize("frame_every", [1, 3, 8, 16])
def test_sticks_override_at_the_same_passes_as_in_the_original(make_bench, lag_ms, period_us, frame_every) -> None:
    rng = random.Random(lag_ms * period_us + frame_every)
    firmware = make_bench(quirks=AS_ROSFLIGHT, RC_OVRD_LAG_T=lag_ms, RC_OVRD_DEV=DEVIATION).firmware
    original = OriginalOverride(lag_ms)
    pulses = [1500] * 4
    for k in range(SECONDS * 1_000_000 // period_us):
        # The original counts from its start, the first pass.
        time_us = k * period_us + (rng.randrange(period_us) if k else 0)
        if k % frame_every == 0:
            pulses = [rng.choice((1500, 1500, 1540, 1560, 1700)) for _ in range(4)]
            pulses[2] = 1000
            firmware.receive_rc(time_us, [*pulses, 1000, 1000, 1000, 1000])
        if k % 4 == 0:
            firmware.set_command(time_us, 2, 0, [0.0] * 10)
        firmware.step(time_us)
        sticks = [2.0 * ((pulses[i] - 1000) / 1000.0) - 1.0 for i in (0, 1, 3)]
        assert firmware.status.rc_override & sum(AXES) == original.bits(time_us, sticks), f"pass {k}"


@pytest.mark.parametrize("period_us", [2500, 2717])
def test_a_gesture_arms_at_the_same_pass_as_in_the_original(make_bench, period_us) -> None:
    firmware = make_bench(quirks=AS_ROSFLIGHT, RC_ARM_CHN=-1, TAKE_MIN_THR=1).firmware
    original = OriginalGesture()
    for k in range(2_000_000 // period_us):
        time_us = k * period_us
        is_held = time_us > 303_000
        if k % 8 == 0:
            frame = [1500, 1500, 1000, 2000 if is_held else 1500, 1000, 1000, 1000, 1000]
            held_in_frame = is_held
            firmware.receive_rc(time_us, frame)
        firmware.step(time_us)
        requested = original.requests_arming(time_us, held_in_frame)
        assert firmware.state_machine.armed is requested, f"pass {k}"
        if requested:
            return
    pytest.fail("the gesture did not arm")


@pytest.mark.parametrize("quirks", [REPAIRED, AS_ROSFLIGHT], ids=["repaired", "as_rosflight"])
def test_a_lag_of_33_ms_ends_in_whole_milliseconds_only_in_the_original(make_bench, quirks: Quirks) -> None:
    firmware = make_bench(quirks=quirks, RC_OVRD_LAG_T=33).firmware
    ends = []
    for k in range(600):
        time_us = 2500 * k
        moved = time_us == 1_102_500
        if k % 8 == 0 or moved or time_us == 1_105_000:
            firmware.receive_rc(time_us, [1700 if moved else 1500, 1500, 1000, 1500, 1000, 1000, 1000, 1000])
        firmware.step(time_us)
        if time_us > 1_102_500 and not firmware.status.rc_override & AXES[0]:
            ends.append(time_us)
    # Exactly 1,135,500 us; the truncated clock starts the lag at 1,102 ms, which ends at 1,135 ms.
    assert ends[0] == (1_135_000 if quirks.millisecond_clock else 1_137_500)
