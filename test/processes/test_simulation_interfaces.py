"""The standard services of simulators, each advertised feature, as a client of another package uses them."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from distribution_packages import without
from geometry_msgs.msg import Vector3
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Imu
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityInfo,
    Result,
    SimulationState,
    SimulatorFeatures,
    TagsFilter,
)
from simulation_interfaces.srv import ResetSimulation, SetEntityState, SetSimulationState

from test.processes.conftest import Processes, SimulationProcesses
from test.processes.standard_client import OK, PAUSED, PLAYING, QUITTING, STOPPED, StandardClient
from test.processes.standard_simulation import SLOWLY, STEP_NS, ClaimDomain, numbers, placed, simulated

pytestmark = pytest.mark.timeout(240)

FIRST, SECOND = ENTITIES = ["multirotor_1", "multirotor_2"]

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "standard_services.py"

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
"""Of action_msgs/GoalStatus."""

SAME_EVERYWHERE = {
    SimulatorFeatures.ENTITY_TAGS,
    SimulatorFeatures.ENTITY_BOUNDS,
    SimulatorFeatures.ENTITY_BOUNDS_BOX,
    SimulatorFeatures.ENTITY_CATEGORIES,
    SimulatorFeatures.ENTITY_STATE_GETTING,
    SimulatorFeatures.ENTITY_STATE_SETTING,
    SimulatorFeatures.ENTITY_INFO_GETTING,
    SimulatorFeatures.ENTITY_INFO_SETTING,
    SimulatorFeatures.SPAWNABLES,
    SimulatorFeatures.NAMED_POSES,
    SimulatorFeatures.POSE_BOUNDS,
    SimulatorFeatures.WORLD_TAGS,
    SimulatorFeatures.WORLD_INFO_GETTING,
    SimulatorFeatures.AVAILABLE_WORLDS,
    SimulatorFeatures.SIMULATION_RESET,
    SimulatorFeatures.SIMULATION_RESET_STATE,
    SimulatorFeatures.SIMULATION_STATE_GETTING,
    SimulatorFeatures.SIMULATION_STATE_SETTING,
}
SPAWNING = {
    SimulatorFeatures.SPAWNING,
    SimulatorFeatures.SPAWNING_ENTITIES,
    SimulatorFeatures.SPAWNING_RESOURCE_STRING,
    SimulatorFeatures.DELETING,
    SimulatorFeatures.SIMULATION_RESET_SPAWNED,
}
IN_ONE_PROCESS = SPAWNING | {
    SimulatorFeatures.SIMULATION_RESET_TIME,
    SimulatorFeatures.WORLD_LOADING,
    SimulatorFeatures.WORLD_RESOURCE_STRING,
    SimulatorFeatures.WORLD_UNLOADING,
}
WITH_TIME_MANAGER = {
    SimulatorFeatures.SIMULATION_STATE_PAUSE,
    SimulatorFeatures.STEP_SIMULATION_SINGLE,
    SimulatorFeatures.STEP_SIMULATION_MULTIPLE,
    SimulatorFeatures.STEP_SIMULATION_ACTION,
}


@pytest.fixture(scope="module")
def _fleet(claim_domain: ClaimDomain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandardClient]:
    with simulated(claim_domain, tmp_path_factory.mktemp("fleet"), "--count", "2", *SLOWLY) as (client, _):
        yield client


@pytest.fixture
def fleet(_fleet: StandardClient) -> StandardClient:
    """Client of two paused multirotors in lockstep, at their starts."""
    _fleet.change(PAUSED)
    _fleet.done("ResetSimulation", scope=ResetSimulation.Request.SCOPE_STATE)
    return _fleet


def test_features_are_those_tested_here(fleet: StandardClient) -> None:
    assert fleet.features == SAME_EVERYWHERE | WITH_TIME_MANAGER | IN_ONE_PROCESS


def test_services_have_the_standard_types(fleet: StandardClient) -> None:
    goal = "/simulate_steps/_action/send_goal"
    # Services of other processes become known one after the other.
    fleet.until(lambda: goal in dict(fleet.node.get_service_names_and_types()), "the action's services")
    offered = dict(fleet.node.get_service_names_and_types())
    assert offered["/get_simulator_features"] == ["simulation_interfaces/srv/GetSimulatorFeatures"]
    assert offered[goal] == ["simulation_interfaces/action/SimulateSteps_SendGoal"]


def test_pause_and_play_change_state_and_time(fleet: StandardClient) -> None:
    paused_ns = fleet.time_ns(FIRST)
    assert fleet.time_ns(FIRST) == paused_ns
    fleet.change(PLAYING)
    fleet.until(lambda: fleet.time_ns(FIRST) > paused_ns, "advancing time")
    code, text = fleet.refused("SetSimulationState", state=SimulationState(state=PLAYING))
    assert code == SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    assert text == "the simulation is playing already"


def test_states_that_no_simulation_has_are_refused(fleet: StandardClient) -> None:
    code, text = fleet.refused("SetSimulationState", state=SimulationState(state=9))
    assert code == SetSimulationState.Response.INCORRECT_TRANSITION
    assert text.startswith("state 9 (not a state of this simulation) given while it is paused; allowed: ")
    assert fleet.state == PAUSED


def test_single_step_advances_all_entities_by_one_step(fleet: StandardClient) -> None:
    before = {name: fleet.time_ns(name) for name in ENTITIES}
    fleet.done("StepSimulation", steps=1)
    assert {name: fleet.time_ns(name) for name in ENTITIES} == {name: ns + STEP_NS for name, ns in before.items()}
    assert fleet.state == PAUSED


def test_several_steps_are_complete_when_the_response_arrives(fleet: StandardClient) -> None:
    before_ns = fleet.time_ns(FIRST)
    fleet.done("StepSimulation", steps=25)
    assert fleet.time_ns(FIRST) == before_ns + 25 * STEP_NS


def test_steps_need_a_paused_simulation(fleet: StandardClient) -> None:
    fleet.change(PLAYING)
    code, text = fleet.refused("StepSimulation", steps=1)
    assert code == Result.RESULT_OPERATION_FAILED
    assert text == "steps requested while the simulation is playing; allowed: while it is paused"
    status, result, feedback = fleet.simulate_steps(3)
    assert (status, result.result, result.error_message) == (ABORTED, code, text)
    assert feedback == []


def test_zero_steps_are_refused(fleet: StandardClient) -> None:
    code, text = fleet.refused("StepSimulation", steps=0)
    assert (code, text) == (Result.RESULT_OPERATION_FAILED, "steps 0 given; allowed: 1 to 1000000000")


def test_action_reports_each_step(fleet: StandardClient) -> None:
    before_ns = fleet.time_ns(FIRST)
    status, result, feedback = fleet.simulate_steps(5)
    assert (status, result.result) == (SUCCEEDED, OK)
    # The middleware may match the client after the first step, and deliver the result before the last feedback.
    assert feedback
    first = feedback[0][0]
    assert feedback == [(step, 5 - step) for step in range(first, first + len(feedback))]
    assert fleet.time_ns(FIRST) == before_ns + 5 * STEP_NS
    assert fleet.state == PAUSED


def test_cancelled_action_stops_between_steps(fleet: StandardClient) -> None:
    before_ns = fleet.time_ns(FIRST)
    status, result, feedback = fleet.simulate_steps(1_000_000, cancel_after=3)
    assert (status, result.result) == (CANCELED, Result.RESULT_OPERATION_FAILED)
    taken = (fleet.time_ns(FIRST) - before_ns) // STEP_NS
    assert result.error_message == f"cancelled after {taken} of 1000000 steps"
    # A client that is slower than the steps loses some of the feedback.
    assert all(completed + remaining == 1_000_000 for completed, remaining in feedback)
    # The step count of the time manager is as before.
    fleet.done("StepSimulation", steps=2)
    assert fleet.time_ns(FIRST) == before_ns + (taken + 2) * STEP_NS


def test_state_is_in_east_north_up(fleet: StandardClient) -> None:
    state = fleet.entity(SECOND)
    assert state.header.frame_id == "map"
    # The second multirotor starts 20 m east of the first, on the ground, and heads north.
    assert numbers(state.pose.position) == pytest.approx((20.0, 0.0, 0.119), abs=1e-3)
    half = math.sqrt(0.5)
    assert numbers(state.pose.orientation) == pytest.approx((0.0, 0.0, half, half), abs=1e-6)
    assert numbers(state.twist.linear) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_state_that_was_set_is_returned_and_falls(fleet: StandardClient) -> None:
    given = placed(5.0, -7.0, 100.0, yaw=0.5)
    given.twist.linear.x, given.twist.angular.z = 2.0, 0.1
    fleet.done("SetEntityState", entity=FIRST, state=given)
    found = fleet.entity(FIRST)
    assert numbers(found.pose.position) == pytest.approx((5.0, -7.0, 100.0), abs=1e-9)
    assert numbers(found.pose.orientation) == pytest.approx(numbers(given.pose.orientation), abs=1e-9)
    assert numbers(found.twist.linear) == pytest.approx((2.0, 0.0, 0.0), abs=1e-9)
    assert numbers(found.twist.angular) == pytest.approx((0.0, 0.0, 0.1), abs=1e-9)
    fleet.done("StepSimulation", steps=10)
    moved = fleet.entity(FIRST)
    assert moved.pose.position.x == pytest.approx(5.2, abs=0.02)
    assert moved.pose.position.z < 100.0
    # Gravity alone acts on a falling vehicle; its drag at 1 m/s is small.
    assert moved.acceleration.linear.z == pytest.approx(-9.81, abs=0.1)
    assert fleet.entity(SECOND).pose.position.z < 1.0


def test_invalid_poses_are_refused(fleet: StandardClient) -> None:
    before = fleet.entity(FIRST)
    given = placed(0.0, 0.0, 10.0)
    given.pose.orientation.w = 5.0
    code, text = fleet.refused("SetEntityState", entity=FIRST, state=given)
    assert code == SetEntityState.Response.INVALID_POSE
    assert "orientation x y z w [0.0, 0.0, 0.0, 5.0] given; allowed: " in text
    code, text = fleet.refused("SetEntityState", entity=FIRST, state=placed(math.nan, 0.0, 0.0))
    assert code == SetEntityState.Response.INVALID_POSE
    given = placed(0.0, 0.0, 1e12)
    assert fleet.refused("SetEntityState", entity=FIRST, state=given)[0] == SetEntityState.Response.INVALID_POSE
    assert fleet.entity(FIRST).pose == before.pose


def test_states_are_accepted_in_the_world_only(fleet: StandardClient) -> None:
    given = placed(0.0, 0.0, 10.0)
    given.header.frame_id = "base_link"
    code, text = fleet.refused("SetEntityState", entity=FIRST, state=given)
    assert code == Result.RESULT_OPERATION_FAILED
    assert text == "frame_id 'base_link' given; allowed: '', 'world', 'map'"


@pytest.mark.parametrize(
    "kind", ["GetEntityState", "GetEntityInfo", "GetEntityBounds", "SetEntityState", "SetEntityInfo"]
)
def test_unknown_entities_are_not_found(fleet: StandardClient, kind: str) -> None:
    code, text = fleet.refused(kind, entity="kite")
    assert (code, text) == (Result.RESULT_NOT_FOUND, "entity 'kite' given; allowed: multirotor_1, multirotor_2")


def test_info_is_replaced_by_what_is_set(fleet: StandardClient) -> None:
    info = fleet.done("GetEntityInfo", entity=FIRST).info
    assert info.category.category == EntityCategory.CATEGORY_ROBOT
    assert info.description != ""
    assert list(info.tags) == ["multirotor"]
    new = EntityInfo(description="target", tags=["blue", "fast"])
    new.category.category = EntityCategory.CATEGORY_DYNAMIC_OBJECT
    try:
        fleet.done("SetEntityInfo", entity=FIRST, info=new)
        assert fleet.done("GetEntityInfo", entity=FIRST).info == new
        assert fleet.done("GetEntityInfo", entity=SECOND).info == info
        for tags, mode, found in (
            (["blue", "red"], TagsFilter.FILTER_MODE_ANY, [FIRST]),
            (["blue", "red"], TagsFilter.FILTER_MODE_ALL, []),
            (["blue", "fast"], TagsFilter.FILTER_MODE_ALL, [FIRST]),
        ):
            filters = EntityFilters(tags=TagsFilter(tags=tags, filter_mode=mode))
            assert fleet.done("GetEntities", filters=filters).entities == found
        dynamic = [EntityCategory(category=EntityCategory.CATEGORY_DYNAMIC_OBJECT)]
        assert fleet.done("GetEntities", filters=EntityFilters(categories=dynamic)).entities == [FIRST]
    finally:
        fleet.done("SetEntityInfo", entity=FIRST, info=info)


def test_categories_that_do_not_exist_are_refused(fleet: StandardClient) -> None:
    code, text = fleet.refused("SetEntityInfo", entity=FIRST, info=EntityInfo(category=EntityCategory(category=3)))
    assert code == Result.RESULT_OPERATION_FAILED
    assert text.startswith("category 3 given; allowed: 0 (object), 1 (robot), ")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("", ENTITIES), ("_2$", [SECOND]), ("^multirotor_[[:digit:]]$", ENTITIES), ("kite|_1", [FIRST]), ("^rotor", [])],
)
def test_names_are_filtered_by_posix_expressions(fleet: StandardClient, pattern: str, found: list[str]) -> None:
    assert fleet.done("GetEntities", filters=EntityFilters(filter=pattern)).entities == found


def test_invalid_filters_are_refused(fleet: StandardClient) -> None:
    code, text = fleet.refused("GetEntities", filters=EntityFilters(filter="(rotor"))
    assert code == Result.RESULT_OPERATION_FAILED
    assert text.startswith("filter '(rotor' given; allowed: a POSIX extended regular expression (")
    code, text = fleet.refused("GetEntities", filters=EntityFilters(tags=TagsFilter(filter_mode=7)))
    assert text == "filter_mode 7 given; allowed: 0 (any of the tags), 1 (all of them)"
    hull = Bounds(type=Bounds.TYPE_CONVEX_HULL, points=[Vector3(), Vector3(x=1.0), Vector3(y=1.0)])
    code, text = fleet.refused("GetEntities", filters=EntityFilters(bounds=hull))
    assert code == Result.RESULT_FEATURE_UNSUPPORTED
    code, text = fleet.refused("GetEntities", filters=EntityFilters(bounds=Bounds(type=Bounds.TYPE_BOX)))
    assert code == Result.RESULT_OPERATION_FAILED


def test_bounds_select_the_entities_that_overlap(fleet: StandardClient) -> None:
    box = fleet.done("GetEntityBounds", entity=FIRST).bounds
    assert box.type == Bounds.TYPE_BOX
    upper, lower = (numbers(point) for point in box.points)
    assert all(high > low for high, low in zip(upper, lower, strict=True))
    # The widest part: arms and propellers of the multirotor, 0.37 m to the left and right.
    assert upper[1] == pytest.approx(0.367, abs=0.01)
    assert lower[1] == pytest.approx(-upper[1])

    def inside(bounds: Bounds) -> list[str]:
        states = fleet.done("GetEntitiesStates", filters=EntityFilters(bounds=bounds))
        assert len(states.states) == len(states.entities)
        found: list[str] = states.entities
        return found

    def sphere(x: float, radius: float) -> Bounds:
        return Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(x=x, z=0.119), Vector3(x=radius)])

    # The vehicles head north: their left is west.
    assert inside(sphere(1.0, 1.0 - upper[1] + 0.01)) == [FIRST]
    assert inside(sphere(1.0, 1.0 - upper[1] - 0.01)) == []
    assert inside(sphere(10.0, 10.0)) == ENTITIES
    east = Bounds(type=Bounds.TYPE_BOX, points=[Vector3(x=30.0, y=1.0, z=1.0), Vector3(x=15.0, y=-1.0, z=-1.0)])
    assert inside(east) == [SECOND]


def test_entities_and_states_are_in_one_order(fleet: StandardClient) -> None:
    found = fleet.done("GetEntitiesStates")
    assert found.entities == fleet.done("GetEntities").entities == ENTITIES
    assert [numbers(one.pose.position)[0] for one in found.states] == pytest.approx([0.0, 20.0], abs=1e-6)


def test_reset_of_the_state_keeps_the_time(fleet: StandardClient) -> None:
    start = fleet.entity(FIRST).pose
    fleet.done("SetEntityState", entity=FIRST, state=placed(3.0, 4.0, 50.0))
    fleet.done("StepSimulation", steps=3)
    time_ns = fleet.time_ns(FIRST)
    fleet.done("ResetSimulation", scope=ResetSimulation.Request.SCOPE_STATE)
    assert numbers(fleet.entity(FIRST).pose.position) == pytest.approx(numbers(start.position), abs=1e-9)
    assert fleet.time_ns(FIRST) == time_ns
    assert fleet.state == PAUSED


def test_reset_of_time_alone_keeps_the_vehicles_where_they_are(fleet: StandardClient) -> None:
    fleet.done("SetEntityState", entity=SECOND, state=placed(3.0, 4.0, 50.0, yaw=0.5))
    before = fleet.entity(SECOND)
    fleet.done("ResetSimulation", scope=ResetSimulation.Request.SCOPE_TIME)
    assert fleet.time_ns(SECOND) == fleet.time_ns(FIRST) == 0
    assert numbers(fleet.entity(SECOND).pose.position) == pytest.approx(numbers(before.pose.position), abs=1e-9)
    assert numbers(fleet.entity(SECOND).pose.orientation) == pytest.approx(numbers(before.pose.orientation), abs=1e-9)
    assert fleet.state == PAUSED
    fleet.done("StepSimulation", steps=2)
    assert fleet.time_ns(FIRST) == 2 * STEP_NS


def test_scopes_of_no_feature_are_refused(fleet: StandardClient) -> None:
    code, text = fleet.refused("ResetSimulation", scope=8)
    assert code == Result.RESULT_FEATURE_UNSUPPORTED
    assert text == (
        "scope 8 given; allowed: 0 (all), 1 (time), 2 (state), 3 (time and state), 4 (spawned), 5 (time and spawned), "
        "6 (state and spawned), 7 (time and state and spawned), 255 (all)"
    )


def test_stopped_simulation_is_at_its_start_and_can_be_paused_or_played(fleet: StandardClient) -> None:
    fleet.done("SetEntityInfo", entity=FIRST, info=EntityInfo(description="changed"))
    fleet.done("SetEntityState", entity=FIRST, state=placed(3.0, 4.0, 50.0))
    fleet.done("StepSimulation", steps=5)
    fleet.change(STOPPED)
    assert fleet.time_ns(FIRST) == fleet.time_ns(SECOND) == 0
    assert numbers(fleet.entity(FIRST).pose.position) == pytest.approx((0.0, 0.0, 0.119), abs=1e-3)
    assert fleet.done("GetEntityInfo", entity=FIRST).info.description != "changed"
    code, text = fleet.refused("StepSimulation", steps=1)
    assert (code, text) == (
        Result.RESULT_OPERATION_FAILED,
        "steps requested while the simulation is stopped; allowed: while it is paused",
    )
    fleet.change(PAUSED)
    assert fleet.time_ns(FIRST) == 0
    fleet.done("StepSimulation", steps=1)
    fleet.change(STOPPED)
    fleet.change(PLAYING)
    fleet.until(lambda: fleet.time_ns(FIRST) > 0, "advancing time")


def test_flight_after_each_reset_equals_the_first(claim_domain: ClaimDomain, tmp_path: Path) -> None:
    gusts = ("-p", "wind_models:=[constant,dryden]", "-p", "wind_ned:=[4.0,3.0,0.0]")
    with simulated(claim_domain, tmp_path, *SLOWLY, *gusts) as (client, _):
        messages: dict[bytes, bytes] = {}

        def note(message: bytes) -> None:
            messages.setdefault(message[4:12], message)

        client.node.create_subscription(Imu, "sim/sensors/imu/data", note, QoSProfile(depth=1000), raw=True)
        client.until(lambda: len(messages) > 100, "IMU messages of the first flight")
        first = dict(messages)
        for _ in range(3):
            messages.clear()
            client.done("SetSimulationState", state=SimulationState(state=STOPPED))
            client.until(lambda: client.node.count_publishers("sim/sensors/imu/data") == 1, "the new sensors")
            client.change(PLAYING)
            # The first messages may precede the discovery of this subscription.
            client.until(lambda: len(messages.keys() & first.keys()) >= 50, "IMU messages of the same times")
            assert all(messages[time] == first[time] for time in messages.keys() & first.keys())


def uri_of(spawnable: Any) -> str:
    """Address of a spawnable, in the types of either release."""
    resource = getattr(spawnable, "entity_resource", spawnable)
    assert isinstance(resource.uri, str)
    return resource.uri


def test_spawnables_are_the_vehicles_of_the_catalogue(fleet: StandardClient) -> None:
    response = fleet.done("GetSpawnables", sources=["https://example.org/models"])
    found = {uri_of(one): one for one in response.spawnables}
    assert {"multirotor", "fixedwing", "auv"} <= set(found)
    assert found["multirotor"].spawn_bounds == fleet.done("GetEntityBounds", entity=FIRST).bounds
    assert all(one.description for one in found.values())
    # An unknown source is named, but does not hinder success.
    assert "'https://example.org/models'" in response.result.error_message


def test_worlds_are_listed_and_filtered_by_tags(fleet: StandardClient) -> None:
    worlds = {one.name: one for one in fleet.done("GetAvailableWorlds").worlds}
    assert {"dry land", "pool", "open_water"} <= set(worlds)
    assert list(worlds["pool"].tags) == ["water", "pool"]
    assert worlds["pool"].world_resource.uri == "pool"
    pools = TagsFilter(tags=["pool", "water"], filter_mode=TagsFilter.FILTER_MODE_ALL)
    found = {one.name for one in fleet.done("GetAvailableWorlds", filter=pools).worlds}
    assert "pool" in found
    assert not found & {"dry land", "open_water"}
    code, text = fleet.refused("GetAvailableWorlds", additional_sources=["elsewhere"])
    assert (code, text) == (Result.RESULT_OPERATION_FAILED, "additional source 'elsewhere' given; allowed: none")
    assert fleet.done("GetAvailableWorlds", additional_sources=["elsewhere"], continue_on_error=True).worlds


def test_world_without_a_file_is_dry_land(fleet: StandardClient) -> None:
    world = fleet.done("GetCurrentWorld").world
    assert (world.name, world.world_resource.uri, list(world.tags)) == ("dry land", "dry land", ["land"])
    [start] = fleet.done("GetNamedPoses").poses
    assert (start.name, list(start.tags), numbers(start.pose.position)) == ("start", ["spawn"], (0.0, 0.0, 0.0))
    assert fleet.done("GetNamedPoseBounds", name="start").bounds.type == Bounds.TYPE_EMPTY


def test_named_poses_are_those_of_the_world(claim_domain: ClaimDomain, tmp_path: Path) -> None:
    options = ("--vehicle", "bluerov2", "--world", "pool", "--no-camera")
    with simulated(claim_domain, tmp_path, *options, *SLOWLY) as (client, _):
        world = client.done("GetCurrentWorld").world
        assert (world.name, world.world_resource.uri) == ("pool", "pool")
        poses = {one.name: one for one in client.done("GetNamedPoses").poses}
        # The world's file places the start 4 m south of the origin, 0.3 m deep, heading north.
        assert numbers(poses["start"].pose.position) == pytest.approx((0.0, -4.0, -0.3))
        half = math.sqrt(0.5)
        assert numbers(poses["start"].pose.orientation) == pytest.approx((0.0, 0.0, half, half))
        sphere = client.done("GetNamedPoseBounds", name="start").bounds
        assert (sphere.type, sphere.points[1].x) == (Bounds.TYPE_SPHERE, pytest.approx(0.3))
        # The platform is 1 m long, 1 m wide and 0.4 m high.
        platform = client.done("GetNamedPoseBounds", name="green platform").bounds
        assert [numbers(point) for point in platform.points] == [
            pytest.approx((0.5, 0.5, 0.2)),
            pytest.approx((-0.5, -0.5, -0.2)),
        ]
        rings = TagsFilter(tags=["ring"])
        assert [one.name for one in client.done("GetNamedPoses", tags=rings).poses] == ["ring", "orange ring"]
        code, text = client.refused("GetNamedPoseBounds", name="kite")
        assert code == Result.RESULT_NOT_FOUND
        assert text.startswith("named pose 'kite' given; allowed: start, start arrow, ")


def test_quitting_ends_the_program(claim_domain: ClaimDomain, tmp_path: Path) -> None:
    with simulated(claim_domain, tmp_path, *SLOWLY) as (client, program):
        assert client.done("GetEntities").entities == ["multirotor"]
        client.done("SetSimulationState", state=SimulationState(state=QUITTING))
        assert program.wait() == 0
        assert program.error_lines == []


@pytest.mark.parametrize("time_mode", ["paced", "gated", "wall"])
def test_features_follow_the_time_mode(claim_domain: ClaimDomain, tmp_path: Path, time_mode: str) -> None:
    pace = () if time_mode == "wall" else SLOWLY
    with simulated(claim_domain, tmp_path, "--time-mode", time_mode, *pace) as (client, _):
        simulated_time = SPAWNING if time_mode == "wall" else WITH_TIME_MANAGER | IN_ONE_PROCESS
        assert client.features == SAME_EVERYWHERE | simulated_time
        client.done("SetEntityState", entity="multirotor", state=placed(1.0, 2.0, 300.0))
        assert client.entity("multirotor").pose.position.y == pytest.approx(2.0, abs=1e-6)
        if time_mode == "wall":
            code, text = client.refused("SetSimulationState", state=SimulationState(state=PAUSED))
            assert code == Result.RESULT_FEATURE_UNSUPPORTED
            assert text == "state 2 (paused) given while it is playing; allowed: 3 (quitting)"
            assert client.refused("StepSimulation", steps=1)[0] == Result.RESULT_FEATURE_UNSUPPORTED
            code, text = client.refused("ResetSimulation", scope=ResetSimulation.Request.SCOPE_TIME)
            allowed = "2 (state), 4 (spawned), 6 (state and spawned)"
            assert (code, text) == (Result.RESULT_FEATURE_UNSUPPORTED, f"scope 1 given; allowed: {allowed}")
            return
        client.change(PAUSED)
        before_ns = client.time_ns("multirotor")
        client.done("StepSimulation", steps=100)
        assert client.time_ns("multirotor") > before_ns
        assert client.simulate_steps(3)[:2] == (SUCCEEDED, Result(result=OK))
        paused_ns = client.time_ns("multirotor")
        client.change(STOPPED)
        assert client.time_ns("multirotor") == 0
        client.change(PLAYING)
        client.until(lambda: 0 < client.time_ns("multirotor") < paused_ns, "time from the start")


def test_example_steps_a_running_simulation(claim_domain: ClaimDomain, tmp_path: Path) -> None:
    with simulated(claim_domain, tmp_path, *SLOWLY) as (client, _):
        before_ns = client.time_ns("multirotor")
        environment = {**os.environ, "ROS_DOMAIN_ID": str(client.domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        words = [sys.executable, str(EXAMPLE)]
        ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=200, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout == "multirotor: east 0.00 m  north 0.00 m  up 0.12 m\n"
        assert client.time_ns("multirotor") >= before_ns + 400 * STEP_NS
        assert client.state == PLAYING


def test_separate_processes_are_served_without_a_reset_of_the_time(
    start_simulation: Callable[..., SimulationProcesses],
) -> None:
    simulation = start_simulation("lockstep", 0.2, "-p", "step_size:=0.01")
    simulation.start("simulation_interfaces", "-p", "vehicles:=['']", "-p", "vehicle_type:=multirotor")
    client = StandardClient(simulation.domain)
    try:
        assert client.features == SAME_EVERYWHERE | WITH_TIME_MANAGER
        client.until(lambda: client.time_ns("multirotor") > 0, "advancing time")
        client.change(PAUSED)
        client.done("SetEntityState", entity="multirotor", state=placed(1.0, 2.0, 50.0))
        before_ns = client.time_ns("multirotor")
        client.done("StepSimulation", steps=3)
        assert client.time_ns("multirotor") == before_ns + 3 * STEP_NS
        client.done("ResetSimulation", scope=ResetSimulation.Request.SCOPE_STATE)
        assert client.entity("multirotor").pose.position.z < 1.0
        code, text = client.refused("ResetSimulation", scope=ResetSimulation.Request.SCOPE_ALL)
        assert (code, text) == (Result.RESULT_FEATURE_UNSUPPORTED, "scope 255 given; allowed: 2 (state)")
        client.done("SetSimulationState", state=SimulationState(state=QUITTING))
        assert simulation.programs["simulation_interfaces"].wait() == 0
    finally:
        client.close()


@pytest.mark.new_interpreter
def test_missing_package_is_named_with_what_installs_it(processes: Processes) -> None:
    processes.environment |= without(["simulation_interfaces"], processes.environment)
    program = processes.node("simulation_interfaces", "-p", "vehicles:=['']")
    assert program.wait() == 1
    (line,) = program.error_lines
    assert "simulation_interfaces, the package of the standard services, is not installed" in line
    assert "`make setup`" in line
