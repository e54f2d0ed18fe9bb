"""Forces and moments of a fixed wing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from rosflight_py_sim.autopilot.fixedwing_target_controller import FixedwingTargetController
from rosflight_py_sim.autopilot.target_controller import TargetController
from rosflight_py_sim.firmware.canned_mixers import MixerChoice, canned_mixer
from rosflight_py_sim.firmware.command import FX, QX, QY, QZ
from rosflight_py_sim.firmware.mixed_outputs import mixed_pulse_widths
from rosflight_py_sim.firmware.parameter_table import MIXER_ROWS
from rosflight_py_sim.firmware.unmixing import THROTTLE_ROW, unmixer, unmixer_of_parameters
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value, Values, number
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments
from rosflight_py_sim.parts.modelled_forces import ModelledForces
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, SURFACES, FixedWing
from rosflight_py_sim.physics.steady_model import Array, ModelInput, SteadyModel, SteadyVehicle
from rosflight_py_sim.physics.surface_mix import SURFACE_MIX_PARAMETERS, mixer_of_values
from rosflight_py_sim.shapes.airframes import inverted_v_tail
from rosflight_py_sim.vehicles.physics_model import Shape, VehicleClass

DEFAULT_MIXER = Parameter(
    "default_mixer",
    int(MixerChoice.FIXED_WING),
    "Mixer that the aircraft is built for, until the flight controller's PRIMARY_MIXER has been read: 9 (standard) or "
    "10 (inverted V-tail)",
    minimum=int(MixerChoice.FIXED_WING),
    maximum=int(MixerChoice.INVERTED_V_TAIL),
    read_only=True,
)


class FixedwingForces(ModelledForces[FixedWing]):
    """Forces and moments of a fixed wing: airframe, servos, propeller, battery (Beard and McLain, chapter 4)."""

    ALIASES: ClassVar[tuple[str, ...]] = ("fixedwing_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = (
        ForcesAndMoments.PARAMETERS + ParameterTable(DEFAULT_MIXER) + SURFACE_MIX_PARAMETERS + FIXEDWING_PARAMETERS
    )
    APPEARANCES: ClassVar[Mapping[str, Shape]] = {**ForcesAndMoments.APPEARANCES, "inverted_v_tail": inverted_v_tail}
    SHAPE_PARAMETERS: ClassVar[ParameterTable] = FIXEDWING_PARAMETERS + ParameterTable(
        DYNAMICS_PARAMETERS["contact_points"], DYNAMICS_PARAMETERS["contact_rolling_friction"]
    )
    VEHICLE_CLASS: ClassVar[VehicleClass] = VehicleClass.FIXED_WING
    CONTROL_LOOPS: ClassVar[type[TargetController] | None] = FixedwingTargetController

    @classmethod
    def build(cls, values: dict[str, Value]) -> FixedWing:
        """Build the vehicle, surfaces centred, with the mixer of its own parameters or the default mixer."""
        vehicle = FixedWing(values)
        mixer = mixer_of_values(values)
        if mixer is None:
            canned = canned_mixer(MixerChoice(int(number(values, "default_mixer"))))
            mixer = unmixer(canned.matrix, np.array(canned.types, dtype=np.float64))
        vehicle.set_mixer(mixer)
        return vehicle

    def start_over(self) -> None:
        """Centre the surfaces, stop the propeller and fill the battery; the mixer is kept."""
        mixer = self.model.mixer
        super().start_over()
        self.model.set_mixer(mixer)

    @classmethod
    def match_mixer(cls, model: FixedWing, values: Values, mixer: Mapping[str, float]) -> str:
        """Set the mixing of the surfaces from the primary mixer, unless the vehicle's own parameters define it."""
        if mixer_of_values(values) is not None:
            return ""
        try:
            matrix = unmixer_of_parameters(mixer)
        except KeyError as error:
            return f"the flight controller has no parameter {error}: the surfaces keep the previous mixer"
        model.set_mixer(matrix)
        if np.any(matrix[THROTTLE_ROW]):
            return ""
        choice = int(mixer.get("PRIMARY_MIXER", MixerChoice.NONE))
        return f"PRIMARY_MIXER {choice} gives a fixed wing no throttle (row Fx)"

    @classmethod
    def steady(cls, values: Values, dynamics: Values, firmware_file: Path) -> SteadyVehicle:
        """The inputs are the deflections of the surfaces (rad) and the throttle."""
        aircraft = FixedWing(values)
        limits = np.radians([number(values, f"max_{surface}_deflection_angle") for surface in SURFACES])
        still_air = np.zeros(3)

        def wrench(truth: Array, inputs: Array) -> Array:
            return aircraft.steady_wrench(truth, still_air, *(float(value) for value in inputs))

        def pulse_widths(inputs: Array) -> dict[int, float]:
            command = np.zeros(MIXER_ROWS)
            command[[QX, QY, QZ]] = inputs[:3] / limits
            command[FX] = inputs[3]
            return mixed_pulse_widths(command, firmware_file)

        surfaces = [
            ModelInput(name, -limit, limit, 0.0, is_angle=True) for name, limit in zip(SURFACES, limits, strict=True)
        ]
        throttle = ModelInput("throttle", 0.0, 1.0, 0.5)
        return SteadyVehicle(SteadyModel(dynamics, [*surfaces, throttle], wrench), pulse_widths)
