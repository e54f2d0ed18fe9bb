"""Forces and moments: the part that turns actuator commands and air flow into a wrench."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from struct import Struct
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from std_srvs.srv import Trigger

from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.shared_parameters import ROTATIONAL_GUSTS
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.parts.actuated_physics import ActuatedPhysics
from rosflight_py_sim.step.ports import service, synchronized
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topics import (
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    BatterySample,
    PulseWidths,
    WindRates,
    WindSample,
    Wrench,
    new_message,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

# In less than half the time of an assignment to a slice.
_write: Callable[..., None] = Struct("3d").pack_into
_write_pulses: Callable[..., None] = Struct(f"{OUTPUTS}d").pack_into


class ForcesAndMoments(ActuatedPhysics):
    """Answers each sim/pwm_output with sim/forces_and_moments.

    Offers forces_and_moments/reset, which resets rotors, surfaces and battery to their initial state and makes the
    last answer stale. So does setting a state, because the wrench of the old state may have caused the fault.

    Attributes:
        time_ns: stamp of the outputs that are being answered, ns; -1 before the first.
        wind_rates: angular velocity of the air at the vehicle, body axes, rad/s (3,); zero without rotational gusts.
        firmware_parameters: as in ActuatedPhysics.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.FORCES_AND_MOMENTS
    DEFAULT_NAME: ClassVar[str] = "forces_and_moments"

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._state = VehicleState()
        self._wind_ned = np.zeros(3)
        self.time_ns = -1
        self.wind_rates = np.zeros(3)
        self._wrench = Wrench(-1, (), ())

    @abstractmethod
    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        """Wrench on the vehicle, gravity and contact excluded.

        Args:
            state: truth state of the vehicle; the default state, without a stamp, before the first has arrived.
            wind_ned: velocity of the air over the ground, NED, m/s (3,).
            pwm_us: pulse width of each output of the flight controller, us (14,), in force from the state's time on.
            dt: time since the previous call, s; 0 in the first.

        Returns:
            Force (N) and moment (N m) in body axes (6,).
        """

    def start_over(self) -> None:
        """Reset the model to its initial state; does nothing by default, for a model without a state."""

    def publish_battery(self, time_ns: int, voltage: float, current: float) -> bool:
        """Publish the true battery state (V, A) on sim/truth_battery when it is due; return whether it was."""
        if not self.battery_schedule.due(time_ns):
            return False
        self.send_battery(new_message(BatterySample, (time_ns, voltage, current)))
        return True

    @synchronized(TRUTH_WIND)
    def _on_wind(self, wind: WindSample) -> None:
        _, (north, east, down) = wind
        _write(self._wind_ned, 0, north, east, down)

    @synchronized(TRUTH_STATE, renews=True)
    def _on_truth(self, state: VehicleState) -> None:
        self._state = state

    @synchronized(TRUTH_WIND_RATES, when="has_rotational_gusts")
    def _on_wind_rates(self, wind: WindRates) -> None:
        _, (p, q, r) = wind
        _write(self.wind_rates, 0, p, q, r)

    def has_rotational_gusts(self) -> bool:
        """Whether the parameter `rotational_gusts` is true."""
        return bool(self.values[ROTATIONAL_GUSTS.name])

    def answer(self, time_ns: int, content: PulseWidths) -> None:
        """Send the wrench."""
        self.time_ns = time_ns
        _, pulse_us = content
        _write_pulses(self._pwm_us, 0, *pulse_us)
        if self.has_failures:
            self._failed_outputs.apply(time_ns, self._pwm_us)
        elapsed_ns = time_ns - self.answered_ns
        if self.answered_ns < 0 or not 0 < elapsed_ns <= LONGEST_STEP_NS:
            elapsed_ns = 0
        numbers = self.update_forces_and_torques(
            self._state, self._wind_ned, self._pwm_us, elapsed_ns / NANOSECONDS
        ).tolist()
        wrench = self._wrench = new_message(Wrench, (time_ns, numbers[:3], numbers[3:]))
        self.send_wrench(wrench)

    def answer_again(self, time_ns: int) -> None:
        """Send the last wrench."""
        self.send_wrench(self._wrench)

    @service(Trigger, "forces_and_moments/reset")
    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.start_over()
        self.make_stale()
        response.success = True
        response.message = "rotors, surfaces and battery are as at the start"
        return response
