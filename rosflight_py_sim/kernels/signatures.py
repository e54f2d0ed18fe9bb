"""Argument types of a kernel, from its annotations and its use of arrays."""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from rosflight_py_sim.kernels.jit import plain
from rosflight_py_sim.kernels.record import Record, is_record

SCALARS = {float: "float64", int: "int64", bool: "boolean"}
"""numba's name of a number's type, by annotation."""

RecordClass: TypeAlias = type[Record]


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel.

    Attributes:
        type: numba's name of the type of a number, or of an array's elements; empty for a record.
        dimensions: number of dimensions of an array; 0 for a number or a record.
        record: class of a record; None for a number or an array.
    """

    type: str
    dimensions: int = 0
    record: RecordClass | None = None


def arguments_of(function: Callable[..., Any]) -> tuple[Argument, ...]:
    """Arguments of a kernel, given as its plain Python function.

    Raises:
        TypeError: the annotation of an argument is no number, array or record.
    """
    hints = _hints(function)
    dimensions = dimensions_in(function)
    arguments = []
    for name in inspect.signature(function).parameters:
        if hints[name] in SCALARS:
            arguments.append(Argument(SCALARS[hints[name]]))
        elif _is_array(hints[name]):
            element = typing.get_args(typing.get_args(hints[name])[1])[0]
            arguments.append(Argument(np.dtype(element).name, dimensions[name]))
        elif is_record(hints[name]):
            arguments.append(Argument("", record=hints[name]))
        else:
            allowed = "float, int, bool, an array, a kernel record"
            raise TypeError(f"'{name}' is annotated as {hints[name]}; allowed: {allowed}")
    return tuple(arguments)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of a function, with generic aliases replaced: NDArray is one from Python 3.12 and numpy 2.5 on."""
    return {name: _without_alias(hint) for name, hint in typing.get_type_hints(function).items()}


def _without_alias(hint: Any) -> Any:
    value = getattr(typing.get_origin(hint), "__value__", None)
    return hint if value is None else value[typing.get_args(hint)]


def _is_array(hint: Any) -> bool:
    return typing.get_origin(hint) is np.ndarray


@cache
def dimensions_in(function: Callable[..., Any]) -> dict[str, int]:
    """Number of dimensions of each variable of a kernel, by name.

    A variable has as many dimensions as the code indexes, in the kernel itself and in the kernels that it is passed to.
    The annotation does not give the number: NDArray[np.float64] has no fixed number of dimensions.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    arrays = [name for name, hint in _hints(function).items() if _is_array(hint)]
    found: dict[str, int] = defaultdict(int, dict.fromkeys(arrays, 1))

    def note(value: ast.expr, dimensions: int) -> None:
        if isinstance(value, ast.Subscript):
            indices = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
            note(value.value, dimensions + sum(not isinstance(one, ast.Slice) for one in indices))
        elif isinstance(value, ast.Name):
            found[value.id] = max(found[value.id], dimensions)

    before: dict[str, int] = {}
    while before != found:  # a row of an array may be used after the line that assigns it
        before = dict(found)
        for node in ast.walk(tree):
            match node:
                case ast.Subscript():
                    note(node, 0)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    note(value, found[name])
                case ast.For(target=ast.Name(id=name), iter=value):
                    note(value, found[name] + 1)
                case ast.Call():
                    for value, dimensions in zip(node.args, _taken_by(node.func, function), strict=False):
                        note(value, dimensions)
    return found


def _taken_by(called: ast.expr, function: Callable[..., Any]) -> list[int]:
    """Number of dimensions of each argument of a kernel that `function` calls; empty for any other callee."""
    value = _named(called, function.__globals__)
    kernel = plain(value)
    if kernel is value:
        return []
    return [dimensions_in(kernel)[name] for name in inspect.signature(kernel).parameters]


def _named(name: ast.expr, names: dict[str, Any]) -> Any:
    """The object that a name, or an attribute of a name, refers to in a module; None for any other expression."""
    if isinstance(name, ast.Attribute):
        return getattr(_named(name.value, names), name.attr, None)
    return names.get(name.id) if isinstance(name, ast.Name) else None
