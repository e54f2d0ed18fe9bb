"""Description of a composed run in its recording, from which the run can be repeated."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rosflight_py_sim import __version__
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.parameter_files import files_of_arguments
from rosflight_py_sim.vehicles import Actuator, Pairing, Vehicle, reference, vehicle

FORMAT = "1"
"""Version of the description."""

# Fields of a vehicle that are files, and that nodes read.
_FILES = ("parameter_file", "firmware_file", "weather_file", "waypoint_file")


@dataclass(frozen=True)
class RunDescription:
    """What a composed graph was made from.

    Attributes:
        members: the vehicles.
        options: arguments of `ComposedGraph` that JSON can hold: files, settings, arguments, time_mode and others.
        joined: classes of nodes that have been added to the graph.
        unrepeatable: inputs that a recording does not hold.
        paced: whether the simulation had a pace.
        versions: versions of this package and of what its numbers depend on.
        changed: files that have changed since the recording, whose recorded contents are used.
    """

    members: Sequence[Member]
    options: Mapping[str, Any]
    joined: Sequence[str]
    unrepeatable: Sequence[str]
    paced: bool
    versions: Mapping[str, str]
    changed: Sequence[Path] = ()

    def metadata(self) -> dict[str, str]:
        """The description with the contents of all parameter files, as metadata of a recording."""
        contents = {str(file): _contents(file) for file in self._files()}
        return {
            "format": FORMAT,
            "members": json.dumps([member_data(one) for one in self.members]),
            "options": json.dumps(dict(self.options)),
            "joined": json.dumps(list(self.joined)),
            "unrepeatable": json.dumps(list(self.unrepeatable)),
            "paced": json.dumps(self.paced),
            "versions": json.dumps(dict(self.versions)),
            "contents": json.dumps(contents),
        }

    def _files(self) -> Iterable[Path]:
        for member in self.members:
            for name in _FILES:
                if getattr(member.vehicle, name) is not None:
                    yield getattr(member.vehicle, name)
            yield from (pairing.file for pairing in member.vehicle.pairings.values())
            yield from member.files
        yield from map(Path, self.options["files"])
        yield from map(Path, files_of_arguments(self.options["arguments"]))


def versions() -> dict[str, str]:
    """Versions of this package and of what its numbers depend on."""
    return {
        "rosflight_py_sim": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "processor type": platform.machine(),
    }


def recorded_run(metadata: Mapping[str, str], folder: Path) -> RunDescription:
    """The description in a recording; files that have changed since are restored in a folder.

    Raises:
        ParameterError: the description is missing or cannot be read, or a vehicle does not exist here.
    """
    if not metadata:
        raise ParameterError(
            "the recording does not describe its run; allowed: recordings that `sim` or `fly` made with --record"
        )
    if metadata.get("format") != FORMAT:
        raise ParameterError(f"the recording's description has the format {metadata.get('format')}; allowed: {FORMAT}")
    try:
        contents: dict[str, str] = json.loads(metadata["contents"])
        found = {Path(name): _restored(Path(name), text, folder) for name, text in contents.items()}
        options: dict[str, Any] = json.loads(metadata["options"])

        def file_of(name: str) -> str:
            return str(found.get(Path(name), name))

        options["files"] = [file_of(name) for name in options["files"]]
        options["arguments"] = [file_of(word) if word in contents else word for word in options["arguments"]]
        return RunDescription(
            [member_of(data, file_of) for data in json.loads(metadata["members"])],
            options,
            json.loads(metadata["joined"]),
            json.loads(metadata["unrepeatable"]),
            json.loads(metadata["paced"]),
            json.loads(metadata["versions"]),
            [old for old, new in found.items() if new != old],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ParameterError(f"the recording's description of its run cannot be read: {error!r}") from error


def _contents(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _restored(file: Path, text: str, folder: Path) -> Path:
    """The file itself if it has this content; otherwise a new file that does."""
    if file.is_file() and _contents(file) == text:
        return file
    restored = folder / f"{len(list(folder.iterdir()))}-{file.name}"
    restored.write_text(text, encoding="utf-8")
    return restored


def member_data(member: Member) -> dict[str, Any]:
    """The vehicle as data that JSON can hold."""
    data = {one.name: getattr(member, one.name) for one in fields(Member)}
    chosen = member.vehicle
    data["vehicle"] = {one.name: getattr(chosen, one.name) for one in fields(Vehicle)} | {
        "reference": reference(chosen),
        "mission": None,
        "actuators": [vars(one) for one in chosen.actuators],
        "pairings": {name: vars(one) for name, one in chosen.pairings.items()},
    }
    data["settings"] = dict(member.settings)
    converted: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return converted


def member_of(data: Mapping[str, Any], file_of: Callable[[str], str] = str) -> Member:
    """The vehicle of `member_data`; `file_of` maps the name of each of its files to the name of the file to use."""
    described = dict(data["vehicle"])
    path = partial(_path, file_of)
    described |= {name: path(described[name]) for name in _FILES}
    described["file"] = Path(described["file"])
    described["actuators"] = tuple(Actuator(**one) for one in described["actuators"])
    described["extra_nodes"] = tuple(described["extra_nodes"])
    described["pairings"] = {
        name: Pairing(**{**one, "file": path(one["file"])}) for name, one in described["pairings"].items()
    }
    # The mission's program stays that of the installed vehicle.
    described["mission"] = _mission_of(described.pop("reference"))
    member = Member(**{**data, "vehicle": Vehicle(**described)})
    return replace(
        member,
        files=tuple(Path(file_of(str(file))) for file in member.files),
        executables=tuple(member.executables),
    )


def _mission_of(name: str) -> Any:
    try:
        return vehicle(name).mission
    except ParameterError:
        return None


def _path(file_of: Callable[[str], str], name: str | None) -> Path | None:
    return None if name is None else Path(file_of(name))
