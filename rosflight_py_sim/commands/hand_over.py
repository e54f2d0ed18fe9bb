"""Command `rosflight_py_sim hand-over`: arms vehicles of a running simulation and enables offboard control."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from rosflight_py_sim.commands.pilots import DISCOVERY_S, HINT, TIMEOUT_S, run_pilots
from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.ground.parameters import ParameterError

# System time without a further vehicle until discovery ends, s.
_SETTLING_S = 2.0

_STATUS_TYPE = "rosflight_msgs/msg/Status"


def add_hand_over_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "hand-over",
        help="arm the vehicles of a running simulation and enable offboard control",
        description="Calibrate the IMU, arm, and switch the RC override off, through services. The vehicle then "
        "follows the commands sent to the flight controller. Without --namespace, hand over all vehicles found.",
        epilog="Arguments after --ros-args are passed to ROS.",
    )
    parser.add_argument(
        "--namespace",
        action="append",
        metavar="NS",
        help="namespace of a vehicle's nodes; may be repeated (default: all vehicles found)",
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from rosflight_py_sim.nodes.running import deferred_signals

    # An interrupt in an rclpy callback can be lost or cause a traceback.
    with deferred_signals() as signals:
        code = _hand_over(options, signals)
    if signals:
        raise KeyboardInterrupt
    return code


def _hand_over(options: argparse.Namespace, signals: Sequence[int]) -> int:
    """Hand the vehicles over; stop at a signal.

    Raises:
        ParameterError: no flight controller was found, or a vehicle could not be handed over.
    """
    import rclpy

    from rosflight_py_sim.nodes.running import check_namespace, initialise, refusals_of_ros

    initialise(["rosflight_py_sim", *options.ros_arguments])
    pilots: dict[str, Pilot] = {}
    try:
        names = options.namespace or _namespaces_found(signals)
        if signals:
            return 0
        # A late import: a search that finds nothing does not need it.
        from rosflight_py_sim.nodes.pilot import Pilot

        with refusals_of_ros():
            for name in names:
                # A check first: the error of a partly constructed node would be less clear.
                check_namespace(name)
                pilots[name] = Pilot(namespace=name)
        run_pilots(pilots, signals)
    finally:
        rclpy.try_shutdown()
    return 0


def _namespaces_found(signals: Sequence[int]) -> list[str]:
    """Namespaces in which a flight controller publishes its status, in alphabetical order.

    A namespace in the ROS arguments (`__ns`) excludes all others. A signal ends the search.

    Raises:
        ParameterError: no flight controller was found, and no signal was received.
    """
    from rclpy.node import Node

    from rosflight_py_sim.nodes.running import refusals_of_ros

    with refusals_of_ros():
        node = Node("hand_over")
    try:
        if node.get_namespace() != "/":
            return [""]
        ending = f"/{topic_names.STATUS}"
        found: set[str] = set()
        start_s = time.monotonic()
        end_s, has_noted = start_s + DISCOVERY_S, False
        while not signals and time.monotonic() < end_s:
            time.sleep(0.1)
            now = {
                topic.removesuffix(ending).lstrip("/")
                for topic, types in node.get_topic_names_and_types()
                if topic.endswith(ending) and _STATUS_TYPE in types and node.count_publishers(topic)
            }
            if now - found:
                # More vehicles of a fleet may follow.
                end_s = time.monotonic() + _SETTLING_S
                found |= now
            elif not (found or has_noted) and time.monotonic() > end_s - 0.2 and len(node.get_node_names()) > 1:
                # Other nodes exist: a simulation is starting.
                end_s, has_noted = start_s + TIMEOUT_S, True
                print(f"no flight controller found yet; waiting up to {TIMEOUT_S:g} s ({HINT})", file=sys.stderr)
        if not found and not signals:
            raise ParameterError(f"no flight controller found within {time.monotonic() - start_s:.0f} s ({HINT})")
        return sorted(found)
    finally:
        node.destroy_node()
