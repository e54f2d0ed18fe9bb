"""Vehicles that are added to a running graph, and removed from it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node

from rosflight_py_sim.graph.fleet import fleet, seed_of
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.process_control import PoseError
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import IMU, TRUTH_STATE, StepTopic, topic_of
from rosflight_py_sim.vehicles import vehicle

MakeGraph = Callable[..., Any]

GUSTS = ("--ros-args", "-p", "wind_models:=[constant,dryden]", "-p", "wind_ned:=[4.0,3.0,0.0]")


def at(north: float, east: float, up: float) -> np.ndarray[Any, Any]:
    """Truth vector at rest, heading north."""
    truth = np.zeros(19)
    truth[:4] = north, east, -up, 1.0
    return truth


def change(graph: Any, act: Callable[[Any], None]) -> None:
    """Change the simulation as a node that requests it does."""
    control = graph.control
    control.request(partial(act, control.simulation))
    control.carry_out()
    if control.error is not None:
        raise control.error


def spawn(graph: Any, name: str, kind: str = "multirotor", truth: Any = None) -> None:
    place = at(50.0, 0.0, 30.0) if truth is None else truth
    change(graph, lambda simulation: simulation.spawn(vehicle(kind), name, place, ""))


def delete(graph: Any, name: str) -> None:
    change(graph, lambda simulation: simulation.delete(name))


def encoded(graph: Any, topic: StepTopic[Any], name: str) -> dict[int, bytes]:
    """Messages of a vehicle by their stamps, encoded; filled while the graph runs."""
    found: dict[int, bytes] = {}

    def take(message: Any) -> None:
        found[message.time_ns] = topic.encode(message)

    graph.hand_off.subscribe(graph.tester, topic, f"/{topic_of(name, topic.name)}", CHAIN, take)
    return found


def nodes_of(graph: Any, name: str) -> list[Node]:
    return [node for node in graph.nodes if node.get_namespace() == f"/{name}"]


def flown(make: MakeGraph, act: Callable[[Any], None]) -> dict[str, dict[int, bytes]]:
    """Truth states and IMU messages of two vehicles, between whose steps `act` is called."""
    graph = make(*GUSTS, vehicles=fleet(vehicle("multirotor"), count=2, seed=3))
    found = {
        f"{name} {topic.name}": encoded(graph, topic, name)
        for name in ("multirotor_1", "multirotor_2")
        for topic in (TRUTH_STATE, IMU)
    }
    graph.spin(lambda: graph.time_ns < 150_000_000)
    act(graph)
    graph.spin(lambda: graph.time_ns < 400_000_000)
    graph.close()
    return found


def test_vehicles_fly_equal_to_the_bit_beside_one_that_comes_and_goes(graph: MakeGraph) -> None:
    def come_and_go(g: Any) -> None:
        spawn(g, "kite", "fixedwing")
        g.spin(lambda: g.time_ns < 250_000_000)
        delete(g, "kite")

    alone = flown(graph, lambda _: None)
    assert all(len(messages) > 100 for messages in alone.values())
    assert flown(graph, come_and_go) == alone


def test_spawned_vehicle_flies_from_its_start_with_seed_and_noise_of_its_name(graph: MakeGraph) -> None:
    flights = []
    for others in ([], ["other"]):
        g = graph(settings={"seed": 7})
        g.pause()
        for other in others:
            spawn(g, other)
        messages = encoded(g, IMU, "kite")
        states = encoded(g, TRUTH_STATE, "kite")
        spawn(g, "kite")
        before_ns = g.time_ns
        g.call("time_manager/toggle_pause")
        g.spin(lambda g=g, end_ns=before_ns + 200_000_000: g.time_ns < end_ns)
        assert g.node_of("sensors", "kite").values["seed"] == seed_of(7, "kite")
        assert min(states) == before_ns
        assert TRUTH_STATE.decode(states[before_ns]).position_ned.tolist() == [50.0, 0.0, -30.0]
        assert len(messages) > 50
        flights.append((messages, states))
        g.close()
    assert flights[0] == flights[1]
    assert flights[0][0] != {}


@pytest.mark.parametrize("time_mode", ["wall", "paced", "gated", "lockstep"])
def test_vehicles_come_and_go_in_each_time_mode(graph: MakeGraph, time_mode: str) -> None:
    g = graph(time_mode=time_mode, multiplier=1.0)
    g.spin_until(lambda: g.time_ns > 0, "advancing time")
    states = encoded(g, TRUTH_STATE, "kite")
    spawn(g, "kite")
    g.spin_until(lambda: len(states) > 20, "steps of the new vehicle")
    assert min(TRUTH_STATE.decode(one).position_ned[2] for one in states.values()) == pytest.approx(-30.0)
    gone = [weakref.ref(node) for node in nodes_of(g, "kite")]
    delete(g, "kite")
    assert [node() for node in gone] == [None] * len(gone)
    # The last vehicle may go, too, and time goes on without any.
    delete(g, "")
    if time_mode != "wall":
        before_ns = g.node("time_manager").now_ns
        g.spin_until(lambda: g.node("time_manager").now_ns > before_ns + 20_000_000, "time without vehicles")
    spawn(g, "kite")
    states.clear()
    g.spin_until(lambda: len(states) > 20, "steps of the next vehicle")


def test_paused_simulation_stays_at_its_time(graph: MakeGraph) -> None:
    g = graph()
    g.spin_for(0.1)
    g.pause()
    time_ns = g.node("time_manager").now_ns
    states = encoded(g, TRUTH_STATE, "kite")
    spawn(g, "kite")
    g.spin_until(lambda: states, "the state of the new vehicle")
    assert list(states) == [g.time_ns]
    assert g.node("time_manager").now_ns == time_ns
    g.step()
    assert g.node("time_manager").now_ns == time_ns + 2_500_000
    assert max(states) == time_ns + 5_000_000
    # The present time of a lockstep simulation is repeated for late nodes only.
    assert g.node("time_manager").all_repeats == 0


def test_steps_are_taken_without_vehicles(graph: MakeGraph) -> None:
    g = graph()
    g.pause()
    manager = g.node("time_manager")
    delete(g, "")
    before_ns = manager.now_ns
    g.set_parameter("time_manager", "step_count", 3)
    assert g.call("time_manager/step").success
    assert manager.now_ns == before_ns + 7_500_000


def test_restart_keeps_the_present_vehicles_or_returns_to_those_of_the_start(graph: MakeGraph) -> None:
    g = graph(vehicles=fleet(vehicle("multirotor"), count=2, seed=0))
    spawn(g, "kite")
    delete(g, "multirotor_2")
    g.spin_for(0.1)
    states = encoded(g, TRUTH_STATE, "kite")
    change(g, lambda simulation: simulation.restart(paused=False, entirely=False))
    states.clear()
    g.spin_for(0.05)
    assert TRUTH_STATE.decode(states[0]).position_ned.tolist() == [50.0, 0.0, -30.0]
    assert g.node("time_manager").vehicles == ["multirotor_1", "kite"]
    assert nodes_of(g, "multirotor_2") == []
    change(g, lambda simulation: simulation.restart(paused=False, entirely=True))
    g.spin_for(0.05)
    assert g.node("time_manager").vehicles == ["multirotor_1", "multirotor_2"]
    assert nodes_of(g, "kite") == []


def test_reset_returns_a_spawned_vehicle_to_its_start(graph: MakeGraph) -> None:
    g = graph()
    spawn(g, "kite", truth=at(5.0, 6.0, 7.0))
    g.spin_for(0.1)
    assert g.call("/kite/dynamics/reset").success
    assert g.node_of("dynamics", "kite").compute_truth()[:3].tolist() == [5.0, 6.0, -7.0]


def test_refused_vehicle_leaves_nothing_behind(graph: MakeGraph) -> None:
    g = graph()
    g.spin_for(0.05)
    before = list(g.nodes)
    with pytest.raises(PoseError, match="position"):
        spawn(g, "kite", truth=at(1e12, 0.0, 0.0))
    with pytest.raises(ParameterError, match="world 'puddle'"):
        change(g, lambda simulation: simulation.spawn(vehicle("multirotor"), "kite", at(0.0, 0.0, 0.0), "puddle"))
    assert g.nodes == before
    g.spin_for(0.05)


def test_every_vehicle_of_the_catalogue_joins(graph: MakeGraph) -> None:
    g = graph()
    for kind in ("auv", "uthere", "hexarotor"):
        spawn(g, f"a_{kind}", kind)
        messages = encoded(g, IMU, f"a_{kind}")
        g.spin_until(lambda messages=messages: len(messages) > 5, f"IMU messages of {kind}")
        delete(g, f"a_{kind}")


def test_vehicles_of_a_bridge_stay(graph: MakeGraph) -> None:
    g = graph(vehicle_name="uthere")
    with pytest.raises(ParameterError, match="vehicle 'uthere' given, whose client is connected by the bridge"):
        delete(g, "")


def test_memory_and_topics_of_removed_vehicles_are_free(graph: MakeGraph) -> None:
    g = graph()
    g.spin_for(0.05)
    # Its first report, after a second of system time, would create a subscription.
    g.node("time_manager").time_mode_mismatch()
    counts = []
    for _ in range(3):
        spawn(g, "kite")
        g.spin_for(0.02)
        delete(g, "kite")
        g.spin_for(0.02)
        manager = g.node("time_manager")
        counts.append((len(g.nodes), len(manager.ends), len(g.hand_off.outside.ends), len(g.executor.get_nodes())))
    # Some ends exist from the first reports of the nodes on.
    assert counts[2] == counts[1]
