"""Says in one message what this machine still needs before `make` can set the project up.

Run by the Makefile with the Python that is to make the virtual environment, which may be too old for anything newer
than Python 3.6, so this file keeps to that.
"""

import os
import platform
import shutil
import sys
import sysconfig
from pathlib import Path

OLDEST = (3, 10)
NEWEST = (3, 14)


def problems():
    """Texts of what is missing, and the Debian packages that would bring it."""
    found, packages = [], []
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return [
            f"{sys.executable} is Python {version}; Python 3.10 to 3.14 is needed. If another is installed, name it: "
            "make PYTHON=python3.12 ..."
        ], []
    if sys.platform != "linux" or platform.machine() != "x86_64":
        found.append("ROS 2 comes as Python wheels for Linux on x86-64 only; elsewhere build with colcon (see README)")
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        found.append("Python's venv module is missing")
        packages.append("python3-venv")
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        found.append("Python's C headers are missing")
        packages.append("python3-dev")
    compiler = shutil.which(os.environ.get("CXX", "c++").split()[0])
    if compiler is None or shutil.which(os.environ.get("CC", "cc").split()[0]) is None:
        found.append("there is no C and C++ compiler")
        packages.append("g++")
    return found, packages


def main():
    """Exit status 1, and the reasons on standard error, where something is missing."""
    found, packages = problems()
    for text in found:
        sys.stderr.write(f"make: {text}\n")
    if packages:
        sys.stderr.write("make: on Debian and Ubuntu: sudo apt-get install " + " ".join(packages) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
