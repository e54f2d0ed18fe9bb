"""Pin the newest allowed versions of all packages, for `make lock`.

requirements.lock has the wheels of Kilted and every other package. requirements-jazzy.lock has Jazzy's wheels and what
only they require; it replaces the wheels of Kilted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

from build_requirements import build_requirements
from install_lock import LOCK, lock_of, without_ros
from lock_sets import entries

EXTRAS = ("all", "docs", "fuzz", "ray", "release", "test")


def compiled(distribution: str, *options: str) -> str:
    """Lock file with all packages, for one ROS 2 distribution."""
    written = subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-config", "--upgrade", "--universal"),
            *("--python-version", "3.10", "--generate-hashes", "--custom-compile-command", "make lock"),
            *("--override", "tools/lock_overrides.txt", *options),
            *(word for extra in (*EXTRAS, distribution) for word in ("--extra", extra)),
            *("setup.py", "rosflight_msgs/pyproject.toml", "-"),
        ],
        input="\n".join(build_requirements()),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return written.stdout


def ros_wheels(distribution: str, common: str) -> str:
    """Lock file with the ROS packages of a distribution.

    Raises:
        subprocess.CalledProcessError: the versions of `common` do not meet the distribution's requirements.
    """
    shared = without_ros(common)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as others:
        others.write(shared)
        others.flush()
        whole = compiled(distribution, "--constraint", others.name, f"tools/{distribution}_requirements.txt")
    head = whole[: whole.index("\n", whole.index("make lock")) + 1]
    common_names = {name for name, _ in entries(shared)}
    own = "".join(entry for name, entry in entries(whole) if name not in common_names)
    return head + own.replace(others.name, str(LOCK))


def main() -> None:
    """Write both files."""
    common = compiled("kilted")
    LOCK.write_text(common, encoding="utf-8")
    lock_of("jazzy").write_text(ros_wheels("jazzy", common), encoding="utf-8")


if __name__ == "__main__":
    main()
