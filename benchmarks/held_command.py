"""A multirotor in hover without ROS that holds a command: every sensor, the firmware, wind and turbulence.

    python -m benchmarks.held_command

prints the steps per CPU second of one core, by compiled steps and by messages, alternately in one run.
"""

from __future__ import annotations

import argparse
import statistics
import time

from benchmarks.closed_loop import WIND_OF_5
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import COMMAND, ControlCommand
from rosflight_py_sim.sweep.pipeline_flight import built_parts, planned_parts
from rosflight_py_sim.vehicles import vehicle

STEP_NS = 2_500_000

_HOVER: dict[str, Value] = {
    **WIND_OF_5,
    "starts_in_flight": True,
    "starts_on_ground": False,
    "initial_altitude": 100.0,
    # The command is given once.
    "firmware_parameters": ["OFFBOARD_TIMEOUT 100000"],
}


def hovering(*, is_compiled: bool) -> Pipeline:
    """A multirotor in flight that holds a level attitude, one simulated second after its start."""
    member = Member(vehicle("multirotor"))
    sources = parameter_sources([member], files=[], weakest={"device": "none"}, settings=_HOVER)
    line = Pipeline(built_parts(planned_parts(member), member, sources), STEP_NS)
    line.compiles = is_compiled
    line.step()
    line.give(COMMAND, ControlCommand(line.time_ns, 2, 0, (0.0, 0.0, 0.46, *[0.0] * 7)))
    line.run_until(NANOSECONDS)
    assert line.is_compiled is is_compiled
    return line


def rate(line: Pipeline, seconds: float) -> float:
    """Steps per CPU second over a simulated time."""
    first_ns, start = line.time_ns, time.process_time()
    line.run_until(first_ns + round(seconds * NANOSECONDS))
    return (line.time_ns - first_ns) / STEP_NS / (time.process_time() - start)


def main() -> None:
    """Print the medians of several turns."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=10.0, help="simulated seconds per turn")
    arguments.add_argument("--turns", type=int, default=7)
    given = arguments.parse_args()
    compiled, by_messages = hovering(is_compiled=True), hovering(is_compiled=False)
    rates = [(rate(compiled, given.seconds), rate(by_messages, given.seconds)) for _ in range(given.turns)]
    fast, slow = (statistics.median(column) for column in zip(*rates, strict=True))
    print(f"compiled {fast:,.0f} steps/s, by messages {slow:,.0f} steps/s, ratio {fast / slow:.2f}")


if __name__ == "__main__":
    main()
