"""Every relative link in the project's Markdown has an existing target."""

import re
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PLACES = (".", "docs", "benchmarks", "rosflight_msgs", "test")
PAGES = sorted(
    page
    for place in PLACES
    for page in (PROJECT / place).glob("*.md" if place == "." else "**/*.md")
    if not {"build", "install"} & set(page.relative_to(PROJECT).parts)
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MODULE = re.compile(r"[a-z_]+/[a-z_/]*\.py\b")
EXAMPLES = ("lidar.py", "survey/judge.py")
"""Modules that the pages show how to add."""
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# Not code within the text of a link.
INLINE_CODE = re.compile(r"`[^`\n]+`(?!\])")


def links(page: Path) -> list[str]:
    """Targets of the page's links that stay inside the project."""
    found = LINK.findall(INLINE_CODE.sub("", CODE.sub("", page.read_text(encoding="utf-8"))))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


@cache
def anchors(page: Path) -> set[str]:
    """Names that GitHub gives to the page's headings."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_relative_link_target_and_anchor_exists(page: Path) -> None:
    broken = []
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_module_that_a_page_names_by_its_path_exists(page: Path) -> None:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    named = {path for path in MODULE.findall(text) if not path.endswith(EXAMPLES)}
    roots = (PROJECT, PROJECT / "rosflight_py_sim", page.parent)
    assert [path for path in sorted(named) if not any((root / path).exists() for root in roots)] == []


def test_all_docs_pages_are_listed_in_the_index() -> None:
    docs = PROJECT / "docs"
    listed = {target.partition("#")[0] for target in links(docs / "index.md")}
    assert {page.name for page in docs.glob("*.md")} - {"index.md"} <= listed


def test_readme_is_checked_and_has_links() -> None:
    assert PROJECT / "README.md" in PAGES
    assert len(links(PROJECT / "README.md")) > 10
