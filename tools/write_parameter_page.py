"""Writes docs/parameters.md from the parameter tables of the nodes.

Run from the project's folder: `.venv/bin/python tools/write_parameter_page.py`. A test compares the page with what this
gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import NODE_CLASSES, node_class
from rosflight_py_sim.parameters import Parameter

PAGE = Path(__file__).parents[1] / "docs" / "parameters.md"

_HEAD = """# Parameters

Written by `tools/write_parameter_page.py` from the tables in the code, which also give the nodes their descriptors
(`ros2 param describe /dynamics mass`) and check every value. A whole number is taken where a number is asked for;
every number must be finite. Those marked *fixed* are set when a node starts; the others can be changed while it
runs, and go on from the present state.

The flight controller has parameters of its own, which are ROSflight's and are reached through `param_get` and
`param_set`: see [The flight controller](firmware.md#parameters). What the sensors' parameters mean in terms of
noise densities and bias walks is told in [Sensors](sensors.md), what the wind's and the ground's do in
[Physics](physics.md).

Several nodes have a parameter of the same name (`mass`, `gravity`, `seed`, `time_mode`, the place of launch). A
file gives it to all of them at once in its section `/**`; `config/multirotor.yaml` is an example. In parameter
files a node is also known by the other names given below, so that ROSflight's files load.
"""


def page() -> str:
    """Text of docs/parameters.md."""
    return _HEAD + "".join(f"\n{_section(executable)}" for executable in NODE_CLASSES)


def _section(executable: str) -> str:
    cls = node_class(executable)
    lines = [f"## {executable}", "", _names(executable, cls), "", "| parameter | default | unit | allowed | meaning |"]
    lines += ["|---|---|---|---|---|", *_rows(cls)]
    return "\n".join(lines) + "\n"


def _names(executable: str, cls: type[SimulationNode]) -> str:
    others = [f"`{name}`" for name in cls.ALIASES]
    text = f"Node `{cls.DEFAULT_NAME}`"
    return f"{text}; in parameter files also {' and '.join(others)}." if others else f"{text}."


def _rows(cls: type[SimulationNode]) -> Iterator[str]:
    for p in cls.PARAMETERS:
        name = f"`{p.name}`" + (" *fixed*" if p.read_only else "")
        yield f"| {name} | {_default(p)} | {p.unit} | {p.constraints} | {p.text} |"


def _default(p: Parameter) -> str:
    if p.required:
        return "required"
    if isinstance(p.default, list):
        return "[" + ", ".join(_scalar(value) for value in p.default) + "]"
    return _scalar(p.default) if p.default != "" else "empty"


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.10g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
