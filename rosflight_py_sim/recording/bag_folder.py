"""Parts of a recording: one file, or the files of a rosbag2 folder in the order in which they were recorded.

`ros2 bag record` writes a folder with metadata.yaml and one file, or several if it splits the recording. Only metadata
of versions 4 and newer (ROS 2 Foxy, 2020) occur with MCAP. If the recorder was killed, metadata.yaml is missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.ground.bounded_yaml import load_yaml
from rosflight_py_sim.ground.confined_files import is_file

METADATA = "metadata.yaml"

_STORAGE = "mcap"
_COMPRESSION = "zstd"
_SUFFIXES = (".mcap", f".mcap.{_COMPRESSION}")

# The other storage of rosbag2.
_SQLITE = "sqlite3"
_SQLITE_SUFFIXES = (".db3", f".db3.{_COMPRESSION}")


class BagError(ValueError):
    """A folder that is not a rosbag2 recording in MCAP; the text gives the reason."""


@dataclass
class Parts:
    """Files of a recording.

    Attributes:
        files: in the order of recording.
        compressed_messages: whether each message is compressed by zstd.
        trouble: what is missing; empty if the recording is complete.
    """

    files: list[Path]
    compressed_messages: bool = False
    trouble: list[str] = field(default_factory=list)


def parts_of(path: Path) -> Parts:
    """Files of a recording: the path itself, or those of a rosbag2 folder.

    Raises:
        BagError: a folder that is not a rosbag2 recording in MCAP.
        OSError: the folder cannot be read.
    """
    if path.is_file() and path.name.endswith(_SQLITE_SUFFIXES):
        raise _other_storage(path, _SQLITE)
    if not path.is_dir():
        return Parts([path])
    metadata = path / METADATA
    if metadata.is_file():
        return _described(path, metadata)
    names = [file.name for file in path.iterdir()]
    files = sorted((path / name for name in names if name.endswith(_SUFFIXES)), key=_numbered)
    if not files and any(name.endswith(_SQLITE_SUFFIXES) for name in names):
        raise _other_storage(path, _SQLITE)
    if not files:
        raise BagError(f"'{path}' is a folder without {METADATA} and without MCAP files")
    return Parts(files, trouble=[f"{METADATA} is missing"])


def _described(folder: Path, metadata: Path) -> Parts:
    """Parts that metadata.yaml lists."""
    try:
        document = load_yaml(metadata.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise BagError(f"'{metadata}' is not YAML: {' '.join(str(error).split())}") from error
    section: Any = document.get("rosbag2_bagfile_information") if isinstance(document, dict) else None
    if not isinstance(section, dict):
        raise BagError(f"'{metadata}' lacks the key rosbag2_bagfile_information")
    storage = section.get("storage_identifier")
    if storage != _STORAGE:
        raise _other_storage(folder, storage)
    compression, mode = (str(section.get(f"compression_{key}") or "").lower() for key in ("format", "mode"))
    if mode not in ("", "none", "file", "message") or (mode in ("file", "message") and compression != _COMPRESSION):
        raise BagError(f"'{folder}' is compressed by '{compression}' ({mode}); allowed: {_COMPRESSION} (file, message)")
    names = section.get("relative_file_paths")
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise BagError(f"'{metadata}' has no list relative_file_paths")
    # Metadata of early versions begin each path with the folder's name.
    outside = [name for name in names if str(Path(name).parent) not in (".", folder.resolve().name)]
    if outside:
        raise BagError(f"'{metadata}' names '{outside[0]}'; allowed: files in the same folder")
    files = [folder / Path(name).name for name in names]
    missing = [f"the file {file.name} is missing" for file in files if not is_file(file)]
    return Parts([file for file in files if is_file(file)], mode == "message", missing)


def _other_storage(path: Path, storage: object) -> BagError:
    return BagError(
        f"'{path}' is a recording in the storage '{storage}'; allowed: {_STORAGE}, to which `ros2 bag convert` "
        "converts it"
    )


def _numbered(file: Path) -> tuple[list[int], str]:
    """Order of the parts NAME_0.mcap, NAME_1.mcap, ..., NAME_10.mcap."""
    return [int(digits) for digits in re.findall(r"_(\d+)\.mcap", file.name)], file.name
