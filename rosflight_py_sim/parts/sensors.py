"""Sensors, which turn truth into measurements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.node_kinds import NodeKind
from rosflight_py_sim.parameters import ParameterTable, number
from rosflight_py_sim.parts.failed_sensors import DifferentialPressure, Fields, Position, StaticPressure, Vector
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
from rosflight_py_sim.parts.sensor_output import Sampling, SensorOutput, SteadySampling, sensor
from rosflight_py_sim.sensing.inertial import UNKNOWN
from rosflight_py_sim.sensing.latency import LATENCY_PARAMETERS
from rosflight_py_sim.sensing.site import RATE_PARAMETERS
from rosflight_py_sim.shared_parameters import START_DATE, TIME_MODE
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import later, output, synchronized, trigger
from rosflight_py_sim.step.schedule import Schedule
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
    ZERO_CELSIUS_K,
    BatterySample,
    ImuBias,
    NamedNumbers,
    Outputs,
    StatusReport,
    Wind,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

_OFF = (0.0, 0.0, 0.0)


def _fix(part: Part, time_ns: int, r: GnssReading) -> tuple[Any, ...]:
    position = (r.latitude_deg, r.longitude_deg, r.altitude_msl_m, r.horizontal_accuracy, r.vertical_accuracy)
    north, east, down = r.velocity_ned.tolist()
    unix = divmod(part.start_ns + time_ns, NANOSECONDS)
    return r.fix_type, r.satellites, *position, north, east, down, r.speed_accuracy, *unix


class Sensors(Part, ABC):
    """Samples every sensor at its rate and sends the measurements, the IMU last.

    The trigger is each /clock message in lockstep, and a timer at the IMU's rate in the other time modes. The answer is
    the IMU message, sent after those of the other sensors that are due. A repeated time gets no second answer: no stamp
    repeats, and a node that starts late receives the latched IMU message. Each `..._update` method reads one sensor;
    `dt` is the time since its previous reading, s.

    Attributes:
        battery: newest true voltage (V) and current (A) from sim/truth_battery; None before the first message.
        rotor_speeds: newest true speed of each rotor from sim/truth_rotor_speeds, rad/s (14; 0 beyond the last);
            UNKNOWN before the first message.
        armed: whether `status` reports armed; False until the first status.

    Each measurement is sent after the sensor's latency, stamped as `sensor_stamps` says; a state that is set and a
    clock that is set back drop those in transit. The IMU message of each step exists whatever its latency, because it
    triggers the step: it has the newest measurement that has arrived.

    In lockstep a status, battery state or rotor speed stamped t takes effect in the step after t, whether it arrives
    before or after that step's other messages.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.SENSORS
    DEFAULT_NAME: ClassVar[str] = "sensors"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(TIME_MODE, START_DATE, FAILURES) + RATE_PARAMETERS + LATENCY_PARAMETERS
    )

    send_imu = sensor(
        IMU,
        "imu",
        "imu_update",
        lambda _, t, r: (r.gyro.tolist(), r.accel.tolist(), r.gyro_covariance, r.accel_covariance),
        gyro=partial(Vector, "gyro", _OFF),
        accel=partial(Vector, "accel", _OFF),
    )
    send_gnss = sensor(GNSS_FIX, "gnss", "gnss_update", _fix, gnss=Position)
    send_mag = sensor(
        MAG,
        "mag",
        "mag_update",
        lambda _, t, r: (r.field.tolist(), r.covariance),
        mag=partial(Vector, "field"),
    )
    send_baro = sensor(BARO, "baro", "baro_update", baro=StaticPressure)
    send_diff_pressure = sensor(
        DIFF_PRESSURE,
        "diff_pressure",
        "diff_pressure_update",
        airspeed=DifferentialPressure,
    )
    send_range = sensor(
        RANGE,
        "range",
        "sonar_update",
        lambda _, t, r: (r.field_of_view, r.minimum, r.maximum, r.distance, r.variance),
        range=partial(Fields, "distance"),
    )
    # The current belongs to a stuck reading.
    send_battery = sensor(
        BATTERY,
        "battery",
        "battery_update",
        battery=partial(Fields, "voltage", "current"),
    )
    # A difference in K is one in deg C.
    send_imu_temperature = sensor(
        IMU_TEMPERATURE,
        "imu_temperature",
        "imu_temperature_update",
        lambda _, t, r: (r.temperature - ZERO_CELSIUS_K, r.variance),
        thermometer=partial(Fields, "temperature_c"),
    )
    send_errors = output(TRUTH_ERRORS, lazy=True)
    send_imu_bias = output(TRUTH_IMU_BIAS, lazy=True)

    FALLIBLE: ClassVar[tuple[str, ...]] = tuple(
        name for port in list(vars().values()) if isinstance(port, SensorOutput) for name in port.failures
    )

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self.battery: BatteryReading | None = None
        self.rotor_speeds = UNKNOWN
        self.armed = False
        self._state, self._state_ns = VehicleState(), -1

    def begin(self) -> None:
        """Begin to sample."""
        rows = {port.name: port for port in self.ports(SensorOutput)}
        self._imu = SteadySampling(self, rows.pop("send_imu"))
        self._slow = [Sampling(self, row) for row in rows.values()]
        self._samplings = [*self._slow, self._imu]
        self._late = [one.line for one in self._slow if one.line is not None]
        self._errors_schedule = Schedule(number(self.values, "truth_errors_frequency"))
        # Time from which on a sensor besides the IMU is due, ns.
        self._slow_ns = 0

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

    @property
    def wind_ned(self) -> NDArray[np.float64]:
        """Velocity of the air over the ground, NED, m/s (3,)."""
        return np.asarray(self._wind.velocity_ned)

    def true_errors(self) -> Mapping[str, float]:
        """Constant and slowly varying errors of the last readings, by name, for sim/truth_errors; by default none.

        sim/truth_imu_bias contains gyro_bias_x to _z (rad/s) and acc_bias_x to _z (m/s^2); 0 where the name is missing.
        """
        return {}

    @later(STATUS)
    def _on_status(self, status: StatusReport) -> None:
        self.armed = status.armed

    @later(TRUTH_BATTERY)
    def _on_battery(self, battery: BatterySample) -> None:
        self.battery = BatteryReading(battery.voltage, battery.current)

    @later(TRUTH_ROTOR_SPEEDS)
    def _on_rotor_speeds(self, speeds: Outputs) -> None:
        self.rotor_speeds = np.array(speeds.values)

    _wind = synchronized(TRUTH_WIND, initial=Wind(-1, (0.0, 0.0, 0.0)))

    @synchronized(TRUTH_STATE, required=True)
    def _on_truth(self, state: VehicleState) -> None:
        if state.time_ns == self._state_ns and not np.array_equal(state.truth, self._state.truth):
            # The state was set: the measurements in transit are those of another place.
            self._drop_in_transit()
        self._state, self._state_ns = state, state.time_ns

    clock = trigger(CLOCK, rate="imu_update_frequency")

    def answer(self, time_ns: int, content: Any) -> None:
        """Send the measurements that arrive at `time_ns`, and sample the sensors that are due, then the IMU."""
        state = self._state
        if time_ns < self.answered_ns:
            self._drop_in_transit()
            for schedule in (*self._slow, self._errors_schedule):
                schedule.restart()
            self._slow_ns = 0
        for line in self._late:
            if time_ns >= line.due:
                line.advance(time_ns)
        if time_ns >= self._slow_ns:
            for one in self._slow:
                if time_ns >= one.next_ns and one.due(time_ns):
                    one.send(one.measure(time_ns, state))
            self._slow_ns = min([one.next_ns for one in self._slow])
        sample = self._imu.measure(time_ns, state)
        self.send_imu_bias(lambda: self._imu_bias_message(time_ns))
        self._imu.send(sample)
        if time_ns >= self._errors_schedule.next_ns and self._errors_schedule.due(time_ns):
            self.send_errors(lambda: self._errors_message(time_ns))

    def _drop_in_transit(self) -> None:
        """Drop the measurements that have not arrived."""
        for one in self._samplings:
            one.drop_in_transit()

    def _errors_message(self, time_ns: int) -> NamedNumbers:
        errors = self.true_errors()
        return NamedNumbers(time_ns, tuple(errors), tuple(errors.values()))

    def _imu_bias_message(self, time_ns: int) -> ImuBias:
        errors = self.true_errors()
        gyro, accel = (tuple(errors.get(f"{name}_bias_{axis}", 0.0) for axis in "xyz") for name in ("gyro", "acc"))
        return ImuBias(time_ns, gyro, accel)
