"""Your own nodes, with the settings of the graph, in a launch file that includes one of this package's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rosflight_py_sim.graph.options import parts_of
from rosflight_py_sim.ground.parameters import ParameterError

if TYPE_CHECKING:
    from launch import LaunchContext
    from launch.actions import EmitEvent, OpaqueFunction
    from launch.events.process import ProcessExited
    from launch_ros.actions import Node

TIME_MODE = "rosflight_py_sim.time_mode"
"""Launch configuration in which a graph stores its time mode, given or default."""


def additional_node(**arguments: Any) -> OpaqueFunction:
    """Launch your own node in the graph of an included launch file; place it after the IncludeLaunchDescription.

    The node has the graph's namespace and log level, and ends the launch if it exits with an error. Its parameters come
    from the graph's `dynamics_param_file`, `arguments`, the graph's `params_file`, and the graph's time_mode and
    use_sim_time; later ones override earlier ones.

    Args:
        arguments: those of launch_ros.actions.Node.
    """
    from launch.actions import OpaqueFunction
    from launch_ros.actions import Node

    def start(context: LaunchContext) -> list[Node]:
        found = node_arguments(context.launch_configurations, arguments)
        return [Node(**{"output": "screen", "emulate_tty": True, "on_exit": end_launch_after_error, **found})]

    return OpaqueFunction(function=start)


def node_arguments(given: Mapping[str, str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of launch_ros.actions.Node for your own node in a graph.

    Args:
        given: launch configurations set by the graph; a missing or empty one was not given.
        arguments: the node's own.

    Raises:
        ParameterError: no graph precedes the node.
    """
    if TIME_MODE not in given:
        raise ParameterError(
            "additional_node precedes the graph that it belongs to; place it after IncludeLaunchDescription"
        )
    time_mode = given[TIME_MODE]
    parameters = [
        *parts_of(given.get("dynamics_param_file", "")),
        *arguments.get("parameters", ()),
        *parts_of(given.get("params_file", "")),
        {"time_mode": time_mode, "use_sim_time": time_mode != "wall"},
    ]
    return {
        "namespace": given.get("namespace") or "/",
        "ros_arguments": ["--log-level", given.get("log_level") or "info"],
        **arguments,
        "parameters": parameters,
    }


def end_launch_after_error(event: ProcessExited, context: LaunchContext) -> EmitEvent | None:
    """End the launch when a node refuses its parameters or raises an exception.

    If a signal has ended the node, the others wait for its restart.
    """
    from launch.actions import EmitEvent
    from launch.events import Shutdown

    if event.returncode <= 0 or context.is_shutdown:
        return None
    return EmitEvent(event=Shutdown(reason=f"{event.process_name} ended with {event.returncode}"))


def end_launch_on_request(event: ProcessExited, context: LaunchContext) -> EmitEvent | None:
    """End the launch when a client has requested the end of the simulation, and after an error."""
    from launch.actions import EmitEvent
    from launch.events import Shutdown

    if event.returncode == 0 and not context.is_shutdown:
        return EmitEvent(event=Shutdown(reason=f"{event.process_name} was requested to end the simulation"))
    return end_launch_after_error(event, context)
