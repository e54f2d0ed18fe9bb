"""Services of the simulator and of the flight controller, called as a user would."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rcl_interfaces.msg import Log
from rclpy.qos import QoSProfile
from rosflight_msgs.msg import SimState
from rosflight_msgs.srv import ParamFile, ParamGet, ParamSet, SetSimState
from std_msgs.msg import Bool, String

from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topics import CLOCK, PARAMS_CHANGED, PWM_OUTPUT, RC
from rosflight_py_sim.vehicles import vehicle

MakeGraph = Callable[..., Any]


@pytest.fixture
def running(undisturbed_graph: MakeGraph) -> Any:
    """A running graph, which the tests leave running and at rest."""
    return undisturbed_graph().ready()


@pytest.fixture
def paused(running: Any) -> Iterator[Any]:
    """The same graph, paused until the end of the test, with steps of 2.5 ms."""
    running.pause()
    yield running
    assert running.call("dynamics/reset").success
    assert running.call("time_manager/toggle_pause").success


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The flight controller's folder for parameter files, the only file next to which is its memory, board.yaml."""
    made = tmp_path_factory.mktemp("parameters") / "own"
    made.mkdir()
    return made


@pytest.fixture
def filing(undisturbed_graph: MakeGraph, folder: Path) -> Any:
    """A running graph with that folder and memory."""
    memory = folder.with_name("board.yaml")
    return undisturbed_graph("-p", f"param_file_folder:={folder}", "-p", f"param_storage_file:={memory}").ready()


def test_time_stops_while_paused_and_resumes_afterwards(running: Any) -> None:
    g = running
    g.pause()
    clock = g.collect_messages(CLOCK)
    time_s = g.time_s
    g.idle(0.6)
    assert not clock
    assert g.time_s == time_s
    answer = g.call("time_manager/toggle_pause")
    assert answer.success
    assert answer.message.startswith("running at ")
    g.spin_for(0.1)


def test_one_step_advances_time_by_step_size(paused: Any) -> None:
    g = paused
    clock = g.collect_messages(CLOCK)
    before = g.time_ns
    answer = g.call("time_manager/step")
    assert answer.success
    assert answer.message.startswith("advanced 1 step, to ")
    g.spin_until(lambda: g.time_ns > before)
    g.idle(0.05)
    assert [time_ns_of(message.clock) for message in clock] == [before]
    assert g.time_ns == before + 2_500_000


def test_exactly_step_count_steps_are_taken(paused: Any) -> None:
    g = paused
    g.set_parameter("time_manager", "step_count", 40)
    clock = g.collect_messages(CLOCK)
    before = g.time_ns
    for turn in (1, 2):
        assert g.call("time_manager/step").message.startswith("advanced 40 steps, to ")
        g.spin_until(lambda turn=turn: g.time_ns >= before + turn * 100_000_000)
        g.idle(0.05)
        assert g.time_ns == before + turn * 100_000_000
        assert len(clock) >= 1
        assert time_ns_of(clock[-1].clock) == before + turn * 100_000_000 - 2_500_000
    g.set_parameter("time_manager", "step_count", 1)


def test_steps_are_rejected_while_simulation_runs(running: Any) -> None:
    answer = running.call("time_manager/step")
    assert not answer.success
    assert "pause it with time_manager/toggle_pause" in answer.message


def test_arm_and_override_services_switch_their_channels(running: Any) -> None:
    g = running
    rc = g.collect_messages(RC)
    g.spin_until(lambda: rc)
    assert list(rc[-1].values) == [1500, 1500, 1000, 1500, 1000, 2000, 2000, 1500]
    for service, channel, name, pulses in (
        ("toggle_arm", 4, "arm", [(2000, "on"), (1000, "off")]),
        ("toggle_override", 5, "override", [(1000, "off"), (2000, "on")]),
    ):
        for pulse, word in pulses:
            answer = g.call(service)
            assert answer.success
            assert answer.message == f"{name} switch {word}"
            count_before = len(rc)
            g.spin_until(lambda count_before=count_before: len(rc) > count_before + 1)
            assert rc[-1].values[channel] == pulse


def test_arming_requires_calibrated_imu_and_override_switch(running: Any) -> None:
    g = running
    assert g.status.error_code & 0x20
    g.call("toggle_arm")
    g.spin_for(0.3)
    assert not g.status.armed
    g.call("toggle_arm")
    g.calibrate()
    g.call("toggle_override")
    g.spin_for(0.1)
    g.call("toggle_arm")
    g.spin_for(0.3)
    assert not g.status.armed
    g.call("toggle_override")
    g.spin_until(lambda: g.status.armed, "armed")
    g.call("toggle_arm")
    g.spin_until(lambda: not g.status.armed, "disarmed")


def state(height_m: float = 50.0, **quaternion: float) -> SimState:
    message = SimState()
    message.pose.position.x, message.pose.position.z = 3.0, -height_m
    message.pose.orientation.w = 1.0
    for name, value in quaternion.items():
        setattr(message.pose.orientation, name, value)
    message.twist.linear.x = 2.0
    message.twist.angular.z = 0.5
    return message


def test_truth_equals_the_state_that_was_set(paused: Any) -> None:
    g = paused
    time_s = g.time_s
    half = math.sqrt(0.5)
    wanted = state(w=half, z=half)
    g.set_state(wanted)
    assert g.time_s == time_s
    linear, angular = g.truth.twist.linear, g.truth.twist.angular
    assert (linear.x, linear.y, linear.z) == pytest.approx((2.0, 0.0, 0.0), abs=1e-12)
    assert (angular.x, angular.y, angular.z) == (0.0, 0.0, 0.5)
    assert g.truth.pose.orientation.w == pytest.approx(half, abs=1e-15)
    assert g.truth.pose.orientation.z == pytest.approx(half, abs=1e-15)
    g.step()
    # East at 2 m/s after a turn to the right by 90 degrees.
    assert g.truth.pose.position.y == pytest.approx(2.0 * 0.0025, rel=0.01)


def test_quaternion_within_one_percent_of_unit_length_is_normalised(paused: Any) -> None:
    g = paused
    g.set_state(state(w=0.6 * 1.005, y=0.8 * 1.005))
    q = g.truth.pose.orientation
    assert (q.w, q.x, q.y, q.z) == pytest.approx((0.6, 0.0, 0.8, 0.0), abs=1e-12)


def bad_states() -> dict[str, tuple[SimState, str]]:
    found = {
        "zero quaternion": (state(w=0.0), "quaternion"),
        "long quaternion": (state(w=1.02), "quaternion"),
        "nan quaternion": (state(w=math.nan), "attitude"),
        "infinite quaternion": (state(x=math.inf), "attitude"),
        "infinite position": (state(height_m=math.inf), "position"),
    }
    velocity, rate = state(), state()
    velocity.twist.linear.y = math.nan
    rate.twist.angular.x = -math.inf
    return {**found, "nan velocity": (velocity, "velocity"), "infinite body rate": (rate, "body rate")}


def test_invalid_states_are_rejected_with_reason_and_change_nothing(paused: Any) -> None:
    g = paused
    before = list(g.node("dynamics").body.truth)
    for name, (bad, word) in bad_states().items():
        answer = g.call("dynamics/set_sim_state", SetSimState, state=bad)
        assert not answer.success, name
        assert word in answer.message, name
        assert list(g.node("dynamics").body.truth) == before, name


def test_firmware_parameters_can_be_read_set_and_rejected(running: Any) -> None:
    g = running
    changed = g.collect_messages(PARAMS_CHANGED)
    unsaved = g.collect_messages("status/unsaved_params", Bool, LATCHED)
    assert g.call("param_get", ParamGet, name="RC_MAX_ROLL").exists
    assert not g.call("param_get", ParamGet, name="RC_MAX_ROL").exists
    assert not g.call("param_set", ParamSet, name="RC_MAX_ROL", value=1.0).exists
    g.set_firmware(RC_MAX_ROLL=0.5)
    assert g.firmware("RC_MAX_ROLL") == 0.5
    g.spin_until(lambda: changed and unsaved and unsaved[-1].data)
    log = g.collect_messages("/rosout", Log, QoSProfile(depth=100))
    g.spin_until(lambda: g.tester.count_publishers("/rosout") > 1)
    for name, value, allowed in (
        ("RC_MAX_ROLL", -3000.0, "a number from 0 to 3.14159"),
        ("RC_MAX_ROLL", math.nan, "a number from 0 to 3.14159"),
        ("PRI_MIXER_0_0", math.inf, "a number, finite"),
        ("RC_NUM_CHN", 6.5, "a whole number from 1 to 8"),
    ):
        before = g.firmware(name)
        # The parameter exists, though the value is refused.
        assert g.call("param_set", ParamSet, name=name, value=value).exists
        assert g.firmware(name) == before
        text = f"param_set refused: firmware parameter '{name}': {value} given; allowed: {allowed}"
        g.spin_until(lambda text=text: any(line.msg == text for line in log), text)
    assert g.call("param_write").success
    g.spin_until(lambda: not unsaved[-1].data)
    assert g.call("all_params_received").success


@pytest.mark.parametrize("service", ["sil_board/run", "rosflight_sil/take_sim_step"])
def test_firmware_without_timer_runs_once_per_call(running: Any, service: str) -> None:
    g = running
    refusal = g.call(service)
    assert not refusal.success
    assert "use_timer" in refusal.message
    g.set_parameter("sil_board", "use_timer", False)
    g.idle(0.1)
    pwm = g.collect_messages(PWM_OUTPUT)
    before = g.time_ns
    for step in range(1, 6):
        answer = g.call(service)
        assert answer.success, answer.message
        g.spin_until(lambda step=step: g.time_ns == before + step * 2_500_000)
        g.idle(0.02)
        assert len(pwm) == step
        assert g.time_ns == before + step * 2_500_000
    g.set_parameter("sil_board", "use_timer", True)
    g.spin_for(0.1)


def test_firmware_parameters_round_trip_through_a_file(filing: Any, folder: Path) -> None:
    g = filing
    file = str(folder / "firmware.yaml")
    g.set_firmware(PID_ROLL_RATE_P=1.25)
    assert g.call("param_save_to_file", ParamFile, filename=file).success
    g.set_firmware(PID_ROLL_RATE_P=0.5)
    assert g.call("param_load_from_file", ParamFile, filename=file).success
    assert g.firmware("PID_ROLL_RATE_P") == 1.25
    log = g.collect_messages("/rosout", Log, QoSProfile(depth=100))
    g.spin_until(lambda: g.tester.count_publishers("/rosout") > 1)
    bad = folder / "bad.yaml"
    bad.write_text("- {name: PID_ROLL_RATE_P, type: 9, value: 0.75}\n- {name: RC_F_CHN, type: 9, value: 1.0}\n")
    for name in (str(bad), str(folder / "none.yaml"), str(folder)):
        assert not g.call("param_load_from_file", ParamFile, filename=name).success
        g.spin_until(lambda name=name: any(f"not loaded: {name}" in line.msg for line in log), "the reason")
    assert any(f"{bad}, line 2: 'RC_F_CHN' has type 6" in line.msg for line in log)
    assert g.firmware("PID_ROLL_RATE_P") == 1.25
    older = folder / "older.yaml"
    older.write_text("- {name: MIXER, type: 6, value: 2}\n- {name: PID_ROLL_RATE_P, type: 9, value: 0.75}\n")
    assert g.call("param_load_from_file", ParamFile, filename=str(older)).success
    assert g.firmware("PID_ROLL_RATE_P") == 0.75
    left_out = "1 of 2 parameters left out, which the firmware does not have: MIXER"
    g.spin_until(lambda: any(left_out in line.msg for line in log), "the warning")
    assert [line.level for line in log if left_out in line.msg] == [Log.WARN]
    for name in (str(folder / "no" / "such" / "folder.yaml"), str(folder)):
        assert not g.call("param_save_to_file", ParamFile, filename=name).success
    for path in folder.iterdir():
        path.unlink()


def test_calls_may_name_files_of_installed_packages(
    filing: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    g, source = filing, tmp_path / "source.yaml"
    source.write_text("- {name: PID_ROLL_RATE_P, type: 9, value: 0.625}\n")
    installed = tmp_path / "prefix" / "share" / "other_sim" / "params" / "firmware.yaml"
    installed.parent.mkdir(parents=True)
    # As after colcon build --symlink-install.
    installed.symlink_to(source)
    assert not g.call("param_load_from_file", ParamFile, filename=str(installed)).success
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    assert g.call("param_load_from_file", ParamFile, filename=str(installed)).success
    assert g.firmware("PID_ROLL_RATE_P") == 0.625
    for name in (str(source), str(installed.parent / "../../../../source.yaml")):
        assert not g.call("param_load_from_file", ParamFile, filename=name).success


def test_calls_name_no_parameter_file_outside_of_the_folders(filing: Any, folder: Path) -> None:
    g, outside = filing, folder.with_name("other.yaml")
    log = g.collect_messages("/rosout", Log, QoSProfile(depth=100))
    g.spin_until(lambda: g.tester.count_publishers("/rosout") > 1)
    assert g.call("param_save_to_file", ParamFile, filename="mine.yaml").success
    assert g.call("param_load_from_file", ParamFile, filename=str(folder / "mine.yaml")).success
    assert g.call("param_load_from_file", ParamFile, filename=str(vehicle("multirotor").firmware_file)).success
    outside.write_text((folder / "mine.yaml").read_text())
    (folder / "link.yaml").symlink_to(outside)
    (folder / "up").symlink_to(folder.parent)
    for name in (str(outside), "../other.yaml", "link.yaml", "up/other.yaml", "/etc/passwd"):
        assert not g.call("param_load_from_file", ParamFile, filename=name).success
        g.spin_until(
            lambda name=name: any(f"not loaded: '{name}' is outside" in line.msg for line in log), "the reason"
        )
    assert any("the parameter param_file_folder allows another" in line.msg for line in log)
    before = outside.read_bytes()
    for name in (str(outside), "../other.yaml", "link.yaml", "up/other.yaml", "../new.yaml", "notes.txt", ".bashrc"):
        assert not g.call("param_save_to_file", ParamFile, filename=name).success
    assert not g.call("param_save_to_file", ParamFile, filename=str(vehicle("multirotor").firmware_file)).success
    assert outside.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["link.yaml", "mine.yaml", "up"]
    assert {path.name for path in folder.parent.iterdir()} <= {"own", "other.yaml", "board.yaml"}


def test_saved_parameters_survive_node_restart(filing: Any, folder: Path) -> None:
    g, storage = filing, folder.with_name("board.yaml")
    g.set_firmware(RC_MAX_ROLL=0.25)
    assert g.call("param_write").message == f"saved to {storage}"
    # A call that is under way would fail in the node that is removed.
    g.spin_until(lambda: not g.node("forces_and_moments").awaited_services(), "all firmware parameters")
    g.remove(g.node("sil_board"))
    again = g.add("sil_board", namespace="")
    g.executor.add_node(again)
    assert g.firmware("RC_MAX_ROLL") == 0.25


def test_autopilot_starts_once_and_not_while_disarmed(graph: MakeGraph) -> None:
    g = graph(executables=["autopilot"])
    phases = g.collect_messages("autopilot/phase", String, LATCHED)
    g.ready()
    uncalibrated = g.call("autopilot/start")
    assert not uncalibrated.success
    assert uncalibrated.message == (
        "the vehicle is disarmed: the IMU is not calibrated; before autopilot/start, call calibrate_imu, then "
        "toggle_arm"
    )
    g.calibrate()
    disarmed = g.call("autopilot/start")
    assert not disarmed.success
    assert disarmed.message == "the vehicle is disarmed; before autopilot/start, call toggle_arm"
    assert [one.data for one in phases] == ["wait"]
    assert g.call("toggle_arm").success
    g.spin_until(lambda: g.status.armed, "armed")
    answer = g.call("autopilot/start")
    assert answer.success
    assert answer.message == (
        "taking off, about 52 s to fly; waiting for control, which the transmitter has until toggle_override is called"
    )
    g.call("toggle_override")
    again = g.call("autopilot/start")
    assert not again.success
    assert "under way" in again.message
    g.spin_until(lambda: g.truth.pose.position.z < -1.0, "a height of 1 m")
    assert phases[0].data == "wait"
    assert phases[-1].data == "take-off" or len(phases) > 1
