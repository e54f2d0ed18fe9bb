"""RViz's configuration matches the topics of the visualizer and the other nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.graph.rviz import CONFIG, config_file, require_rviz
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.vehicles import vehicle

MakeGraph = Callable[..., Any]

# Types to which the plug-ins of rviz_default_plugins subscribe.
TYPES = {
    "Marker": "visualization_msgs/msg/Marker",
    "MarkerArray": "visualization_msgs/msg/MarkerArray",
    "Path": "nav_msgs/msg/Path",
    "Image": "sensor_msgs/msg/Image",
}
PLUGINS = {*TYPES, "Grid", "TF", "Interact", "MoveCamera", "FocusCamera", "Measure", "Orbit"}


def displays(config: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = config["Visualization Manager"]["Displays"]
    return found


def own() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    return loaded


def classes(node: Any) -> set[str]:
    """All plug-ins named in the configuration."""
    if isinstance(node, dict):
        inner = set().union(*map(classes, node.values())) if node else set()
        return inner | ({node["Class"]} if node.get("Class") else set())
    return set().union(*map(classes, node)) if isinstance(node, list) and node else set()


def test_configuration_uses_existing_plugins_and_rep_105_frames() -> None:
    config = own()
    assert {name for name in classes(config) if name.startswith("rviz_default_plugins/")} <= {
        f"rviz_default_plugins/{name}" for name in PLUGINS
    }
    options = config["Visualization Manager"]["Global Options"]
    assert options["Fixed Frame"] == "map"
    assert config["Visualization Manager"]["Views"]["Current"]["Target Frame"] == "base_link"
    names = [one["Name"] for one in displays(config)]
    assert len(set(names)) == len(names)


def test_every_display_matches_topic_type_and_durability(graph: MakeGraph) -> None:
    member = Member(vehicle("multirotor").carrying("camera", True))
    sim = graph("-p", "image_width:=32", "-p", "image_height:=24", vehicles=[member], executables=["visualizer"])
    published = dict(sim.tester.get_topic_names_and_types())
    checked = 0
    for display in displays(own()):
        if "Topic" not in display:
            continue
        topic = display["Topic"]
        if topic["Value"] == "/autopilot/path":
            continue  # exists from the first path on
        assert published[topic["Value"]] == [TYPES[display["Class"].rpartition("/")[2]]], display["Name"]
        for end in sim.tester.get_publishers_info_by_topic(topic["Value"]):
            if topic["Durability Policy"] == "Transient Local":
                assert end.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            assert end.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        checked += 1
    assert checked == 6


def test_configuration_is_adapted_to_namespaces_and_cameras() -> None:
    assert config_file("", "", has_cameras=False) == CONFIG
    file = config_file("/lake", "auv_1", has_cameras=True)
    try:
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
    finally:
        file.unlink()
    topics = {one["Name"]: one["Topic"]["Value"] for one in displays(config) if "Topic" in one}
    assert topics["Vehicles"] == "/lake/rviz/mesh"
    assert topics["Front camera"] == "/lake/auv_1/camera/front/image_raw"
    assert topics["Planned path"] == "/lake/auv_1/autopilot/path"
    assert all(one["Enabled"] and one["Value"] for one in displays(config))
    assert config["Visualization Manager"]["Views"]["Current"]["Target Frame"] == "lake/auv_1/base_link"
    frames = next(one["Frames"] for one in displays(config) if one["Name"] == "Frames")
    assert set(frames) == {"All Enabled", "map", "lake/auv_1/base_link"}


def test_adapted_configuration_uses_the_fleet_topics(graph: MakeGraph) -> None:
    members = fleet(vehicle("multirotor"), count=2, seed=1)
    sim = graph(vehicles=members, namespace="sky", executables=["visualizer"])
    assert any(isinstance(node, SimulationNode) for node in sim.nodes)
    file = config_file("sky", members[0].namespace, has_cameras=False)
    try:
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
    finally:
        file.unlink()
    published = {name for name, _ in sim.tester.get_topic_names_and_types()}
    shown = {one["Topic"]["Value"] for one in displays(config) if one["Class"].rpartition("/")[2].startswith("Marker")}
    assert len(shown) == 4
    assert shown <= published


def test_missing_rviz_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere")
    with pytest.raises(ParameterError, match="'rviz': 'true' given, but rviz2 is not installed") as caught:
        require_rviz()
    assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "ament_index_python.packages", None)
    with pytest.raises(ParameterError, match="rviz2 is not installed"):
        require_rviz()
