"""Aircraft files of JSBSim: those of the installed package, and those of a folder of the user's own."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from rosflight_py_sim.ground.parameters import ParameterError


def jsbsim_module() -> Any:
    """The package jsbsim; raises ParameterError if it is not installed."""
    try:
        return import_module("jsbsim")
    except ImportError as error:
        raise ParameterError(f"the aircraft of JSBSim need the package jsbsim (pip install jsbsim): {error}") from error


def aircraft_names() -> list[str]:
    """Aircraft in the installed jsbsim package."""
    return sorted(path.name for path in _package_folder().iterdir() if (path / f"{path.name}.xml").is_file())


def aircraft_file(given: str) -> Path:
    """File of an aircraft of the package, by name, or of a folder, by a path that contains a slash.

    In a folder it is the file of the folder's name or else the only XML file with the root element `fdm_config`.

    Raises:
        ParameterError: there is no such aircraft, no such folder, or no single aircraft in the folder.
    """
    if "/" not in given:
        names = aircraft_names()
        if given not in names:
            raise ParameterError(
                f"parameter 'aircraft': {given!r} given; allowed: one of {', '.join(names)}, or the path of a folder "
                f"that contains an aircraft's files"
            )
        return _package_folder() / given / f"{given}.xml"
    try:
        folder = Path(given).resolve()
        paths = [path for path in sorted(folder.iterdir()) if path.suffix == ".xml" and path.is_file()]
        files = [path for path in paths if _is_aircraft(path)]
    except (OSError, ValueError) as error:
        raise ParameterError(f"parameter 'aircraft': folder {given!r} cannot be read: {error}") from error
    chosen = [path for path in files if path.stem == folder.name] or files
    if len(chosen) != 1:
        found = ", ".join(path.name for path in files) or "none"
        raise ParameterError(
            f"parameter 'aircraft': folder {given!r} given; aircraft files (root element fdm_config) in it: {found}; "
            f"allowed: {folder.name}.xml, or only one"
        )
    return chosen[0]


def load_without_side_effects(fdm: Any, file: Path) -> bool:
    """Load an aircraft without its output files and sockets; returns whether JSBSim could.

    Engines and systems come from the folders Engines and Systems beside the file, then from the package.

    Raises:
        RuntimeError: the file is not XML, or JSBSim cannot load it; the text gives the reason.
    """
    root = Path(fdm.get_root_dir())
    with TemporaryDirectory() as parent:
        folder = Path(parent) / file.stem
        folder.mkdir()
        for path in file.parent.iterdir():
            if path.name != file.name:
                (folder / path.name).symlink_to(path)
        try:
            tree = ElementTree.parse(file)  # noqa: S314 (a file of the installed package or one that the user names)
        except ElementTree.ParseError as error:
            raise RuntimeError(f"{file.name} is not XML: {error}") from error
        for element in [e for kind in ("input", "output") for e in tree.getroot().findall(kind)]:
            tree.getroot().remove(element)
        tree.write(folder / file.name)
        return bool(fdm.load_model_with_paths(file.stem, parent, str(root / "engine"), str(root / "systems")))


def collector(jsbsim: Any, lines: list[str]) -> Any:
    """Logger for JSBSim that keeps only warnings and errors."""

    class Collector(jsbsim.FGLogger):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._text = ""
            self._counts = False

        def set_level(self, level: Any) -> None:
            self._text = ""
            self._counts = jsbsim.LogLevel.WARN <= level <= jsbsim.LogLevel.FATAL

        def file_location(self, filename: str, line: int) -> None:
            self._text += f"{Path(filename).name}, line {line}: "

        def message(self, message: str) -> None:
            self._text += message

        def format(self, format: Any) -> None:  # noqa: A002 (JSBSim's name for it)
            """Ignore the colour."""

        def flush(self) -> None:
            if self._counts and len(lines) < 100:
                lines.append(" ".join(self._text.split()))

    return Collector()


def _package_folder() -> Path:
    return Path(jsbsim_module().get_default_root_dir()) / "aircraft"


def _is_aircraft(path: Path) -> bool:
    """Whether the root element of an XML file is fdm_config."""
    try:
        _, root = next(ElementTree.iterparse(path, events=("start",)))  # noqa: S314 (a file that the user names)
    except (ElementTree.ParseError, StopIteration):
        return False
    return bool(root.tag == "fdm_config")
