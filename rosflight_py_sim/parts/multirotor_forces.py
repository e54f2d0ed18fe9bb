"""Forces and moments of a multirotor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from rosflight_py_sim.autopilot.multirotor_target_controller import MultirotorTargetController
from rosflight_py_sim.autopilot.target_controller import TargetController
from rosflight_py_sim.ground.parameters import ParameterTable, Value, Values, number
from rosflight_py_sim.ground.pulse_width import MOTOR, pulse_of
from rosflight_py_sim.ground.remembered import remembered
from rosflight_py_sim.ground.shared_parameters import DOWNWASH, GRAVITY, MASS, STARTS_IN_FLIGHT
from rosflight_py_sim.kernels.chain import Cells, ChainLink, StepTime, Taken
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments
from rosflight_py_sim.parts.modelled_forces import ModelledForces
from rosflight_py_sim.physics.downwash import JET
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.steady_model import Array, ModelInput, SteadyModel, SteadyVehicle
from rosflight_py_sim.shapes.airframes import multirotor
from rosflight_py_sim.step.ports import output
from rosflight_py_sim.step.topics import ROTOR_JET, NamedNumbers
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles.physics_model import Shape


class MultirotorForces(ModelledForces[Multirotor]):
    """Forces and moments of a multirotor: motors, propellers, drag, ground effect (Beard and McLain, chapter 14).

    With the parameter `downwash`, each wrench is preceded by the jet of the rotors that exert it.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("multirotor_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = (
        ForcesAndMoments.PARAMETERS
        + MULTIROTOR_PARAMETERS
        + ParameterTable(
            DOWNWASH,
            STARTS_IN_FLIGHT,
            MASS.overridden("used only to start in flight", required=False),
            GRAVITY,
        )
    )
    ACTUATORS: ClassVar[tuple[str, ...]] = ("motor",)
    APPEARANCES: ClassVar[Mapping[str, Shape]] = {**ForcesAndMoments.APPEARANCES, "multirotor": multirotor}
    SHAPE_PARAMETERS: ClassVar[ParameterTable] = MULTIROTOR_PARAMETERS + ParameterTable(
        DYNAMICS_PARAMETERS["contact_points"]
    )
    CONTROL_LOOPS: ClassVar[type[TargetController] | None] = MultirotorTargetController

    send_jet = output(ROTOR_JET, when="has_downwash")

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._jet = NamedNumbers(-1, JET, (0.0,) * len(JET))

    def has_downwash(self) -> bool:
        """Whether the parameter `downwash` is true."""
        return bool(self.values[DOWNWASH.name])

    def update_forces_and_torques(self, state: VehicleState, wind_ned: Array, pwm_us: Array, dt: float) -> Array:
        """Compute the wrench, and publish the jet, and battery and rotor speeds when they are due."""
        wrench = super().update_forces_and_torques(state, wind_ned, pwm_us, dt)
        if self.has_downwash():
            self._jet = NamedNumbers(self.time_ns, JET, self.model.jet(state.truth))
            self.send_jet(self._jet)
        return wrench

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Compute the wrench in the chain; None also with the parameter `downwash`."""
        return None if self.has_downwash() else super().links(time, cells, taken)

    def answer_again(self, time_ns: int) -> None:
        """Send the last wrench and jet."""
        self.send_jet(self._jet)
        super().answer_again(time_ns)

    @classmethod
    def build(cls, values: dict[str, Value]) -> Multirotor:
        """Build the vehicle, rotors at rest or at the speed of hover."""
        vehicle = Multirotor(values)
        if values[STARTS_IN_FLIGHT.name]:
            vehicle.hover(_hover_throttle(values))
        return vehicle

    @classmethod
    def steady(cls, values: Values, dynamics: Values, firmware_file: Path) -> SteadyVehicle:
        """The inputs are the throttles of the motors, each driven by the output with its number."""
        vehicle = Multirotor(values)
        motors = [ModelInput(f"motor {i}", 0.0, 1.0, 0.5) for i in range(len(vehicle.rotor_speeds))]
        still_air = np.zeros(3)

        def wrench(truth: Array, inputs: Array) -> Array:
            return vehicle.steady_wrench(truth, still_air, inputs)

        def pulse_widths(inputs: Array) -> dict[int, float]:
            return {output: pulse_of(float(throttle), MOTOR) for output, throttle in enumerate(inputs)}

        return SteadyVehicle(SteadyModel(dynamics, motors, wrench), pulse_widths)


@remembered
def _hover_throttle(values: Values) -> float:
    return Multirotor(values).hover_throttle(number(values, MASS.name) * number(values, GRAVITY.name))
