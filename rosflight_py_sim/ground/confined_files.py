"""Files by names that others have given: a message or service call may name only those in folders chosen by the user.

Any program that reaches the graph can send such a name, so that the name must not select the user's other files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rosflight_py_sim.ground.parameters import ParameterError


class FileOutsideError(ValueError):
    """A file outside of the allowed folders; the text names both."""


def is_file(path: Path) -> bool:
    """Whether a path names an accessible file.

    `Path.is_file` raises an error for a name that is too long, and for a folder that the user must not read.
    """
    try:
        return path.is_file()
    except OSError:
        return False


def expanded(name: str) -> Path:
    """A path in which `~` at the beginning is the user's home folder.

    Raises:
        ParameterError: the home folder is unknown.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ParameterError(
            f"'{name}' given, but the home folder is unknown: set the environment variable HOME, or give an absolute "
            "path"
        ) from error


def confined_file(name: str, folders: Sequence[Path], *, installed: Sequence[Path] = ()) -> Path:
    """Absolute path of a file in one of the folders or below; a relative name is relative to the first.

    Symbolic links count as the file that they lead to, except below `installed`: a workspace that was built with
    symbolic links has them there.

    Raises:
        FileOutsideError: the file is in none of the folders, or the name is not a path.
    """
    if any(Path(os.path.normpath(name)).is_relative_to(folder) for folder in installed):
        return Path(os.path.normpath(name))
    allowed = list(dict.fromkeys(folder.resolve() for folder in folders))
    try:
        path = (allowed[0] / name).resolve()
    except (ValueError, OSError, RuntimeError) as error:  # a null byte, or a loop of links
        raise FileOutsideError(f"'{name}' is not a path: {error}") from error
    if not any(path.is_relative_to(folder) for folder in allowed):
        folders_text = ", ".join(map(str, dict.fromkeys((*allowed, *installed))))
        raise FileOutsideError(f"'{name}' is outside of the allowed folders: {folders_text}")
    return path
