"""docs/node_graph.md and the picture in it show the graph that really runs."""

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

PROJECT = Path(__file__).parents[2]
MEND = "run .venv/bin/python tools/draw_node_graph.py, and look at the picture"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_node_graph", PROJECT / "tools" / "draw_node_graph.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def topics(tool: ModuleType, claim_domain):
    with pytest.MonkeyPatch.context() as environment, claim_domain() as domain:
        environment.setitem(os.environ, "ROS_DOMAIN_ID", str(domain))
        environment.setitem(os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        return tool.live_topics()


def test_table_is_that_of_the_running_graph(tool: ModuleType, topics) -> None:
    assert (PROJECT / "docs" / "node_graph.md").read_text(encoding="utf-8") == tool.page(topics), MEND


def test_picture_shows_the_edges_of_the_running_graph(tool: ModuleType, topics) -> None:
    with Image.open(tool.PICTURE) as picture:
        drawn = json.loads(picture.text["Edges"])
    assert drawn == tool.edges(topics), MEND


def test_no_arrow_is_placed_that_the_running_graph_does_not_have(tool: ModuleType, topics) -> None:
    assert set(tool.ROUTES) == {group for group, _ in tool._groups(tool.edges(topics))}
