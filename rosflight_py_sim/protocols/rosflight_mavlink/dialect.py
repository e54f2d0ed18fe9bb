"""ROSflight's MAVLink dialect: the messages between the flight controller and its companion computer.

Numbers, names and types are those of rosflight_firmware (comms/mavlink/rosflight.xml); they are facts of the protocol,
and test/protocols/test_rosflight_mavlink.py compares their checksums with the original's. Angular rates are in rad/s,
accelerations in m/s^2, pressures in Pa, temperatures in K; body axes are forward, right, down.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, NamedTuple, TypeAlias

from rosflight_py_sim.protocols.mavlink.common import Heartbeat as Heartbeat
from rosflight_py_sim.protocols.mavlink.common import RcChannels as RcChannels
from rosflight_py_sim.protocols.mavlink.layout import (
    F32,
    F64,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bits,
    Kind,
    Layouts,
)

LAYOUTS = Layouts()
"""Layouts of all messages."""

BOARD_COMPONENT = 250
"""Component of the flight controller."""

COMPANION_SYSTEM, COMPANION_COMPONENT = 1, 50
"""System and component of `rosflight_io`."""

Name: TypeAlias = Annotated[bytes, Kind("char", 16)]
Text: TypeAlias = Annotated[bytes, Kind("char", 50)]
Ten: TypeAlias = Annotated[tuple[float, ...], Kind("float", 10)]
Fourteen: TypeAlias = Annotated[tuple[float, ...], Kind("float", 14)]
FourteenBytes: TypeAlias = Annotated[tuple[int, ...], Kind("uint8_t", 14)]

LONGEST_TEXT = 50
"""Characters of a status text or version."""


class Acknowledgement(IntEnum):
    """`success` of RosflightCmdAck."""

    FAILED = 0
    SUCCESS = 1


class VehicleType(IntEnum):
    """`type` of Heartbeat."""

    GENERIC = 0
    FIXED_WING = 1
    QUADROTOR = 2


class ParamType(IntEnum):
    """`param_type` of the parameters that the firmware has; `param_value` has the bits of the value."""

    INT32 = 6
    REAL32 = 9


class TextSeverity(IntEnum):
    """`severity` of Statustext."""

    CRITICAL = 2
    ERROR = 3
    WARNING = 4
    INFO = 6


class RangeType(IntEnum):
    """`type` of SmallRange."""

    SONAR = 0
    LIDAR = 1


LAYOUTS.message(0)(Heartbeat)
# The firmware uses the first eight channels.
LAYOUTS.message(65)(RcChannels)


@LAYOUTS.message(20)
class ParamRequestRead(NamedTuple):
    """Request for one parameter, by index or, with index -1, by name."""

    target_system: U8
    target_component: U8
    param_id: Name
    param_index: I16


@LAYOUTS.message(21)
class ParamRequestList(NamedTuple):
    """Request for all parameters."""

    target_system: U8
    target_component: U8


@LAYOUTS.message(22)
class ParamValue(NamedTuple):
    """Value of a parameter; see `parameter_bits`."""

    param_id: Name
    param_value: Bits
    param_type: U8
    param_count: U16
    param_index: U16


@LAYOUTS.message(23)
class ParamSet(NamedTuple):
    """New value of a parameter; see `parameter_bits`."""

    target_system: U8
    target_component: U8
    param_id: Name
    param_value: Bits
    param_type: U8


@LAYOUTS.message(31)
class AttitudeQuaternion(NamedTuple):
    """Attitude, body to inertial (w x y z), and angular rate."""

    time_boot_ms: U32
    q1: F32
    q2: F32
    q3: F32
    q4: F32
    rollspeed: F32
    pitchspeed: F32
    yawspeed: F32


@LAYOUTS.message(111)
class Timesync(NamedTuple):
    """Request (tc1 is 0) with the sender's time ts1, or reply with the replier's time tc1 and the request's ts1; ns."""

    tc1: I64
    ts1: I64


@LAYOUTS.message(180)
class OffboardControl(NamedTuple):
    """Command of the companion computer, as rosflight_msgs/Command."""

    mode: U8
    ignore: U16
    u: Ten


@LAYOUTS.message(181)
class SmallImu(NamedTuple):
    """Corrected IMU sample."""

    time_boot_us: U64
    xacc: F32
    yacc: F32
    zacc: F32
    xgyro: F32
    ygyro: F32
    zgyro: F32
    temperature: F32


@LAYOUTS.message(182)
class SmallMag(NamedTuple):
    """Corrected magnetic field, T."""

    xmag: F32
    ymag: F32
    zmag: F32


@LAYOUTS.message(183)
class SmallBaro(NamedTuple):
    """Pressure altitude (m), pressure and temperature."""

    altitude: F32
    pressure: F32
    temperature: F32


@LAYOUTS.message(184)
class DiffPressure(NamedTuple):
    """Indicated airspeed (m/s), differential pressure and temperature."""

    velocity: F32
    diff_pressure: F32
    temperature: F32


@LAYOUTS.message(187)
class SmallRange(NamedTuple):
    """Distance and its limits, m."""

    type: U8
    range: F32
    max_range: F32
    min_range: F32


@LAYOUTS.message(188)
class RosflightCmd(NamedTuple):
    """Command to the board: a `firmware.BoardCommand`."""

    command: U8


@LAYOUTS.message(189)
class RosflightCmdAck(NamedTuple):
    """Whether a command succeeded."""

    command: U8
    success: U8


@LAYOUTS.message(190)
class RosflightOutputRaw(NamedTuple):
    """Outputs at a time since the start (ms): 0 to 1 for a motor, -1 to 1 for a servo."""

    stamp: U64
    values: Fourteen


@LAYOUTS.message(191)
class RosflightStatus(NamedTuple):
    """State of the flight controller, as rosflight_msgs/Status."""

    armed: U8
    failsafe: U8
    rc_override: U16
    offboard: U8
    error_code: U8
    control_mode: U8
    num_errors: I16
    loop_time_us: I16


@LAYOUTS.message(192)
class RosflightVersion(NamedTuple):
    """Version of the firmware."""

    version: Text


@LAYOUTS.message(193)
class RosflightAuxCmd(NamedTuple):
    """Auxiliary outputs, as rosflight_msgs/AuxCommand."""

    type_array: FourteenBytes
    aux_cmd_array: Fourteen


@LAYOUTS.message(195)
class ExternalAttitude(NamedTuple):
    """Attitude of another estimator, body to inertial."""

    qw: F32
    qx: F32
    qy: F32
    qz: F32


@LAYOUTS.message(196)
class RosflightHardError(NamedTuple):
    """Fault that made the board restart."""

    error_code: U32
    pc: U32
    reset_count: U32
    doRearm: U32  # noqa: N815 (name of the dialect, part of its checksum)


@LAYOUTS.message(197)
class RosflightGnss(NamedTuple):
    """Fix: Unix time, position (deg, m MSL), velocity NED (m/s), accuracies, and time since the start (us)."""

    seconds: I64
    nanos: I32
    fix_type: U8
    num_sat: U8
    lat: F64
    lon: F64
    height: F32
    vel_n: F32
    vel_e: F32
    vel_d: F32
    h_acc: F32
    v_acc: F32
    s_acc: F32
    rosflight_timestamp: U64


@LAYOUTS.message(199)
class RosflightBatteryStatus(NamedTuple):
    """Filtered voltage (V) and current (A)."""

    battery_voltage: F32
    battery_current: F32


@LAYOUTS.message(253)
class Statustext(NamedTuple):
    """Log line of the firmware; without a final 0 if it fills the field."""

    severity: U8
    text: Text
