"""A fixed wing flown by ArduPlane; `ros2 launch` with `-s` after this file's name lists the arguments."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from launch import LaunchDescription, LaunchDescriptionEntity
from launch.actions import LogInfo

from rosflight_py_sim.graph.launch_graph import graph, launch_description
from rosflight_py_sim.graph.options import LAUNCH, Option
from rosflight_py_sim.graph.simulation_options import SimulationOptions
from rosflight_py_sim.ground.resources import share_directory

VARIANTS: dict[str, list[Path]] = {"plane": [], "elevon": [share_directory() / "config" / "ardupilot" / "elevon.yaml"]}
"""Parameter files by variant, which override the aircraft's; ArduPilot's own have the same name with .parm."""


def generate_launch_description() -> LaunchDescription:
    """The shared graph in lockstep, with ArduPilot as the flight controller."""
    variant = Option(
        "variant",
        "surfaces: aileron, elevator and rudder (plane), or two elevons and no rudder (elevon)",
        default="plane",
        choices=tuple(VARIANTS),
        at=(LAUNCH,),
    )
    return launch_description(
        defaults={"vehicle": "anaconda", "flight_controller": "ardupilot", "time_mode": "lockstep"},
        own=[variant],
        entities=_with_variant,
    )


def _with_variant(options: SimulationOptions, given: Mapping[str, Any]) -> list[LaunchDescriptionEntity]:
    own = VARIANTS[given["variant"]]
    notes = [
        LogInfo(msg=f"append --add-param-file={file.with_suffix('.parm')} to the command that follows") for file in own
    ]
    return [*notes, *graph(replace(options, params_file=(*map(str, own), *options.params_file)))]
