"""Checks of a typed line before it is sent."""

from __future__ import annotations

import pytest

from rosflight_py_sim.commands.uthere_terminal.line_check import check_line


@pytest.mark.parametrize(
    "line",
    ["request_plane_list", " fly(plane=1,roll=-15,pitch=10.3,throttle=65) ", "data_pause; data_resume", "FLY_DISENAGE"],
)
def test_commands_are_sent_as_typed(line: str) -> None:
    checked = check_line(line)
    assert (checked.packet, checked.complaint) == (line.strip(), "")


@pytest.mark.parametrize("line", ["", "   ", "// nothing but a remark", "!", " ! "])
def test_empty_line_sends_nothing(line: str) -> None:
    assert (check_line(line).packet, check_line(line).complaint) == ("", "")


def test_one_error_blocks_the_whole_line_and_is_pointed_at() -> None:
    checked = check_line("fly_engage(plane=1); fly(plane=1,roll=much,pitch=1,throttle=2)")
    assert checked.packet == ""
    above, below = checked.complaint.splitlines()
    assert above[below.index("^") :].startswith("much")
    assert "column 39" in below and "'much' given" in below


def test_all_errors_in_a_line_are_reported() -> None:
    assert check_line("fligh(); fly_to_waypoint(x)").complaint.count("^ column") == 2


def test_raw_lines_are_sent_without_checking() -> None:
    assert check_line(" !fly(roll=much ").packet == "fly(roll=much"


def test_lines_that_request_data_are_detected() -> None:
    assert check_line("data_request(plane=1,variable=all,interval=1)").requests_data
    assert check_line("!anything").requests_data
    assert not check_line("fly_engage(plane=1)").requests_data
