"""New files: names by date and time, different for two files of the same second, and folders that can be written."""

from __future__ import annotations

import errno
import os
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


def prepare(folder: Path) -> None:
    """Create a folder if necessary.

    Raises:
        OSError: the folder cannot be created, or no file can be created in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def reserved(folder: Path, stem: str, suffix: str) -> Path:
    """Create an empty file, in a folder that is created if necessary; no other process gets the same one.

    Raises:
        OSError: the file cannot be created.
    """
    prepare(folder)
    for path in names(folder, stem, suffix):
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise AssertionError("the names have no end")
