"""Magnetometer: the earth's magnetic field at the origin, in body axes, with errors.

The field is constant over the flight. It is given by inclination, declination and intensity (`fixed`), or comes from
the World Magnetic Model at the origin and `start_date` (`wmm`). `fixed` is the default so that the three numbers in
ROSflight's parameter files take effect. Their defaults are for the default origin, where both models agree to about
half a degree and one percent. Choose `wmm` when you move the origin.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors, axes
from rosflight_py_sim.sensing.site import MAG_RATE, SITE_PARAMETERS
from rosflight_py_sim.shared_parameters import START_DATE
from rosflight_py_sim.start_date import start_of, year_of

_ERRORS = ErrorSource(
    "mag",
    "magnetic field",
    "T",
    MAG_RATE,
    walk_stdev=3.0e-6,
    walk_name="mag_stdev",
    walk_drives=True,
    decay_rate=7.0,
)

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
    )
)


def world_magnetic_model(
    latitude_deg: float, longitude_deg: float, altitude_msl_m: float, decimal_year: float
) -> NDArray[np.float64]:
    """The main field (3,), NED (T), by WMM2025 (NOAA NCEI and British Geological Survey, 2024; 2025.0 to 2030.0).

    The model takes the height above the ellipsoid; the altitude above sea level is used instead (100 m make 3 nT).

    Raises:
        ParameterError: the date is outside the model's validity.
    """
    import pygeomag  # imported here so that only processes that use the model load it

    if not 2025.0 <= decimal_year <= 2030.0:
        raise ParameterError(
            f"parameter '{START_DATE.name}': the year {decimal_year:.2f} given; allowed with magnetic_model 'wmm': "
            "2025.0 to 2030.0"
        )
    model = pygeomag.GeoMag(coefficients_file="wmm/WMM_2025.COF")
    field = model.calculate(glat=latitude_deg, glon=longitude_deg, alt=altitude_msl_m / 1000.0, time=decimal_year)
    return np.array([field.x, field.y, field.z]) * 1e-9


def fixed_field(inclination: float, declination: float, total_intensity: float) -> NDArray[np.float64]:
    """The field (3,), NED (T), from dip (rad, down), declination (rad, east) and intensity (T)."""
    horizontal = total_intensity * math.cos(inclination)
    north, east = horizontal * math.cos(declination), horizontal * math.sin(declination)
    return np.array([north, east, total_intensity * math.sin(inclination)])


class Magnetometer:
    """Three-axis magnetometer aligned with the body axes; `field_ned` (3,) is the true field (T)."""

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        self._errors = ErrorModel([_ERRORS.terms(values)] * 3, rng)
        if values["magnetic_model"] == "wmm":
            self.field_ned = world_magnetic_model(
                number(values, "origin_latitude"),
                number(values, "origin_longitude"),
                number(values, "origin_altitude"),
                year_of(start_of(values)),
            )
        else:
            self.field_ned = fixed_field(
                number(values, "inclination"), number(values, "declination"), number(values, "total_intensity")
            )
        self._field_body: NDArray[np.float64] = np.zeros(3)

    def adopt(self, other: Magnetometer) -> None:
        """Copy another magnetometer's errors."""
        self._errors.adopt(other._errors)

    def variance(self, dt: float) -> float:
        """Variance of a component of the field, T^2; see ErrorModel.variances."""
        return self._errors.variances(dt)[0]

    def true_errors(self) -> dict[str, float]:
        """True biases of the last measurement, T; see SensorSuite."""
        return self._errors.biases(*axes("mag_bias"))

    def sample(self, truth: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        """Measured field (3,), body axes (T), dt (s, > 0) after the last sample; the next sample overwrites it."""
        errors = self._errors
        sample_field(truth, self.field_ned, dt, errors.channels, errors.normals.next(), self._field_body)
        return self._field_body


@kernel
def sample_field(
    truth: NDArray[np.float64],
    field_ned: NDArray[np.float64],
    dt: float,
    channels: NDArray[np.float64],
    normals: NDArray[np.float64],
    field_body: NDArray[np.float64],
) -> None:
    """Write one measurement of `field_ned` (3,) into `field_body` (3,), T."""
    advance_errors(channels, normals, dt)
    x, y, z = rotate_to_body(truth[3], truth[4], truth[5], truth[6], field_ned[0], field_ned[1], field_ned[2])
    field_body[0] = x + channels[0, ERROR]
    field_body[1] = y + channels[1, ERROR]
    field_body[2] = z + channels[2, ERROR]
