"""The node in a process of its own, tested by launch_testing: `launch_test launch_airspeed_meter.py`."""

import sys
import tempfile
import unittest
from pathlib import Path

import launch
import launch_testing
from launch.actions import ExecuteProcess
from launch_testing.actions import ReadyToTest
from rosflight_py_sim.testing.recorded import recorded_flight

RECORDING = Path(tempfile.mkdtemp()) / "flight.mcap"


def generate_test_description():
    meter = ExecuteProcess(
        cmd=[
            *(sys.executable, str(Path(__file__).with_name("airspeed_meter.py"))),
            *("--ros-args", "-p", "time_mode:=lockstep", "-p", "use_sim_time:=true"),
        ],
    )
    flight = ExecuteProcess(
        cmd=[
            *("rosflight_py_sim", "fly", "--vehicle", "multirotor"),
            *("--record", str(RECORDING), "--output", str(RECORDING.parent)),
            # The simulation waits for the node, however busy the machine is.
            *("--ros-args", "-p", "wait_for:=['/true_airspeed at 50 Hz']"),
        ],
    )
    return launch.LaunchDescription([meter, flight, ReadyToTest()]), {"flight": flight}


class TestFlight(unittest.TestCase):
    def test_flight_ends(self, proc_info, flight):
        proc_info.assertWaitForShutdown(flight, timeout=300)


@launch_testing.post_shutdown_test()
class TestRecording(unittest.TestCase):
    def test_mission_and_node(self, proc_info, flight):
        launch_testing.asserts.assertExitCodes(proc_info, process=flight)
        flown = recorded_flight(RECORDING, topics=["status", "true_airspeed"])
        flown.require_completed()
        flown.require("judge.tracking_error_rms_m", at_most=0.3, unit="m")
        flown.require_within(10.0, "status", "armed")
        flown.require_rate("true_airspeed", at_least_hz=49)
