"""Tests use only the public interface: no test uses a private name of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent

# Public methods and attributes of named tuples.
NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}

# Functions that take an attribute's name as a string, including those of monkeypatch and unittest.mock.
BY_NAME = {"getattr", "setattr", "delattr", "hasattr", "attrgetter", "patch", "object"}


def is_private(name: str) -> bool:
    """Whether a part of a dotted name begins with a single underscore."""
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def private_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and names of private attributes of anything but self and cls, and of private imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in NAMED_TUPLE:
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, one.name) for one in node.names if is_private(f"{node.module}.{one.name}"))
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for given in node.args if called in BY_NAME else ():
                if isinstance(given, ast.Constant) and isinstance(given.value, str) and is_private(given.value):
                    yield node.lineno, given.value


def test_tests_do_not_access_private_names() -> None:
    found = [
        f"{file.relative_to(TESTS)}:{line}: {name}"
        for file in sorted(TESTS.rglob("*.py"))
        for line, name in private_names(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert not found


def test_private_names_are_detected_in_every_position() -> None:
    source = """\
board = node._board
from rosflight_py_sim.commands.cli import _parser
from rosflight_py_sim._inner import name
monkeypatch.setattr(fair_inbox, "_RATE", 1)
mock.patch("rosflight_py_sim.commands.cli._parser")
getattr(node, "_board")
self._own = state._replace(x=1)
node.__class__
"""
    assert sorted(private_names(ast.parse(source))) == [
        (1, "_board"),
        (2, "_parser"),
        (3, "name"),
        (4, "_RATE"),
        (5, "rosflight_py_sim.commands.cli._parser"),
        (6, "_board"),
    ]
