"""A release: its version everywhere, its changelog from fragments, and the files that a forge reads."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from build_requirements import tomllib
from project_programs import project_program

import rosflight_py_sim

ROOT = Path(__file__).parents[1]
VERSION = project_program("tools/set_version.py")

REQUIREMENTS = [
    *("1.i", "1.ii", "1.iii", "1.iv", "1.v", "1.vi", "2.i", "2.ii", "2.iii", "2.iv", "2.v"),
    *("3.i", "3.ii", "3.iii", "3.iv", "3.v", "3.v.a", "3.v.b", "3.v.c", "4.i", "4.ii", "4.iii", "4.iii.a", "4.iii.b"),
    *("4.iv", "4.iv.a", "4.iv.b", "4.v", "4.v.a", "4.v.b", "5.i", "5.ii", "5.iii", "6.i", "7.i"),
]
"""Numbers of the requirements in REP 2004."""

KINDS = [
    kind["directory"] for kind in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]["type"]
]


@pytest.mark.parametrize("file", VERSION.STATED)
def test_version_is_identical_everywhere(file: str) -> None:
    assert VERSION.stated(file) == rosflight_py_sim.__version__


def test_citation_has_the_date_of_the_version_in_the_changelog() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation.keys() >= {"authors", "message", "title", "license"}
    [newest, *_] = re.findall(r"^## \[(.*)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest == (citation["version"], citation["date-released"])


def test_changelog_of_the_first_release_is_short() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    first = lines[lines.index("## [1.0.0] - 2026-11-26") :]
    assert len(first) <= 80


def test_every_fragment_has_a_name_that_the_changelog_takes() -> None:
    names = {file.name for file in (ROOT / "changes").iterdir()} - {"README.md"}
    assert [name for name in names if not re.fullmatch(rf"\+[a-z0-9-]+\.({'|'.join(KINDS)})\.md", name)] == []


def test_readme_of_the_fragments_lists_their_kinds() -> None:
    table = re.findall(r"^\| `(\w+)` \|", (ROOT / "changes" / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert table == KINDS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what a release changes, with one fragment."""
    for name in ("CHANGELOG.md", "pyproject.toml", *VERSION.STATED):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "+battery-temperature.added.md").write_text("The battery has a temperature.\n")
    return tmp_path


def test_fragments_become_the_newest_part_of_the_changelog(project: Path) -> None:
    words = ["build", "--yes", "--version", "9.8.7", "--date", "2031-02-03"]
    subprocess.run([sys.executable, "-m", "towncrier", *words], cwd=project, check=True, capture_output=True)
    text = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    head, _, earlier = text.partition("## [9.8.7] - 2031-02-03\n\n### Added\n\n- The battery has a temperature.\n")
    assert head == (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")[: len(head)]
    assert earlier.lstrip().startswith("## [")
    assert [*(project / "changes").iterdir()] == []


def test_a_version_is_written_everywhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VERSION, "PROJECT", project)
    monkeypatch.setattr(sys, "argv", ["set_version.py", "9.8.7", "--date", "2031-02-03"])
    assert VERSION.main() == 0
    assert {VERSION.stated(file) for file in VERSION.STATED} == {"9.8.7"}
    assert 'date-released: "2031-02-03"' in (project / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "1.0.0rc1"])
def test_a_version_that_is_not_three_numbers_is_refused(
    version: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["set_version.py", version])
    with pytest.raises(SystemExit):
        VERSION.main()
    assert f"invalid version value: '{version}'" in capsys.readouterr().err


def test_quality_declaration_has_each_requirement_of_rep_2004_in_its_order() -> None:
    text = (ROOT / "QUALITY_DECLARATION.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^ *- (\d\.[iv]+(?:\.[abc])?), .+?:(?: (met|not met|not met in full|not applicable)\.|$)", text, re.MULTILINE
    )
    assert [number for number, _ in listed] == REQUIREMENTS
    assert [number for number, answer in listed if not answer] == ["4.iii", "4.iv", "4.v"]  # their parts have answers
    assert "(QUALITY_DECLARATION.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_wheels_are_tried_with_the_versions_of_the_lock_file() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    lines = project_program("tools/fly_dist.py").constraints(lock).splitlines()
    assert len(lines) == len(re.findall(r"^[a-z0-9.-]+(?:\[.*\])?==", lock, re.MULTILINE))
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9.-]+==\S+(?: ; [^#]+)?", line)] == []


def test_commands_of_the_release_page_name_what_exists() -> None:
    page = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (.+)$", page, re.MULTILINE)
    targets = {word for line in commands if line.startswith("make ") for word in line.split()[1:] if "=" not in word}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
    programs = re.findall(r"\.venv/bin/python (tools/\S+\.py)", page)
    assert programs != []
    assert all((ROOT / program).is_file() for program in programs)
