"""The command `rosflight_py_sim hand-over`: arms vehicles of a running simulation and enables offboard control."""

from __future__ import annotations

import argparse
import time

from rosflight_py_sim.parameters import ParameterError

# Time limit for the flight controller's status, in system time; processes started one by one need this long.
PATIENCE_S = 60.0


def add_hand_over_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "hand-over",
        help="arm the vehicles of a running simulation, and enable offboard control",
        description="Calibrate the IMU, arm, and switch the RC override off, through services. The vehicle then "
        "follows the commands sent to the flight controller.",
        epilog="Everything after --ros-args goes to ROS.",
    )
    parser.add_argument(
        "--namespace",
        action="append",
        metavar="NS",
        help="namespace of a vehicle's nodes; may be repeated (default: none)",
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.validate_namespace import validate_namespace

    from rosflight_py_sim.nodes.pilot import Pilot
    from rosflight_py_sim.nodes.running import initialise, refusals_of_ros

    names = options.namespace or [""]
    initialise(["rosflight_py_sim", *options.ros_arguments])
    executor = SingleThreadedExecutor()
    pilots: dict[str, Pilot] = {}
    try:
        with refusals_of_ros():
            for name in names:
                # Checked first: the error of a partly constructed node would be less clear.
                validate_namespace(f"/{name.lstrip('/')}")
                pilots[name] = Pilot(namespace=name)
                executor.add_node(pilots[name])
        printed: dict[str, str] = {}
        end_s = time.monotonic() + PATIENCE_S
        while rclpy.ok() and not all(pilot.done or pilot.failure for pilot in pilots.values()):
            executor.spin_once(timeout_sec=0.1)
            for name, pilot in pilots.items():
                if pilot.has_status and printed.get(name) != pilot.doing:
                    printed[name] = pilot.doing
                    print(f"{name}: {pilot.doing}" if name else pilot.doing, flush=True)
            silent = [name or "/" for name, pilot in pilots.items() if not pilot.has_status]
            if silent and time.monotonic() > end_s:
                raise ParameterError(
                    f"no flight controller status received in namespace {', '.join(silent)} within {PATIENCE_S:g} s "
                    "(is the simulation running, in this ROS_DOMAIN_ID and --namespace?)"
                )
    finally:
        for pilot in pilots.values():
            pilot.destroy_node()
        executor.shutdown()
        rclpy.try_shutdown()
    failures = [f"{name}: {pilot.failure}".removeprefix(": ") for name, pilot in pilots.items() if pilot.failure]
    if failures:
        raise ParameterError("; ".join(failures))
    return 0
