"""Magnetometer: the magnetic field of the earth and of the vehicle, in body axes, with errors.

The field at the origin is given by inclination, declination and intensity (`fixed`), or comes from the World Magnetic
Model at the origin and `start_date` (`wmm`). `fixed` is the default so that the three numbers in ROSflight's parameter
files take effect. Their defaults are for the default origin, where both models agree to about half a degree and one
percent. Choose `wmm` when you move the origin.

The field changes linearly with the position from there: by the gradient of the model at the origin (`wmm`), or by
`magnetic_gradient` (`fixed`). In air, the gradient's matrix is symmetric and has no trace (Maxwell's equations), so
that five of its elements give the others. At 20 km from the origin the linear field is within 2 nT of the model.

On the vehicle the sensor reads

    M B + c I + b + n

with the matrix M of the soft iron, symmetric for material without hysteresis, the field c per ampere of the battery's
current I, the hard iron in the constant part of the bias b, and white noise n; all in body axes. The defaults of hard
iron, soft iron and current are estimates of what remains on a vehicle whose owner has calibrated the magnetometer and
twisted the battery's leads: 7 mgauss, 0.5 %, and leads 1 mm apart at 0.1 m (Biot-Savart: mu0 d / (2 pi r^2) per
ampere). The heading from the reading is then wrong by 1.2 degrees RMS over all headings in the median of 1000 seeds at
15 A, and at any heading by at most 1.8 degrees in the median and 2.9 degrees in 95 % of the seeds.
`config/uncalibrated_magnetometer.yaml` has the errors of a vehicle as built. Range and resolution are those of
Honeywell's HMC5883L with its default gain (data sheet 900405, table 7): 1.3 gauss, 1090 LSB/gauss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Target
from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import START_DATE
from rosflight_py_sim.ground.start_date import start_of, year_of
from rosflight_py_sim.kernels.chain import ChainLink, FieldArrays
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.sensing.converter import converted, converter_of, converter_parameters
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors, axes, covariance
from rosflight_py_sim.sensing.failing import Vector
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorInputs, SensorModel, Surroundings
from rosflight_py_sim.sensing.site import SITE_PARAMETERS
from rosflight_py_sim.step.topics import MAG
from rosflight_py_sim.step.vehicle_state import VehicleState

_RATE = 50.0

_ERRORS = ErrorSource(
    "mag",
    "magnetic field",
    "T",
    _RATE,
    walk_stdev=3.0e-6,
    walk_name="mag_stdev",
    walk_drives=True,
    decay_rate=7.0,
    bias_range=7e-7,
)
_BIASES = axes("mag_bias")
_RESPONSES = axes("mag_response", [one + other for one in "xyz" for other in "xyz"])
# Distance over which the model's gradient is taken (m).
_STEP = 10e3

PARAMETERS = (
    SITE_PARAMETERS
    + _ERRORS.parameters()
    + ParameterTable(
        START_DATE,
        Parameter(
            "magnetic_model",
            "fixed",
            "Source of the magnetic field: wmm (World Magnetic Model) or fixed (inclination, declination and "
            "total_intensity)",
            choices=("wmm", "fixed"),
        ),
        Parameter(
            "inclination",
            1.139436457,
            "Inclination (dip) of the fixed field below the horizon",
            "rad",
            minimum=-math.pi / 2.0,
            maximum=math.pi / 2.0,
        ),
        Parameter(
            "declination",
            0.1857972802,
            "Declination of the fixed field, east of true north",
            "rad",
            minimum=-math.pi,
            maximum=math.pi,
        ),
        Parameter("total_intensity", 50.7163e-6, "Intensity of the fixed field", "T", minimum=0.0, maximum=1e-3),
        Parameter(
            "magnetic_gradient",
            [0.0] * 5,
            "Gradient of the fixed field, NED: change of north with north, east and down, of east with east and down",
            "T/m",
            minimum=-1e-3,
            maximum=1e-3,
            length=5,
        ),
        Parameter(
            "mag_soft_iron_range",
            0.005,
            "Soft iron, each element of the symmetric matrix: drawn uniformly from plus or minus this value",
            minimum=0.0,
            maximum=0.5,
        ),
        Parameter(
            "mag_current_field",
            [0.0, 2e-8, 0.0],
            "Magnetic field of the battery's current at the magnetometer, body axes",
            "T/A",
            minimum=-1e-4,
            maximum=1e-4,
            length=3,
        ),
    )
    + converter_parameters("mag", "magnetic field", "T", 1.3e-4, 1e-4 / 1090.0)
)


def world_magnetic_model(
    latitude_deg: float, longitude_deg: float, altitude_msl_m: float, decimal_year: float
) -> NDArray[np.float64]:
    """The main field (3,), NED (T), by WMM2025 (NOAA NCEI and British Geological Survey, 2024; 2025.0 to 2030.0).

    The model takes the height above the ellipsoid; the altitude above sea level is used instead (100 m make 3 nT).

    Raises:
        ParameterError: the date is outside the model's validity, or pygeomag is not installed.
    """
    if not 2025.0 <= decimal_year <= 2030.0:
        raise ParameterError(
            f"parameter '{START_DATE.name}': the year {decimal_year:.2f} given; allowed with magnetic_model 'wmm': "
            "2025.0 to 2030.0"
        )
    field = _model().calculate(glat=latitude_deg, glon=longitude_deg, alt=altitude_msl_m / 1000.0, time=decimal_year)
    return np.array([field.x, field.y, field.z]) * 1e-9


@cache
def _model() -> Any:
    try:
        import pygeomag  # imported here so that only processes that use the model load it
    except ImportError as error:
        purpose = "parameter 'magnetic_model': 'wmm' given, which"
        instead = "give the field's vector: magnetic_model 'fixed' with inclination, declination and total_intensity"
        raise missing_extra(purpose, error, "magnetic", instead) from error
    return pygeomag.GeoMag(coefficients_file="wmm/WMM_2025.COF")


def fixed_field(inclination: float, declination: float, total_intensity: float) -> NDArray[np.float64]:
    """The field (3,), NED (T), from dip (rad, down), declination (rad, east) and intensity (T)."""
    horizontal = total_intensity * math.cos(inclination)
    north, east = horizontal * math.cos(declination), horizontal * math.sin(declination)
    return np.array([north, east, total_intensity * math.sin(inclination)])


def modelled_gradient(
    latitude_deg: float, longitude_deg: float, altitude_msl_m: float, decimal_year: float
) -> NDArray[np.float64]:
    """Gradient (3, 3) of the main field at a place, T/m: change of each NED component with each NED coordinate."""
    frame = tangent_plane(latitude_deg, longitude_deg, altitude_msl_m)

    def field(offset: NDArray[np.float64]) -> NDArray[np.float64]:
        latitude, longitude, height = ned_to_geodetic(frame, *offset.tolist())
        there = tangent_plane(latitude, longitude, height)
        return frame[:3] @ there[:3].T @ world_magnetic_model(latitude, longitude, height, decimal_year)

    return np.array([field(offset) - field(-offset) for offset in _STEP * np.eye(3)]).T / (2.0 * _STEP)


def symmetric(elements: Sequence[float]) -> NDArray[np.float64]:
    """Symmetric matrix (3, 3) of its elements xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = elements
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@kernel_record
class MagnetometerSettings:
    """Parameters of the measurement.

    Attributes:
        current_x: field per ampere, x axis (T/A); likewise `current_y` and `current_z`.
        limit: largest reading (T).
        resolution: of the reading (T); 0 for continuous readings.
    """

    current_x: float
    current_y: float
    current_z: float
    limit: float
    resolution: float


class Magnetometer(SensorModel):
    """Three-axis magnetometer aligned with the body axes.

    Attributes:
        field_ned: true field at the origin (3,), T.
        gradient: change of its components with the NED coordinates (3, 3), T/m.
        response: reading of each axis for a field along each body axis, without bias (3, 3).
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        super().__init__(ErrorModel([_ERRORS.terms(values)] * 3, rng))
        if values["magnetic_model"] == "wmm":
            place = (
                number(values, "origin_latitude"),
                number(values, "origin_longitude"),
                number(values, "origin_altitude"),
                year_of(start_of(values)),
            )
            self.field_ned, self.gradient = world_magnetic_model(*place), modelled_gradient(*place)
        else:
            self.field_ned = fixed_field(
                number(values, "inclination"), number(values, "declination"), number(values, "total_intensity")
            )
            given = cast("list[float]", values["magnetic_gradient"])
            self.gradient = symmetric([*given, -given[0] - given[3]])
        self._soft_iron = number(values, "mag_soft_iron_range")
        self._draws = rng.spawn(1)[0].uniform(-1.0, 1.0, 6)
        x, y, z = cast("list[float]", values["mag_current_field"])
        limit, resolution = converter_of(values, "mag")
        self._settings = MagnetometerSettings(current_x=x, current_y=y, current_z=z, limit=limit, resolution=resolution)
        self.response: NDArray[np.float64] = np.eye(3) + self._soft_iron * symmetric(self._draws.tolist())
        self._field_body: NDArray[np.float64] = np.zeros(3)
        self._models = (
            self._settings,
            self.field_ned,
            self.gradient,
            self.response,
            self._errors.channels,
            self._field_body,
        )
        self._measure = bound(sample_field, *self._models)

    def adopt(self, other: Magnetometer) -> None:
        """Copy another magnetometer's errors."""
        super().adopt(other)
        self._draws[:] = other._draws
        self.response[:] = np.eye(3) + self._soft_iron * symmetric(self._draws.tolist())

    def variance(self, dt: float) -> float:
        """Variance of a component of the field, T^2; see ErrorModel.variances."""
        return self._errors.variances(dt)[0]

    def true_errors(self) -> dict[str, float]:
        """True biases of the last measurement, T, and the response."""
        errors = self._errors.biases(*_BIASES)
        return errors | dict(zip(_RESPONSES, self.response.ravel().tolist(), strict=True))

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[Any, ...]:
        """Field (T, 3) and its covariance (9)."""
        self._measure(state.truth, dt, around.power, next(self._errors.normals))
        return self.reading(around, time_ns, dt)

    def reading(self, around: Surroundings, time_ns: int, dt: float) -> tuple[Any, ...]:
        """Fields of the last measurement, as returned by `read`."""
        return self._field_body.tolist(), covariance(self.variance(dt))

    @property
    def field_arrays(self) -> FieldArrays:
        """Memory of the magnetic field."""
        return {"field": [self._field_body]}

    def links(self, inputs: SensorInputs) -> tuple[NDArray[np.float64], Sequence[ChainLink]]:
        """Draw the numbers, then measure."""
        row = np.zeros(6)
        sampled = bound(sample_field, *self._models, inputs.truth, inputs.dt, inputs.power, row)
        return self._field_body, (self._errors.normals.link(row), ChainLink(sampled))

    def sample(self, truth: NDArray[np.float64], dt: float, current: float = 0.0) -> NDArray[np.float64]:
        """Measured field (3,), body axes (T); the next sample overwrites it.

        Args:
            truth: truth vector (19,).
            dt: time since the last sample, s, > 0.
            current: true current of the battery, A.
        """
        self._measure(truth, dt, np.array([math.nan, current]), next(self._errors.normals))
        return self._field_body


@kernel
def sample_field(
    settings: MagnetometerSettings,
    field_ned: NDArray[np.float64],
    gradient: NDArray[np.float64],
    response: NDArray[np.float64],
    channels: NDArray[np.float64],
    field_body: NDArray[np.float64],
    truth: NDArray[np.float64],
    dt: float,
    power: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> None:
    """Write one measurement into `field_body` (3,), T."""
    advance_errors(channels, normals, dt)
    down = truth[2]
    north = field_ned[0] + gradient[0, 0] * truth[0] + gradient[0, 1] * truth[1] + gradient[0, 2] * down
    east = field_ned[1] + gradient[1, 0] * truth[0] + gradient[1, 1] * truth[1] + gradient[1, 2] * down
    below = field_ned[2] + gradient[2, 0] * truth[0] + gradient[2, 1] * truth[1] + gradient[2, 2] * down
    x, y, z = rotate_to_body(truth[3], truth[4], truth[5], truth[6], north, east, below)
    limit, resolution = settings.limit, settings.resolution
    for axis, per_ampere in ((0, settings.current_x), (1, settings.current_y), (2, settings.current_z)):
        field = response[axis, 0] * x + response[axis, 1] * y + response[axis, 2] * z
        field_body[axis] = converted(field + per_ampere * power[1] + channels[axis, ERROR], limit, resolution)


MAGNETOMETER = Sensor(
    MAG,
    "mag",
    "the magnetometer",
    Magnetometer,
    rate_hz=_RATE,
    update="mag_update",
    parameters=PARAMETERS,
    failures={"mag": Failing(Target("magnetometer", "T", 3), lambda: Vector("field"))},
    stream=2,
)
