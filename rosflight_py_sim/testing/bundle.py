"""Bundle of a failed test: recording, picture, and a description with seed, parameters and versions."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rosflight_py_sim.graph.run_description import versions
from rosflight_py_sim.graph.simulation_file import write_simulation
from rosflight_py_sim.graph.simulation_options import SimulationOptions
from rosflight_py_sim.ground.registry import is_place
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.missions.overview_picture import draw_overview
from rosflight_py_sim.missions.recorded_mission import recorded_missions
from rosflight_py_sim.recording.mcap_file import NotMcapError, read_recording
from rosflight_py_sim.sweep.expressions import series_of
from rosflight_py_sim.testing.flight import Flight

RECORDING, PICTURE, DESCRIPTION = "recording.mcap", "flight.png", "bundle.yaml"
"""Files of a bundle."""

# Longest system time of the flight that is recorded, s, after which it counts as locked up.
_LONGEST_S = 900.0


def write_bundle(folder: Path, test: str, failure: str, keys: Mapping[str, Any], flight: Flight) -> str:
    """Write the bundle of a failed test; return lines that say where it is and how to repeat the flight.

    A flight without ROS is flown again in a composed graph, in a process of its own, which records it.

    Args:
        folder: its folder, which is replaced.
        test: name of the test.
        failure: why it failed.
        keys: keys of the simulation, as in the test.
        flight: the flight.

    Raises:
        OSError: the files cannot be written.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    recording = folder / RECORDING
    imports = _import_folders(flight)
    trouble = _record(flight, recording, imports)
    difference = "" if trouble else _difference(flight, recording)
    has_ended = bool(flight.judges)
    command = _with_imports(imports, f"rosflight_py_sim refly {shlex.quote(str(recording))}")
    lines = [f"bundle: {folder}"]
    if trouble:
        lines.append(f"no recording: {trouble}")
    elif not has_ended:
        lines.append("the flight ended with an exception, and so does the recording")
    elif difference:
        lines.append(f"the recording differs from the flight of the test: {difference}")
    else:
        lines.append("the recording equals the flight of the test, bit for bit")
    if not trouble:
        lines.append(f"fly it again: {command}")
        lines.append(f"watch it: rosflight_py_sim replay {shlex.quote(str(recording))}")
    if no_picture := _draw(flight, folder / PICTURE):
        lines.append(f"no picture: {no_picture}")
    description = {
        "test": test,
        "failure": failure,
        "flown": flight.flown.title,
        "duration_s": flight.flown.end_s,
        "simulation": {name: _readable(value) for name, value in keys.items()},
        "versions": versions(),
        "notes": lines[1:],
    }
    text = yaml.safe_dump(description, sort_keys=False, allow_unicode=True, width=120)
    (folder / DESCRIPTION).write_text(text, encoding="utf-8")
    return "\n".join(lines)


def folder_of(test: str) -> str:
    """Name of the folder of a test's bundle."""
    return re.sub(r"[^A-Za-z0-9_.=+-]+", "-", test.replace(".py::", "-")).strip("-.")[:150]


def _record(flight: Flight, recording: Path, imports: Sequence[Path]) -> str:
    """Put the recording of the flight there; return why there is none, or an empty text."""
    if flight.with_ros:
        if not Path(flight.recording).is_file():
            return "recording needs mcap: pip install 'rosflight_py_sim[record]'"
        shutil.move(flight.recording, recording)
        return ""
    if find_spec("mcap") is None:
        return "recording needs mcap: pip install 'rosflight_py_sim[record]'"
    simulation = write_simulation(SimulationOptions(), flight.scenario)
    program = "rosflight_py_sim.testing.record_again"
    # pytest has added folders to the path from which the modules of the tests import others.
    paths = [*map(str, imports), *filter(None, sys.path)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", program, str(simulation), str(recording), repr(flight.limit_s)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the flight that is recorded did not end within {_LONGEST_S:g} s"
    finally:
        simulation.unlink(missing_ok=True)
    # A flight of the test that raised an exception does so again.
    if not recording.is_file() or (done.returncode and flight.judges):
        return f"the flight cannot be recorded: {done.stderr.strip() or f'exit code {done.returncode}'}"
    return ""


def _difference(flight: Flight, recording: Path) -> str:
    """First difference between the flight and its recording, in words; empty if they are equal."""
    try:
        recorded = {one.vehicle_name: one.judge for one in recorded_missions(read_recording(recording, _everything))}
    except NotMcapError as error:
        return str(error)
    for judge in flight.judges:
        other = recorded.get(judge.name)
        if other is None:
            if judge.has_begun:
                return f"no mission of {judge.name} in it"
            continue
        other.log.cut(flight.limit_s)
        if text := _difference_of(judge, other):
            return f"{judge.name}: {text}"
    return ""


def _difference_of(judge: MissionJudge, other: MissionJudge) -> str:
    if len(judge.log) != len(other.log):
        return f"{len(other.log)} rows of the log instead of {len(judge.log)}"
    recorded = series_of(other.log)
    for name, series in series_of(judge.log).items():
        equal = np.atleast_2d(series.view(np.int64) == recorded[name].view(np.int64)) if len(judge.log) else np.ones(1)
        if not np.all(equal):
            row = int(np.argmin(np.all(equal, axis=0)))
            return f"{name} at {judge.log.time_s[row]:.2f} s"
    return ""


def _everything(name: str, type_name: str) -> int:
    return sys.maxsize


def _draw(flight: Flight, picture: Path) -> str:
    """Draw the flight; return why there is no picture, or an empty text."""
    begun = [one for one in flight.judges if one.has_begun]
    if not begun:
        return "the mission did not begin, or has no verdict"
    try:
        if len(flight.judges) == 1:
            begun[0].draw(picture)
        else:
            draw_overview(flight.scenario.name, begun, picture)
    except (ImportError, OSError, ValueError) as error:
        return str(error)
    return ""


def _places(flight: Flight) -> Iterator[str]:
    """Places of the classes that the vehicles' nodes are."""
    for member in flight.scenario.members:
        chosen = member.vehicle
        named = (chosen.forces_and_moments, chosen.dynamics, chosen.sensors, chosen.transmitter, chosen.autopilot)
        further = (chosen.flight_controller, member.flight_controller, flight.scenario.time_manager)
        for name in (*named, *further, *chosen.extra_nodes, *member.executables):
            if is_place(name):
                yield name


def _import_folders(flight: Flight) -> list[Path]:
    """Folders that PYTHONPATH must have to import the classes that are named by their places."""
    folders: dict[Path, None] = {}
    for place in _places(flight):
        module = place.partition(":")[0]
        file = getattr(sys.modules.get(module), "__file__", None)
        if file is None:
            continue
        path = Path(file).resolve()
        depth = len(module.split(".")) - (0 if path.name == "__init__.py" else 1)
        folder = path.parents[depth]
        if folder not in map(Path, (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
            folders[folder] = None
    return list(folders)


def _with_imports(folders: Sequence[Path], command: str) -> str:
    """The command, with PYTHONPATH if a class is not in an installed package."""
    if not folders:
        return command
    return f"PYTHONPATH={shlex.quote(os.pathsep.join(map(str, folders)))} {command}"


def _readable(value: Any) -> Any:
    """A value of a key for the description."""
    if isinstance(value, Mapping):
        return {str(name): _readable(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_readable(one) for one in value]
    return value if isinstance(value, (str, bool, int, float)) else getattr(value, "__qualname__", str(value))
