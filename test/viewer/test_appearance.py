"""Appearance of vehicles: closed surfaces of the vehicles' sizes, with parts that move as in the physics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from transforms3d.quaternions import quat2mat

from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.ground.parameters import ParameterError, Value, Values
from rosflight_py_sim.nodes.vehicle_physics import physics_of_sources
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.shapes.meshes import Mesh, box, hoop, merged, panel, propeller, rod
from rosflight_py_sim.vehicles import Vehicle, all_vehicles, vehicle
from rosflight_py_sim.vehicles.physics_model import physics_models
from rosflight_py_sim.viewer.appearance import Appearance, DrawnPart, MovingParts, appearance, part_attitude

# Corners are float32, of parts up to 11 m long.
ROUNDING = 1e-6

MIDDLE = [1500.0] * 14

ALL = {"-".join(key): one for key, one in all_vehicles().items()}


def physics_of(one: Vehicle) -> dict[str, Value]:
    return physics_of_sources([one.parameter_file], one.appearance)


def drawn(name: str, mix: Values | None = None) -> Appearance:
    """Appearance of a vehicle of the package."""
    return appearance_of(ALL.get(name) or vehicle(name), mix)


def pulses(commands: dict[int, float]) -> list[float]:
    """Pulse widths of servos at these commands."""
    return [1500.0 + 500.0 * commands.get(output, 0.0) for output in range(14)]


def bodies(mesh: Mesh) -> Iterator[Mesh]:
    """The separate surfaces of a mesh."""
    label = np.arange(len(mesh.vertices))
    while True:
        lowest = label[mesh.triangles].min(axis=1)
        before = label.copy()
        for column in mesh.triangles.T:
            np.minimum.at(label, column, lowest)
        if np.array_equal(before, label):
            break
    of_triangle = label[mesh.triangles[:, 0]]
    for one in np.unique(of_triangle):
        yield Mesh(mesh.vertices, mesh.triangles[of_triangle == one])


def placed(part: DrawnPart, angle: float = 0.0) -> NDArray[np.float64]:
    """Corners of a part in body axes, turned."""
    turn = quat2mat(part_attitude(part, angle))
    return np.asarray(part.mesh.vertices @ turn.T + np.array(part.pivot_frd))


def named(shape: Appearance, name: str) -> DrawnPart:
    return next(part for part in shape.parts if part.name == name)


def trailing_edge_moves(part: DrawnPart, command: float) -> NDArray[np.float64]:
    """Motion of a surface's rearmost corners, in body axes."""
    assert part.motion is not None
    rear = part.mesh.vertices[:, 0] < part.mesh.vertices[:, 0].min() + 0.01
    moved = placed(part, part.motion.gain * command) - placed(part)
    return np.asarray(moved[rear].mean(axis=0))


@pytest.mark.parametrize("name", ALL)
def test_every_part_is_closed_and_faces_outward(name: str) -> None:
    for part in drawn(name).parts:
        for body in bodies(part.mesh):
            edges = Counter((t[k], t[(k + 1) % 3]) for t in body.triangles.tolist() for k in range(3))
            assert set(edges.values()) == {1}, part.name
            assert all((b, a) in edges for a, b in edges), part.name
            assert body.volume > 0.0, part.name
        a, b, c = np.moveaxis(part.mesh.corners.astype(np.float64), 1, 0)
        assert np.all(np.linalg.norm(np.cross(b - a, c - a), axis=1) > 0.0), part.name


@pytest.mark.parametrize("name", ALL)
def test_vehicle_is_a_small_mesh_with_unique_part_names(name: str) -> None:
    shape = drawn(name)
    assert sum(len(part.mesh.triangles) for part in shape.parts) < 3000
    assert len({part.name for part in shape.parts}) == len(shape.parts)
    for part in shape.parts:
        assert part.mesh.vertices.dtype == np.float32 and part.mesh.triangles.dtype == np.int32
        assert np.all(np.isfinite(part.mesh.vertices))
        if part.motion is not None:
            assert math.isclose(math.hypot(*part.motion.axis_frd), 1.0, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("mesh", "volume"),
    [
        (box((0.2, 0.3, 0.4), (1.0, 2.0, 3.0)), 0.024),
        # A prism over a regular octagon.
        (rod((0, 0, 0), (0, 2, 0), 0.5), 2.0 * 0.25 * 0.5 * 8 * math.sin(math.pi / 4)),
        (hoop((0, 0, 0), (1, 0, 0), 0.5, 0.25, 1.0, 8), (0.25 - 0.0625) * 0.5 * 8 * math.sin(math.pi / 4)),
    ],
)
def test_solid_has_the_volume_of_its_dimensions(mesh: Mesh, volume: float) -> None:
    assert mesh.volume == pytest.approx(volume, rel=1e-5)  # of float32


def test_mirrored_part_faces_outward() -> None:
    wing = panel([((0.0, 0.1, 0.0), 0.3, 0.03), ((0.0, 1.0, 0.0), 0.2, 0.02)])
    assert wing.mirrored().volume == pytest.approx(wing.volume, rel=1e-5)
    both = merged([wing, wing.mirrored()])
    assert both.vertices[:, 1].min() == -both.vertices[:, 1].max()


def test_every_shape_except_the_dart_is_used_by_a_vehicle() -> None:
    offered = {name for _, model in physics_models() for name in model.APPEARANCES}
    assert {one.appearance for one in ALL.values()} == offered - {"dart"}


def test_dart_needs_no_physics_and_other_shapes_name_their_requirements() -> None:
    assert appearance("dart").parts
    with pytest.raises(ParameterError, match=r"inverted_v_tail given, .*no parameter 'wing_c'"):
        appearance("inverted_v_tail")
    with pytest.raises(ParameterError, match=r"multirotor given, .*parameter .* is missing"):
        appearance("multirotor")


@pytest.mark.parametrize("name", [name for name, one in ALL.items() if one.appearance == "multirotor"])
def test_rotors_match_physics_positions_and_spin_against_their_torque(name: str) -> None:
    given = physics_of(ALL[name])
    values = MULTIROTOR_PARAMETERS.checked({k: v for k, v in given.items() if k in MULTIROTOR_PARAMETERS})
    shape, level = drawn(name), np.eye(19)[3]
    assert len([part for part in shape.parts if part.motion]) == len(ALL[name].actuators) == given["num_rotors"]
    for rotor in range(len(ALL[name].actuators)):
        throttles = np.eye(len(ALL[name].actuators))[rotor]
        wrench = Multirotor(values).steady_wrench(level, np.zeros(3), throttles)
        part = named(shape, f"rotor {rotor + 1}")
        assert part.motion is not None and part.motion.outputs == {rotor: 1.0}
        # The moment of a thrust along -z about the centre: roll -y T, pitch x T.
        x, y = wrench[4] / -wrench[2], wrench[3] / wrench[2]
        assert part.pivot_frd[:2] == pytest.approx((x, y), abs=1e-9)
        spin = part.motion.gain * part.motion.axis_frd[2]
        assert spin * wrench[5] < 0.0
        reach = np.linalg.norm((placed(part) - np.array(part.pivot_frd))[:, :2], axis=1).max()
        assert 2.0 * reach == pytest.approx(given["D_prop"], rel=0.02)  # a tip has a width


def test_propeller_pushes_air_backwards() -> None:
    for spin in ((0.0, 0.0, 1.0), (0.0, 0.0, -1.0)):
        blade = propeller(1.0, (0.0, 0.0, -1.0), spin)
        corners = blade.vertices[-16:].astype(np.float64)
        ahead = np.cross(spin, corners)
        middle = corners[:4].mean(axis=0)
        leading = corners[int(np.argmax((corners[:4] - middle) @ ahead[:4].mean(axis=0)))]
        assert (leading - middle)[2] < 0.0


@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_inverted_v_tail_surfaces_move_with_the_mixer(name: str) -> None:
    shape = drawn(name)
    # Roll right: the right aileron up, the left one down (z is down).
    assert trailing_edge_moves(named(shape, "right aileron"), 1.0)[2] < -0.01
    assert trailing_edge_moves(named(shape, "left aileron"), 1.0)[2] > 0.01
    moving = MovingParts(shape)
    names = [part.name for part in shape.parts]
    # ROSflight's mixer: elevator -0.5 and 0.5, rudder 0.5 and 0.5, on outputs 1 and 2.
    for pwm, axis, sign in ((pulses({1: -0.5, 2: 0.5}), 2, 1.0), (pulses({1: 0.5, 2: 0.5}), 1, -1.0)):
        moving.move(pwm, 0.02)
        for tail in ("left tail", "right tail"):
            part, angle = named(shape, tail), moving.angles[names.index(tail)]
            assert part.motion is not None
            assert sign * trailing_edge_moves(part, angle / part.motion.gain)[axis] > 0.005


def test_standard_tail_surfaces_move_with_their_own_outputs() -> None:
    shape = drawn("fixedwing-jsbsim")
    assert trailing_edge_moves(named(shape, "elevator"), 1.0)[2] > 0.01
    assert trailing_edge_moves(named(shape, "rudder"), 1.0)[1] < -0.01


def test_other_flight_controller_mix_moves_the_same_surfaces() -> None:
    mix = {
        "aileron_mix": [1.0],
        "elevator_mix": [0.0, -1.0],
        "throttle_mix": [0.0, 0.0, 1.0],
        "rudder_mix": [0.0, 0.0, 0.0, -1.0],
    }
    shape = drawn("anaconda", mix)
    outputs = {part.name: part.motion.outputs for part in shape.parts if part.motion is not None}
    assert outputs["left tail"] == {1: 0.5, 3: -0.5}
    assert outputs["right tail"] == {1: -0.5, 3: -0.5}
    assert outputs["propeller"] == {2: 1.0}


@pytest.mark.parametrize("name", ["auv", "bluerov2"])
def test_thrusters_are_inside_the_hull_and_spin_both_ways(name: str) -> None:
    shape = drawn(name)
    turning = [part for part in shape.parts if part.motion is not None]
    assert len(turning) == len(vehicle(name).actuators)
    size = physics_of(vehicle(name))["hull_size"]
    for part in turning:
        assert part.motion is not None
        assert np.all(np.abs(part.pivot_frd) <= 0.5 * np.array(size) + 0.02)
        (output,) = part.motion.outputs
        assert part.motion.command(pulses({output: -1.0})) == -1.0
        assert part.motion.command([0.0] * 14) == 0.0


@pytest.mark.parametrize(
    ("name", "size"), [("multirotor", None), ("anaconda", 2.08), ("aerosonde", 2.8956), ("fixedwing-jsbsim", 10.9)]
)
def test_vehicle_size_matches_its_parameters(name: str, size: float | None) -> None:
    # Of the multirotor: from one blade's tip to the other's, as the blades stand.
    assert drawn(name).size == pytest.approx(size or 0.6, abs=ROUNDING if size else 0.2)


def test_rotors_keep_spinning_and_surfaces_move_to_their_angle() -> None:
    shape = drawn("anaconda")
    moving = MovingParts(shape)
    names = [part.name for part in shape.parts]
    pwm = pulses({0: 0.5, 4: 1.0})
    for _ in range(3):
        moving.move(pwm, 0.01)
    propeller_part = named(shape, "propeller")
    assert propeller_part.motion is not None
    assert moving.angles[names.index("propeller")] == pytest.approx(0.03 * propeller_part.motion.gain, abs=1e-12)
    assert moving.angles[names.index("left aileron")] == pytest.approx(math.radians(20.0), abs=1e-12)
    assert moving.angles[names.index("fuselage")] == 0.0


def test_unknown_name_is_rejected_with_known_names() -> None:
    with pytest.raises(ParameterError, match="'zeppelin' given; allowed: dart, multirotor"):
        appearance("zeppelin")
