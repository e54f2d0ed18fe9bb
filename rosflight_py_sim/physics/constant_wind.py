"""Uniform, constant wind: given, or drawn once at random."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values
from rosflight_py_sim.physics.wind_model import Array, WindModel


class ConstantWind(WindModel):
    """`steady_state_wind`, or with `use_random_wind` a normally distributed velocity, drawn at the start."""

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter("use_random_wind", True, "Draw the steady wind at random at the start"),
        Parameter(
            "steady_state_wind",
            [0.0, 0.0, 0.0],
            "Steady wind, NED; unused if use_random_wind is true",
            "m/s",
            minimum=-150.0,
            maximum=150.0,
            length=3,
        ),
        Parameter(
            "random_wind_mean",
            [0.0, 0.0, 0.0],
            "Mean of the random steady wind, NED",
            "m/s",
            minimum=-150.0,
            maximum=150.0,
            length=3,
        ),
        Parameter(
            "random_wind_std_dev",
            [0.5, 0.5, 0.0],
            "Standard deviation of the random steady wind, NED",
            "m/s",
            minimum=0.0,
            maximum=100.0,
            length=3,
        ),
    )
    IS_CONSTANT: ClassVar[bool] = True
    IS_MEAN: ClassVar[bool] = True

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Set the velocity from the parameters, or draw it at random."""
        self._drawn_from = [values[parameter.name] for parameter in self.PARAMETERS]
        self._velocity_ned = np.array(values["steady_state_wind"], dtype=np.float64)
        if values["use_random_wind"]:
            spread = np.array(values["random_wind_std_dev"], dtype=np.float64)
            self._velocity_ned = np.array(values["random_wind_mean"]) + spread * rng.standard_normal(3)

    def add(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> None:
        """Add the velocity."""
        wind_ned += self._velocity_ned

    def adopt(self, other: ConstantWind) -> None:
        """Keep the velocity unless its parameters have changed."""
        if self._drawn_from == other._drawn_from:
            self._velocity_ned = other._velocity_ned
