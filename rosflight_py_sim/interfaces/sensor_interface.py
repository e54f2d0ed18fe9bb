"""Base class of sensor nodes, which turn truth into measurements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.delay_line import DelayLine
from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.interfaces.failed_sensors import FAILED_SENSORS, failed_imu, through
from rosflight_py_sim.interfaces.fallible_node import FallibleNode
from rosflight_py_sim.interfaces.ticks import start_ticks, subscribe_to_clock
from rosflight_py_sim.parameters import ParameterTable, number
from rosflight_py_sim.sensing.inertial import UNKNOWN
from rosflight_py_sim.sensing.latency import ARRIVAL, LATENCY_PARAMETERS, SENSOR_STAMPS, latency_ns
from rosflight_py_sim.sensing.site import RATE_PARAMETERS
from rosflight_py_sim.shared_parameters import START_DATE, TIME_MODE
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.join import JoinRule, StepJoin
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.stamped_inputs import StampedInputs
from rosflight_py_sim.step.topics import (
    BARO,
    BATTERY,
    CLOCK,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU,
    IMU_TEMPERATURE,
    MAG,
    RANGE,
    STATUS,
    TRUTH_BATTERY,
    TRUTH_ERRORS,
    TRUTH_IMU_BIAS,
    TRUTH_ROTOR_SPEEDS,
    TRUTH_STATE,
    TRUTH_WIND,
    UNKNOWN_COVARIANCE,
    ZERO_CELSIUS_K,
    AirspeedSample,
    BaroSample,
    BatterySample,
    Floats,
    GnssSample,
    ImuBias,
    ImuSample,
    MagSample,
    NamedNumbers,
    Outputs,
    RangeSample,
    StatusReport,
    StepTopic,
    TemperatureSample,
    Wind,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

Vector = NDArray[np.float64]


class ImuReading(NamedTuple):
    """Specific force (m/s^2) and angular rate (rad/s) in body axes, (3,) each, and the covariance of each (9)."""

    accel: Vector
    gyro: Vector
    accel_covariance: Floats = UNKNOWN_COVARIANCE
    gyro_covariance: Floats = UNKNOWN_COVARIANCE


class TemperatureReading(NamedTuple):
    """Temperature (K) and its variance (K^2)."""

    temperature: float
    variance: float = 0.0


class MagReading(NamedTuple):
    """Magnetic flux density in body axes (T, (3,)) and its covariance (9)."""

    field: Vector
    covariance: Floats = UNKNOWN_COVARIANCE


class BarometerReading(NamedTuple):
    """Pressure altitude (m MSL), static pressure (Pa) and temperature (K)."""

    altitude: float
    pressure: float
    temperature: float


class GnssReading(NamedTuple):
    """A fix: type (see rosflight_msgs/GNSS), satellites, position (deg, m MSL), velocity NED (m/s), accuracies."""

    fix_type: int
    satellites: int
    latitude_deg: float
    longitude_deg: float
    altitude_msl_m: float
    horizontal_accuracy: float
    vertical_accuracy: float
    velocity_ned: Vector
    speed_accuracy: float


class RangeReading(NamedTuple):
    """Distance along the beam (m; +inf beyond the maximum, -inf below the minimum: REP 117), limits, beam width.

    Then the variance of the distance (m^2).
    """

    distance: float
    minimum: float
    maximum: float
    field_of_view: float
    variance: float = 0.0


class AirspeedReading(NamedTuple):
    """Airspeed (m/s), differential pressure (Pa) and temperature (K)."""

    velocity: float
    differential_pressure: float
    temperature: float


class BatteryReading(NamedTuple):
    """Voltage (V) and current (A)."""

    voltage: float
    current: float


class SensorInterface(FallibleNode, ABC):
    """Samples every sensor at its rate and publishes the readings, the IMU last.

    The trigger of the `StepJoin` is each /clock message in lockstep, and a timer at the IMU's rate in the other time
    modes. The answer is the IMU message, published after the other sensors that are due. A repeated time gets no second
    answer: no stamp repeats, and a node that starts late receives the latched IMU message. Each `..._update` method
    reads one sensor; `dt` is the time since its previous reading, s.

    Class attributes:
        JOIN: inputs of an answer.

    Attributes:
        battery: newest true voltage (V) and current (A) from sim/truth_battery; None before the first message.
        rotor_speeds: newest true speed of each rotor from sim/truth_rotor_speeds, rad/s (14; 0 beyond the last);
            UNKNOWN before the first message.
        armed: whether `status` reports armed; False until the first status.
        wind_ned: velocity of the air over the ground, NED, m/s (3,).

    Each measurement is published after the sensor's latency, stamped as `sensor_stamps` says; a state that is set and a
    clock that is set back drop those in transit. The IMU message of each step exists whatever its latency, because it
    triggers the step: it has the newest measurement that has arrived.

    In lockstep a status, battery state or rotor speed stamped t takes effect in the step after t, whether it arrives
    before or after that step's other messages.
    """

    DEFAULT_NAME: ClassVar[str] = "sensors"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(TIME_MODE, START_DATE, FAILURES) + RATE_PARAMETERS + LATENCY_PARAMETERS
    )
    FALLIBLE: ClassVar[tuple[str, ...]] = ("gyro", "accel", *FAILED_SENSORS)
    JOIN: ClassVar[JoinRule] = JoinRule(
        CLOCK.name, synchronized=(TRUTH_WIND.name, TRUTH_STATE.name), required=(TRUTH_STATE.name,)
    )

    def __init__(self, **arguments: Any) -> None:
        """Create topics and start sampling."""
        self.wind_ned = np.zeros(3)
        self.battery: BatteryReading | None = None
        self.rotor_speeds = UNKNOWN
        self._state = VehicleState()
        self.armed = False
        self._inputs = StampedInputs()
        super().__init__(**arguments)
        self._lockstep = self.values["time_mode"] == "lockstep"
        self._join = StepJoin(self.JOIN, self._answer, lambda _: None, lockstep=self._lockstep)
        self._wind_arrived, self._state_arrived = map(self._join.input, self.JOIN.synchronized)
        self._slow = [
            Sampling(self._rate(name), publish)
            for name, publish in (
                ("gnss", self._publish_gnss),
                ("mag", self._publish_mag),
                ("baro", self._publish_baro),
                ("diff_pressure", self._publish_diff_pressure),
                ("range", self._publish_range),
                ("battery", self._publish_battery),
                ("imu_temperature", self._publish_imu_temperature),
            )
        ]
        self._imu = Sampling(self._rate("imu"), self._publish_imu)
        self._send_imu = self.publisher(IMU)
        self._imu_line, self._arrived_imu = self._delay_line("imu", self._set_arrived_imu), ImuSample(-1, (), ())
        self._late: list[DelayLine[Any]] = []
        self._outlets: dict[str, Callable[[Any], None]] = {
            "gnss": self._outlet("gnss", GNSS_FIX),
            "mag": self._outlet("mag", MAG),
            "baro": self._outlet("baro", BARO),
            "airspeed": self._outlet("diff_pressure", DIFF_PRESSURE),
            "range": self._outlet("range", RANGE),
            "battery": self._outlet("battery", BATTERY),
            "thermometer": self._outlet("imu_temperature", IMU_TEMPERATURE),
        }
        self._measured = {name: kind() for name, kind in FAILED_SENSORS.items()}
        self.fail({})
        self._send_errors = self.lazy_publisher(TRUTH_ERRORS)
        self._send_imu_bias = self.lazy_publisher(TRUTH_IMU_BIAS)
        self._errors_schedule = Schedule(number(self.values, "truth_errors_frequency"))
        self.subscribe(STATUS, self._on_status)
        self.subscribe(TRUTH_BATTERY, self._on_battery)
        self.subscribe(TRUTH_ROTOR_SPEEDS, self._on_rotor_speeds)
        self.subscribe(TRUTH_WIND, self._on_wind, needed=True)
        self.subscribe(TRUTH_STATE, self._on_truth, needed=True)
        if self._lockstep:
            subscribe_to_clock(self, self._join.trigger)
        else:
            start_ticks(self, self._rate("imu"), self._join.trigger)

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

        def sender(name: str) -> Callable[[Any], None]:
            return through(signals.get((name, 0)), self._measured[name], self._outlets[name])

        self._failed_imu = failed_imu(signals)
        self._send_temperature = sender("thermometer")
        self._send_mag = sender("mag")
        self._send_baro = sender("baro")
        self._send_gnss = sender("gnss")
        self._send_diff_pressure = sender("airspeed")
        self._send_range = sender("range")
        self._send_battery = sender("battery")

    def true_errors(self) -> Mapping[str, float]:
        """Constant and slowly varying errors of the last readings, by name, for sim/truth_errors; by default none.

        sim/truth_imu_bias contains gyro_bias_x to _z (rad/s) and acc_bias_x to _z (m/s^2); 0 where the name is missing.
        """
        return {}

    def _delay_line(self, sensor: str, deliver: Callable[[Any, int], None]) -> DelayLine[Any] | None:
        """Delay line of a sensor; None without a latency."""
        delay_ns = latency_ns(self.values, sensor)
        return DelayLine(delay_ns, deliver) if delay_ns else None

    def _outlet(self, sensor: str, topic: StepTopic[Any]) -> Callable[[Any], None]:
        """Function that publishes a sensor's messages after its latency."""
        publish = self.publisher(topic)
        if self.values[SENSOR_STAMPS.name] == ARRIVAL:
            line = self._delay_line(sensor, lambda sample, time_ns: publish(sample._replace(time_ns=time_ns)))
        else:
            line = self._delay_line(sensor, lambda sample, _: publish(sample))
        if line is None:
            return publish
        self._late.append(line)
        send = line.send
        return lambda sample: send(sample.time_ns, sample)

    def _drop_in_transit(self) -> None:
        """Drop the measurements that have not arrived."""
        for line in self._late:
            line.clear()
        if self._imu_line is not None:
            self._imu_line.clear()
            self._arrived_imu = ImuSample(-1, (), ())

    def _rate(self, sensor: str) -> float:
        return number(self.values, f"{sensor}_update_frequency")

    def _take(self, stamp_ns: int, act: Callable[[], None]) -> None:
        """Call `act` in the step after `stamp_ns`; at once outside lockstep."""
        if self._lockstep:
            self._inputs.take(stamp_ns, self._join.answered_ns, act)
        else:
            act()

    def _on_status(self, status: StatusReport) -> None:
        self._take(status.time_ns, partial(setattr, self, "armed", status.armed))

    def _on_battery(self, battery: BatterySample) -> None:
        reading = BatteryReading(battery.voltage, battery.current)
        self._take(battery.time_ns, partial(setattr, self, "battery", reading))

    def _on_rotor_speeds(self, speeds: Outputs) -> None:
        self._take(speeds.time_ns, partial(setattr, self, "rotor_speeds", np.array(speeds.values)))

    def _on_wind(self, wind: Wind) -> None:
        self.wind_ned[:] = wind.velocity_ned
        self._wind_arrived(wind.time_ns)

    def _on_truth(self, state: VehicleState) -> None:
        if state.time_ns == self._state.time_ns and not np.array_equal(state.truth, self._state.truth):
            # The state was set: the measurements in transit are those of another place.
            self._drop_in_transit()
        self._state = state
        self._state_arrived(state.time_ns)

    def _answer(self, time_ns: int, _: None) -> None:
        """Publish the measurements that arrive at `time_ns`, and sample the sensors that are due, then the IMU."""
        self._inputs.deliver(time_ns)
        if time_ns < self._join.answered_ns:
            self._drop_in_transit()
            for sensor in self._slow:
                sensor.schedule.restart()
        for line in self._late:
            if time_ns >= line.due:
                line.advance(time_ns)
        if self.has_failures:
            self.advance_failures(time_ns)
        for sensor in self._slow:
            if time_ns >= sensor.schedule.next_ns and sensor.schedule.due(time_ns):
                sensor.sample(time_ns)
        self._imu.sample(time_ns)
        if self._errors_schedule.due(time_ns):
            self._send_errors(lambda: self._errors_message(time_ns))

    def _publish_imu(self, time_ns: int, dt: float) -> None:
        accel, gyro, accel_covariance, gyro_covariance = self.imu_update(self._state, dt)
        sample = ImuSample(time_ns, gyro.tolist(), accel.tolist(), gyro_covariance, accel_covariance)
        if self._failed_imu is not None:
            sample = self._failed_imu(sample)
        self._send_imu_bias(lambda: self._imu_bias_message(time_ns))
        self._send_imu(sample if self._imu_line is None else self._late_imu(self._imu_line, sample))

    def _late_imu(self, line: DelayLine[ImuSample], sample: ImuSample) -> ImuSample:
        """Newest measurement that has arrived, with the stamp of this one; at first, the first measurement."""
        line.send(sample.time_ns, sample)
        if self._arrived_imu.time_ns < 0:
            self._arrived_imu = sample
        line.advance(sample.time_ns)
        return self._arrived_imu._replace(time_ns=sample.time_ns)

    def _set_arrived_imu(self, sample: ImuSample, _: int) -> None:
        self._arrived_imu = sample

    def _publish_imu_temperature(self, time_ns: int, dt: float) -> None:
        kelvin, variance = self.imu_temperature_update(self._state, dt)
        self._send_temperature(TemperatureSample(time_ns, kelvin - ZERO_CELSIUS_K, variance))

    def _errors_message(self, time_ns: int) -> NamedNumbers:
        errors = self.true_errors()
        return NamedNumbers(time_ns, tuple(errors), tuple(errors.values()))

    def _imu_bias_message(self, time_ns: int) -> ImuBias:
        errors = self.true_errors()
        gyro, accel = (tuple(errors.get(f"{sensor}_bias_{axis}", 0.0) for axis in "xyz") for sensor in ("gyro", "acc"))
        return ImuBias(time_ns, gyro, accel)

    def _publish_mag(self, time_ns: int, dt: float) -> None:
        field, covariance = self.mag_update(self._state, dt)
        self._send_mag(MagSample(time_ns, field.tolist(), covariance))

    def _publish_baro(self, time_ns: int, dt: float) -> None:
        self._send_baro(BaroSample(time_ns, *self.baro_update(self._state, dt)))

    def _publish_gnss(self, time_ns: int, dt: float) -> None:
        r = self.gnss_update(self._state, dt)
        fix = (r.fix_type, r.satellites, r.latitude_deg, r.longitude_deg, r.altitude_msl_m)
        accuracy = (r.horizontal_accuracy, r.vertical_accuracy)
        north, east, down = r.velocity_ned.tolist()
        velocity = (north, east, down, r.speed_accuracy)
        self._send_gnss(GnssSample(time_ns, *fix, *accuracy, *velocity, *divmod(self.unix_ns(time_ns), NANOSECONDS)))

    def _publish_range(self, time_ns: int, dt: float) -> None:
        r = self.sonar_update(self._state, dt)
        self._send_range(RangeSample(time_ns, r.field_of_view, r.minimum, r.maximum, r.distance, r.variance))

    def _publish_diff_pressure(self, time_ns: int, dt: float) -> None:
        self._send_diff_pressure(AirspeedSample(time_ns, *self.diff_pressure_update(self._state, dt)))

    def _publish_battery(self, time_ns: int, dt: float) -> None:
        self._send_battery(BatterySample(time_ns, *self.battery_update(self._state, dt)))


class Sampling:
    """Schedule of one sensor, and the time of its last reading."""

    def __init__(self, rate_hz: float, publish: Callable[[int, float], None]) -> None:
        self.schedule = Schedule(rate_hz)
        self._publish = publish
        self._period_s = 1.0 / rate_hz
        self._last_ns = -1

    def sample(self, time_ns: int) -> None:
        """Read and publish; for the first reading `dt` is one period."""
        has_previous = 0 <= self._last_ns < time_ns
        elapsed = (time_ns - self._last_ns) / NANOSECONDS if has_previous else self._period_s
        self._last_ns = time_ns
        self._publish(time_ns, elapsed)
