"""The scene of the browser viewer, without a browser."""

from __future__ import annotations

import json
import math
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import viser

from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_inertial
from rosflight_py_sim.vehicles import known_vehicles, vehicle
from rosflight_py_sim.viewer.appearance import appearance
from rosflight_py_sim.viewer.graph_model import Health, NodeEntry, Report, graph_model
from rosflight_py_sim.viewer.web.controls import Controls
from rosflight_py_sim.viewer.web.display import Display
from rosflight_py_sim.viewer.web.graph_page import health_table
from rosflight_py_sim.viewer.web.scene import Scene
from rosflight_py_sim.viewer.web.server import NoServerError, open_server, stop_server, url_of
from rosflight_py_sim.viewer.web.trail import MOST, PIECE, PIECES, Trails
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView
from rosflight_py_sim.viewer.world_meshes import world_parts
from rosflight_py_sim.world import DRY_LAND, World, load_world
from test.viewer.drawn_batches import batch, places

SPACING = 0.1

MULTIROTOR = appearance_of(vehicle("multirotor"))


@pytest.fixture
def server() -> Iterator[viser.ViserServer]:
    server = open_server("127.0.0.1", 0, "test")
    yield server
    stop_server(server)


def view(time_s: float = 0.0, north: float = 0.0, **fields: object) -> VehicleView:
    truth = np.zeros(19)
    truth[0], truth[3] = north, 1.0
    given = {"wind_ned": np.zeros(3), "pwm_us": np.full(14, 1000.0), **fields}
    return VehicleView(time_s, truth, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", known_vehicles())
def test_each_vehicle_can_be_displayed(server: viser.ViserServer, name: str) -> None:
    scene = Scene(server, {"": appearance_of(vehicle(name))}, DRY_LAND)
    above = view(1.0, north=3.0)
    above.truth[2] = -5.0
    scene.show({"": above})
    body = next(part for part in appearance_of(vehicle(name)).parts if part.motion is None)
    assert places(server, f"/map/vehicles/vehicle_{body.name}").tolist() == [[3.0, 0.0, -5.0]]
    assert places(server, "/map/shadows/vehicle_shadow")[0, 0:2].tolist() == [3.0, 0.0]


def test_selected_vehicle_rests_in_a_node_that_moves_with_it(server: viser.ViserServer) -> None:
    """A browser moves a node at once, but the meshes of a batch some frames later: a fast vehicle would lag."""
    scene = Scene(server, {"first": MULTIROTOR, "second": MULTIROTOR}, DRY_LAND)
    body, shadow = batch(server, "/map/vehicles/first_body"), batch(server, "/map/shadows/first_shadow")
    node, ground = (server.scene.get_handle_by_name(f"/map/{name}") for name in ("vehicles", "shadows"))
    assert node is not None and ground is not None
    for chosen, rests in (("first", 0), ("second", 1)):
        scene.chosen = chosen
        for north in (3.0, 4.0):
            moved = {name: view(north=north * k) for k, name in enumerate(("first", "second"), 1)}
            for one in moved.values():
                one.truth[2] = -5.0 * north
            scene.show(moved)
            assert node.position.tolist() == moved[chosen].truth[0:3].tolist()
            assert body.batched_positions[rests].tolist() == [0.0, 0.0, 0.0]
            assert body.batched_positions[1 - rests, 0] == (north if chosen == "first" else -north)
            # The shadow does not leave the ground.
            assert ground.position.tolist() == [moved[chosen].truth[0], 0.0, 0.0]
            assert np.abs(shadow.batched_positions[rests]).max() < 0.1


@pytest.mark.parametrize("name", ["pool", "open_water"])
def test_scene_contains_the_world_parts_of_rviz_and_the_ground(server: viser.ViserServer, name: str) -> None:
    world = load_world(name)
    Scene(server, {"": appearance_of(vehicle("auv"))}, world)
    ground = "ground" if world.sea_floor else "floor"
    for part in {ground, *(part.name for part in world_parts(world))} - ({"floor"} if world.sea_floor else set()):
        assert server.scene.get_handle_by_name(f"/map/{part}") is not None, part


def test_ground_near_the_start_consists_of_small_triangles(server: viser.ViserServer) -> None:
    """A software renderer draws triangles that reach to the horizon above the feet of vehicles."""
    Scene(server, {"": MULTIROTOR}, DRY_LAND)
    handle = server.scene.get_handle_by_name("/map/ground")
    assert isinstance(handle, viser.GlbHandle)
    length = int.from_bytes(handle.glb_data[12:16], "little")
    description, content = json.loads(handle.glb_data[20 : 20 + length]), handle.glb_data[28 + length :]

    def array(accessor: int, kind: str) -> np.ndarray:
        view = description["bufferViews"][description["accessors"][accessor]["bufferView"]]
        return np.frombuffer(content, kind, view["byteLength"] // np.dtype(kind).itemsize, view["byteOffset"])

    corners = array(0, "<f4").reshape(-1, 3)[array(3, "<u2").reshape(-1, 3)]
    sides = np.diff(corners[:, [0, 1, 2, 0]], axis=1)
    up = -np.cross(sides[:, 0], sides[:, 1])[:, 2]
    assert (up > 0.0).all()
    assert 0.5 * up.sum() == pytest.approx(18000.0**2)
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    nearest = np.linalg.norm(np.clip(0.0, corners.min(axis=1), corners.max(axis=1)), axis=1)
    assert (longest < 30.0 + 3.0 * nearest).all()


def test_selected_vehicle_stays_centred_in_the_view(server: viser.ViserServer) -> None:
    scene = Scene(server, {"first": appearance("dart"), "second": appearance("dart")}, DRY_LAND)
    root = server.scene.get_handle_by_name("/map")
    assert root is not None
    scene.show({"first": view(north=5.0)})
    scene.show({"second": view(north=7.0)})
    assert root.position.tolist() == [-5.0, 0.0, 0.0]
    scene.chosen = "second"
    scene.show({"second": view(north=7.0)})
    assert root.position.tolist() == [-7.0, 0.0, 0.0]
    scene.choose_view("fixed")
    scene.show({"second": view(north=9.0)})
    assert root.position.tolist() == [-7.0, 0.0, 0.0]


def test_rotors_spin_with_their_commands_while_time_advances(server: viser.ViserServer) -> None:
    scene = Scene(server, {"": MULTIROTOR}, DRY_LAND)
    rotors = [part for part in MULTIROTOR.parts if part.motion is not None]
    assert len(rotors) == 4

    def attitudes() -> list[list[float]]:
        # Rotors 1 and 3 turn in one direction, 2 and 4 in the other.
        nodes = [batch(server, f"/map/vehicles/vehicle_{rotor.name}") for rotor in rotors[0:2]]
        return [wxyz for node in nodes for wxyz in node.batched_wxyzs.tolist()]

    scene.show({"": view(1.0, pwm_us=np.full(14, 1500.0))})
    before = attitudes()
    assert len(before) == 4
    scene.show({"": view(1.0, pwm_us=np.full(14, 1500.0))})
    assert attitudes() == before
    scene.show({"": view(1.02, pwm_us=np.full(14, 1000.0))})
    assert attitudes() == before
    scene.show({"": view(1.04, pwm_us=np.full(14, 1500.0))})
    assert not np.isclose(attitudes(), before).all(axis=1).any()


def test_oldest_path_segments_are_removed(server: viser.ViserServer) -> None:
    trails = Trails(server.scene, "/path", {"": SPACING})
    for k in range((PIECES + 3) * PIECE):
        trails.pass_through("", np.array([1.01 * k * SPACING, 0.0, 0.0]), 0.1 * k, 1.0)
        trails.draw()
    pieces = [name for name in (f"/path_{k}" for k in range(2 * PIECES)) if server.scene.get_handle_by_name(name)]
    assert len(pieces) == PIECES


def test_path_has_a_gap_where_the_vehicle_was_repositioned(server: viser.ViserServer) -> None:
    trails = Trails(server.scene, "/path", {"": SPACING})
    norths = [0.0, 0.11, 0.22, 50.0, 50.11, 50.22]
    for k, north in enumerate(norths):
        trails.pass_through("", np.array([north, 0.0, 0.0]), 0.1 * k, 1.0)
        trails.draw()
    path = server.scene.get_handle_by_name("/path_1")
    assert isinstance(path, viser.LineSegmentsHandle)
    drawn = [[0.0, 0.11], [0.11, 0.22], [50.0, 50.11]]
    assert path.points[:, :, 0] == pytest.approx(np.array(drawn))


def test_path_has_no_gap_for_a_fast_vehicle_braking_between_two_samples(server: viser.ViserServer) -> None:
    trails = Trails(server.scene, "/path", {"": SPACING})
    # From 60 m/s to a stop at a constant deceleration, sampled once a second.
    for k, (north, speed) in enumerate([(0.0, 60.0), (60.0, 60.0), (90.0, 0.0)]):
        trails.pass_through("", np.array([north, 0.0, 0.0]), 1.0 * k, speed)
        trails.draw()
    (path,) = (node for k in range(4) if (node := server.scene.get_handle_by_name(f"/path_{k}")) is not None)
    assert isinstance(path, viser.LineSegmentsHandle)
    trails.pass_through("", np.array([90.2, 0.0, 0.0]), 3.0, 0.5)
    trails.draw()
    assert path.points[:, :, 0].tolist() == pytest.approx(np.array([[0.0, 60.0], [60.0, 90.0], [90.0, 90.2]]))


def test_wind_arrow_points_downwind(server: viser.ViserServer) -> None:
    scene = Scene(server, {"": MULTIROTOR}, DRY_LAND)
    arrow = server.scene.get_handle_by_name("/map/vehicle_wind")
    assert isinstance(arrow, viser.ArrowsHandle)
    assert not arrow.visible
    scene.show({"": view(wind_ned=np.array([0.0, 4.0, 0.0]))})
    start, end = arrow.points[0]
    assert arrow.visible
    assert end[1] - start[1] == pytest.approx(0.8 * MULTIROTOR.size)
    assert math.hypot(end[0] - start[0], end[2] - start[2]) == 0.0


class Fleet:
    """A page's scene with a fleet, each vehicle of which flies at a place and heading of its own."""

    def __init__(self, server: viser.ViserServer, count: int) -> None:
        self.shapes = {
            f"v{k}": appearance_of(vehicle("fixedwing" if k % 10 == 3 else "multirotor")) for k in range(count)
        }
        self.scene = Scene(server, self.shapes, DRY_LAND)
        self.views = {name: self.view(k) for k, name in enumerate(self.shapes)}

    def view(self, number: int, time_s: float = 0.0) -> VehicleView:
        truth = np.zeros(19)
        truth[0:3] = 3.0 * number, time_s, -2.0 - number
        truth[3:7] = quaternion_from_euler(0.1, -0.2, 0.3 * number)
        truth[8] = 1.0
        return VehicleView(time_s, truth, np.array([0.0, 4.0, 0.0]), np.full(14, 1500.0))


def test_equal_parts_of_a_fleet_are_one_node_with_the_poses_of_its_vehicles(server: viser.ViserServer) -> None:
    fleet = Fleet(server, 40)
    fleet.scene.show(fleet.views)
    others = {name: shown for name, shown in fleet.views.items() if fleet.shapes[name].name == "multirotor"}
    rotors = places(server, "/map/vehicles/v0_rotor 1")
    assert len(rotors) == 2 * len(others)
    placed = iter(rotors)
    for name, shown in others.items():
        for rotor in [part for part in fleet.shapes[name].parts if part.name in ("rotor 1", "rotor 3")]:
            pivot = rotate_to_inertial(*shown.truth[3:7].tolist(), *rotor.pivot_frd)
            # Positions are sent as 32-bit numbers.
            assert next(placed) == pytest.approx(shown.truth[0:3] + pivot, abs=1e-4)
    assert places(server, "/map/shadows/v3_shadow")[:, 0].tolist() == [9.0, 39.0, 69.0, 99.0]


def test_only_the_selected_vehicle_of_a_large_fleet_has_a_name_and_a_wind_arrow(server: viser.ViserServer) -> None:
    fleet = Fleet(server, 40)
    for chosen in ("v0", "v17"):
        fleet.scene.chosen = chosen
        fleet.scene.show(fleet.views)
        for node in ("/map/names/{}", "/map/{}_wind"):
            marked = [name for name in fleet.shapes if server.scene.get_handle_by_name(node.format(name))]
            assert marked == [chosen]


def test_paths_of_a_fleet_have_bounded_memory(server: viser.ViserServer) -> None:
    names = [f"v{k}" for k in range(40)]
    trails = Trails(server.scene, "/path", dict.fromkeys(names, SPACING))
    for k in range(1000):
        for number, name in enumerate(names):
            trails.pass_through(name, np.array([1.0 * k, 3.0 * number, 0.0]), 1.0 * k, 1.0)
        trails.draw()
    nodes = [server.scene.get_handle_by_name(f"/path_{k}") for k in range(2 * PIECES)]
    lengths = [len(node.points) for node in nodes if isinstance(node, viser.LineSegmentsHandle)]
    assert len(lengths) == PIECES and max(lengths) <= MOST + len(names)


def test_port_in_use_is_rejected_with_a_hint() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(NoServerError, match=rf"127\.0\.0\.1:{port} \(.*in use.*web_viewer.port 0: any"):
            open_server("127.0.0.1", port, "test")


def test_non_local_server_address_is_rejected() -> None:
    with pytest.raises(NoServerError, match=r"192\.0\.2\.1:0 .*a local address"):
        open_server("192.0.2.1", 0, "test")
    with pytest.raises(NoServerError, match="cannot serve at :0"):
        open_server("", 0, "test")


def test_server_url_contains_the_bound_port(server: viser.ViserServer) -> None:
    assert url_of(server) == f"http://127.0.0.1:{server.get_port()}"
    with socket.create_connection(("127.0.0.1", server.get_port()), timeout=10.0):
        pass


def test_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "viewer.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "viewer.md", "exec"), {})
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", capsys.readouterr().out)


def test_height_and_outputs_of_selected_vehicle_are_plotted(server: viser.ViserServer) -> None:
    display = Display(server, {"a": MULTIROTOR, "b": MULTIROTOR}, DRY_LAND)
    truth = np.zeros(19)
    truth[2], truth[3], truth[7] = -12.0, 1.0, 3.0
    for k in range(5):
        display.show({"a": VehicleView(0.11 * k, truth, np.zeros(3), np.full(14, 1200.0 + k))})
    attitude, height, speed, outputs = display.plots.handles
    assert attitude.data[1].tolist() == [0.0]
    assert height.data[1].tolist() == [12.0] and speed.data[1].tolist() == [3.0]
    display.plots.draw("a")
    assert [column[-1] for column in outputs.data[1:]] == [1204.0] * 4
    assert len(height.data[0]) == 5
    # A restarted simulation leaves nothing of the previous one.
    display.show({"a": VehicleView(0.0, truth, np.zeros(3), np.full(14, 1100.0))})
    display.plots.draw("a")
    assert height.data[0].tolist() == [0.0]


@pytest.mark.parametrize("world", [DRY_LAND, load_world("pool")])
def test_no_plot_mixes_units_on_one_axis(server: viser.ViserServer, world: World) -> None:
    display = Display(server, {"": appearance_of(vehicle("auv"))}, world)
    for plot in display.plots.handles:
        assert plot.title is not None and "," not in "".join(line["label"] for line in plot.series[1:])
    assert [plot.title.partition(", ")[2] for plot in display.plots.handles] == ["deg", "m", "m/s", "us"]


def test_plots_show_the_last_30_s_at_any_update_rate(server: viser.ViserServer) -> None:
    display = Display(server, {"": MULTIROTOR}, DRY_LAND)
    for k in range(1000):
        # At twice real time, thirty pictures a second.
        display.show({"": view(2.0 / 30.0 * k)})
    display.plots.draw("")
    for plot in display.plots.handles:
        assert plot.scales is not None and plot.scales["x"]["range"] == (-30.0, 0.0)
        assert -30.0 <= plot.data[0][0] < -29.8 and plot.data[0][-1] == 0.0


def test_plots_opened_late_show_history(server: viser.ViserServer) -> None:
    display = Display(server, {"": MULTIROTOR}, DRY_LAND)
    # The browser keeps this range, whatever a plot's first data.
    assert all(plot.scales is not None and not plot.scales["x"].get("auto") for plot in display.plots.handles)
    for k in range(250):
        display.show({"": view(0.101 * k)})
    display.plots.draw("")
    assert all(len(plot.data[0]) == 250 for plot in display.plots.handles)


def test_heading_line_is_broken_at_wraps(server: viser.ViserServer) -> None:
    display = Display(server, {"": MULTIROTOR}, DRY_LAND)
    for k, heading in enumerate([160.0, 170.0, 180.0, 190.0, 200.0, 210.0]):
        truth = np.zeros(19)
        truth[3], truth[6] = math.cos(math.radians(heading) / 2.0), math.sin(math.radians(heading) / 2.0)
        display.show({"": VehicleView(0.11 * k, truth, np.zeros(3), np.full(14, 1200.0))})
    display.plots.draw("")
    roll, _, yaw = display.plots.handles[0].data[1:]
    assert list(roll) == pytest.approx([0.0] * 6)
    # uPlot, which draws it, breaks a line at null alone.
    assert [value is None for value in yaw].count(True) == 2
    drawn = [value for value in yaw if value is not None]
    assert drawn[0] == pytest.approx(160.0) and drawn[-1] == pytest.approx(-150.0)


def test_readings_show_time_pace_position_and_notes(server: viser.ViserServer) -> None:
    display = Display(server, {"": appearance_of(vehicle("auv"))}, load_world("pool"))
    display.show_pace(1.5)
    display.note("status", "armed")
    display.show({"": view(12.5, north=3.0)})
    for part in (
        "12.5000</span> s",
        "1.50 &times; real time",
        "north 3.0 m",
        "depth 0.0 m",
        "current 0.0 m/s",
        "armed",
    ):
        assert part in display.readings, part


class Paced:
    """A simulation of which only the pace can be set."""

    def __init__(self) -> None:
        self.multipliers: list[float] = []

    def call(self, label: str, services: Sequence[str]) -> None:
        raise NotImplementedError

    def step(self, count: int) -> None:
        raise NotImplementedError

    def set_pace(self, multiplier: float) -> None:
        self.multipliers.append(multiplier)

    def set_state(self, truth: np.ndarray) -> None:
        raise NotImplementedError

    def set_parameters(self, label: str, node: str, values: Mapping[str, object], done: str) -> None:
        raise NotImplementedError

    def add_failure(self, label: str, node: str, text: str) -> None:
        raise NotImplementedError

    def end_failures(self, label: str) -> None:
        raise NotImplementedError


def test_pace_shows_current_multiplier_and_keeps_user_choice_until_it_changes(
    server: viser.ViserServer,
) -> None:
    simulation = Paced()
    controls = Controls(server, Display(server, {"": appearance("dart")}, DRY_LAND), simulation)
    pace = controls.pace
    shown = []
    for multiplier in (1.0, 2.0, 3.5, 0.0):
        controls.show_pace(multiplier)
        shown.append(pace.value)
        assert pace.value in pace.options
    assert shown == ["1 x", "2 x", "3.5 x", "as fast as possible"]
    assert "3.5 x" not in pace.options
    pace.value = "5 x"
    controls.show_pace(0.0)
    assert pace.value == "5 x"
    controls.set_pace()
    assert simulation.multipliers == [5.0]
    # The change was refused.
    controls.show_pace(0.0)
    assert pace.value == "as fast as possible"


def test_health_table_has_a_row_per_node_and_escapes_text() -> None:
    nodes = [
        NodeEntry("/sensors", Report(Health.OK, "fine", {"in (Hz)": "400.2", "load": "0.25"})),
        NodeEntry("/odd", Report(Health.ERROR, "<script>alert(1)</script>")),
    ]
    table = health_table(graph_model(nodes, []))
    assert table.count("<tr>") == 2
    assert "ERROR" in table and "400" in table and "25%" in table
    assert "<script>" not in table
