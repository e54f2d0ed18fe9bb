"""Vehicles that meet in the graph: they collide, and rotors move the air at others; without either, nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rclpy.parameter import Parameter as RosParameter
from rosflight_msgs.srv import SetSimState
from sensor_msgs.msg import JointState

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.nodes.encounters import Encounters
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.parts.follower_script import FollowerScript
from rosflight_py_sim.physics.collision import restitution_of
from rosflight_py_sim.physics.downwash import jet_velocity
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import output, trigger
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    COLLISION_SPHERE,
    CONTACTS,
    IMU,
    INDUCED_AIR,
    PWM_OUTPUT,
    ROTOR_JET,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    NamedNumbers,
    PulseWidths,
    StepTopic,
    topic_of,
)
from rosflight_py_sim.step.vehicle_state import VehicleState, message_of_truth
from rosflight_py_sim.vehicles import vehicle
from test.graph.test_changing_fleet import change, delete, encoded, spawn

MakeGraph = Callable[..., Any]

STEP_NS = 2_500_000
COLLIDING: dict[str, Any] = {"collision_radius": 0.45}
DOWNWASH: dict[str, Any] = {"downwash": True}


def in_the_air(name: str, north: float, up: float, **given: Any) -> Member:
    """A vehicle that starts in the air, with these parameters."""
    start: dict[str, Any] = {
        "initial_position": [north, 0.0],
        "initial_altitude": up,
        "starts_on_ground": False,
        "seed": 3,
    }
    return Member(vehicle("multirotor"), name, {**start, **given})


def messages(graph: Any, topic: StepTopic[Any], name: str) -> dict[int, Any]:
    """Messages of a vehicle by their stamps; filled while the graph runs."""
    found: dict[int, Any] = {}
    take = found.__setitem__
    graph.hand_off.subscribe(
        graph.tester, topic, f"/{topic_of(name, topic.name)}", CHAIN, lambda message: take(message.time_ns, message)
    )
    return found


def names(graph: Any) -> list[str]:
    return [node.get_name() for node in graph.nodes]


def set_motion(graph: Any, name: str, position: Sequence[float], velocity: Sequence[float]) -> None:
    """Set a level vehicle's position and velocity, NED."""
    truth = np.array([*position, 1, 0, 0, 0, *velocity, *(0.0,) * 9], dtype=float)
    answer = graph.call(f"/{name}/dynamics/set_sim_state", SetSimState, state=message_of_truth(truth))
    assert answer.success, answer.message


def velocity_ned(state: VehicleState) -> NDArray[np.float64]:
    return np.array(rotate_to_inertial(*state.quaternion.tolist(), *state.velocity_body.tolist()))


def test_vehicles_that_ask_for_nothing_have_no_further_node_and_no_further_topics(graph: MakeGraph) -> None:
    g = graph(vehicles=[in_the_air("a", 0.0, 50.0), in_the_air("b", 0.1, 50.0)]).ready()
    assert "encounters" not in names(g)
    topics = {name for name, _ in g.tester.get_topic_names_and_types()}
    assert not any(word in name for name in topics for word in ("collision", "contacts", "rotor_jet", "induced_air"))
    assert abs(g.node_of("dynamics", "a").body.truth[0]) < 1e-3


def test_vehicles_collide_head_on_with_equal_and_opposite_impulses(graph: MakeGraph) -> None:
    pair = [in_the_air(name, north, 60.0, **COLLIDING) for name, north in (("a", 0.0), ("b", 3.0))]
    g = graph(vehicles=pair).ready()
    assert names(g).count("encounters") == 1
    g.pause()
    set_motion(g, "a", (0.0, 0.0, -60.0), (4.0, 0.0, 0.0))
    set_motion(g, "b", (1.4, 0.0, -60.0), (-4.0, 0.0, 0.0))
    began_ns = g.time_ns
    states = {name: messages(g, TRUTH_STATE, name) for name in "ab"}
    contacts: list[JointState] = []
    g.hand_off.subscribe(g.tester, CONTACTS, f"/{CONTACTS.name}", CHAIN, contacts.append)
    assert g.call(f"{g.time_manager}/toggle_pause").success
    g.spin_until(lambda: g.time_ns >= began_ns + 120 * STEP_NS, "the collision")
    speeds = np.array(
        [[velocity_ned(states[name][ns])[0] for name in "ab"] for ns in sorted(states["a"].keys() & states["b"].keys())]
    )
    # Both meet the same air at the same speed, so that their momenta are opposite in each step, to rounding.
    assert np.abs(speeds.sum(axis=1)) == pytest.approx(0.0, abs=1e-9)
    assert speeds[0] == pytest.approx([4.0, -4.0], abs=0.1)
    # The restitution is 0.5, up to drag and to the length of a step.
    assert speeds[-1] == pytest.approx([-2.0, 2.0], abs=0.2)
    assert len(contacts) >= 10
    first = contacts[0]
    assert first.name == ["a and b"]
    assert first.velocity[0] == pytest.approx(8.0, abs=0.2)
    assert first.position[0] > 0.0
    assert first.effort[0] > 100.0
    stamps = [time_ns_of(one.header.stamp) for one in contacts]
    assert stamps == [stamps[0] + k * STEP_NS for k in range(len(stamps))]


class Throttle(Part):
    """A flight controller whose outputs are constant: near those of hover."""

    DEFAULT_NAME = "sil_board"
    PARAMETERS = ParameterTable(TIME_MODE)
    imu = trigger(IMU)
    send = output(PWM_OUTPUT)

    def answer(self, time_ns: int, content: object) -> None:
        self.send(PulseWidths(time_ns, (1560,) * 4 + (1000,) * 10))


@pytest.mark.parametrize("below", [1.0, 2.5])
def test_air_at_the_vehicle_below_is_that_of_the_model_and_pushes_it_down(graph: MakeGraph, below: float) -> None:
    wind = {"sim_has_wind": True, "use_random_wind": False, "steady_state_wind": [1.0, 0.0, 0.0]}
    given = {**DOWNWASH, **wind, "rotational_gusts": True}
    three = [
        in_the_air("upper", 0.0, 80.0, **given),
        in_the_air("lower", 0.05, 80.0 - below, **given),
        in_the_air("alone", 30.0, 80.0 - below, **wind),
    ]
    g = graph(vehicles=three, classes={"sil_board": node_of(Throttle)})
    recorded = {
        (name, topic): messages(g, topic, name)
        for name in ("upper", "lower", "alone")
        for topic in (TRUTH_STATE, TRUTH_WIND, TRUTH_WIND_RATES, ROTOR_JET, INDUCED_AIR)
    }
    g.spin(lambda: g.time_ns < 300 * STEP_NS)
    end_ns = 250 * STEP_NS
    hover, span, area = recorded["upper", ROTOR_JET][end_ns].numbers
    assert span == pytest.approx(0.5)
    assert area == pytest.approx(np.pi * 0.381**2)
    # Momentum theory: in hover the thrust is the weight, at a throttle near this one.
    assert hover == pytest.approx(np.sqrt(3.5 * 9.81 / (2.0 * 1.07 * area)), rel=0.15)
    upper, lower = (recorded[name, TRUTH_STATE][end_ns] for name in ("upper", "lower"))
    qw, qx, qy, qz = upper.quaternion.tolist()
    down = np.array(rotate_to_inertial(qw, qx, qy, qz, 0.0, 0.0, 1.0))
    wake = 2.0 * hover * down + np.array(recorded["upper", TRUTH_WIND][end_ns].velocity_ned) - velocity_ned(upper)
    axis = wake / np.linalg.norm(wake)
    away = lower.position_ned - upper.position_ned
    along = float(away @ axis)
    across = float(np.linalg.norm(away - along * axis))
    expected = jet_velocity(hover, span, area, along, across) * down
    induced = np.array(recorded["lower", INDUCED_AIR][end_ns].velocity_ned)
    assert induced == pytest.approx(expected, rel=1e-9)
    assert induced[2] > 3.0
    # The air acts on the vehicle as wind does, from the end of the step on.
    after = np.array(recorded["lower", TRUTH_WIND][end_ns + STEP_NS].velocity_ned)
    assert after == pytest.approx(np.array([1.0, 0.0, 0.0]) + induced, rel=1e-12)
    turned = recorded["lower", INDUCED_AIR][end_ns].rates_ned
    qw, qx, qy, qz = recorded["lower", TRUTH_STATE][end_ns + STEP_NS].quaternion.tolist()
    rates = recorded["lower", TRUTH_WIND_RATES][end_ns + STEP_NS].rates
    assert rates == pytest.approx(rotate_to_body(qw, qx, qy, qz, *turned), rel=1e-9)
    assert np.linalg.norm(rates) > 0.1
    sunk = {name: recorded[name, TRUTH_STATE][end_ns].position_ned[2] for name in ("lower", "alone")}
    assert sunk["lower"] > sunk["alone"] + 0.1


@pytest.mark.parametrize("below", [1.0, 2.5])
def test_vehicle_hovers_below_another_in_the_air_of_the_published_jet(graph: MakeGraph, below: float) -> None:
    """The distances are 2 and 5 times that of opposite rotors, the range in which the paper's jets have merged."""
    leader = Member(vehicle("multirotor"), "upper", {"seed": 1}, executables=("autopilot",))
    following: dict[str, Any] = {
        "initial_position": [3.0, 0.0],
        "leader": "upper",
        "formation_offset": [0.0, 0.0, below],
        "seed": 2,
    }
    follower = Member(vehicle("multirotor"), "lower", following, executables=("follower_autopilot",))
    settings: dict[str, Any] = {"step_size": 0.005, "square_height": 6.0, "corner_pause": 10.0, **DOWNWASH}
    g = graph(vehicles=[leader, follower], settings=settings)
    pilots = [g.join(MissionPilot, namespace="upper")]
    pilots.append(g.join(FollowerScript, autopilot={"leader": "/upper"}, namespace="lower"))
    upper, lower = (messages(g, TRUTH_STATE, name) for name in ("upper", "lower"))
    air = messages(g, INDUCED_AIR, "lower")
    g.spin(lambda: g.time_s < 17.0 and not any(pilot.failure for pilot in pilots))
    assert [pilot.activity for pilot in pilots] == ["take off", "in formation"]
    hover = [stamp for stamp in air if 14.0e9 <= stamp <= 17.0e9]
    distance = np.mean([lower[stamp].position_ned[2] - upper[stamp].position_ned[2] for stamp in hover])
    assert distance == pytest.approx(below, abs=0.15)
    # U_H = 5.93 m/s for the weight of 3.5 kg; l = 0.5 m.
    centreline = 5.93 * 10.11 * 0.5 / (distance + 5.817 * 0.5)
    # The lower vehicle drifts some centimetres off the axis.
    assert np.mean([air[stamp].velocity_ned[2] for stamp in hover]) == pytest.approx(centreline, rel=0.03)


def test_some_vehicles_of_the_scenario_collide_in_downwash_and_fly_on(graph: MakeGraph) -> None:
    scenario = load_scenario("crossing")
    assert len(scenario.members) == 50
    # Two of the lower vehicles, in lines 0.5 m apart, and the one in whose downwash they meet.
    chosen = ("leader", "west_6", "east_6")
    members = [one for one in scenario.members if one.namespace in chosen]
    g = graph(vehicles=members, settings=scenario.settings)
    pilots = [g.join(MissionPilot, namespace="leader")]
    pilots += [g.join(FollowerScript, autopilot={"leader": "/leader"}, namespace=one) for one in chosen[1:]]
    lower, air = ({name: messages(g, topic, name) for name in chosen[1:]} for topic in (TRUTH_STATE, INDUCED_AIR))
    contacts: list[JointState] = []
    g.hand_off.subscribe(pilots[0], CONTACTS, f"/{CONTACTS.name}", CHAIN, contacts.append)
    g.spin(lambda: g.time_s < 19.0)
    assert not any(pilot.failure for pilot in pilots)
    assert {pair for one in contacts for pair in one.name} == {"east_6 and west_6"}
    strongest = [max(one.velocity_ned[2] for one in found.values()) for found in air.values()]
    assert max(strongest) > 2.0
    # Each has passed the other.
    places = {name: states[max(states)].position_ned for name, states in lower.items()}
    assert places["west_6"][1] > 3.0
    assert places["east_6"][1] < -3.0


@pytest.mark.parametrize("asked", [COLLIDING, DOWNWASH])
def test_vehicle_that_meets_none_flies_as_one_that_cannot_to_the_bit(
    graph: MakeGraph, asked: Mapping[str, Any]
) -> None:
    flights = []
    for given in ({}, asked):
        g = graph(vehicles=[in_the_air("a", 0.0, 50.0, **given)])
        assert ("encounters" in names(g)) == bool(given)
        found = encoded(g, TRUTH_STATE, "a")
        g.spin(lambda g=g: g.time_ns < 200 * STEP_NS)
        flights.append(found)
        g.close()
    assert len(flights[0]) > 150
    assert flights[0] == flights[1]


def test_order_of_the_vehicles_has_no_effect(graph: MakeGraph) -> None:
    three = [
        in_the_air(name, north, up, **COLLIDING, **DOWNWASH)
        for name, north, up in (("a", 0.0, 50.0), ("b", 0.6, 50.1), ("c", 0.3, 49.5))
    ]
    flights = []
    for members in (three, three[::-1]):
        g = graph(vehicles=members)
        found = {name: encoded(g, TRUTH_STATE, name) for name in "abc"}
        g.spin(lambda g=g: g.time_ns < 100 * STEP_NS)
        flights.append(found)
        g.close()
    assert flights[0] == flights[1]


def test_vehicles_with_other_dynamics_do_not_meet(graph: MakeGraph) -> None:
    jsbsim = Member(vehicle("fixedwing", "jsbsim"), "plane")
    g = graph(vehicles=[in_the_air("a", 0.0, 50.0), jsbsim], settings={**COLLIDING, **DOWNWASH})
    encounters = g.node_of("encounters")
    assert encounters.values["colliding"] == ["a"]
    assert encounters.values["downwash_receivers"] == ["a"]
    assert encounters.values["downwash_sources"] == ["a"]
    g.spin(lambda: g.time_ns < 20 * STEP_NS)
    assert g.time_ns >= 20 * STEP_NS


def test_parameter_given_on_the_command_line_starts_the_node(graph: MakeGraph) -> None:
    g = graph("--ros-args", "-p", "dynamics.collision_radius:=0.4", vehicles=[in_the_air("a", 0.0, 50.0)])
    assert g.node_of("encounters").values["colliding"] == ["a"]


def test_invalid_radius_is_refused_with_its_range(graph: MakeGraph) -> None:
    with pytest.raises(ParameterError, match=r"'collision_radius': -1.* given; allowed: .*0.001 to 1000 m, or 0"):
        graph(vehicles=[in_the_air("a", 0.0, 50.0, collision_radius=-1.0)])


def test_restitution_can_change_during_the_run(graph: MakeGraph) -> None:
    g = graph(vehicles=[in_the_air("a", 0.0, 50.0, **COLLIDING)]).ready()
    spheres: list[NamedNumbers] = []
    g.hand_off.subscribe(g.tester, COLLISION_SPHERE, f"/a/{COLLISION_SPHERE.name}", CHAIN, spheres.append)
    for restitution in (0.7, 0.9):
        g.set_parameter("/a/dynamics", "collision_restitution", restitution)
    g.spin_until(lambda: len(spheres) == 2, "both spheres")
    before, after = spheres
    assert before.numbers[:3] == after.numbers[:3] == pytest.approx((0.45, 3.5, 3.5 * (np.pi / 0.05) ** 2))
    assert [restitution_of(one.numbers[3]) for one in spheres] == pytest.approx([0.7, 0.9])
    g.spin_for(0.05)


def test_source_that_is_not_in_the_downwash_of_others_is_refused(ros_domain: int) -> None:
    import rclpy

    rclpy.init()
    try:
        lists = {"downwash_sources": ["a", "b"], "downwash_receivers": ["a", "c"]}
        with pytest.raises(ParameterError, match=r"'downwash_sources': /b given; allowed: .*\(/a, /c\)"):
            Encounters(parameter_overrides=[RosParameter(name, value=value) for name, value in lists.items()])
    finally:
        rclpy.shutdown()


def test_vehicles_that_meet_are_neither_deleted_nor_spawned(graph: MakeGraph) -> None:
    g = graph(vehicles=[in_the_air("a", 0.0, 50.0, **COLLIDING), in_the_air("b", 9.0, 50.0)]).ready()
    with pytest.raises(
        ParameterError, match="'a' given, for which the node encounters waits; allowed: vehicles without"
    ):
        delete(g, "a")
    delete(g, "b")
    spawn(g, "c")
    g.spin_for(0.05)
    g.close()
    g = graph(vehicles=[in_the_air("a", 0.0, 50.0)], settings=COLLIDING).ready()
    with pytest.raises(ParameterError, match="'multirotor' given, whose collision_radius or downwash"):
        spawn(g, "b")
    g.spin_for(0.05)


def test_restart_flies_the_meeting_again_to_the_bit(graph: MakeGraph) -> None:
    pair = [in_the_air("a", 0.0, 50.0, **COLLIDING, **DOWNWASH), in_the_air("b", 0.6, 50.3, **COLLIDING, **DOWNWASH)]
    g = graph(vehicles=pair)
    flights = []
    for _ in range(2):
        found = encoded(g, TRUTH_STATE, "b")
        g.spin(lambda found=found: max(found, default=0) < 100 * STEP_NS)
        flights.append({stamp: state for stamp, state in found.items() if stamp > 0})
        change(g, lambda simulation: simulation.restart(paused=False, entirely=True))
    assert len(flights[0]) > 90
    assert flights[0].keys() == flights[1].keys()
    assert flights[0] == flights[1]


@pytest.mark.parametrize("time_mode", ["wall", "paced", "gated"])
def test_vehicles_also_collide_outside_of_lockstep_and_in_a_namespace(graph: MakeGraph, time_mode: str) -> None:
    given = {**COLLIDING, **DOWNWASH}
    pair = [in_the_air("a", 0.0, 50.0, **given), in_the_air("b", 0.6, 50.0, **given)]
    g = graph(vehicles=pair, time_mode=time_mode, multiplier=1.0, namespace="arena")
    newest: dict[str, VehicleState] = {}
    for name in "ab":
        topic, take = f"/arena/{topic_of(name, TRUTH_STATE.name)}", partial(newest.__setitem__, name)
        g.hand_off.subscribe(g.tester, TRUTH_STATE, topic, CHAIN, take)
    contacts: list[JointState] = []
    g.hand_off.subscribe(g.tester, CONTACTS, f"/arena/{CONTACTS.name}", CHAIN, contacts.append)

    def are_apart() -> bool:
        return len(newest) == 2 and newest["b"].position_ned[0] - newest["a"].position_ned[0] > 1.0

    g.spin_until(are_apart, "the end of the contact")
    (diagnosis,) = g.node_of("encounters").diagnose(Period(0.0, 0.0, (), ()))
    assert diagnosis.values["contacts so far"] == 1
    # In wall time, the vehicles move while the graph is being created, before the tester subscribes.
    if time_mode != "wall":
        assert contacts[0].name == ["a and b"]


def test_short_collision_is_reported(graph: MakeGraph) -> None:
    pair = [
        in_the_air(name, north, 50.0, collision_duration=0.009, **COLLIDING) for name, north in (("a", 0.0), ("b", 5.0))
    ]
    g = graph(vehicles=pair)
    logged: list[str] = []
    g.node_of("encounters").get_logger().warning = logged.append
    g.spin(lambda: g.time_ns < 20 * STEP_NS)
    assert len(logged) == 1
    assert (
        "'collision_duration' of a vehicle: 0.009 s given, with steps of 0.0025 s; allowed: at least 4 steps, 0.01 s"
        in logged[0]
    )
