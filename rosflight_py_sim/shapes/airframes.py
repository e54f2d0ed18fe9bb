"""Shapes of aircraft: multirotors, fixed wings, and a dart for vehicles without a shape.

`physics` contains the parameters of the vehicle's forces, moments and dynamics; `values` those of the viewer's node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rosflight_py_sim.ground.parameters import Values, number
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, rotor_geometry
from rosflight_py_sim.shapes.drawn_parts import ROTOR_SPEED, DrawnPart, Motion, Vector
from rosflight_py_sim.shapes.meshes import Mesh, box, flap, loft, merged, panel, propeller, rod, spindle

Outputs: TypeAlias = dict[int, float]
Commands: TypeAlias = dict[str, Outputs]

BODY, DARK, ACCENT, PROPELLER, TRIM = (214, 218, 222), (46, 50, 56), (240, 120, 20), (30, 32, 36), (52, 112, 186)

# An arm counts as front or rear if its end is ahead of or behind the centre by this share of its length.
_ASIDE = 1e-6

INVERTED_V_TAIL: Commands = {
    "aileron": {0: 1.0},
    "elevator": {1: -1.0, 2: 1.0},
    "rudder": {1: 1.0, 2: 1.0},
    "throttle": {4: 1.0},
}
"""Weights of the outputs in the commands of surfaces and motor: the inverse of ROSflight's mixer of that name."""

ONE_OUTPUT_EACH: Commands = {"aileron": {0: 1.0}, "elevator": {1: 1.0}, "rudder": {2: 1.0}, "throttle": {4: 1.0}}


def contact_points(physics: Values) -> list[Vector]:
    """Ground contact points of the vehicle, body axes, m."""
    given = np.array(physics["contact_points"], dtype=np.float64).reshape(-1, 3)
    return [(x, y, z) for x, y, z in given.tolist()]


def rotor(name: str, pivot: Vector, diameter: float, thrust: Vector, spin: Vector, outputs: Outputs) -> DrawnPart:
    """A propeller with its motor."""
    motion = Motion("rotor", spin, ROTOR_SPEED, outputs, is_motor=True)
    return DrawnPart(name, propeller(diameter, thrust, spin), PROPELLER, pivot, motion)


def dart(physics: Values, values: Values) -> list[DrawnPart]:
    """A paper dart of half a metre, blue with an orange nose, keel down."""
    tail = np.array([(0.0, -0.2, 0.0), (0.0, 0.0, -0.015), (0.0, 0.2, 0.0), (0.0, 0.0, 0.07)])
    rings = [share * tail + (0.3 - 0.5 * share, 0.0, 0.0) for share in (0.01, 0.3, 1.0)]
    return [DrawnPart("nose", loft(rings[:2]), ACCENT), DrawnPart("wings", loft(rings[1:]), TRIM)]


def multirotor(physics: Values, values: Values) -> list[DrawnPart]:
    """Arms to the rotors, and skids at the ground contact points; front arms are orange."""
    known = {name: value for name, value in physics.items() if name in MULTIROTOR_PARAMETERS}
    rotors = rotor_geometry(MULTIROTOR_PARAMETERS.checked(known))
    diameter = number(physics, "D_prop")
    reach = float(np.max(np.linalg.norm(rotors[:, :3], axis=1)))
    size = 0.36 * reach
    centre = [(0.0, 0.55), (0.25, 0.9), (0.6, 1.0), (1.0, 0.7)]
    parts = [
        DrawnPart(
            "body", spindle((0, 0, -0.3 * size), (0, 0, 0.6 * size), [(s, r * size) for s, r in centre], 8), BODY
        ),
        DrawnPart("battery", box((1.5 * size, 0.6 * size, 0.35 * size), (0.0, 0.0, 0.7 * size)), DARK),
        DrawnPart("nose", rod((0.9 * size, 0, 0), (1.25 * size, 0, 0), 0.16 * size, end_radius=0.1 * size), ACCENT),
    ]
    ahead: list[Mesh] = []
    behind: list[Mesh] = []
    motors: list[Mesh] = []
    turning: list[DrawnPart] = []
    for index, row in enumerate(rotors):
        place, thrust, direction = row[0:3], row[3:6], float(row[6])
        (ahead if place[0] > _ASIDE * reach else behind).append(
            rod(0.5 * size * place / reach, place, 0.09 * size, sides=6)
        )
        motors.append(rod(place - 0.14 * size * thrust, place + 0.3 * size * thrust, 0.2 * size))
        pivot, axis, spin = (tuple(v.tolist()) for v in (place + 0.38 * size * thrust, thrust, -direction * thrust))
        turning.append(rotor(f"rotor {index + 1}", pivot, diameter, axis, spin, {index: 1.0}))
    feet = [point for point in contact_points(physics) if point[2] > 0.0]
    legs = [rod((0.55 * x, 0.55 * y, 0.0), (x, y, z - 0.05 * size), 0.05 * size, sides=6) for x, y, z in feet]
    pieces = (
        ("front arms", ahead, ACCENT),
        ("rear arms", behind, DARK),
        ("motors", motors, DARK),
        ("legs", legs, DARK),
    )
    return [*parts, *(DrawnPart(name, merged(some), colour) for name, some, colour in pieces if some), *turning]


@dataclass(frozen=True)
class FixedWingShape:
    """Dimensions of a fixed wing, m.

    Attributes:
        span, chord: dimensions of the wing, whose quarter-chord line is above the centre of mass.
        nose_x, tail_x: x of the aircraft's ends.
        wing_z: height of the wing, positive down.
        width: of the fuselage.
        boom_y: distance of two tail booms from the plane of symmetry; 0: the fuselage carries the tail.
        wheels: ground contact points of the wheels.
        propeller: diameter of the propeller.
        is_pusher: whether the propeller is behind the wing, or in the nose.
        deflection: deflection of a surface at full command, rad.
        commands: default weights of the outputs.
    """

    span: float
    chord: float
    nose_x: float
    tail_x: float
    wing_z: float
    width: float
    boom_y: float
    wheels: tuple[Vector, ...]
    propeller: float
    is_pusher: bool
    deflection: float
    commands: Commands


def inverted_v_tail(physics: Values, values: Values) -> list[DrawnPart]:
    """A fixed wing with a pusher propeller, twin booms and an inverted V-tail."""
    return _fixedwing(_shape_of(physics), values)


def high_wing(physics: Values, values: Values) -> list[DrawnPart]:
    """A high wing with its propeller in the nose and the dimensions of a Cessna 172 (Cessna 172P manual, 1982)."""
    wheels = ((-0.5, 1.27, 1.25), (-0.5, -1.27, 1.25), (1.2, 0.0, 1.25))
    measures = FixedWingShape(
        10.9, 1.49, 2.1, -5.9, -0.75, 1.0, 0.0, wheels, 1.9, False, math.radians(20.0), ONE_OUTPUT_EACH
    )
    return _fixedwing(measures, values)


def _shape_of(physics: Values) -> FixedWingShape:
    points, chord = contact_points(physics), number(physics, "wing_c")
    rolling = len(np.atleast_1d(physics["contact_rolling_friction"]))
    tail = min(points)
    return FixedWingShape(
        span=number(physics, "wing_b"),
        chord=chord,
        nose_x=max(points[rolling:])[0],
        tail_x=tail[0],
        wing_z=min(point[2] for point in points),
        width=0.65 * chord,
        boom_y=abs(tail[1]),
        wheels=tuple(points[:rolling]),
        propeller=number(physics, "D_prop"),
        is_pusher=True,
        deflection=math.radians(number(physics, "max_aileron_deflection_angle")),
        commands=INVERTED_V_TAIL,
    )


def _commands(own: Commands, values: Values) -> Commands:
    """Weights of the outputs: those of SURFACE_MIX_PARAMETERS if any is given, else the vehicle's own."""
    mixes = {name: values.get(f"{name}_mix", []) for name in own}
    if not any(mixes.values()):
        return own
    return {
        name: {output: float(weight) for output, weight in enumerate(mix) if weight}  # type: ignore[arg-type]
        for name, mix in mixes.items()
    }


def _fixedwing(shape: FixedWingShape, values: Values) -> list[DrawnPart]:
    commands = _commands(shape.commands, values)
    return [*_fuselage(shape), *_wing(shape, commands), *_tail(shape, commands), _engine(shape, commands)]


def _surface(name: str, mesh: Mesh, axis: Vector, pivot: Vector, shape: FixedWingShape, outputs: Outputs) -> DrawnPart:
    return DrawnPart(name, mesh, ACCENT, pivot, Motion("surface", axis, shape.deflection, outputs, is_motor=False))


def _fuselage(shape: FixedWingShape) -> list[DrawnPart]:
    radius = 0.5 * shape.width
    # A pusher's fuselage ends ahead of the propeller, behind the wing.
    end = -1.1 * shape.chord if shape.is_pusher else shape.tail_x
    profile = [(0.0, 0.25), (0.08, 0.62), (0.25, 1.0), (0.6, 1.0), (1.0, 0.45 if shape.is_pusher else 0.15)]
    middle = shape.wing_z + radius
    body = spindle((shape.nose_x, 0, middle), (end, 0, middle), [(s, r * radius) for s, r in profile])
    parts = [DrawnPart("fuselage", body, BODY)]
    # Behind the engine, if there is one, and ahead of the wing.
    glass_x = shape.nose_x - (0.3 if shape.is_pusher else 0.17) * (shape.nose_x - end)
    glass = box((1.3 * radius, 1.1 * radius, 0.8 * radius), (glass_x, 0.0, middle - 0.62 * radius))
    parts.append(DrawnPart("canopy", glass, TRIM))
    if shape.boom_y:
        booms = [
            rod((-0.3 * shape.chord, side, shape.wing_z), (shape.tail_x, side, shape.wing_z), 0.12 * radius, sides=6)
            for side in (-shape.boom_y, shape.boom_y)
        ]
        parts.append(DrawnPart("booms", merged(booms), DARK))
    wheel = 0.16 * shape.width
    legs = []
    for x, y, z in shape.wheels:
        legs.append(rod((x, 0.25 * y, middle), (x, y, z - wheel), 0.25 * wheel, sides=6))
        legs.append(rod((x, y - 0.35 * wheel, z - wheel), (x, y + 0.35 * wheel, z - wheel), wheel, sides=10))
    parts.append(DrawnPart("wheels", merged(legs), DARK))
    return parts


def _wing(shape: FixedWingShape, commands: Commands) -> list[DrawnPart]:
    half, chord, z = 0.5 * shape.span, shape.chord, shape.wing_z
    ahead, thickness = 0.25 * chord, 0.12 * chord
    hinge = ahead - 0.75 * chord
    inner, outer = 0.55 * half, 0.95 * half
    # The whole chord except at an aileron.
    whole = panel([((ahead, y, z), chord, thickness) for y in (-inner, inner)])
    short = panel([((ahead, y, z), 0.75 * chord, thickness) for y in (inner, outer)])
    tip = panel([((ahead, outer, z), chord, thickness), ((ahead, half, z), 0.9 * chord, 0.6 * thickness)])
    wing = merged([whole, short, short.mirrored(), tip, tip.mirrored()])
    right = flap([((0.0, y - inner, 0.0), 0.25 * chord, 0.5 * thickness) for y in (inner, outer)])
    roll = commands["aileron"]
    # A positive aileron command rolls right: the right surface turns up, about -y, the left one down, about +y.
    return [
        DrawnPart("wing", wing, BODY),
        _surface("right aileron", right, (0.0, -1.0, 0.0), (hinge, inner, z), shape, roll),
        _surface("left aileron", right.mirrored(), (0.0, 1.0, 0.0), (hinge, -inner, z), shape, roll),
    ]


def _tail(shape: FixedWingShape, commands: Commands) -> list[DrawnPart]:
    return _inverted_v_tail(shape, commands) if shape.boom_y else _standard_tail(shape, commands)


def _inverted_v_tail(shape: FixedWingShape, commands: Commands) -> list[DrawnPart]:
    """Two panels from the booms up to the plane of symmetry, each with a surface behind it."""
    chord, foot, x = 0.8 * shape.chord, shape.boom_y, shape.tail_x + 0.8 * shape.chord
    top, low = shape.wing_z - 0.75 * foot, shape.wing_z
    along = np.array([0.0, -foot, top - low]) / math.hypot(foot, top - low)
    length = math.hypot(foot, top - low)
    normal = np.array([0.0, -along[2], along[1]])
    thickness, fixed = 0.09 * chord, 0.65 * chord
    right = panel([((x, foot, low), fixed, thickness), ((x, 0.0, top), fixed, thickness)], normal)
    moving = flap([(share * length * along, 0.35 * chord, 0.6 * thickness) for share in (0.02, 0.97)], normal)
    hinge = x - fixed
    elevator, rudder = commands["elevator"], commands["rudder"]
    parts = [DrawnPart("tail", merged([right, right.mirrored()]), BODY)]
    # A positive elevator moves both trailing edges down, a positive rudder both to the left. For the right panel, which
    # leans to the left, both have the same sign; for the left panel, opposite signs.
    for name, side, mesh in (("right tail", 1.0, moving), ("left tail", -1.0, moving.mirrored())):
        outputs = {k: 0.5 * (side * elevator.get(k, 0.0) + rudder.get(k, 0.0)) for k in {*elevator, *rudder}}
        axis = (0.0, -side * float(along[1]), -float(along[2]))
        outputs = {output: weight for output, weight in outputs.items() if weight}
        parts.append(_surface(name, mesh, axis, (hinge, side * foot, low), shape, outputs))
    return parts


def _standard_tail(shape: FixedWingShape, commands: Commands) -> list[DrawnPart]:
    chord, half, x = 0.75 * shape.chord, 0.16 * shape.span, shape.tail_x + 0.75 * shape.chord
    z = shape.wing_z + 0.5 * shape.width
    top, thickness = z - 1.1 * shape.chord, 0.08 * chord
    plane = panel([((x, y, z), 0.6 * chord, thickness) for y in (-half, half)])
    fin = panel([((x + 0.3 * chord, 0, z), 0.9 * chord, thickness), ((x, 0, top), 0.6 * chord, thickness)], (0, 1, 0))
    hinge = x - 0.6 * chord
    elevator = flap([((0.0, y, 0.0), 0.4 * chord, 0.6 * thickness) for y in (-half, half)])
    rudder = flap([((0.0, 0.0, height - z), 0.4 * chord, 0.6 * thickness) for height in (z, top)], (0, 1, 0))
    # A positive elevator moves the trailing edge down, a positive rudder to the left.
    return [
        DrawnPart("tail", merged([plane, fin]), BODY),
        _surface("elevator", elevator, (0.0, 1.0, 0.0), (hinge, 0.0, z), shape, commands["elevator"]),
        _surface("rudder", rudder, (0.0, 0.0, 1.0), (hinge, 0.0, z), shape, commands["rudder"]),
    ]


def _engine(shape: FixedWingShape, commands: Commands) -> DrawnPart:
    middle = shape.wing_z + 0.5 * shape.width
    x = -1.15 * shape.chord if shape.is_pusher else shape.nose_x + 0.02 * shape.propeller
    ahead = (1.0, 0.0, 0.0)
    return rotor("propeller", (x, 0.0, middle), shape.propeller, ahead, ahead, commands["throttle"])
