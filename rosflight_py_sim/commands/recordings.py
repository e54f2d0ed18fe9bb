"""Commands `rosflight_py_sim report`, `replay` and `refly`, for recordings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosflight_py_sim.graph.command_options import add_options
from rosflight_py_sim.graph.options import REFLY
from rosflight_py_sim.recording.mcap_file import NotMcapError, Recording, read_recording

if TYPE_CHECKING:
    from rosflight_py_sim.missions.recorded_mission import RecordedMission


def add_recording_parsers(commands: Any) -> None:
    """Add the commands to `rosflight_py_sim`."""
    file = argparse.ArgumentParser(add_help=False)
    file.add_argument(
        "file",
        type=_recording,
        metavar="FILE",
        help="MCAP file, or folder of ros2 bag record -s mcap; a truncated file is read up to its end",
    )
    report = commands.add_parser(
        "report",
        parents=[file],
        help="judge a recorded mission and write a page of plots",
        description="Judge the mission in an MCAP recording as fly does, and print its table. Write an HTML page: a "
        "summary and plots for each vehicle, and the topics with their rates and gaps. Recordings of ros2 bag record "
        "-s mcap work too. Exit code 1: a mission failed or cannot be judged, or the file cannot be read.",
    )
    report.add_argument("--output", type=Path, metavar="HTML", help="output page (default: FILE.html, without .mcap)")
    report.add_argument("--gif", type=Path, metavar="GIF", help="also write an animated GIF of the flight")
    report.set_defaults(command=_report)
    replay = commands.add_parser(
        "replay",
        parents=[file],
        help="replay a recording in a browser",
        description="Show an MCAP recording in a browser, with play, pause and a time slider, until Ctrl-C. Needs "
        "neither the simulator nor ROS.",
    )
    replay.add_argument("--port", type=int, default=0, metavar="N", help="port of the page (default: any free port)")
    replay.add_argument("--address", default="127.0.0.1", metavar="IP", help="address of the page (default: 127.0.0.1)")
    replay.add_argument("--speed", type=float, default=1.0, metavar="X", help="playback speed (default: 1)")
    replay.set_defaults(command=_replay)
    refly = commands.add_parser(
        "refly",
        parents=[file],
        help="repeat a recorded run and compare the two",
        description="Repeat a lockstep run that sim or fly recorded, from its seed, parameters and outside inputs, and "
        "compare all topics of the step. Print the first difference: step, topic and field. Exit code 0: equal; 1: "
        "different; 2: the run cannot be repeated.",
        epilog="Arguments after --ros-args are passed to ROS and change the repeated run, for example -p mass:=3.6.",
    )
    add_options(refly, REFLY)
    refly.set_defaults(command=_refly)


def _recording(text: str) -> Path:
    """Path of a recording; one with a name, also for the folders . and .."""
    path = Path(text)
    return path if path.name not in ("", "..") else path.resolve()


def _page_of(path: Path) -> Path:
    """Page beside a recording; a folder's name has no suffix, though it may contain dots."""
    return path.with_name(f"{path.name}.html") if path.is_dir() else path.with_suffix(".html")


def _report(options: argparse.Namespace) -> int:
    from rosflight_py_sim.commands.report_page import kept_of, report_page, troubles_of
    from rosflight_py_sim.missions.recorded_mission import recorded_missions
    from rosflight_py_sim.viewer.film import NoFilmError, check_film

    try:
        if options.gif is not None:
            check_film(options.gif)
        recording = read_recording(options.file, kept_of)
        missions = recorded_missions(recording)
        page = report_page(recording, missions)
    except NoFilmError as error:
        return _refused(f"--gif: {error}")
    except (NotMcapError, ModuleNotFoundError) as error:
        return _refused(str(error))
    output: Path = options.output or _page_of(options.file)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        return _refused(f"cannot write '{output}': {error.strerror}")
    for trouble in troubles_of(recording):
        print(f"rosflight_py_sim: {trouble}", file=sys.stderr)
    succeeded = [_print_mission(mission) for mission in missions]
    print(f"report: {output.resolve()}")
    is_filmed = options.gif is None or _write_film(options.gif, recording)
    return 0 if all(succeeded) and is_filmed else 1


def _write_film(path: Path, recording: Recording) -> bool:
    """Write the film of a recording's vehicles; return False, after a line on stderr, if impossible."""
    from rosflight_py_sim.camera import NoPandaError
    from rosflight_py_sim.recording.recorded_vehicle import recorded_vehicles, world_of_recording
    from rosflight_py_sim.viewer.film import NoFilmError, write_film
    from rosflight_py_sim.viewer.film_scene import FilmedVehicle
    from rosflight_py_sim.viewer.recorded_appearance import appearance_of

    vehicles = [FilmedVehicle(appearance_of(one), one.motion()) for one in recorded_vehicles(recording)]
    try:
        write_film(path, vehicles, world_of_recording(recording))
    except (OSError, NoPandaError, NoFilmError) as error:
        _refused(f"the film '{path}' cannot be written: {error}")
        return False
    print(f"film: {path.resolve()}")
    return True


def _print_mission(mission: RecordedMission) -> bool:
    """Print the verdict on a mission; return False if it failed, or if `fly` flew it and it cannot be judged."""
    from rich.console import Console

    from rosflight_py_sim.missions.flight import print_verdict

    judge, name = mission.judge, mission.vehicle_name
    if judge is not None and not mission.problem:
        print(f"{name}: mission {mission.name}")
        return print_verdict(judge, Console())
    if mission.was_flown:
        if judge is not None and judge.reason:
            print(f"{name}: mission {mission.name}\nfailed while {judge.reason}")
        print(f"rosflight_py_sim: mission {mission.name} is not judged: {mission.problem}", file=sys.stderr)
    elif mission.name:
        print(f"{name}: mission {mission.name} is not judged: {mission.problem or 'it did not begin'}")
    return not mission.was_flown


def _replay(options: argparse.Namespace) -> int:
    from rosflight_py_sim.commands.replay import NothingToShowError, kept_of, replay
    from rosflight_py_sim.viewer.web.server import NoServerError

    if not 0.0 < options.speed < float("inf"):
        return _refused(f"--speed: {options.speed:g} given; allowed: greater than 0")
    if not 0 <= options.port < 65536:
        return _refused(f"--port: {options.port} given; allowed: 0 to 65535")
    try:
        recording = read_recording(options.file, kept_of)
        if recording.torn:
            print(f"rosflight_py_sim: {recording.torn}", file=sys.stderr)
        replay(recording, options.address, options.port, options.speed)
    except (NotMcapError, NothingToShowError, NoServerError) as error:
        return _refused(str(error))
    return 0


def _refly(options: argparse.Namespace) -> int:
    from rosflight_py_sim.commands.refly import refly
    from rosflight_py_sim.ground.parameters import ParameterError

    try:
        return refly(options.file, options.ros_arguments, share_domain=bool(options.share_domain))
    except (NotMcapError, ParameterError) as error:
        _refused(str(error))
        return 2


def _refused(text: str) -> int:
    print(f"rosflight_py_sim: {text}", file=sys.stderr)
    return 1
