"""The topics of a simulation step, each declared once.

A row of the table holds a topic's name, message type, frame_id and QoS, and the names of the fields that the simulator
uses. Parts declare rows as ports; they send and receive the named tuples below. Vectors are in body axes (forward,
right, down) unless the name ends in `ned`; units are SI.

Fields of a ROS message that a row does not name are constant: zero, or the value in `constants`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from geometry_msgs.msg import PoseStamped, TwistStamped, Vector3Stamped, WrenchStamped
from nav_msgs.msg import Path
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from rosflight_msgs.msg import (
    GNSS,
    Airspeed,
    Attitude,
    AuxCommand,
    Barometer,
    BatteryStatus,
    Command,
    Error,
    OutputRaw,
    PwmOutput,
    RCRaw,
    SimState,
    Status,
)
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState, MagneticField, Range, Temperature, TimeReference
from std_msgs.msg import Bool, Float64, String, UInt8, UInt32

from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.ground.stamps import NANOSECONDS, set_time, stamp_ns, time_ns_of
from rosflight_py_sim.step.qos import CHAIN, LATCHED, LATCHED_LIST, clock_qos, imu_qos, stamped_input_qos, state_qos
from rosflight_py_sim.step.vehicle_state import PLACES, VehicleState
from rosflight_py_sim.step.wire import Coders, WireFormat, encode_clock, encode_named_numbers

Floats: TypeAlias = Sequence[float]
M = TypeVar("M")


new_message: Any = tuple.__new__
"""Make a message, from its class and a tuple of all its fields, in half the time of a call of the class."""

UNKNOWN_COVARIANCE = (0.0,) * 9
"""Covariance that is not known, as in sensor_msgs."""


class ImuSample(NamedTuple):
    """Angular rate (rad/s, 3) and specific force (m/s^2, 3), and the covariance of each (9)."""

    time_ns: int
    gyro: Floats
    accel: Floats
    gyro_covariance: Floats = UNKNOWN_COVARIANCE
    accel_covariance: Floats = UNKNOWN_COVARIANCE


class ImuEstimate(NamedTuple):
    """Estimated attitude (x y z w), angular rate (rad/s, 3) and specific force (m/s^2, 3)."""

    time_ns: int
    quaternion_xyzw: Floats
    gyro: Floats
    accel: Floats


class ImuBias(NamedTuple):
    """True bias of the gyro (rad/s, 3) and of the accelerometer (m/s^2, 3), body axes."""

    time_ns: int
    gyro: Floats
    accel: Floats


class TemperatureSample(NamedTuple):
    """Temperature, deg C, and its variance (K^2)."""

    time_ns: int
    temperature_c: float
    variance: float = 0.0


class MagSample(NamedTuple):
    """Magnetic flux density, T (3), and its covariance (9)."""

    time_ns: int
    field: Floats
    covariance: Floats = UNKNOWN_COVARIANCE


class BaroSample(NamedTuple):
    """Pressure altitude (m MSL), static pressure (Pa), temperature (K)."""

    time_ns: int
    altitude: float
    pressure: float
    temperature: float


class GnssSample(NamedTuple):
    """Fix with position (deg, m MSL), accuracies (m, m/s), velocity NED (m/s) and Unix time."""

    time_ns: int
    fix_type: int
    satellites: int
    latitude_deg: float
    longitude_deg: float
    altitude_msl_m: float
    horizontal_accuracy: float
    vertical_accuracy: float
    velocity_north: float
    velocity_east: float
    velocity_down: float
    speed_accuracy: float
    unix_seconds: int
    unix_nanoseconds: int


class RangeSample(NamedTuple):
    """Beam width (rad), limits and distance (m), and the variance of the distance (m^2)."""

    time_ns: int
    field_of_view: float
    minimum: float
    maximum: float
    distance: float
    variance: float = 0.0


class AirspeedSample(NamedTuple):
    """Airspeed (m/s), differential pressure (Pa), temperature (K)."""

    time_ns: int
    velocity: float
    differential_pressure: float
    temperature: float


class BatterySample(NamedTuple):
    """Voltage (V) and current (A)."""

    time_ns: int
    voltage: float
    current: float


class WindSample(NamedTuple):
    """Velocity of the air over the ground, NED, m/s (3)."""

    time_ns: int
    velocity_ned: Floats


class WindRates(NamedTuple):
    """Angular velocity of the air at the vehicle, body axes, rad/s (3)."""

    time_ns: int
    rates: Floats


class PushingForce(NamedTuple):
    """Force at the centre of mass, NED, N (3)."""

    time_ns: int
    force_ned: Floats


class InducedAir(NamedTuple):
    """Velocity (m/s, 3) and angular velocity (rad/s, 3) that rotors of other vehicles give the air, NED."""

    time_ns: int
    velocity_ned: Floats
    rates_ned: Floats


class Wrench(NamedTuple):
    """Force (N, 3) and moment (N m, 3), gravity and contact excluded."""

    time_ns: int
    force: Floats
    moment: Floats


class PulseWidths(NamedTuple):
    """Pulse width of each channel, us."""

    time_ns: int
    pulse_us: Sequence[int]


class Outputs(NamedTuple):
    """Output of each channel: 0 to 1 for a motor, -1 to 1 for a servo (14)."""

    time_ns: int
    values: Floats


class AttitudeEstimate(NamedTuple):
    """Attitude (x y z w) and angular rate (rad/s, 3)."""

    time_ns: int
    quaternion_xyzw: Floats
    angular_velocity: Floats


class EulerAngles(NamedTuple):
    """Roll, pitch and yaw, rad (3)."""

    time_ns: int
    roll_pitch_yaw: Floats


class StatusReport(NamedTuple):
    """State of the flight controller, as in rosflight_msgs/Status."""

    time_ns: int
    armed: bool
    failsafe: bool
    rc_override: int
    offboard: bool
    control_mode: int
    error_code: int
    num_errors: int
    loop_time_us: int


class ControlCommand(NamedTuple):
    """Mode, ignored fields and ten set-points, as in rosflight_msgs/Command."""

    time_ns: int
    mode: int
    ignore: int
    u: Floats


class AuxiliaryCommand(NamedTuple):
    """Type and value of each output, as in rosflight_msgs/AuxCommand (14 each)."""

    time_ns: int
    types: Sequence[int]
    values: Floats


class SetpointSample(NamedTuple):
    """Target position NED (m, 3) and attitude (x y z w)."""

    time_ns: int
    position_ned: Floats
    quaternion_xyzw: Floats


class StepSize(NamedTuple):
    """Beginning and end of a step: of this one if its length is requested, else of all later; length 0: no request."""

    time_ns: int
    end_ns: int
    is_requested: bool

    @property
    def length_ns(self) -> int:
        """Length of the step, ns."""
        return self.end_ns - self.time_ns

    @property
    def seconds(self) -> float:
        """Length of the step, s."""
        return self.length_ns / NANOSECONDS


class NamedNumbers(NamedTuple):
    """Numbers, each with a name."""

    time_ns: int
    names: tuple[str, ...]
    numbers: Floats


def vector3(numbers: Floats) -> tuple[float, float, float]:
    """Three numbers as a tuple."""
    x, y, z = numbers
    return x, y, z


def topic_of(vehicle: str, topic: str) -> str:
    """Name of a topic in a vehicle's namespace."""
    return f"{vehicle.rstrip('/')}/{topic}" if vehicle else topic


class StepTopic(Generic[M]):
    """A topic, its QoS and the coding of its messages. Without coders, nodes exchange the ROS messages themselves.

    Attributes:
        name: relative to the vehicle's namespace.
        message_type: ROS message type.
        frame_id: of the header.
        qos: QoS that publishers offer.
        fields: names of the fields, in order; empty where the message is the ROS message itself.
        carried: class of the messages that nodes send and receive.
        is_exclusive: whether a second publisher, of another simulation, would corrupt this one.
        encode: serialises a message (CDR).
        decode: deserialises a message.
        as_received: rounds a message as encoding and decoding would (float32 fields); None if they change nothing.
        places: for messages that always have the same layout, the place of each field, by name.
    """

    def __init__(
        self,
        name: str,
        message_type: Any,
        qos: QoSProfile = CHAIN,
        *,
        exclusive: bool = False,
        requested: Callable[[str], QoSProfile] | None = None,
        carried: Any = None,
        fields: tuple[str, ...] = (),
        frame_id: str = "",
        coders: Coders | None = None,
    ) -> None:
        """Declare the topic; `requested` maps a time mode to the QoS of subscriptions, where that is not `qos`."""
        self.name, self.message_type, self.qos = name, message_type, qos
        self.is_exclusive = exclusive
        self.carried = carried or message_type
        self.fields, self.frame_id = fields, frame_id
        ordinary = Coders(serialize_message, partial(deserialize_message, message_type=message_type))
        self.encode: Callable[[M], bytes]
        self.decode: Callable[[bytes], M]
        self.as_received: Callable[[M], M] | None
        self.encode, self.decode, self.as_received, self.places = coders or ordinary
        self._requested = requested

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def renamed(self, name: str) -> StepTopic[M]:
        """The same topic under another name, and not exclusive."""
        other = copy(self)
        other.name, other.is_exclusive = name, False
        return other

    def requested_qos(self, time_mode: str) -> QoSProfile:
        """QoS that a subscription requests in a time mode."""
        return self.qos if self._requested is None else self._requested(time_mode)


def stamped(
    name: str,
    message_type: Any,
    carried: Callable[..., M],
    paths: Mapping[str, str] | None = None,
    *,
    frame_id: str = "",
    constants: Mapping[str, Iterable[float]] | None = None,
    **options: Any,
) -> StepTopic[M]:
    """A topic whose ROS message is a header followed by numbers; nodes exchange it as a named tuple.

    Args:
        name: of the topic.
        message_type: ROS message type.
        carried: named tuple class; its first field is time_ns.
        paths: field to its path in the ROS message, where the two differ.
        frame_id: of the header.
        constants: path to its numbers, for paths without a field that are not zero.
        options: see StepTopic.
    """
    fields: tuple[str, ...] = carried._fields  # type: ignore[attr-defined]
    wire = WireFormat(message_type, frame_id)
    coded = {field: (paths or {}).get(field, field) for field in fields[1:]}
    return StepTopic(
        name,
        message_type,
        carried=carried,
        fields=fields,
        frame_id=frame_id,
        coders=wire.coders(carried, coded, constants or {}),
        **options,
    )


def _named_numbers(data: bytes) -> NamedNumbers:
    message = deserialize_message(data, JointState)
    return NamedNumbers(time_ns_of(message.header.stamp), tuple(message.name), tuple(message.position))


def _named(name: str, **options: Any) -> StepTopic[NamedNumbers]:
    return StepTopic(
        name,
        JointState,
        carried=NamedNumbers,
        fields=NamedNumbers._fields,
        coders=Coders(lambda message: encode_named_numbers(*message), _named_numbers),
        **options,
    )


_OF_PARAMETER, _OF_REQUEST = "step_size", "step_size_request"


def _encode_step_size(step: StepSize) -> bytes:
    message = TimeReference(source=_OF_REQUEST if step.is_requested else _OF_PARAMETER)
    set_time(message.header.stamp, step.time_ns)
    set_time(message.time_ref, step.end_ns)
    return bytes(serialize_message(message))


def _decode_step_size(data: bytes) -> StepSize:
    message = deserialize_message(data, TimeReference)
    return StepSize(time_ns_of(message.header.stamp), time_ns_of(message.time_ref), message.source == _OF_REQUEST)


_NO_ORIENTATION = {"orientation": (0.0, 0.0, 0.0, 1.0), "orientation_covariance": (-1.0, *(0.0,) * 8)}
_IMU = {"gyro": "angular_velocity", "accel": "linear_acceleration"}

# Time, truth, wrench.
CLOCK = StepTopic[int](
    topic_names.CLOCK,
    Clock,
    exclusive=True,
    requested=clock_qos,
    carried=int,
    fields=("time_ns",),
    coders=Coders(encode_clock, stamp_ns),
)
# A time that the lockstep time manager publishes again, for nodes whose trigger (IMU message or truth state) is not
# repeated with /clock.
REPEATED_CLOCK = CLOCK.renamed("sim/repeated_clock")
TRUTH_STATE = StepTopic[VehicleState](
    topic_names.TRUTH_STATE,
    SimState,
    LATCHED,
    carried=VehicleState,
    fields=VehicleState.FIELDS,
    frame_id="NED",
    coders=Coders(VehicleState.encode, VehicleState.decode, None, PLACES),
    exclusive=True,
    requested=state_qos,
)
TRUTH_WIND = stamped(
    topic_names.TRUTH_WIND,
    Vector3Stamped,
    WindSample,
    {"velocity_ned": "vector"},
    frame_id="NED",
    qos=LATCHED,
    exclusive=True,
    requested=state_qos,
)
# Only with the parameter rotational_gusts.
TRUTH_WIND_RATES = stamped(
    topic_names.TRUTH_WIND_RATES,
    Vector3Stamped,
    WindRates,
    {"rates": "vector"},
    frame_id="body",
    qos=LATCHED,
    exclusive=True,
    requested=state_qos,
)
# Encounters with other vehicles, only with the parameters collision_radius and downwash: numbers by name, as in
# `physics/collision.py` and `physics/downwash.py`, and the effects on the vehicle in the step that begins at the stamp.
COLLISION_SPHERE = _named("sim/collision_sphere", qos=LATCHED)
ROTOR_JET = _named("sim/rotor_jet")
COLLISION_FORCE = stamped("sim/collision_force", Vector3Stamped, PushingForce, {"force_ned": "vector"}, frame_id="NED")
INDUCED_AIR = stamped(
    "sim/induced_air",
    TwistStamped,
    InducedAir,
    {"velocity_ned": "twist.linear", "rates_ned": "twist.angular"},
    frame_id="NED",
)
# In each step in which vehicles touch; position is the overlap (m), velocity the speed of approach, effort the force.
CONTACTS = StepTopic[JointState]("contacts", JointState)
FORCES_AND_MOMENTS = stamped(
    topic_names.FORCES_AND_MOMENTS,
    WrenchStamped,
    Wrench,
    {"force": "wrench.force", "moment": "wrench.torque"},
    frame_id="body",
    exclusive=True,
)
TRUTH_BATTERY = stamped(
    topic_names.TRUTH_BATTERY,
    BatteryStatus,
    BatterySample,
    exclusive=True,
)
# False until a time after 0: a time manager starts the time that no node knows yet.
HAS_STARTED = StepTopic[Bool]("sim/has_started", Bool, LATCHED, exclusive=True)
# From the beginning of a step (stamp) to its end (time_ref). The source is "step_size_request" for a step of requested
# length; otherwise it is "step_size", the parameter, and later steps have the same length.
SIM_STEP_SIZE = StepTopic[StepSize](
    "sim/step_size",
    TimeReference,
    LATCHED,
    carried=StepSize,
    fields=StepSize._fields,
    coders=Coders(_encode_step_size, _decode_step_size),
    exclusive=True,
)
SIM_STEP_SIZE_REQUEST = SIM_STEP_SIZE.renamed("sim/step_size_request")
WAITING_FOR = StepTopic[String]("sim/waiting_for", String, LATCHED)
FAULT = StepTopic[String]("sim/fault", String, LATCHED)
# Whether the time manager is paused.
PAUSED = StepTopic[Bool]("sim/paused", Bool, LATCHED)
# Active failures of a node; created with the node's first failure.
ACTIVE_FAILURES = StepTopic[String](topic_names.ACTIVE_FAILURES, String, LATCHED)

# Sensors.
IMU = stamped(
    topic_names.IMU,
    Imu,
    ImuSample,
    {
        **_IMU,
        "gyro_covariance": "angular_velocity_covariance",
        "accel_covariance": "linear_acceleration_covariance",
    },
    frame_id="body",
    constants=_NO_ORIENTATION,
    qos=LATCHED,
    requested=imu_qos,
    exclusive=True,
)
IMU_TEMPERATURE = stamped(
    "sim/sensors/imu/temperature",
    Temperature,
    TemperatureSample,
    {"temperature_c": "temperature"},
    frame_id="body",
    exclusive=True,
)
MAG = stamped(
    "sim/sensors/mag",
    MagneticField,
    MagSample,
    {"field": "magnetic_field", "covariance": "magnetic_field_covariance"},
    frame_id="body",
    exclusive=True,
)
BARO = stamped("sim/sensors/baro", Barometer, BaroSample, exclusive=True)
GNSS_FIX = stamped(
    "sim/sensors/gnss",
    GNSS,
    GnssSample,
    {
        "satellites": "num_sat",
        "latitude_deg": "lat",
        "longitude_deg": "lon",
        "altitude_msl_m": "alt",
        "velocity_north": "vel_n",
        "velocity_east": "vel_e",
        "velocity_down": "vel_d",
        "unix_seconds": "gnss_unix_seconds",
        "unix_nanoseconds": "gnss_unix_nanos",
    },
    exclusive=True,
)
DIFF_PRESSURE = stamped("sim/sensors/diff_pressure", Airspeed, AirspeedSample, exclusive=True)
RANGE = stamped(
    topic_names.RANGE,
    Range,
    RangeSample,
    {"minimum": "min_range", "maximum": "max_range", "distance": "range"},
    frame_id="body",
    constants={"radiation_type": (Range.ULTRASOUND,)},
    exclusive=True,
)
BATTERY = stamped("sim/sensors/battery", BatteryStatus, BatterySample, exclusive=True)
# Name and position of each entry are the name of an error and its value.
TRUTH_ERRORS = _named("sim/truth_errors")
# Constant and slowly varying errors of the IMU alone, under ROSflight's name and type.
TRUTH_IMU_BIAS = stamped(topic_names.TRUTH_IMU_BIAS, Imu, ImuBias, _IMU, frame_id="body", constants=_NO_ORIENTATION)

# Outputs and RC frames of the flight controller.
PWM_OUTPUT = stamped(
    topic_names.PWM_OUTPUT,
    PwmOutput,
    PulseWidths,
    {"pulse_us": "values"},
    exclusive=True,
)
RC = stamped("sim/RC", RCRaw, PulseWidths, {"pulse_us": "values"}, requested=stamped_input_qos)

# The flight controller, under the names of rosflight_io.
STATUS = stamped(topic_names.STATUS, Status, StatusReport, exclusive=True)
PARAMS_CHANGED = StepTopic[Bool]("status/params_changed", Bool)
UNSAVED_PARAMS = StepTopic[Bool]("status/unsaved_params", Bool, LATCHED)
FIRMWARE_ERRORS = StepTopic[Error]("status/rosflight_errors", Error, LATCHED_LIST)
FIRMWARE_VERSION = StepTopic[String]("version", String, LATCHED)
ATTITUDE = stamped("attitude", Attitude, AttitudeEstimate, {"quaternion_xyzw": "attitude"}, frame_id="body")
ATTITUDE_EULER = stamped(topic_names.ATTITUDE_EULER, Vector3Stamped, EulerAngles, {"roll_pitch_yaw": "vector"})
IMU_DATA = stamped("imu/data", Imu, ImuEstimate, {"quaternion_xyzw": "orientation", **_IMU}, frame_id="body")
OUTPUT_RAW = stamped("output_raw", OutputRaw, Outputs)
# Speed of each rotor, rad/s, as the values; the bridge subscribes if a front-end requires them.
TRUTH_ROTOR_SPEEDS = OUTPUT_RAW.renamed("sim/truth_rotor_speeds")
RC_RAW = RC.renamed("rc_raw")
CORRECTED_TEMPERATURE = IMU_TEMPERATURE.renamed("imu/temperature")
CORRECTED_AIRSPEED = DIFF_PRESSURE.renamed(topic_names.CORRECTED_AIRSPEED)
CORRECTED_BARO = BARO.renamed(topic_names.CORRECTED_BARO)
CORRECTED_MAG = MAG.renamed("magnetometer")
CORRECTED_RANGE = RANGE.renamed("range")
CORRECTED_BATTERY = BATTERY.renamed(topic_names.CORRECTED_BATTERY)
CORRECTED_GNSS = GNSS_FIX.renamed("gnss")

# Commands to the flight controller.
COMMAND = stamped("command", Command, ControlCommand, requested=stamped_input_qos)
AUX_COMMAND = stamped("aux_command", AuxCommand, AuxiliaryCommand, {"types": "type_array"}, requested=stamped_input_qos)
EXTERNAL_ATTITUDE = ATTITUDE.renamed(topic_names.EXTERNAL_ATTITUDE)
# What a vehicle that can hold depth and heading does at present, in words.
HOLD_DOING = StepTopic[String]("hold/doing", String, LATCHED)
# Set-points of a vehicle that holds depth and heading, by name: depth, yaw, surge, sway.
HOLD_SETPOINT = _named("hold/setpoint", requested=stamped_input_qos)
SETPOINT = stamped(
    topic_names.SETPOINT,
    PoseStamped,
    SetpointSample,
    {"position_ned": "pose.position", "quaternion_xyzw": "pose.orientation"},
    frame_id="NED",
)
AUTOPILOT_PHASE = StepTopic[String](topic_names.AUTOPILOT_PHASE, String, LATCHED)
AUTOPILOT_PATH = StepTopic[Path](topic_names.AUTOPILOT_PATH, Path, LATCHED)
AUTOPILOT_ROUTE = StepTopic[Path](topic_names.AUTOPILOT_ROUTE, Path, LATCHED)
AUTOPILOT_WAYPOINTS = StepTopic[Path]("autopilot/waypoints", Path)
AUTOPILOT_PROGRESS = StepTopic[Float64](topic_names.AUTOPILOT_PROGRESS, Float64)

# Guided mode of a vehicle with uThere Ground Control: mode and bitmaps of exceeded limits.
GUIDED_MODE = StepTopic[UInt8](topic_names.GUIDED_MODE, UInt8, LATCHED)
CAGE_TRIGGERED = StepTopic[UInt32](topic_names.CAGE_TRIGGERED, UInt32, LATCHED)
CAGE_TRIGGERED_LAST = StepTopic[UInt32](topic_names.CAGE_TRIGGERED_LAST, UInt32, LATCHED)

STEP_TOPICS: tuple[StepTopic[Any], ...] = tuple(row for row in vars().copy().values() if isinstance(row, StepTopic))
"""All rows, in the order in which they are declared."""
