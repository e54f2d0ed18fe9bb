"""Files that a message or service call may name: only those in the folders that the user has chosen.

Any program that reaches the graph can send such a name, so that the name must not select the user's other files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class FileOutsideError(ValueError):
    """A file outside of the allowed folders; the text names both."""


def confined_file(name: str, folders: Sequence[Path]) -> Path:
    """Absolute path of a file in one of the folders or below; a relative name is relative to the first.

    Symbolic links count as the file that they lead to.

    Raises:
        FileOutsideError: the file is in none of the folders, or the name is not a path.
    """
    allowed = list(dict.fromkeys(folder.resolve() for folder in folders))
    try:
        path = (allowed[0] / name).resolve()
    except (ValueError, OSError, RuntimeError) as error:  # a null byte, or a loop of links
        raise FileOutsideError(f"'{name}' is not a path: {error}") from error
    if not any(path.is_relative_to(folder) for folder in allowed):
        raise FileOutsideError(f"'{name}' is outside of the allowed folders: {', '.join(map(str, allowed))}")
    return path
