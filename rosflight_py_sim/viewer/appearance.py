"""What the vehicles look like: parts of triangles, some of which turn with the outputs of the flight controller.

Sizes come from the vehicle's own physics parameters, so that a propeller is where the physics has it. Nothing here
knows ROS or a way of drawing.
"""

from __future__ import annotations

from collections.abc import Callable

from rosflight_py_sim.parameters import Parameter, ParameterError, Values
from rosflight_py_sim.vehicles.vehicle import DEFAULT_SHAPE, SHAPES
from rosflight_py_sim.viewer.airframes import dart, high_wing, inverted_v_tail, multirotor
from rosflight_py_sim.viewer.hulls import open_frame, plated_frame
from rosflight_py_sim.viewer.parts import Appearance, Motion, MovingParts, Part, part_attitude

__all__ = ["APPEARANCE", "Appearance", "Motion", "MovingParts", "Part", "appearance", "part_attitude"]

_BUILDERS: dict[str, Callable[[Values, Values], list[Part]]] = {
    "dart": dart,
    "multirotor": multirotor,
    "inverted_v_tail": inverted_v_tail,
    "high_wing": high_wing,
    "open_frame": open_frame,
    "plated_frame": plated_frame,
}

APPEARANCE = Parameter(
    "appearance",
    DEFAULT_SHAPE,
    "Shape of the vehicle, with the sizes that the parameters of forces_and_moments and dynamics give it; a dart has "
    "none of them and shows where the vehicle is and how it is turned",
    choices=SHAPES,
    read_only=True,
)


def appearance(shape: str, physics: Values | None = None, values: Values | None = None) -> Appearance:
    """What a vehicle of that shape looks like.

    Args:
        shape: one of APPEARANCE's choices.
        physics: parameters of the vehicle's forces, moments and dynamics.
        values: which outputs move the surfaces (SURFACE_MIX_PARAMETERS), where it is not the vehicle's own flight
            controller that moves them.

    Raises:
        ParameterError: there is no such shape, or the physics lacks a parameter that it needs.
    """
    build = _BUILDERS[str(APPEARANCE.checked(shape))]
    try:
        return Appearance(shape, tuple(build(physics or {}, values or {})))
    except (KeyError, ParameterError) as error:
        reason = f"there is no parameter {error}" if isinstance(error, KeyError) else str(error)
        raise ParameterError(
            f"parameter '{APPEARANCE.name}': {shape} given, whose sizes come from the parameters of forces_and_moments "
            f"and dynamics: {reason}"
        ) from error
