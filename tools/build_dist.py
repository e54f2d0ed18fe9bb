"""Build the source distributions and wheels of this package and the message packages in dist/, for `make dist`.

The wheels are for the Python that runs this program. The wheel of this package contains the compiled kernels and
requires the ROS 2 wheels: it is for machines without a ROS 2 distribution. The source distribution requires neither.

With --others, print the further Pythons of this machine that could build wheels, and build nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from check_machine import NEWEST, OLDEST

PROJECT = Path(__file__).parents[1]
DIST = PROJECT / "dist"

TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
"""This Python in the name of a wheel."""

PACKAGES = (".", "rosflight_msgs", "simulation_interfaces", "tf2_msgs")

REQUIRED_BY_WHEEL = "rosflight_py_sim[fly]"
"""What a wheel requires beyond the requirements of setup.cfg: what `make fly` installs."""


def main() -> int:
    """Return the exit status: 1, with the output on stderr, if a build fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--others", action="store_true", help="print the further Pythons of this machine")
    if parser.parse_args().others:
        print(*other_pythons())
        return 0
    DIST.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder) / "rosflight_py_sim"
        copy_sources(staged)
        built = [Path(folder) / "wheels" / name for name in ("sdist", "wheel")]
        if not build(staged, "sdist", built[0]):
            return 1
        add_kernels(staged)
        if not build(staged, "wheel", built[1]):
            return 1
        files = [*built[0].glob("*.tar.gz"), *(tagged(wheel) for wheel in built[1].glob("*.whl"))]
        for earlier in (*DIST.glob("*.tar.gz"), *DIST.glob(f"*-{TAG}-{TAG}-*.whl")):
            earlier.unlink()
        for file in files:
            shutil.copy(file, DIST)
    for file in sorted(DIST.iterdir()):
        print(f"{file.relative_to(PROJECT)}  {file.stat().st_size / 1e6:.1f} MB")
    return 0


def copy_sources(folder: Path) -> None:
    """Copy every file under version control; a symbolic link becomes the file or folder to which it points."""
    git = [shutil.which("git") or "git", "ls-files", "-z"]
    listed = subprocess.run(git, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, copy = PROJECT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy)
        elif source.exists():
            shutil.copy(source, copy)


def add_kernels(staged: Path) -> None:
    """Add the compiled kernels, and the requirements of an installation that has them."""
    from rosflight_py_sim.kernels import jit

    assert jit.LIBRARY is not None and jit.LIBRARY.__file__ is not None, "make dist compiles the kernels first"
    folder = staged / jit.SHIPPED.relative_to(PROJECT) / jit.version()
    folder.mkdir(parents=True)
    shutil.copy(jit.LIBRARY.__file__, folder)
    file = staged / "setup.cfg"
    text = file.read_text(encoding="utf-8")
    head = "install_requires =\n"
    file.write_text(text.replace(head, f"{head}    {REQUIRED_BY_WHEEL}\n"), encoding="utf-8")


def build(staged: Path, kind: str, folder: Path) -> bool:
    """Build a source distribution or wheel of each package, all at the same time; whether all succeed."""
    words = [sys.executable, "-m", "uv", "build", "--quiet", "--no-config", f"--{kind}", "--no-build-isolation"]
    running = [
        subprocess.Popen(
            [*words, "--python", sys.executable, "--out-dir", str(folder), str(staged / package)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for package in PACKAGES
    ]
    outputs = [one.communicate()[0] for one in running]
    for one, output in zip(running, outputs, strict=True):
        if one.returncode != 0:
            sys.stderr.write(output)
    return all(one.returncode == 0 for one in running)


def tagged(wheel: Path) -> Path:
    """The wheel with the tag of the oldest C library on which it runs.

    The libraries of the ROS 2 wheels stay outside: they are found beside the wheel's own.
    """
    from auditwheel.architecture import Architecture
    from auditwheel.libc import Libc
    from auditwheel.wheel_abi import analyze_wheel_abi

    found = analyze_wheel_abi(
        Libc.GLIBC,
        Architecture[platform.machine()],
        wheel,
        frozenset({"lib*"}),
        disable_isa_ext_check=True,
        allow_graft=False,
    )
    words = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", found.sym_policy.name, str(wheel)]
    name = subprocess.run(words, cwd=wheel.parent, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return wheel.parent / name


def other_pythons() -> Iterator[str]:
    """Further Pythons of this machine with which `make` can set up an environment, one of each version."""
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        if minor == sys.version_info.minor:
            continue
        name = f"python3.{minor}"
        versions = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob(f"3.{minor}.*"))
        places = [shutil.which(name), *(str(folder / "bin" / name) for folder in reversed(versions))]
        for place in filter(None, places):
            check = [place, str(PROJECT / "tools" / "check_machine.py")]
            if subprocess.run(check, capture_output=True, check=False).returncode == 0:
                yield place
                break


if __name__ == "__main__":
    sys.exit(main())
