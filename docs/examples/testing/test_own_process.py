"""Test of a node in a process of its own, in any language (docs/testing.md)."""

import subprocess
import sys
from pathlib import Path

import pytest

NODE = [sys.executable, str(Path(__file__).with_name("airspeed_meter.py"))]


@pytest.fixture
def airspeed_meter(ros_domain):
    arguments = ["--ros-args", "-p", "time_mode:=lockstep", "-p", "use_sim_time:=true"]
    with subprocess.Popen([*NODE, *arguments]) as process:
        yield
        process.terminate()


@pytest.mark.simulation(
    vehicle="multirotor",
    ros=True,
    limit=5,
    parameters={"wait_for": ["/true_airspeed at 50 Hz"]},
)
def test_airspeed_of_the_process(simulation, airspeed_meter):
    flight = simulation.fly(topics=["true_airspeed"])
    flight.require_rate("true_airspeed", at_least_hz=49)
