"""The error of an optional package that is not installed."""

from __future__ import annotations

from rosflight_py_sim.ground.parameters import ParameterError


def missing_extra(purpose: str, error: ImportError, extra: str, instead: str = "") -> ParameterError:
    """Error for a package of an extra that cannot be imported.

    Args:
        purpose: feature that needs the package, as the subject of a sentence.
        error: error of the import.
        extra: name of the extra in setup.cfg that installs the package.
        instead: what the user can do without the package.
    """
    package = (error.name or extra).partition(".")[0]
    return ParameterError(
        f"{purpose} needs {package} ({error}): pip install 'rosflight_py_sim[{extra}]'"
        + (f", or {instead}" if instead else "")
    )
