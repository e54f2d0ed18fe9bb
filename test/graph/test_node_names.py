"""A simulation whose nodes have the names of ROSflight's launch files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.ground.node_kinds import NODE_CLASSES, NODE_KINDS, NodeKind
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.nodes.node_names import NAMES, ROSFLIGHT_NAMES, node_name
from rosflight_py_sim.nodes.page_services import PageServices
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.web.disturbance import DISTURBED

# rosflight_sim/simulators/standalone_sim/launch of rosflight_ros_pkgs.
ROSFLIGHTS = {
    "standalone_sensors",
    "multirotor_forces_and_moments",
    "standalone_dynamics",
    "standalone_time_manager",
    "sil_board",
}


def parameter_of(graph: Any, node: str, name: str) -> Any:
    return graph.call(f"{node}/get_parameters", GetParameters, names=[name]).values[0]


def test_graph_with_rosflight_names_keeps_its_services(undisturbed_graph: Callable[..., Any]) -> None:
    running = undisturbed_graph(names="rosflight", multiplier=1.0).ready()
    assert {node.get_name() for node in running.nodes} >= ROSFLIGHTS | {"rc"}
    assert parameter_of(running, "standalone_dynamics", "mass").double_value == 3.5
    assert running.call("dynamics/reset").success
    running.pause()
    running.step()
    assert running.call("time_manager/toggle_pause").success


def test_service_of_renamed_node_is_found_by_its_known_name(undisturbed_graph: Callable[..., Any]) -> None:
    from rosflight_py_sim.nodes.web_viewer import known_names

    running = undisturbed_graph(names="rosflight", multiplier=1.0).ready()
    answers: list[tuple[str, str, bool]] = []
    calls = PageServices(running.tester, lambda *answer: answers.append(answer), known_names())
    wanted = "time_manager/set_parameters"
    running.spin_until(lambda: wanted in calls.discover(lambda name: name == wanted), "the service")
    running.idle(0.5)
    calls.run("set", calls.set_parameters("time_manager", {"step_count": 7}))
    running.spin_until(
        lambda: answers or parameter_of(running, "standalone_time_manager", "step_count").integer_value == 7
    )
    assert answers == []


def test_page_finds_the_services_of_renamed_nodes_of_each_vehicle(graph: Callable[..., Any]) -> None:
    from rosflight_py_sim.nodes.web_viewer import WebViewer

    members = fleet(vehicle("multirotor"), count=2, spacing=30.0, seed=5)
    running = graph(vehicles=members, names="rosflight", multiplier=1.0).ready()
    viewer = WebViewer(parameter_overrides=[Parameter("web_viewer.port", value=0)])
    running.include(viewer)
    nodes = [f"{member.namespace}/{node}" for member in members for node in DISTURBED]
    wanted = {f"{node}/set_parameters" for node in (*nodes, "time_manager")}
    running.spin_until(lambda: wanted <= viewer.calls.discover(wanted.__contains__), "the services")


# A parameter and its value for each name under which a file may address the dynamics.
SECTIONS = {"/**/dynamics": ("mass", 2.5), "dynamics": ("Jxx", 0.25), "/standalone_dynamics": ("Jyy", 0.35)}


@pytest.fixture(scope="module")
def file_with_sections(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("files") / "sections.yaml"
    file.write_text(
        "".join(f"{name}:\n  ros__parameters: {{{key}: {value}}}\n" for name, (key, value) in SECTIONS.items())
    )
    return str(file)


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("names", NAMES)
def test_parameter_file_sections_apply_under_either_name(
    undisturbed_graph: Callable[..., Any], file_with_sections: str, names: str, section: str
) -> None:
    running = undisturbed_graph(files=[file_with_sections], names=names)
    parameter, value = SECTIONS[section]
    assert running.values_of("dynamics")[parameter] == value


def test_misspelt_parameter_in_short_name_section_is_rejected_with_rosflight_names(
    graph: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "mass.yaml"
    file.write_text("/**/dynamics:\n  ros__parameters: {masss: 2.5}\n")
    with pytest.raises(ParameterError, match=r"no parameter 'masss'; did you mean 'mass'"):
        graph(files=[str(file)], names="rosflight")


def test_parameter_files_may_use_rosflight_names() -> None:
    # ROSflight's files must find each node of this package that replaces one of ROSflight's.
    for executable in NODE_CLASSES:
        cls = node_class(executable)
        if cls.DEFAULT_NAME in ROSFLIGHT_NAMES:
            assert node_name(cls.DEFAULT_NAME, executable, "rosflight") in cls.ALIASES, executable


# Kinds of nodes without a base class.
ALONE = (NodeKind.FURTHER, NodeKind.OBSERVER)


@pytest.mark.parametrize("executable", NODE_CLASSES)
def test_kind_of_a_node_is_that_of_its_class(executable: str) -> None:
    kind = NODE_KINDS[executable]
    # The bridge is a flight controller only with some front-ends.
    given = kind if kind not in ALONE and executable != "bridge" else None
    assert getattr(node_class(executable), "KIND", None) is given


@pytest.mark.parametrize("time_mode", ["paced", "gated", "lockstep"])
@pytest.mark.parametrize("names", NAMES)
def test_rosflight_time_manager_section_applies_in_every_time_mode(
    graph: Callable[..., Any], tmp_path: Path, names: str, time_mode: str
) -> None:
    file = tmp_path / "time.yaml"
    given = "{real_time_multiplier: 0.5, default_pub_rate_us: 5000.0, step_count: 3}"
    file.write_text(f"/standalone_time_manager:\n  ros__parameters: {given}\n")
    running = graph(files=[str(file)], names=names, time_mode=time_mode, multiplier=1.0)
    assert running.values_of("time_manager")["step_count"] == 3
    assert running.values_of("time_manager").get("default_pub_rate_us", 5000.0) == 5000.0


def test_unknown_parameter_in_rosflight_section_is_rejected(graph: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "time.yaml"
    file.write_text("/standalone_time_manager:\n  ros__parameters: {default_pub_rate_ms: 5.0}\n")
    with pytest.raises(ParameterError, match=r"no parameter 'default_pub_rate_ms'"):
        graph(files=[str(file)], names="rosflight")


def test_unknown_naming_scheme_is_rejected() -> None:
    with pytest.raises(ParameterError, match=r"'long' given; allowed: short, rosflight"):
        node_name("dynamics", "standalone_dynamics", "long")
