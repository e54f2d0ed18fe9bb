"""GNSS receiver: geodetic position with a slowly varying error, and velocity.

The position error is a first-order Gauss-Markov process (Beard and McLain, Small Unmanned Aircraft, section 7.5) with
the driving noise and time constant 1 / k_gnss of the parameters. Unlike in ROSflight, it starts from its stationary
distribution, not from zero: a real receiver is off by metres right after switch-on. The local tangent plane is placed
on the WGS-84 ellipsoid at the origin; the geoid is taken as the ellipsoid, so that altitude counts from mean sea level.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, ErrorTerms, advance_errors
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.sensing.site import GNSS_RATE, SITE_PARAMETERS
from rosflight_py_sim.stamps import NANOSECONDS

_DECAY = Parameter(
    "k_gnss",
    1.0 / 1100.0,
    "Inverse time constant of the GNSS position error",
    "1/s",
    minimum=0.0,
    above_minimum=True,
)

_HORIZONTAL = ErrorSource(
    "horizontal_gnss",
    "horizontal GNSS position (north and east each)",
    "m",
    GNSS_RATE,
    walk_stdev=0.21,
    walk_name="horizontal_gnss_stdev",
    walk_drives=True,
    shared_decay=_DECAY,
)
_VERTICAL = ErrorSource(
    "vertical_gnss",
    "vertical GNSS position",
    "m",
    GNSS_RATE,
    walk_stdev=0.4,
    walk_name="vertical_gnss_stdev",
    walk_drives=True,
    shared_decay=_DECAY,
)
_VELOCITY = ErrorSource("gnss_velocity", "GNSS velocity", "m/s", GNSS_RATE, stdev=0.01)

FIX_NONE, FIX_2D, FIX_3D = 0, 2, 3
"""Fix types, as in rosflight_msgs/GNSS."""

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
    )
)


class GnssReceiver:
    """GNSS receiver at the centre of mass.

    After `sample`: `latitude_deg`, `longitude_deg`, `altitude_msl_m`, `velocity_ned` (3,) (m/s), `fix_type` (0 none,
    2 2D, 3 3D), `num_satellites`, the standard deviations `horizontal_accuracy` (of north and east each),
    `vertical_accuracy` (m), `speed_accuracy` (m/s, of each component), and the report's time `unix_seconds`,
    `unix_nanoseconds`. Without a fix, position and velocity keep the last report's values.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        terms = [_HORIZONTAL.terms(values), _HORIZONTAL.terms(values), _VERTICAL.terms(values)]
        terms += [_VELOCITY.terms(values)] * 3
        self._terms = terms
        self._errors = ErrorModel(terms, rng)
        origin = (
            number(values, "origin_latitude"),
            number(values, "origin_longitude"),
            number(values, "origin_altitude"),
        )
        self._tangent_plane = tangent_plane(*origin)
        self.num_satellites = int(number(values, "gnss_num_satellites"))
        self.fix_type = FIX_3D if self.num_satellites >= 4 else FIX_2D if self.num_satellites == 3 else FIX_NONE
        self.latitude_deg, self.longitude_deg, self.altitude_msl_m = origin
        self.velocity_ned: NDArray[np.float64] = np.zeros(3)
        self._measured: NDArray[np.float64] = np.zeros(6)
        self.horizontal_accuracy = 0.0
        self.vertical_accuracy = 0.0
        self.speed_accuracy = 0.0
        self.unix_seconds = 0
        self.unix_nanoseconds = 0

    def adopt(self, other: GnssReceiver) -> None:
        """Copy another receiver's errors and last report."""
        self._errors.adopt(other._errors)
        self.latitude_deg = other.latitude_deg
        self.longitude_deg = other.longitude_deg
        self.altitude_msl_m = other.altitude_msl_m
        self.velocity_ned[:] = other.velocity_ned
        self.horizontal_accuracy = other.horizontal_accuracy
        self.vertical_accuracy = other.vertical_accuracy
        self.speed_accuracy = other.speed_accuracy
        self.unix_seconds = other.unix_seconds
        self.unix_nanoseconds = other.unix_nanoseconds

    def sample(self, truth: NDArray[np.float64], time_ns: int, dt: float) -> None:
        """Report; `truth` (19,), `time_ns` since the Unix epoch (ns), dt the time since the last report (s, > 0)."""
        measured = self._measured
        sample_gnss(truth, dt, self._errors.channels, self._errors.normals.next(), measured)
        self.unix_seconds, self.unix_nanoseconds = divmod(time_ns, NANOSECONDS)
        self.horizontal_accuracy = _deviation(self._terms[0], dt)
        self.vertical_accuracy = _deviation(self._terms[2], dt)
        self.speed_accuracy = _deviation(self._terms[3], dt)
        if self.fix_type == FIX_NONE:
            return
        north, east, down = measured[0:3].tolist()
        self.latitude_deg, self.longitude_deg, altitude = ned_to_geodetic(self._tangent_plane, north, east, down)
        if self.fix_type == FIX_3D:
            self.altitude_msl_m = altitude
        self.velocity_ned[:] = measured[3:6]


def _deviation(term: ErrorTerms, dt: float) -> float:
    """Standard deviation of a channel's error: walk, white noise, and a uniformly distributed bias."""
    bias = term.bias_range / math.sqrt(3.0)
    return math.hypot(term.walk_deviation, term.noise_density / math.sqrt(dt), bias)


@kernel
def sample_gnss(
    truth: NDArray[np.float64],
    dt: float,
    channels: NDArray[np.float64],
    normals: NDArray[np.float64],
    measured: NDArray[np.float64],
) -> None:
    """Write position and velocity with errors into `measured` (6,), NED (m, m/s)."""
    advance_errors(channels, normals, dt)
    north, east, down = rotate_to_inertial(truth[3], truth[4], truth[5], truth[6], truth[7], truth[8], truth[9])
    measured[0] = truth[0] + channels[0, ERROR]
    measured[1] = truth[1] + channels[1, ERROR]
    measured[2] = truth[2] + channels[2, ERROR]
    measured[3] = north + channels[3, ERROR]
    measured[4] = east + channels[4, ERROR]
    measured[5] = down + channels[5, ERROR]
