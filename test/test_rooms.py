"""Imports between the rooms of the package point down, in no circle; each room's docstring states its purpose."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rosflight_py_sim

PACKAGE = Path(rosflight_py_sim.__file__).parent

# From bottom to top.
ROOMS = (
    *(
        "ground",
        "kernels",
        "failures",
        "world",
        "physics",
        "firmware",
        "transmitter",
        "protocols",
        "autopilot",
        "camera",
        "shapes",
        "vehicles",
    ),
    *(
        "step",
        "sensing",
        "parts",
        "interfaces",
        "bridge",
        "recording",
        "viewer",
        "nodes",
        "graph",
        "missions",
        "sweep",
        "search",
        "identification",
        "learning",
        "testing",
        "commands",
    ),
)

# Modules beside the rooms: the version, and entry points, which are above all rooms.
VERSION, ENTRIES = "__init__", ("__main__", "compile_with_parent", "executables")


def imported(file: Path) -> Iterator[str]:
    """Names that a module imports anywhere, except those for type checks only."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for_types = {inner for node in tests for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def height(parts: tuple[str, ...]) -> int:
    """Number of a room in ROOMS, from 1; 0 for the version, and for entry points more than that of any room."""
    first = parts[0].removesuffix(".py")
    return ROOMS.index(first) + 1 if first in ROOMS else len(ROOMS) + 1 if first in ENTRIES else 0


def test_every_folder_with_code_is_a_declared_room() -> None:
    folders = {file.relative_to(PACKAGE).parts[0] for file in PACKAGE.glob("*/*.py")}
    assert folders == set(ROOMS)
    assert {file.stem for file in PACKAGE.glob("*.py")} == {VERSION, *ENTRIES}


@pytest.mark.parametrize("room", [*ROOMS, ""])
def test_imports_only_point_down_the_layers(room: str) -> None:
    files = (PACKAGE / room).rglob("*.py") if room else PACKAGE.glob("*.py")
    upward = []
    for file in files:
        own = height(file.relative_to(PACKAGE).parts)
        for name in imported(file):
            package, *parts = name.split(".")
            if package == PACKAGE.name and parts and height(tuple(parts)) > own:
                upward.append(f"{file.relative_to(PACKAGE)} imports {name}")
    assert not upward


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_docstring_states_its_purpose(room: str) -> None:
    assert ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")))


def modules_of() -> dict[str, Path]:
    """Modules of the package, by name."""
    names = {}
    for file in PACKAGE.rglob("*.py"):
        name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
        names[name.removesuffix(".__init__")] = file
    return names


def loaded_by_name(file: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Modules that a module loads with import_module, in an f-string each of the folder that it names."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            given = node.args[0]
            if isinstance(given, ast.Constant):
                yield str(given.value)
            elif isinstance(given, ast.JoinedStr):
                first = given.values[0]
                prefix = str(first.value) if isinstance(first, ast.Constant) else ""
                yield from (name for name in modules if prefix and name.startswith(prefix))


def test_no_module_imports_itself_through_others() -> None:
    # The registry's table is left out: it names objects as entry points do, and its users load them.
    modules = modules_of()
    graph = {
        name: {
            one if one in modules else one.rpartition(".")[0]
            for one in (*imported(file), *loaded_by_name(file, modules))
            if one in modules or one.rpartition(".")[0] in modules
        }
        - {name}
        for name, file in modules.items()
    }
    # Modules that import nothing of the rest are removed until none is left, or those in circles.
    while free := [name for name, others in graph.items() if not others & graph.keys()]:
        for name in free:
            del graph[name]
    importers = {other for others in graph.values() for other in others}
    assert not graph.keys() & importers
