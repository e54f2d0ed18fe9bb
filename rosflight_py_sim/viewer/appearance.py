"""Appearance of vehicles: coloured meshes, some of which move with the flight controller's outputs.

Sizes come from the vehicle's physics parameters, so that a propeller is drawn where the physics places it. Independent
of ROS and of any renderer.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from rosflight_py_sim.parameters import Parameter, ParameterError, Values
from rosflight_py_sim.vehicles.vehicle import DEFAULT_SHAPE, SHAPES
from rosflight_py_sim.viewer.parts import Appearance, Motion, MovingParts, Part, part_attitude

__all__ = ["APPEARANCE", "Appearance", "Motion", "MovingParts", "Part", "appearance", "part_attitude"]

APPEARANCE = Parameter(
    "appearance",
    DEFAULT_SHAPE,
    "Shape of the vehicle, sized by the parameters of forces_and_moments and dynamics; a dart has "
    "no such sizes, and shows only position and attitude",
    choices=tuple(SHAPES),
    read_only=True,
)


def appearance(shape: str, physics: Values | None = None, values: Values | None = None) -> Appearance:
    """Appearance of a vehicle with this shape.

    Args:
        shape: one of APPEARANCE's choices.
        physics: parameters of the vehicle's forces, moments and dynamics.
        values: outputs that move the surfaces (SURFACE_MIX_PARAMETERS), for a flight controller other than the
        vehicle's own.

    Raises:
        ParameterError: there is no such shape, or a physics parameter that it needs is missing.
    """
    module = import_module(f"rosflight_py_sim.viewer.{SHAPES[str(APPEARANCE.checked(shape))]}")
    build: Callable[[Values, Values], list[Part]] = getattr(module, shape)
    try:
        return Appearance(shape, tuple(build(physics or {}, values or {})))
    except (KeyError, ParameterError) as error:
        reason = f"there is no parameter {error}" if isinstance(error, KeyError) else str(error)
        raise ParameterError(
            f"parameter '{APPEARANCE.name}': {shape} given, which takes its size from parameters of forces_and_moments "
            f"and dynamics: {reason}"
        ) from error
