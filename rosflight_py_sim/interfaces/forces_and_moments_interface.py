"""Base class of forces and moments nodes, which turn actuator commands and air flow into a wrench."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.failures.outputs import FailedOutputs
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.interfaces.dynamics_interface import LONGEST_STEP_NS
from rosflight_py_sim.interfaces.fallible_node import FallibleNode
from rosflight_py_sim.interfaces.firmware_parameters import FirmwareParameterReader, mixer_parameter_names
from rosflight_py_sim.interfaces.simulation_node import TIME_MODE
from rosflight_py_sim.parameters import Parameter, ParameterTable, number
from rosflight_py_sim.pulse_width import LOW_US, OUTPUTS
from rosflight_py_sim.shared_parameters import ROTATIONAL_GUSTS, SEED
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.join import JoinRule, StepJoin
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import (
    FORCES_AND_MOMENTS,
    PARAMS_CHANGED,
    PWM_OUTPUT,
    TRUTH_BATTERY,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    BatterySample,
    PulseWidths,
    Wind,
    WindRates,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

FORCES_AND_MOMENTS_PARAMETERS = ParameterTable(
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


class ForcesAndMomentsInterface(FallibleNode, ABC):
    """Answers each sim/pwm_output with sim/forces_and_moments, by the rule of `StepJoin`.

    Offers forces_and_moments/reset, which resets rotors, surfaces and battery to their initial state and makes the
    last answer stale.

    Class attributes:
        JOIN: inputs of an answer; with the parameter rotational_gusts, sim/truth_wind_rates is another one. Setting a
            state makes the answer with its stamp stale, because the wrench of the old state may have caused the fault.

    Attributes:
        time_ns: stamp of the outputs that are being answered, ns; -1 before the first.
        wind_rates: angular velocity of the air at the vehicle, body axes, rad/s (3,); zero without rotational gusts.
        firmware_parameters: mixer parameters read from the flight controller; set before each call of
            `get_firmware_parameters`, at the start and after each change of parameters.
    """

    DEFAULT_NAME: ClassVar[str] = "forces_and_moments"
    PARAMETERS: ClassVar[ParameterTable] = FORCES_AND_MOMENTS_PARAMETERS
    FALLIBLE: ClassVar[tuple[str, ...]] = ("motor", "servo")
    JOIN: ClassVar[JoinRule] = JoinRule(
        PWM_OUTPUT.name, synchronized=(TRUTH_WIND.name, TRUTH_STATE.name), renewed_by=(TRUTH_STATE.name,)
    )

    def __init__(self, **arguments: Any) -> None:
        """Create topics, and start reading the flight controller's mixer."""
        self._state = VehicleState()
        self._wind_ned = np.zeros(3)
        self.time_ns = -1
        self.wind_rates = np.zeros(3)
        self._pwm_us = np.full(OUTPUTS, float(LOW_US))
        self._failed_outputs = FailedOutputs()
        self._wrench = Wrench(-1, (), ())
        self.firmware_parameters: dict[str, float] = {}
        super().__init__(**arguments)
        lockstep = self.values["time_mode"] == "lockstep"
        rule = self.join_rule
        self._join = StepJoin(rule, self._answer, self._answer_again, lockstep=lockstep)
        self._wind_arrived, self._state_arrived = map(self._join.input, self.JOIN.synchronized)
        self._send = self.publisher(FORCES_AND_MOMENTS)
        self._send_battery = self.publisher(TRUTH_BATTERY)
        self._battery_schedule = Schedule(number(self.values, "truth_battery_frequency"))
        self.follow_stamps()
        self.subscribe(TRUTH_WIND, self._on_wind, needed=True)
        if TRUTH_WIND_RATES.name in rule.synchronized:
            self._wind_rates_arrived = self._join.input(TRUTH_WIND_RATES.name)
            self.subscribe(TRUTH_WIND_RATES, self._on_wind_rates, needed=True)
        self.subscribe(TRUTH_STATE, self._on_truth, needed=True)
        self.subscribe(PWM_OUTPUT, self._on_pwm, needed=True)
        self._reader = FirmwareParameterReader(self, mixer_parameter_names(), self._on_firmware_parameters)
        self.subscribe(PARAMS_CHANGED, self._on_params_changed)
        self.create_service(Trigger, "forces_and_moments/reset", self._reset)

    @property
    def join_rule(self) -> JoinRule:
        """Inputs of an answer; read once, after the first `configure`."""
        if not self.values[ROTATIONAL_GUSTS.name]:
            return self.JOIN
        return self.JOIN._replace(synchronized=(*self.JOIN.synchronized, TRUTH_WIND_RATES.name))

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

    def awaited_services(self) -> Collection[str]:
        """The services of the flight controller, until its mixer has been read."""
        return self._reader.awaited_services()

    @abstractmethod
    def get_firmware_parameters(self) -> None:
        """Read the parameters that the model needs from `firmware_parameters`."""

    def fail(self, signals: Signals) -> None:
        """Let outputs fail."""
        self._failed_outputs = FailedOutputs(signals)

    def start_over(self) -> None:
        """Reset the model to its initial state; does nothing by default, for a model without a state."""

    def publish_battery(self, time_ns: int, voltage: float, current: float) -> bool:
        """Publish the true battery state (V, A) on sim/truth_battery when it is due; return whether it was."""
        if not self._battery_schedule.due(time_ns):
            return False
        self._send_battery(BatterySample(time_ns, voltage, current))
        return True

    def _on_truth(self, state: VehicleState) -> None:
        self._state = state
        self._state_arrived(state.time_ns)

    def _on_wind(self, wind: Wind) -> None:
        self._wind_ned[:] = wind.velocity_ned
        self._wind_arrived(wind.time_ns)

    def _on_wind_rates(self, wind: WindRates) -> None:
        self.wind_rates[:] = wind.rates
        self._wind_rates_arrived(wind.time_ns)

    def _on_pwm(self, pwm: PulseWidths) -> None:
        self._join.trigger(pwm.time_ns, pwm.pulse_us)

    def _answer(self, stamp_ns: int, pwm_us: Sequence[int]) -> None:
        self.time_ns = stamp_ns
        self.update_clock(stamp_ns)
        self._pwm_us[:] = pwm_us
        if self.has_failures:
            self.advance_failures(stamp_ns)
            self._failed_outputs.apply(stamp_ns, self._pwm_us)
        answered_ns = self._join.answered_ns
        elapsed_ns = stamp_ns - answered_ns
        if answered_ns < 0 or not 0 < elapsed_ns <= LONGEST_STEP_NS:
            elapsed_ns = 0
        wrench = self.update_forces_and_torques(self._state, self._wind_ned, self._pwm_us, elapsed_ns / NANOSECONDS)
        numbers = wrench.tolist()
        self._wrench = Wrench(stamp_ns, numbers[:3], numbers[3:])
        self._send(self._wrench)

    def _answer_again(self, stamp_ns: int) -> None:
        self._send(self._wrench)

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.start_over()
        self._join.make_stale()
        response.success = True
        response.message = "rotors, surfaces and battery are as at the start"
        return response

    def _on_params_changed(self, message: Bool) -> None:
        if message.data:
            self._reader.read()

    def _on_firmware_parameters(self, values: dict[str, float]) -> None:
        self.firmware_parameters = values
        self.get_firmware_parameters()
