"""Write a version to every file that states it, and the date of the release: `tools/set_version.py 1.1.0`."""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]

STATED = {
    "setup.cfg": r"(?m)^version = (.*)$",
    "package.xml": r"<version>(.*)</version>",
    "rosflight_py_sim/__init__.py": r'__version__ = "(.*)"',
    "CITATION.cff": r"(?m)^version: (.*)$",
}
"""Pattern of the version in each file that states it."""

_DATE = r'(?m)^date-released: "(.*)"$'


def main() -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", type=version, help="three numbers, such as 1.1.0")
    parser.add_argument("--date", type=datetime.date.fromisoformat, default=datetime.date.today())
    options = parser.parse_args()
    for name, pattern in STATED.items():
        replace(PROJECT / name, pattern, options.version)
    replace(PROJECT / "CITATION.cff", _DATE, options.date.isoformat())
    return 0


def version(text: str) -> str:
    """A version of three numbers.

    Raises:
        ValueError: the text is none.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise ValueError(text)
    return text


def stated(name: str) -> str:
    """The version that a file states."""
    found = re.search(STATED[name], (PROJECT / name).read_text(encoding="utf-8"))
    assert found is not None, name
    return found[1]


def replace(file: Path, pattern: str, text: str) -> None:
    """Replace what the group of a pattern matches in a file."""
    before = file.read_text(encoding="utf-8")
    found = re.search(pattern, before)
    assert found is not None, file
    file.write_text(before[: found.start(1)] + text + before[found.end(1) :], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
