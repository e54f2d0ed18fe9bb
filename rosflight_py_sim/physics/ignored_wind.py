"""Wind parameters that are given and have no effect, because another one switches them off."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

from rosflight_py_sim.ground.parameters import Value

SWITCHES = ("sim_has_wind", "wind_models", "use_random_wind")
"""Parameters whose values switch others off."""

_DRAWN = ("random_wind_mean", "random_wind_std_dev")


def ignored_wind(values: Mapping[str, Value], given: Collection[str]) -> list[str]:
    """Warnings, each of which names both parameters.

    Args:
        values: contains WIND_PARAMETERS.
        given: names of the parameters that have been given, by whatever way; the others have their defaults.
    """
    steady = [name for name in ("steady_state_wind",) if name in given]
    drawn = [name for name in _DRAWN if name in given]
    if not values["sim_has_wind"]:
        # Wind that is switched off on purpose may keep its parameters.
        off = [] if "sim_has_wind" in given else steady + drawn
        return [_text(name, "sim_has_wind", False, "true") for name in off]
    if "constant" not in cast("list[str]", values["wind_models"]):
        models = values["wind_models"]
        return [_text(name, "wind_models", models, "a list with constant") for name in steady + drawn]
    if values["use_random_wind"]:
        return [_text(name, "use_random_wind", True, "false") for name in steady]
    return [_text(name, "use_random_wind", False, "true") for name in drawn]


def _text(name: str, other: str, value: Value, remedy: str) -> str:
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return f"parameter '{name}' is ignored, because parameter '{other}' is {shown}; set '{other}' to {remedy} to use it"
