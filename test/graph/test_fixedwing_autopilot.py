"""The fixed wing's autopilot in the real graph: a flight in wind, and waypoint lists that are accepted or refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path as PathMessage
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.missions.autopilot.judge import AutopilotJudge
from rosflight_py_sim.missions.judge_node import JudgeNode
from rosflight_py_sim.missions.mission_settings import MissionSettings
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.step.qos import CHAIN, LATCHED
from rosflight_py_sim.vehicles import vehicle

WIND = str(Path(__file__).parents[2] / "config" / "wind.yaml")
AIRCRAFT = vehicle("fixedwing")

# A lap of 60 s of simulated time: as short as a path with fillets, climbs and a loiter can be.
SHORT = """
path: fillet
radius: 60.0
airspeed: 18.0
waypoints:
  - ned: [250.0, 0.0, -50.0]
  - ned: [250.0, 200.0, -55.0]
  - ned: [100.0, 200.0, -50.0]
loiter: {turns: 0.5}
"""


class AircraftGraph(ComposedGraph):
    """A composed graph of the fixed wing and its autopilot, as fast as the machine allows."""

    def __init__(self, *arguments: str) -> None:
        super().__init__(
            [Member(AIRCRAFT, executables=(AIRCRAFT.autopilot,))],
            files=[WIND],
            settings={"real_time_multiplier": 0.0},
            arguments=arguments,
        )

    def node(self, name: str) -> Any:
        return next(node for node in self.nodes if node.get_name() == name)

    def spin_until(self, condition: Callable[[], object], what: str, timeout_s: float) -> None:
        end = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < end, f"{what} did not come within {timeout_s:g} s"
            self.executor.spin_once(timeout_sec=0.01)


@pytest.mark.timeout(400)
def test_waypoints_are_flown_in_wind_via_flight_controller(ros_domain: int, tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(SHORT, encoding="utf-8")
    graph = AircraftGraph(
        "--ros-args", "-p", f"waypoint_file:={tmp_path / 'short.yaml'}", "-p", "seed:=5", "-p", "step_size:=0.005"
    )
    try:
        judge = AutopilotJudge(AIRCRAFT, {})
        graph.join(JudgeNode, judge, MissionSettings("autopilot", "plane", AIRCRAFT.name, AIRCRAFT.autopilot, {}))
        pilot = graph.join(MissionPilot)
        body, time_manager = graph.node("dynamics").body, graph.node("time_manager")
        graph.spin_until(lambda: body.truth[2] < -20.0 or pilot.failure, "the climb", 300.0)
        # Longer steps in the air: on the ground, the wind would shake the aircraft too much for the calibration.
        (change,) = time_manager.set_parameters([Parameter("step_size", value=0.01)])
        assert change.successful, change.reason
        graph.spin_until(
            lambda: (pilot.done and judge.log.is_completed) or pilot.failure, "the end of the flight", 300.0
        )
        armed = pilot.status.armed
    finally:
        graph.close()
    assert pilot.failure is None
    summary = judge.summary
    assert summary.completed
    # The aircraft keeps circling, armed: it cannot be disarmed in the air.
    assert armed
    assert not summary.landed
    assert summary.end_height_m == pytest.approx(50.0, abs=4.0)
    assert 3.0 < summary.mean_wind_speed_mps < 6.0
    # Most of the error arises at the start, after a climb at 8 m/s, and the lap is short: 2.8 m RMS measured. An
    # aircraft that did not follow its path would be off by the size of the circuit.
    assert summary.tracking_error_rms_m < 5.0
    assert summary.tracking_error_max_m < 20.0


def waypoints(*places: tuple[float, float, float], frame: str = "NED") -> PathMessage:
    message = PathMessage()
    message.header.frame_id = frame
    for north, east, down in places:
        pose = PoseStamped()
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = north, east, down
        message.poses.append(pose)
    return message


def test_unflyable_waypoint_lists_are_rejected_and_current_one_kept(ros_domain: int, tmp_path: Path) -> None:
    graph = AircraftGraph()
    try:
        tester = Node("tester")
        graph.include(tester)
        paths: list[PathMessage] = []
        tester.create_subscription(PathMessage, "autopilot/path", paths.append, LATCHED)
        phases: list[String] = []
        tester.create_subscription(String, "autopilot/phase", phases.append, LATCHED)
        send = tester.create_publisher(PathMessage, "autopilot/waypoints", CHAIN)
        graph.spin_until(lambda: paths and send.get_subscription_count(), "the planned path", 60.0)
        before = paths[-1]
        errors: list[str] = []
        autopilot = graph.node("autopilot")
        autopilot.get_logger().error = errors.append  # type: ignore[method-assign]
        for message, reason in (
            (waypoints((0.0, 0.0, -50.0)), "1 waypoints given; allowed: at least 2"),
            (waypoints((0.0, 0.0, -50.0), (float("nan"), 0.0, -50.0)), "finite"),
            (waypoints((0.0, 0.0, -50.0), (0.0, 0.0, -60.0)), "the same position as waypoint 1"),
            (
                waypoints((0.0, 0.0, -50.0), (300.0, 0.0, -50.0), (300.0, 20.0, -50.0), (0.0, 20.0, -50.0)),
                "20.0 m apart",
            ),
            (waypoints((0.0, 0.0, -50.0), (300.0, 0.0, -50.0), frame="map"), "frame 'map' given; allowed: NED"),
        ):
            count = len(errors)
            send.publish(message)
            graph.spin_until(lambda count=count: len(errors) > count, reason, 30.0)  # type: ignore[misc]
            assert reason in errors[-1]
            assert "keeping the previous waypoints" in errors[-1]
        client = tester.create_client(SetParameters, "autopilot/set_parameters")
        graph.spin_until(client.service_is_ready, "the parameter service", 30.0)
        for file, reason in (
            ("none.yaml", "none.yaml' cannot be read"),
            (str(tmp_path / "none.yaml"), "none.yaml' is outside of the allowed folders"),
            ("/etc/passwd", "'/etc/passwd' is outside of the allowed folders"),
            ("../setup.cfg", "'../setup.cfg' is outside of the allowed folders"),
        ):
            change = Parameter("waypoint_file", value=file).to_parameter_msg()
            future = client.call_async(SetParameters.Request(parameters=[change]))
            graph.spin_until(future.done, "an answer", 30.0)
            (result,) = future.result().results
            assert not result.successful
            assert reason in result.reason
        assert paths[-1] is before
        send.publish(waypoints((0.0, 0.0, -50.0), (300.0, 0.0, -50.0)))
        graph.spin_until(lambda: paths[-1] is not before, "the new path", 30.0)
        assert [p.pose.position.x for p in paths[-1].poses[:2]] == [0.0, 300.0]
    finally:
        graph.close()
