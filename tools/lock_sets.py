"""The packages of requirements.lock that some extras of setup.cfg need.

The comments of the lock file name the packages that require each package. What an extra needs follows from them without
a network.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable
from pathlib import Path

from build_requirements import build_requirements

PROJECT = Path(__file__).parents[1]


def entries(lock: str) -> list[tuple[str, str]]:
    """Names of the packages of a lock file, and their entries, with hashes; a package may have several, for Pythons."""
    found = re.finditer(r"^([a-z0-9._-]+)(?:\[[^]]*\])?==.*\n(?:[ \t].*\n?)*", lock, re.MULTILINE)
    return [(entry[1], entry[0]) for entry in found]


def package_name(requirement: str) -> str:
    """Name of the package of a requirement such as `PyYAML>=6.0`, as lock files write it."""
    return re.split(r"[\s\[<>=~;!]", requirement.strip())[0].lower().replace("_", "-")


def requirements(extras: Iterable[str]) -> set[str]:
    """Names of the packages that this package, its build and some of its extras require directly.

    Raises:
        SystemExit: setup.cfg has no extra of that name.
    """
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(PROJECT / "setup.cfg", encoding="utf-8")
    declared = parser["options.extras_require"]
    lines = parser["options"]["install_requires"].splitlines() + build_requirements()
    waiting, seen = list(extras), set()
    while waiting:
        extra = waiting.pop()
        if extra not in declared:
            raise SystemExit(f"extra {extra} given; allowed: {', '.join(declared)}")
        if extra in seen:
            continue
        seen.add(extra)
        for line in filter(None, declared[extra].splitlines()):
            own = re.fullmatch(r"rosflight_py_sim\[([a-z,_]+)\]", line)
            if own is not None:
                waiting += own[1].split(",")
            else:
                lines.append(line)
    return {package_name(line) for line in lines if line}


def needed(lock: str, extras: Iterable[str]) -> set[str]:
    """Names of the packages of a lock file that some extras need, and what these packages need in turn."""
    required_by: dict[str, set[str]] = {}
    of_builds: set[str] = set()
    for name, entry in entries(lock):
        comments = re.findall(r"^ +# (?:via )?(?: *)([a-z0-9._-]+)", entry, re.MULTILINE)
        required_by.setdefault(name, set()).update(comments)
        # Required by a file of requirements, which hold those of builds.
        if "-r" in comments:
            of_builds.add(name)
    found, waiting = set(), requirements(extras) | of_builds
    while waiting:
        found |= waiting
        waiting = {name for name, by in required_by.items() if by & waiting} - found
    return found & required_by.keys()


def part_of(lock: str, extras: Iterable[str]) -> str:
    """The entries of a lock file that some extras need."""
    names = needed(lock, extras)
    return "".join(entry for name, entry in entries(lock) if name in names)
