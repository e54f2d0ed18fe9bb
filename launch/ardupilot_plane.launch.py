"""A fixed wing that ArduPlane flies; `ros2 launch` with `-s` after this file's name lists the arguments."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, LogInfo, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from rosflight_py_sim.resources import share_directory

VARIANTS: dict[str, list[Path]] = {"plane": [], "elevon": [share_directory() / "config" / "ardupilot" / "elevon.yaml"]}
"""Name to files of parameters over the aircraft's; ArduPilot's own have the same name with .parm."""


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share, in lockstep, with ArduPilot in the flight controller's place."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "vehicle", default_value="anaconda", choices=["anaconda", "aerosonde"], description="Which aircraft."
            ),
            DeclareLaunchArgument(
                "variant",
                default_value="plane",
                choices=list(VARIANTS),
                description="Surfaces: aileron, elevator and rudder (plane), or two elevons and no rudder (elevon).",
            ),
            DeclareLaunchArgument("params_file", default_value="", description="As in standalone.launch.py."),
            DeclareLaunchArgument(
                "time_mode", default_value="lockstep", description="Only lockstep waits for ArduPilot."
            ),
            OpaqueFunction(function=_graph),
        ]
    )


def _graph(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = context.launch_configurations
    own = VARIANTS[given["variant"]]
    files = [*map(str, own), *filter(None, [given["params_file"]])]
    chosen = [
        ("vehicle", given["vehicle"]),
        ("flight_controller", "ardupilot"),
        ("params_file", ",".join(files)),
    ]
    graph = PythonLaunchDescriptionSource(str(Path(__file__).with_name("standalone.launch.py")))
    said = [
        LogInfo(msg=f"with --add-param-file={file.with_suffix('.parm')} at the end of what follows") for file in own
    ]
    return [*said, IncludeLaunchDescription(graph, launch_arguments=chosen)]
