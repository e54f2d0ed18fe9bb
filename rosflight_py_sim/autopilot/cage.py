"""Cage: state limits within which a program may control a plane, and a bitmap of those exceeded.

Source: uThere, Interfacing with Ground Control via UDP / TCP ("Implementing fly() command in your software"), which
defines the order of the bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    FlyTarget,
    PitchTarget,
    PositionTarget,
    RollTarget,
    ThrottleTarget,
)
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number


class CageBit(IntEnum):
    """Number of each bit of `cage_triggered`."""

    ALTITUDE = 0
    CLIMB = 1
    THROTTLE = 2
    RANGE_SOFT = 3
    RANGE_HARD = 4
    HANDHELD_LOST_COMM = 5
    PACKET_TIMEOUT_FOR_SELECTED_MODE = 6
    PACKET_TIMEOUT_LOST_COMM = 7
    AIRSPEED = 8
    ROLL = 9
    PITCH = 10
    WINGLOAD = 11
    BATTERY_WARN = 12
    BATTERY_EMERGENCY = 13
    UNSPECIFIED = 14
    TARGET = 15
    GPS_BAD = 16
    NAV_LOST = 17
    IMU_DISABLED = 18


@dataclass(frozen=True, slots=True)
class Observed:
    """State of a plane at one time, in SI units.

    Attributes:
        time_s: simulated time, s.
        state: position, attitude, speeds, and the wind.
        throttle: commanded throttle, 0 to 1.
        wing_load: lift over weight: 1 in level flight.
        battery_voltage: measured voltage, V; None before the first measurement.
        armed: whether the flight controller is armed.
        override: whether the safety pilot has the controls.
        rc_lost: whether the signal of the safety pilot's transmitter is lost.
        gps_ok: whether GNSS provides a position.
        nav_ok: whether the attitude is known by which the vehicle is flown.
        imu_ok: whether the inertial sensors respond.
    """

    time_s: float
    state: FlightState
    throttle: float
    wing_load: float
    battery_voltage: float | None
    armed: bool
    override: bool
    rc_lost: bool
    gps_ok: bool
    nav_ok: bool
    imu_ok: bool


class ShownUnit(NamedTuple):
    """Unit of a quantity in texts: its number per SI unit, and its name."""

    per_si: float
    name: str


SI_UNITS: Mapping[str, ShownUnit] = {
    "altitude": ShownUnit(1.0, "m"),
    "climb": ShownUnit(1.0, "m/s"),
    "throttle": ShownUnit(1.0, ""),
    "range": ShownUnit(1.0, "m"),
    "airspeed": ShownUnit(1.0, "m/s"),
    "roll": ShownUnit(1.0, "rad"),
    "pitch": ShownUnit(1.0, "rad"),
}
"""Quantities of targets, in the units of the limits."""


@dataclass(frozen=True)
class CageLimit:
    """Limit of one quantity; `sign` is 1 for a maximum and -1 for a minimum."""

    bit: CageBit
    quantity: str
    sign: int
    parameter: Parameter

    @property
    def name(self) -> str:
        """Name of the parameter and of the variable."""
        return self.parameter.name


CAGE_LIMITS = (
    CageLimit(
        CageBit.ALTITUDE,
        "altitude",
        1,
        Parameter("cage_altitude_maximum", 300.0, "Maximum height above home", "m", -1e5, 1e5),
    ),
    CageLimit(
        CageBit.ALTITUDE,
        "altitude",
        -1,
        Parameter("cage_altitude_minimum", 10.0, "Minimum height above home", "m", -1e5, 1e5),
    ),
    CageLimit(CageBit.CLIMB, "climb", 1, Parameter("cage_climb_maximum", 15.0, "Maximum climb rate", "m/s", -1e3, 1e3)),
    CageLimit(
        CageBit.CLIMB,
        "climb",
        -1,
        Parameter("cage_climb_minimum", -15.0, "Minimum climb rate (negative: descent)", "m/s", -1e3, 1e3),
    ),
    CageLimit(
        CageBit.THROTTLE,
        "throttle",
        1,
        Parameter("cage_throttle_maximum", 1.0, "Maximum throttle", minimum=0.0, maximum=1.0),
    ),
    CageLimit(
        CageBit.RANGE_SOFT,
        "range",
        1,
        Parameter("cage_range", 1000.0, "Maximum distance from home", "m", minimum=0.0, maximum=1e7),
    ),
    CageLimit(
        CageBit.RANGE_HARD,
        "range",
        1,
        Parameter(
            "cage_range_hard",
            1500.0,
            "Hard limit of the distance from home, with a separate bit",
            "m",
            minimum=0.0,
            maximum=1e7,
        ),
    ),
    CageLimit(
        CageBit.AIRSPEED,
        "airspeed",
        1,
        Parameter("cage_airspeed_max", 35.0, "Maximum airspeed", "m/s", minimum=0.0, maximum=1e3),
    ),
    CageLimit(
        CageBit.AIRSPEED,
        "airspeed",
        -1,
        Parameter("cage_airspeed_min", 10.0, "Minimum airspeed", "m/s", minimum=0.0, maximum=1e3),
    ),
    CageLimit(
        CageBit.ROLL,
        "roll",
        1,
        Parameter("cage_roll_max", 1.05, "Maximum roll angle, left and right", "rad", minimum=0.0, maximum=math.pi),
    ),
    CageLimit(
        CageBit.PITCH,
        "pitch",
        1,
        Parameter("cage_pitch_max", 0.7, "Maximum pitch angle", "rad", minimum=-math.pi / 2, maximum=math.pi / 2),
    ),
    CageLimit(
        CageBit.PITCH,
        "pitch",
        -1,
        Parameter("cage_pitch_min", -0.7, "Minimum pitch angle", "rad", minimum=-math.pi / 2, maximum=math.pi / 2),
    ),
    CageLimit(
        CageBit.WINGLOAD,
        "wingload",
        1,
        Parameter("cage_wingload_max", 4.0, "Maximum wing load: lift over weight", "", -1e3, 1e3),
    ),
    CageLimit(
        CageBit.BATTERY_WARN,
        "battery",
        -1,
        Parameter(
            "cage_battery_warn", 0.0, "Voltage below which the battery counts as low", "V", minimum=0.0, maximum=1e3
        ),
    ),
    CageLimit(
        CageBit.BATTERY_EMERGENCY,
        "battery",
        -1,
        Parameter(
            "cage_battery_emergency",
            0.0,
            "Voltage below which the battery counts as nearly empty",
            "V",
            minimum=0.0,
            maximum=1e3,
        ),
    ),
)
"""All numeric limits."""

_RISING = (
    ("cage_altitude_minimum", "cage_altitude_maximum"),
    ("cage_climb_minimum", "cage_climb_maximum"),
    ("cage_range", "cage_range_hard"),
    ("cage_airspeed_min", "cage_airspeed_max"),
    ("cage_pitch_min", "cage_pitch_max"),
    ("cage_battery_emergency", "cage_battery_warn"),
)
"""Pairs of limits of which the second must not be below the first."""

CAGE_PARAMETERS = ParameterTable(
    *(limit.parameter for limit in CAGE_LIMITS),
    Parameter(
        "cage_handheld_lost_comm",
        False,
        "Whether the loss of the safety pilot's transmitter sets the bit HandheldLostComm, and so ends fly()",
    ),
)


class Cage:
    """Checks states and targets against the limits of CAGE_PARAMETERS."""

    def __init__(self, values: Values, units: Mapping[str, ShownUnit] = SI_UNITS) -> None:
        """`values` contains the checked values of CAGE_PARAMETERS; others are ignored.

        `units` are those of texts, by the quantities of SI_UNITS.

        Raises:
            ParameterError: a maximum is below its minimum.
        """
        self._units = units
        self.limits = {limit.name: number(values, limit.name) for limit in CAGE_LIMITS}
        self.needs_handheld = bool(values["cage_handheld_lost_comm"])
        for low, high in _RISING:
            if self.limits[low] > self.limits[high]:
                raise ParameterError(
                    f"parameters '{low}' and '{high}': {self.limits[low]:g} and {self.limits[high]:g} given; allowed: "
                    "the second not below the first"
                )
        self._rows = [
            (limit.quantity, limit.sign, limit.sign * self.limits[limit.name], 1 << limit.bit) for limit in CAGE_LIMITS
        ]

    def exceeded(self, quantities: Mapping[str, float]) -> int:
        """Bitmap of the limits that these quantities exceed; missing quantities exceed none."""
        bits = 0
        for quantity, sign, bound, bit in self._rows:
            value = quantities.get(quantity)
            if value is not None and sign * value > bound:
                bits |= bit
        return bits

    def of_state(self, observed: Observed, battery_voltage: float | None) -> int:
        """Bitmap of a plane's state at one time, without the bits that depend on durations.

        Those are the bits of packets and targets, and NAV_LOST. The voltage (V) is smoothed, or None if unknown.
        """
        state = observed.state
        north, east, _ = state.position_ned
        quantities = {
            "altitude": state.height,
            "climb": state.climb,
            "throttle": observed.throttle,
            "range": math.hypot(north, east),
            "airspeed": state.airspeed,
            "roll": abs(state.roll),
            "pitch": state.pitch,
            "wingload": observed.wing_load,
        }
        if battery_voltage is not None:
            quantities["battery"] = battery_voltage
        return (
            self.exceeded(quantities)
            | (self.needs_handheld and observed.rc_lost) << CageBit.HANDHELD_LOST_COMM
            | (not observed.gps_ok) << CageBit.GPS_BAD
            | (not observed.imu_ok) << CageBit.IMU_DISABLED
        )

    def of_target(self, target: FlyTarget) -> int:
        """Bitmap of a target: the limits that it exceeds, together with TARGET; 0 if it is inside."""
        bits = self.exceeded(_quantities(target))
        return bits | 1 << CageBit.TARGET if bits else 0

    def excess(self, target: FlyTarget) -> str:
        """Each part of a target that is outside, with its limits: 'roll 70 deg given, allowed: up to 60 deg'."""
        return "; ".join(
            f"{quantity} {self._shown(quantity, value)} given, allowed: {self._allowed(quantity)}"
            for quantity, value in _quantities(target).items()
            if self.exceeded({quantity: value})
        )

    def _allowed(self, quantity: str) -> str:
        bounds = {sign: sign * bound for name, sign, bound, _ in reversed(self._rows) if name == quantity}
        unit, high = self._units[quantity], self._shown(quantity, bounds[1])
        return f"{bounds[-1] * unit.per_si:.4g} to {high}" if -1 in bounds else f"up to {high}"

    def _shown(self, quantity: str, value: float) -> str:
        unit = self._units[quantity]
        return f"{value * unit.per_si:.4g} {unit.name}".rstrip()


def _quantities(target: FlyTarget) -> dict[str, float]:
    """Values of a target by the quantities of limits."""
    quantities: dict[str, float] = {}
    for part in (target.lateral, target.speed, target.vertical):
        match part:
            case PositionTarget():
                quantities["range"] = math.hypot(part.north_m, part.east_m)
            case RollTarget():
                quantities["roll"] = abs(part.roll_rad)
            case AirspeedTarget():
                quantities["airspeed"] = part.airspeed
            case PitchTarget():
                quantities["pitch"] = part.pitch_rad
            case AltitudeTarget():
                quantities["altitude"] = part.altitude_m
            case ClimbTarget():
                quantities["climb"] = part.climb
            case ThrottleTarget():
                quantities["throttle"] = part.throttle
    return quantities


def bit_names(bits: int) -> str:
    """Names of the bits that are set, such as 'roll, target'; empty if none."""
    return ", ".join(bit.name.lower().replace("_", " ") for bit in CageBit if bits >> bit & 1)
