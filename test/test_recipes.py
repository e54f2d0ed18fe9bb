"""The container and the RoboStack recipe name what exists. Neither Docker nor pixi runs here."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from build_requirements import tomllib
from check_machine import NEWEST, OLDEST
from lock_sets import package_name

from test.test_packaging import console_scripts, setup_cfg

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def container() -> list[tuple[str, str]]:
    """Instructions of the Dockerfile and their arguments."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(r"^([A-Z]+) +(.+)$", text, re.MULTILINE)


@pytest.fixture(scope="module")
def workspace() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pixi.toml").read_text(encoding="utf-8"))


def test_container_builds_with_a_target_of_make(container: list[tuple[str, str]]) -> None:
    [target] = [words.split()[1] for kind, words in container if kind == "RUN" and words.startswith("make ")]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_container_flies_without_privileges(container: list[tuple[str, str]]) -> None:
    kinds = [kind for kind, _ in container]
    last_stage = dict(container[len(kinds) - kinds[::-1].index("FROM") :])
    assert last_stage["USER"] not in ("root", "0")
    [program] = json.loads(last_stage["ENTRYPOINT"])
    assert program in {line.partition(" ")[0] for line in console_scripts()}
    assert json.loads(last_stage["CMD"]) == ["fly"]


def test_container_has_a_slim_python_that_make_accepts(container: list[tuple[str, str]]) -> None:
    bases = {words.split()[0] for kind, words in container if kind == "FROM"}
    [(major, minor)] = {re.fullmatch(r"python:(\d)\.(\d+)-slim", base).groups() for base in bases}
    assert OLDEST <= (int(major), int(minor)) <= NEWEST


def test_workspace_has_the_ros_packages_of_package_xml(workspace: dict[str, Any]) -> None:
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    needed = {str(entry.text) for kind in ("depend", "exec_depend") for entry in manifest.findall(kind)}
    ros = {name.replace("_", "-") for name in needed if not name.startswith("python3-")} - {"rosflight-msgs"}
    assert {f"ros-jazzy-{name}" for name in ros} <= workspace["dependencies"].keys()


def test_workspace_has_what_the_package_requires(workspace: dict[str, Any]) -> None:
    required = {package_name(line) for line in setup_cfg()["options"]["install_requires"].splitlines() if line}
    assert required <= workspace["dependencies"].keys() | workspace["pypi-dependencies"].keys()


def test_tasks_of_the_workspace_name_existing_launch_files(workspace: dict[str, Any]) -> None:
    commands = [task if isinstance(task, str) else task["cmd"] for task in workspace["tasks"].values()]
    launched = re.findall(r"ros2 launch rosflight_py_sim (\S+)", " ".join(commands))
    assert launched != []
    assert all((ROOT / "launch" / name).is_file() for name in launched)
