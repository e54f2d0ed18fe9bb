"""Sensors, which turn truth into measurements."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from struct import Struct
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import FAILURES, Failure
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.delay_line import DelayLine
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Value, number
from rosflight_py_sim.ground.shared_parameters import SEED, START_DATE, TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import (
    NEVER_NS,
    Cell,
    Cells,
    ChainLink,
    Due,
    FieldArrays,
    StepTime,
    Taken,
    copy_numbers,
    counted,
    gate,
    keeps,
)
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.parts.readings import (
    AirspeedReading,
    BarometerReading,
    BatteryReading,
    GnssReading,
    ImuReading,
    MagReading,
    RangeReading,
    TemperatureReading,
)
from rosflight_py_sim.sensing import (
    BAROMETER,
    BATTERY_MONITOR,
    GNSS_RECEIVER,
    INERTIAL_SENSOR,
    MAGNETOMETER,
    PITOT_TUBE,
    RANGE_FINDER,
    SENSORS,
    THERMOMETER,
)
from rosflight_py_sim.sensing.inertial import UNKNOWN, InertialSensor
from rosflight_py_sim.sensing.sampling import Read, Sampling
from rosflight_py_sim.sensing.sensor import (
    FURTHER_SENSORS,
    SENSOR_STAMPS,
    TRUE_ERRORS_RATE,
    Sensor,
    SensorInputs,
    SensorModel,
)
from rosflight_py_sim.sensing.thermometer import Thermometer
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import drop, later, output, ports_of, synchronized, trigger
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import (
    CLOCK,
    IMU,
    STATUS,
    TRUTH_BATTERY,
    TRUTH_ERRORS,
    TRUTH_IMU_BIAS,
    TRUTH_ROTOR_SPEEDS,
    TRUTH_STATE,
    TRUTH_WIND,
    BatterySample,
    ImuBias,
    NamedNumbers,
    Outputs,
    StatusReport,
    WindSample,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

# In a fifth of the time that numpy takes to make an array of a list.
_write: Callable[..., None] = Struct("3d").pack_into


class Sensors(Part, ABC):
    """Samples every sensor at its rate and sends the measurements, the IMU last.

    The class declares the sensors (`Sensor`). A derived class declares further sensors in the same way: their
    parameters, failures and models follow from the declarations.

    The trigger is each /clock message in lockstep, and a timer at the IMU's rate in the other time modes. The answer is
    the IMU message, sent after those of the other sensors that are due. A repeated time gets no second answer: no stamp
    repeats, and a node that starts late receives the latched IMU message. Each `..._update` method reads one sensor;
    `dt` is the time since its previous reading, s.

    Attributes:
        power: newest true voltage (V) and current (A) of the battery (2,); not a number, and 0, before the first
            message.
        armed: whether the newest status reports armed; False until the first.
        rotor_speeds: newest true speed of each rotor from sim/truth_rotor_speeds, rad/s (14; 0 beyond the last);
            UNKNOWN before the first message.
        models: models of the sensors that no method of this class reads, by name.

    Each measurement is sent after the sensor's latency, stamped as `sensor_stamps` says; a state that is set and a
    clock that is set back drop those in transit. The IMU message of each step exists whatever its latency, because it
    triggers the step: it has the newest measurement that has arrived.

    In lockstep a status, battery state or rotor speed stamped t takes effect in the step after t, whether it arrives
    before or after that step's other messages.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.SENSORS
    DEFAULT_NAME: ClassVar[str] = "sensors"
    PARAMETERS: ClassVar[ParameterTable] = sum(
        (one.timing for one in SENSORS),
        ParameterTable(TIME_MODE, START_DATE, FAILURES, TRUE_ERRORS_RATE, SENSOR_STAMPS, FURTHER_SENSORS),
    )
    FALLIBLE: ClassVar[tuple[str, ...]] = tuple(name for one in SENSORS for name in one.failures)
    REPLACED: ClassVar[tuple[str, ...]] = ("answer", "run", "_on_battery", "_on_rotor_speeds")

    send_imu = INERTIAL_SENSOR
    send_gnss = GNSS_RECEIVER
    send_mag = MAGNETOMETER
    send_baro = BAROMETER
    send_diff_pressure = PITOT_TUBE
    send_range = RANGE_FINDER
    send_battery = BATTERY_MONITOR
    send_imu_temperature = THERMOMETER
    send_errors = output(TRUTH_ERRORS, lazy=True)
    send_imu_bias = output(TRUTH_IMU_BIAS, lazy=True)

    def __init_subclass__(cls, **options: Any) -> None:
        """Add the parameters and the failures of the sensors that the class declares.

        Raises:
            TypeError: two sensors have the same name.
        """
        outputs: dict[str, str] = {}
        for port in ports_of(cls):
            if isinstance(port, Sensor) and outputs.setdefault(port.sensor, port.name) != port.name:
                both = f"{outputs[port.sensor]} and {port.name}"
                raise TypeError(f"{cls.__name__}: {both} both declare the sensor '{port.sensor}'; allowed: one")
        for one in list(vars(cls).values()):
            if isinstance(one, Sensor):
                cls.FALLIBLE = (*cls.FALLIBLE, *one.failures)
                cls.PARAMETERS = cls.PARAMETERS + ParameterTable(SEED)
                if not one.optional:
                    cls.PARAMETERS = cls.PARAMETERS + one.timing + one.parameters
        super().__init_subclass__(**options)

    @classmethod
    def optional_sensors(cls) -> dict[str, Sensor[Any]]:
        """Sensors that only vehicles have whose parameter `further_sensors` names them, by name."""
        return {one.sensor: one for one in ports_of(cls) if isinstance(one, Sensor) and one.optional}

    @classmethod
    def table_for(cls, given: Mapping[str, Any]) -> ParameterTable:
        """The parameters, with those of the further sensors that the vehicle has.

        Raises:
            ParameterError: there is no such sensor, or it is named twice.
        """
        table = super().table_for(given)
        optional = cls.optional_sensors()
        names: Any = FURTHER_SENSORS.checked(given.get(FURTHER_SENSORS.name, []))
        for name in names:
            if name not in optional or names.count(name) > 1:
                allowed = f"{', '.join(optional)}, each once" if optional else "none"
                raise ParameterError(f"parameter '{FURTHER_SENSORS.name}': {names} given; allowed: {allowed}")
            table = table + optional[name].timing + optional[name].parameters
        return table

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self.armed = False
        self.power = np.array([math.nan, 0.0])
        self._wind_ned = np.zeros(3)
        self.rotor_speeds = UNKNOWN
        self.models: dict[str, Any] = {}
        self._state = VehicleState()

    def configure(self, values: dict[str, Value]) -> None:
        """Rebuild the models; they take over the error states of the old ones."""
        sensors = sorted(filter(self.has_model, self.ports(Sensor)), key=lambda one: one.stream)
        models = {one.sensor: one.built(values) for one in sensors}
        for name, old in self.models.items():
            models[name].adopt(old)
        self.models = models

    def begin(self) -> None:
        """Begin to sample."""
        self._samplings = [Sampling(self, one) for one in self.ports(Sensor)]
        (self._imu,) = [one for one in self._samplings if one.sensor.every_step]
        self._slow = [one for one in self._samplings if one is not self._imu]
        self._late = [one.line for one in self._slow if one.line is not None]
        self._errors_schedule = Schedule(number(self.values, TRUE_ERRORS_RATE.name))
        self._has_bias = self.send_imu_bias is not drop
        # Time from which on a sensor is due that is not read in every step, ns.
        self._slow_ns = 0
        self._bound: dict[str, Any] | None = None

    def has_model(self, sensor: Sensor[Any]) -> bool:
        """Whether a sensor has its model, besides or instead of a method of this class that reads it."""
        return not sensor.update

    def update_of(self, sensor: Sensor[Any]) -> Callable[[VehicleState, float], Any] | None:
        """The method of this class that reads a sensor; None: its model does."""
        update: Callable[[VehicleState, float], Any] | None = getattr(self, sensor.update) if sensor.update else None
        return update

    def _read_of(self, sensor: Sensor[Any]) -> Read:
        update = self.update_of(sensor)
        if update is None:
            return partial(self.models[sensor.sensor].read, self)

        def read(time_ns: int, state: VehicleState, dt: float) -> tuple[Any, ...]:
            reading = update(state, dt)
            fields: tuple[Any, ...] = reading.fields(self.start_ns + time_ns) if hasattr(reading, "fields") else reading
            return fields

        return read

    @abstractmethod
    def imu_update(self, state: VehicleState, dt: float) -> ImuReading:
        """Read accelerometer and gyroscope."""

    @abstractmethod
    def imu_temperature_update(self, state: VehicleState, dt: float) -> TemperatureReading:
        """Read the IMU's thermometer."""

    @abstractmethod
    def mag_update(self, state: VehicleState, dt: float) -> MagReading:
        """Read the magnetometer."""

    @abstractmethod
    def baro_update(self, state: VehicleState, dt: float) -> BarometerReading:
        """Read the barometer."""

    @abstractmethod
    def gnss_update(self, state: VehicleState, dt: float) -> GnssReading:
        """Read the GNSS receiver."""

    @abstractmethod
    def sonar_update(self, state: VehicleState, dt: float) -> RangeReading:
        """Read the range finder."""

    @abstractmethod
    def diff_pressure_update(self, state: VehicleState, dt: float) -> AirspeedReading:
        """Read the pitot tube."""

    @abstractmethod
    def battery_update(self, state: VehicleState, dt: float) -> BatteryReading:
        """Read the battery monitor."""

    def fail(self, signals: Signals) -> None:
        """Let sensors fail: their messages are changed, or left out."""
        for one in self._samplings:
            one.fail(signals)

    def check_failure(self, failure: Failure) -> None:
        """Refuse the failure of a sensor that the vehicle does not have."""
        having = [name for one in self.ports(Sensor) for name in one.failures]
        if failure.target not in having:
            raise ParameterError(
                f"failure '{failure.text}': {failure.target} given; allowed for this vehicle's sensors: "
                f"{', '.join(having)}"
            )

    @property
    def wind_ned(self) -> NDArray[np.float64]:
        """Velocity of the air over the ground, NED, m/s (3,); the next access overwrites the array."""
        _, (north, east, down) = self._wind
        _write(self._wind_ned, 0, north, east, down)
        return self._wind_ned

    def true_errors(self) -> Mapping[str, float]:
        """Constant and slowly varying errors of the last measurements, by name, for sim/truth_errors (`SensorModel`).

        sim/truth_imu_bias contains gyro_bias_x to _z (rad/s) and acc_bias_x to _z (m/s^2); 0 where the name is missing.
        """
        errors: dict[str, float] = {}
        for model in self.models.values():
            errors |= model.true_errors()
        return errors

    @later(STATUS)
    def _on_status(self, status: StatusReport) -> None:
        self.armed = status.armed

    @later(TRUTH_BATTERY)
    def _on_battery(self, battery: BatterySample) -> None:
        _, self.power[0], self.power[1] = battery

    @later(TRUTH_ROTOR_SPEEDS)
    def _on_rotor_speeds(self, speeds: Outputs) -> None:
        if len(self.rotor_speeds) == len(speeds.values):
            self.rotor_speeds[:] = speeds.values
        else:
            self.rotor_speeds = np.array(speeds.values)
            self.relink()

    _wind = synchronized(TRUTH_WIND, initial=WindSample(-1, (0.0, 0.0, 0.0)))

    @synchronized(TRUTH_STATE, required=True)
    def _on_truth(self, state: VehicleState) -> None:
        if state.time_ns == self._state.time_ns and not np.array_equal(state.truth, self._state.truth):
            # The state was set: the measurements in transit are those of another place.
            self._drop_in_transit()
        self._state = state

    clock = trigger(CLOCK, rate="imu_update_frequency")

    def answer(self, time_ns: int, content: Any) -> None:
        """Send the measurements that arrive at `time_ns`, and sample the sensors that are due, then the IMU."""
        state = self._state
        if self._bound is not self.models:
            self._bound = self.models
            for one in self._samplings:
                one.read = self._read_of(one.sensor)
        if time_ns < self.answered_ns:
            self._drop_in_transit()
            for schedule in (*(one.schedule for one in self._slow), self._errors_schedule):
                schedule.restart()
            self._slow_ns = 0
        self._answer_slow(time_ns, state)
        sample = self._imu.measure(time_ns, state)
        if self._has_bias:
            self.send_imu_bias(partial(self._imu_bias, time_ns))
        self._imu.send(sample)
        if time_ns >= self._errors_schedule.next_ns and self._errors_schedule.due(time_ns):
            self._send_errors(time_ns)

    def _answer_slow(self, time_ns: int, state: VehicleState) -> None:
        """Send the measurements that arrive, and sample the sensors that are due, without the IMU."""
        if self._late:
            self._send_arrived(self._late, time_ns)
        if time_ns >= self._slow_ns:
            self._slow_ns = self._sample(self._slow, time_ns, state)

    def _send_arrived(self, late: Iterable[DelayLine[Any]], time_ns: int) -> None:
        """Send the measurements with a latency that arrive by now."""
        for line in late:
            if time_ns >= line.due:
                line.advance(time_ns)

    def _sample(self, samplings: Iterable[Sampling], time_ns: int, state: VehicleState) -> int:
        """Sample the sensors that are due, and return the time at which the next one is, ns."""
        next_ns = NEVER_NS
        for one in samplings:
            schedule = one.schedule
            if time_ns >= schedule.next_ns and schedule.due(time_ns):
                send = one.send
                send(one.measure(time_ns, state))
            if schedule.next_ns < next_ns:
                next_ns = schedule.next_ns
        return next_ns

    # Compiled answers.

    def cells(self) -> Cells:
        """Measurement and biases of the IMU; none if its model is not an `InertialSensor`."""
        imu = self.models.get(self._imu.sensor.sensor)
        if not isinstance(imu, InertialSensor):
            return {}
        return {
            TRUTH_IMU_BIAS.name: Cell(imu.accel_bias, self._imu_bias, fields=self._bias_fields(imu)),
            IMU.name: Cell(imu.measured, self._imu_sample, fields=imu.field_arrays),
        }

    def _imu_sample(self, time_ns: int) -> Any:
        imu: InertialSensor = self.models[self._imu.sensor.sensor]
        return self._imu.message(time_ns, imu.fields(imu.step_s))

    def _bias_fields(self, imu: InertialSensor) -> FieldArrays:
        """Arrays of the IMU's biases; none if `true_errors` is overridden or another model adds to the biases."""
        others = (model.true_errors() for model in self.models.values() if model is not imu)
        are_own = keeps(type(self), "links", "true_errors") and keeps(type(imu), "step_links", "true_errors")
        if not are_own or any(imu.true_errors().keys() & errors.keys() for errors in others):
            return {}
        return {"gyro": [imu.gyro_bias], "accel": [imu.accel_bias]}

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Sample in the chain the IMU and the sensors whose receivers take numbers, and the others when they are due.

        None if the IMU has a latency, or is not read by its model.
        """
        imu, sampling = self.models.get(self._imu.sensor.sensor), self._imu
        if not isinstance(imu, InertialSensor) or self.update_of(sampling.sensor) is not None:
            return None
        if not keeps(type(imu), "step_links", "read", "sample"):
            return None
        if not isinstance(self.models.get(THERMOMETER.sensor), Thermometer):
            return None
        if sampling.line is not None:
            return None
        truth = cells[TRUTH_STATE.name].memory
        state = VehicleState(time.time_ns, truth)
        wind = cells[TRUTH_WIND.name]
        compiled, arriving = self._links_of_slow(time, cells, taken)
        sends_errors = self.send_errors is not drop
        slow, errors = self.wake, Due(at_ns=self._errors_schedule.next_ns if sends_errors else NEVER_NS)
        slow.at_ns = 0
        by_python = [one for one in self._slow if one not in compiled]
        late = [one.line for one in by_python if one.line is not None]

        def answer_slow(time_ns: int) -> None:
            self._state, state.time_ns = state, time_ns
            self._wind = wind.message(time_ns)
            if self.held.waiting:
                self.held.deliver(time_ns)
            self._send_arrived(late, time_ns)
            next_ns = self._sample(by_python, time_ns, state)
            imu.arm(self.armed)
            slow.at_ns = int(min([next_ns, self.held.due_ns, *(line.due for line in late)]))

        def answer_errors(time_ns: int) -> None:
            if self._errors_schedule.due(time_ns):
                self._send_errors(time_ns)
            errors.at_ns = self._errors_schedule.next_ns

        def leave(answered_ns: int) -> None:
            sampling.sampled_ns, self._slow_ns = answered_ns, 0

        return (
            gate(time, slow, answer_slow)._replace(leave=leave),
            *arriving,
            *chain.from_iterable(compiled.values()),
            *imu.step_links(self, truth, time.step_ns / NANOSECONDS),
            gate(time, errors, answer_errors, is_late=True),
        )

    def input_links(self, time: StepTime, topic: str, numbers: NDArray[Any]) -> Sequence[ChainLink] | None:
        """Take power and rotor speeds, sent after the measurements of a step, and ignore a repeated status."""
        if topic == STATUS.name:
            return ()
        if topic == TRUTH_BATTERY.name:
            return (ChainLink(bound(copy_numbers, numbers, self.power)),)
        if topic == TRUTH_ROTOR_SPEEDS.name and len(self.rotor_speeds) == len(numbers):
            return (ChainLink(bound(copy_numbers, numbers, self.rotor_speeds)),)
        return None

    def _links_of_slow(
        self, time: StepTime, cells: Cells, taken: Taken
    ) -> tuple[dict[Sampling, Sequence[ChainLink]], Sequence[ChainLink]]:
        """Links of the sensors besides the IMU that Python need not sample, and those by which messages arrive."""
        truth, wind_ned = cells[TRUTH_STATE.name].memory, cells[TRUTH_WIND.name].memory
        links: dict[Sampling, Sequence[ChainLink]] = {}
        arriving: list[ChainLink] = []
        for one in self._slow:
            model, period_ns = self.models.get(one.sensor.sensor), one.schedule.period_ns
            # A period of whole steps: the time between two measurements is always the same.
            is_regular = period_ns % time.step_ns == 0 and one.sampled_ns >= 0
            if not is_regular or not isinstance(model, SensorModel) or self.update_of(one.sensor) is not None:
                continue
            if not keeps(type(model), "links", "read"):
                continue
            inputs = SensorInputs(truth, wind_ned, self.power, period_ns / NANOSECONDS)
            measuring = model.links(inputs)
            if measuring is None:
                continue
            numbers, measured = measuring
            received = partial(self._received, taken, one.sensor)
            if one.line is None:
                cell = self._cell_of(one, model, numbers)
                then = received(numbers, cell) or self._sent_by_python(time, one, model, cell)
            else:
                delayed = self._delayed(one, model, time, numbers, received)
                then = None if delayed is None else (delayed[1],)
                arriving += () if delayed is None else delayed[0]
            if then is not None:
                links[one] = one.link(time, len(measured) + len(then)), *measured, *then
        return links, arriving

    def _cell_of(self, sampling: Sampling, model: SensorModel, numbers: NDArray[np.float64]) -> Cell:
        """The numbers of a sensor without latency, with the fields of its message."""
        dt = sampling.schedule.period_ns / NANOSECONDS

        def message(stamp_ns: int) -> Any:
            return sampling.message(stamp_ns, model.reading(self, stamp_ns, dt))

        return Cell(numbers, message, fields=model.field_arrays if keeps(type(model), "reading", "read") else {})

    def _received(
        self, taken: Taken, sensor: Sensor[Any], numbers: NDArray[np.float64], cell: Cell | None = None
    ) -> Sequence[ChainLink] | None:
        """Links by which all receivers take a sensor's numbers; None if one needs messages."""
        received = taken(sensor.topic.name, numbers, cell=cell)
        return None if received is None else (*received, counted(partial(self.count_unsent, sensor.name)))

    def _sent_by_python(
        self, time: StepTime, sampling: Sampling, model: SensorModel, cell: Cell
    ) -> Sequence[ChainLink] | None:
        """Link that sends the message of a measurement; None if Python must measure."""
        if not keeps(type(model), "reading", "read"):
            return None
        return (gate(time, Due(at_ns=0), lambda time_ns: sampling.send(cell.message(time_ns))),)

    def _delayed(
        self,
        sampling: Sampling,
        model: SensorModel,
        time: StepTime,
        numbers: NDArray[np.float64],
        received: Callable[[NDArray[np.float64]], Sequence[ChainLink] | None],
    ) -> tuple[Sequence[ChainLink], ChainLink] | None:
        """As `Sampling.delay_links`; None if Python must delay the measurements."""
        if model.sent_fields(numbers, 0) is None or not sampling.can_delay(time.step_ns):
            return None

        def fields(sent: NDArray[np.float64], stamp_ns: int) -> tuple[Any, ...]:
            return model.sent_fields(sent, self.start_ns + stamp_ns) or ()

        return sampling.delay_links(time, numbers, fields, received)

    def _drop_in_transit(self) -> None:
        """Drop the measurements that have not arrived."""
        for one in self._samplings:
            one.drop_in_transit()

    def _send_errors(self, time_ns: int) -> None:
        def message() -> NamedNumbers:
            errors = self.true_errors()
            return NamedNumbers(time_ns, tuple(errors), tuple(errors.values()))

        self.send_errors(message)

    def _imu_bias(self, time_ns: int) -> ImuBias:
        errors = self.true_errors()
        gyro, accel = (tuple(errors.get(f"{name}_bias_{axis}", 0.0) for axis in "xyz") for name in ("gyro", "acc"))
        return ImuBias(time_ns, gyro, accel)
