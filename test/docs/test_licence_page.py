"""docs/licences.md lists every locked package, with a licence that this package may depend on."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from project_programs import project_program

PROJECT = Path(__file__).parents[2]
REMEDY = "run .venv/bin/python tools/write_licences.py"


@pytest.fixture(scope="module")
def tool() -> Any:
    return project_program("tools/write_licences.py")


@pytest.fixture(scope="module")
def listed() -> dict[str, tuple[str, str]]:
    """Versions and licence of each package on the page."""
    page = (PROJECT / "docs" / "licences.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z0-9.-]+) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    return {name: (versions, licence) for name, versions, licence in rows if name != "package"}


def test_page_lists_every_locked_version(tool: Any, listed: dict[str, tuple[str, str]]) -> None:
    locked = {name: ", ".join(versions) for name, versions in tool.locked().items()}
    assert {name: versions for name, (versions, _) in listed.items()} == locked, REMEDY


def test_licences_are_those_of_the_installed_packages(tool: Any, listed: dict[str, tuple[str, str]]) -> None:
    compared = 0
    for name, (versions, licence) in listed.items():
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        # Another version, for another Python, may word its licence differently.
        if versions == installed:
            compared += 1
            assert licence == tool.licence_of(name), REMEDY
    assert compared > 100


def test_every_licence_is_accepted(tool: Any, listed: dict[str, tuple[str, str]]) -> None:
    assert [name for name, (_, licence) in listed.items() if tool.condition_of(licence) is None] == []
    assert tool.condition_of("GNU Affero General Public License v3") is None
    assert tool.condition_of("Other/Proprietary License") is None
