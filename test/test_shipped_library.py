"""The kernel library of a wheel: used if it fits, otherwise reported and replaced by numba."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rosflight_py_sim.kernels import jit, library, wrappers

ROOT = Path(__file__).parents[1]

pytestmark = [pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled here"), pytest.mark.timeout(300)]

SHOW = """
import numpy as np
from rosflight_py_sim.kernels import jit
from rosflight_py_sim.physics.truth_step import load_state

truth, strided = np.arange(19.0), np.zeros(26)[::2]
{call}
print(jit.LIBRARY and jit.LIBRARY.__file__, jit.COMPILED, jit.HAS_NUMBA, strided[0])
"""

CALL = "load_state(truth, strided)"
"""A call that the library does not take, because the array is not contiguous."""

WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None\n"

UNUSED = "rosflight_py_sim: the compiled kernels of the installed package cannot be used: "


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """The library of a package that was installed from a wheel."""
    package = tmp_path / "installed" / "rosflight_py_sim"
    shutil.copytree(Path(jit.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("config", "package.xml"):
        (package.parent / name).symlink_to(ROOT / name)
    folder = package / "kernels" / "compiled" / jit.version()
    folder.mkdir(parents=True)
    return Path(shutil.copy(jit.library_path(), folder))


def run(program: str, shipped: Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the installed package and an empty cache."""
    variables = {"PYTHONPATH": str(shipped.parents[4]), "XDG_CACHE_HOME": str(folder / "cache"), **environment}
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )


def test_library_of_a_wheel_is_used_without_cache_or_numba(shipped: Path, tmp_path: Path) -> None:
    done = run(WITHOUT_NUMBA + SHOW.format(call=CALL), shipped, tmp_path)
    assert done.stdout.split() == [str(shipped), "True", "False", "0.0"]
    assert done.stderr == ""
    assert not (tmp_path / "cache").exists()


def test_library_of_edited_sources_is_reported_and_replaced_by_numba(shipped: Path, tmp_path: Path) -> None:
    edited = shipped.parents[3] / "physics" / "rotations.py"
    edited.write_text(edited.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    done = run(SHOW.format(call=""), shipped, tmp_path)
    assert done.stdout.split() == ["None", "True", "True", "0.0"]
    [line] = done.stderr.splitlines()
    assert line.startswith(f"{UNUSED}they were compiled from other sources or for another Python ({shipped})")
    assert line.endswith("; numba compiles them instead")


def test_without_numba_the_report_says_that_plain_python_runs(shipped: Path, tmp_path: Path) -> None:
    shipped.write_bytes(b"no library")
    done = run(WITHOUT_NUMBA + SHOW.format(call=CALL), shipped, tmp_path)
    assert done.stdout.split() == ["None", "False", "False", "0.0"]
    assert done.stderr.startswith(UNUSED)
    assert done.stderr.endswith("; without numba, they run as plain Python, which is slow\n")


def test_plain_python_on_request_reports_nothing(shipped: Path, tmp_path: Path) -> None:
    shipped.write_bytes(b"no library")
    done = run(SHOW.format(call=CALL), shipped, tmp_path, ROSFLIGHT_PY_SIM_NO_JIT="1")
    assert done.stdout.split() == ["None", "False", "False", "0.0"]
    assert done.stderr == ""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the baseline is that of x86-64")
def test_library_for_a_newer_processor_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # No processor has both: fma4 is AMD's alone, and avx512pf Intel's.
    monkeypatch.setattr(wrappers, "FEATURES", {"x86_64": ("fma4", "avx512pf")})
    monkeypatch.setattr(wrappers, "CPU", {"x86_64": "a processor that does not exist"})
    compiler = next(path for name in ("cc", "gcc", "clang") if (path := shutil.which(name)))
    with pytest.raises(wrappers.LibraryError, match="this processor is older than a processor that does not exist"):
        library.linked([], tmp_path, compiler)
