"""Flights of ArduPilot's stand-in with a composed graph, for several tests."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import ardupilot_stand_in
from ardupilot_stand_in import StandIn

PROGRAM = Path(ardupilot_stand_in.__file__)

# System time, s, after which a flight, or a condition in it, fails the test. A step takes 0.4 ms on an idle machine.
FLIGHT_S = 250.0


class StandInProcess:
    """The stand-in as a separate process, like ArduPilot."""

    def __init__(self, vehicle: str, port: int, *options: str) -> None:
        words = ["--vehicle", vehicle, "--port", str(port), "--json", *options]
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self.process.poll() is not None

    def summary(self) -> dict[str, Any]:
        """The stand-in's summary of its flight, which must be over."""
        printed, complaints = self.process.communicate(timeout=30.0)
        assert self.process.returncode == 0, complaints
        return dict(json.loads(printed))

    def close(self) -> None:
        """Kill the process, whatever it is doing."""
        self.process.kill()
        self.process.communicate()


def run_until_over(graph: Any, *programs: StandInProcess) -> None:
    """Run the graph until the programs have ended."""
    end = time.monotonic() + FLIGHT_S
    while not all(program.is_over for program in programs):
        assert time.monotonic() < end, f"still flying after {FLIGHT_S:g} s, at {graph.time_s:g} s"
        # Checking the programs takes as long as a callback.
        for _ in range(64):
            graph.executor.spin_once(timeout_sec=0.02)


def run(graph: Any, *stand_ins: StandIn, until: Any, what: str) -> None:
    """Run the graph and the stand-ins alternately in this thread until the condition holds."""
    end = time.monotonic() + FLIGHT_S
    while not until():
        assert time.monotonic() < end, f"{what} did not come true within {FLIGHT_S:g} s, at {graph.time_s:g} s"
        graph.executor.spin_once(timeout_sec=0.005)
        for one in stand_ins:
            one.work()
