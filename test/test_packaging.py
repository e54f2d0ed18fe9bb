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
from distribution_packages import WITHOUT_KEY, rosdep_key
from lock_sets import entries, needed
from project_programs import project_program

from rosflight_py_sim.ground.node_kinds import NODE_CLASSES, RENAMED
from rosflight_py_sim.ground.ros_distributions import DISTRIBUTIONS
from rosflight_py_sim.vehicles import all_vehicles

ROOT = Path(__file__).parents[1]

OF_NO_FEATURE = {"all", "docs", "fly", "fuzz", "jazzy", "kilted", "release", "ros", "test"}
"""Extras that are sets of others, or not for features of the package."""
FURTHER_LOCKS = sorted(ROOT.glob("requirements-*.lock"))


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


@pytest.mark.parametrize(("distribution", "others"), [(None, "jazzy"), ("jazzy", "kilted")])
def test_lock_file_pins_each_requirement_with_a_hash(distribution: str | None, others: str) -> None:
    lock = project_program("tools/install_lock.py").lock_for(distribution)
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(?:.*\\\n)((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", lock, re.MULTILINE))
    extras = {name: text for name, text in setup_cfg()["options.extras_require"].items() if name != others}
    asked = setup_cfg()["options"]["install_requires"] + "".join(extras.values())
    names = {re.split(r"[\[<>=~]", line)[0].lower().replace("_", "-") for line in asked.split("\n") if line.strip()}
    assert names - {"rosflight-py-sim"} <= pinned.keys()


@pytest.mark.parametrize("distribution", [None, *(file.stem.partition("-")[2] for file in FURTHER_LOCKS)])
def test_flying_installs_every_package_of_ros(distribution: str | None) -> None:
    lock = project_program("tools/install_lock.py").lock_for(distribution)
    ros = {name for name, _ in entries(lock) if name.startswith("ros-")}
    assert "ros-rclpy" in ros
    assert ros <= needed(lock, ["fly"])


def test_make_refuses_an_unknown_distribution() -> None:
    done = subprocess.run(["make", "ROS=dashing", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "ROS=dashing given; allowed: kilted jazzy" in done.stderr


def test_extra_all_covers_every_user_facing_extra() -> None:
    extras = setup_cfg()["options.extras_require"]
    match = re.fullmatch(r"rosflight_py_sim\[([a-z,]+)\]", extras["all"].strip())
    assert match is not None
    assert match[1].split(",") == sorted(set(extras) - OF_NO_FEATURE - {"ray"})


def requirements(*extras: str) -> set[str]:
    """Names of the packages that setup.cfg requires, with these extras."""
    options = setup_cfg()
    lines = [options["options"]["install_requires"], *(options["options.extras_require"][extra] for extra in extras)]
    return {re.split(r"[\[<>=~;]", line)[0].strip() for line in "\n".join(lines).splitlines() if line.strip()}


def test_package_xml_names_every_requirement_with_a_key_and_readme_every_other() -> None:
    extras = set(setup_cfg()["options.extras_require"]) - OF_NO_FEATURE
    wanted = requirements(*extras)
    manifest = ElementTree.parse(ROOT / "package.xml")
    keys = {element.text for element in manifest.iter("exec_depend")}
    assert wanted >= WITHOUT_KEY.keys()
    assert {rosdep_key(name) for name in wanted - WITHOUT_KEY.keys()} == {key for key in keys if "python3-" in str(key)}
    table = "".join(
        re.findall(r"^\| ([\w, -]+) \| .+ \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert [name for name in WITHOUT_KEY if name not in table] == []


def test_package_xml_has_no_key_that_installs_with_pip() -> None:
    manifest = ElementTree.parse(ROOT / "package.xml")
    depended = [str(element.text) for element in manifest.getroot() if element.tag.endswith("depend")]
    assert [key for key in depended if key.endswith("-pip") or rosdep_key(key) in WITHOUT_KEY] == []
    assert len(set(depended)) == len(depended)


def test_no_class_adds_a_base_to_named_tuple() -> None:
    """Python 3.10 refuses such a class when its module is imported."""
    files = [
        file for folder in (ROOT / "rosflight_py_sim", ROOT / "docs", ROOT / "launch") for file in folder.rglob("*.py")
    ]
    classes = re.compile(r"^ *class \w+\((?:.*, )?NamedTuple\b,?.*\):", re.MULTILINE)
    found = [line for file in files for line in classes.findall(file.read_text(encoding="utf-8"))]
    assert len(found) > 50
    assert [line for line in found if "(NamedTuple)" not in line] == []


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


def test_page_of_distributions_agrees_with_code_locks_and_metadata() -> None:
    page = (ROOT / "docs" / "distributions.md").read_text(encoding="utf-8")
    rows = {
        cells[0].lower(): cells
        for cells in re.findall(r"^\| ([A-Z]\w+) " + r"\| (.+?) " * 6 + r"\|$", page, re.MULTILINE)
    }
    rows.pop("distribution", None)
    assert list(rows) == [one.name for one in DISTRIBUTIONS]
    extras = setup_cfg()["options.extras_require"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    locks = {"kilted": None, **{file.stem.partition("-")[2]: file.stem.partition("-")[2] for file in FURTHER_LOCKS}}
    assert (
        {one.name for one in DISTRIBUTIONS if one.wheels} == locks.keys() == {name for name in extras if name in rows}
    )
    for one in DISTRIBUTIONS:
        _, ends, source, versions, *_ = rows[one.name]
        assert ends == str(one.ends)
        assert ("PyPI wheels" in source) == one.wheels
        assert re.match(rf"{one.rclpy}\.\S+, {one.fast_dds}\.", versions)
        assert one.name.capitalize() in readme
        if one.wheels:
            lock = project_program("tools/install_lock.py").lock_for(locks[one.name])
            (rclpy,) = re.findall(r"^ros-rclpy==(\S+)", lock, re.MULTILINE)
            (fast_dds,) = re.findall(r"^ros-(?:fastdds|fastrtps)==(\S+)", lock, re.MULTILINE)
            assert versions == f"{rclpy}, {fast_dds}"
            assert f"ros-rclpy[fastrtps]~={rclpy}\n" in extras[one.name]
    manifest = ElementTree.parse(ROOT / "package.xml")
    wheels = {re.split(r"[\[~]", line)[0].removeprefix("ros-").replace("-", "_") for line in extras["jazzy"].split()}
    assert wheels - {"builtin_interfaces"} <= {element.text for element in manifest.iter("depend")}
