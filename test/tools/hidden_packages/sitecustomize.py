"""Hides the packages in HIDDEN_PACKAGES from every Python program with this folder in PYTHONPATH.

Imports and searches then behave as if the packages were not installed.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

_HIDDEN = frozenset(os.environ.get("HIDDEN_PACKAGES", "").split())


class _Finder(PathFinder):
    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return None if fullname in _HIDDEN else super().find_spec(fullname, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = _Finder
