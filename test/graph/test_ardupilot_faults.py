"""Faults between ArduPilot and the simulator: restarts of either, a bad network, a second ArduPilot, garbage."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ardupilot_flights import run
from ardupilot_stand_in import StandIn
from copter_pilot import CopterPilot
from free_ports import free_ports
from rcl_interfaces.msg import Log
from unreliable_line import UnreliableLine

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(300)

FLOOD = Path(__file__).parents[1] / "tools" / "flood.py"
MULTIROTOR = vehicle("multirotor")

# Short flights with long steps.
RATE_HZ = 50
STEP_S = 1.0 / RATE_HZ
LONG_STEPS = ("-p", f"ardupilot.max_step:={STEP_S}")

# Log.WARN of rcl_interfaces, which is bytes or an int, depending on the distribution.
WARNING = 30

# A flight receives over fifty thousand datagrams; keeping forty bytes of each, the size of a frame, would exceed this.
FLAT_BYTES = 2 << 20


@pytest.fixture
def port() -> int:
    """An unused UDP port p; p + 10 is unused, too."""
    return free_ports(2, apart=10)[0]


@pytest.fixture
def bridged(graph: Callable[..., Any], port: int) -> Any:
    """A quadrotor that waits for ArduPilot."""
    return graph("-p", f"ardupilot.port:={port}", *LONG_STEPS, flight_controller="ardupilot")


@pytest.fixture
def ardupilot(port: int) -> Iterator[Callable[..., StandIn]]:
    """A function that starts a stand-in that flies 6 m away at a height of 3 m."""
    started: list[StandIn] = []

    def start(**options: Any) -> StandIn:
        settings = {"port": port, "sim_rate_hz": RATE_HZ, "boot_frames": 25, **options}
        started.append(StandIn(CopterPilot(height=3.0, distance=6.0), **settings))
        started[-1].start()
        return started[-1]

    yield start
    for one in started:
        one.close()


def counters(graph: Any) -> Any:
    return graph.node("bridge").front_ends["ardupilot"].counters


def fly(graph: Any, flown: StandIn, *others: StandIn) -> None:
    run(graph, flown, *others, until=lambda: flown.pilot.is_done, what="the landing")


def fly_up(graph: Any, flown: StandIn, *others: StandIn) -> None:
    """Fly until the stand-in is at its height of 3 m, about to fly away."""
    run(graph, flown, *others, until=lambda: flown.pilot.phase == "away", what="the flight away")


def run_for(graph: Any, flown: StandIn, frames: int) -> None:
    """Run until this many further frames have been answered."""
    count = flown.count + frames
    run(graph, flown, until=lambda: flown.count >= count, what=f"{frames} answers")


def test_ardupilot_restarted_in_flight_flies_from_initial_position(
    bridged: Any, ardupilot: Callable[..., StandIn]
) -> None:
    first = ardupilot()
    run(bridged, first, until=lambda: first.reading is not None, what="an answer")
    start = first.reading
    fly_up(bridged, first)
    before = first.reading
    assert start is not None and before is not None
    assert before.position[2] < -2.5
    lines: list[Log] = bridged.collect_messages("/rosout", Log)
    first.close()
    # With 32 channels this time. It repeats its first frame until the simulator gives up the first ArduPilot.
    second = ardupilot(channels=32)
    run(bridged, second, until=lambda: second.reading is not None, what="an answer")
    after = second.reading
    assert after is not None
    # One step from the start, the vehicle settles on its skids as in the first run. Time has advanced by that step.
    assert after.position == pytest.approx(start.position, abs=1e-4)
    assert after.velocity == pytest.approx(start.velocity, abs=1e-2)
    assert after.quaternion == pytest.approx(start.quaternion, abs=1e-4)
    # The last step that the killed ArduPilot commanded may have been taken as well.
    assert after.timestamp - before.timestamp == pytest.approx(1.5 * STEP_S, abs=0.51 * STEP_S)
    assert counters(bridged)["restarts"] == 1
    bridged.idle(0.2)
    assert any("ArduPilot restarted" in line.msg for line in lines)
    assert not any("a second ArduPilot" in line.msg for line in lines)
    fly(bridged, second)
    assert second.counters["physics_resets"] == second.counters["frozen"] == 0
    assert counters(bridged)["restarts"] == 1


def test_running_ardupilot_continues_with_restarted_simulator(
    bridged: Any, ardupilot: Callable[..., StandIn], graph: Callable[..., Any], port: int
) -> None:
    flown = ardupilot(resend_s=0.2)
    fly_up(bridged, flown)
    count, clock_us = flown.count, flown.time_us
    bridged.close()
    again = graph("-p", f"ardupilot.port:={port}", *LONG_STEPS, flight_controller="ardupilot")
    run(again, flown, until=lambda: flown.count > count, what="an answer")
    assert flown.reading is not None and flown.reading.timestamp == pytest.approx(STEP_S, abs=1e-9)
    assert flown.count == count + 1
    assert flown.counters["physics_resets"] == 1
    # It climbs back to the height at which it believes it is.
    run(again, flown, until=lambda: flown.reading.position[2] < -2.5, what="2.5 m of height")
    assert flown.time_us > clock_us
    assert counters(again)["restarts"] == counters(again)["lost_frames"] == 0
    assert counters(again)["steps"] in (flown.count - count, flown.count - count + 1)


def test_flight_continues_with_packet_loss_duplication_and_delay(
    bridged: Any, ardupilot: Callable[..., StandIn]
) -> None:
    line = UnreliableLine(loss=0.003, doubling=0.05, delay=0.05, answer_loss=0.003)
    flown = ardupilot(line=line, resend_s=0.3)
    fly(bridged, flown)
    happened, counted = line.happened, counters(bridged)
    assert min(happened[what] for what in ("loss", "doubling", "delay", "answer_loss")) > 0
    # No extra step, and no reply that ArduPilot would take for the reply to its next frame.
    assert counted["steps"] in (flown.count, flown.count + 1)
    assert flown.counters["frozen"] == flown.counters["physics_resets"] == 0
    assert flown.reading is not None
    assert flown.reading.timestamp == pytest.approx(flown.count * STEP_S, abs=1e-6)
    # The last delayed or doubled frame may still be unread. A frame resent after a lost reply is a duplicate, too.
    assert counted["late_frames"] in (happened["delay"], happened["delay"] - 1)
    assert counted["duplicates"] >= happened["doubling"] + happened["answer_loss"] - 1
    assert counted["lost_frames"] == counted["restarts"] == 0


def test_lost_frames_are_counted_and_flight_continues(bridged: Any, ardupilot: Callable[..., StandIn]) -> None:
    flown = ardupilot()
    fly_up(bridged, flown)
    # The frame in transit is answered; the frame after it has a count that skips three.
    flown.skip_frames(3)
    run_for(bridged, flown, 150)
    assert flown.reading is not None and flown.reading.position[2] < -2.5
    assert counters(bridged)["lost_frames"] == 3
    assert counters(bridged)["restarts"] == flown.counters["frozen"] == 0


@pytest.mark.parametrize("rates_hz", [(400, 250, 1000), (1200, 600, 700)])
def test_step_follows_frame_rate_changes_in_flight(
    bridged: Any, ardupilot: Callable[..., StandIn], rates_hz: tuple[int, ...]
) -> None:
    # At 1200 Hz, the climb would take three times as many steps.
    flown = ardupilot(sim_rate_hz=min(rates_hz[0], 400))
    run(bridged, flown, until=lambda: flown.pilot.phase == "hover", what="the height of 3 m")
    for rate_hz in rates_hz:
        flown.set_sim_rate(rate_hz)
        # ArduPilot changes its rate by 1 Hz per frame.
        run_for(bridged, flown, 3 + abs(rate_hz - int(flown.rate_hz)))
        settled_hz = int(flown.rate_hz)
        assert settled_hz in (rate_hz, rate_hz - 1)
        began, count = flown.reading, flown.count
        run_for(bridged, flown, 100)
        # From here on, ArduPilot derives the same rate from the steps as set them, to a nanosecond per step.
        assert int(flown.rate_hz) == settled_hz
        assert began is not None and flown.reading is not None
        steps = flown.count - count
        assert flown.reading.timestamp - began.timestamp == pytest.approx(steps / settled_hz, abs=2e-9 * steps)
        assert bridged.node("time_manager").values["step_size"] == pytest.approx(1.0 / settled_hz, abs=1e-9)
    assert flown.counters["frozen"] == flown.counters["physics_resets"] == 0
    assert flown.reading is not None and flown.reading.position[2] < -2.0


def test_second_ardupilot_is_rejected_without_disturbance(bridged: Any, ardupilot: Callable[..., StandIn]) -> None:
    flown = ardupilot()
    run(bridged, flown, until=lambda: flown.count > 10, what="answers")
    second = ardupilot(resend_s=0.02)
    fly_up(bridged, flown, second)
    assert second.reading is None
    assert second.counters["resent"] > 0
    run(bridged, flown, until=lambda: counters(bridged)["refused_frames"] > 0, what="the refusal")
    assert counters(bridged)["steps"] in (flown.count, flown.count + 1)
    assert counters(bridged)["restarts"] == flown.counters["frozen"] == 0


def test_silent_ardupilot_pauses_all_vehicles(
    graph: Callable[..., Any], ardupilot: Callable[..., StandIn], port: int
) -> None:
    members = [Member(MULTIROTOR, f"copter_{k}", {"initial_position": [0.0, 5.0 * k]}) for k in range(2)]
    both = graph("-p", f"ardupilot.port:={port}", *LONG_STEPS, vehicles=members, flight_controller="ardupilot")
    first, second = (ardupilot(instance=k, resend_s=0.2) for k in range(2))
    run(both, first, second, until=lambda: min(first.count, second.count) >= 100, what="100 steps")
    # The first takes at most the step of the second's last frame and the one after it.
    most = second.count + 2
    end_s = time.monotonic() + 0.6
    run(both, first, until=lambda: time.monotonic() > end_s, what="a while")
    assert first.count <= most
    run(both, first, second, until=lambda: min(first.count, second.count) >= 200, what="200 steps")
    for stand_in, east in ((first, 0.0), (second, 5.0)):
        assert stand_in.reading is not None
        assert stand_in.reading.timestamp == pytest.approx(stand_in.count * STEP_S, abs=1e-6)
        assert stand_in.reading.position[1] == pytest.approx(east, abs=0.01)


def test_garbage_flood_changes_only_the_counters(bridged: Any, ardupilot: Callable[..., StandIn], port: int) -> None:
    lines: list[Log] = bridged.collect_messages("/rosout", Log)
    flown = ardupilot()
    run(bridged, flown, until=lambda: flown.pilot.phase == "take off", what="the take-off")
    flood = subprocess.Popen([sys.executable, str(FLOOD), str(port), "50000"])
    began_s = time.monotonic()
    try:
        kinds = ("wrong_length", "wrong_magic", "zero_frame_rate", "refused_frames")
        run(bridged, flown, until=lambda: all(counters(bridged)[kind] for kind in kinds), what="each kind of garbage")
        before = resident_bytes()
        fly(bridged, flown)
        after = resident_bytes()
        assert flood.poll() is None
    finally:
        flood.kill()
        flood.wait()
    bridged.idle(0.2)
    counted = counters(bridged)
    assert min(counted[kind] for kind in kinds) > 1000
    assert after - before < FLAT_BYTES
    warnings = [line for line in lines if line.name.endswith("bridge") and line.level >= WARNING]
    assert 0 < len(warnings) <= time.monotonic() - began_s + 2.0
    # The flight is the same as without the flood.
    assert counted["steps"] in (flown.count, flown.count + 1)
    assert flown.counters["frozen"] <= flown.counters["resent"]
    assert flown.counters["physics_resets"] == counted["restarts"] == counted["lost_frames"] == 0
    assert flown.reading is not None
    assert flown.reading.position[:2] == pytest.approx((0.0, 0.0), abs=1.0)


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
