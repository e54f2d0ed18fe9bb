"""Spawning and deleting of vehicles by the standard services, as a client of another package uses them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import Imu
from simulation_interfaces import msg, srv
from simulation_interfaces.msg import Result, SpawnResult

from test.processes.standard_client import OK, PAUSED, PLAYING, STOPPED, StandardClient
from test.processes.standard_simulation import SLOWLY, STEP_NS, ClaimDomain, numbers, placed, simulated

pytestmark = pytest.mark.timeout(240)

VEHICLES = Path(__file__).parents[2] / "config" / "vehicles"

CODES, RESET = srv.SpawnEntity.Response, srv.ResetSimulation.Request


def pose(x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0, frame: str = "") -> PoseStamped:
    """Pose in ENU; yaw from east."""
    stamped = PoseStamped(pose=placed(x, y, z, yaw).pose)
    stamped.header.frame_id = frame
    return stamped


def fields(uri: str = "", text: str = "", *, of: Any = None, **others: Any) -> dict[str, Any]:
    """Fields of a request (or of the message `of`) for a resource, in the types of either release."""
    kind = of or srv.SpawnEntity.Request
    if hasattr(kind(), "entity_resource"):
        return {"entity_resource": msg.Resource(uri=uri, resource_string=text), **others}
    return {"uri": uri, "resource_string": text, **others}


@pytest.fixture(scope="module")
def _simulation(claim_domain: ClaimDomain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandardClient]:
    with simulated(claim_domain, tmp_path_factory.mktemp("spawning"), *SLOWLY) as (client, _):
        yield client


@pytest.fixture
def client(_simulation: StandardClient) -> StandardClient:
    """Client of a paused multirotor in lockstep, without spawned vehicles."""
    _simulation.change(PAUSED)
    _simulation.done("ResetSimulation", scope=RESET.SCOPE_SPAWNED)
    assert _simulation.done("GetEntities").entities == ["multirotor"]
    return _simulation


def test_format_of_files_is_listed(client: StandardClient) -> None:
    assert list(client.call("GetSimulatorFeatures").features.spawn_formats) == ["yaml"]


def test_spawned_vehicle_stands_where_it_was_requested_and_flies_with_the_others(client: StandardClient) -> None:
    spawned = client.done("SpawnEntity", **fields("hexarotor", name="kite", initial_pose=pose(5.0, -7.0, 100.0, 0.5)))
    assert spawned.entity_name == "kite"
    assert client.done("GetEntities").entities == ["multirotor", "kite"]
    state = client.entity("kite")
    assert numbers(state.pose.position) == pytest.approx((5.0, -7.0, 100.0), abs=1e-9)
    assert numbers(state.pose.orientation) == pytest.approx((0.0, 0.0, math.sin(0.25), math.cos(0.25)), abs=1e-9)
    assert list(client.done("GetEntityInfo", entity="kite").info.tags) == ["hexarotor"]
    assert client.done("GetEntityBounds", entity="kite").bounds.points
    before_ns = client.time_ns("multirotor")
    assert client.time_ns("kite") == before_ns
    client.done("StepSimulation", steps=10)
    assert client.time_ns("kite") == client.time_ns("multirotor") == before_ns + 10 * STEP_NS
    assert client.entity("kite").pose.position.z < 100.0
    client.done("SetEntityState", entity="kite", state=placed(1.0, 2.0, 30.0))
    assert client.entity("kite").pose.position.z == pytest.approx(30.0, abs=1e-9)


def test_spawned_vehicle_has_its_topics_in_its_namespace(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite", entity_namespace="swarm/a"))
    received: list[Imu] = []
    subscription = client.node.create_subscription(Imu, "/swarm/a/sim/sensors/imu/data", received.append, 10)
    client.change(PLAYING)
    client.until(lambda: len(received) > 2, "IMU messages of the spawned vehicle")
    client.node.destroy_subscription(subscription)


def test_pose_on_the_ground_is_raised_to_where_the_vehicle_stands(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite"))
    assert numbers(client.entity("kite").pose.position) == pytest.approx((0.0, 0.0, 0.119), abs=1e-2)


def test_pose_in_the_axes_of_an_entity(client: StandardClient) -> None:
    client.done("SetEntityState", entity="multirotor", state=placed(10.0, 20.0, 50.0, yaw=math.pi / 2.0))
    client.done(
        "SpawnEntity", **fields("multirotor", name="wing", initial_pose=pose(-2.0, 1.0, 3.0, 0.0, "multirotor"))
    )
    state = client.entity("wing")
    # Two metres behind a vehicle that heads north, one to its left.
    assert numbers(state.pose.position) == pytest.approx((9.0, 18.0, 53.0), abs=1e-9)
    half = math.sqrt(0.5)
    assert numbers(state.pose.orientation) == pytest.approx((0.0, 0.0, half, half), abs=1e-9)


def test_names_are_unique_or_replaced_if_the_request_allows_it(client: StandardClient) -> None:
    taken = fields("multirotor", name="multirotor")
    code, text = client.refused("SpawnEntity", **taken)
    assert code == CODES.NAME_NOT_UNIQUE
    assert text == ("name 'multirotor' given, which is taken; allowed: other names than multirotor, or allow_renaming")
    assert client.done("SpawnEntity", **taken, allow_renaming=True).entity_name == "multirotor_1"
    assert client.done("SpawnEntity", **taken, allow_renaming=True).entity_name == "multirotor_2"
    assert client.done("SpawnEntity", **fields("auv"), allow_renaming=True).entity_name == "auv_1"
    assert client.done("GetEntities").entities == ["multirotor", "multirotor_1", "multirotor_2", "auv_1"]


@pytest.mark.parametrize("name", ["", "2kites", "kite-1", "a__b", "/kite", "kite/", "a b", "kité", 101 * "k"])
def test_invalid_names_are_refused(client: StandardClient, name: str) -> None:
    code, text = client.refused("SpawnEntity", **fields("multirotor", name=name))
    assert code == CODES.NAME_INVALID
    assert text.startswith(f"name '{name}' given; allowed: up to 100 letters, digits, ")


@pytest.mark.parametrize("namespace", ["2kites", "a//b", "a-b", "/", "~"])
def test_invalid_namespaces_are_refused(client: StandardClient, namespace: str) -> None:
    code, text = client.refused("SpawnEntity", **fields("multirotor", name="kite", entity_namespace=namespace))
    assert code == CODES.NAMESPACE_INVALID
    assert text.startswith(f"entity_namespace '{namespace}' given; allowed: ")


def test_namespace_serves_one_entity(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite", entity_namespace="/a"))
    code, text = client.refused("SpawnEntity", **fields("multirotor", name="other", entity_namespace="a"))
    assert (code, text) == (
        CODES.NAMESPACE_INVALID,
        "entity_namespace 'a' given, which another entity has; allowed: one of its own",
    )


def test_request_without_a_resource_is_refused(client: StandardClient) -> None:
    code, text = client.refused("SpawnEntity", **fields(name="kite"))
    assert code == CODES.NO_RESOURCE
    assert text.startswith("neither uri nor resource_string given; allowed: as uri a name (aerosonde, ")


@pytest.mark.parametrize("uri", ["robot.urdf", "package://robot/robot.yaml", "https://example.org/kite.yaml", "a.sdf"])
def test_other_formats_are_refused(client: StandardClient, uri: str) -> None:
    code, text = client.refused("SpawnEntity", **fields(uri, name="kite"))
    assert code == CODES.UNSUPPORTED_FORMAT
    assert text.startswith(f"uri '{uri}' given; allowed: a name (")
    code, text = client.refused("SpawnEntity", **fields(text="<robot name='kite'/>", name="kite"))
    assert (code, text) == (
        CODES.UNSUPPORTED_FORMAT,
        "resource_string '<robot name='kite'/>...' given; allowed: YAML",
    )


def test_unknown_vehicles_are_not_found(client: StandardClient) -> None:
    for uri in ("zeppelin", "missing.yaml"):
        code, text = client.refused("SpawnEntity", **fields(uri, name="kite"))
        assert code == Result.RESULT_NOT_FOUND
        assert text.startswith(f"uri '{uri}' given, which does not exist; allowed: a name (")


def test_file_spawns_its_vehicle_and_the_content_of_a_file_as_well(client: StandardClient) -> None:
    file = VEHICLES / "octorotor.yaml"
    for name, resource in (
        ("by_path", fields(str(file))),
        ("by_address", fields(f"file://{file}")),
        ("by_content", fields(text=file.read_text(encoding="utf-8"))),
        # The content is used only without an address.
        ("by_both", fields("octorotor", "nonsense")),
    ):
        client.done("SpawnEntity", **resource, name=name)
        assert client.entity(name).pose.position.z > 0.0


@pytest.mark.parametrize(
    ("old", "new", "code", "reason"),
    [
        ("description:", "descripshun:", CODES.RESOURCE_PARSE_ERROR, "resource_string, line "),
        ("description:", "{", CODES.RESOURCE_PARSE_ERROR, "resource_string: not YAML: "),
        ("../multirotor.yaml", "../missing.yaml", CODES.MISSING_ASSETS, "../missing.yaml, not a file, given; "),
        ("../multirotor.yaml", "../worlds/pool.yaml", CODES.UNSUPPORTED_ASSETS, "pool.yaml"),
    ],
)
def test_invalid_files_are_refused_with_the_reason(
    client: StandardClient, old: str, new: str, code: int, reason: str
) -> None:
    text = (VEHICLES / "multirotor.yaml").read_text(encoding="utf-8").replace(old, new)
    found, error = client.refused("SpawnEntity", **fields(text=text, name="kite"))
    assert (found, reason in error) == (code, True), error
    assert client.done("GetEntities").entities == ["multirotor"]


def test_files_outside_of_the_allowed_folders_are_not_read(client: StandardClient, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("password: 12345\n", encoding="utf-8")
    code, error = client.refused("SpawnEntity", **fields(str(secret), name="kite"))
    assert code == Result.RESULT_OPERATION_FAILED
    assert "is outside of the allowed folders: " in error
    assert error.endswith("; the parameter resource_folder allows another")
    text = (VEHICLES / "multirotor.yaml").read_text(encoding="utf-8").replace("../multirotor.yaml", str(secret))
    code, error = client.refused("SpawnEntity", **fields(text=text, name="kite"))
    assert code == Result.RESULT_OPERATION_FAILED
    assert "password" not in error


def test_invalid_poses_are_refused(client: StandardClient) -> None:
    twisted = pose()
    twisted.pose.orientation.w = 0.0
    for given in (twisted, pose(math.nan), pose(1e12), pose(frame="base_link")):
        code, _ = client.refused("SpawnEntity", **fields("multirotor", name="kite", initial_pose=given))
        assert code == CODES.INVALID_POSE
    _, text = client.refused("SpawnEntity", **fields("multirotor", name="kite", initial_pose=pose(frame="base_link")))
    assert text == "frame_id 'base_link' given; allowed: '', 'world', 'map', 'multirotor'"
    assert client.done("GetEntities").entities == ["multirotor"]


def test_several_vehicles_are_spawned_with_one_result_each(client: StandardClient) -> None:
    def request(name: str, uri: str) -> msg.SpawnEntity:
        return msg.SpawnEntity(**fields(uri, of=msg.SpawnEntity), name=name)

    good = [request("a", "multirotor"), request("b", "fixedwing")]
    response = client.done("SpawnEntities", spawn_requests=good)
    assert [(one.result.result, one.entity_name) for one in response.results] == [(OK, "a"), (OK, "b")]
    mixed = client.call("SpawnEntities", spawn_requests=[request("a", "auv"), request("c", "auv")])
    assert mixed.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert mixed.result.error_message.startswith("spawn_requests[0]: name 'a' given, which is taken; ")
    assert [one.result.result for one in mixed.results] == [SpawnResult.NAME_NOT_UNIQUE, OK]
    assert [one.entity_name for one in mixed.results] == ["", "c"]
    assert client.done("SpawnEntities").results == []
    assert client.done("GetEntities").entities == ["multirotor", "a", "b", "c"]


def test_deleted_vehicle_is_gone_and_its_name_free(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite"))
    client.done("DeleteEntity", entity="kite")
    assert client.done("GetEntities").entities == ["multirotor"]
    code, text = client.refused("DeleteEntity", entity="kite")
    assert (code, text) == (Result.RESULT_NOT_FOUND, "entity 'kite' given; allowed: multirotor")
    client.until(lambda: "/kite/dynamics/reset" not in dict(client.node.get_service_names_and_types()), "no services")
    assert client.done("SpawnEntity", **fields("fixedwing", name="kite")).entity_name == "kite"
    before_ns = client.time_ns("multirotor")
    client.done("StepSimulation", steps=2)
    assert client.time_ns("kite") == client.time_ns("multirotor") == before_ns + 2 * STEP_NS


def test_last_vehicle_may_go_and_a_reset_of_all_brings_those_of_the_start_back(client: StandardClient) -> None:
    client.done("DeleteEntity", entity="multirotor")
    assert client.done("GetEntities").entities == []
    assert client.done("GetEntitiesStates").states == []
    client.done("StepSimulation", steps=3)
    assert client.simulate_steps(2)[1].result == OK
    client.done("SpawnEntity", **fields("hexarotor", name="kite"))
    client.done("StepSimulation", steps=1)
    client.done("ResetSimulation", scope=RESET.SCOPE_ALL)
    assert client.done("GetEntities").entities == ["multirotor"]
    assert client.time_ns("multirotor") == 0


def test_reset_of_the_state_returns_spawned_vehicles_to_their_poses(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite", initial_pose=pose(5.0, 6.0, 70.0, 0.3)))
    client.done("StepSimulation", steps=20)
    client.done("ResetSimulation", scope=RESET.SCOPE_STATE)
    state = client.entity("kite")
    assert numbers(state.pose.position) == pytest.approx((5.0, 6.0, 70.0), abs=1e-9)
    assert numbers(state.pose.orientation) == pytest.approx((0.0, 0.0, math.sin(0.15), math.cos(0.15)), abs=1e-9)


@pytest.mark.parametrize("scope", [RESET.SCOPE_TIME, RESET.SCOPE_TIME | RESET.SCOPE_STATE])
def test_reset_of_the_time_keeps_spawned_vehicles(client: StandardClient, scope: int) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite", initial_pose=pose(5.0, 6.0, 70.0)))
    client.done("StepSimulation", steps=20)
    fallen = client.entity("kite").pose.position.z
    client.done("ResetSimulation", scope=scope)
    assert client.time_ns("kite") == client.time_ns("multirotor") == 0
    up = 70.0 if scope & RESET.SCOPE_STATE else fallen
    assert client.entity("kite").pose.position.z == pytest.approx(up, abs=1e-9)


def test_reset_of_the_spawned_keeps_time_and_the_others(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite"))
    client.done("SetEntityState", entity="multirotor", state=placed(1.0, 2.0, 30.0))
    client.done("StepSimulation", steps=1)
    before = client.entity("multirotor")
    client.done("ResetSimulation", scope=RESET.SCOPE_SPAWNED)
    assert client.done("GetEntities").entities == ["multirotor"]
    assert client.entity("multirotor") == before
    client.done("SpawnEntity", **fields("multirotor", name="kite"))
    client.done("ResetSimulation", scope=RESET.SCOPE_SPAWNED | RESET.SCOPE_TIME | RESET.SCOPE_STATE)
    assert client.done("GetEntities").entities == ["multirotor"]
    assert client.time_ns("multirotor") == 0


def test_stop_removes_what_was_spawned(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite"))
    client.change(STOPPED)
    assert client.done("GetEntities").entities == ["multirotor"]
    client.done("SpawnEntity", **fields("multirotor", name="kite"))
    assert client.state == STOPPED
    client.change(PLAYING)
    client.until(lambda: client.time_ns("kite") > 0, "steps of both")


def test_vehicles_come_and_go_while_the_simulation_plays(client: StandardClient) -> None:
    client.change(PLAYING)
    client.done("SpawnEntity", **fields("multirotor", name="kite", initial_pose=pose(z=100.0)))
    assert client.state == PLAYING
    before_ns = client.time_ns("kite")
    client.until(lambda: client.time_ns("kite") > before_ns, "steps of the spawned vehicle")
    client.done("DeleteEntity", entity="kite")
    before_ns = client.time_ns("multirotor")
    client.until(lambda: client.time_ns("multirotor") > before_ns, "steps without it")


@pytest.mark.parametrize("time_mode", ["paced", "gated", "wall"])
def test_vehicles_come_and_go_in_the_other_time_modes(
    claim_domain: ClaimDomain, tmp_path: Path, time_mode: str
) -> None:
    pace = () if time_mode == "wall" else SLOWLY
    with simulated(claim_domain, tmp_path, "--time-mode", time_mode, *pace) as (client, _):
        client.done("SpawnEntity", **fields("hexarotor", name="kite", initial_pose=pose(3.0, 4.0, 500.0)))
        before_ns = client.time_ns("kite")
        client.until(lambda: client.time_ns("kite") > before_ns, "steps of the spawned vehicle")
        assert client.entity("kite").pose.position.x == pytest.approx(3.0, abs=0.1)
        client.done("ResetSimulation", scope=RESET.SCOPE_STATE | RESET.SCOPE_SPAWNED)
        assert client.done("GetEntities").entities == ["multirotor"]
        client.done("DeleteEntity", entity="multirotor")
        client.done("SpawnEntity", **fields("hexarotor", name="kite"))
        before_ns = client.time_ns("kite")
        client.until(lambda: client.time_ns("kite") > before_ns, "steps of the only vehicle")


def test_recorded_simulation_refuses(claim_domain: ClaimDomain, tmp_path: Path) -> None:
    with simulated(claim_domain, tmp_path, "--record", str(tmp_path / "run.mcap"), *SLOWLY) as (client, _):
        assert not client.features & {msg.SimulatorFeatures.SPAWNING, msg.SimulatorFeatures.DELETING}
        for kind, given in (
            ("SpawnEntity", fields("multirotor", name="kite")),
            ("SpawnEntities", {}),
            ("DeleteEntity", {"entity": "multirotor"}),
        ):
            code, text = client.refused(kind, **given)
            assert code == Result.RESULT_FEATURE_UNSUPPORTED
            assert text.endswith(" requested; allowed: in a simulation in one process that is not recorded")
