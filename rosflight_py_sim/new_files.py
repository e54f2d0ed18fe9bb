"""Names of new files: by date and time, and different for two files of the same second."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import count
from pathlib import Path


def names(folder: Path, stem: str, suffix: str) -> Iterator[Path]:
    """Names to try for a new file: multirotor-20260101-120000.png, multirotor-20260101-120000-2.png, and so on."""
    name = f"{stem}-{datetime.now():%Y%m%d-%H%M%S}"
    yield folder / f"{name}{suffix}"
    for number in count(2):
        yield folder / f"{name}-{number}{suffix}"


def reserved(folder: Path, stem: str, suffix: str) -> Path:
    """Create an empty file, in a folder that is created if necessary; no other process gets the same one.

    Raises:
        OSError: the file cannot be created.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in names(folder, stem, suffix):
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise AssertionError("the names have no end")
