"""The node graph as data, DOT, Mermaid and a picture: every node, topic and line is present, and the XML is valid."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.viewer.graph_drawing import dot_text, draw, mermaid_text
from rosflight_py_sim.viewer.graph_model import GraphModel, Health, NodeEntry, Report, TopicEntry, graph_model

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"


def chain() -> GraphModel:
    """A clock, a loop of three nodes, a node that subscribes to its own topic, and a foreign node without topics."""
    nodes = [
        NodeEntry("/time_manager", Report(Health.OK, "1.00 x real time"), published_hz={"/clock": 400.0}),
        NodeEntry(
            "/a/sensors", Report(Health.WARN, 'no "truth" <so far> & nothing else'), received_hz={"/clock": 400.0}
        ),
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


def test_drawing_is_valid_xml_with_every_node_and_topic() -> None:
    model = chain()
    shown = texts(draw(model))
    for name in [*(node.name for node in model.nodes), *(topic.name for topic in model.topics)]:
        assert name in shown
    assert "400 Hz" in shown
    assert "/rosout" not in shown


def titles(picture: str) -> dict[str, str]:
    """Title and tooltip of each node, topic box and line."""
    groups = [group for group in ElementTree.fromstring(picture).iter(f"{SVG}g") if group.get("class") != "graph"]
    links = ((group.findtext(f"{SVG}title", ""), next(group.iter(f"{SVG}a"), None)) for group in groups)
    return {title: "" if link is None else link.get(f"{XLINK}title", "") for title, link in links if title}


def test_drawing_shows_health_of_each_node() -> None:
    shown = titles(draw(chain()))
    assert shown["/a/sensors"] == '/a/sensors: no "truth" <so far> & nothing else'
    assert shown["/a/dynamics"] == "/a/dynamics: battery: 3% full"
    assert shown["/foreign"] == "/foreign"
    boxes = {line.split('"')[1]: line for line in dot_text(chain()).splitlines() if "fillcolor" in line}
    assert "#cf222e" in boxes["/a/dynamics"] and "#1a7f37" in boxes["/time_manager"]


def test_drawing_has_an_edge_for_each_publisher_and_subscriber() -> None:
    lines = {title for title in titles(draw(chain())) if "->" in title}
    assert lines == {
        "/time_manager->/clock",
        "/clock->/a/sensors",
        "/clock->/echo",
        "/a/sensors->/a/sim/sensors/imu/data",
        "/a/sim/sensors/imu/data->/a/dynamics",
        "/a/dynamics->/a/sim/truth_state",
        "/a/sim/truth_state->/a/sensors",
        "/a/sim/truth_state->/time_manager",
        "/echo->/echoed",
        "/echoed->/echo",
    }


def test_mermaid_text_has_the_same_nodes_and_edges_as_dot() -> None:
    text = mermaid_text(chain())
    boxes = re.findall(r'^  (\w+)[(\[]"(/\w[\w/]*)(?: \d+&nbsp;Hz)?"[)\]]:::(\w+)$', text, re.MULTILINE)
    names = {identifier: name for identifier, name, _ in boxes}
    assert sorted(names.values()) == sorted(re.findall(r'^  "([^"]+)" \[', dot_text(chain()), re.MULTILINE))
    assert {name: kind for _, name, kind in boxes if name in ("/a/sensors", "/foreign", "/clock", "/echoed")} == {
        "/a/sensors": "WARN",
        "/foreign": "UNKNOWN",
        "/clock": "step",
        "/echoed": "topics",
    }
    lines = re.findall(r"^  (\w+) (==>|-->) (\w+)$", text, re.MULTILINE)
    drawn = re.findall(r'^  "([^"]+)" -> "([^"]+)"( .*)?$', dot_text(chain()), re.MULTILINE)
    assert [(names[start], names[end], kind == "==>") for start, kind, end in lines] == [
        (start, end, bool(bold)) for start, end, bold in drawn
    ]
    classes = len(re.findall(r"^  classDef ", text, re.MULTILINE))
    assert len(text.splitlines()) == 1 + len(boxes) + len(lines) + classes


def test_mermaid_text_lists_every_topic_of_a_box() -> None:
    topics = [TopicEntry(name, "T", ("/a",), ()) for name in ("/b", "/c/d")]
    model = graph_model([NodeEntry("/a", published_hz={"/b": 20.0})], topics)
    assert '  topic_b["/b 20&nbsp;Hz<br>/c/d"]:::topics' in mermaid_text(model).splitlines()


def test_mermaid_identifiers_of_similar_names_are_distinct() -> None:
    model = graph_model([NodeEntry(name) for name in ("/a_b", "/a/b")], [TopicEntry("/a/b/c", "T", ("/a_b",), ())])
    assert len(set(re.findall(r"^  (\w+)[(\[]", mermaid_text(model), re.MULTILINE))) == 3


def test_topics_with_the_same_endpoints_share_a_two_column_box() -> None:
    topics = [TopicEntry(f"/t{number:02d}", "T", ("/a",), ()) for number in range(40)]
    shown = texts(draw(graph_model([NodeEntry("/a")], topics)))
    assert shown == [
        "/a",
        *(name for row in range(11) for name in (f"/t{row:02d}", f"/t{row + 12:02d}")),
        "/t11",
        "and 17 more",
    ]


def test_drawing_prints_nothing() -> None:
    program = (
        "from rosflight_py_sim.viewer.graph_drawing import draw\n"
        "from rosflight_py_sim.viewer.graph_model import NodeEntry, graph_model\n"
        "draw(graph_model([NodeEntry('/a')], []))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


def test_drawing_without_pygraphviz_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(ParameterError, match=r"needs pygraphviz .*: pip install 'rosflight_py_sim\[graph\]'"):
        draw(chain())


def test_drawing_loads_no_external_resources() -> None:
    root = ElementTree.fromstring(draw(chain()))
    for element in root.iter():
        assert element.tag.removeprefix(SVG) not in ("script", "image", "use", "style")
        assert not any("href" in key or "http" in value for key, value in element.attrib.items())


def test_drawing_of_empty_graph_is_valid() -> None:
    assert texts(draw(GraphModel((), ()))) == []
    assert texts(draw(graph_model([NodeEntry("/alone")], []))) == ["/alone"]


def test_model_reports_overall_health() -> None:
    assert not chain().well
    assert graph_model([NodeEntry("/a", Report(Health.OK, "")), NodeEntry("/b")], []).well


def test_rate_is_reported_by_publishers_or_else_measured_by_a_subscriber() -> None:
    topic = TopicEntry("/t", "T", ("/a", "/b"), ("/c", "/d"))
    a, b = NodeEntry("/a", published_hz={"/t": 10.0}), NodeEntry("/b", published_hz={"/t": 5.0})
    c, d = NodeEntry("/c", received_hz={"/t": 14.0}), NodeEntry("/d")
    assert graph_model([a, b, c, d], [topic]).topics[0].rate_hz == 15.0
    assert graph_model([a, NodeEntry("/b"), c, d], [topic]).topics[0].rate_hz == 14.0
    assert graph_model([a, NodeEntry("/b"), d], [topic]).topics[0].rate_hz is None


def test_graph_data_serialises_to_json() -> None:
    import json

    data = json.loads(json.dumps(chain().as_data()))
    assert [node["health"] for node in data["nodes"]] == ["ERROR", "WARN", "UNKNOWN", "UNKNOWN", "OK"]
    assert data["well"] is False
