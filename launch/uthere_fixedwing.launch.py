"""Fixed wings flown by clients of uThere Ground Control's protocol; `ros2 launch` with `-s` lists the arguments."""

import yaml
from launch import LaunchDescription, LaunchDescriptionEntity
from launch_ros.actions import Node

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.graph.launch_graph import graph, launch_description
from rosflight_py_sim.graph.options import LAUNCH, Kind, Option
from rosflight_py_sim.graph.time_modes import boolean
from rosflight_py_sim.vehicles import vehicle


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


def _with_pilot(given: dict[str, str]) -> list[LaunchDescriptionEntity]:
    if not boolean("pilot", given["pilot"]):
        return graph(given)
    members = fleet(vehicle(given["vehicle"]), count=yaml.safe_load(given["count"]), seed=0) if given["count"] else []
    names = [member.namespace for member in members] or [""]
    arguments = ["hand-over"]
    for name in names:
        arguments += ["--namespace", "/".join(filter(None, (given["namespace"], name)))]
    pilot = Node(package="rosflight_py_sim", executable="rosflight_py_sim", arguments=arguments, output="screen")
    return [*graph(given), pilot]
