"""Vehicle and world files that a call of the standard services gives by name or by content."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from rosflight_py_sim.ground.confined_files import FileOutsideError, confined_file, expanded, is_file
from rosflight_py_sim.ground.parameters import Parameter, ParameterError
from rosflight_py_sim.ground.registry import registered_folders
from rosflight_py_sim.ground.resources import installed_shares, share_directory
from rosflight_py_sim.ground.yaml_section import read_file
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.vehicles import Vehicle, known_vehicles, vehicle
from rosflight_py_sim.vehicles.vehicle_file import VEHICLES, MissingFileError, read_vehicle
from rosflight_py_sim.world import DRY_LAND, World, WorldError, known_worlds, load_world
from rosflight_py_sim.world.world_file import base_of

RESOURCE_FOLDER = Parameter(
    "resource_folder",
    "",
    "Folder of the vehicle and world files that calls of the standard services may name; if empty, the node's working "
    "directory. Files in this package's config/, in registered folders and in share/ of installed ROS packages are "
    "also allowed. With /, all files are allowed",
    read_only=True,
)

FORMATS = ("yaml",)
"""Formats of files."""

DRY_LAND_NAME = "dry land"
"""Name of level ground, the world without a file."""

_SUFFIXES = (".yaml", ".yml")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_OTHER_FORMAT = re.compile(r"\s*(<|#usda|PXR-USDC)")
_GIVEN_TEXT = "resource_string"


class VehicleCode(IntEnum):
    """Codes of SpawnEntity for resources."""

    UNSUPPORTED_FORMAT = 103
    NO_RESOURCE = 104
    PARSE_ERROR = 106
    MISSING_ASSETS = 107
    UNSUPPORTED_ASSETS = 108


class WorldCode(IntEnum):
    """Codes of LoadWorld."""

    UNSUPPORTED_FORMAT = 101
    NO_RESOURCE = 102
    PARSE_ERROR = 103


Codes: TypeAlias = type[VehicleCode] | type[WorldCode]


@dataclass(frozen=True)
class Given:
    """A resource of a request: a name or file, or the content of a file.

    Attributes:
        name: name in the catalogue; otherwise empty.
        file: path of the file; otherwise None.
        text: content of the file; otherwise empty.
    """

    name: str = ""
    file: Path | None = None
    text: str = ""


class Resources:
    """Finds the files of requests, only in allowed folders, because every program in the graph can send requests."""

    def __init__(self, folder: str) -> None:
        """Allow a folder, and the folders of this package and of installed packages."""
        groups = [registered_folders(group)[0] for group in ("vehicles", "worlds")]
        self._copies, self._numbers = TemporaryDirectory(prefix="rosflight_py_sim_"), itertools.count()
        self._folders = [expanded(folder), share_directory() / "config", *(one for group in groups for one in group)]

    def given(self, request: Any, field: str, names: Sequence[str], codes: Codes) -> Given:
        """The resource of a request, of any release of the types.

        Args:
            request: the request, which has the fields uri and resource_string itself or in another field.
            field: name of that other field, from release 2 on.
            names: names in the catalogue.
            codes: codes of the service.

        Raises:
            RefusedError: the request has no resource, or its format is not supported, or its file does not exist.
        """
        resource = getattr(request, field, request)
        uri, text = resource.uri, resource.resource_string
        allowed = f"a name ({', '.join(names)}), or the path of a file that ends in {' or '.join(_SUFFIXES)}"
        if not uri and not text:
            raise RefusedError(codes.NO_RESOURCE, f"neither uri nor resource_string given; allowed: as uri {allowed}")
        if not uri:
            if _OTHER_FORMAT.match(text):
                raise RefusedError(
                    codes.UNSUPPORTED_FORMAT, f"resource_string '{text.strip()[:20]}...' given; allowed: YAML"
                )
            return Given(text=text)
        if uri in names:
            return Given(name=uri)
        path = _path_of(uri)
        if path is None or Path(path).suffix not in ("", *_SUFFIXES):
            raise RefusedError(codes.UNSUPPORTED_FORMAT, f"uri '{uri}' given; allowed: {allowed}")
        file = self._confined(path)
        if not Path(path).suffix or not is_file(file):
            raise RefusedError(Code.NOT_FOUND, f"uri '{uri}' given, which does not exist; allowed: {allowed}")
        return Given(file=file)

    def _confined(self, path: str) -> Path:
        try:
            return confined_file(path, self._folders, installed=installed_shares())
        except FileOutsideError as error:
            raise RefusedError(
                Code.OPERATION_FAILED, f"{error}; the parameter {RESOURCE_FOLDER.name} allows another"
            ) from error

    def vehicle_of(self, request: Any) -> Vehicle:
        """The vehicle that a request is to spawn.

        Raises:
            RefusedError: there is none, or its file is invalid.
        """
        given = self.given(request, "entity_resource", known_vehicles(), VehicleCode)
        virtual = VEHICLES / "vehicle.yaml"
        try:
            if given.name:
                return vehicle(given.name)
            if given.file is not None:
                return read_vehicle(given.file)
            found = read_vehicle(virtual, given.text)
        except ParameterError as error:
            code = VehicleCode.MISSING_ASSETS if isinstance(error, MissingFileError) else VehicleCode.PARSE_ERROR
            raise RefusedError(code, str(error).replace(str(virtual), _GIVEN_TEXT)) from error
        for file in _files_of(found):
            self._confined(str(file))
        return found

    def world_of(self, request: Any) -> tuple[World, str]:
        """The world that a request is to load, and the value of the parameter `world` that selects it.

        Raises:
            RefusedError: there is none, or its file is invalid.
        """
        given = self.given(request, "world_resource", [DRY_LAND_NAME, *known_worlds()], WorldCode)
        if given.name == DRY_LAND_NAME:
            return DRY_LAND, ""
        value = given.name or str(given.file)
        if given.text:
            # The nodes read it when they are created.
            file = Path(self._copies.name) / f"{next(self._numbers)}" / "world.yaml"
            file.parent.mkdir()
            file.write_text(given.text, encoding="utf-8")
            value = str(file)
        try:
            if given.text:
                base = base_of(read_file(Path(value), WorldError))
                if base is not None:
                    self._confined(str(base))
            return load_world(value), value
        except WorldError as error:
            raise RefusedError(WorldCode.PARSE_ERROR, str(error).replace(value, _GIVEN_TEXT)) from error

    def close(self) -> None:
        """Remove the files that hold the content of requests."""
        self._copies.cleanup()


def _path_of(uri: str) -> str | None:
    """Path of a local file; None for any other kind of address."""
    if not _SCHEME.match(uri):
        return uri
    parts = urlsplit(uri)
    is_local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return unquote(parts.path) if is_local else None


def _files_of(chosen: Vehicle) -> list[Path]:
    """Files that the nodes of a vehicle read."""
    pairings = [one.file for one in chosen.pairings.values()]
    own = [chosen.parameter_file, chosen.firmware_file, chosen.waypoint_file, chosen.weather_file]
    return [*filter(None, own), *pairings]
