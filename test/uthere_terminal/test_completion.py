"""Completions that the terminal offers."""

from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from rosflight_py_sim.commands.uthere_terminal.completion import CommandCompleter
from rosflight_py_sim.protocols.uthere.commands import CLASS_OF_NAME


def offered(text: str, completer: CommandCompleter | None = None) -> list[str]:
    """Complete lines offered when Tab is pressed after `text`."""
    found = (completer or CommandCompleter()).get_completions(Document(text), CompleteEvent())
    return [text[: len(text) + one.start_position] + one.text for one in found]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("req", ["request_plane_list", "request_client_ip_list"]),
        ("FLY_E", ["fly_engage("]),
        ("fly_t", ["fly_to(", "fly_to_waypoint("]),
        ("!fly_en", ["!fly_engage("]),
        ("data_clear; data_p", ["data_clear; data_pause"]),
        ("fly(la", ["fly(latitude="]),
        ("fly(roll=1, pi", ["fly(roll=1, pitch="]),
        ("data_request(plane=1,variable=cage_t", ["data_request(plane=1,variable=cage_triggered"]),
        ("data_remove(variable=lo", ["data_remove(variable=longitude"]),
        ("nonsense(", []),
        ("fly(roll=", []),
        ("fly(roll=1) ", []),
        ("fly_to_waypoint(1", []),
        ("xyz", []),
    ],
)
def test_tab_offers_expected_completions(text: str, lines: list[str]) -> None:
    assert offered(text) == lines


def test_every_command_is_offered_at_start_of_line() -> None:
    assert [line.rstrip("(") for line in offered("")] == list(CLASS_OF_NAME)


def test_parameter_already_present_is_not_offered_again() -> None:
    assert "fly(roll=1,roll=" not in offered("fly(roll=1,")
    assert "fly(roll=1,throttle=" in offered("fly(roll=1,")


def test_planes_and_variables_are_learnt_from_valid_replies_only() -> None:
    completer = CommandCompleter()
    assert offered("fly_engage(plane=", completer) == []
    completer.learn("plane_list(12345, 102)")
    completer.learn("data_all(1208472993.743, plane=7, wing_colour=3)")
    completer.learn("data(not, a packet")
    completer.learn("\\xff\\xfe")
    assert offered("fly_engage(plane=", completer) == [f"fly_engage(plane={plane}" for plane in (7, 102, 12345)]
    assert offered("data_request(variable=wing", completer) == ["data_request(variable=wing_colour"]


def test_flood_of_names_does_not_exhaust_memory() -> None:
    completer = CommandCompleter()
    for k in range(5000):
        completer.learn(f"data(1.0, plane={k}, name_{k}=1)")
    # Initially known names, and names learnt up to the limit.
    assert len(offered("data_request(variable=", completer)) < 1100
