"""No vehicle passes through a solid object, however thin and however fast, and none sticks inside."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from underwater import state

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.faces import FREE, SIDE, TOP, depth_below, entry
from rosflight_py_sim.physics.inertia import inertia_matrix
from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_body
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.world import load_world, part_array

NOTHING = np.zeros(6)
STEPS = [0.0025, 0.01, 0.02]
NORTH_FACE, SOUTH_FACE = 1.0, 2.0


def values_of(name: str, world: Path, **changed: Value) -> dict[str, Value]:
    sources = [vehicle(name).parameter_file, {"world": str(world)}]
    return {**given_values(DYNAMICS_PARAMETERS, sources, "dynamics", "", "none"), **changed}


def written(folder: Path, *objects: str) -> Path:
    file = folder / "objects.yaml"
    file.write_text("objects:\n" + "".join(f"  - {{{text}, colour: red}}\n" for text in objects), encoding="utf-8")
    return file


def energy(values: dict[str, Value], truth: NDArray[np.float64]) -> float:
    """Kinetic and potential energy, J."""
    mass, gravity = float(values["mass"]), float(values["gravity"])  # type: ignore[arg-type]
    turning = truth[10:13] @ inertia_matrix(values) @ truth[10:13]
    return float(0.5 * mass * truth[7:10] @ truth[7:10] + 0.5 * turning - mass * gravity * truth[2])


def flown(body: VehicleDynamics, seconds: float, dt: float, wrench: NDArray[np.float64] = NOTHING) -> None:
    for _ in range(round(seconds / dt)):
        body.step(wrench, dt)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("thickness", [0.001, 0.02, 0.05, 0.1, 0.2, 1.0])
@pytest.mark.parametrize("name", ["multirotor", "hexarotor", "anaconda", "aerosonde"])
def test_wall_stops_vehicle_at_every_speed_and_returns_less_energy(
    name: str, thickness: float, dt: float, tmp_path: Path
) -> None:
    wall = f"kind: box, name: wall, position: [10, 0, -5], size: [{thickness}, 10, 10]"
    values = values_of(name, written(tmp_path, wall))
    body = VehicleDynamics(values)
    for speed in (5.0, 8.0, 12.0, 15.0, 25.0, 30.0, 50.0, 100.0, 300.0):
        body.set_truth(state(-5.0, velocity=(speed, 0.0, 0.0), north=8.0))
        before = energy(values, body.truth)
        while body.truth[0] > 7.0 and body.truth[2] < -2.0:
            body.step(NOTHING, dt)
        assert body.truth[0] < 10.0 - 0.5 * thickness
        assert energy(values, body.truth) < before


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("damping", [0.0, 0.7])
@pytest.mark.parametrize("name", ["multirotor", "anaconda"])
def test_tumbling_vehicle_bounces_off_a_turned_wall(name: str, damping: float, dt: float, tmp_path: Path) -> None:
    wall = "kind: box, name: wall, position: [10, 4, -50], yaw_deg: 30, size: [0.001, 60, 60]"
    normal = np.array([math.cos(math.radians(30.0)), math.sin(math.radians(30.0)), 0.0])
    values = values_of(
        name,
        written(tmp_path, wall),
        contact_damping_ratio=damping,
        starts_on_ground=False,
        initial_altitude=50.0,
    )
    body = VehicleDynamics(values)
    generator = np.random.default_rng(3)
    for _ in range(20):
        speed = 10.0 ** generator.uniform(0.5, 2.0)
        start = state(-50.0)
        start[:2] = [10.0, 4.0] - 5.0 * normal[:2]
        attitude = generator.standard_normal(4)
        start[3:7] = attitude / np.linalg.norm(attitude)
        heading = normal + generator.uniform(-0.3, 0.3, 3)
        start[7:10] = rotate_to_body(*start[3:7].tolist(), *(speed * heading).tolist())
        start[10:13] = generator.uniform(-20.0, 20.0, 3)
        body.set_truth(start)
        before = energy(values, body.truth)
        kinetic = before - energy(values, state(-50.0))
        for _ in range(round(min(2.0, 30.0 / speed) / dt)):
            body.step(NOTHING, dt)
            # Without damping, the onset of contact within an integration step costs or yields some of a percent.
            assert energy(values, body.truth) - before < (0.005 if damping == 0.0 else 1e-5) * kinetic
        assert (body.truth[:3] - [10.0, 4.0, -50.0]) @ normal < 0.0


@pytest.mark.parametrize("shape", ["kind: box, size: [40, 40, {}]", "kind: cylinder, size: [40, {}]"])
@pytest.mark.parametrize("thickness", [0.001, 0.05])
@pytest.mark.parametrize("name", ["multirotor", "anaconda"])
def test_vehicle_rests_on_a_thin_plate_whatever_changes(
    name: str, thickness: float, shape: str, tmp_path: Path
) -> None:
    plate = written(tmp_path, f"name: plate, position: [0, 0, -20], {shape.format(thickness)}")
    values = values_of(name, plate, initial_position=[100.0, 0.0])
    body = VehicleDynamics(values)
    height = -20.0 - 0.5 * thickness + body.initial_truth[2]
    body.set_truth(state(-21.0))
    flown(body, 6.0, 0.0025)
    resting = body.truth.copy()
    assert resting[2] == pytest.approx(height, abs=1e-3)
    np.testing.assert_allclose(resting[7:13], 0.0, atol=1e-6)
    body.set_truth(resting)
    flown(body, 1.0, 0.0025)
    assert body.truth[2] == pytest.approx(height, abs=1e-3)
    softer = VehicleDynamics({**values, "contact_frequency": 8.0})
    softer.adopt(body)
    flown(softer, 2.0, 0.0025)
    assert softer.truth[2] == pytest.approx(height, abs=0.02)
    points = list(values["contact_points"])  # type: ignore[arg-type]
    points[2] = float(points[2]) + 0.001
    taller = VehicleDynamics({**values, "contact_points": points})
    taller.adopt(softer)
    flown(taller, 2.0, 0.0025)
    assert taller.truth[2] == pytest.approx(height, abs=0.01)


def test_vehicle_slides_over_the_seams_of_flush_boxes_as_over_one(tmp_path: Path) -> None:
    ends = []
    for count in (1, 40):
        long = 40.0 / count
        boxes = [
            f"kind: box, name: part{i}, position: [{-20.0 + long * (i + 0.5)}, 0, -20], size: [{long}, 40, 1]"
            for i in range(count)
        ]
        values = values_of("multirotor", written(tmp_path, *boxes), initial_position=[100.0, 0.0])
        body = VehicleDynamics(values)
        body.set_truth(state(-21.0, velocity=(5.0, 0.5, 1.0), north=-15.0))
        flown(body, 3.0, 0.0025)
        ends.append(body.truth.copy())
    assert ends[0][0] > -14.0
    # Friction begins anew at each seam, where the tangential spring of a millimetre is released: 2 cm over 40 seams.
    np.testing.assert_allclose(ends[1][:3], ends[0][:3], atol=0.02)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("speed", [5.0, 30.0, 100.0, 1000.0])
@pytest.mark.parametrize("name", ["multirotor", "anaconda"])
def test_corner_of_two_thin_walls_holds(name: str, speed: float, dt: float, tmp_path: Path) -> None:
    walls = (
        "kind: box, name: a, position: [10, 0, -31], size: [0.01, 60, 60]",
        "kind: box, name: b, position: [-20, 10, -31], size: [60, 0.01, 60]",
    )
    body = VehicleDynamics(values_of(name, written(tmp_path, *walls)))
    body.set_truth(state(-20.0, velocity=(speed, 1.01 * speed, 0.0), north=5.0, east=5.0))
    while body.truth[2] < -3.0 and np.linalg.norm(body.truth[:2] - 10.0) < 20.0:
        body.step(NOTHING, dt)
    assert body.truth[0] < 10.0
    assert body.truth[1] < 10.0


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("speed", [5.0, 30.0, 100.0])
@pytest.mark.parametrize("name", ["multirotor", "anaconda"])
def test_tower_stops_vehicle_that_flies_at_its_axis(name: str, speed: float, dt: float, tmp_path: Path) -> None:
    tower = "kind: cylinder, name: tower, position: [10, 0, -31], size: [10, 60]"
    body = VehicleDynamics(values_of(name, written(tmp_path, tower)))
    body.set_truth(state(-20.0, velocity=(speed, 0.0, 0.0)))
    while body.truth[2] < -3.0 and abs(body.truth[0]) < 20.0:
        body.step(NOTHING, dt)
        assert body.truth[0] < 10.0
    assert math.hypot(body.truth[0] - 10.0, body.truth[1]) > 5.0


def test_state_beyond_a_wall_is_set_without_touching_it_and_one_across_it_is_rejected(tmp_path: Path) -> None:
    wall = "kind: box, name: wall, position: [10, 0, -31], size: [0.001, 60, 60]"
    body = VehicleDynamics(values_of("multirotor", written(tmp_path, wall)))
    body.set_truth(state(-20.0, velocity=(10.0, 0.0, 0.0), north=9.5))
    flown(body, 0.04, 0.0025)
    beyond = state(-20.0, north=12.0)
    body.set_truth(beyond)
    body.step(NOTHING, 0.0025)
    np.testing.assert_allclose(body.truth[:2], [12.0, 0.0], atol=1e-12)
    for north in (10.0, 9.85, 10.15):
        with pytest.raises(ValueError, match="inside the object 'wall'"):
            body.set_truth(state(-20.0, north=north))


def test_contact_that_is_switched_on_inside_an_object_is_refused(tmp_path: Path) -> None:
    block = "kind: box, name: block, position: [10, 0, -20], size: [4, 20, 30]"
    values = values_of("multirotor", written(tmp_path, block))
    ghost = VehicleDynamics({**values, "ground_contact": False})
    ghost.set_truth(state(-20.0, north=9.5))
    with pytest.raises(ParameterError, match=r"'ground_contact'.* inside the object 'block'"):
        VehicleDynamics(values).adopt(ghost)
    ghost.set_truth(state(-20.0, north=7.0))
    VehicleDynamics(values).adopt(ghost)


def test_vehicle_pressed_against_a_thin_wall_leaves_it_when_it_is_released(tmp_path: Path) -> None:
    wall = "kind: box, name: wall, position: [10, 0, -31], size: [0.001, 60, 60]"
    values = values_of("multirotor", written(tmp_path, wall), contact_friction=0.0)
    body, weight = VehicleDynamics(values), float(values["mass"]) * float(values["gravity"])  # type: ignore[arg-type]
    body.set_truth(state(-20.0, north=9.5))
    flown(body, 4.0, 0.0025, np.array([5.0 * weight, 0.0, -weight, 0.0, 0.0, 0.0]))
    assert 9.7 < body.truth[0] < 9.85
    flown(body, 2.0, 0.0025, np.array([-0.1 * weight, 0.0, -weight, 0.0, 0.0, 0.0]))
    assert body.truth[0] < 9.0


def part(text: str, folder: Path) -> NDArray[np.float64]:
    (row,) = part_array(load_world(written(folder, text)).objects)
    return np.array(row)


def test_face_of_entry_is_the_first_that_the_path_crosses(tmp_path: Path) -> None:
    box = part("kind: box, name: box, position: [10, 0, -5], yaw_deg: 90, size: [2, 4, 1]", tmp_path)
    # Turned by 90 degrees, its north face looks east.
    assert entry(box, 10.0, 3.0, -5.0, 10.0, -3.0, -5.0)[0] == NORTH_FACE
    assert entry(box, 10.0, -3.0, -5.0, 10.0, 0.0, -5.0)[0] == SOUTH_FACE
    assert entry(box, 10.0, 0.0, -7.0, 10.0, 0.0, -4.0)[0] == TOP
    assert entry(box, 10.0, 3.0, -7.0, 10.0, -3.0, -7.0)[0] == FREE
    assert entry(box, 10.0, 3.0, -5.0, 10.0, 1.5, -5.0)[0] == FREE
    # From inside: through the nearest face.
    assert entry(box, 10.0, 0.0, -5.4, 10.0, 0.0, -5.0)[0] == TOP
    depth, *into, within = depth_below(box, NORTH_FACE, 1.0, 0.0, 10.0, -7.0, -5.0)
    # It grows behind the box, too.
    assert (depth, within) == (pytest.approx(8.0), True)
    np.testing.assert_allclose(into, [0.0, -1.0, 0.0], atol=1e-15)
    assert not depth_below(box, NORTH_FACE, 1.0, 0.0, 12.5, -7.0, -5.0)[4]


def test_side_of_a_cylinder_is_entered_along_its_radius(tmp_path: Path) -> None:
    post = part("kind: cylinder, name: post, position: [10, 0, -5], size: [2, 10]", tmp_path)
    face, north, east = entry(post, 0.0, 0.0, -5.0, 20.0, 0.0, -5.0)
    assert (face, north, east) == (SIDE, -1.0, 0.0)
    assert depth_below(post, SIDE, -1.0, 0.0, 9.2, 0.0, -5.0)[0] == pytest.approx(0.2)
    assert depth_below(post, SIDE, -1.0, 0.0, 14.0, 0.0, -5.0)[0] == pytest.approx(5.0)
    assert entry(post, 10.0, 0.0, -15.0, 10.0, 0.0, -3.0)[0] == TOP
    assert entry(post, 0.0, 1.5, -5.0, 20.0, 1.5, -5.0)[0] == FREE


def test_vehicle_that_flies_backwards_and_upside_down_is_stopped_too(tmp_path: Path) -> None:
    wall = "kind: box, name: wall, position: [10, 0, -31], size: [0.02, 60, 60]"
    body = VehicleDynamics(values_of("anaconda", written(tmp_path, wall)))
    start = state(-20.0, quaternion_from_euler(math.pi, 0.0, math.pi), velocity=(-40.0, 0.0, 0.0), north=5.0)
    body.set_truth(start)
    while body.truth[2] < -3.0 and body.truth[0] > 0.0:
        body.step(NOTHING, 0.0025)
    assert body.truth[0] < 10.0
