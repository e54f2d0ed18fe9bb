"""The keyboard's window, with SDL's dummy video driver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rosflight_py_sim.transmitter import opening
from rosflight_py_sim.transmitter.channels import ARM, LOW, ROLL, THROTTLE, frame_at_rest
from rosflight_py_sim.transmitter.joystick import JoystickTransmitter
from rosflight_py_sim.transmitter.mapping import all_mappings
from rosflight_py_sim.transmitter.opening import NoKeyboardError, open_keyboard
from rosflight_py_sim.transmitter.sdl import NoDisplayError
from rosflight_py_sim.transmitter.window import KeyboardWindow, WindowIsTakenError


@pytest.fixture
def window(log: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyboardWindow]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window = KeyboardWindow("vimfly", log)
    yield window
    window.close()


def post(kind: str, **fields: Any) -> None:
    import pygame

    pygame.event.post(pygame.event.Event(getattr(pygame, kind), **fields))


def key(name: str, *, down: bool = True) -> None:
    import pygame

    post("KEYDOWN" if down else "KEYUP", key=pygame.key.key_code(name))


def picture() -> bytes:
    import pygame

    return bytes(pygame.image.tobytes(pygame.display.get_surface(), "RGB"))


def test_sticks_move_while_keys_are_held(window: KeyboardWindow) -> None:
    window.poll(0.0)
    assert window.frame == frame_at_rest()
    key("l")
    key("t")
    window.poll(0.1)
    window.poll(0.6)
    assert window.frame is not None
    assert (window.frame[ROLL], window.frame[ARM]) == (2000, 2000)
    key("l", down=False)
    key("t", down=False)
    window.poll(0.7)
    window.poll(1.0)
    assert (window.frame[ROLL], window.frame[ARM]) == (1500, 2000)


def test_arrow_keys_equal_letter_keys(window: KeyboardWindow) -> None:
    key("left")
    window.poll(0.0)
    window.poll(1.0)
    assert window.frame is not None and window.frame[ROLL] == LOW


def test_repeated_key_down_moves_switch_once(window: KeyboardWindow) -> None:
    for _ in range(3):
        key("t")
        window.poll(0.0)
    assert window.frame is not None and window.frame[ARM] == 2000


def test_focus_loss_releases_keys_and_keeps_sending(window: KeyboardWindow) -> None:
    key("l")
    key("a")
    window.poll(0.0)
    window.poll(1.0)
    post("WINDOWFOCUSLOST")
    window.poll(1.0)
    window.poll(2.0)
    assert window.frame is not None
    assert window.frame[ROLL] == 1500
    assert window.frame[THROTTLE] == 1500


def test_closing_the_window_switches_transmitter_off(window: KeyboardWindow, log: Any) -> None:
    post("QUIT")
    window.poll(0.0)
    window.poll(0.1)
    assert window.frame is None
    assert window.is_present
    assert len(log.warnings) == 1 and "closed" in log.warnings[0]


def test_window_shows_sticks_switches_and_keys(window: KeyboardWindow) -> None:
    pictures = [picture()]
    for now_s, name in enumerate(("l", "t", "a"), 1):
        key(name)
        window.poll(float(now_s))
        window.poll(now_s + 0.5)
        pictures.append(picture())
    assert len(set(pictures)) == 4


def test_second_window_in_the_same_process_is_rejected(
    window: KeyboardWindow, log: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(WindowIsTakenError, match="already"):
        KeyboardWindow("wasd", log)
    window.poll(0.0)
    assert window.frame == frame_at_rest()
    assert picture()
    for kind in ("window", "auto"):
        monkeypatch.setenv("DISPLAY", ":987")
        monkeypatch.setattr(opening, "BLIND_DRIVERS", ())
        with pytest.raises(NoKeyboardError, match="already"):
            open_keyboard(kind, "vimfly", log)


def test_joystick_stays_active_after_the_window_is_closed(
    window: KeyboardWindow, log: Any, virtual_joystick: Any
) -> None:
    joystick = virtual_joystick()
    joystick.plug_in()
    transmitter = JoystickTransmitter(all_mappings(None), log)
    window.close()
    joystick.axis(0, 1.0)
    transmitter.poll(0.0)
    assert transmitter.frame is not None and transmitter.frame[ROLL] == 2000
    transmitter.close()


def test_missing_display_is_named_in_the_error(log: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "x11")
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(NoDisplayError, match="x11"):
        KeyboardWindow("vimfly", log)
