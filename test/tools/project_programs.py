"""Programs of the project that are in no package, as modules."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

_PROJECT = Path(__file__).parents[2]


@cache
def project_program(path: str) -> ModuleType:
    """The program at a path relative to the project, such as `tools/install_lock.py`, as a module."""
    file = _PROJECT / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for the module of a class
    spec.loader.exec_module(module)
    return module
