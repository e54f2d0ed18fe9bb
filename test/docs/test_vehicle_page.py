"""docs/vehicles.md matches the vehicles' files."""

from pathlib import Path
from types import ModuleType

import pytest
from project_programs import project_program

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return project_program("tools/write_vehicle_page.py")


def test_page_matches_the_vehicles_files(tool: ModuleType) -> None:
    written = (PROJECT / "docs" / "vehicles.md").read_text(encoding="utf-8")
    assert written == tool.page(), "run .venv/bin/python tools/write_vehicle_page.py"


def test_every_published_figure_stands_on_the_page(tool: ModuleType) -> None:
    written = (PROJECT / "docs" / "vehicles.md").read_text(encoding="utf-8")
    for (name, _), text in tool.PUBLISHED.items():
        assert f"{name}: {text}" in written
