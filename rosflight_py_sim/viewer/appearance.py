"""What the vehicles look like: parts of triangles, some of which turn with the outputs of the flight controller.

Sizes come from the vehicles' parameter files, so that a propeller is where the physics has it. Nothing here knows ROS
or a way of drawing.
"""

from __future__ import annotations

from collections.abc import Callable

from rosflight_py_sim.parameters import Parameter, Values
from rosflight_py_sim.viewer.airframes import aerosonde, anaconda, cessna, dart, multirotor
from rosflight_py_sim.viewer.hulls import auv, bluerov2
from rosflight_py_sim.viewer.parts import Appearance, Motion, MovingParts, Part, part_attitude

__all__ = ["APPEARANCE", "Appearance", "Motion", "MovingParts", "Part", "appearance", "part_attitude"]

_BUILDERS: dict[str, Callable[[Values], list[Part]]] = {
    "dart": dart,
    "multirotor": multirotor,
    "anaconda": anaconda,
    "aerosonde": aerosonde,
    "cessna": cessna,
    "auv": auv,
    "bluerov2": bluerov2,
}

APPEARANCE = Parameter(
    "appearance",
    "dart",
    "What the vehicle looks like; a dart shows where it is and how it is turned, and nothing of its outputs",
    choices=tuple(_BUILDERS),
    read_only=True,
)


def appearance(name: str, values: Values | None = None) -> Appearance:
    """What the vehicle of that name looks like.

    Args:
        name: one of APPEARANCE's choices.
        values: which outputs move the surfaces (SURFACE_MIX_PARAMETERS), where it is not the vehicle's own flight
            controller that moves them.

    Raises:
        ParameterError: there is none of that name.
    """
    return Appearance(name, tuple(_BUILDERS[str(APPEARANCE.checked(name))](values or {})))
