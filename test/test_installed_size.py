"""`make fly` installs what flying needs and no more, and README states its size."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from distribution_packages import without
from lock_sets import entries, needed

from rosflight_py_sim.graph.scenario import known_scenarios, load_scenario
from rosflight_py_sim.vehicles import all_vehicles

ROOT = Path(__file__).parents[1]

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")

ALLOWED_MB = 900.0
"""Largest size on disk of the environment that `make fly` sets up, MB of 10^6 bytes."""

BUILT = {"rosflight-msgs", "tf2-msgs", "pip", "uv"}
"""Packages in each environment of make that are in no extra."""

OTHER_FLIGHTS = """
import jsbsim, pygame
from rosflight_py_sim.nodes import rc, web_viewer
from rosflight_py_sim.commands.uthere_terminal import command
from rosflight_py_sim.kernels.library import build_library
"""


of_the_lock = pytest.mark.skipif(
    f"ros-rclpy=={metadata.version('ros-rclpy')}" not in LOCK, reason="README states the sizes of requirements.lock"
)


def installed() -> dict[str, metadata.Distribution]:
    return {one.metadata["Name"].lower().replace("_", "-"): one for one in metadata.distributions()}


def size_mb(package: metadata.Distribution) -> float:
    """Size of a package's files on disk, with the bytecode that Python has put beside its modules."""
    blocks = 0
    for file in package.files or []:
        path = Path(str(package.locate_file(file)))
        beside = path.parent.glob(f"__pycache__/{path.stem}.*") if path.suffix == ".py" else ()
        for one in {path, *beside}:
            if one.is_file():
                blocks += os.lstat(one).st_blocks
    return blocks * 512 / 1e6


def set_mb(names: set[str]) -> float:
    return sum(size_mb(package) for name, package in installed().items() if name in names)


def stated_mb(pattern: str) -> float:
    """A size that README states, MB."""
    found = re.search(pattern, (ROOT / "README.md").read_text(encoding="utf-8"))
    assert found is not None, f"README does not say: {pattern}"
    return float(found[1])


@of_the_lock
@pytest.mark.parametrize(
    ("extras", "pattern"),
    [
        (["fly"], r"`make fly` installs (\d+) MB"),
        (["fly", "auv"], r"with cameras (\d+) MB"),
        ([], r"`make test` install (\d+) MB"),
    ],
)
def test_readme_states_the_size_of_each_set(extras: list[str], pattern: str) -> None:
    names = needed(LOCK, extras) if extras else {name for name, _ in entries(LOCK)}
    # A tenth: file systems and Pythons differ.
    assert stated_mb(pattern) == pytest.approx(set_mb(names | BUILT), rel=0.1)


def test_environment_for_flying_is_small() -> None:
    assert set_mb(needed(LOCK, ["fly"]) | BUILT) < ALLOWED_MB


@pytest.fixture(scope="module")
def only_the_set() -> dict[str, str]:
    """Environment variables with which Python finds the packages for flying, and no others of the lock file."""
    outside = {name for name, _ in entries(LOCK)} - needed(LOCK, ["fly"]) - BUILT
    modules = metadata.packages_distributions()
    hidden = {one for one, by in modules.items() if {name.lower().replace("_", "-") for name in by} <= outside}
    assert {"ray", "scipy", "pandas", "playwright", "pygraphviz", "cv2", "hypothesis"} <= hidden
    return without(hidden)


def run(words: list[str], environment: dict[str, str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, *words], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.new_interpreter
@pytest.mark.usefixtures("ros_domain")
def test_mission_is_flown_recorded_and_drawn_with_the_set(only_the_set: dict[str, str], tmp_path: Path) -> None:
    run(["-m", "rosflight_py_sim", "fly", "--record", "flight.mcap", "--output", str(tmp_path)], only_the_set, tmp_path)
    assert [*tmp_path.glob("*.png")] != []


@pytest.mark.new_interpreter
def test_page_joystick_terminal_and_other_dynamics_need_nothing_else(
    only_the_set: dict[str, str], tmp_path: Path
) -> None:
    run(["-c", OTHER_FLIGHTS], only_the_set, tmp_path)


def test_makefile_knows_what_has_cameras() -> None:
    with_camera = {name for (name, _), one in all_vehicles().items() if "camera" in one.extra_nodes}
    with_camera |= {
        name
        for name in known_scenarios()
        if any("camera" in member.vehicle.extra_nodes for member in load_scenario(name).members)
    }
    listed = re.search(r"^WITH_CAMERA := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed is not None
    assert {word for word in listed[1].split() if not word.startswith("--")} == with_camera
