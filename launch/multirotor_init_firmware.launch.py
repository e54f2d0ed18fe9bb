"""Prepare the flight controller of a running multirotor: load parameters, calibrate the IMU, save parameters."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, RegisterEventHandler, TimerAction
from launch.event_handlers import OnProcessExit
from launch.substitutions import FindExecutable, LaunchConfiguration

from rosflight_py_sim.vehicles import DEFAULT_VEHICLE, vehicle


def generate_launch_description() -> LaunchDescription:
    """Three service calls in sequence."""
    load = _call("param_load_from_file", "rosflight_msgs/srv/ParamFile", "{filename: '", "'}")
    calibrate = _call("calibrate_imu", "std_srvs/srv/Trigger")
    write = _call("param_write", "std_srvs/srv/Trigger")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "firmware_param_file",
                default_value=str(vehicle(DEFAULT_VEHICLE).firmware_file),
                description="Parameters to load (ROSflight's YAML list).",
            ),
            DeclareLaunchArgument("namespace", default_value="", description="Namespace of the flight controller."),
            RegisterEventHandler(OnProcessExit(target_action=load, on_exit=[calibrate])),
            # The calibration continues after the reply to its call.
            RegisterEventHandler(
                OnProcessExit(target_action=calibrate, on_exit=[TimerAction(period=10.0, actions=[write])])
            ),
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
