"""Range finders: beams in the world that the parameter `world` names; the first looks along the body's z axis (down).

The beam is a cone of the width `range_field_of_view`. The reading is the distance to the nearest reflection in it: from
the ground, the water surface (from either side), the pool's floor and walls, and every object except paint. The axis of
the cone, eight lines on its surface and the line nearest to the vertical are traced. On dry, level land the reading is
height / cos(tilt - half width), or the height if the vertical is within the cone.

The sensor detects the reflection if its signal is above a threshold. The signal falls with the square of the distance
and grows with the reflectivity of the surface (lidar equation for a surface that fills the beam): it is at the
threshold at `range_max_range` if the reflectivity is 0.9, that of the white target in data sheets. White noise on the
signal lets the readings near this distance drop out: at the distance d the sensor detects with the probability
Phi((s - 1) / sigma), s = (reflectivity / 0.9) (max_range / d)^2, sigma the noise at the threshold.

Water that a beam in air meets reflects like a mirror with waves. With F = 0.02, Fresnel's reflectance of water, and m
the mean square slope of the surface, it has the reflectivity F / (4 m cos^6 a) exp(-tan^2(a) / m) in a beam at the
angle a to the vertical: no return from a calm surface, except from straight above. C. Cox and W. Munk, Measurement of
the roughness of the sea surface from photographs of the sun's glitter, J. Opt. Soc. Am. 44, 1954: m = 0.003 + 0.00512
s/m times the wind speed. The default is that of 3 m/s.

The defaults are ROSflight's where it has them. They agree with Benewake's TF-Luna (product manual): 0.2 m to 8 m
at a reflectivity of 0.9 (and 2.5 m at 0.1, where the equation above gives 2.7 m), a resolution of 0.01 m, and a
standard deviation of 0.03 m near the threshold. The noise of the signal is an estimate.

The reading follows REP 117: a distance beyond the maximum, or no reflection detected, reads +inf; a distance below the
minimum reads -inf. Neither is a measurement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Target
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import GROUND_ALTITUDE
from rosflight_py_sim.kernels.chain import ChainLink, FieldArrays
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.normal_draws import NormalDraws
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.sensing.converter import converted
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.failing import Fields
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorInputs, SensorModel, Surroundings
from rosflight_py_sim.step.topics import RANGE
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.world import WORLD, beam_boundary, beam_distance, part_array, world_of

_RATE = 20.0


def _errors_of(name: str) -> ErrorSource:
    return ErrorSource(name, "distance", "m", _RATE, stdev=0.03)


def parameters_of(name: str, direction: Sequence[float] = (0.0, 0.0, 1.0)) -> ParameterTable:
    """Parameters of the range finder of that name, which looks in `direction` by default."""
    return _errors_of(name).parameters() + ParameterTable(
        Parameter(
            f"{name}_position",
            [0.0, 0.0, 0.0],
            "Position of the range finder in body axes, from the centre of mass",
            "m",
            minimum=-100.0,
            maximum=100.0,
            length=3,
        ),
        Parameter(
            f"{name}_direction",
            list(direction),
            "Direction of the beam's axis in body axes, of any length but 0",
            minimum=-1e3,
            maximum=1e3,
            length=3,
        ),
        Parameter(
            f"{name}_min_range",
            0.25,
            "Shortest distance that the range finder can measure",
            "m",
            minimum=0.0,
            maximum=1e3,
        ),
        Parameter(
            f"{name}_max_range",
            8.0,
            "Longest distance that the range finder can measure, at a reflectivity of 0.9",
            "m",
            minimum=0.01,
            maximum=1e5,
        ),
        Parameter(
            f"{name}_field_of_view",
            0.05,
            "Width of the beam; the reading is the distance to the nearest reflection in it",
            "rad",
            minimum=0.0,
            maximum=math.pi,
        ),
        Parameter(
            f"{name}_reflectivity",
            0.9,
            "Reflectivity of ground and objects; the range is shorter below 0.9",
            minimum=0.0,
            maximum=1.0,
        ),
        Parameter(
            f"{name}_water_slope",
            0.018,
            "Mean square slope of the waves; the water surface reflects beams in air like a mirror with such waves; "
            "0: it reflects as the ground does",
            minimum=0.0,
            maximum=1.0,
        ),
        Parameter(
            f"{name}_signal_noise",
            0.1,
            "White noise on the received signal, which causes drop-outs near the longest distance: standard "
            "deviation, relative to the smallest signal that is detected",
            minimum=0.0,
            maximum=100.0,
        ),
        Parameter(
            f"{name}_resolution",
            0.01,
            "Resolution of the distance: readings are multiples of this value (0: continuous)",
            "m",
            minimum=1e-6,
            maximum=10.0,
            also_allowed=(0.0,),
        ),
        WORLD,
        GROUND_ALTITUDE,
    )


WHITE = 0.9
"""Reflectivity of the target for which data sheets give the range."""
WATER_REFLECTANCE = 0.02
"""Share of the light that water reflects at vertical incidence: ((n - 1) / (n + 1))^2 with n = 1.33."""
RIM = 8
"""Lines on the surface of the beam's cone that are traced."""


@kernel_record
class Beam:
    """Beam and detector of a range finder.

    Attributes:
        x: position of the range finder from the centre of mass, body axes (m); likewise `y` and `z`.
        along_x: unit vector along the axis, body axes; likewise `along_y` and `along_z`.
        min_range: shortest distance (m).
        max_range: longest distance, at a reflectivity of 0.9 (m).
        half_width: angle between the axis and the surface of the beam's cone (rad).
        reflectivity: of ground and objects.
        water_slope: mean square slope of the water surface; 0: it reflects as the ground does.
        signal_noise: standard deviation of the signal, relative to the detector's threshold.
        resolution: step of the reading (m).
    """

    x: float
    y: float
    z: float
    along_x: float
    along_y: float
    along_z: float
    min_range: float
    max_range: float
    half_width: float
    reflectivity: float
    water_slope: float
    signal_noise: float
    resolution: float


class RangeFinder(SensorModel):
    """Range finder; `min_range`, `max_range` (m) and `field_of_view` (rad) are the values in its messages.

    Raises:
        ParameterError: the shortest distance is not below the longest, the direction is 0, or the world is invalid.
    """

    def __init__(self, values: Values, rng: np.random.Generator, name: str = "range") -> None:
        super().__init__(ErrorModel([_errors_of(name).terms(values)], rng))
        self._name = name
        self._signal = NormalDraws(rng.spawn(1)[0], 1)
        self.min_range = number(values, f"{name}_min_range")
        self.max_range = number(values, f"{name}_max_range")
        self.field_of_view = number(values, f"{name}_field_of_view")
        if self.min_range >= self.max_range:
            raise ParameterError(
                f"parameter '{name}_min_range': {self.min_range:g} given; "
                f"allowed: less than {name}_max_range, which is {self.max_range:g} m"
            )
        position, direction = np.array(values[f"{name}_position"]), np.array(values[f"{name}_direction"])
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            raise ParameterError(f"parameter '{name}_direction': [0, 0, 0] given; allowed: a vector that is not 0")
        x, y, z = position.tolist()
        along_x, along_y, along_z = (direction / length).tolist()
        beam = Beam(
            x=x,
            y=y,
            z=z,
            along_x=along_x,
            along_y=along_y,
            along_z=along_z,
            min_range=self.min_range,
            max_range=self.max_range,
            half_width=0.5 * self.field_of_view,
            reflectivity=number(values, f"{name}_reflectivity"),
            water_slope=number(values, f"{name}_water_slope"),
            signal_noise=number(values, f"{name}_signal_noise"),
            resolution=number(values, f"{name}_resolution"),
        )
        world = world_of(values)
        boundary = beam_boundary(world)
        if world.water is None:
            boundary[0] = -number(values, "ground_altitude")
        self._models = boundary, part_array(world.objects), beam, self._errors.channels
        self._measure = bound(sample_range, *self._models)
        self._distance: NDArray[np.float64] = np.zeros(1)

    def adopt(self, other: RangeFinder) -> None:
        """Copy another range finder's errors."""
        super().adopt(other)
        self._signal = other._signal

    def variance(self, dt: float) -> float:
        """Variance of a distance, m^2; see ErrorModel.variances."""
        return self._errors.variances(dt)[0]

    def true_errors(self) -> dict[str, float]:
        """True bias of the last measurement, m."""
        return self._errors.biases(f"{self._name}_bias")

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[float, ...]:
        """Beam width (rad), limits and distance (m), and the variance of the distance (m^2)."""
        self._distance[0] = self.sample(state.truth, dt)
        return self.reading(around, time_ns, dt)

    def reading(self, around: Surroundings, time_ns: int, dt: float) -> tuple[float, ...]:
        """Fields of the last measurement, as returned by `read`."""
        return self.field_of_view, self.min_range, self.max_range, self._distance.item(0), self.variance(dt)

    @property
    def field_arrays(self) -> FieldArrays:
        """Memory of the distance."""
        return {"distance": [self._distance]}

    def links(self, inputs: SensorInputs) -> tuple[NDArray[np.float64], Sequence[ChainLink]]:
        """Draw the numbers, then measure; the number is the distance, m."""
        normals, signal = np.zeros(2), np.zeros(1)
        sampled = bound(store_range, self._distance, *self._models, inputs.truth, inputs.dt, normals, signal)
        return self._distance, (self._errors.normals.link(normals), self._signal.link(signal), ChainLink(sampled))

    def sample(self, truth: NDArray[np.float64], dt: float) -> float:
        """Measured distance (m), +inf or -inf by REP 117, dt (s, > 0) after the last sample."""
        return self._measure(truth, dt, next(self._errors.normals), next(self._signal))


@kernel
def sample_range(
    boundary: NDArray[np.float64],
    parts: NDArray[np.float64],
    beam: Beam,
    channels: NDArray[np.float64],
    truth: NDArray[np.float64],
    dt: float,
    normals: NDArray[np.float64],
    signal: NDArray[np.float64],
) -> float:
    """Distance to the nearest reflection in the beam with error, or +-inf out of range (m); `signal` (1,) normal."""
    advance_errors(channels, normals, dt)
    north, east, down = rotate_to_inertial(truth[3], truth[4], truth[5], truth[6], beam.x, beam.y, beam.z)
    north, east, down = truth[0] + north, truth[1] + east, truth[2] + down
    axis_n, axis_e, axis_d = rotate_to_inertial(
        truth[3], truth[4], truth[5], truth[6], beam.along_x, beam.along_y, beam.along_z
    )
    nearest = beam_distance(boundary, parts, north, east, down, axis_n, axis_e, axis_d)
    sinking = axis_d
    if beam.half_width > 0.0:
        # Unit vectors across the axis: one towards the vertical (any if the axis is vertical), and their product.
        tilted = math.hypot(axis_n, axis_e)
        toward_n, toward_e = (-axis_n / tilted, -axis_e / tilted) if tilted > 0.0 else (1.0, 0.0)
        across_n, across_e, across_d = toward_n * axis_d, toward_e * axis_d, tilted
        aside_n, aside_e = -toward_e, toward_n
        # The first line is the one nearest to the vertical, which may be within the cone.
        opening = min(beam.half_width, math.atan2(tilted, axis_d))
        for line in range(RIM + 1):
            turn = 2.0 * math.pi * line / RIM
            along, out = math.cos(opening), math.sin(opening)
            steep, side = out * math.cos(turn), out * math.sin(turn)
            line_n = along * axis_n + steep * across_n + side * aside_n
            line_e = along * axis_e + steep * across_e + side * aside_e
            line_d = along * axis_d + steep * across_d
            distance = beam_distance(boundary, parts, north, east, down, line_n, line_e, line_d)
            if distance < nearest:
                nearest, sinking = distance, line_d
            opening = beam.half_width
    reflectivity = beam.reflectivity
    has_water = boundary[3] > 0.0
    if beam.water_slope > 0.0 and has_water and down < 0.0 and abs(down + nearest * sinking) < 1e-6:
        reflectivity = water_reflectivity(sinking, beam.water_slope)
    threshold = 1.0 - beam.signal_noise * signal[0]
    if not reflectivity / WHITE * beam.max_range * beam.max_range >= threshold * nearest * nearest:
        return math.inf
    reading = converted(nearest + channels[0, ERROR], math.inf, beam.resolution)
    if reading > beam.max_range:
        return math.inf
    if reading < beam.min_range:
        return -math.inf
    return reading


@kernel
def store_range(
    distance: NDArray[np.float64],
    boundary: NDArray[np.float64],
    parts: NDArray[np.float64],
    beam: Beam,
    channels: NDArray[np.float64],
    truth: NDArray[np.float64],
    dt: float,
    normals: NDArray[np.float64],
    signal: NDArray[np.float64],
) -> None:
    """Write the measurement of `sample_range` to `distance` (1,), m."""
    distance[0] = sample_range(boundary, parts, beam, channels, truth, dt, normals, signal)


@kernel
def water_reflectivity(sinking: float, slope: float) -> float:
    """Reflectivity of water seen from the air; `sinking` the cosine of the beam's angle to the vertical (> 0)."""
    squared = sinking * sinking
    if squared < 1e-6:
        return 0.0
    return WATER_REFLECTANCE / (4.0 * slope * squared**3) * math.exp(-(1.0 - squared) / (squared * slope))


RANGE_FINDER = Sensor(
    RANGE,
    "range",
    "the range finder",
    RangeFinder,
    rate_hz=_RATE,
    update="sonar_update",
    parameters=parameters_of("range"),
    failures={"range": Failing(Target("range finder", "m"), lambda: Fields("distance"))},
    stream=5,
)

FURTHER_RANGE_FINDERS = tuple(
    Sensor(
        RANGE.renamed(f"sim/sensors/{name}"),
        name,
        f"the range finder {name}",
        partial(RangeFinder, name=name),
        rate_hz=_RATE,
        parameters=parameters_of(name, (1.0, 0.0, 0.0)),
        failures={name: Failing(Target(f"range finder {name}", "m"), lambda: Fields("distance"))},
        optional=True,
    )
    for name in ("rng_2", "rng_3", "rng_4", "rng_5", "rng_6")
)
"""Range finders that look forward by default; a vehicle has those that the parameter `further_sensors` names."""
