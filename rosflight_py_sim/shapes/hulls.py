"""Shapes of underwater vehicles."""

from __future__ import annotations

import numpy as np

from rosflight_py_sim.ground.parameters import Values, number
from rosflight_py_sim.physics.thrusters import AXIS, PLACE, THRUSTER_PARAMETERS, thruster_numbers
from rosflight_py_sim.shapes.airframes import DARK, PROPELLER
from rosflight_py_sim.shapes.drawn_parts import ROTOR_SPEED, DrawnPart, Motion
from rosflight_py_sim.shapes.meshes import Mesh, box, hoop, merged, propeller, rod, spindle

YELLOW, BLUE, GLASS, METAL = (250, 200, 20), (20, 90, 190), (150, 200, 220), (150, 156, 164)


def open_frame(physics: Values, values: Values) -> list[DrawnPart]:
    """An open frame of bars with a pressure tube for electronics and one for the batteries."""
    length, width, height = np.array(physics["hull_size"], dtype=np.float64).tolist()
    bar = 0.025 * length
    x, y, z = 0.5 * length - bar, 0.5 * width - bar, 0.5 * height - bar
    corners = [(a, b) for a in (-1, 1) for b in (-1, 1)]
    bars = [rod((-x, b * y, c * z), (x, b * y, c * z), bar, sides=6) for b, c in corners]
    bars += [rod((a * x, -y, c * z), (a * x, y, c * z), bar, sides=6) for a, c in corners]
    bars += [rod((a * x, b * y, -z), (a * x, b * y, z), bar, sides=6) for a, b in corners]
    tube, floor = 0.34 * width, 0.28 * width
    return [
        DrawnPart("frame", merged(bars), YELLOW),
        *_tube("electronics", -0.9 * x, 0.8 * x, -z + 1.2 * tube, tube),
        DrawnPart("batteries", rod((-0.7 * x, 0, z - 1.1 * floor), (0.7 * x, 0, z - 1.1 * floor), floor, 12), METAL),
        *_thrusters(physics),
    ]


def plated_frame(physics: Values, values: Values) -> list[DrawnPart]:
    """Two side plates, floats on top, a tube with a front dome, and one for the batteries."""
    length, width, height = np.array(physics["hull_size"], dtype=np.float64).tolist()
    x, y, z = 0.5 * length, 0.5 * width, 0.5 * height
    plate = 0.04 * width
    plates = [box((length, plate, 1.45 * z), (0.0, side * 0.66 * y, 0.175 * z)) for side in (-1.0, 1.0)]
    plates.append(box((0.9 * length, 1.32 * y, 0.4 * plate), (0.0, 0.0, 0.75 * z)))
    skids = [box((length, 1.6 * plate, 0.1 * z), (0.0, side * 0.66 * y, 0.95 * z)) for side in (-1.0, 1.0)]
    floats = [
        box((0.42 * length, 0.6 * y, 0.42 * z), (a * 0.5 * x, b * 0.56 * y, -0.76 * z))
        for a in (-1, 1)
        for b in (-1, 1)
    ]
    return [
        DrawnPart("frame", merged([*plates, *skids]), DARK),
        DrawnPart("floats", merged(floats), BLUE),
        *_tube("electronics", -0.75 * x, 0.72 * x, -0.35 * z, 0.2 * y),
        DrawnPart("batteries", rod((-0.6 * x, 0, 0.5 * z), (0.6 * x, 0, 0.5 * z), 0.14 * y, 12), METAL),
        *_thrusters(physics),
    ]


def _tube(name: str, back: float, front: float, z: float, radius: float) -> list[DrawnPart]:
    dome = [(0.0, 0.98 * radius), (0.5, 0.86 * radius), (0.8, 0.6 * radius), (1.0, 0.2 * radius)]
    return [
        DrawnPart(name, rod((back, 0.0, z), (front, 0.0, z), radius, 12), METAL),
        DrawnPart(f"{name} dome", spindle((front, 0.0, z), (front + 0.8 * radius, 0.0, z), dome), GLASS),
    ]


def _thrusters(physics: Values) -> list[DrawnPart]:
    """Ducts, and propellers that turn with the outputs of their numbers."""
    numbers = thruster_numbers(
        THRUSTER_PARAMETERS.checked({name: value for name, value in physics.items() if name in THRUSTER_PARAMETERS})
    )
    diameter = number(physics, "thruster_diameter")
    radius = 0.5 * diameter
    ducts: list[Mesh] = []
    turning: list[DrawnPart] = []
    for index, row in enumerate(numbers):
        place, along = row[PLACE : PLACE + 3], row[AXIS : AXIS + 3]
        ducts.append(hoop(place, along, 1.25 * radius, 1.08 * radius, 0.9 * radius))
        motor = place - 0.9 * radius * along
        ducts.append(
            spindle(
                place - 0.15 * radius * along, motor, [(0.0, 0.3 * radius), (0.5, 0.3 * radius), (1.0, 0.1 * radius)]
            )
        )
        across = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
        strut = across / np.linalg.norm(across) * 1.16 * radius
        ducts.append(rod(motor - 0.2 * (motor - place) - strut, motor - 0.2 * (motor - place) + strut, 0.1 * radius, 6))
        axis = (float(along[0]), float(along[1]), float(along[2]))
        motion = Motion("rotor", axis, ROTOR_SPEED, {index: 1.0}, is_motor=False)
        pivot = (float(place[0]), float(place[1]), float(place[2]))
        turning.append(
            DrawnPart(f"propeller {index + 1}", propeller(diameter, axis, axis, blades=3), PROPELLER, pivot, motion)
        )
    return [DrawnPart("thrusters", merged(ducts), DARK), *turning]
