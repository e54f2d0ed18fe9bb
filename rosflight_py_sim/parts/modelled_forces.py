"""Forces and moments of a vehicle that is a model in physics/."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Failure
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.parameters import ParameterError, Value, Values, number
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import Cell, Cells, ChainLink, Due, StepTime, Taken, counted, gate, keeps
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.single import single
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments
from rosflight_py_sim.physics.battery import Battery, BatteryPowered
from rosflight_py_sim.physics.surface_mix import take_pulses
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.numbers import cell_of
from rosflight_py_sim.step.ports import output
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    FORCES_AND_MOMENTS,
    PWM_OUTPUT,
    TRUTH_BATTERY,
    TRUTH_ROTOR_SPEEDS,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    BatterySample,
    Outputs,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

# State of charge at which a pilot should land, and at which the vehicle should no longer be in the air.
_LOW_CHARGE, _NO_CHARGE = 0.2, 0.05


class VehicleModel(Protocol):
    """A vehicle with actuators and a battery."""

    @property
    def battery_voltage(self) -> float:
        """Voltage at the battery's terminals (V)."""

    @property
    def current_a(self) -> float:
        """Current drawn from the battery (A)."""

    @property
    def charge_drawn_ah(self) -> float:
        """Charge drawn from the battery so far (A h); 0 for one that never empties."""

    @property
    def outputs(self) -> int:
        """Number of the flight controller's outputs, from the first, that may drive an actuator."""

    @property
    def rotor_speeds(self) -> NDArray[np.float64]:
        """Speed of each rotor (n,), rad/s; none of a vehicle whose model has no rotor speeds."""

    def update(
        self,
        truth: NDArray[np.float64],
        wind_ned: NDArray[np.float64],
        pwm_us: NDArray[np.float64],
        dt: float,
        wind_rates: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Advance actuators and battery by `dt` seconds under the last outputs; return the wrench (6,), N and N m.

        `pwm_us` is in force from now on: only an actuator without lag shows it in this wrench.
        """

    def lose_cells(self, count: int, full_voltage: float) -> None:
        """Short-circuit cells of the battery, whose voltage is `full_voltage` (V) when it is full."""

    def adopt(self, other: Any) -> None:
        """Take over the state of another model of the same class."""


class CompiledModel(VehicleModel, Protocol):
    """A vehicle whose `update` is one kernel."""

    @property
    def wrench(self) -> NDArray[np.float64]:
        """Last wrench (6,), N and N m; each update overwrites the array."""

    def bound_update(
        self,
        truth: NDArray[np.float64],
        wind_ned: NDArray[np.float64],
        pwm_us: NDArray[np.float64],
        dt: float,
        wind_rates: NDArray[np.float64],
    ) -> Callable[[], None]:
        """`update` for steps of `dt` as one kernel, which works on the arrays by their memory."""


def _is_compiled(model: VehicleModel) -> TypeGuard[CompiledModel]:
    return hasattr(model, "bound_update") and keeps(type(model), "bound_update", "update")


def rotor_speed_message(model: VehicleModel, time_ns: int) -> Outputs:
    """The speeds of a model's rotors, as published."""
    speeds = model.rotor_speeds.tolist()
    return Outputs(time_ns, speeds + [0.0] * (OUTPUTS - len(speeds)))


def _wrench_message(wrench: NDArray[np.float64], time_ns: int) -> Wrench:
    numbers = wrench.tolist()
    return Wrench(time_ns, numbers[:3], numbers[3:])


@kernel
def sample_battery(
    time: StepTime,
    battery: Battery,
    rotor_speeds: NDArray[np.float64],
    sent: Due,
    power: NDArray[np.float64],
    speeds: NDArray[np.float64],
) -> None:
    """Write the numbers of sim/truth_battery and sim/truth_rotor_speeds, and their stamp, as messages carry them."""
    sent.at_ns = time.time_ns
    power[0], power[1] = single(battery.voltage), single(battery.current)
    for i in range(len(rotor_speeds)):
        speeds[i] = single(rotor_speeds[i])


Model = TypeVar("Model", bound=VehicleModel)


class ModelledForces(ForcesAndMoments, Generic[Model]):
    """Forces and moments of a `VehicleModel`, which a derived class builds from the parameters.

    A change of parameters rebuilds the model, which takes over the state of the old one.

    Class attributes:
        ACTUATORS: kinds of actuators on the outputs, which can fail.
    """

    ACTUATORS: ClassVar[tuple[str, ...]] = ("motor", "servo")
    FALLIBLE: ClassVar[tuple[str, ...]] = (*ForcesAndMoments.FALLIBLE, "cell")
    REPLACED: ClassVar[tuple[str, ...]] = ("answer", "run", "update_forces_and_torques", "publish_battery")

    send_rotor_speeds = output(TRUTH_ROTOR_SPEEDS)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._model: Model | None = None
        self._cells_lost = 0
        # Voltage and current of the last message, and its stamp.
        self._power, self._power_ns = np.zeros(2), -1

    @classmethod
    @abstractmethod
    def build(cls, values: dict[str, Value]) -> Model:
        """Build the model in its initial state.

        Raises:
            ParameterError: the values do not fit together.
        """

    @property
    def model(self) -> Model:
        """The model; available after the first `configure`."""
        assert self._model is not None
        return self._model

    def configure(self, values: dict[str, Value]) -> None:
        """Rebuild the model; it takes over the state of the old one."""
        model = self.build(values)
        if self._model is not None:
            model.adopt(self._model)
        self._lose_cells(model, values)
        self._model = model

    def fail(self, signals: Signals) -> None:
        """Let outputs and cells fail."""
        super().fail(signals)
        cells = signals.get(("cell", 0))
        self._cells_lost = len(cells.effects) if cells else 0
        self._lose_cells(self.model, self.values)

    @classmethod
    def match_mixer(cls, model: Model, values: Values, mixer: Mapping[str, float]) -> str:
        """Match the model's actuators to the flight controller's mixer parameters; return a warning, empty for none.

        By default each output of the flight controller drives one actuator.
        """
        return ""

    def check_failure(self, failure: Failure) -> None:
        """Refuse a motor or servo that the vehicle does not have."""
        self.check_actuator(failure, self.model.outputs)

    @classmethod
    def check_actuator(cls, failure: Failure, outputs: int) -> None:
        """Refuse a motor or servo that a vehicle with so many outputs does not have.

        Raises:
            ParameterError: the vehicle has no such part.
        """
        if failure.number > outputs or (failure.number and failure.target not in cls.ACTUATORS):
            raise ParameterError(
                f"failure '{failure.text}': {failure.target} {failure.number} given; allowed for this vehicle: "
                f"{' or '.join(cls.ACTUATORS)} 1 to {outputs}"
            )

    def _lose_cells(self, model: Model, values: dict[str, Value]) -> None:
        model.lose_cells(self._cells_lost, number(values, "V_max"))

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        """Compute the wrench, and publish battery and rotor speeds when they are due."""
        model, schedule = self._model, self.battery_schedule
        assert model is not None
        wrench = model.update(state.truth, wind_ned, pwm_us, dt, self.wind_rates)
        # Voltage and current are computed only for a message that is due.
        if not schedule.since_ns <= self.time_ns < schedule.next_ns:
            self._send_battery()
        return wrench

    def _send_battery(self) -> None:
        model, time_ns = self.model, self.time_ns
        if not self.publish_battery(time_ns, model.battery_voltage, model.current_a):
            return
        self._power[0], self._power[1], self._power_ns = single(model.battery_voltage), single(model.current_a), time_ns
        if len(model.rotor_speeds):
            self.send_rotor_speeds(rotor_speed_message(model, time_ns))

    # Compiled answers.

    def cells(self) -> Cells:
        """The wrench, if the model has a kernel for it."""
        model = self.model
        if not _is_compiled(model):
            return {}
        wrench = model.wrench
        return cell_of(FORCES_AND_MOMENTS, wrench, partial(_wrench_message, wrench))

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Compute the wrench in the chain; None if model or air have no kernel."""
        model, turns = self.model, self.has_rotational_gusts()
        is_missing = turns and TRUTH_WIND_RATES.name not in cells
        if is_missing or not _is_compiled(model):
            return None
        pulse_us, pwm_us = cells[PWM_OUTPUT.name].memory, self._pwm_us
        truth, wind = cells[TRUTH_STATE.name].memory, cells[TRUTH_WIND.name].memory
        rates = cells[TRUTH_WIND_RATES.name].memory if turns else self.wind_rates

        def leave(answered_ns: int) -> None:
            self.time_ns, self._wrench = answered_ns, _wrench_message(model.wrench, answered_ns)

        return (
            ChainLink(bound(take_pulses, pulse_us, pwm_us), leave=leave),
            ChainLink(model.bound_update(truth, wind, pwm_us, time.step_ns / NANOSECONDS, rates)),
            *self._battery_links(time, taken),
        )

    def _battery_links(self, time: StepTime, taken: Taken) -> Sequence[ChainLink]:
        """Send battery and rotor speeds when they are due, by Python if a receiver needs messages."""
        model: VehicleModel = self.model
        schedule = self.battery_schedule
        battery = Due(at_ns=schedule.next_ns)

        def send_battery(time_ns: int) -> None:
            if not schedule.since_ns <= time_ns < schedule.next_ns:
                self.time_ns = time_ns
                self._send_battery()
            battery.at_ns = schedule.next_ns

        by_python = gate(time, battery, send_battery)
        if not isinstance(model, BatteryPowered) or not keeps(type(model), "battery", "battery_voltage", "current_a"):
            return (by_python,)
        speeds, power, sent = np.zeros(OUTPUTS), self._power, Due(at_ns=self._power_ns)

        def sample(time_ns: int) -> BatterySample:
            return BatterySample(time_ns, *power.tolist())

        turning = Cell(speeds, lambda time_ns: Outputs(time_ns, speeds.tolist()), fields={"values": [speeds]})
        turned = taken(TRUTH_ROTOR_SPEEDS.name, speeds, cell=turning) if len(model.rotor_speeds) else ()
        if turned is None:
            return (by_python,)
        fields = {"voltage": [power[0:1]], "current": [power[1:2]]}
        newest = Cell(power, sample, lambda: max(self._power_ns, sent.at_ns), fields)
        charged = taken(TRUTH_BATTERY.name, power, newest)
        if charged is None:
            return (by_python,)

        def leave(answered_ns: int) -> None:
            self._power_ns = max(self._power_ns, sent.at_ns)

        sampled = bound(sample_battery, time, model.battery, model.rotor_speeds, sent, power, speeds)
        unsent = [counted(partial(self.count_unsent, "send_battery"))]
        if len(model.rotor_speeds):
            unsent.append(counted(partial(self.count_unsent, "send_rotor_speeds")))
        return schedule.links(time, (ChainLink(sampled), *charged, *turned, *unsent), send_battery, leave)

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """State of charge of the battery."""
        model = self.model
        values: dict[str, object] = {"voltage (V)": model.battery_voltage, "current (A)": model.current_a}
        yield Diagnosis("", "running")
        capacity_ah = number(self.values, "battery_capacity_mah") * 1e-3
        if capacity_ah == 0.0:
            yield Diagnosis("battery", "never empties", values=values)
            return
        charge = 1.0 - model.charge_drawn_ah / capacity_ah
        level = Level.ERROR if charge < _NO_CHARGE else Level.WARN if charge < _LOW_CHARGE else Level.OK
        yield Diagnosis("battery", f"{charge:.0%} full", level, values=values | {"state of charge": charge})

    def start_over(self) -> None:
        """Reset the model: actuators at rest, battery full."""
        self._model = self.build(self.values)
        self._lose_cells(self._model, self.values)

    def get_firmware_parameters(self) -> None:
        """Match the model to the mixer."""
        warning = self.match_mixer(self.model, self.values, self.firmware_parameters)
        if warning:
            self.log.warning(warning)
