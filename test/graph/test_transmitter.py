"""The rc node in the whole graph, with a joystick, with the keyboard and without input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from transforms3d.euler import quat2euler

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.nodes.rc import Rc
from rosflight_py_sim.step.topics import RC
from rosflight_py_sim.transmitter import joystick as joystick_module

Make = Callable[..., Any]

# Axes of a transmitter that sends its channels in order.
ROLL, THROTTLE, ARM, OVERRIDE, ATTITUDE_TYPE = 0, 2, 4, 5, 6

RC_LOST = 0x04


@pytest.fixture
def transmitter(virtual_joystick: Make) -> Any:
    """A TX16S switched on: throttle low, disarmed, RC in command, angle mode."""
    joystick = virtual_joystick()
    for axis, position in ((THROTTLE, -1.0), (ARM, -1.0), (OVERRIDE, 1.0), (ATTITUDE_TYPE, 1.0)):
        joystick.axis(axis, position)
    return joystick


@pytest.fixture
def plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of /dev/input; a js0 in it stands for a device that may be plugged in."""
    monkeypatch.setattr(joystick_module, "DEVICE_FOLDER", tmp_path)
    return tmp_path


@pytest.fixture
def refusal(ros_domain: int) -> Iterator[Callable[..., str]]:
    """A function that starts the rc node alone with values, and returns the text of the refusal."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)

    def refused(**values: Any) -> str:
        with pytest.raises(ParameterError) as error:
            Rc(parameter_overrides=[Parameter(name, value=value) for name, value in values.items()])
        return str(error.value)

    yield refused
    rclpy.try_shutdown()


def services(g: Any) -> set[str]:
    return {name for name, _ in g.tester.get_service_names_and_types() if name.startswith("/toggle_") and "arm" in name}


def roll(g: Any) -> float:
    q = g.truth.pose.orientation
    return float(quat2euler((q.w, q.x, q.y, q.z))[0])


def test_transmitter_arms_flies_drops_out_and_recovers(graph: Make, transmitter: Any) -> None:
    transmitter.plug_in()
    g = graph("-p", "device:=joystick").ready()
    g.calibrate()
    assert not services(g)
    transmitter.axis(ARM, 1.0)
    g.spin_until(lambda: g.status.armed, "armed")
    transmitter.axis(THROTTLE, 0.7)
    g.spin_until(lambda: g.truth.pose.position.z < -2.0, "a vehicle in the air")
    transmitter.axis(ROLL, 0.3)
    g.spin_until(lambda: roll(g) > 0.1, "a roll to the right")
    transmitter.axis(ROLL, 0.0)

    frames = g.collect_messages(RC)
    transmitter.unplug()
    g.spin_until(lambda: g.status.failsafe, "failsafe")
    assert g.status.error_code & RC_LOST
    frames.clear()
    g.spin_for(0.5)
    assert not frames
    assert g.status.armed

    transmitter.plug_in()
    g.spin_until(lambda: not g.status.failsafe, "the end of failsafe")
    assert g.status.armed
    assert not g.status.error_code & RC_LOST


def test_requested_joystick_that_is_missing_counts_as_rc_lost_until_plugged_in(
    graph: Make, transmitter: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    g = graph("-p", "device:=joystick")
    g.spin_until(lambda: g.status.error_code & RC_LOST and g.time_s > 0.5, "RC missed")
    assert not services(g)
    assert capfd.readouterr().err.count("no joystick found") == 1
    transmitter.plug_in()
    g.spin_until(lambda: not g.status.error_code & RC_LOST, "RC")


def test_plugged_in_joystick_replaces_services_permanently(graph: Make, transmitter: Any, plugged_in: Path) -> None:
    g = graph("-p", "device:=auto").ready()
    assert services(g) == {"/toggle_arm"}
    assert g.call("toggle_override").message == "override switch off"
    transmitter.plug_in()
    (plugged_in / "js0").touch()
    g.spin_until(lambda: not services(g), "no services")
    frames = g.collect_messages(RC)
    transmitter.axis(ROLL, 1.0)
    g.spin_until(lambda: frames and frames[-1].values[0] == 2000, "the stick")
    # The joystick now sets the switch that the service had moved.
    assert frames[-1].values[5] == 2000
    transmitter.unplug()
    g.spin_until(lambda: g.status.error_code & RC_LOST, "RC lost")
    assert not services(g)


def test_unknown_joystick_is_ignored_and_reported_once(
    graph: Make, virtual_joystick: Make, plugged_in: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    virtual_joystick("Sandwich Toaster", 2, 1).plug_in()
    (plugged_in / "js0").touch()
    g = graph("-p", "device:=auto")
    g.arm(calibrate=False)
    assert services(g) == {"/toggle_arm"}
    assert capfd.readouterr().err.count("joystick 'Sandwich Toaster' (2 axes, 1 buttons") == 1


def test_joystick_without_pygame_is_reported_once_and_services_stay(
    graph: Make, plugged_in: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    (plugged_in / "js0").touch()
    g = graph("-p", "device:=auto")
    g.arm(calibrate=False)
    stderr_text = capfd.readouterr().err
    assert stderr_text.count("pygame is not installed") == 1
    assert "[INFO]" in next(line for line in stderr_text.splitlines() if "pygame" in line)


def test_pygame_is_not_imported_without_a_device(command_line: Make) -> None:
    program = (
        "import sys; from rosflight_py_sim.nodes import rc; import rclpy; rclpy.init(); rc.Rc(); rclpy.shutdown(); "
        "sys.exit('pygame' in sys.modules)"
    )
    result = command_line("-c", program)
    assert result.returncode == 0, result.stderr


def test_key_press_rolls_vehicle_in_its_direction(graph: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    g = graph("-p", "use_vimfly:=true", "-p", "keyboard:=window").ready()
    assert not services(g)
    import pygame

    def key(name: str, *, down: bool = True) -> None:
        kind = pygame.KEYDOWN if down else pygame.KEYUP
        pygame.event.post(pygame.event.Event(kind, key=pygame.key.key_code(name)))

    g.calibrate()
    key("t")
    g.spin_until(lambda: g.status.armed, "armed")
    key("a")
    g.spin_until(lambda: g.truth.pose.position.z < -2.0, "a vehicle in the air")
    key("a", down=False)
    key("l")
    g.spin_until(lambda: roll(g) > 0.1, "a roll to the right")
    key("l", down=False)
    key("h")
    g.spin_until(lambda: roll(g) < -0.1, "a roll to the left")


@pytest.mark.parametrize("keyboard", ["auto", "terminal"])
def test_keyboard_without_display_and_terminal_is_rejected_naming_both(
    refusal: Callable[..., str], monkeypatch: pytest.MonkeyPatch, keyboard: str
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    with Path("/dev/null").open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        text = refusal(device="keyboard", keyboard=keyboard)
    assert "standard input is not a terminal" in text
    assert ("DISPLAY" in text) == (keyboard == "auto")


def test_requested_device_is_rejected_without_pygame(
    refusal: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    assert "'joystick' given, but pygame is not installed" in refusal(device="joystick")
    assert "no window: pygame is not installed" in refusal(device="keyboard", keyboard="window")
