"""Sections of parameter files whose names misspell that of a node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.graph.plan import planned_nodes
from rosflight_py_sim.graph.section_names import check_section_names
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.vehicles import vehicle

MULTIROTOR = vehicle("multirotor")


def check(file: Path, text: str, members: list[Member]) -> None:
    file.write_text(text)
    check_section_names([str(file)], planned_nodes(members, ["lockstep_time_manager"]))


@pytest.mark.parametrize(
    ("section", "near"),
    [
        ("dynmics", "dynamics"),
        ("/dynamic", "dynamics"),
        ("/**/sensor", "sensors"),
        ("/standalone_dynamic", "standalone_dynamics"),
        ("/multirotor_1/sil_bord", "sil_board"),
        ("time_manger", "time_manager"),
        # A node that the simulation does not have at present.
        ("web_viewr", "web_viewer"),
    ],
)
def test_misspelt_section_is_refused_with_file_line_and_similar_name(tmp_path: Path, section: str, near: str) -> None:
    file = tmp_path / "given.yaml"
    text = f"# comment\n/**: {{ros__parameters: {{seed: 3}}}}\n{section}:\n  ros__parameters: {{mass: 3.0}}\n"
    with pytest.raises(ParameterError) as error:
        check(file, text, [Member(MULTIROTOR)])
    assert str(error.value) == (
        f"{file}, line 3: section '{section}' given, but no node has this name; did you mean '{near}'?"
    )


@pytest.mark.parametrize(
    "section", ["dynamics", "/standalone_dynamics", "/**", "/multirotor_2/sensors", "/rosplane_io"]
)
def test_section_of_a_node_or_of_another_package_is_accepted(tmp_path: Path, section: str) -> None:
    members = fleet(MULTIROTOR, count=2, seed=0)
    check(tmp_path / "given.yaml", f"{section}:\n  ros__parameters: {{mass: 3.0}}\n", members)


def test_simulation_does_not_start_with_a_misspelt_section(graph: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "given.yaml"
    file.write_text("dynmics:\n  ros__parameters: {mass: 3.0}\n")
    for options in ({"files": [str(file)]}, {}):
        arguments = () if options else ("--ros-args", "--params-file", str(file))
        with pytest.raises(ParameterError, match=r"given\.yaml, line 1: section 'dynmics' given"):
            graph(*arguments, **options)
