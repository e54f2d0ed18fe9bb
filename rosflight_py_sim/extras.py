"""The error of an optional package that is not installed."""

from __future__ import annotations

from rosflight_py_sim.parameters import ParameterError


def missing_extra(purpose: str, error: ImportError, extra: str) -> ParameterError:
    """The error to raise where the packages of an extra cannot be imported.

    Args:
        purpose: what needs them, as the subject of a sentence.
        error: what the import raised.
        extra: name of the extra in setup.cfg that installs them.
    """
    package = (error.name or extra).partition(".")[0]
    return ParameterError(f"{purpose} needs {package} ({error}): pip install 'rosflight_py_sim[{extra}]'")
