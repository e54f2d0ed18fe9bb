"""Messages that PX4 and a simulator exchange, of MAVLink's common dialect.

Names, numbers and types are facts of the protocol; test/protocols/test_px4_simulator.py compares them with those of
pymavlink. Extensions that PX4 does not need, such as the number of further sensors, are left out. Body axes are
forward, right, down.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Annotated, NamedTuple, TypeAlias

from rosflight_py_sim.protocols.mavlink.common import Heartbeat as Heartbeat
from rosflight_py_sim.protocols.mavlink.common import RcChannels as RcChannels
from rosflight_py_sim.protocols.mavlink.layout import F32, I16, I32, U8, U16, U32, U64, Kind, Layouts

LAYOUTS = Layouts()
"""Layouts of all messages."""

Four: TypeAlias = Annotated[tuple[float, ...], Kind("float", 4)]
Sixteen: TypeAlias = Annotated[tuple[float, ...], Kind("float", 16)]

CHANNELS = 16
"""Number of `controls`."""

AUTOPILOT_PX4 = 12
"""`autopilot` of PX4's heartbeat."""


class Updated(IntEnum):
    """`fields_updated` of HilSensor; PX4 uses a group only with all its bits (SimulatorMavlink.hpp, SensorSource)."""

    ACCEL = 0x7
    GYRO = 0x38
    MAG = 0x1C0
    DIFF_PRESSURE = 0x400
    # Pressure, pressure altitude and temperature.
    BARO = 0x1A00


class Mode(IntFlag):
    """`mode` of HilActuatorControls."""

    CUSTOM = 1
    ARMED = 128


class ControlFlag(IntFlag):
    """`flags` of HilActuatorControls."""

    LOCKSTEP = 1


class CommandNumber(IntEnum):
    """`command` of CommandLong."""

    SET_MESSAGE_INTERVAL = 511


class RangeOrientation(IntEnum):
    """`orientation` of DistanceSensor (MAV_SENSOR_ORIENTATION)."""

    DOWN = 25


LAYOUTS.message(0)(Heartbeat)
LAYOUTS.message(65)(RcChannels)


@LAYOUTS.message(76)
class CommandLong(NamedTuple):
    """Command with seven parameters."""

    target_system: U8
    target_component: U8
    command: U16
    confirmation: U8
    param1: F32 = 0.0
    param2: F32 = 0.0
    param3: F32 = 0.0
    param4: F32 = 0.0
    param5: F32 = 0.0
    param6: F32 = 0.0
    param7: F32 = 0.0


@LAYOUTS.message(93)
class HilActuatorControls(NamedTuple):
    """Outputs: 0 to 1 for a motor, -1 to 1 for a servo; `time_usec` is that of the last HilSensor, us."""

    time_usec: U64
    controls: Sixteen
    mode: U8
    flags: U64


@LAYOUTS.message(107)
class HilSensor(NamedTuple):
    """Measurements: specific force (m/s^2), angular rate (rad/s), magnetic field (gauss), pressures (hPa), deg C."""

    time_usec: U64
    xacc: F32
    yacc: F32
    zacc: F32
    xgyro: F32
    ygyro: F32
    zgyro: F32
    xmag: F32
    ymag: F32
    zmag: F32
    abs_pressure: F32
    diff_pressure: F32
    pressure_alt: F32
    temperature: F32
    fields_updated: U32


@LAYOUTS.message(113)
class HilGps(NamedTuple):
    """Fix: Unix time (us), position (1e-7 deg, mm MSL), accuracies (cm), velocity NED (cm/s), course (0.01 deg)."""

    time_usec: U64
    fix_type: U8
    lat: I32
    lon: I32
    alt: I32
    eph: U16
    epv: U16
    vel: U16
    vn: I16
    ve: I16
    vd: I16
    cog: U16
    satellites_visible: U8


@LAYOUTS.message(115)
class HilStateQuaternion(NamedTuple):
    """True state: attitude w x y z, rates (rad/s), position (1e-7 deg, mm), velocity NED (cm/s), force (mg)."""

    time_usec: U64
    attitude_quaternion: Four
    rollspeed: F32
    pitchspeed: F32
    yawspeed: F32
    lat: I32
    lon: I32
    alt: I32
    vx: I16
    vy: I16
    vz: I16
    ind_airspeed: U16
    true_airspeed: U16
    xacc: I16
    yacc: I16
    zacc: I16


@LAYOUTS.message(132)
class DistanceSensor(NamedTuple):
    """Distance and its limits, cm, and its variance, cm^2."""

    time_boot_ms: U32
    min_distance: U16
    max_distance: U16
    current_distance: U16
    type: U8
    id: U8
    orientation: U8
    covariance: U8
