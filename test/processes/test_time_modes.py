"""Time and parameters in each time mode, with one process per node; and the graph, which is that of a composed run."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters
from rclpy.node import Node
from rosflight_msgs.msg import SimState
from rosflight_msgs.srv import SetSimState

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_TOPIC
from test.processes.conftest import LONG_STEPS, SLOWLY, few_steps

pytestmark = pytest.mark.timeout(180)

STEP_NS = round(LONG_STEPS["step_size"] * NANOSECONDS)

# Simulated time at full speed: 100 steps.
FULL_SPEED_S = 1.0

# System time for the discovery of a graph.
DISCOVERY_S = 60.0

Graph = set[tuple[str, ...]]


@pytest.fixture(scope="module", params=["wall", "paced", "gated", "lockstep"])
def running(request: pytest.FixtureRequest, start_simulation: Callable[..., Any]) -> Any:
    simulation = start_simulation(request.param, SLOWLY, *few_steps(request.param))
    observer = simulation.observer()
    observer.wait_for_advance(0.2, "the graph starts")
    if request.param == "gated":
        # On a busy machine, a step may exceed the default timeout, and the simulation would continue without it. During
        # discovery, messages are lost, and the simulation would wait this long for each.
        assert observer.set_number("time_manager", "step_timeout", 8.0).successful
    yield simulation, observer
    simulation.close()


def test_truth_advances_with_stamps_from_the_clock_of_its_mode(running: Any) -> None:
    simulation, observer = running
    observer.wait_for_advance(0.1)
    count_before = len(observer.stamps)
    observer.wait_for_advance(0.3)
    steps = [b - a for a, b in pairwise(observer.stamps[count_before:])]
    assert min(steps) >= 0
    if simulation.time_mode == "lockstep":
        assert set(steps) == {STEP_NS}
    elif simulation.time_mode in ("paced", "gated"):
        assert {step % STEP_NS for step in steps} == {0}
    else:
        assert abs(observer.time_s - time.time()) < 5.0


def test_process_parameters_can_be_read_described_and_set(running: Any) -> None:
    _, observer = running
    answer = observer.call(GetParameters, "dynamics/get_parameters", GetParameters.Request(names=["mass"]))
    assert answer.values[0].double_value == 3.5
    described = observer.call(
        DescribeParameters, "dynamics/describe_parameters", DescribeParameters.Request(names=["mass"])
    )
    assert "kg" in described.descriptors[0].description
    assert observer.set_number("dynamics", "mass", 3.6).successful
    answer = observer.call(GetParameters, "dynamics/get_parameters", GetParameters.Request(names=["mass"]))
    assert answer.values[0].double_value == 3.6
    assert observer.set_number("dynamics", "mass", 3.5).successful


def test_rejected_parameter_returns_reason_and_changes_nothing(running: Any) -> None:
    _, observer = running
    refused = observer.set_number("dynamics", "mass", -1.0)
    assert not refused.successful
    assert refused.reason == "parameter 'mass': -1.0 given; allowed: number, from 1e-06 to 1e+06 kg"
    answer = observer.call(GetParameters, "dynamics/get_parameters", GetParameters.Request(names=["mass"]))
    assert answer.values[0].double_value == 3.5
    refused = observer.set_number("sensors", "imu_update_frequency", 10.0)
    assert not refused.successful and refused.reason  # read only at the start


def test_invalid_state_from_another_process_is_rejected_with_reason(running: Any) -> None:
    _, observer = running
    state = SimState()
    state.pose.orientation.w = 0.0
    answer = observer.call(SetSimState, "dynamics/set_sim_state", SetSimState.Request(state=state))
    assert not answer.success and "quaternion" in answer.message
    observer.wait_for_advance(0.1)


def test_pause_stops_time_step_advances_it_and_resume_restarts_it(running: Any) -> None:
    simulation, observer = running
    if simulation.time_mode == "wall":
        assert not observer.has_node("time_manager")
        return
    observer.trigger("time_manager/toggle_pause")
    observer.spin(0.3)
    held = observer.stamps[-1]
    observer.spin(0.5)
    assert observer.stamps[-1] == held
    count = SetParameters.Request(
        parameters=[
            Parameter(name="step_count", value=ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=4))
        ]
    )
    assert observer.call(SetParameters, "time_manager/set_parameters", count).results[0].successful
    observer.trigger("time_manager/step")
    observer.spin(0.3)
    assert observer.stamps[-1] == held + 4 * STEP_NS
    observer.trigger("time_manager/step")
    observer.spin(0.3)
    assert observer.stamps[-1] == held + 8 * STEP_NS
    observer.trigger("time_manager/toggle_pause")
    observer.wait_for_advance(0.2)


@pytest.mark.parametrize("multiplier", [2.0, 0.5])
def test_time_advances_at_the_multiplier(running: Any, multiplier: float) -> None:
    simulation, observer = running
    if simulation.time_mode == "wall":
        refused = observer.set_number("dynamics", "real_time_multiplier", multiplier)
        assert not refused.successful
        return
    assert observer.set_number("time_manager", "real_time_multiplier", multiplier).successful
    observer.spin(0.3)
    receive_pending(observer)
    began, simulated = time.monotonic(), observer.time_s
    observer.spin(1.0)
    pace = (observer.time_s - simulated) / (time.monotonic() - began)
    assert observer.set_number("time_manager", "real_time_multiplier", SLOWLY).successful
    # A coarse lower limit: other programs may slow the machine down. Time must never run too fast.
    assert 0.1 * multiplier < pace < 1.1 * multiplier


def receive_pending(observer: Any) -> None:
    """Receive the messages that wait for the observer: on a busy machine they would count as simulated time."""
    count = -1
    while count != len(observer.stamps):
        count = len(observer.stamps)
        for _ in range(50):
            observer.executor.spin_once(timeout_sec=0.0)


def test_no_step_is_lost_at_full_speed(running: Any) -> None:
    simulation, observer = running
    if simulation.time_mode not in ("gated", "lockstep"):
        pytest.skip("only gated and lockstep promise every step")
    assert observer.set_number("time_manager", "real_time_multiplier", 0.0).successful
    count_before = len(observer.stamps)
    observer.wait_for_advance(FULL_SPEED_S)
    assert observer.set_number("time_manager", "real_time_multiplier", SLOWLY).successful
    steps = [b - a for a, b in pairwise(observer.stamps[count_before:])]
    assert set(steps) == {STEP_NS}
    assert len(steps) >= FULL_SPEED_S * NANOSECONDS / STEP_NS - 2


def graph_of(node: Node) -> Graph:
    """All other nodes, their services and clients, and the endpoints of all topics with type and QoS.

    Hidden nodes are left out, as in ROS 2's tools: rmw_fastrtps may keep the name of one that has ended.
    """
    found: Graph = set()
    for name, namespace in node.get_node_names_and_namespaces():
        if name.startswith("_"):
            continue
        owner = f"{namespace.rstrip('/')}/{name}"
        found.add((owner, "node"))
        for service, types in node.get_service_names_and_types_by_node(name, namespace):
            found.add((owner, "service", service, *types))
        for service, types in node.get_client_names_and_types_by_node(name, namespace):
            found.add((owner, "client", service, *types))
    for topic, _ in node.get_topic_names_and_types():
        for way, ends in (
            ("publishes", node.get_publishers_info_by_topic(topic)),
            # A node with a missing input subscribes to the reports of the others.
            ("subscribes", [] if topic == DIAGNOSTICS_TOPIC else node.get_subscriptions_info_by_topic(topic)),
        ):
            for end in ends:
                qos = end.qos_profile
                owner = f"{end.node_namespace.rstrip('/')}/{end.node_name}"
                found.add((owner, way, topic, end.topic_type, qos.reliability.name, qos.durability.name))
    # A node that needs no /clock destroys rclpy's subscription; discovery may still list it without a node name.
    gone = "_NODE_NAMESPACE_UNKNOWN_/_NODE_NAME_UNKNOWN_"
    return {entry for entry in found if entry[0] not in (gone, node.get_fully_qualified_name())}


def test_composed_process_has_same_graph_as_separate_processes(running: Any, processes: Any) -> None:
    many, other = running
    time_mode = many.time_mode
    if time_mode not in ("lockstep", "paced"):
        pytest.skip("one time mode that waits for the nodes, and one that does not")
    many.start("autopilot")
    slowly = ("--real-time-multiplier", str(SLOWLY), "--ros-args", *few_steps(time_mode))
    processes.command("sim", "--autopilot", "--time-mode", time_mode, *slowly, "-p", "device:=none")
    asked = processes.observer()
    for observer in (asked, other):
        observer.wait_for_advance(0.2)
    end = time.monotonic() + DISCOVERY_S
    while graph_of(asked.node) != graph_of(other.node) and time.monotonic() < end:
        time.sleep(0.5)
    one, separate = graph_of(asked.node), graph_of(other.node)
    assert ("/dynamics", "node") in one and ("/autopilot", "node") in one
    assert one == separate


# This test comes last: it leaves the graph without rc.


def test_rejected_parameter_file_of_one_node_leaves_others_running(running: Any) -> None:
    simulation, observer = running
    if simulation.time_mode != "lockstep":
        pytest.skip("lockstep, which waits for the nodes, is the strictest")
    simulation.programs["rc"].kill()
    refused = simulation.start("rc", "-p", "rc_frequency:=0.5")
    assert refused.wait() == 1
    observer.wait_for_advance(0.2)
