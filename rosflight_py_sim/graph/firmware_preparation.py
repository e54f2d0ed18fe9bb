"""Launch description that prepares the flight controller of a running vehicle."""

from __future__ import annotations

from dataclasses import replace

from launch import LaunchContext, LaunchDescription
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from rosflight_py_sim.graph.launch_graph import declaration
from rosflight_py_sim.graph.options import all_options
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.vehicles import vehicle


def firmware_preparation(name: str) -> LaunchDescription:
    """Run `rosflight_py_sim prepare-firmware`; the launch fails if the command does.

    Args:
        name: name of the vehicle whose firmware file is the default.
    """
    options = all_options()
    file = replace(options["firmware_param_file"], default=str(vehicle(name).firmware_file), unset="")
    prepare = Node(
        package="rosflight_py_sim",
        executable="rosflight_py_sim",
        arguments=["prepare-firmware", LaunchConfiguration(file.name), "--namespace", LaunchConfiguration("namespace")],
        output="screen",
        on_exit=_fail,
    )
    return LaunchDescription([declaration(file), declaration(options["namespace"]), prepare])


def _fail(event: ProcessExited, context: LaunchContext) -> None:
    """End the launch with exit code 1 if the command has failed; its error is in the output above.

    Raises:
        ParameterError: the command has failed.
    """
    if event.returncode != 0 and not context.is_shutdown:
        raise ParameterError(
            f"the flight controller was not prepared: {event.process_name} ended with {event.returncode}"
        )
