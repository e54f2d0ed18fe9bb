"""What the terminal does with a typed line before anything is sent."""

from __future__ import annotations

import pytest

from rosflight_py_sim.commands.uthere_terminal.line_check import check_line


@pytest.mark.parametrize(
    "line",
    ["request_plane_list", " fly(plane=1,roll=-15,pitch=10.3,throttle=65) ", "data_pause; data_resume", "FLY_DISENAGE"],
)
def test_commands_are_sent_as_they_were_typed(line: str) -> None:
    checked = check_line(line)
    assert (checked.packet, checked.complaint) == (line.strip(), "")


@pytest.mark.parametrize("line", ["", "   ", "// nothing but a remark", "!", " ! "])
def test_nothing_is_sent_for_an_empty_line(line: str) -> None:
    assert (check_line(line).packet, check_line(line).complaint) == ("", "")


def test_one_error_keeps_the_whole_line_back_and_is_pointed_at() -> None:
    checked = check_line("fly_engage(plane=1); fly(plane=1,roll=much,pitch=1,throttle=2)")
    assert checked.packet == ""
    above, below = checked.complaint.splitlines()
    assert above[below.index("^") :].startswith("much")
    assert "column 39" in below and "'much' given" in below


def test_all_errors_of_a_line_are_told() -> None:
    assert check_line("fligh(); fly_to_waypoint(x)").complaint.count("^ column") == 2


def test_raw_lines_are_sent_whatever_they_are() -> None:
    assert check_line(" !fly(roll=much ").packet == "fly(roll=much"


def test_lines_that_have_data_sent_are_noticed() -> None:
    assert check_line("data_request(plane=1,variable=all,interval=1)").requests_data
    assert check_line("!anything").requests_data
    assert not check_line("fly_engage(plane=1)").requests_data
