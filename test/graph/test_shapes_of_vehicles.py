"""Each vehicle of a simulation is drawn and recorded with its own shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import Marker

from rosflight_py_sim.commands.replay import appearance_of as appearance_of_recorded
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.nodes import web_viewer
from rosflight_py_sim.nodes.vehicle_shape import vehicle_shapes
from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.recording.recorded_vehicle import recorded_vehicles
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.appearance import Appearance

MEMBERS = [
    Member(vehicle("anaconda"), "plane"),
    Member(vehicle("multirotor"), "copter", {"initial_position": [0.0, 20.0]}),
    Member(vehicle("hexarotor"), "hexa", {"initial_position": [0.0, 40.0]}),
    Member(vehicle("multirotor"), "second", {"initial_position": [0.0, 60.0]}),
]
DEEP = QoSProfile(depth=200, durability=DurabilityPolicy.TRANSIENT_LOCAL)

Make = Callable[..., Any]


def outline(shape: Appearance) -> tuple[str, list[str], float]:
    return shape.name, [part.name for part in shape.parts], pytest.approx(shape.size)


EXPECTED = {member.namespace: outline(appearance_of(member.vehicle)) for member in MEMBERS}


def test_visualizer_draws_each_vehicle_with_its_own_parts(graph: Make) -> None:
    sim = graph(vehicles=MEMBERS, executables=["visualizer"])
    meshes: list[Marker] = sim.collect_messages("/rviz/mesh", Marker, DEEP)
    parts = {member.namespace: len(appearance_of(member.vehicle).parts) for member in MEMBERS}
    sim.spin_until(lambda: len({(one.ns, one.id) for one in meshes}) == sum(parts.values()), "all parts")
    assert Counter(ns for ns, _ in {(one.ns, one.id) for one in meshes}) == parts


@pytest.mark.parametrize("order", [1, -1])
def test_web_viewer_draws_each_vehicle_with_its_own_parts(
    graph: Make, monkeypatch: pytest.MonkeyPatch, order: int
) -> None:
    drawn: dict[str, Appearance] = {}

    def shapes(*arguments: Any) -> dict[str, Appearance]:
        drawn.update(vehicle_shapes(*arguments))
        return drawn

    monkeypatch.setattr(web_viewer, "vehicle_shapes", shapes)
    graph("-p", "web_viewer.port:=0", vehicles=MEMBERS[::order], executables=["web_viewer"])
    assert {name: outline(shape) for name, shape in drawn.items()} == EXPECTED


def test_replay_draws_each_vehicle_with_its_own_parts(graph: Make, tmp_path: Path) -> None:
    path = tmp_path / "mixed.mcap"
    sim = graph(vehicles=MEMBERS, record=str(path))
    sim.ready().spin_for(0.2)
    sim.close()
    found = {one.name: one for one in recorded_vehicles(read_recording(path, lambda topic, type_name: 10**6))}
    assert {name: outline(appearance_of_recorded(one)) for name, one in found.items()} == EXPECTED
    assert {name: one.vehicle.name for name, one in found.items() if one.vehicle} == {
        member.namespace: member.vehicle.name for member in MEMBERS
    }
