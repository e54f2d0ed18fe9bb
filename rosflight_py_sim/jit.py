"""Compilation of the hot numeric loops.

`kernel` compiles a function with numba where numba is installed and leaves it as plain Python where it is
not, so one source serves both; the tests hold the two equal. A kernel takes and returns floats and integers; it also
takes arrays, of one type only: float64, or the pixels of a picture. It neither creates nor returns an array.

Setting the environment variable ROSFLIGHT_PY_SIM_NO_JIT to 1 chooses plain Python even where numba is
installed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

COMPILED: bool
"""True where kernels run compiled."""

if os.environ.get("ROSFLIGHT_PY_SIM_NO_JIT") == "1":
    COMPILED = False
else:
    try:
        import numba
        from numba.core import config

        COMPILED = True
    except ModuleNotFoundError:
        COMPILED = False


def _cache_folder() -> Path:
    """Folder for compiled kernels of exactly these sources.

    numba notices a change in a kernel's own file, but not in a kernel that it calls from another file; so every
    state of the sources has a folder of its own.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        text = source.read_bytes()
        if b"@kernel" in text:
            digest.update(text)
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / package.name
    folder = f"kernels-{digest.hexdigest()[:16]}"
    try:
        (caches / folder).mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir()) / f"{package.name}-{os.getuid()}" / folder
    return caches / folder


if COMPILED and "NUMBA_CACHE_DIR" not in os.environ:
    config.CACHE_DIR = str(_cache_folder())

# Without numba's runtime no array is reference-counted: an array argument costs a third of the time, and kernels that
# call one another take a fifth.
_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` for speed where numba is installed; return it unchanged otherwise.

    Compiled code is cached in the user's cache folder, or in NUMBA_CACHE_DIR, so that only the first run compiles.
    Strict IEEE arithmetic is kept (no fastmath): the compiled and the plain path agree to rounding.
    """
    if not COMPILED:
        return function
    compiled: Callable[P, R] = numba.njit(**_OPTIONS)(function)
    return compiled


def kernel_part(function: Callable[P, R]) -> Callable[P, R]:
    """As `kernel`, for a part of one kernel that is called at each turn of its loop: compiled into its caller."""
    if not COMPILED:
        return function
    compiled: Callable[P, R] = numba.njit(**_OPTIONS, inline="always")(function)
    return compiled
