"""Check that this machine meets the requirements of `make`, and report everything that is missing in one message.

The Makefile runs this file with the Python for the virtual environment. That Python may be too old, so this file is
restricted to the syntax of Python 3.6.
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
    """Descriptions of what is missing, and the Debian packages that provide it."""
    found, packages = [], []
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return [
            f"{sys.executable} is Python {version}; Python 3.10 to 3.14 is required. To use another one, run: "
            "make PYTHON=python3.12 ..."
        ], []
    if sys.platform != "linux" or platform.machine() != "x86_64":
        found.append("ROS 2 wheels exist only for Linux on x86-64; on other systems build with colcon (see README)")
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
        found.append("a C and C++ compiler is missing")
        packages.append("g++")
    return found, packages


def main():
    """Return the exit status: 1, with the reasons on standard error, if something is missing."""
    found, packages = problems()
    for text in found:
        sys.stderr.write(f"make: {text}\n")
    if packages:
        sys.stderr.write("make: on Debian and Ubuntu: sudo apt-get install " + " ".join(packages) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
