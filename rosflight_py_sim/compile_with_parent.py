"""Program that runs `rosflight_py_sim compile` and ends with the process that started it."""

from __future__ import annotations

import sys

from rosflight_py_sim.executables import command
from rosflight_py_sim.ground.with_parent import end_with_parent


def main() -> None:
    """Compile; stdin is a pipe whose other end the parent process holds."""
    end_with_parent(0)
    sys.argv[1:] = ["compile"]
    command()


if __name__ == "__main__":
    main()
