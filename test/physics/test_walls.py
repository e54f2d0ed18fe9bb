"""Floor, walls and objects of a world stop every vehicle, and no vehicle starts inside them."""

import math
from pathlib import Path

import numpy as np
import pytest
from underwater import Underwater, commands, state

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.rotations import quaternion_from_euler
from rosflight_py_sim.physics.solids import depth_in_part

WORLD = """
pool: {length_north: 10.0, width_east: 6.0, depth: 3.0}
water: {colour: pool_water, visibility: [15.0, 22.0, 25.0]}
objects:
  - {kind: box, name: crate, position: [2.0, 0.0, 1.0], yaw_deg: 30.0, size: [0.5, 0.8, 1.0], colour: yellow}
  - {kind: cylinder, name: post, position: [-2.0, 0.0, 1.5], size: [0.3, 3.0], colour: blue}
  - {kind: box, name: ghost, position: [0.0, 2.0, 1.0], size: [0.5, 0.5, 0.5], colour: red, solid: false}
"""

LAND = """
objects:
  - {kind: box, name: table, position: [3.0, 4.0, -0.5], yaw_deg: 20.0, size: [2.0, 2.0, 1.0], colour: brown}
"""


@pytest.fixture
def pool(tmp_path: Path) -> str:
    file = tmp_path / "basin.yaml"
    file.write_text(WORLD, encoding="utf-8")
    return str(file)


@pytest.fixture
def land(tmp_path: Path) -> str:
    file = tmp_path / "land.yaml"
    file.write_text(LAND, encoding="utf-8")
    return str(file)


def pushed(pool, yaw, start, vehicle="auv", seconds=25.0):
    """Truth of a neutrally buoyant vehicle after full forward thrust from rest."""
    pushing = Underwater(vehicle, world=pool, net_buoyancy=0.0)
    pushing.body.set_truth(state(start[2], quaternion_from_euler(0.0, 0.0, yaw), north=start[0], east=start[1]))
    pushing.pulses = commands(1.0, 1.0)
    pushing.run(seconds)
    return pushing.body.truth


# Half of the auv's length; it sinks in by less than 2 cm (2.2 N on four points of 1500 N/m are 0.4 mm, and an impact
# at 0.5 m/s goes less than 1 cm deep at 10 Hz).
NOSE, GIVES = 0.15, 0.02


@pytest.mark.parametrize(
    ("yaw", "axis", "wall"),
    [(0.0, 0, 5.0), (math.pi, 0, -5.0), (0.5 * math.pi, 1, 3.0), (-0.5 * math.pi, 1, -3.0)],
    ids=["north", "south", "east", "west"],
)
def test_walls_hold_vehicle_pushing_against_them(pool, yaw, axis, wall):
    start = [1.0, 1.5, 2.2] if axis == 0 else [0.0, -0.5, 2.2]
    end = pushed(pool, yaw, start)
    assert end[axis] == pytest.approx(wall - math.copysign(NOSE, wall), abs=GIVES)
    assert np.max(np.abs(end[7:13])) < 0.01


def test_vehicle_in_a_corner_rests_between_two_walls(pool):
    end = pushed(pool, math.atan2(2.0, 4.0), [1.0, 1.0, 2.2], seconds=60.0)
    assert end[0] < 5.0
    assert end[1] < 3.0
    assert np.max(np.abs(end[7:13])) < 0.01


def test_floor_holds_diving_vehicle(pool):
    vehicle = Underwater("auv", world=pool)
    vehicle.body.set_truth(state(2.0, north=0.0, east=-1.0))
    vehicle.pulses = commands(0.0, 0.0, 0.0, -1.0)
    vehicle.run(20.0)
    # The box reaches 0.1425 m below the centre of mass.
    assert vehicle.body.truth[2] == pytest.approx(3.0 - 0.1425, abs=GIVES)
    assert np.max(np.abs(vehicle.body.truth[7:13])) < 1e-3


def test_box_stops_vehicle_at_its_nearest_face(pool):
    yaw = math.radians(30.0)
    start = np.array([2.0, 0.0, 1.0]) - 1.5 * np.array([math.cos(yaw), math.sin(yaw), 0.0])
    end = pushed(pool, yaw, start, seconds=15.0)
    assert np.hypot(end[0] - 2.0, end[1]) == pytest.approx(0.25 + NOSE, abs=GIVES)


def test_post_stops_vehicle_and_lets_it_slide_off_sideways(pool):
    end = pushed(pool, math.pi, [0.0, 0.0, 1.0], seconds=6.0)
    assert end[0] == pytest.approx(-2.0 + 0.15 + NOSE, abs=GIVES)
    past = pushed(pool, math.pi, [0.0, 0.5, 1.0], seconds=12.0)
    assert past[0] < -2.5


def test_vehicle_passes_through_non_solid_objects(pool):
    assert pushed(pool, 0.5 * math.pi, [0.0, 0.5, 1.0], seconds=15.0)[1] > 2.5


def test_fast_vehicle_bounces_off_wall_without_tunnelling(pool):
    vehicle = Underwater("bluerov2", world=pool)
    vehicle.body.set_truth(state(1.5, velocity=(5.0, 0.0, 0.0), east=1.5))
    farthest = -math.inf
    for _ in range(1200):
        vehicle.step()
        farthest = max(farthest, vehicle.body.truth[0])
    # At 5 m/s, the nose may sink in by v / (2 pi f) = 8 cm, more with the added mass; the middle stays outside.
    assert farthest < 5.0


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ([2.0, 0.0], "object 'crate'"),
        ([-2.0, 0.1], "object 'post'"),
        ([4.9, 0.0], "north wall"),
        ([-7.0, 0.0], "south wall"),
        ([0.0, 3.1], "east wall"),
        ([0.0, -2.99], "west wall"),
    ],
)
def test_start_inside_an_object_is_rejected_naming_the_object(pool, place, name):
    with pytest.raises(ParameterError, match=rf"'initial_position'.*{name} of the world 'basin'"):
        Underwater("auv", world=pool, initial_position=place, initial_altitude=-1.0)


def test_start_below_floor_is_rejected(pool):
    with pytest.raises(ParameterError, match="the floor of the world"):
        Underwater("auv", world=pool, initial_altitude=-2.95)


def test_start_next_to_objects_is_accepted(pool):
    vehicle = Underwater("auv", world=pool, initial_position=[0.0, 2.0], initial_altitude=-1.0)
    assert vehicle.body.truth[:3].tolist() == [0.0, 2.0, 1.0]


@pytest.mark.parametrize(("place", "name"), [((2.0, 0.0, 1.0), "object 'crate'"), ((5.0, 0.0, 1.0), "north wall")])
def test_state_inside_an_object_is_rejected_and_changes_nothing(pool, place, name):
    body = Underwater("auv", world=pool).body
    before = body.truth.copy()
    with pytest.raises(ValueError, match=name):
        body.set_truth(state(place[2], north=place[0], east=place[1]))
    assert np.array_equal(body.truth, before)


def test_state_below_floor_is_raised_onto_it(pool):
    body = Underwater("auv", world=pool).body
    body.set_truth(state(9.0, east=-1.0))
    assert body.truth[2] == pytest.approx(3.0 - 0.1425, abs=1e-9)


def test_vehicles_start_at_the_start_position_of_the_world(tmp_path):
    file = tmp_path / "basin.yaml"
    file.write_text(WORLD + "start: {position: [1.0, -1.0, 0.5], yaw_deg: 90.0}\n", encoding="utf-8")
    afloat = Underwater("auv", world=str(file), initial_position=[0.5, 0.25]).body.truth
    assert afloat[:3].tolist() == [1.5, -0.75, 0.5]
    assert afloat[3:7] == pytest.approx(quaternion_from_euler(0.0, 0.0, 0.5 * math.pi), abs=1e-15)
    values = {"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12, "world": str(file)}
    standing = VehicleDynamics(DYNAMICS_PARAMETERS.checked(values)).truth
    # On its feet, 0.1 m below the centre of mass, and sunk in by half a millimetre.
    assert standing[:3] == pytest.approx((1.0, -1.0, 2.9), abs=1e-3)
    assert standing[3:7] == pytest.approx(quaternion_from_euler(0.0, 0.0, 0.5 * math.pi), abs=1e-9)


def test_multirotor_lands_on_a_table_and_stays(land):
    body = VehicleDynamics(
        DYNAMICS_PARAMETERS.checked({"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12, "world": land})
    )
    assert body.truth[2] == pytest.approx(-0.1, abs=1e-3)
    body.set_truth(state(-1.8, quaternion_from_euler(0.05, -0.05, 1.0), north=3.0, east=4.0))
    wrench = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    for _ in range(4000):
        body.step(wrench, 0.0025)
    assert body.truth[2] == pytest.approx(-1.1, abs=2e-3)
    resting = body.truth.copy()
    for _ in range(4000):
        body.step(wrench, 0.0025)
    # A sticking point does not creep, on a table either.
    assert body.truth[:7] == pytest.approx(resting[:7], abs=1e-6)


def test_multirotor_at_the_foot_of_a_table_is_blocked_by_it(land):
    body = VehicleDynamics(
        DYNAMICS_PARAMETERS.checked({"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12, "world": land})
    )
    body.set_truth(state(-0.3, velocity=(3.0, 0.0, 0.0), north=0.0, east=4.0))
    farthest = -math.inf
    for _ in range(2000):
        body.step(np.array([0.0, 0.0, -3.5 * 9.81, 0.0, 0.0, 0.0]), 0.0025)
        farthest = max(farthest, body.truth[0])
    assert 1.0 < farthest < 2.0


@pytest.mark.parametrize("kind", [0.0, 1.0], ids=["box", "cylinder"])
def test_penetration_depth_is_the_distance_function_with_inward_normal(kind):
    generator = np.random.default_rng(5)
    radius = 0.4
    part = np.array([kind, 1.0, -2.0, 0.5, radius, radius if kind else 0.7, 0.3, math.cos(0.6), math.sin(0.6)])
    for _ in range(500):
        place = part[1:4] + generator.uniform(-1.2, 1.2, 3)
        depth, *into = depth_in_part(part, *place)
        assert np.linalg.norm(into) == pytest.approx(1.0, abs=1e-12)
        deeper, *_ = depth_in_part(part, *(place + 1e-7 * np.array(into)))
        # The depth grows by the distance moved inward; rounding of 1e-16 m is 1e-9 of it.
        assert deeper - depth == pytest.approx(1e-7, rel=1e-6)
