"""The site has the pages of each released version."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from project_programs import project_program

BUILD = project_program("tools/build_docs.py")

CONF = """\
project, root_doc, extensions = "test", "docs/index", ["myst_parser"]
exclude_patterns = ["build"]
templates_path = ["templates"]
html_theme = "basic"
html_sidebars = {"**": ["versions.html"]}
html_context = {"versions_page": "versions.html"}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A project with two released versions, and a tag that is none."""
    folder = tmp_path / "project"
    (folder / "docs" / "templates").mkdir(parents=True)
    (folder / "docs" / "conf.py").write_text(CONF)
    (folder / "docs" / "templates" / "versions.html").write_text("<a href='{{ pathto(versions_page, 1) }}'>others</a>")
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, "init", "--quiet"], cwd=folder, check=True)
    for tag in ("v1.9.0", "v1.10.0", "v2-draft"):
        (folder / "docs" / "index.md").write_text(f"# Pages of {tag}\n")
        subprocess.run([*git, "add", "."], cwd=folder, check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", tag], cwd=folder, check=True)
        subprocess.run([*git, "tag", tag], cwd=folder, check=True)
    return folder


def test_released_versions_are_tags_in_the_order_of_their_numbers(repository: Path) -> None:
    assert BUILD.released(repository) == ["1.10.0", "1.9.0"]


def test_pages_of_a_version_come_from_its_tag_and_link_to_the_list(repository: Path, tmp_path: Path) -> None:
    assert BUILD.build_released("1.9.0", repository, tmp_path / "site") == 0
    page = tmp_path / "site" / "versions" / "1.9.0" / "docs" / "index.html"
    text = page.read_text(encoding="utf-8")
    assert "Pages of v1.9.0" in text
    assert "href='../../../versions.html'" in text  # from site/versions/1.9.0/docs


def test_version_with_a_warning_is_not_kept(repository: Path, tmp_path: Path) -> None:
    (repository / "docs" / "index.md").write_text("# Pages\n\n[missing](missing.md)\n")
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, "commit", "--quiet", "--all", "--message", "bad"], cwd=repository, check=True)
    subprocess.run([*git, "tag", "v3.0.0"], cwd=repository, check=True)
    assert BUILD.build_released("3.0.0", repository, tmp_path / "site") != 0
    assert not (tmp_path / "site" / "versions" / "3.0.0").exists()


def test_list_of_versions_links_to_each_and_to_this_state() -> None:
    page = BUILD.versions_page(["1.10.0", "1.9.0"])
    for target in ("docs/index.html", "versions/1.10.0/docs/index.html", "versions/1.9.0/docs/index.html"):
        assert f"href='{target}'" in page
