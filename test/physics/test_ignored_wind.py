"""Wind parameters that are given and have no effect are named, with the one that switches them off."""

from __future__ import annotations

import pytest

from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.physics.ignored_wind import ignored_wind
from rosflight_py_sim.physics.wind import WIND_PARAMETERS

WIND: dict[str, Value] = {"sim_has_wind": True}
STEADY: dict[str, Value] = {"steady_state_wind": [0.0, 4.0, 0.0]}


def texts(**given: Value) -> list[str]:
    return ignored_wind(WIND_PARAMETERS.checked(given), given)


@pytest.mark.parametrize(
    ("given", "name", "other"),
    [
        (WIND | STEADY, "steady_state_wind", "use_random_wind"),
        (WIND | {"steady_state_wind": [0.0, 0.0, 0.0]}, "steady_state_wind", "use_random_wind"),
        (STEADY | {"use_random_wind": False}, "steady_state_wind", "sim_has_wind"),
        (WIND | STEADY | {"use_random_wind": False, "wind_models": ["shear"]}, "steady_state_wind", "wind_models"),
        (WIND | {"use_random_wind": False, "random_wind_mean": [1.0, 0.0, 0.0]}, "random_wind_mean", "use_random_wind"),
        ({"random_wind_std_dev": [1.0, 0.0, 0.0]}, "random_wind_std_dev", "sim_has_wind"),
    ],
)
def test_ignored_parameter_is_named_with_the_one_that_switches_it_off(
    given: dict[str, Value], name: str, other: str
) -> None:
    (text,) = texts(**given)
    assert text.startswith(f"parameter '{name}' is ignored, because parameter '{other}' is ")
    assert f"set '{other}' to " in text


@pytest.mark.parametrize(
    "given",
    [
        {},
        WIND,
        WIND | STEADY | {"use_random_wind": False},
        WIND | {"random_wind_mean": [1.0, 0.0, 0.0]},
        # Wind that is switched off on purpose, such as in a calm flight with a weather file.
        STEADY | {"sim_has_wind": False},
    ],
)
def test_parameters_that_have_an_effect_or_are_switched_off_on_purpose_give_no_warning(given: dict[str, Value]) -> None:
    assert not texts(**given)
