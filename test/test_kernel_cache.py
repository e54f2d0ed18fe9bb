"""Folder for compiled kernels: where it is when the preferred one cannot be used."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rosflight_py_sim.kernels import jit

pytestmark = [pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled here"), pytest.mark.timeout(300)]

_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE = 24, 1

LIBC = ctypes.CDLL(None)

SHOW = "from rosflight_py_sim.kernels import jit; print(jit.CACHE, jit.LIBRARY is not None)"

COMPILE = """
from rosflight_py_sim.kernels import jit

@jit.kernel
def doubled(value: float) -> float:
    return 2.0 * value

print(doubled(21.0), jit.CACHE)
"""

WITHOUT_HOME = """
import pwd

def unknown(_):
    raise KeyError("no such user, as in a container started with --user 12345")

pwd.getpwuid = unknown
"""


def obey_permissions() -> None:
    """Let the permissions of files apply to the program that is about to start, even if it runs as root."""
    LIBC.prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0)


def run(program: str | list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")}
    return subprocess.run(
        [sys.executable, *(["-c", program] if isinstance(program, str) else program)],
        env={**inherited, "PYTHONPATH": str(Path(__file__).parents[1]), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200.0,
        check=False,
        preexec_fn=obey_permissions,
    )


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A cache folder that exists and cannot be written."""
    compiled = jit.library_path().parent
    folder = tmp_path / "cache" / compiled.parent.name / compiled.name
    folder.mkdir(parents=True)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


def test_folder_that_cannot_be_written_is_replaced_by_a_temporary_one(locked: Path, tmp_path: Path) -> None:
    program = tmp_path / "doubling.py"  # numba caches functions of files only
    program.write_text(COMPILE)
    done = run([str(program)], tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"), TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    value, cache = done.stdout.split()
    assert value == "42.0"
    assert Path(cache) == tmp_path / f"rosflight_py_sim-{os.getuid()}" / locked.name
    assert [*Path(cache).rglob("*.nbc")] != []


def test_library_is_used_from_a_folder_that_cannot_be_written(locked: Path, tmp_path: Path) -> None:
    assert jit.LIBRARY is not None, "run `rosflight_py_sim compile` first, as `make test` does"
    locked.chmod(0o755)
    shutil.copy(jit.library_path(), locked)
    locked.chmod(0o555)
    done = run(SHOW, tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"), TMPDIR=str(tmp_path))
    temporary = tmp_path / f"rosflight_py_sim-{os.getuid()}" / locked.name
    assert done.stdout.split() == [str(temporary), "True"], done.stderr


def test_without_a_home_folder_the_temporary_one_is_used(locked: Path, tmp_path: Path) -> None:
    inherited = {"XDG_CACHE_HOME": ""}
    done = run(WITHOUT_HOME + SHOW, tmp_path, TMPDIR=str(tmp_path), **inherited)
    temporary = tmp_path / f"rosflight_py_sim-{os.getuid()}" / locked.name
    assert done.stdout.split() == [str(temporary), "False"], done.stderr


def test_relative_cache_folder_is_ignored(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = run(SHOW, tmp_path, XDG_CACHE_HOME="relative", HOME=str(home))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{home / '.cache'}/")
    assert not (tmp_path / "relative").exists()


def test_without_any_folder_that_can_be_written_nothing_is_cached() -> None:
    program = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/proc']\n"
    done = run(f"{program}{SHOW}", Path("/proc"), XDG_CACHE_HOME="/proc/none")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["None", "False"]


def test_temporary_folder_of_another_user_is_not_used(locked: Path, tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder to another user")
    taken = tmp_path / "rosflight_py_sim-0"
    taken.mkdir(mode=0o777)
    os.chown(taken, 65534, 65534)
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    assert run(SHOW, tmp_path, **variables).stdout.split() == ["None", "False"]
    program = tmp_path / "doubling.py"
    program.write_text(COMPILE)
    assert run([str(program)], tmp_path, **variables).stdout.split() == ["42.0", "None"]
    compiling = run(["-m", "rosflight_py_sim", "compile"], tmp_path, **variables)
    assert compiling.returncode == 1
    assert str(locked) in compiling.stderr
    assert "set XDG_CACHE_HOME to a folder that you can write to" in compiling.stderr


def test_without_a_compiler_the_cache_of_numba_is_used(tmp_path: Path) -> None:
    variables = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(jit.library_path().parent), "PATH": ""}
    done = run(["-m", "rosflight_py_sim", "compile"], tmp_path, **variables)
    assert done.returncode == 1
    assert "no C compiler found (cc, gcc, clang)" in done.stderr
