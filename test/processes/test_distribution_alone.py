"""A ROS 2 distribution with rosdep is enough: the packages that it lacks are optional, each named by what needs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from distribution_packages import of_a_distribution_alone

ROOT = Path(__file__).parents[2]
SWEEP = ROOT / "docs" / "examples" / "sweeps" / "multirotor_gains.yaml"
MISSING = "(No module named 'pygeomag')"


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command rosflight_py_sim with a distribution's packages alone."""
    return subprocess.run(
        [sys.executable, "-m", "rosflight_py_sim", *words],
        cwd=folder,
        env={**of_a_distribution_alone(), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=110.0,
        check=False,
    )


@pytest.mark.new_interpreter
def test_multirotor_flies_its_square(ros_domain: int, tmp_path: Path) -> None:
    done = command(tmp_path, "fly")
    assert done.returncode == 0, done.stderr
    assert "completed" in done.stdout


@pytest.mark.new_interpreter
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ("sim", "--ros-args", "-p", "magnetic_model:=wmm"),
            f"'wmm' given, which needs pygeomag {MISSING}: pip install",
        ),
        (("sim", "--vehicle", "fixedwing", "--dynamics", "jsbsim"), "need the package jsbsim (pip install jsbsim)"),
        (("fly", "--record", "flight.mcap"), "recording needs mcap: pip install 'rosflight_py_sim[record]'"),
        (("report", "setup.cfg"), "reading a recording needs mcap (No module named 'zstandard'): pip install"),
        (("sim", "--view"), "viser, which serves the viewer's page, is not installed"),
        (("sim", "--vehicle", "auv"), "Panda3D, which renders the images, is not installed"),
        (("sweep", str(SWEEP)), "a sweep needs pyarrow (No module named 'pyarrow'): pip install"),
    ],
    ids=["magnetic model", "JSBSim", "recording", "report", "page", "camera", "sweep"],
)
def test_feature_that_needs_a_missing_package_names_it(
    ros_domain: int, tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    shutil.copy(ROOT / "setup.cfg", tmp_path)
    done = command(tmp_path, *words)
    assert done.returncode == 1, done.stdout
    last = done.stderr.splitlines()[-1]
    assert reason in last, done.stderr
    assert "Traceback" not in done.stderr
    if "magnetic_model:=wmm" in words:
        assert last.endswith(
            "or give the field's vector: magnetic_model 'fixed' with inclination, declination and total_intensity"
        )
