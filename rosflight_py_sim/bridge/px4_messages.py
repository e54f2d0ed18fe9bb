"""Messages for PX4: snapshots as HIL messages of its simulator interface.

Units and groups are those that PX4's SimulatorMavlink.cpp reads (13 February 2025): update_sensors,
handle_message_hil_gps, handle_message_hil_state_quaternion, publish_distance_topic and handle_message_rc_channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.bridge.front_end_interface import NewestMeasurements, NewestMessages, Snapshot, Vector3
from rosflight_py_sim.bridge.true_imu import true_imu
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import ORIGIN_LONGITUDE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS, earth_of
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial
from rosflight_py_sim.protocols.mavlink.common import RcChannels
from rosflight_py_sim.protocols.mavlink.frames import Frame, Mavlink2
from rosflight_py_sim.protocols.px4_simulator.dialect import (
    LAYOUTS,
    DistanceSensor,
    HilGps,
    HilStateQuaternion,
    RangeOrientation,
    Updated,
)
from rosflight_py_sim.protocols.px4_simulator.step_frames import SensorFrame
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.step.topics import GnssSample, RangeSample

MESSAGE_PARAMETERS = EARTH_PARAMETERS + ParameterTable(
    Parameter(
        "px4.imu",
        "sensors",
        "Source of gyro and accelerometer: sensors (measurements of the node sensors, with their noise and biases), or "
        "truth (PX4 takes an IMU without noise for a stuck one while the vehicle stands still)",
        choices=("sensors", "truth"),
        read_only=True,
    ),
    Parameter("px4.range", True, "Whether PX4 receives the range finder's distances", read_only=True),
    Parameter(
        "px4.rc",
        False,
        "Whether PX4 receives the transmitter channels (sim/RC); false: it receives none, or those of a ground station",
        read_only=True,
    ),
    ORIGIN_LONGITUDE,
)

# PX4 stores readings of the first IMU in 16 bits, without a check of their range (SimulatorMavlink.cpp:188-254).
_LARGEST_COUNT = 32767.0
ACCEL_STEP = 9.80665 / 2048.0
"""Resolution of the accelerometer in PX4, m/s^2."""
GYRO_STEP = math.radians(2000.0 / 32768.0)
"""Resolution of the gyro in PX4, rad/s."""

_GAUSS = 1e4
_HECTOPASCAL = 1e-2
_ZERO_CELSIUS = 273.15
_E7, _MM, _CM = 1e7, 1e3, 1e2

_US = NANOSECONDS // 1_000_000
_MILLI_G = 1e3 / 9.80665
_UNKNOWN_COURSE = 65535

# Speed below which the course over ground is unknown, m/s.
_SLOW_MPS = 0.1

# Groups of each HIL_SENSOR.
_IMU = Updated.ACCEL | Updated.GYRO

# Places of the other groups in its readings; those of the barometer are pressure, altitude and temperature.
_SLOW, _MAG, _BARO, _PITOT = slice(6, 13), slice(6, 9), [9, 11, 12], 10

# Numbers of the simulator as a sender; PX4 does not read them.
_SENDER = 1, 51

_RC_PERIOD_NS = NANOSECONDS // 50
_RC_CHANNELS = 18
_FULL_SIGNAL = 100

EQUAL_READINGS = 100
"""Number of equal readings in a row after which PX4 takes a sensor for stuck (DataValidator.hpp)."""


_NO_COUNT = 1 << 62


@kernel_record
class EqualReadings:
    """Number of equal readings in a row, as PX4 stores them.

    Attributes:
        accel: of the accelerometer.
        gyro: of the gyro.
    """

    accel: int
    gyro: int


@kernel
def limit_imu(
    numbers: NDArray[np.float64], counts: NDArray[np.int64], equal: EqualReadings, imu: NDArray[np.float64]
) -> None:
    """Write the IMU's numbers (6,), limited to PX4's range, and compare the counts (6,) that PX4 stores with the last.

    Specific force (m/s^2) comes first, then the angular rate (rad/s).
    """
    for sensor in range(2):
        step = ACCEL_STEP if sensor == 0 else GYRO_STEP
        largest = _LARGEST_COUNT * step
        same = True
        for axis in range(3 * sensor, 3 * sensor + 3):
            number = min(max(imu[axis], -largest), largest)
            numbers[axis] = number
            count = int(number / step)
            same = same and counts[axis] == count
            counts[axis] = count
        if sensor == 0:
            equal.accel = equal.accel + 1 if same else 0
        else:
            equal.gyro = equal.gyro + 1 if same else 0


class MessageMaker:
    """Makes the messages of one vehicle. Each measurement is sent once, at the rate of its sensor.

    Attributes:
        required_fields: snapshot fields that the messages need, see FrontEndInterface.
        truth_interval_ns: interval of the true state, ns; 0: none.
        stuck: sensors whose readings have not changed for so long that PX4 takes them for stuck.
    """

    def __init__(self, values: Values) -> None:
        """Store the values of MESSAGE_PARAMETERS."""
        self._is_true = values["px4.imu"] == "truth"
        self._earth = earth_of(values)
        self._frame = tangent_plane(
            *(number(values, f"origin_{name}") for name in ("latitude", "longitude", "altitude"))
        )
        self._range, self._rc = bool(values["px4.range"]), bool(values["px4.rc"])
        optional = {"range": self._range, "rc": self._rc}
        self.required_fields = frozenset({"imu", "mag", "baro", "gnss", "airspeed"}) | {
            name for name, wanted in optional.items() if wanted
        }
        self._sensors, self._sequence = SensorFrame(*_SENDER), 0
        self._numbers = self._sensors.readings
        # The IMU's numbers of a snapshot, the counts that PX4 stores, and how often they have been equal in a row.
        self._imu, self._counts = np.zeros(6), np.zeros(6, np.int64)
        self._equal = EqualReadings(accel=0, gyro=0)
        self._take_imu: Callable[[NDArray[np.float64]], None] = bound(
            limit_imu, self._numbers, self._counts, self._equal
        )
        self.begin()

    def begin(self) -> None:
        """Begin with a PX4 that has received nothing yet."""
        self.truth_interval_ns = self._truth_due_ns = self._rc_due_ns = 0
        # Stamp of the last measurement of each sensor.
        self._sent_ns: dict[str, int] = {}
        self.stuck: list[str] = []
        self._readings: dict[str, tuple[Hashable, int]] = {}
        self._counts[:], self._equal.accel, self._equal.gyro = _NO_COUNT, 0, 0

    def frames(self, snapshot: Snapshot) -> bytes:
        """Frames of a time; the sensors come last, because PX4 then computes the outputs."""
        accel, gyro = snapshot.accel_body, snapshot.gyro
        if self._is_true:
            gyro, accel = true_imu(self._earth, snapshot.truth)
        self._imu[:] = *accel, *gyro
        frames = [Mavlink2.encode(LAYOUTS, Frame(one, self._number(), *_SENDER)) for one in self._messages(snapshot)]
        return b"".join((*frames, self.sensors(snapshot.time_ns, self._imu, snapshot)))

    def needs_snapshot(self, time_ns: int, newest: NewestMessages) -> bool:
        """Whether `sensors` does not make all messages of a time."""
        fix, distance = newest.gnss, newest.range
        return bool(
            self._is_true
            or (self.truth_interval_ns and time_ns >= self._truth_due_ns)
            or (self._rc and time_ns >= self._rc_due_ns and newest.rc is not None)
            or (fix is not None and self._sent_ns.get("gnss") != fix.time_ns)
            or (self._range and distance is not None and self._sent_ns.get("range") != distance.time_ns)
        )

    def sensors(self, time_ns: int, imu: NDArray[np.float64], newest: NewestMeasurements) -> memoryview:
        """HIL_SENSOR, with the measurements that are new; the next call overwrites it.

        `imu` contains specific force (m/s^2) and angular rate (rad/s) (6,).
        """
        self._take_imu(imu)
        equal, updated = self._equal, _IMU
        mag, baro, pitot = newest.mag, newest.baro, newest.airspeed
        if equal.accel == EQUAL_READINGS:
            self._note_stuck("accelerometer")
        if equal.gyro == EQUAL_READINGS:
            self._note_stuck("gyro")
        if mag is not None and self._is_new("mag", mag.time_ns):
            updated |= Updated.MAG
            x, y, z = mag.field
            field = x * _GAUSS, y * _GAUSS, z * _GAUSS
            self._numbers[_MAG] = field
            self._watch("magnetometer", field)
        if baro is not None and self._is_new("baro", baro.time_ns):
            updated |= Updated.BARO
            pressure = baro.pressure * _HECTOPASCAL
            self._numbers[_BARO] = pressure, baro.altitude, baro.temperature - _ZERO_CELSIUS
            self._watch("barometer", pressure)
        if pitot is not None and self._is_new("pitot", pitot.time_ns):
            updated |= Updated.DIFF_PRESSURE
            self._numbers[_PITOT] = pitot.differential_pressure * _HECTOPASCAL
        frame = self._sensors.written(time_ns // _US, updated, self._number())
        if updated != _IMU:
            self._numbers[_SLOW] = 0.0
        return frame

    def _messages(self, snapshot: Snapshot) -> Iterator[Any]:
        """Messages of a time besides HIL_SENSOR."""
        time_ns = snapshot.time_ns
        if self.truth_interval_ns and time_ns >= self._truth_due_ns:
            self._truth_due_ns = (time_ns // self.truth_interval_ns + 1) * self.truth_interval_ns
            yield self._truth(snapshot)
        if self._rc and snapshot.rc_us and time_ns >= self._rc_due_ns:
            self._rc_due_ns = time_ns + _RC_PERIOD_NS
            yield _rc_channels(time_ns, snapshot.rc_us)
        fix, ranges = snapshot.gnss, snapshot.ranges
        if fix is not None and self._is_new("gnss", fix.time_ns):
            yield _gps(fix)
        if self._range and ranges and ranges[0] is not None and self._is_new("range", ranges[0].time_ns):
            yield _distance(time_ns, ranges[0])

    def _number(self) -> int:
        """Sequence number of the next frame."""
        number, self._sequence = self._sequence, (self._sequence + 1) % 256
        return number

    def _is_new(self, sensor: str, stamp_ns: int) -> bool:
        if self._sent_ns.get(sensor) == stamp_ns:
            return False
        self._sent_ns[sensor] = stamp_ns
        return True

    def _watch(self, sensor: str, reading: Hashable) -> None:
        last, count = self._readings.get(sensor, (None, 0))
        count = count + 1 if reading == last else 0
        self._readings[sensor] = reading, count
        if count == EQUAL_READINGS:
            self._note_stuck(sensor)

    def _note_stuck(self, sensor: str) -> None:
        if sensor not in self.stuck:
            self.stuck.append(sensor)

    def _truth(self, snapshot: Snapshot) -> HilStateQuaternion:
        north, east, down, w, x, y, z, u, v, w_down, p, q, r = snapshot.truth[:13].tolist()
        latitude, longitude, altitude = ned_to_geodetic(self._frame, north, east, down)
        velocity_ned = rotate_to_inertial(w, x, y, z, u, v, w_down)
        wind_body = rotate_to_body(w, x, y, z, *snapshot.wind_ned)
        airspeed = math.dist((u, v, w_down), wind_body)
        velocity, force = _signed3(velocity_ned, _CM), _signed3(snapshot.accel_body, _MILLI_G)
        measured = 0.0 if snapshot.airspeed is None else snapshot.airspeed.velocity
        return HilStateQuaternion(
            snapshot.time_ns // _US,
            (w, x, y, z),
            p,
            q,
            r,
            *_degrees_e7(latitude, longitude),
            _signed(altitude * _MM, 32),
            *velocity,
            _unsigned(measured * _CM),
            _unsigned(airspeed * _CM),
            *force,
        )


def _gps(fix: GnssSample) -> HilGps:
    north, east, down = fix.velocity_north, fix.velocity_east, fix.velocity_down
    speed = math.hypot(north, east)
    course = round(math.degrees(math.atan2(east, north)) * 100.0) % 36000 if speed > _SLOW_MPS else _UNKNOWN_COURSE
    return HilGps(
        fix.unix_seconds * 1_000_000 + fix.unix_nanoseconds // 1000,
        fix.fix_type,
        *_degrees_e7(fix.latitude_deg, fix.longitude_deg),
        _signed(fix.altitude_msl_m * _MM, 32),
        _unsigned(fix.horizontal_accuracy * _CM),
        _unsigned(fix.vertical_accuracy * _CM),
        _unsigned(speed * _CM),
        _signed(north * _CM, 16),
        _signed(east * _CM, 16),
        _signed(down * _CM, 16),
        course,
        min(fix.satellites, 254),
    )


def _distance(time_ns: int, sample: RangeSample) -> DistanceSensor:
    """A distance beyond the maximum is sent as the largest number, one below the minimum as 0."""
    return DistanceSensor(
        _milliseconds(time_ns),
        _unsigned(sample.minimum * _CM),
        _unsigned(sample.maximum * _CM),
        _unsigned(sample.distance * _CM),
        0,
        0,
        RangeOrientation.DOWN,
        min(_unsigned(sample.variance * _CM**2), 255),
    )


def _rc_channels(time_ns: int, pulses_us: tuple[int, ...]) -> RcChannels:
    used = pulses_us[:_RC_CHANNELS]
    numbers = (_milliseconds(time_ns), len(used), *used, *(0,) * (_RC_CHANNELS - len(used)), _FULL_SIGNAL)
    return RcChannels._make(numbers)


def _milliseconds(time_ns: int) -> int:
    return time_ns // (NANOSECONDS // 1000) % 2**32


def _degrees_e7(latitude: float, longitude: float) -> tuple[int, int]:
    return _signed(latitude * _E7, 32), _signed(longitude * _E7, 32)


def _signed3(vector: Vector3, unit: float) -> tuple[int, int, int]:
    x, y, z = vector
    return _signed(x * unit, 16), _signed(y * unit, 16), _signed(z * unit, 16)


def _signed(value: float, bits: int) -> int:
    """Rounded, and limited to the numbers of a field; 0 if not a number."""
    limit = 1 << bits - 1
    return round(min(max(value, -limit), limit - 1)) if not math.isnan(value) else 0


def _unsigned(value: float) -> int:
    """Rounded, and limited to the numbers of 16 bits; 0 if not a number."""
    return round(min(max(value, 0.0), 65535.0)) if not math.isnan(value) else 0
