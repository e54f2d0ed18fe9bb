"""Fly the beginning of a mission with a camera while numba cannot be imported; print how many pictures were taken.

    python flown_without_numba.py VEHICLE DYNAMICS SECONDS [ROS ARGUMENTS]

A kernel that the kernel library lacks, or a call that it does not take, raises ModuleNotFoundError here.
"""

from __future__ import annotations

import sys

from rclpy.node import Node
from sensor_msgs.msg import Image

from rosflight_py_sim import jit
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.vehicles import CAMERA, vehicle


def main() -> None:
    name, dynamics, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    assert jit.LIBRARY is not None, f"there is no {jit.library_path()}"
    sys.modules["numba"] = None  # type: ignore[assignment]
    chosen = vehicle(name, dynamics).carrying(CAMERA, True)
    graph = ComposedGraph(
        [Member(chosen, executables=(chosen.autopilot,) if chosen.autopilot else ())],
        files=[str(chosen.weather_file)],
        settings={"real_time_multiplier": 0.0, "seed": 7},
        arguments=["--log-level", "warn", *sys.argv[4:]],
    )
    viewer = Node("viewer")
    pictures: list[bytes] = []
    for topic, types in viewer.get_topic_names_and_types():
        if types == ["sensor_msgs/msg/Image"]:
            viewer.create_subscription(Image, topic, pictures.append, CHAIN, raw=True)
    graph.include(viewer)
    if chosen.autopilot:
        graph.join(MissionPilot)
    clock = graph.nodes[0].get_clock()
    try:
        graph.spin(lambda: clock.now().nanoseconds < seconds * 1e9)
    finally:
        graph.close()
    print(len(pictures))


if __name__ == "__main__":
    main()
