"""Shapes, trim model, control loops and class of a vehicle, which its physics model defines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from rosflight_py_sim.autopilot.target_controller import TargetController
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.registry import node_names, registered_node
from rosflight_py_sim.physics.steady_model import SteadyVehicle
from rosflight_py_sim.shapes.airframes import dart
from rosflight_py_sim.shapes.drawn_parts import Appearance, DrawnPart
from rosflight_py_sim.vehicles.vehicle import Vehicle


class VehicleClass(Enum):
    """Source of a vehicle's lift, which selects the figures and words that describe its flight."""

    ROTORCRAFT = auto()
    FIXED_WING = auto()
    UNDERWATER = auto()


Shape: TypeAlias = Callable[[Values, Values], Sequence[DrawnPart]]
"""Function of the parameters of forces_and_moments and dynamics, and of those of the node that draws."""


class PhysicsModel:
    """Base class of parts that compute the forces on a vehicle: forces and moments, or a whole flight model.

    Class attributes:
        APPEARANCES: shapes by name, as in the key `appearance` of a vehicle file.
        SHAPE_PARAMETERS: parameters of forces_and_moments and dynamics on which the shapes depend.
        VEHICLE_CLASS: class of the vehicle.
        CONTROL_LOOPS: target controller that suits the vehicle; None if there is none.
    """

    APPEARANCES: ClassVar[Mapping[str, Shape]] = {"dart": dart}
    SHAPE_PARAMETERS: ClassVar[ParameterTable] = ParameterTable()
    VEHICLE_CLASS: ClassVar[VehicleClass] = VehicleClass.ROTORCRAFT
    CONTROL_LOOPS: ClassVar[type[TargetController] | None] = None

    @classmethod
    def shape(cls, name: str, physics: Values, values: Values) -> Appearance:
        """Appearance of a vehicle with one of the shapes.

        Args:
            name: one of APPEARANCES.
            physics: values of SHAPE_PARAMETERS, if they differ from the defaults; others are ignored.
            values: outputs that move the surfaces (SURFACE_MIX_PARAMETERS), for a flight controller other than the
                vehicle's own.

        Raises:
            ParameterError: a parameter that the shape needs is missing.
        """
        known = {one.name: one.default for one in cls.SHAPE_PARAMETERS if not one.required}
        try:
            return Appearance(name, tuple(cls.APPEARANCES[name]({**known, **physics}, values)))
        except (KeyError, ParameterError) as error:
            reason = f"there is no parameter {error}" if isinstance(error, KeyError) else str(error)
            raise ParameterError(
                f"parameter 'appearance': {name} given, which takes its size from parameters of forces_and_moments "
                f"and dynamics: {reason}"
            ) from error

    @classmethod
    def steady(cls, values: Values, dynamics: Values, firmware_file: Path) -> SteadyVehicle:
        """Model of the vehicle for trim and linearisation.

        Args:
            values: values of the part's parameters.
            dynamics: values of DYNAMICS_PARAMETERS.
            firmware_file: the flight controller's parameters, whose mixer gives the pulse widths.

        Raises:
            NotImplementedError: the physics has no steady model, as by default.
        """
        raise NotImplementedError

    @classmethod
    def is_steady(cls) -> bool:
        """Whether a derived class implements `steady`."""
        return cls.steady.__func__ is not PhysicsModel.steady.__func__  # type: ignore[attr-defined]


def physics_node(vehicle: Vehicle) -> str:
    """Executable of the node that computes the forces on a vehicle: its dynamics if that is a whole flight model.

    Raises:
        ParameterError: the dynamics cannot be loaded.
    """
    dynamics = registered_node(vehicle.dynamics)
    return vehicle.dynamics if issubclass(dynamics, PhysicsModel) else vehicle.forces_and_moments


def vehicle_class(vehicle: Vehicle) -> VehicleClass:
    """Class of a vehicle.

    Raises:
        ParameterError: its physics cannot be loaded.
    """
    model: type[PhysicsModel] = registered_node(physics_node(vehicle))
    return model.VEHICLE_CLASS


def physics_models(*first: str) -> Iterator[tuple[str, Any]]:
    """Names and classes of the registered physics models that can be loaded, the nodes named by `first` first."""
    yielded: set[str] = set()
    for kind in (None, NodeKind.FORCES_AND_MOMENTS, NodeKind.DYNAMICS):
        for name in first if kind is None else node_names(kind):
            with contextlib.suppress(ParameterError):
                model = registered_node(name)
                if name not in yielded and isinstance(model, type) and issubclass(model, PhysicsModel):
                    yielded.add(name)
                    yield name, model


def appearances(*first: str) -> Iterator[tuple[str, type[PhysicsModel]]]:
    """Names of shapes and the physics models that define them; `first` as in `physics_models`.

    Each model is loaded only when the iteration reaches it.
    """
    return ((name, model) for _, model in physics_models(*first) for name in model.APPEARANCES)


def model_with_appearance(name: str) -> type[PhysicsModel]:
    """The first physics model with a shape of this name.

    Raises:
        ParameterError: there is none.
    """
    for one, model in appearances():
        if one == name:
            return model
    names = ", ".join(dict.fromkeys(one for one, _ in appearances()))
    raise ParameterError(f"parameter 'appearance': '{name}' given; allowed: {names}")


def control_loops() -> dict[str, type[TargetController]]:
    """Target controllers of the registered physics models, by their names.

    Those whose name or parameters contradict earlier ones are left out, so that only their use is an error.
    """
    found: dict[str, type[TargetController]] = {}
    table = ParameterTable()
    for loops in (model.CONTROL_LOOPS for _, model in physics_models()):
        if loops is not None and loops.NAME not in found:
            with contextlib.suppress(ValueError):
                table += loops.PARAMETERS
                found[loops.NAME] = loops
    return found
