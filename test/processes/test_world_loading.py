"""Loading and unloading of worlds by the standard services, as a client of another package uses them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sensor_msgs.msg import Range
from simulation_interfaces import msg, srv
from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures

from test.processes.standard_client import PAUSED, PLAYING, STOPPED, StandardClient
from test.processes.standard_simulation import SLOWLY, STEP_NS, ClaimDomain, numbers, simulated
from test.processes.test_spawn_services import fields, pose

pytestmark = pytest.mark.timeout(240)

WORLDS = Path(__file__).parents[2] / "config" / "worlds"

CODES = srv.LoadWorld.Response

LAGOON = """
pool: {length_north: 20.0, width_east: 20.0, depth: 3.0}
water: {colour: pool_water, visibility: 10.0}
"""

TOWER_M = 40.0
TOWER = "objects: [{kind: box, name: tower, position: [0.0, 0.0, -20.0], size: [4.0, 4.0, 40.0], colour: red}]"


def world(uri: str = "", text: str = "", **others: Any) -> dict[str, Any]:
    """Fields of a request for a world, in the types of either release."""
    if hasattr(srv.LoadWorld.Request(), "world_resource"):
        return {"world_resource": msg.Resource(uri=uri, resource_string=text), **others}
    return {"uri": uri, "resource_string": text, **others}


@pytest.fixture(scope="module")
def _simulation(claim_domain: ClaimDomain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandardClient]:
    with simulated(claim_domain, tmp_path_factory.mktemp("worlds"), *SLOWLY) as (client, _):
        yield client


@pytest.fixture
def client(_simulation: StandardClient) -> StandardClient:
    """Client of a stopped simulation on dry land, without vehicles."""
    _simulation.done("LoadWorld", **world("dry land"))
    return _simulation


def test_loaded_world_is_empty_and_stopped_at_time_0(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite"))
    client.change(PAUSED)
    client.done("StepSimulation", steps=3)
    loaded = client.done("LoadWorld", **world("pool")).world
    assert (loaded.name, loaded.world_resource.uri, list(loaded.tags)) == ("pool", "pool", ["water", "pool"])
    assert client.done("GetCurrentWorld").world == loaded
    assert client.done("GetEntities").entities == []
    assert client.state == STOPPED
    assert "start" in {one.name for one in client.done("GetNamedPoses").poses}
    client.done("SpawnEntity", **fields("bluerov2", name="rov", initial_pose=pose(z=-0.5)))
    assert client.time_ns("rov") == 0
    client.change(PAUSED)
    client.done("StepSimulation", steps=2)
    assert client.time_ns("rov") == 2 * STEP_NS


def test_every_available_world_loads(client: StandardClient) -> None:
    for available in client.done("GetAvailableWorlds").worlds:
        assert client.done("LoadWorld", **world(available.world_resource.uri)).world == available


def test_walls_and_water_of_the_loaded_world_act_on_the_vehicles(client: StandardClient) -> None:
    client.done("LoadWorld", **world(text=LAGOON))
    inside_wall = fields("bluerov2", name="rov", initial_pose=pose(x=10.0, z=-1.0))
    code, text = client.refused("SpawnEntity", **inside_wall)
    assert (code, "wall" in text) == (srv.SpawnEntity.Response.INVALID_POSE, True), text
    client.done("SpawnEntity", **fields("bluerov2", name="rov", initial_pose=pose(z=-1.0)))
    client.change(PAUSED)
    client.done("StepSimulation", steps=50)
    # In half a second it would fall by 1.2 m in air.
    assert client.entity("rov").pose.position.z == pytest.approx(-1.0, abs=0.2)


def test_range_finder_measures_the_loaded_world(client: StandardClient) -> None:
    client.done("LoadWorld", **world(text=TOWER))
    client.done("SpawnEntity", **fields("multirotor", name="kite", initial_pose=pose(z=TOWER_M + 4.0)))
    ranges: list[Range] = []
    client.node.create_subscription(Range, "/kite/sim/sensors/range", ranges.append, 10)
    client.change(PLAYING)
    client.until(lambda: ranges, "a range")
    assert ranges[0].range < 5.0


def test_reset_of_all_returns_to_the_loaded_world(client: StandardClient) -> None:
    client.done("LoadWorld", **world("pool"))
    client.done("SpawnEntity", **fields("bluerov2", name="rov", initial_pose=pose(z=-0.5)))
    client.done("ResetSimulation", scope=srv.ResetSimulation.Request.SCOPE_ALL)
    assert client.done("GetEntities").entities == []
    assert client.done("GetCurrentWorld").world.name == "pool"


def test_file_and_content_of_a_file_are_loaded(client: StandardClient) -> None:
    file = WORLDS / "open_water.yaml"
    assert client.done("LoadWorld", **world(f"file://{file}")).world.name == "open_water"
    loaded = client.done("LoadWorld", **world(text=file.read_text(encoding="utf-8"))).world
    assert list(loaded.tags) == list(client.done("GetCurrentWorld").world.tags) == ["water", "sea_floor"]


def test_refused_worlds_leave_the_present_one(client: StandardClient, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("password: 12345\n", encoding="utf-8")
    for given, code in (
        (world(), CODES.NO_RESOURCE),
        (world("pool.sdf"), CODES.UNSUPPORTED_FORMAT),
        (world(text="<sdf/>"), CODES.UNSUPPORTED_FORMAT),
        (world("puddle"), Result.RESULT_NOT_FOUND),
        (world(text="water: 3"), CODES.RESOURCE_PARSE_ERROR),
        (world(str(secret)), Result.RESULT_OPERATION_FAILED),
        (world(text=f"based_on: {secret}"), Result.RESULT_OPERATION_FAILED),
    ):
        found, text = client.refused("LoadWorld", **given)
        assert found == code, text
        assert "password" not in text
    assert client.done("GetCurrentWorld").world.name == "dry land"


def test_unloaded_world_leaves_a_simulation_that_does_nothing(client: StandardClient) -> None:
    client.done("SpawnEntity", **fields("multirotor", name="kite"))
    client.done("UnloadWorld")
    assert client.state == SimulationState.STATE_NO_WORLD
    assert client.done("GetEntities").entities == []
    assert client.done("GetNamedPoses").poses == []
    assert client.refused("GetCurrentWorld") == (101, "no world is loaded; allowed: load_world")
    assert client.refused("UnloadWorld") == (101, "no world is loaded; allowed: load_world")
    for kind, given in (
        ("SetSimulationState", {"state": SimulationState(state=PLAYING)}),
        ("StepSimulation", {"steps": 1}),
        ("ResetSimulation", {}),
        ("SpawnEntity", fields("multirotor", name="kite")),
    ):
        code, text = client.refused(kind, **given)
        assert "without a world" in text, (code, text)
    client.done("LoadWorld", **world("open_water"))
    assert client.state == STOPPED
    client.change(PLAYING)


def test_world_replaces_the_one_of_the_arguments_and_its_clients(claim_domain: ClaimDomain, tmp_path: Path) -> None:
    options = ("--vehicle", "bluerov2", "--no-camera", *SLOWLY, "-p", "world:=pool")
    with simulated(claim_domain, tmp_path, *options) as (client, _):
        assert {SimulatorFeatures.WORLD_LOADING, SimulatorFeatures.WORLD_UNLOADING} <= client.features
        assert client.done("GetCurrentWorld").world.name == "pool"
        client.done("LoadWorld", **world("dry land"))
        client.done("SpawnEntity", **fields("multirotor", name="kite", initial_pose=pose(x=50.0)))
        assert numbers(client.entity("kite").pose.position) == pytest.approx((50.0, 0.0, 0.119), abs=1e-2)


@pytest.mark.parametrize("time_mode", ["paced", "gated"])
def test_worlds_are_loaded_in_the_other_time_modes(claim_domain: ClaimDomain, tmp_path: Path, time_mode: str) -> None:
    with simulated(claim_domain, tmp_path, "--time-mode", time_mode, *SLOWLY) as (client, _):
        client.done("LoadWorld", **world(text=TOWER))
        assert client.state == STOPPED
        client.done("SpawnEntity", **fields("multirotor", name="kite", initial_pose=pose(x=20.0)))
        client.change(PLAYING)
        client.until(lambda: client.time_ns("kite") > 0, "steps in the loaded world")
        client.done("UnloadWorld")
        assert client.state == SimulationState.STATE_NO_WORLD


def test_system_time_has_no_other_world(claim_domain: ClaimDomain, tmp_path: Path) -> None:
    with simulated(claim_domain, tmp_path, "--time-mode", "wall") as (client, _):
        for kind, given in (("LoadWorld", world("pool")), ("UnloadWorld", {})):
            code, text = client.refused(kind, **given)
            assert code == Result.RESULT_FEATURE_UNSUPPORTED
            assert text.endswith(
                " requested; allowed: in a simulation in one process that is not recorded, except in the time mode wall"
            )
