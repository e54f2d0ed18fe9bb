"""The documentation site is built without warnings, has every page, and loads nothing from other hosts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rosflight_py_sim

PROJECT = Path(__file__).parents[2]

# Resources that a browser fetches by itself, unlike the targets of links.
FETCHED = re.compile(r"<(?:script|img|source|iframe|link)\b[^>]*?\b(?:src|href)=\"((?:https?:)?//[^\"]*)\"")
FETCHED_BY_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")]*)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", "docs", "-d", str(folder / "trees")]
    built = subprocess.run(
        [sys.executable, *command, ".", str(folder / "html")], cwd=PROJECT, capture_output=True, text=True, timeout=110
    )
    assert (built.returncode, built.stderr) == (0, "")
    return folder / "html"


def test_every_page_is_built_and_in_the_table_of_contents(site: Path) -> None:
    contents = (site / "docs" / "index.html").read_text(encoding="utf-8")
    sidebar = contents[: contents.index("<article")]
    for page in (PROJECT / "docs").glob("*.md"):
        assert (site / "docs" / f"{page.stem}.html").is_file()
        assert f'href="{page.stem}.html"' in sidebar or page.stem == "index"
    for outside in (
        "README",
        "CONTRIBUTING",
        "CHANGELOG",
        "SECURITY",
        "QUALITY_DECLARATION",
        "benchmarks/README",
        "rosflight_msgs/README",
    ):
        assert f'href="../{outside}.html"' in sidebar


def test_each_page_names_its_version_and_links_to_the_others(site: Path) -> None:
    page = (site / "docs" / "frames.html").read_text(encoding="utf-8")
    assert f"<title>Frames and units - rosflight_py_sim {rosflight_py_sim.__version__}</title>" in page
    assert f"Version {rosflight_py_sim.__version__}" in page
    assert 'href="../versions.html"' in page


def test_no_page_loads_external_resources(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    assert {str(p): found for p in pages if (found := FETCHED.findall(p.read_text(encoding="utf-8")))} == {}
    styles = [*site.rglob("*.css"), *site.rglob("*.svg")]
    assert {str(p): f for p in styles if (f := FETCHED_BY_STYLE.findall(p.read_text(encoding="utf-8")))} == {}


def test_front_page_redirects_to_contents_and_examples_are_included(site: Path) -> None:
    assert 'url=docs/index.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert any(path.name == "arm_and_watch.py" for path in (site / "_downloads").rglob("*.py"))


def test_class_reference_page_contains_docstrings(site: Path) -> None:
    page = (site / "docs" / "api.html").read_text(encoding="utf-8")
    for words in ("update_forces_and_torques", "Wrench on the vehicle, gravity and contact excluded.", "imu_update"):
        assert words in page


def test_nodes_page_contains_step_sequence_diagram(site: Path) -> None:
    page = (site / "docs" / "nodes.html").read_text(encoding="utf-8")
    drawing = page[page.index('<svg class="sequence"') :]
    assert "sim/forces_and_moments, t(k)" in drawing[: drawing.index("</svg>")]
