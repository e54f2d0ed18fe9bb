"""Fly the start of each vehicle's mission with a camera while numba cannot be imported.

    python flown_without_numba.py [ROS ARGUMENTS]

A kernel missing from the kernel library, or a call that it does not accept, raises ModuleNotFoundError here. For each
vehicle and dynamics, a line `flight of VEHICLE DYNAMICS` goes to stderr before the flight. After a flight without an
exception, a line `VEHICLE DYNAMICS PICTURES` goes to stdout, where PICTURES is the number of pictures taken.
"""

from __future__ import annotations

import sys
import traceback

from rclpy.node import Node
from sensor_msgs.msg import Image

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.kernels import jit
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.vehicles import CAMERA, all_vehicles, vehicle

# Simulated time of a flight, s. All kernels but one are called in the first steps.
_START_S = 0.5

# Time of a flight with take-off, in which one more kernel is called, s. One vehicle of each kind of dynamics that takes
# off so soon is enough: the others have the same kernels, or still calibrate their IMU.
_TAKE_OFF_S = 3.0
_TAKING_OFF = {("multirotor", "standalone"), ("fixedwing", "jsbsim")}


def main() -> None:
    arguments = sys.argv[1:]
    assert jit.LIBRARY is not None, f"there is no {jit.library_path()}"
    sys.modules["numba"] = None  # type: ignore[assignment]
    for name, dynamics in all_vehicles():
        print("flight of", name, dynamics, file=sys.stderr, flush=True)
        seconds = _TAKE_OFF_S if (name, dynamics) in _TAKING_OFF else _START_S
        try:
            print(name, dynamics, pictures_of_flight(name, dynamics, seconds, arguments), flush=True)
        except Exception:
            traceback.print_exc()


def pictures_of_flight(name: str, dynamics: str, seconds: float, arguments: list[str]) -> int:
    """Fly for some simulated time; return the number of pictures."""
    chosen = vehicle(name, dynamics).carrying(CAMERA, True)
    has_pilot = bool(chosen.autopilot) and chosen_flight_controller(chosen.flight_controller).follows(chosen.autopilot)
    graph = ComposedGraph(
        [Member(chosen, executables=(chosen.autopilot,) if has_pilot else ())],
        files=[str(chosen.weather_file)],
        # The same kernels render every picture: a few are enough.
        settings={"real_time_multiplier": 0.0, "seed": 7, "frame_rate": 2.0},
        arguments=["--log-level", "warn", *arguments],
    )
    viewer = Node("viewer")
    pictures: list[bytes] = []
    for topic, types in viewer.get_topic_names_and_types():
        if types == ["sensor_msgs/msg/Image"]:
            viewer.create_subscription(Image, topic, pictures.append, CHAIN, raw=True)
    graph.include(viewer)
    if has_pilot:
        graph.join(MissionPilot)
    clock = graph.nodes[0].get_clock()
    try:
        graph.spin(lambda: clock.now().nanoseconds < seconds * 1e9)
    finally:
        graph.close()
    return len(pictures)


if __name__ == "__main__":
    main()
