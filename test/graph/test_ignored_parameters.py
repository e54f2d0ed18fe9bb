"""Dynamics warns of wind parameters without effect, at the start and at a change while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import Log

RANDOM = "parameter 'steady_state_wind' is ignored, because parameter 'use_random_wind' is true"


def test_wind_that_has_no_effect_is_warned_of_when_it_is_given(graph: Callable[..., Any]) -> None:
    made = graph("-p", "sim_has_wind:=true")
    (dynamics,) = [node for node in made.nodes if node.get_name() == "dynamics"]
    assert not list(dynamics.ignored_parameters())
    shown = made.collect_messages("/rosout", Log, 100)
    made.set_parameter("dynamics", "steady_state_wind", [0.0, 4.0, 0.0])
    (text,) = dynamics.ignored_parameters()
    assert text.startswith(RANDOM)
    made.spin_until(lambda: any(message.msg.startswith(RANDOM) for message in shown), "the warning")
    made.set_parameter("dynamics", "use_random_wind", False)
    assert not list(dynamics.ignored_parameters())


def test_wind_of_parameters_at_the_start_is_warned_of(graph: Callable[..., Any]) -> None:
    made = graph("-p", "sim_has_wind:=true", "-p", "steady_state_wind:=[0.0, 4.0, 0.0]")
    (dynamics,) = [node for node in made.nodes if node.get_name() == "dynamics"]
    (text,) = dynamics.ignored_parameters()
    assert text.startswith(RANDOM)
