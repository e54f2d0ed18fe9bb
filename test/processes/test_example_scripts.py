"""The scripts in docs/examples that command a running simulation: states, replies, time limits and signals."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
from forked_python import ForkedPython
from free_ports import free_ports
from rclpy.qos import QoSProfile
from rosflight_msgs.msg import Status
from rosflight_msgs.srv import ParamSet
from std_msgs.msg import String

from rosflight_py_sim.step.qos import CHAIN, LATCHED
from rosflight_py_sim.step.topics import AUTOPILOT_PHASE, STATUS
from test.graph.conftest import small_square
from test.processes.conftest import TIMEOUT_S, Observer, Processes

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SCRIPTS = ("arm_and_watch", "pause_and_step", "change_parameters", "set_state", "turn_about")
# Time limit of a script, s: one that receives each state slows a flight down on a busy machine.
FLIGHT_S = 300.0
LATCHED_TEXT: QoSProfile = LATCHED


class Script:
    """A running script."""

    def __init__(self, processes: Processes, name: str, *arguments: str) -> None:
        self._out = processes.folder / f"{Path(name).name}-{len(list(processes.folder.iterdir()))}.txt"
        self._err = self._out.with_suffix(".err")
        words, environment = [str(EXAMPLES / f"{name}.py"), *arguments], processes.environment
        environment = environment | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        self.process = ForkedPython(words, env=environment, cwd=processes.folder, stdout=self._out, stderr=self._err)

    @property
    def output(self) -> str:
        """Output so far."""
        return self._out.read_text()

    @property
    def errors(self) -> list[str]:
        """Lines on stderr so far."""
        return self._err.read_text().splitlines()

    def end(self, observer: Observer | None = None) -> tuple[int, str, list[str]]:
        """Exit code, output, and lines on stderr; the observer is spun until then."""
        if observer is not None:
            observer.wait_for(lambda: self.process.poll() is not None, "the end of the script", FLIGHT_S)
        code = self.process.wait(TIMEOUT_S)
        return code, self.output, self.errors


def test_scripts_stop_without_a_simulation(processes: Processes) -> None:
    scripts = [Script(processes, name) for name in SCRIPTS]
    for script in scripts:
        code, _, errors = script.end()
        assert code == 1
        (line,) = errors
        assert line.startswith("stopped: no ") and "within 10 s" in line and "is a simulation running" in line


@pytest.mark.parametrize(("name", "node"), [("arm_and_watch", "watch"), ("turn_about", "turn_about")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_a_waiting_script_without_traceback(
    processes: Processes, name: str, node: str, number: signal.Signals
) -> None:
    script, observer = Script(processes, name), processes.observer(truth="none")
    observer.wait_for(lambda: observer.has_node(node), "the script")
    script.process.send_signal(number)
    code, _, errors = script.end()
    assert code == 130
    (line,) = errors
    assert line.startswith("interrupted")


def test_clients_of_the_bridge_say_what_they_wait_for(processes: Processes) -> None:
    ports = [str(port) for port in free_ports(9)]
    scripts = [
        Script(processes, "auv_mission", "--ports", *ports[:3]),
        Script(processes, "uthere_skywriting", "--ports", *ports[3:5]),
        Script(processes, "ardupilot_stand_in/ardupilot_stand_in", "--port", ports[7]),
        Script(processes, "px4_stand_in/px4_stand_in", "--port", ports[8]),
        Script(processes, "uthere_follow_the_leader", "--ports", *ports[5:7]),
    ]
    observer = processes.observer(truth="none")
    for script, code in zip(scripts, (130, 130, 130, 130, 0), strict=True):
        observer.wait_for(lambda script=script: bool(script.errors), "the note")
        assert script.errors[0].startswith("no ")
        assert script.errors[0].endswith(
            ("yet; waiting up to 180 s", "yet; waiting, as ArduPilot does", "yet; trying again")
        )
        script.process.send_signal(signal.SIGINT)
        ended, output, errors = script.end()
        assert ended == code
        assert any(word in output + errors[-1] for word in ("interrupted", "ended by Ctrl-C"))
        assert "Traceback" not in " ".join(errors)


class Seen:
    """Newest status and phase."""

    def __init__(self, observer: Observer) -> None:
        self.status: Any = None
        self.phase = ""
        observer.node.create_subscription(Status, STATUS.name, self._on_status, CHAIN)
        observer.node.create_subscription(String, AUTOPILOT_PHASE.name, self._on_phase, LATCHED_TEXT)
        observer.wait_for(lambda: self.status is not None, "the status")

    def _on_status(self, message: Status) -> None:
        self.status = message

    def _on_phase(self, message: String) -> None:
        self.phase = message.data


@pytest.mark.timeout(900)
def test_scripts_check_the_state_of_the_vehicle(processes: Processes) -> None:
    processes.command("sim", "--autopilot", "--real-time-multiplier", "4", *small_square(8.0))
    observer = processes.observer()
    seen = Seen(observer)

    for name, text in {"pause_and_step": "advanced 400 steps", "change_parameters": "wind: north 0, east 4"}.items():
        code, output, errors = Script(processes, name).end(observer)
        assert (code, errors) == (0, [])
        assert text in output

    # The arm switch is on, and the uncalibrated IMU the reason why the vehicle is disarmed.
    assert observer.trigger("toggle_arm") == "arm switch on"
    flight = Script(processes, "arm_and_watch")
    observer.wait_for(lambda: seen.phase == "take off", "the flight")
    code, output, (line,) = Script(processes, "arm_and_watch").end(observer)
    assert (code, output) == (1, "")
    assert line.startswith("stopped: the vehicle is armed already, and was left alone: ") and ", armed" in line
    code, output, errors = flight.end(observer)
    assert (code, errors) == (0, [])
    last = output.splitlines()[-1]
    assert last.startswith("done in ") and last.endswith("m from the start, on the ground, disarmed")
    observer.wait_for(lambda: not seen.status.armed, "the end of the flight")

    observer.call(ParamSet, "param_set", ParamSet.Request(name="PRIMARY_MIXER", value=255.0))
    code, _, (line,) = Script(processes, "arm_and_watch").end(observer)
    assert code == 1
    assert line.startswith("stopped: the flight controller refused to arm; its log has the reason: ")
    assert "disarmed, error code 0x01" in line
    # The script has put the switch back.
    assert observer.trigger("toggle_arm") == "arm switch on"
    assert observer.trigger("toggle_arm") == "arm switch off"
    observer.call(ParamSet, "param_set", ParamSet.Request(name="PRIMARY_MIXER", value=11.0))

    observer.trigger("time_manager/toggle_pause")
    scripts = [Script(processes, name) for name in ("set_state", "turn_about")]
    for script in scripts:
        code, _, (line,) = script.end(observer)
        assert code == 1 and line.endswith("not paused, and in this ROS_DOMAIN_ID?")
    code, output, errors = Script(processes, "pause_and_step").end(observer)
    assert (code, errors) == (0, [])
    # Paused before, and afterwards.
    assert output.splitlines()[1].startswith("time_manager/toggle_pause: paused at") and "now: " in output
    assert observer.trigger("time_manager/toggle_pause").startswith("running at")
    code, output, errors = Script(processes, "set_state").end(observer)
    assert (code, errors) == (0, [])
    # On a busy machine, the vehicle has fallen before the script receives its state.
    height = re.search(r"^set: .* height (\S+) m", output, re.MULTILINE)
    assert height is not None and 15.0 < float(height[1]) <= 20.0

    flight = Script(processes, "arm_and_watch")
    observer.wait_for(lambda: "take off" in flight.output, "the second flight")
    flight.process.send_signal(signal.SIGTERM)
    code, _, (line,) = flight.end(observer)
    assert code == 130
    assert line.startswith("interrupted; last seen: ") and ", armed, phase '" in line
    assert seen.status.armed
