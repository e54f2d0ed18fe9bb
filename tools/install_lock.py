"""Install the packages of requirements.lock into the environment of this Python, for make.

With the name of another ROS 2 distribution as argument, its lock file replaces the ROS packages.
With --extras, only the packages are installed that these extras of setup.cfg need.

pip installs uv, and uv the others in a third of pip's time. uv does not read pip's configuration, so it is passed on:
indexes, folders with packages, hosts and certificates.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
from pathlib import Path

from lock_sets import entries, part_of

LOCK = Path("requirements.lock")

_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]

# Settings of pip that may have several values, and options of uv.
_OPTIONS = {
    "index-url": "--index-url",
    "extra-index-url": "--extra-index-url",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
}

_INSTALL = ("install", "--no-deps", "--require-hashes")


def pip_settings() -> dict[str, str]:
    """pip's settings for `pip install`, from its files and the environment, by name; the environment comes first."""
    listed = subprocess.run([*_PIP, "config", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.findall(r"^(global|install|:env:)\.([\w-]+)=(.*)$", listed, re.MULTILINE)
    found.sort(key=lambda setting: ("global", "install", ":env:").index(setting[0]))
    return {name: str(ast.literal_eval(value)) for _, name, value in found}


def uv_options(settings: dict[str, str]) -> list[str]:
    """Options of uv for these settings of pip."""
    options = [
        word for name, option in _OPTIONS.items() for one in settings.get(name, "").split() for word in (option, one)
    ]
    return [*options, *(["--no-index"] if settings.get("no-index", "").lower() in ("1", "true", "yes", "on") else [])]


def uv_variables(settings: dict[str, str]) -> dict[str, str]:
    """Environment variables of uv for these settings of pip."""
    names = {
        "cert": "SSL_CERT_FILE",
        "proxy": "ALL_PROXY",
        "default-timeout": "UV_HTTP_TIMEOUT",
        "timeout": "UV_HTTP_TIMEOUT",
    }
    return {variable: settings[name] for name, variable in names.items() if name in settings}


def lock_of(distribution: str) -> Path:
    """Lock file of the ROS packages of a distribution other than that of requirements.lock."""
    return LOCK.with_stem(f"{LOCK.stem}-{distribution}")


def is_ros(package: str) -> bool:
    """Whether a package of a lock file belongs to a ROS 2 distribution."""
    return package.startswith("ros-")


def without_ros(lock: str) -> str:
    """The entries of a lock file for the packages that belong to no ROS 2 distribution."""
    return "".join(entry for name, entry in entries(lock) if not is_ros(name))


def pinned(name: str, lock: str) -> str:
    """The entry of one package in a lock file."""
    entry = "".join(entry for package, entry in entries(lock) if package == name)
    if not entry:
        raise SystemExit(f"{LOCK} lacks {name}; run make lock")
    return entry


def lock_for(distribution: str | None) -> str:
    """Lock file of an environment; None: with the ROS packages of requirements.lock."""
    common = LOCK.read_text(encoding="utf-8")
    if distribution is None:
        return common
    return without_ros(common) + lock_of(distribution).read_text(encoding="utf-8")


def main() -> None:
    """Install the packages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("distribution", nargs="?", help="ROS 2 distribution other than that of requirements.lock")
    parser.add_argument(
        "--extras", nargs="+", metavar="EXTRA", help="extras of setup.cfg; default: the whole lock file"
    )
    options = parser.parse_args()
    lock = lock_for(options.distribution)
    whole, own = Path(sys.prefix) / "packages.lock", Path(sys.prefix) / "uv.lock"
    whole.write_text(lock if options.extras is None else part_of(lock, options.extras), encoding="utf-8")
    own.write_text(pinned("uv", lock), encoding="utf-8")
    settings = pip_settings()
    subprocess.run([*_PIP, *_INSTALL, "--quiet", "-r", str(own)], check=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", *_INSTALL, "--no-config", "--python", sys.executable),
            *("--index-strategy", "unsafe-best-match", *uv_options(settings), "-r", str(whole)),
        ],
        env={**os.environ, **uv_variables(settings)},
        check=True,
    )


if __name__ == "__main__":
    main()
