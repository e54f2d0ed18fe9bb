"""Abstract part of a whole flight model: forces, moments and dynamics together."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import Failure
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.parts.actuated_physics import ActuatedPhysics
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.step.ports import service
from rosflight_py_sim.step.topics import BatterySample, PulseWidths, Wrench


class FlightModel(ActuatedPhysics, Truth):
    """Answers each sim/pwm_output with the truth state and the wind; also sends the wrench.

    The wrench stamped t is that of the state from which the outputs stamped t advance the model.

    For models that cannot be split into a wrench and a rigid body. A derived part replaces two parts of the step,
    forces_and_moments and dynamics.

    Attributes:
        firmware_parameters: as in ActuatedPhysics.
    """

    FILLS: ClassVar[tuple[str, ...]] = ("forces_and_moments",)
    FALLIBLE: ClassVar[tuple[str, ...]] = (*Truth.FALLIBLE, *ActuatedPhysics.FALLIBLE, "cell")

    def begin(self) -> None:
        """Send the initial state."""
        self._forces = self.compute_forces_and_torques().tolist()
        super().begin()

    @abstractmethod
    def fly(self, pwm_us: NDArray[np.float64], dt: float) -> None:
        """Advance the state.

        Args:
            pwm_us: pulse width of each output of the flight controller, us (14,), constant over `dt`.
            dt: s, greater than 0.

        Raises:
            StateDivergedError: the new state is not finite; the old one has been kept.
        """

    @abstractmethod
    def compute_forces_and_torques(self) -> NDArray[np.float64]:
        """Force (N) and moment (N m) on the vehicle in body axes, gravity and contact excluded, (6,)."""

    @abstractmethod
    def compute_battery(self) -> tuple[float, float]:
        """True voltage (V) and current (A) of the flight controller's supply."""

    def check_failure(self, failure: Failure) -> None:
        """Refuse the failure of a cell."""
        if failure.target == "cell":
            raise ParameterError(
                f"failure '{failure.text}': this vehicle's model has no battery; allowed: motor, servo"
            )

    def move(self, driver: PulseWidths, dt: float) -> None:
        """Advance the state under the outputs of the flight controller."""
        self._pwm_us[:] = driver.pulse_us
        if self.has_failures:
            self._failed_outputs.apply(driver.time_ns, self._pwm_us)
        # Before the step: the outputs have no effect on the wrench of their own instant.
        self._forces = self.compute_forces_and_torques().tolist()
        self.fly(self._pwm_us, dt)

    def send_forces(self, stamp_ns: int) -> None:
        """Send the wrench at the start of the step, with the outputs' stamp, and the battery when it is due."""
        self.send_wrench(Wrench(stamp_ns, self._forces[:3], self._forces[3:]))
        if self.battery_schedule.due(stamp_ns):
            self.send_battery(BatterySample(stamp_ns, *self.compute_battery()))

    @service(Trigger, "forces_and_moments/reset")
    def _reset_forces(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        response.message = "the flight model has no separate forces; dynamics/reset resets the whole model"
        return response
