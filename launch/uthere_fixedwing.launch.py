"""Fixed wings flown by clients of uThere Ground Control's protocol; `ros2 launch` with `-s` lists the arguments."""

from collections.abc import Mapping
from typing import Any

from launch import LaunchDescription, LaunchDescriptionEntity
from launch_ros.actions import Node

from rosflight_py_sim.graph.launch_graph import graph, launch_description
from rosflight_py_sim.graph.options import LAUNCH, Kind, Option
from rosflight_py_sim.graph.simulation_options import SimulationOptions


def generate_launch_description() -> LaunchDescription:
    """The shared graph, with the bridge beside the flight controller."""
    pilot = Option(
        "pilot",
        "arm the planes and enable offboard control, as `rosflight_py_sim hand-over` does; if false, they "
        "wait on the ground until you do so",
        Kind.BOOLEAN,
        "false",
        at=(LAUNCH,),
    )
    return launch_description(
        defaults={"vehicle": "anaconda", "flight_controller": "uthere", "time_mode": "lockstep"},
        own=[pilot],
        entities=_with_pilot,
    )


def _with_pilot(options: SimulationOptions, given: Mapping[str, Any]) -> list[LaunchDescriptionEntity]:
    if not given["pilot"]:
        return graph(options)
    arguments = ["hand-over"]
    for member in options.members:
        arguments += ["--namespace", "/".join(filter(None, (options.namespace, member.namespace)))]
    pilot = Node(package="rosflight_py_sim", executable="rosflight_py_sim", arguments=arguments, output="screen")
    return [*graph(options), pilot]
