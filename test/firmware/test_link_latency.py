"""Messages of the companion computer arrive after the latency of the link."""

from __future__ import annotations

import pytest

STEP_US = 2500


@pytest.mark.parametrize(
    ("latency_us", "command_us", "aux_us"), [(0, 2500, 2500), (5000, 5000, 7500), (6000, 7500, 10000)]
)
def test_message_arrives_at_the_first_pass_after_its_latency(make_bench, latency_us, command_us, aux_us) -> None:
    bench = make_bench(RC_OVRD_LAG_T=0, link_latency_us=latency_us)
    bench.run(0.1)
    sent_us = bench.time_us
    bench.firmware.set_command(sent_us, 2, 0, [0.0] * 10)
    bench.firmware.set_aux_command([1] * 14, [0.4] * 14)
    seen: dict[str, int] = {}
    for _ in range(6):
        bench.run(STEP_US * 1e-6)
        if bench.firmware.status.offboard:
            seen.setdefault("command", bench.time_us - sent_us)
        # An auxiliary command reaches the outputs with the next pass after its arrival.
        if bench.firmware.outputs[9] == pytest.approx(0.7):
            seen.setdefault("aux", bench.time_us - sent_us)
    assert seen == {"command": command_us, "aux": aux_us}


def test_clock_that_is_set_back_drops_the_messages_in_transit(make_bench) -> None:
    bench = make_bench(RC_OVRD_LAG_T=0, link_latency_us=50_000)
    bench.run(0.1)
    bench.firmware.set_command(bench.time_us, 2, 0, [0.0] * 10)
    bench.time_us = 0
    bench.run(0.2)
    assert not bench.firmware.status.offboard
