"""Abstract part of a physics model that the outputs of the flight controller move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.failures.outputs import FailedOutputs
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.firmware.parameter_table import mixer_parameter_names
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, number
from rosflight_py_sim.ground.pulse_width import LOW_US, OUTPUTS
from rosflight_py_sim.ground.shared_parameters import ROTATIONAL_GUSTS, SEED, TIME_MODE
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import FirmwareReading, output, trigger
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import FORCES_AND_MOMENTS, PWM_OUTPUT, TRUTH_BATTERY
from rosflight_py_sim.vehicles.physics_model import PhysicsModel

_PARAMETERS = ParameterTable(
    TIME_MODE,
    Parameter(
        "truth_battery_frequency",
        50.0,
        "Rate at which the true state of battery and rotors is published",
        "Hz",
        minimum=0.1,
        maximum=1000.0,
        read_only=True,
    ),
    SEED,
    ROTATIONAL_GUSTS,
    FAILURES,
)


class ActuatedPhysics(PhysicsModel, Part, ABC):
    """Answers each sim/pwm_output with sim/forces_and_moments, and sends sim/truth_battery when it is due.

    Attributes:
        firmware_parameters: mixer parameters read from the flight controller; set before each call of
            `get_firmware_parameters`, at the start and after each change of parameters.
    """

    PARAMETERS: ClassVar[ParameterTable] = _PARAMETERS
    FALLIBLE: ClassVar[tuple[str, ...]] = ("motor", "servo")

    send_wrench = output(FORCES_AND_MOMENTS)
    send_battery = output(TRUTH_BATTERY)
    pulse_widths = trigger(PWM_OUTPUT, needed=True)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._pwm_us = np.full(OUTPUTS, float(LOW_US))
        self._failed_outputs = FailedOutputs()
        self.firmware_parameters: dict[str, float] = {}

    @abstractmethod
    def get_firmware_parameters(self) -> None:
        """Read the parameters that the model needs from `firmware_parameters`."""

    def fail(self, signals: Signals) -> None:
        """Let outputs fail."""
        super().fail(signals)
        self._failed_outputs = FailedOutputs(signals)

    @cached_property
    def battery_schedule(self) -> Schedule:
        """Due times of sim/truth_battery."""
        return Schedule(number(self.values, "truth_battery_frequency"))

    @FirmwareReading(mixer_parameter_names())
    def _on_firmware_parameters(self, values: dict[str, float]) -> None:
        self.firmware_parameters = values
        self.get_firmware_parameters()
