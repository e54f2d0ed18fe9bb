"""Wind (NED, m/s): the sum of models chosen by name.

Each model is a class (`wind_model.py`); `registry.py` has the models of this package and of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.registry import own_objects, registered_class
from rosflight_py_sim.kernels.chain import ChainLink, keeps
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.physics.wind_model import WindModel

BUILT_IN: Mapping[str, type[WindModel]] = own_objects("wind_models")
"""Models of this package by name, in the order in which they are built, advanced and added."""

WIND_PARAMETERS = sum(
    (model.PARAMETERS for model in BUILT_IN.values()),
    ParameterTable(
        Parameter("sim_has_wind", False, "Simulate wind; if false, the air is still"),
        Parameter(
            "wind_models",
            ["constant"],
            f"Wind models whose velocities are summed: {', '.join(BUILT_IN)}, or a model that an installed package "
            f"registers",
        ),
    ),
)


def with_model_parameters(table: ParameterTable, given: Mapping[str, Any]) -> ParameterTable:
    """The table of a node, extended by the parameters of the models from other packages that `wind_models` names.

    Args:
        table: contains WIND_PARAMETERS.
        given: values by parameter name, not checked yet.

    Raises:
        ParameterError: `wind_models` is not allowed, or two owners declare the same name with differences.
    """
    declared = {parameter.name: ("the node", parameter) for parameter in table}
    names = table["wind_models"].checked(given.get("wind_models", table["wind_models"].default))
    for name in cast("list[str]", names):
        for parameter in () if name in BUILT_IN else _model(name).PARAMETERS:
            owner, other = declared.setdefault(parameter.name, (f"wind model '{name}'", parameter))
            if other != parameter:
                raise ParameterError(
                    f"parameter '{parameter.name}' of wind model '{name}' given, and of {owner} with another "
                    "declaration; allowed: each name once"
                )
    return ParameterTable(*(parameter for _, parameter in declared.values()))


def wind_models(values: Values) -> dict[str, type[WindModel]]:
    """The models selected by the values, by name: first those of this package, then others in the order given.

    Raises:
        ParameterError: a name is unknown or given twice, or the values lack a parameter of a model.
    """
    if not values["sim_has_wind"]:
        return {}
    given = cast("list[str]", values["wind_models"])
    if twice := sorted({name for name in given if given.count(name) > 1}):
        raise ParameterError(
            f"parameter 'wind_models': {given} given; allowed: each name once; {twice[0]!r} is repeated"
        )
    own = [name for name, model in BUILT_IN.items() if name in given or model.is_switched_on(values)]
    models = {name: _model(name) for name in [*own, *(name for name in given if name not in BUILT_IN)]}
    for name, model in models.items():
        if missing := [parameter.name for parameter in model.PARAMETERS if parameter.name not in values]:
            raise ParameterError(
                f"parameter 'wind_models': {given} given; {name!r} has the parameter {missing[0]!r}, which a node "
                f"declares when it starts: start the node with {name!r} in wind_models"
            )
    return models


def _model(name: str) -> type[WindModel]:
    return cast("type[WindModel]", registered_class("wind_models", name, WindModel))


@kernel
def copy_velocity(source: NDArray[np.float64], target: NDArray[np.float64]) -> None:
    """Copy a velocity (3,), faster than numpy's copy."""
    target[0], target[1], target[2] = source[0], source[1], source[2]


class Wind:
    """Velocity of the air over the ground at the vehicle: the sum of the models of `wind_models`.

    The models of this package draw from `rng` in their order, every other model from a separate generator spawned from
    `rng`. `values` contains WIND_PARAMETERS. Raises ParameterError for an unknown model and for values that a model
    rejects.
    """

    wind_ned: NDArray[np.float64]
    """(3,) m/s, changed in place by `step`."""
    rates_body: NDArray[np.float64]
    """(3,) rad/s, angular velocity of the air in body axes, changed in place by `step`; without rotational gusts 0."""

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        for model in BUILT_IN.values():
            model.check(values)
        self._models = {
            name: model(values, rng if name in BUILT_IN else rng.spawn(1)[0])
            for name, model in wind_models(values).items()
        }
        models = self._models.values()
        self._means = [model for model in models if model.IS_MEAN and not model.IS_CONSTANT]
        self._adders = [model.add for model in models if not (model.IS_MEAN or model.IS_CONSTANT)]
        self._changes = bool(self._means or self._adders)
        self._rates = [model.rates_body for model in models if model.rates_body is not None]
        self._add_constants()
        self.wind_ned = self._mean_ned.copy()
        self.rates_body = self._rates[0] if len(self._rates) == 1 else np.zeros(3)

    def step(self, truth: NDArray[np.float64], dt: float) -> None:
        """Advance by dt (s): `wind_ned` becomes the wind at the vehicle whose truth state (19,) is given."""
        if not self._changes:
            return
        mean, wind = self._mean_ned, self.wind_ned
        if self._means:
            copy_velocity(self._constant_ned, mean)
            for model in self._means:
                model.add(mean, mean, truth, dt)
        copy_velocity(mean, wind)
        for add in self._adders:
            add(wind, mean, truth, dt)
        if len(self._rates) > 1:
            copy_velocity(self._rates[0], self.rates_body)
            for rates in self._rates[1:]:
                self.rates_body += rates

    def links(self, truth: NDArray[np.float64], dt: float) -> Sequence[ChainLink] | None:
        """Links of a chain for steps of `dt`, for the truth state in an array (19,); None if a model has none."""
        if self._means or len(self._rates) > 1:
            return None
        links = [ChainLink(bound(copy_velocity, self._mean_ned, self.wind_ned))] if self._changes else []
        for model in self._models.values():
            if model.IS_CONSTANT:
                continue
            added = model.links(self.wind_ned, self._mean_ned, truth, dt)
            if added is None or not keeps(type(model), "links", "add"):
                return None
            links += added
        return links

    def adopt(self, other: Wind) -> None:
        """Copy the state of another wind, model by model."""
        for name, model in self._models.items():
            if name in other._models:
                model.adopt(other._models[name])
        self._add_constants()
        self.wind_ned[:] = other.wind_ned if self._changes else self._mean_ned
        self.rates_body[:] = other.rates_body if self._rates else 0.0

    def _add_constants(self) -> None:
        self._constant_ned = np.zeros(3)
        for model in self._models.values():
            if model.IS_CONSTANT:
                model.add(self._constant_ned, self._constant_ned, np.zeros(19), 0.0)
        self._mean_ned = self._constant_ned.copy()
