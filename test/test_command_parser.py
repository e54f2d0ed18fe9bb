"""Errors about the command line: what is wrong, the nearest allowed word, and the usage of the subcommand."""

from __future__ import annotations

import pytest

from rosflight_py_sim.commands.cli import command_parser

COMMANDS = [
    "sim",
    "fly",
    "sweep",
    "search",
    "baseline",
    "report",
    "replay",
    "refly",
    "identify",
    "compare",
    "trim",
    "gains",
    "status",
    "vehicles",
    "joysticks",
    "compile",
    "hand-over",
    "prepare-firmware",
    "inject",
    "uthere-terminal",
]


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    """First and last line that a refused command line prints."""
    with pytest.raises(SystemExit) as end:
        command_parser().parse_args(words)
    assert end.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    return lines[0], lines[-1]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["sim", "--durtion", "3"], "sim: error: there is no option --durtion; did you mean --duration?"),
        (["sim", "--durtion=3"], "sim: error: there is no option --durtion; did you mean --duration?"),
        (["sim", "--seeed", "1", "--x"], "sim: error: there is no option --seeed; did you mean --seed?"),
        (["fly", "--no-veiw"], "fly: error: there is no option --no-veiw; did you mean --no-view?"),
        # Also where a required argument is missing because its name is misspelt.
        (["trim", "--airspede", "15"], "trim: error: there is no option --airspede; did you mean --airspeed?"),
        (["replay", "--sped", "2"], "replay: error: there is no option --sped; did you mean --speed?"),
        (["vehicles", "--all"], "vehicles: error: there is no option --all; allowed: --help"),
        (["status", "here"], "status: error: unrecognized arguments: here"),
        (["sim", "-p", "mass:=3.0"], "sim: error: -p given before --ros-args; allowed: --ros-args -p ..."),
        (["fyl"], ": error: there is no command fyl; did you mean fly?"),
        (["land"], f": error: there is no command land; allowed: {', '.join(COMMANDS)}"),
        (["--verison"], ": error: there is no option --verison; did you mean --version?"),
    ],
)
def test_unknown_word_is_refused_with_the_nearest_allowed_one(
    capsys: pytest.CaptureFixture[str], words: list[str], text: str
) -> None:
    usage, error = refusal(capsys, *words)
    command = words[0] if words[0] in COMMANDS else ""
    assert usage.startswith(f"usage: rosflight_py_sim {command}")
    assert error == f"rosflight_py_sim{' ' if command else ''}{text}"


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_option_of_each_command_prints_its_usage(capsys: pytest.CaptureFixture[str], command: str) -> None:
    usage, error = refusal(capsys, command, "--hlep")
    assert usage.startswith(f"usage: rosflight_py_sim {command} ")
    assert error == f"rosflight_py_sim {command}: error: there is no option --hlep; did you mean --help?"


def test_abbreviated_option_and_words_after_two_dashes_are_accepted() -> None:
    assert command_parser().parse_args(["sim", "--dur", "3"]).duration == 3.0
    assert command_parser().parse_args(["inject", "--", "--hlep"]).failures == ["--hlep"]


@pytest.mark.parametrize("given", ["-3", "0", "nan", "inf", "2e9", "long"])
def test_duration_that_is_no_positive_time_is_refused(capsys: pytest.CaptureFixture[str], given: str) -> None:
    _, error = refusal(capsys, "sim", "--duration", given)
    allowed = "allowed: number, greater than 0 s and at most 1e+09 s"
    assert error == f"rosflight_py_sim sim: error: argument --duration: {given} given; {allowed}"


@pytest.mark.parametrize("given", ["-1", "nan", "inf"])
def test_time_to_listen_that_is_no_time_is_refused(capsys: pytest.CaptureFixture[str], given: str) -> None:
    _, error = refusal(capsys, "uthere-terminal", "--listen", given)
    assert error.endswith(f"argument --listen: {given} given; allowed: number, from 0 to 1e+06 s")
