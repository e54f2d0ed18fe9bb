"""Launch description that prepares the flight controller of a running vehicle."""

from __future__ import annotations

from dataclasses import replace

from launch import LaunchDescription
from launch.actions import ExecuteProcess, RegisterEventHandler, TimerAction
from launch.event_handlers import OnProcessExit
from launch.substitutions import FindExecutable, LaunchConfiguration

from rosflight_py_sim.graph.launch_graph import declaration
from rosflight_py_sim.graph.options import all_options
from rosflight_py_sim.vehicles import vehicle

# The calibration continues after the reply to its call.
_CALIBRATION_S = 10.0


def firmware_preparation(name: str) -> LaunchDescription:
    """Three service calls in sequence: load the vehicle's parameters, calibrate the IMU, save the parameters.

    Args:
        name: name of the vehicle whose firmware file is the default.
    """
    options = all_options()
    file = replace(options["firmware_param_file"], default=str(vehicle(name).firmware_file), unset="")
    load = _call("param_load_from_file", "rosflight_msgs/srv/ParamFile", "{filename: '", "'}")
    calibrate = _call("calibrate_imu", "std_srvs/srv/Trigger")
    write = _call("param_write", "std_srvs/srv/Trigger")
    later = TimerAction(period=_CALIBRATION_S, actions=[write])
    return LaunchDescription(
        [
            declaration(file),
            declaration(options["namespace"]),
            RegisterEventHandler(OnProcessExit(target_action=load, on_exit=[calibrate])),
            RegisterEventHandler(OnProcessExit(target_action=calibrate, on_exit=[later])),
            load,
        ]
    )


def _call(service: str, kind: str, *around_file: str) -> ExecuteProcess:
    file = LaunchConfiguration("firmware_param_file")
    name = [LaunchConfiguration("namespace"), f"/{service}"]
    request = [[around_file[0], file, around_file[1]]] if around_file else []
    return ExecuteProcess(
        cmd=[FindExecutable(name="ros2"), "service", "call", name, kind, *request], name=service, output="screen"
    )
