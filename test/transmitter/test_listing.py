"""The command that lists joysticks."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rosflight_py_sim.commands import cli
from rosflight_py_sim.transmitter import listing


def run(*arguments: str) -> object:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit) as end:
        cli.main(["joysticks", *arguments])
    # The command normally ends the process, and ignores a second Ctrl-C: restore the handler.
    signal.signal(signal.SIGINT, before)
    return end.value.code


def test_every_joystick_is_listed_with_its_mapping(
    virtual_joystick: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    virtual_joystick().plug_in()
    virtual_joystick("Sandwich Toaster", 2, 1).plug_in()
    virtual_joystick("Microsoft X-Box 360 pad", 2, 11).plug_in()
    assert run() == 0
    tx16s, toaster, pad = capsys.readouterr().out.splitlines()
    assert tx16s == "0  OpenTX RM TX16S Joystick: 8 axes, 24 buttons; mapping 'RadioMaster TX16S'"
    assert toaster == "1  Sandwich Toaster: 2 axes, 1 buttons; no mapping"
    assert "does not fit" in pad and "axis 4" in pad


def test_missing_joystick_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--watch") == 0
    assert "no joystick" in capsys.readouterr().out


def test_watch_shows_axes_and_pressed_buttons(
    virtual_joystick: Callable[..., Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    joystick = virtual_joystick("Sandwich Toaster", 2, 3)
    joystick.axis(1, -0.5)
    joystick.button(2, pressed=True)
    joystick.plug_in()
    turns = iter([None])

    def interrupted_at_the_second_turn(seconds: float) -> None:
        if next(turns, "over") == "over":
            raise KeyboardInterrupt

    monkeypatch.setattr(listing.time, "sleep", interrupted_at_the_second_turn)
    assert run("--watch") == cli.INTERRUPTED
    assert capsys.readouterr().out.splitlines()[-1] == "0  axes  0: +0.00  1: -0.50   buttons  2"


def test_invalid_mapping_file_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text("5")
    assert run("--mapping-file", str(tmp_path / "mine.yaml")) == 1
    assert "mine.yaml" in capsys.readouterr().err
