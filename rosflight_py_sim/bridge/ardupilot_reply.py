"""Replies to ArduPilot: snapshots as lines of its JSON protocol."""

from __future__ import annotations

import math

from rosflight_py_sim.bridge.front_end_interface import Snapshot
from rosflight_py_sim.bridge.true_imu import true_imu
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.shared_parameters import ORIGIN_LONGITUDE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS, earth_of
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial
from rosflight_py_sim.protocols.ardupilot_json import (
    MOST_RANGES,
    MOST_ROTORS,
    BatteryStatus,
    Reply,
    Vector3,
    Windvane,
    encode_reply,
)
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.step.topics import RangeSample
from rosflight_py_sim.transmitter.channels import frame_at_rest

REPLY_PARAMETERS = EARTH_PARAMETERS + ParameterTable(
    Parameter(
        "ardupilot.imu",
        "truth",
        "Source of the reply's gyro and accelerometer: truth (ArduPilot adds the noise and biases of an IMU), or "
        "sensors (measurements of the node sensors, with their noise and biases)",
        choices=("truth", "sensors"),
        read_only=True,
    ),
    Parameter(
        "ardupilot.position",
        "ned",
        "Position in the reply: ned (metres from home), geodetic (latitude, longitude and altitude, which ArduPilot up "
        "to 4.6 does not read), or both (newer ones use latitude, longitude and altitude, in steps of 1 cm)",
        choices=("ned", "geodetic", "both"),
        read_only=True,
    ),
    ORIGIN_LONGITUDE,
    Parameter(
        "ardupilot.no_lockstep",
        False,
        "Whether ArduPilot continues without a reply, 0.1 s after its frame, instead of waiting for it; only after 4.6",
        read_only=True,
    ),
    Parameter("ardupilot.attitude", True, "Whether the reply contains roll, pitch and yaw", read_only=True),
    Parameter(
        "ardupilot.quaternion",
        True,
        "Whether the reply contains the attitude quaternion, which ArduPilot prefers",
        read_only=True,
    ),
    Parameter("ardupilot.rng_1", True, "Whether the reply contains the range finder's distance", read_only=True),
    Parameter(
        "ardupilot.further_ranges",
        [],
        "Topics of sensor_msgs/Range, relative to the vehicle's namespace, whose distances the reply contains as rng_2 "
        f"to rng_{MOST_RANGES}, in this order; empty: none",
        element=str,
        read_only=True,
    ),
    Parameter("ardupilot.windvane", True, "Whether the reply contains the apparent wind", read_only=True),
    Parameter("ardupilot.velocity_wind", True, "Whether the reply contains the wind over ground", read_only=True),
    Parameter("ardupilot.airspeed", True, "Whether the reply contains the pitot tube's airspeed", read_only=True),
    Parameter(
        "ardupilot.rc",
        True,
        "Whether the reply contains the transmitter channels (sim/RC); false: ArduPilot receives them elsewhere, "
        "for example from MAVProxy's rc command",
        read_only=True,
    ),
    Parameter(
        "ardupilot.rpm",
        [],
        "Rotors, counted from 0, whose speeds the reply contains as rpm_1 to rpm_4, in ArduPilot's order; empty: none",
        element=int,
        minimum=0,
        maximum=OUTPUTS - 1,
        read_only=True,
    ),
    Parameter("ardupilot.battery", True, "Whether the reply contains the battery monitor's readings", read_only=True),
)

# ArduPilot stores ranges in cm as 16 bits; this is beyond the maximum range of all its drivers.
_BEYOND_RANGE_M = 655.0

# ArduPilot takes a voltage of 0 for a reply without a battery, and uses its own model of a full one (SITL_State_common,
# update_voltage_current).
_LEAST_VOLTAGE = 0.01

# Of one rad/s.
_RPM = 30.0 / math.pi

_AT_REST = tuple(frame_at_rest())

# Speed below which the direction of a vane is undefined, m/s.
_CALM_MPS = 1e-6


class ReplyMaker:
    """Builds the replies that the parameters select.

    The set of fields never changes, as ArduPilot requires: a sensor without a measurement yet reads 0, and the
    transmitter reads neutral until its first message. The voltage of an empty battery is at least 0.01 V.

    Attributes:
        required_fields: snapshot fields that the replies need, see FrontEndInterface.
    """

    def __init__(self, values: Values) -> None:
        """Store the values of REPLY_PARAMETERS.

        Raises:
            ParameterError: neither attitude field is enabled; ArduPilot cannot fly without one.
        """
        self._attitude, self._quaternion = bool(values["ardupilot.attitude"]), bool(values["ardupilot.quaternion"])
        if not (self._attitude or self._quaternion):
            raise ParameterError(
                "parameters 'ardupilot.attitude' and 'ardupilot.quaternion': false given for both; allowed: true for "
                "at least one"
            )
        self._true_imu = values["ardupilot.imu"] == "truth"
        self._earth = earth_of(values)
        self._range = bool(values["ardupilot.rng_1"])
        self._ranges = _number_of_ranges(values)
        self._windvane = bool(values["ardupilot.windvane"])
        self._wind = bool(values["ardupilot.velocity_wind"])
        self._airspeed = bool(values["ardupilot.airspeed"])
        self._rc = bool(values["ardupilot.rc"])
        self._battery = bool(values["ardupilot.battery"])
        position = values["ardupilot.position"]
        self._position = position != "geodetic"
        origin = (number(values, f"origin_{name}") for name in ("latitude", "longitude", "altitude"))
        self._frame = None if position == "ned" else tangent_plane(*origin)
        # Absent, as false, from the replies to an ArduPilot that waits.
        self._no_lockstep = True if values["ardupilot.no_lockstep"] else None
        self._rotors = [int(str(rotor)) for rotor in values["ardupilot.rpm"]]  # type: ignore[union-attr]
        if len(self._rotors) > MOST_ROTORS:
            raise ParameterError(
                f"parameter 'ardupilot.rpm': {self._rotors} given; allowed: at most {MOST_ROTORS} rotors"
            )
        switches = {
            "imu": not self._true_imu,
            "range": self._range,
            "airspeed": self._airspeed,
            "battery": self._battery,
            "rc": self._rc,
            "rotor_speeds": bool(self._rotors),
        }
        self.required_fields = frozenset(name for name, wanted in switches.items() if wanted)

    def line(self, snapshot: Snapshot) -> bytes:
        """The reply, as one datagram.

        Raises:
            ReplyError: the state is not finite, or out of range.
        """
        north, east, down, w, x, y, z, u, v, w_down = snapshot.truth[:10].tolist()
        velocity_ned = rotate_to_inertial(w, x, y, z, u, v, w_down)
        euler = euler_from_quaternion(w, x, y, z)
        gyro, accel_body = snapshot.gyro, snapshot.accel_body
        if self._true_imu:
            gyro, accel_body = true_imu(self._earth, snapshot.truth)
        position = (north, east, down) if self._position else None
        reply = Reply(snapshot.time_ns / NANOSECONDS, gyro, accel_body, position, velocity_ned)
        if self._frame is not None:
            reply.geodetic = ned_to_geodetic(self._frame, north, east, down)
        speeds = snapshot.rotor_speeds
        reply.rpm = tuple(_RPM * speeds[rotor] if speeds else 0.0 for rotor in self._rotors)
        reply.no_lockstep = self._no_lockstep
        if self._attitude:
            reply.attitude = euler
        if self._quaternion:
            reply.quaternion = (w, x, y, z)
        if self._range:
            reply.ranges = tuple(map(_finite_range, snapshot.ranges or self._ranges * (None,)))
        if self._windvane:
            reply.windvane = apparent_wind(velocity_ned, snapshot.wind_ned, euler[2])
        if self._wind:
            reply.velocity_wind = snapshot.wind_ned
        if self._airspeed:
            reply.airspeed = 0.0 if snapshot.airspeed is None else snapshot.airspeed.velocity
        if self._rc:
            reply.rc_us = snapshot.rc_us or _AT_REST
        if self._battery:
            voltage, current = snapshot.battery or (0.0, 0.0)
            reply.battery = BatteryStatus(max(voltage, _LEAST_VOLTAGE), current)
        return encode_reply(reply)


def _number_of_ranges(values: Values) -> int:
    """Number of range finders in the reply.

    Raises:
        ParameterError: more than the protocol has, or further ones without the first.
    """
    topics = values["ardupilot.further_ranges"]
    assert isinstance(topics, list)
    has_first = bool(values["ardupilot.rng_1"])
    most = MOST_RANGES - 1 if has_first else 0
    if len(topics) > most or len(set(topics)) < len(topics) or "" in topics:
        allowed = f"at most {most} topics, each once" if has_first else "none while 'ardupilot.rng_1' is false"
        raise ParameterError(f"parameter 'ardupilot.further_ranges': {topics} given; allowed: {allowed}")
    return has_first + len(topics)


def apparent_wind(velocity_ned: Vector3, wind_ned: Vector3, yaw: float) -> Windvane:
    """Reading of a wind vane with a vertical axis: speed (m/s) and the direction that the air comes from (rad)."""
    north, east = velocity_ned[0] - wind_ned[0], velocity_ned[1] - wind_ned[1]
    speed = math.hypot(north, east)
    direction = (math.atan2(east, north) - yaw) % (2.0 * math.pi) if speed > _CALM_MPS else 0.0
    return Windvane(direction, speed)


def _finite_range(sample: RangeSample | None) -> float:
    """Distance with REP 117's infinities replaced by finite numbers; 0 before the first message."""
    return 0.0 if sample is None else min(max(sample.distance, 0.0), _BEYOND_RANGE_M)
