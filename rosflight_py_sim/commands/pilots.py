"""Scripted pilots of a running simulation, run by a command until they are done."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rosflight_py_sim.ground.parameters import ParameterError

if TYPE_CHECKING:
    from rosflight_py_sim.nodes.pilot import Pilot

# Time limit for the flight controller's status, s of system time; processes that start one by one take this long.
TIMEOUT_S = 60.0

# System time until a notice that a status is missing, s.
DISCOVERY_S = 3.0

HINT = "is the simulation running, not paused, and in this ROS_DOMAIN_ID?"


def run_pilots(pilots: Mapping[str, Pilot], signals: Sequence[int]) -> None:
    """Run pilots, by namespace, until all are done or a signal arrives, print what they do, and destroy them.

    Raises:
        ParameterError: a flight controller's status is missing, or a pilot has failed.
    """
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    executor = SingleThreadedExecutor()
    printed: dict[str, str] = {}
    start_s = time.monotonic()
    notice_s = start_s + DISCOVERY_S
    try:
        for pilot in pilots.values():
            executor.add_node(pilot)
        while not signals and rclpy.ok() and not all(pilot.done or pilot.failure for pilot in pilots.values()):
            executor.spin_once(timeout_sec=0.1)
            for name, pilot in pilots.items():
                if pilot.has_status and printed.get(name) != pilot.activity:
                    printed[name] = pilot.activity
                    print(f"{name}: {pilot.activity}" if name else pilot.activity, flush=True)
            silent = ", ".join(name or "/" for name, pilot in pilots.items() if not pilot.has_status)
            if silent and time.monotonic() > start_s + TIMEOUT_S:
                raise ParameterError(
                    f"no flight controller status received in namespace {silent} within {TIMEOUT_S:g} s ({HINT})"
                )
            if silent and time.monotonic() > notice_s:
                notice_s = math.inf
                text = f"no flight controller status received in namespace {silent} yet; waiting up to {TIMEOUT_S:g} s"
                print(f"{text} ({HINT})", file=sys.stderr, flush=True)
    finally:
        for pilot in pilots.values():
            pilot.destroy_node()
        executor.shutdown()
    failures = [f"{name}: {pilot.failure}".removeprefix(": ") for name, pilot in pilots.items() if pilot.failure]
    if failures:
        raise ParameterError("; ".join(failures))
