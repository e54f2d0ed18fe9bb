"""Nodes killed with SIGKILL at random moments and restarted: time to recover, and missing steps.

python -m proof.restarts [--kills 20] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from statistics import median
from typing import Any

from proof.node_graph import (
    GRAPHS,
    MULTIROTOR,
    PAUSE_S,
    Gaps,
    GraphKind,
    Launch,
    NodeGraph,
    Observer,
    TimedOutError,
    new_interpreter,
)
from proof.results import Row, publish
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.step.topics import (
    CLOCK,
    FORCES_AND_MOMENTS,
    IMU,
    IMU_DATA,
    RC,
    SIM_STEP_SIZE,
    TRUTH_STATE,
    StepTopic,
)

RESPAWN_S = 1.0
"""System time after which launch's `respawn` restarts a node, s."""

PACE_S = 2.0
"""System time for which the pace is measured after the restart of a time manager, s."""

# Topic on which each node publishes again after a restart; the other nodes report on /diagnostics.
_OUTPUTS: dict[str, StepTopic[Any]] = {
    "standalone_dynamics": TRUTH_STATE,
    "multirotor_forces_and_moments": FORCES_AND_MOMENTS,
    "fixedwing_forces_and_moments": FORCES_AND_MOMENTS,
    "auv_forces_and_moments": FORCES_AND_MOMENTS,
    "sil_board": IMU_DATA,
    "standalone_sensors": IMU,
    "rc": RC,
    **dict.fromkeys(TIME_MANAGERS.values(), CLOCK),
}

# ROS domain of the first graph, apart from the domains of the tests.
_DOMAIN = 160

# Speed of the graphs relative to real time, except in wall, such that four run on two cores.
_PACE = 0.25
_GRAPHS_AT_ONCE = 4

STEPS = 20
"""Number of steps after which the graph counts as running again."""

# System time within which the graph continues after a restart, s.
_RECOVERY_S = 25.0

# Counters on /diagnostics that an interruption may increase.
_COUNTERS = ("repeated", "time-outs", "fallen behind", "answered again", "gaps")


@dataclass(frozen=True)
class Restart:
    """Result of one kill and restart.

    Attributes:
        executable: of the node.
        recovery_s: system time from the start of the new process until it publishes and the graph takes steps.
        gaps: in the truth states; in the wrenches, if dynamics is killed.
        reported: whether a counter or a level on /diagnostics shows the interruption.
        decreases: of stamps on any stamped topic, or in the reports of any node.
        error: reason why the graph did not recover; empty if it did.
    """

    executable: str
    recovery_s: float
    gaps: Gaps
    reported: bool
    decreases: tuple[str, ...] = ()
    error: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether steps are missing without a report on /diagnostics."""
        return self.gaps.longest_s > PAUSE_S and not self.reported


def restarts(
    name: str,
    time_mode: str,
    kills: int,
    seed: int,
    domain: int,
    launch: Launch = new_interpreter,
    multiplier: float = _PACE,
) -> list[Restart]:
    """Kill and restart each node of a graph, `kills` times each, in random order and at random moments."""
    graph, observer = NodeGraph(GRAPHS[name], time_mode, domain, multiplier, launch), Observer(domain)
    try:
        graph.start_all()
        observer.wait_for(lambda: observer.time_s > 0.5 and len(observer.stamps) > 200, "the start of the graph")
        return restarts_of(graph, observer, kills, seed)
    finally:
        graph.close()
        observer.close()


def restarts_of(
    graph: NodeGraph,
    observer: Observer,
    kills: int,
    seed: int,
    *,
    executables: Sequence[str] = (),
    respawn_s: float = RESPAWN_S,
    steps: int = STEPS,
) -> list[Restart]:
    """Like `restarts`, with a running graph.

    Args:
        graph: the graph.
        observer: a node in its domain.
        kills: number of kills of each node.
        seed: seed of the order and the times of the kills.
        executables: executables of the nodes to kill; if empty, all nodes of the graph.
        respawn_s: system time after which a node is restarted, s.
        steps: number of steps after which the graph counts as running again.
    """
    rng = random.Random(seed)
    order = [executable for executable in executables or graph.executables for _ in range(kills)]
    rng.shuffle(order)
    done = []
    for executable in order:
        done.append(_restart(graph, observer, executable, respawn_s, steps, rng.uniform(0.0, 0.5)))
        if done[-1].error:
            break
    return done


def _restart(
    graph: NodeGraph, observer: Observer, executable: str, respawn_s: float, steps: int, undisturbed_s: float
) -> Restart:
    node = node_class(executable).DEFAULT_NAME
    # A subscriber that discovers the new dynamics late misses its first truth states; no step is lost by that.
    observed = observer.wrenches if executable == "standalone_dynamics" else observer.truth
    first = len(observed.stamps) - 1
    observer.watch()
    known_decreases = observer.decreases()
    before = _counters(observer)
    known = {name: len(reports) for name, reports in observer.reports.items()}
    error, recovery_s = "", 0.0
    graph.kill(executable)
    observer.spin(respawn_s)
    topic = _OUTPUTS.get(executable)
    received, subscription = observer.counts(topic) if topic else (None, None)
    observer.spin(0.1)
    if received:
        received.clear()
    reports = len(observer.reports.get(node, ()))
    began_s = time.monotonic()
    graph.start(executable)
    try:
        if received is not None:
            observer.wait_for(lambda: bool(received), f"{executable} publishes again", _RECOVERY_S)
        else:
            observer.wait_for(
                lambda: len(observer.reports.get(node, ())) > reports, f"{executable} reports again", _RECOVERY_S
            )
        graph.keep_client()
        back = len(observer.stamps)
        observer.wait_for(lambda: len(set(observer.stamps[back:])) > steps, "steps after it", _RECOVERY_S)
        recovery_s = time.monotonic() - began_s
    except TimedOutError as caught:
        error = str(caught)
    finally:
        if subscription is not None:
            observer.node.destroy_subscription(subscription)
    begins = set(observer.watched[f"/{SIM_STEP_SIZE.name}"].stamps) if graph.kind.requests_steps else ()
    gaps = observed.gaps(first, graph.step_ns, begins)
    try:
        observer.wait_for(observer.new_reports(graph.node_names), "reports of all nodes after it", _RECOVERY_S)
    except TimedOutError as caught:
        error = error or str(caught)
    observer.spin(undisturbed_s)
    after = _counters(observer)
    alarmed = any(
        report.level > 0 for name, reports in observer.reports.items() for report in reports[known.get(name, 0) :]
    )
    counted = any(value > before.get(key, 0.0) for key, value in after.items())
    decreases = tuple(text for text in observer.decreases() if text not in known_decreases)
    return Restart(executable, recovery_s, gaps, alarmed or counted, decreases, error)


def _counters(observer: Observer) -> dict[str, float]:
    return {
        f"{name} {key}": float(reports[-1].values[key])
        for name, reports in observer.reports.items()
        for key in _COUNTERS
        if key in reports[-1].values
    }


def restart_rows(
    kills: int, seed: int, domain: int, names: Sequence[str] = tuple(GRAPHS), time_modes: Sequence[str] = ()
) -> Iterator[Row]:
    """One row for each graph, time mode and node."""
    cases = [
        (name, time_mode)
        for name in names
        for time_mode in GRAPHS[name].time_modes
        if not time_modes or time_mode in time_modes
    ]
    with ProcessPoolExecutor(_GRAPHS_AT_ONCE, mp_context=get_context("spawn")) as pool:
        runs = [
            pool.submit(restarts, name, time_mode, kills, seed + number, domain + number)
            for number, (name, time_mode) in enumerate(cases)
        ]
        for (name, time_mode), run in zip(cases, runs, strict=True):
            try:
                done = run.result()
            except TimedOutError as error:
                yield Row(f"{GRAPHS[name].title}, {time_mode}", "the graph starts", str(error), False)
                continue
            for executable in dict.fromkeys(one.executable for one in done):
                yield _row(GRAPHS[name], time_mode, kills, [one for one in done if one.executable == executable])


def _row(kind: GraphKind, time_mode: str, count: int, done: Sequence[Restart]) -> Row:
    executable = done[0].executable
    failed = [one.error for one in done if one.error]
    took = sorted(one.recovery_s for one in done if not one.error) or [0.0]
    silent = sum(one.is_silent for one in done)
    missing, gap_s = max(one.gaps.missing for one in done), max(one.gaps.longest_s for one in done)
    unseen = sum(one.gaps.unseen for one in done)
    back = [text for one in done for text in one.decreases]
    text = (
        f"{len(done)} kills; recovery {median(took):.1f} s after the restart in the median, {took[-1]:.1f} s at most; "
    )
    text += f"longest gap between stamps {1e3 * gap_s:.3g} ms, "
    text += f"at most {missing} missing steps, {silent} gaps not reported"
    if unseen:
        text += f"; {unseen} messages were lost between publisher and observer"
    if back:
        text += f"; {len(back)} stamps decreased: {back[0]}"
    if failed:
        text += f"; not recovered: {failed[0]}"
    exact = time_mode != "lockstep" or not missing
    return Row(
        f"kill -9 of `{executable}`: {kind.title}, {time_mode}",
        "the graph continues; no stamp of any topic decreases; "
        + ("no step is missing" if time_mode == "lockstep" else "gaps are reported on /diagnostics"),
        text,
        not failed and not silent and not back and exact and len(done) == count,
        tuple(round(one.recovery_s, 2) for one in done if not one.error),
    )


# Restarts of a time manager late in a run.

LATE_S = 20.0
"""Stamp from which on a time manager is killed, s."""

LATE_CASES = (
    *(("paced", multiplier) for multiplier in (0.5, 1.0, 2.0)),
    *((mode, multiplier) for mode in ("gated", "lockstep") for multiplier in (0.5, 1.0, 2.0, 0.0)),
)


@dataclass(frozen=True)
class LateRestart:
    """Result of the restart of a time manager late in a run.

    Attributes:
        killed_s: newest stamp after the kill, s.
        jump_s: difference between the first stamp after the restart and the last one before it, s.
        back: number of times that a stamp decreased, on any stamped topic or in the reports of any node.
        recovery_s: system time from the start of the new process until the graph takes steps.
        pace: simulated seconds per second of system time after the recovery.
        error: reason why time did not continue; empty if it did.
    """

    killed_s: float
    jump_s: float
    back: int
    recovery_s: float
    pace: float
    error: str = ""


def late_restarts(
    time_mode: str,
    multiplier: float,
    kills: int,
    domain: int,
    late_s: float = LATE_S,
    pace_s: float = PACE_S,
    launch: Launch = new_interpreter,
) -> list[LateRestart]:
    """Run until `late_s`, then kill the time manager, and restart it with `multiplier`."""
    # The processes start sooner while the graph is slow.
    graph, observer = NodeGraph(MULTIROTOR, time_mode, domain, _PACE, launch), Observer(domain)
    found: list[LateRestart] = []
    try:
        graph.start_all()
        observer.wait_for(lambda: observer.time_s > 0.2, "the start of the graph")
        fast = 4.0 if time_mode == "paced" else 0.0
        observer.set_number("time_manager", "real_time_multiplier", fast)
        observer.wait_for(lambda: observer.time_s > late_s, "the late moment")
        if multiplier != fast:
            observer.set_number("time_manager", "real_time_multiplier", multiplier)
        graph.multiplier = multiplier
        for _ in range(kills):
            observer.spin(0.5)
            found.append(late_restart(graph, observer, pace_s))
            if found[-1].error:
                break
        return found
    finally:
        graph.close()
        observer.close()


def late_restart(graph: NodeGraph, observer: Observer, pace_s: float = PACE_S, steps: int = STEPS) -> LateRestart:
    """Kill and restart the time manager of a running graph; `steps` steps later, measure the pace for `pace_s`."""
    manager = TIME_MANAGERS[graph.time_mode]
    observer.watch()
    known_decreases = observer.decreases()
    graph.kill(manager)
    observer.spin(RESPAWN_S)
    killed_s, first = observer.time_s, len(observer.stamps) - 1
    began_s = time.monotonic()
    graph.start(manager)
    try:
        observer.wait_for(lambda: len(set(observer.stamps[first:])) > steps, "steps after the restart")
    except TimedOutError as error:
        return LateRestart(killed_s, 0.0, 0, 0.0, 0.0, str(error))
    recovery_s = time.monotonic() - began_s
    after = next(stamp for stamp in observer.stamps[first:] if stamp != observer.stamps[first])
    at_s, from_s = time.monotonic(), observer.time_s
    observer.spin(pace_s)
    pace = (observer.time_s - from_s) / (time.monotonic() - at_s)
    back = sum(text not in known_decreases for text in observer.decreases())
    return LateRestart(killed_s, (after - observer.stamps[first]) / NANOSECONDS, back, recovery_s, pace)


def late_rows(kills: int, domain: int, cases: Sequence[tuple[str, float]] = LATE_CASES) -> Iterator[Row]:
    """One row for each time mode and multiplier; the graphs run one after another."""
    # At twice real time, a graph takes the whole of a machine with two cores.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        runs = [
            pool.submit(late_restarts, mode, multiplier, kills, domain + number)
            for number, (mode, multiplier) in enumerate(cases)
        ]
        for (mode, multiplier), run in zip(cases, runs, strict=True):
            yield _late_row(mode, multiplier, run.result())


def _late_row(mode: str, multiplier: float, found: Sequence[LateRestart]) -> Row:
    failed = [one.error for one in found if one.error]
    jump_s = max(abs(one.jump_s) for one in found)
    text = f"{len(found)} kills at {found[0].killed_s:.0f} s and later; "
    text += f"next stamp at most {1e3 * jump_s:.3g} ms after the last; "
    text += f"recovery in at most {max(one.recovery_s for one in found):.1f} s; "
    text += f"then {min(one.pace for one in found):.2f} to {max(one.pace for one in found):.2f} x real time"
    if failed:
        text += f"; not recovered: {failed[0]}"
    back = sum(one.back for one in found)
    # In paced, the time manager does not wait until all nodes receive the time.
    waited = [one.recovery_s * multiplier if mode == "paced" else 0.0 for one in found]
    skipped = any(one.jump_s > PAUSE_S + wait_s for one, wait_s in zip(found, waited, strict=True))
    # On a machine busy with other programs, the pace is not judged.
    is_busy = os.getloadavg()[0] > 4.0 * (os.cpu_count() or 1)
    too_slow = min(one.pace for one in found) < 0.5 * multiplier
    too_fast = multiplier and max(one.pace for one in found) > 1.2 * multiplier
    return Row(
        f"kill -9 of the time manager late in a run: {mode}, multiplier {multiplier:g}",
        "time continues from the last stamp at the requested pace; no stamp of any topic decreases",
        text,
        not failed and not back and not too_fast and not skipped and (not too_slow or is_busy),
    )


def main() -> int:
    """Run the proof."""
    parser = argparse.ArgumentParser(prog="python -m proof.restarts", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--kills", type=int, default=20, help="kills of each node in each time mode (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moments (default: 1)")
    given = parser.parse_args()
    stay_on_this_machine()
    notes = [
        f"Each node is killed {given.kills} times in each time mode of its graph, at random moments (seed "
        f"{given.seed}), and restarted one second later, as by launch's `respawn`. The graphs of the AUV and "
        "of ArduPilot run in lockstep only.",
        "Recovery lasts from the start of the new process until it publishes and the graph has taken "
        f"{STEPS} steps. {_GRAPHS_AT_ONCE} graphs run at the same time, which prolongs it.",
        "When dynamics is killed, the steps are counted by the stamps of the wrenches instead of the truth states.",
    ]
    rows = chain(restart_rows(given.kills, given.seed, _DOMAIN), late_rows(max(1, given.kills // 5), _DOMAIN))
    return publish("restarts", "Killed nodes", rows, notes)


if __name__ == "__main__":
    sys.exit(main())
