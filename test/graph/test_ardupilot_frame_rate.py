"""Each reply to ArduPilot is one step of the length that its frame requests, beside any other vehicles."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from ardupilot_flights import run
from ardupilot_lines import Reading
from ardupilot_stand_in import StandIn
from copter_pilot import CopterPilot
from free_ports import free_ports

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle
from test.graph.test_observers import Ports

pytestmark = pytest.mark.timeout(300)

START_HZ = 1200
SILENCE_S = 1.2

HARBOUR = load_scenario("harbour")


class Follower:
    """A stand-in that computes its frame rate from the steps, as ArduPilot does, and records both.

    Attributes:
        steps: requested rate (Hz, as sent) and length (s) of each step after the first reply.
    """

    def __init__(self, port: int, sim_rate_hz: int, **options: Any) -> None:
        self.stand_in = StandIn(
            CopterPilot(),
            port=port,
            sim_rate_hz=sim_rate_hz,
            start_rate_hz=START_HZ,
            on_answer=self._record,
            **options,
        )
        self.steps: list[tuple[int, float]] = []
        self._sent_hz, self._time_s = START_HZ, -1.0
        self.stand_in.start()

    def _record(self, reading: Reading) -> None:
        if self._time_s >= 0.0:
            self.steps.append((self._sent_hz, reading.timestamp - self._time_s))
        self._sent_hz, self._time_s = int(self.stand_in.rate_hz), reading.timestamp

    @property
    def wrong(self) -> list[tuple[int, float]]:
        """Steps whose length is not that of the request, cut to a whole nanosecond."""
        return [(hz, s) for hz, s in self.steps if not -1.001e-9 < s - 1.0 / hz < 1e-12]


@pytest.fixture
def follower() -> Iterator[Callable[..., Follower]]:
    """A function that starts a `Follower`."""
    started: list[Follower] = []

    def start(*arguments: Any, **options: Any) -> Follower:
        started.append(Follower(*arguments, **options))
        return started[-1]

    yield start
    for one in started:
        one.stand_in.close()


def ports() -> Ports:
    made = Ports()
    made.ardupilot, *_ = free_ports(3, apart=10)
    return made


def run_with_delays(graph: Any, *followers: Follower, until: Callable[[], bool]) -> None:
    """Run graph and stand-ins; a seeded third of the rounds, the graph goes as far as it can without a stand-in."""
    chance = random.Random(5)
    stand_ins = [one.stand_in for one in followers]

    def is_over() -> bool:
        for _ in range(chance.choice((0, 0, 40))):
            graph.executor.spin_once(timeout_sec=0.0)
        chance.shuffle(stand_ins)
        return until()

    run(graph, *stand_ins, until=is_over, what="the steps")


def ramp(graph: Any, flown: Follower, sim_rate_hz: int, others: Sequence[Follower] = ()) -> None:
    """Change SIM_RATE_HZ, and run until the frame rate has had the time to follow."""
    flown.stand_in.set_sim_rate(sim_rate_hz)
    most = len(flown.steps) + abs(int(flown.stand_in.rate_hz) - sim_rate_hz) + 20
    run_with_delays(graph, flown, *others, until=lambda: len(flown.steps) >= most)


@pytest.mark.parametrize("names", [*itertools.permutations(("auv", "copter", "plane"))], ids=" ".join)
def test_every_step_has_the_length_of_its_frame_in_any_order_of_vehicles(
    graph: Callable[..., Any], follower: Callable[..., Follower], names: Sequence[str]
) -> None:
    members = sorted(HARBOUR.members, key=lambda one: names.index(one.namespace))
    own = ports()
    silence = ("-p", f"ardupilot.silence:={SILENCE_S}", "-p", "frame_rate:=3.0")
    made = graph(*own.arguments, *silence, vehicles=members, files=HARBOUR.files, settings=HARBOUR.settings)
    # Time for the other vehicles to begin the step without it.
    made.idle(0.1)
    first = follower(own.ardupilot, 1150)
    for sim_rate_hz in (1150, 1190, 1140):
        ramp(made, first, sim_rate_hz)
        assert int(first.stand_in.rate_hz) in (sim_rate_hz, sim_rate_hz - 1)
    assert first.wrong == []
    # The first step has the length of the first frame, too.
    assert first.stand_in.reading is not None
    times = itertools.accumulate((s for _, s in first.steps), initial=1.0 / START_HZ)
    assert first.stand_in.reading.timestamp == pytest.approx(list(times)[-1], abs=2e-9)

    states = [made.collect_messages(TRUTH_STATE, at=f"/{name}") for name in names]
    first.stand_in.close()
    second = follower(own.ardupilot, 1170)
    ramp(made, second, 1170)
    assert int(second.stand_in.rate_hz) in (1170, 1169)
    assert second.wrong == []
    counters = made.node("bridge").front_ends["ardupilot"].counters
    assert counters["restarts"] == 1
    # All vehicles take the same steps.
    stamps = [{time_ns_of(state.header.stamp) for state in received} for received in states]
    began, ended = max(map(min, stamps)), min(map(max, stamps))
    assert len({frozenset(stamp for stamp in one if began <= stamp <= ended) for one in stamps}) == 1


def test_of_two_frame_rates_the_higher_sets_the_steps_and_both_follow_it_down(
    graph: Callable[..., Any], follower: Callable[..., Follower]
) -> None:
    members = [
        Member(vehicle("multirotor"), f"copter_{k}", {"initial_position": [0.0, 5.0 * k]}, controller)
        for k, controller in enumerate(("ardupilot", "sil_board", "ardupilot"))
    ]
    own = ports()
    made = graph(*own.arguments, vehicles=members)
    # ArduPilots are numbered without the vehicle in between.
    slow, fast = follower(own.ardupilot, 1100), follower(own.ardupilot + 10, 1160)
    ramp(made, fast, 1160, others=[slow])
    assert int(fast.stand_in.rate_hz) in (1160, 1159)
    assert fast.wrong == []
    # ArduPilot requests 1 Hz less than the rate of the steps, for as long as they are shorter than it wants.
    run_with_delays(made, slow, fast, until=lambda: len(slow.steps) >= len(fast.steps) >= 60)
    assert {hz for hz, _ in slow.steps[-5:]} <= {1159, 1158}
    assert [s for _, s in slow.steps] == pytest.approx([s for _, s in fast.steps], abs=1e-12)
    ramp(made, fast, 1090, others=[slow])
    # From here, the other one holds its own rate.
    assert {round(1.0 / s) for _, s in fast.steps[-5:]} == {1100}
    assert {hz for hz, _ in slow.steps[-5:]} <= {1100, 1099}
