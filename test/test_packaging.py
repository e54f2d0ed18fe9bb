"""The metadata for pip, colcon and make agree."""

from __future__ import annotations

import configparser
import importlib
import re
import runpy
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from unittest import mock

import pytest
from project_programs import project_program

import rosflight_py_sim
from rosflight_py_sim.ground.node_kinds import NODE_CLASSES, RENAMED
from rosflight_py_sim.vehicles import all_vehicles

ROOT = Path(__file__).parents[1]


def setup_cfg() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def console_scripts() -> list[str]:
    return setup_cfg()["options.entry_points"]["console_scripts"].strip().splitlines()


@pytest.mark.parametrize("line", console_scripts())
def test_entry_point_resolves_to_existing_function(line: str) -> None:
    match = re.fullmatch(r"\w+ = ([\w.]+):(\w+)", line)
    assert match is not None
    module, function = match.groups()
    assert callable(getattr(importlib.import_module(module), function))


def test_each_node_has_executable_of_same_name() -> None:
    entries = dict(line.split(" = ") for line in console_scripts())
    del entries["rosflight_py_sim"], entries["run_node"]
    assert entries == {name: f"rosflight_py_sim.executables:{name}" for name in (*NODE_CLASSES, *RENAMED)}


def test_version_is_identical_everywhere() -> None:
    manifest = ElementTree.parse(ROOT / "package.xml").findtext("version")
    assert manifest == setup_cfg()["metadata"]["version"] == rosflight_py_sim.__version__


@pytest.mark.parametrize(("distribution", "others"), [(None, "jazzy"), ("jazzy", "kilted")])
def test_lock_file_pins_each_requirement_with_a_hash(distribution: str | None, others: str) -> None:
    lock = project_program("tools/install_lock.py").lock_for(distribution)
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(?:.*\\\n)((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", lock, re.MULTILINE))
    extras = {name: text for name, text in setup_cfg()["options.extras_require"].items() if name != others}
    asked = setup_cfg()["options"]["install_requires"] + "".join(extras.values())
    names = {re.split(r"[\[<>=~]", line)[0].lower().replace("_", "-") for line in asked.split("\n") if line.strip()}
    assert names - {"rosflight-py-sim"} <= pinned.keys()


def test_make_refuses_an_unknown_distribution() -> None:
    done = subprocess.run(["make", "ROS=dashing", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "ROS=dashing given; allowed: kilted jazzy" in done.stderr


def test_extra_all_covers_every_user_facing_extra() -> None:
    extras = setup_cfg()["options.extras_require"]
    match = re.fullmatch(r"rosflight_py_sim\[([a-z,]+)\]", extras["all"].strip())
    assert match is not None
    assert match[1].split(",") == sorted(
        set(extras) - {"all", "docs", "fly", "fuzz", "jazzy", "kilted", "ray", "ros", "test"}
    )


@pytest.mark.parametrize("file", sorted(ROOT.glob("requirements*.lock")), ids=lambda file: file.name)
def test_lock_file_contains_no_local_paths(file: Path) -> None:
    lock = file.read_text(encoding="utf-8")
    assert not re.search(r"^\s*--(?!hash=)|://| @ |^/", lock, re.MULTILINE)


def test_all_files_named_by_vehicles_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with mock.patch("setuptools.setup") as made:
        runpy.run_path("setup.py")
    installed = {ROOT / file for _, files in made.call_args.kwargs["data_files"] for file in files}
    assert set((ROOT / "config").rglob("*.yaml")) <= installed
    for one in all_vehicles().values():
        named = {one.file, one.parameter_file, one.firmware_file, one.weather_file, one.waypoint_file}
        named |= {pairing.file for pairing in one.pairings.values()} | {one.mission.program if one.mission else None}
        assert named - {None} <= installed
