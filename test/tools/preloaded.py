"""Import this module to do the slow part of a node's start once, before nodes are forked.

The import loads the type support libraries of all messages and services. It also makes `inspect` index all loaded
modules, as rclpy's first log message would. Forked processes inherit both.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from pathlib import Path

from rclpy.type_support import check_for_type_support

from rosflight_py_sim.step import topics


def _load() -> None:
    types = {row.message_type for row in vars(topics).values() if isinstance(row, topics.StepTopic)}
    for name, module in list(sys.modules.items()):
        if name.endswith((".msg", ".srv")):
            types.update(one for one in vars(module).values() if isinstance(one, type))
    for one in types:
        check_for_type_support(one)
    for package in {one.__module__.split(".")[0] for one in types}:
        folder = Path(str(sys.modules[package].__file__)).parents[3]
        for library in folder.glob(f"lib{package}__rosidl_typesupport_*_c.so"):
            ctypes.CDLL(str(library))
    inspect.getframeinfo(inspect.currentframe())


_load()
