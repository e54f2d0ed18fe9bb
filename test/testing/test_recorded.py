"""Requirements on recorded flights, as tests of launch_testing state them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.testing.described import simulation_of
from rosflight_py_sim.testing.flight import fly, prepared
from rosflight_py_sim.testing.flown import RequirementError
from rosflight_py_sim.testing.recorded import recorded_flight

pytestmark = pytest.mark.timeout(400)

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "testing"


@pytest.mark.usefixtures("ros_domain")
def test_recorded_flight_has_the_values_and_messages_of_the_flight(tmp_path: Path) -> None:
    sweep = simulation_of("a flight", Path(), {"vehicle": "multirotor", "limit": 12, "wind": [3, 0, 0]})
    topics = ["status", "autopilot/phase", "sim/sensors/imu/data"]
    file = tmp_path / "flight.mcap"
    flown = fly(prepared(sweep, ros=True, record=str(file)), topics).flown
    again = recorded_flight(file, topics)
    # The recorder's clock is that of the step; the mission has no end in the recording.
    assert again.title == "multirotor, flight.mcap"
    assert {name for name in flown.names if name.startswith("judge.")} <= {*again.names}
    assert again.value("max(-truth_state.position_ned[2])") == flown.value("max(-truth_state.position_ned[2])")
    assert again.messages["status"] == flown.messages["status"]
    assert again.messages["autopilot/phase"] == flown.messages["autopilot/phase"]
    again.require_rate("sim/sensors/imu/data", at_least_hz=399)
    assert again.require_within(5.0, "status", "armed") == flown.require_within(5.0, "status", "armed")
    with pytest.raises(
        RequirementError, match=r"the mission failed: .* \(multirotor, flight.mcap, flight of 12.\d+ s\)"
    ):
        again.require_completed()
    with pytest.raises(ParameterError, match=r"topic .statu. given; allowed, as recorded: .*status"):
        recorded_flight(file, ["statu"])


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"none\.mcap"):
        recorded_flight(tmp_path / "none.mcap")


@pytest.mark.skipif(importlib.util.find_spec("launch_testing") is None, reason="launch_testing is not installed")
@pytest.mark.usefixtures("ros_domain")
def test_example_of_launch_testing_passes() -> None:
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    done = subprocess.run(
        [sys.executable, "-m", "launch_testing.launch_test", "launch_airspeed_meter.py"],
        cwd=EXAMPLE,
        env=environment,
        capture_output=True,
        text=True,
        timeout=350.0,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
