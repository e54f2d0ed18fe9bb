"""Appearance of vehicles: the parameter, and the shape that a physics model has under a name.

Sizes come from the vehicle's physics parameters, so that a propeller is drawn where the physics places it. Independent
of ROS and of any renderer.
"""

from __future__ import annotations

from rosflight_py_sim.ground.parameters import Parameter, Values
from rosflight_py_sim.shapes.drawn_parts import Appearance, DrawnPart, Motion, MovingParts, part_attitude
from rosflight_py_sim.vehicles.physics_model import model_with_appearance
from rosflight_py_sim.vehicles.vehicle import DEFAULT_SHAPE

__all__ = ["APPEARANCE", "Appearance", "DrawnPart", "Motion", "MovingParts", "appearance", "part_attitude"]

APPEARANCE = Parameter(
    "appearance",
    DEFAULT_SHAPE,
    "Shape of the vehicle, by a name that a physics model offers; sized by the parameters of forces_and_moments and "
    "dynamics; a dart has no such sizes, and shows only position and attitude",
    read_only=True,
)


def appearance(shape: str, physics: Values | None = None, values: Values | None = None) -> Appearance:
    """Appearance of a vehicle with this shape; the arguments are those of `PhysicsModel.shape`.

    Raises:
        ParameterError: there is no such shape, or a physics parameter that it needs is missing.
    """
    return model_with_appearance(shape).shape(shape, physics or {}, values or {})
