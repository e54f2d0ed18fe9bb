"""Several vehicles: each has its namespace, seed and starting point, and all share one time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rcl_interfaces.msg import Log
from rosflight_msgs.msg import SimState
from rosflight_msgs.srv import SetSimState
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.interfaces.hand_off_ends import Outlet
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.step.topics import CLOCK, IMU, TRUTH_STATE, topic_of
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle

MultirotorForcesAndMoments = node_of(MultirotorForces)

MakeGraph = Callable[..., Any]

STEP_NS = 2_500_000
# Deep enough for all messages that arrive while a test waits for something else.
DEEP = 1000


def two(**options: Any) -> list[Any]:
    return fleet(vehicle("multirotor"), **{"count": 2, "spacing": 30.0, "seed": 5, **options})


def stamp_of(message: Any) -> int:
    stamp = message.clock if isinstance(message, Clock) else message.header.stamp
    return time_ns_of(stamp)


def test_each_vehicle_has_its_own_namespace_seed_and_position() -> None:
    members = two(count=3)
    assert [m.namespace for m in members] == ["multirotor_1", "multirotor_2", "multirotor_3"]
    assert [m.settings["seed"] for m in members] == [5, 6, 7]
    assert [m.settings["initial_position"] for m in members] == [[0.0, 0.0], [0.0, 30.0], [0.0, 60.0]]


@pytest.mark.parametrize(
    ("given", "text"),
    [({"count": 0}, "'count': 0 given"), ({"spacing": -1.0}, "'spacing': -1.0 given"), ({"seed": -2}, "'seed': -2")],
)
def test_invalid_fleets_are_rejected(given: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        two(**given)


@pytest.mark.parametrize(
    "names", [[], ["a", "a"], ["no good"]], ids=["no vehicle", "a repeated name", "an invalid namespace"]
)
def test_time_manager_rejects_invalid_vehicle_lists(ros_domain: int, names: list[str]) -> None:
    import rclpy
    from rclpy.parameter import Parameter

    from rosflight_py_sim.nodes.lockstep_time_manager import LockstepTimeManager

    rclpy.init()
    try:
        given = Parameter("vehicles", Parameter.Type.STRING_ARRAY, names)
        with pytest.raises(ParameterError, match="'vehicles'"):
            LockstepTimeManager(parameter_overrides=[given])
    finally:
        rclpy.shutdown()


def test_vehicles_differ_in_noise_and_position_but_share_time(graph: MakeGraph) -> None:
    g = graph(vehicles=two(), namespace="swarm").ready()
    nodes = {(n.get_namespace(), n.get_name()) for n in g.nodes}
    for name in ("sensors", "sil_board", "forces_and_moments", "dynamics", "rc"):
        assert {("/swarm/multirotor_1", name), ("/swarm/multirotor_2", name)} <= nodes
    assert [namespace for namespace, name in nodes if name == "time_manager"] == ["/swarm"]

    g.pause()
    order: list[tuple[str, int]] = []
    readings: dict[str, list[Any]] = {"1": [], "2": []}
    g.tester.create_subscription(Clock, CLOCK.name, lambda m: order.append(("clock", stamp_of(m))), 10)
    states = {}
    for k in "12":
        around = f"/swarm/multirotor_{k}"

        def on_truth(message: SimState, k: str = k) -> None:
            states[k] = message.pose.position
            order.append((k, stamp_of(message)))

        g.tester.create_subscription(SimState, topic_of(around, TRUTH_STATE.name), on_truth, 10)
        g.tester.create_subscription(Imu, topic_of(around, IMU.name), readings[k].append, 10)
    g.idle(0.3)
    order.clear()
    began_ns = g.time_ns
    g.set_parameter(g.time_manager, "step_count", 20)
    assert g.call(f"{g.time_manager}/step").success
    g.spin_until(lambda: len(order) == 60, "20 steps of both")
    for k in range(20):
        clock, *truths = order[3 * k : 3 * k + 3]
        assert clock == ("clock", began_ns + k * STEP_NS)
        assert sorted(truths) == [("1", clock[1] + STEP_NS), ("2", clock[1] + STEP_NS)]
    assert states["1"].y == pytest.approx(0.0, abs=0.1)
    assert states["2"].y == pytest.approx(30.0, abs=0.1)
    by_stamp = {stamp_of(m): m.linear_acceleration for m in readings["1"]}
    assert all(by_stamp[stamp_of(m)] != m.linear_acceleration for m in readings["2"])


def test_step_size_change_at_runtime_keeps_vehicles_synchronized(graph: MakeGraph) -> None:
    g = graph(vehicles=two()).ready()
    stamps: dict[str, set[int]] = {"1": set(), "2": set()}
    for k, received in stamps.items():
        topic = topic_of(f"/multirotor_{k}", TRUTH_STATE.name)
        g.tester.create_subscription(SimState, topic, lambda m, received=received: received.add(stamp_of(m)), DEEP)
    g.spin_until(lambda: all(stamps.values()))
    for size in (0.005, 0.001, 0.0025):
        g.set_parameter(g.time_manager, "step_size", size)
        g.spin_for(0.1)
    g.pause()
    g.idle(0.1)
    began = max(min(received) for received in stamps.values())
    one, other = ({stamp for stamp in received if stamp >= began} for received in stamps.values())
    assert one == other


class FailingForces(MultirotorForcesAndMoments):
    """Forces that become NaN for the vehicle whose namespace is `failing`."""

    failing = ""

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        wrench = super().update_forces_and_torques(state, wind_ned, pwm_us, dt)
        if self.failing == self.get_namespace():
            wrench[0] = math.nan
        return wrench


def test_diverging_vehicle_pauses_all_and_is_named(graph: MakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    g = graph(vehicles=two(), classes={"multirotor_forces_and_moments": FailingForces}).ready()
    log = g.collect_messages("/rosout", Log)
    g.spin_for(0.1)
    monkeypatch.setattr(FailingForces, "failing", "/multirotor_2")
    g.spin_until(lambda: g.node("time_manager").paused, "a pause")
    g.spin_until(lambda: any("paused at" in m.msg for m in log), "the report")
    (report,) = [m.msg for m in log if m.msg.startswith("paused at")]
    assert ": multirotor_2: force has diverged" in report

    monkeypatch.setattr(FailingForces, "failing", "")
    good = SimState()
    good.pose.position.z, good.pose.orientation.w = -20.0, 1.0
    assert g.call("/multirotor_2/dynamics/set_sim_state", SetSimState, state=good).success
    assert g.call(f"{g.time_manager}/toggle_pause").message.startswith("running")
    g.spin_for(0.1)


def test_vehicle_with_missing_node_stops_all_and_is_named(graph: MakeGraph) -> None:
    g = graph("-p", "stall_timeout:=0.02", vehicles=two()).ready()
    log = g.collect_messages("/rosout", Log)
    g.spin_for(0.1)
    # During a pause, no message is in transit to the node to be removed.
    g.pause()
    g.idle(0.1)
    g.remove(next(n for n in g.nodes if (n.get_namespace(), n.get_name()) == ("/multirotor_2", "sensors")))
    assert g.call(f"{g.time_manager}/toggle_pause").message.startswith("running")
    g.spin_until(lambda: any("is missing" in m.msg for m in log), "the report")
    (report,) = [m.msg for m in log if "is missing" in m.msg]
    assert report.startswith("no multirotor_2/sim/truth_state after ")
    time_ns = g.time_ns
    g.idle(0.2)
    assert g.time_ns == time_ns


def test_cost_of_checks_does_not_grow_with_the_square_of_the_number_of_nodes(
    graph: MakeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes of a process share the watch for time modes; publishers of the process's topics are not counted."""
    composed = graph(vehicles=two())
    nodes = [node for node in composed.nodes if isinstance(node, SimulationNode)]
    for node in nodes:
        node.time_mode_mismatch(amiss=True)
    assert len(nodes[0].get_subscriptions_info_by_topic("/diagnostics")) == 1
    counted: list[str] = []
    monkeypatch.setattr(SimulationNode, "count_publishers", lambda node, topic: counted.append(topic) or 1)
    for node in nodes:
        assert node.check_publishers() == ""
    received = {name for name in composed.hand_off.names if composed.hand_off.inlets(name)}
    assert not received.intersection(counted)
    assert "/multirotor_1/sim/truth_state" in received


def test_watch_for_time_modes_survives_the_end_of_its_node(graph: MakeGraph) -> None:
    composed = graph(vehicles=two())
    first, second = (node for node in composed.nodes if node.get_name() == "sensors")
    assert first.time_mode_mismatch(amiss=True) == ""
    composed.end_node(first)
    assert second.time_mode_mismatch(amiss=True) == ""
    watching = [end.node_namespace for end in second.get_subscriptions_info_by_topic("/diagnostics")]
    assert watching.count("/multirotor_2") == 1


def test_check_for_external_ends_is_interrupted_and_goes_on(graph: MakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each period of the check ends after a topic if it takes too long, and each topic has its turn."""
    hand_off = graph(vehicles=two()).hand_off
    monkeypatch.setattr("rosflight_py_sim.interfaces.hand_off.CHECK_LIMIT_S", -1.0)
    checked: list[str] = []
    monkeypatch.setattr(Outlet, "has_changed", lambda outlet: checked.append(outlet.name))
    topics = {name for name in hand_off.names if hand_off.outlets(name)}
    for _ in range(3 * len(hand_off.names)):
        before = len(checked)
        hand_off.go_on_checking()
        assert len(set(checked[before:])) <= 1
    assert set(checked) == topics


def test_start_lists_the_services_of_each_node_only_a_few_times(
    graph: MakeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the nodes of a fleet read parameters, the executor makes thousands of turns."""
    listed: list[str] = []
    services = SimulationNode.services

    def counted(node: SimulationNode) -> Any:
        listed.append(node.get_fully_qualified_name())
        return services.__get__(node)

    monkeypatch.setattr(SimulationNode, "services", property(counted))
    composed = graph(vehicles=two())
    assert max(map(listed.count, set(listed))) < 10
    assert len(set(listed)) > 1
    assert all(len(node.awaited_services()) == 0 for node in composed.nodes if isinstance(node, SimulationNode))
