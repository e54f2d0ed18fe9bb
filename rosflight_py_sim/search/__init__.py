"""Search for the parameters, wind, failures and times that break a property of the flights (docs/search.md)."""

from __future__ import annotations

from importlib.util import find_spec

from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.sweep import require_packages as require_packages_of_sweeps


def require_packages() -> None:
    """Check that the packages of the extra `sweep` are installed.

    Raises:
        ParameterError: one of them is missing; the text names the extra.
    """
    require_packages_of_sweeps()
    if find_spec("cmaes") is None:
        raise missing_extra("a search", ImportError("No module named 'cmaes'", name="cmaes"), "sweep")
