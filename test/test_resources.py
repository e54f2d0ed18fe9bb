"""The package finds its configuration files wherever it is installed, and reports missing files."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rosflight_py_sim
from rosflight_py_sim.graph.command_options import existing_file
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.resources import PACKAGE, share_directory
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.world.world_file import WorldError, load_world

MANIFEST = f"<package><name>{PACKAGE}</name></package>"


def installed_package(prefix: Path, library: str) -> Path:
    """A file of a package below `prefix`, laid out as an installer would."""
    module = prefix / library / PACKAGE / "ground" / "resources.py"
    module.parent.mkdir(parents=True)
    module.touch()
    return module


def shared(prefix: Path) -> Path:
    share = prefix / "share" / PACKAGE
    share.mkdir(parents=True)
    (share / "package.xml").write_text(MANIFEST, encoding="utf-8")
    return share


def test_share_directory_of_running_package_contains_manifest() -> None:
    assert f"<name>{PACKAGE}</name>" in (share_directory() / "package.xml").read_text(encoding="utf-8")


def test_share_directory_is_independent_of_working_directory(tmp_path: Path) -> None:
    code = "from rosflight_py_sim.ground.resources import share_directory; print(share_directory())"
    environment = {**os.environ, "PYTHONPATH": str(Path(rosflight_py_sim.__path__[0]).parent)}
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert answer.stdout.strip() == str(share_directory())


@pytest.mark.parametrize(
    "library", ["lib/python3.12/site-packages", "local/lib/python3.12/dist-packages", "lib/python3/dist-packages"]
)
def test_installed_package_uses_share_directory_of_its_own_prefix(tmp_path: Path, library: str) -> None:
    module = installed_package(tmp_path / "prefix", library)
    share = shared(tmp_path / "prefix")
    assert share_directory(module) == share


def test_source_tree_takes_precedence_over_enclosing_prefix(tmp_path: Path) -> None:
    source = tmp_path / "src"
    module = source / PACKAGE / "ground" / "resources.py"
    module.parent.mkdir(parents=True)
    module.touch()
    (source / "package.xml").write_text(MANIFEST, encoding="utf-8")
    shared(tmp_path)
    assert share_directory(module) == source


def test_manifest_of_unrelated_parent_package_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "data_prefix"
    share = shared(elsewhere)
    marker = elsewhere / "share/ament_index/resource_index/packages" / PACKAGE
    marker.parent.mkdir(parents=True)
    marker.touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(elsewhere))
    module = installed_package(tmp_path / "code_prefix", "lib/python3.12/site-packages")
    (module.parents[2] / "package.xml").write_text("<package><name>other</name></package>", encoding="utf-8")
    assert share_directory(module) == share


def test_missing_data_error_suggests_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    module = installed_package(tmp_path / "prefix", "lib/python3.12/site-packages")
    with pytest.raises(FileNotFoundError, match="install the package again"):
        share_directory(module)


@pytest.mark.parametrize(
    ("find", "error"),
    [
        (vehicle, ParameterError),
        (load_scenario, ParameterError),
        (load_world, WorldError),
        (existing_file, argparse.ArgumentTypeError),
    ],
)
def test_path_that_no_file_can_have_is_reported_as_missing(
    find: Callable[[str], object], error: type[Exception]
) -> None:
    with pytest.raises(error, match="there is no"):
        find(f"/{'x' * 300}.yaml")
