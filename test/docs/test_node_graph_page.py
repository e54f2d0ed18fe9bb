"""docs/node_graph.md and its picture show the running graph."""

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest
from project_programs import project_program

PROJECT = Path(__file__).parents[2]
MEND = "run .venv/bin/python tools/draw_node_graph.py, and look at the picture"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return project_program("tools/draw_node_graph.py")


@pytest.fixture(scope="module")
def live(tool: ModuleType, claim_domain):
    with pytest.MonkeyPatch.context() as environment, claim_domain() as domain:
        environment.setitem(os.environ, "ROS_DOMAIN_ID", str(domain))
        return tool.live_graph()


def test_table_matches_running_graph(tool: ModuleType, live) -> None:
    assert (PROJECT / "docs" / "node_graph.md").read_text(encoding="utf-8") == tool.page(live), MEND


def test_drawing_matches_running_graph(tool: ModuleType, live) -> None:
    # Positions and sizes depend on the fonts of the machine that drew the picture; boxes, texts and lines do not.
    assert contents(tool.PICTURE.read_text(encoding="utf-8")) == contents(tool.picture(live)), MEND


def contents(picture: str) -> list[str | None]:
    """Titles of boxes and lines, and texts in the boxes."""
    tags = tuple(f"{{http://www.w3.org/2000/svg}}{tag}" for tag in ("title", "text"))
    return [element.text for element in ElementTree.fromstring(picture).iter() if element.tag in tags]
