"""GNSS receiver: geodetic position with a slowly varying error, and velocity.

The position error has three parts:

- a first-order Gauss-Markov process (Beard and McLain, Small Unmanned Aircraft, section 7.5) with the driving noise and
  time constant 1 / k_gnss of the parameters: errors of orbits, clocks and atmosphere. Unlike in ROSflight, it starts
  from its stationary distribution, not from zero: a real receiver is off by metres right after switch-on. The
  receiver's filter smooths it with the time constant `gnss_smoothing_time`;
- white noise of the receiver;
- multipath bursts: at random times, for random durations, the position moves to an offset, normally distributed and
  constant during the burst, and back, with the time constant of the receiver's filter. The velocity is unaffected:
  multipath shifts the carrier phase, from which receivers measure velocity, by a few centimetres only.

The velocity error is the change of the smoothed Gauss-Markov process over the time between reports, divided by that
time, plus white noise: its integral is the position error without noise and multipath. With the defaults half of the
velocity errors are below 0.05 m/s, the accuracy in the data sheet of u-blox's NEO-M8 (UBX-15031086), from which the
smoothing time follows. The white noise of the position is an estimate: with it and the Gauss-Markov process, half of
the horizontal errors are below 1.8 m (2.5 m in that data sheet).

Fixes are lost at random times for random durations. Both durations and intervals are exponentially distributed. The
defaults are for an open sky, without outages and multipath.

The local tangent plane is placed on the WGS-84 ellipsoid at the origin; the geoid is taken as the ellipsoid, so that
altitude counts from mean sea level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import JAMMED, SIGNAL, Target
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import ChainLink
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.earth import SEMI_MAJOR
from rosflight_py_sim.physics.normal_draws import NormalDraws
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.sensing.errors import (
    BIAS,
    BIAS_RANGE,
    ERROR,
    TURN_ON,
    UNIT_WALK,
    WALK_DENSITY,
    ErrorModel,
    ErrorSource,
    ErrorTerms,
    advance_errors,
    axes,
)
from rosflight_py_sim.sensing.failing import Measured
from rosflight_py_sim.sensing.geodetic import ned_at_place, ned_to_geodetic, tangent_plane
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorInputs, SensorModel, Surroundings
from rosflight_py_sim.sensing.site import SITE_PARAMETERS
from rosflight_py_sim.step.topics import GNSS_FIX, GnssSample
from rosflight_py_sim.step.vehicle_state import VehicleState

_RATE = 10.0

_DECAY = Parameter(
    "k_gnss", 1.0 / 1100.0, "Inverse time constant of the GNSS position error", "1/s", minimum=1e-6, maximum=1e3
)

_HORIZONTAL = ErrorSource(
    "horizontal_gnss",
    "horizontal GNSS position (north and east each)",
    "m",
    _RATE,
    noise_density=0.05,
    walk_stdev=0.21,
    walk_name="horizontal_gnss_stdev",
    walk_drives=True,
    shared_decay=_DECAY,
)
_VERTICAL = ErrorSource(
    "vertical_gnss",
    "vertical GNSS position",
    "m",
    _RATE,
    noise_density=0.1,
    walk_stdev=0.4,
    walk_name="vertical_gnss_stdev",
    walk_drives=True,
    shared_decay=_DECAY,
)
_VELOCITY = ErrorSource("gnss_velocity", "GNSS velocity", "m/s", _RATE, stdev=0.01)

_NED = ("north", "east", "down")
_TRUE_ERRORS = (*axes("gnss_position_error", _NED), *axes("gnss_velocity_error", _NED))

FIX_NONE, FIX_2D, FIX_3D = 0, 2, 3
"""Fix types, as in rosflight_msgs/GNSS."""


def _interval(name: str, what: str) -> Parameter:
    return Parameter(
        f"gnss_{name}_interval",
        0.0,
        f"Mean time between two {what}; 0: none",
        "s",
        minimum=1e-3,
        maximum=1e7,
        also_allowed=(0.0,),
    )


def _duration(name: str, default: float, what: str) -> Parameter:
    return Parameter(f"gnss_{name}_duration", default, f"Mean duration of {what}", "s", minimum=1e-3, maximum=1e6)


PARAMETERS = (
    SITE_PARAMETERS
    + _HORIZONTAL.parameters()
    + _VERTICAL.parameters()
    + _VELOCITY.parameters()
    + ParameterTable(
        Parameter(
            "gnss_num_satellites",
            15,
            "Satellites in view: 4 or more give a 3D fix, 3 a 2D fix (altitude held), fewer no fix (last report held)",
            minimum=0,
            maximum=255,
        ),
        Parameter(
            "gnss_smoothing_time",
            4.0,
            "Time constant with which the receiver smooths its position error; the velocity error contains the change "
            "of the smoothed error (0: position errors are not smoothed, and velocity errors are independent of them)",
            "s",
            minimum=1e-3,
            maximum=1e4,
            also_allowed=(0.0,),
        ),
        Parameter(
            "gnss_antenna_position",
            [0.0, 0.0, 0.0],
            "Position of the GNSS antenna relative to the centre of mass, forward, right, down",
            "m",
            minimum=-100.0,
            maximum=100.0,
            length=3,
        ),
        _interval("outage", "losses of the fix"),
        _duration("outage", 5.0, "a loss of the fix"),
        _interval("multipath", "bursts of multipath"),
        _duration("multipath", 20.0, "a burst of multipath"),
        Parameter(
            "gnss_multipath_stdev",
            5.0,
            "Position offset in a burst of multipath: standard deviation of north, east and down each",
            "m",
            minimum=0.0,
            maximum=1e3,
        ),
    )
)


@kernel_record
class Episodes:
    """Recurring state of a receiver, such as an outage: exponentially distributed intervals and durations.

    Attributes:
        begin_rate: rate at which episodes begin (1/s); 0 for none.
        end_rate: rate at which an episode ends (1/s).
        active: whether an episode is going on.
    """

    begin_rate: float
    end_rate: float
    active: bool


# Numbers of a report, in the order of the message: fix type, satellites, latitude and longitude (deg), altitude (m
# MSL), horizontal and vertical accuracy (m), velocity NED (m/s), accuracy of the speed (m/s).
_FIX, _SATELLITES, _LATITUDE, _LONGITUDE, _ALTITUDE, _HORIZONTAL_ACCURACY, _VERTICAL_ACCURACY = range(7)
_VELOCITIES, _SPEED_ACCURACY, _REPORTED = 7, 10, 11


@kernel_record
class Reception:
    """Receiver as it is mounted, and its state.

    Attributes:
        satellites: number in view.
        is_flat: whether the vehicle flies over a plane, on which north is the same everywhere.
        forward: position of the antenna (m).
        right: position of the antenna (m).
        down: position of the antenna (m).
        smoothing_time: of the position error (s); 0 for none.
        multipath_stdev: of the position in a burst of multipath (m).
        outage: losses of the fix.
        multipath: bursts of multipath.
    """

    satellites: int
    is_flat: bool
    forward: float
    right: float
    down: float
    smoothing_time: float
    multipath_stdev: float
    outage: Episodes
    multipath: Episodes


class GnssReceiver(SensorModel):
    """GNSS receiver.

    After `sample`: `latitude_deg`, `longitude_deg`, `altitude_msl_m`, `velocity_ned` (3,) (m/s), `fix_type` (0 none,
    2 2D, 3 3D), `num_satellites`, and the standard deviations `horizontal_accuracy` (of north and east each),
    `vertical_accuracy` (m) and `speed_accuracy` (m/s, root mean square of the three components), which leave out
    multipath. Without a fix, position and velocity keep the last report's values.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        terms = [_HORIZONTAL.terms(values), _HORIZONTAL.terms(values), _VERTICAL.terms(values)]
        terms += [_VELOCITY.terms(values)] * 3
        self._terms = terms
        super().__init__(ErrorModel(terms, rng))
        self._episode_draws = NormalDraws(rng.spawn(1)[0], 5)
        forward, right, down = np.array(values["gnss_antenna_position"], dtype=np.float64).tolist()
        satellites = int(number(values, "gnss_num_satellites"))
        self._reception = Reception(
            satellites=satellites,
            is_flat=values["earth"] == "flat",
            forward=forward,
            right=right,
            down=down,
            smoothing_time=number(values, "gnss_smoothing_time"),
            multipath_stdev=number(values, "gnss_multipath_stdev"),
            outage=_episodes(values, "outage"),
            multipath=_episodes(values, "multipath"),
        )
        # Smoothed walk for a density of one, the offset of multipath and its target for a deviation of one, and the
        # errors of position and velocity without white noise.
        self._wander: NDArray[np.float64] = np.zeros((5, 3))
        self._wander[0] = self._errors.channels[0:3, UNIT_WALK]
        origin = (
            number(values, "origin_latitude"),
            number(values, "origin_longitude"),
            number(values, "origin_altitude"),
        )
        self._report: NDArray[np.float64] = np.zeros(_REPORTED)
        self._report[: _ALTITUDE + 1] = fix_type(satellites), satellites, *origin
        self.velocity_ned = self._report[_VELOCITIES:_SPEED_ACCURACY]
        frame, measured = tangent_plane(*origin), np.zeros(6)
        self._models = self._reception, self._wander, self._errors.channels, frame, measured, self._report
        self._measure = bound(sample_gnss, *self._models)
        self._accurate_dt = 0.0

    @property
    def fix_type(self) -> int:
        """Fix of the last report."""
        return int(self._report[_FIX])

    @property
    def num_satellites(self) -> int:
        """Satellites in the last report."""
        return int(self._report[_SATELLITES])

    @property
    def latitude_deg(self) -> float:
        """Reported latitude, deg."""
        return float(self._report[_LATITUDE])

    @property
    def longitude_deg(self) -> float:
        """Reported longitude, deg."""
        return float(self._report[_LONGITUDE])

    @property
    def altitude_msl_m(self) -> float:
        """Reported altitude, m."""
        return float(self._report[_ALTITUDE])

    @property
    def horizontal_accuracy(self) -> float:
        """Standard deviation of north and of east, m."""
        return float(self._report[_HORIZONTAL_ACCURACY])

    @property
    def vertical_accuracy(self) -> float:
        """Standard deviation of the altitude, m."""
        return float(self._report[_VERTICAL_ACCURACY])

    @property
    def speed_accuracy(self) -> float:
        """Root mean square of the standard deviations of the velocity, m/s."""
        return float(self._report[_SPEED_ACCURACY])

    def adopt(self, other: GnssReceiver) -> None:
        """Copy another receiver's errors and last report."""
        super().adopt(other)
        self._episode_draws = other._episode_draws
        self._wander[:] = other._wander
        self._reception.outage.active = other._reception.outage.active
        self._reception.multipath.active = other._reception.multipath.active
        kept = slice(_LATITUDE, _REPORTED)
        self._report[kept] = other._report[kept]

    def true_errors(self) -> dict[str, float]:
        """True errors of the last report without white noise, NED, m and m/s."""
        return dict(zip(_TRUE_ERRORS, self._wander[3:5].ravel().tolist(), strict=True))

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[Any, ...]:
        """Fix; see `GnssSample`."""
        self.sample(state.truth, dt)
        return self.reading(around, time_ns, dt)

    def reading(self, around: Surroundings, time_ns: int, dt: float) -> tuple[Any, ...]:
        """Fields of the last measurement, as returned by `read`."""
        return self.sent_fields(self._report, around.start_ns + time_ns)

    def sent_fields(self, numbers: NDArray[np.float64], unix_ns: int) -> tuple[Any, ...]:
        """Fix, the numbers of `links`, and the time in s and ns."""
        fix, satellites, *others = numbers.tolist()
        return int(fix), int(satellites), *others, *divmod(unix_ns, NANOSECONDS)

    def sample(self, truth: NDArray[np.float64], dt: float) -> None:
        """Report; `truth` (19,), dt the time since the last report (s, > 0)."""
        self._set_accuracies(dt)
        self._measure(truth, dt, next(self._errors.normals), next(self._episode_draws))

    def links(self, inputs: SensorInputs) -> tuple[NDArray[np.float64], Sequence[ChainLink]]:
        """Draw the numbers, then measure; the numbers are those of the message without the time."""
        self._set_accuracies(inputs.dt)
        normals, draws = np.zeros(2 * len(self._terms)), np.zeros(5)
        sampled = bound(sample_gnss, *self._models, inputs.truth, inputs.dt, normals, draws)
        return self._report, (self._errors.normals.link(normals), self._episode_draws.link(draws), ChainLink(sampled))

    def _set_accuracies(self, dt: float) -> None:
        if dt == self._accurate_dt:
            return
        self._accurate_dt = dt
        horizontal, _, vertical, velocity = self._terms[0:4]
        horizontally, drift = self._deviations(horizontal, dt)
        vertically, drift_down = self._deviations(vertical, dt)
        noise, _ = self._deviations(velocity, dt)
        speed = math.sqrt(noise * noise + (2.0 * drift * drift + drift_down * drift_down) / 3.0)
        self._report[_HORIZONTAL_ACCURACY : _VERTICAL_ACCURACY + 1] = horizontally, vertically
        self._report[_SPEED_ACCURACY] = speed

    def _deviations(self, term: ErrorTerms, dt: float) -> tuple[float, float]:
        """Standard deviations of a channel's error (smoothed walk, white noise, uniform bias) and of its derivative.

        The lag 1 / (1 + tau s) takes the walk's variance to 1 / (1 + k tau) of it, and the derivative of the smoothed
        walk has k / tau of that.
        """
        decay, lag = term.decay_rate, self._reception.smoothing_time
        walk = term.walk_deviation / math.sqrt(1.0 + decay * lag)
        bias = term.bias_range / math.sqrt(3.0)
        return math.hypot(walk, term.noise_density / math.sqrt(dt), bias), walk * math.sqrt(decay / lag) if lag else 0.0


@kernel
def fix_type(satellites: int) -> int:
    """Fix with so many satellites in view."""
    return FIX_3D if satellites >= 4 else FIX_2D if satellites == 3 else FIX_NONE


def _episodes(values: Values, name: str) -> Episodes:
    interval, duration = number(values, f"gnss_{name}_interval"), number(values, f"gnss_{name}_duration")
    return Episodes(begin_rate=1.0 / interval if interval > 0.0 else 0.0, end_rate=1.0 / duration, active=False)


@kernel
def sample_gnss(
    reception: Reception,
    wander: NDArray[np.float64],
    channels: NDArray[np.float64],
    frame: NDArray[np.float64],
    measured: NDArray[np.float64],
    report: NDArray[np.float64],
    truth: NDArray[np.float64],
    dt: float,
    normals: NDArray[np.float64],
    draws: NDArray[np.float64],
) -> None:
    """Write a report without the accuracies (11,), from the truth vector (19,) and the frame of the origin (4, 3).

    `wander` (5, 3) has the smoothed walk, the offset of multipath and its target, and the errors of position and
    velocity without white noise, NED, in its rows; `measured` (6,) gets the antenna's position and velocity with
    errors, NED (m, m/s); `draws` (5,) are standard normal.
    """
    advance_episodes(reception.outage, draws[0], dt)
    burst_begins = advance_episodes(reception.multipath, draws[1], dt)
    for axis in range(3):
        if burst_begins:
            wander[2, axis] = draws[2 + axis]
        elif not reception.multipath.active:
            wander[2, axis] = 0.0
        measured[axis] = channels[axis, UNIT_WALK]
    advance_errors(channels, normals, dt)
    forward, right, down = reception.forward, reception.right, reception.down
    p, q, r = truth[10], truth[11], truth[12]
    arm = rotate_to_inertial(truth[3], truth[4], truth[5], truth[6], forward, right, down)
    velocity = rotate_to_inertial(
        truth[3],
        truth[4],
        truth[5],
        truth[6],
        truth[7] + q * down - r * right,
        truth[8] + r * forward - p * down,
        truth[9] + p * right - q * forward,
    )
    lag = reception.smoothing_time
    kept = math.exp(-dt / lag) if lag > 0.0 else 0.0
    for axis in range(3):
        # Response of the lag to a walk that changes linearly over dt.
        walk, smoothed, density = channels[axis, UNIT_WALK], wander[0, axis], channels[axis, WALK_DENSITY]
        slope = (walk - measured[axis]) / dt
        wander[0, axis] = walk - slope * lag + (smoothed - measured[axis] + slope * lag) * kept
        drift = density * (wander[0, axis] - smoothed) / dt if lag > 0.0 else 0.0
        wander[1, axis] = wander[2, axis] + (wander[1, axis] - wander[2, axis]) * kept
        error = channels[axis, ERROR] - channels[axis, BIAS]
        error += channels[axis, BIAS_RANGE] * channels[axis, TURN_ON] + density * wander[0, axis]
        measured[axis] = truth[axis] + arm[axis] + error + reception.multipath_stdev * wander[1, axis]
        measured[3 + axis] = velocity[axis] + channels[3 + axis, ERROR] + drift
        wander[3, axis] = channels[axis, BIAS_RANGE] * channels[axis, TURN_ON] + density * wander[0, axis]
        wander[3, axis] += reception.multipath_stdev * wander[1, axis]
        wander[4, axis] = channels[3 + axis, BIAS] + drift
    satellites = 0 if reception.outage.active else reception.satellites
    fix = fix_type(satellites)
    report[_FIX], report[_SATELLITES] = fix, satellites
    if fix == FIX_NONE:
        return
    latitude, longitude, altitude = ned_to_geodetic(frame, measured[0], measured[1], measured[2])
    report[_LATITUDE], report[_LONGITUDE] = latitude, longitude
    if fix == FIX_3D:
        report[_ALTITUDE] = altitude
    north, east, below = measured[3], measured[4], measured[5]
    if not reception.is_flat:
        north, east, below = ned_at_place(frame, latitude, longitude, north, east, below)
    report[_VELOCITIES], report[_VELOCITIES + 1], report[_VELOCITIES + 2] = north, east, below


@kernel
def advance_episodes(episodes: Episodes, draw: float, dt: float) -> bool:
    """Begin or end an episode with the probability of one change in dt (s); return whether one begins.

    The probability is that of a two-state Markov chain; `draw` is standard normal.
    """
    total = episodes.begin_rate + episodes.end_rate
    leaving = episodes.end_rate if episodes.active else episodes.begin_rate
    if 0.5 * math.erfc(-draw / math.sqrt(2.0)) >= leaving / total * -math.expm1(-total * dt):
        return False
    episodes.active = not episodes.active
    return episodes.active


class Position(Measured):
    """Position in metres north, east and down on a sphere; the velocity belongs to a stuck reading.

    The scale of the longitude is that of the first position, so that a change of latitude does not shift the east.
    """

    def __init__(self) -> None:
        self._east_per_rad = 0.0

    def numbers(self, sample: GnssSample) -> Sequence[float]:
        latitude = math.radians(sample.latitude_deg)
        self._east_per_rad = self._east_per_rad or SEMI_MAJOR * max(math.cos(latitude), 1e-6)
        east = self._east_per_rad * math.radians(sample.longitude_deg)
        velocity = (sample.velocity_north, sample.velocity_east, sample.velocity_down)
        return (SEMI_MAJOR * latitude, east, -sample.altitude_msl_m, *velocity)

    def with_numbers(self, sample: GnssSample, numbers: Sequence[float]) -> GnssSample:
        north, east, down, *velocity = numbers
        return sample._replace(
            latitude_deg=math.degrees(north / SEMI_MAJOR),
            longitude_deg=math.degrees(east / self._east_per_rad),
            altitude_msl_m=-down,
            velocity_north=velocity[0],
            velocity_east=velocity[1],
            velocity_down=velocity[2],
        )


GNSS_RECEIVER = Sensor(
    GNSS_FIX,
    "gnss",
    "the GNSS receiver",
    GnssReceiver,
    rate_hz=_RATE,
    # ArduPilot assumes this value for u-blox receivers of the generations 7, M8, M9, M10 and F9
    # (AP_GPS_UBLOX::get_lag, "based on flight logs the 7 and 8 series seem to produce about 120ms lag").
    latency_s=0.12,
    update="gnss_update",
    parameters=PARAMETERS,
    failures={"gnss": Failing(Target("GNSS receiver", "m, north east down", 3, (*SIGNAL, JAMMED)), Position)},
    stream=4,
)
