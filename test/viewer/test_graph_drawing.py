"""The node graph as data and as a picture: every node and topic is in it, nothing overlaps, and it is sound XML."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest

from rosflight_py_sim.viewer.graph_drawing import draw
from rosflight_py_sim.viewer.graph_layout import layout
from rosflight_py_sim.viewer.graph_model import GraphModel, Health, NodeEntry, Report, TopicEntry, graph_model

SVG = "{http://www.w3.org/2000/svg}"


def chain() -> GraphModel:
    """A clock, a loop of three nodes, one who hears itself and one whom nobody knows."""
    nodes = [
        NodeEntry("/time_manager", Report(Health.OK, "1.00 x real time"), said={"/clock": 400.0}),
        NodeEntry("/a/sensors", Report(Health.WARN, 'no "truth" <so far> & nothing else'), heard={"/clock": 400.0}),
        NodeEntry("/a/dynamics", subjects={"battery": Report(Health.ERROR, "3% full")}),
        NodeEntry("/foreign"),
        NodeEntry("/echo"),
    ]
    topics = [
        TopicEntry("/clock", "rosgraph_msgs/msg/Clock", ("/time_manager",), ("/a/sensors", "/echo")),
        TopicEntry("/a/sim/sensors/imu/data", "sensor_msgs/msg/Imu", ("/a/sensors",), ("/a/dynamics",)),
        TopicEntry(
            "/a/sim/truth_state", "rosflight_msgs/msg/SimState", ("/a/dynamics",), ("/a/sensors", "/time_manager")
        ),
        TopicEntry("/echoed", "std_msgs/msg/String", ("/echo",), ("/echo",)),
        TopicEntry("/rosout", "rcl_interfaces/msg/Log", ("/echo",), ()),
    ]
    return graph_model(nodes, topics)


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_picture_is_sound_xml_with_every_node_and_topic() -> None:
    model = chain()
    shown = texts(draw(model))
    for name in [*(node.name for node in model.nodes), *(topic.name for topic in model.topics)]:
        assert name in shown
    assert "400 Hz" in shown
    assert "/rosout" not in shown


def test_picture_tells_how_each_node_is() -> None:
    groups = {
        group.attrib["data-name"]: (group.attrib["data-health"], group.findtext(f"{SVG}title"))
        for group in ElementTree.fromstring(draw(chain())).iter(f"{SVG}g")
        if "data-name" in group.attrib
    }
    assert groups["/a/sensors"] == ("WARN", '/a/sensors: no "truth" <so far> & nothing else')
    assert groups["/a/dynamics"] == ("ERROR", "/a/dynamics: battery: 3% full")
    assert groups["/foreign"] == ("UNKNOWN", "/foreign")


def test_picture_loads_nothing_from_outside() -> None:
    root = ElementTree.fromstring(draw(chain()))
    for element in root.iter():
        assert element.tag.removeprefix(SVG) not in ("script", "image", "use", "style")
        assert not any("href" in key or "http" in value for key, value in element.attrib.items())


def test_picture_of_nothing_is_sound_too() -> None:
    assert texts(draw(GraphModel((), ()))) == []
    assert texts(draw(graph_model([NodeEntry("/alone")], []))) == ["/alone"]


def test_model_tells_whether_all_is_well() -> None:
    assert not chain().well
    assert graph_model([NodeEntry("/a", Report(Health.OK, "")), NodeEntry("/b")], []).well


def test_rate_is_what_the_publishers_say_or_else_what_a_listener_hears() -> None:
    topic = TopicEntry("/t", "T", ("/a", "/b"), ("/c", "/d"))
    a, b = NodeEntry("/a", said={"/t": 10.0}), NodeEntry("/b", said={"/t": 5.0})
    c, d = NodeEntry("/c", heard={"/t": 14.0}), NodeEntry("/d")
    assert graph_model([a, b, c, d], [topic]).topics[0].rate_hz == 15.0
    assert graph_model([a, NodeEntry("/b"), c, d], [topic]).topics[0].rate_hz == 14.0
    assert graph_model([a, NodeEntry("/b"), d], [topic]).topics[0].rate_hz is None


def test_data_can_be_written_as_json() -> None:
    import json

    data = json.loads(json.dumps(chain().as_data()))
    assert [node["health"] for node in data["nodes"]] == ["ERROR", "WARN", "UNKNOWN", "UNKNOWN", "OK"]
    assert data["well"] is False


@pytest.mark.parametrize("seed", range(8))
def test_boxes_of_any_graph_are_apart_and_lines_go_from_box_to_box(seed: int) -> None:
    draw_of = random.Random(seed)
    count = draw_of.randint(2, 25)
    sizes = [(draw_of.uniform(20, 300), draw_of.uniform(20, 150)) for _ in range(count)]
    edges = [(a, b) for a in range(count) for b in range(count) if a != b and draw_of.random() < 0.1]
    placed = layout(sizes, edges)
    for i, j in combinations(range(count), 2):
        (xi, yi), (xj, yj) = placed.centres[i], placed.centres[j]
        apart_x = abs(xi - xj) - (sizes[i][0] + sizes[j][0]) / 2
        apart_y = abs(yi - yj) - (sizes[i][1] + sizes[j][1]) / 2
        assert max(apart_x, apart_y) > 5.0
    for (a, b), route in zip(edges, placed.routes, strict=True):
        for box, (x, y) in ((a, route[0]), (b, route[-1])):
            assert abs(x - placed.centres[box][0]) <= sizes[box][0] / 2
            # At its lower or upper side.
            assert abs(y - placed.centres[box][1]) == pytest.approx(sizes[box][1] / 2)
        for above, below in zip(route[::2], route[1::2], strict=True):
            assert above[0] == pytest.approx(below[0])
    assert all(0.0 <= x <= placed.width and 0.0 <= y <= placed.height for x, y in placed.centres)
