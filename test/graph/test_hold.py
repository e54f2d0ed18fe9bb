"""The hold controller as a node in place of the flight controller."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from std_msgs.msg import Float64, String
from transforms3d.euler import quat2euler

from rosflight_py_sim.step.qos import CHAIN, LATCHED
from rosflight_py_sim.step.topics import HOLD_SETPOINT, IMU, PWM_OUTPUT, REPEATED_CLOCK

GraphMaker = Callable[..., Any]

# A quarter of the usual number of steps.
LONG_STEPS = ("-p", "step_size:=0.01")


@pytest.fixture
def released(undisturbed_graph: GraphMaker) -> Iterator[Any]:
    """A graph whose vehicle is released and not paused, before the test and after it."""
    one = undisturbed_graph(*LONG_STEPS, vehicle_name="auv", flight_controller="auv_controller")
    yield one
    assert one.call("hold/release").success
    assert one.call("dynamics/reset").success


def yaw_of(truth: Any) -> float:
    q = truth.pose.orientation
    return float(quat2euler((q.w, q.x, q.y, q.z))[2])


class Pilot:
    """Publishes the setpoint to hold, as a user would with `ros2 topic pub`."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.doing = graph.collect_messages("hold/doing", String, LATCHED)
        names = ("depth", "yaw", "surge", "sway")
        self._publishers = {n: graph.tester.create_publisher(Float64, f"hold/{n}", CHAIN) for n in names}
        graph.spin_until(lambda: graph.time_ns > 0, "advancing time")
        for publisher in self._publishers.values():
            graph.spin_until(lambda p=publisher: p.get_subscription_count(), "the set-points' listener")

    def set(self, **setpoints: float) -> None:
        for name, value in setpoints.items():
            self._publishers[name].publish(Float64(data=value))

    def wait_for(self, text: str) -> None:
        self.graph.spin_until(lambda: self.doing and self.doing[-1].data == text, text)


@pytest.mark.parametrize("name", ["auv", "bluerov2"])
def test_depth_and_yaw_setpoints_are_taken_from_services_and_topics(graph: GraphMaker, name: str) -> None:
    one = graph(*LONG_STEPS, vehicle_name=name, flight_controller="auv_controller")
    pilot = Pilot(one)
    pilot.wait_for("released, thrusters stopped")
    answer = one.call("hold/here")
    assert answer.success
    assert answer.message.startswith("holding 0.")
    pilot.set(depth=1.0, yaw=-1.0)
    pilot.wait_for("holding 1.00 m, -57 deg")
    one.spin_until(lambda: abs(one.truth.pose.position.z - 1.0) < 0.05 and abs(yaw_of(one.truth) + 1.0) < 0.05)
    pilot.set(surge=0.3)
    pilot.wait_for("holding 1.00 m, -57 deg, surge 30 %, sway 0 %")
    one.spin_until(lambda: one.truth.twist.linear.x > 0.1, "motion ahead")
    assert one.call("hold/release").message == "released, thrusters stopped"
    pwm = one.collect_messages(PWM_OUTPUT)
    one.spin_until(lambda: len(pwm) > 2)
    assert list(pwm[-1].values) == [1500] * 14


def test_invalid_setpoints_are_rejected_and_current_ones_kept(released: Any) -> None:
    from rcl_interfaces.msg import Log

    one = released
    pilot = Pilot(one)
    log = one.collect_messages("/rosout", Log)
    one.spin_until(lambda: one.tester.count_publishers("/rosout") > 1)
    refusals = {
        "hold/depth refused: the vehicle is released; call hold/here first": {"depth": 1.0},
        "hold/depth refused: -1 given; allowed: at least 0 m": {"depth": -1.0},
        "hold/yaw refused: nan given; allowed: any angle in rad": {"yaw": math.nan},
        "hold/surge refused: 1.5 given; allowed: from -1 to 1": {"surge": 1.5},
        "hold/sway refused: -inf given; allowed: from -1 to 1": {"sway": -math.inf},
    }
    for text, setpoint in refusals.items():
        pilot.set(**setpoint)
        one.spin_until(lambda text=text: text in [m.msg for m in log], text)
        one.call("hold/here")
        held = pilot.doing[-1].data if pilot.doing else ""
        assert "surge" not in held


def test_setpoints_are_also_taken_together_by_name(released: Any) -> None:
    from rcl_interfaces.msg import Log
    from sensor_msgs.msg import JointState

    one = released
    pilot = Pilot(one)
    log = one.collect_messages("/rosout", Log)
    together = one.tester.create_publisher(JointState, HOLD_SETPOINT.name, HOLD_SETPOINT.qos)
    one.spin_until(together.get_subscription_count, "the set-points' listener")

    def refused(text: str, message: JointState) -> None:
        together.publish(message)
        one.spin_until(lambda: text in [m.msg for m in log], text)

    refused(
        "hold/setpoint has no effect: the vehicle is released; call hold/here first",
        JointState(name=["depth"], position=[1.0]),
    )
    assert one.call("hold/here").success
    refused("hold/setpoint refused: 2 names and 1 positions given", JointState(name=["depth", "yaw"], position=[1.0]))
    refused(
        "hold/setpoint refused: 'roll' given; allowed: depth, yaw, surge, sway",
        JointState(name=["roll"], position=[1.0]),
    )
    refused(
        "hold/setpoint refused: 2 given; allowed: from -1 to 1",
        JointState(name=["depth", "surge"], position=[1.0, 2.0]),
    )
    pilot.wait_for("holding 1.00 m, 0 deg")
    together.publish(JointState(name=["depth", "surge"], position=[1.5, 0.2]))
    pilot.wait_for("holding 1.50 m, 0 deg, surge 20 %, sway 0 %")


def test_repeated_imu_message_or_time_gets_same_reply(released: Any) -> None:
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import Imu

    one = released
    Pilot(one)
    assert one.call("hold/here").success
    one.spin_for(0.5)
    imu, pwm = one.collect_messages(IMU), one.collect_messages(PWM_OUTPUT)
    one.spin_until(lambda: imu and pwm and imu[-1].header.stamp == pwm[-1].header.stamp, "a step")
    one.pause()
    one.idle(0.1)
    before, count = pwm[-1], len(pwm)
    again = one.tester.create_publisher(Imu, IMU.name, IMU.qos)
    one.spin_until(lambda: again.get_subscription_count() >= 2, "the listeners")
    again.publish(imu[-1])
    one.spin_until(lambda: len(pwm) > count, "the answer again")
    assert pwm[-1] == before
    count = len(pwm)
    clock = one.tester.create_publisher(Clock, REPEATED_CLOCK.name, REPEATED_CLOCK.qos)
    one.spin_until(clock.get_subscription_count, "the flight controller")
    clock.publish(Clock(clock=before.header.stamp))
    one.spin_until(lambda: len(pwm) > count, "the answer to the repeated time")
    assert pwm[-1] == before
    assert one.call("time_manager/toggle_pause").success


def test_loop_parameters_can_be_changed_while_holding(released: Any) -> None:
    one = released
    pilot = Pilot(one)
    one.call("hold/here")
    one.set_parameter("auv_controller", "depth_frequency", 2.5)
    pilot.set(depth=0.8)
    one.spin_until(lambda: abs(one.truth.pose.position.z - 0.8) < 0.05, "the new depth")


@pytest.mark.parametrize("mode", ["paced", "wall"])
def test_hold_works_in_other_time_modes(graph: GraphMaker, mode: str) -> None:
    pace = {"multiplier": 3.0} if mode == "paced" else {}
    one = graph(vehicle_name="auv", flight_controller="auv_controller", time_mode=mode, **pace)
    pilot = Pilot(one)
    one.spin_for(0.1)
    assert one.call("hold/here").success
    pilot.set(depth=0.6)
    one.spin_until(lambda: one.truth.pose.position.z > 0.5, "half a metre of depth")


def test_mission_does_not_start_while_released(graph: GraphMaker) -> None:
    one = graph(
        *LONG_STEPS, vehicle_name="auv", flight_controller="auv_controller", executables=["underwater_autopilot"]
    )
    one.spin_for(0.1)
    refused = one.call("autopilot/start")
    assert not refused.success
    assert refused.message == "the vehicle is released, thrusters stopped: call hold/here before autopilot/start"
    assert one.call("hold/here").success
    assert one.call("autopilot/start").success
