"""Write docs/parameters.md from the parameter tables of the nodes, those of installed packages included.

Run from the project's folder: `.venv/bin/python tools/write_parameter_page.py`. A test checks that
the page is up to date.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.ground.registry import node_names
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.parts.sensors import Sensors
from rosflight_py_sim.sensing.sensor import FURTHER_SENSORS

PAGE = Path(__file__).parents[1] / "docs" / "parameters.md"

_HEAD = """# Parameters

Written by `tools/write_parameter_page.py` from the tables in the code, which also define the descriptors
(`ros2 param describe /dynamics mass`) and the check of every value. Number parameters also accept integers. Every
number must be finite and either 0 or at least 1e-30 in magnitude. Parameters marked *fixed* are set when a node
starts. The others can be changed while the node runs; a change does not reset the node's state.

The flight controller has ROSflight's own parameters, which are accessed by `param_get` and `param_set`: see
[The flight controller](firmware.md#parameters). [Sensors](sensors.md) explains the sensor parameters (noise
densities, bias walks), and [Physics](physics.md) those of wind and ground.

Several nodes have a parameter of the same name (`mass`, `gravity`, `seed`, `time_mode`, the origin). The section
`/**` of a parameter file sets it for all of them; `config/multirotor.yaml` is an example. Parameter files may also
use the other node names given below, so that ROSflight's files load.

In a scenario, in a sweep and after `--ros-args -p`, `NODE.NAME` sets a parameter of one node only, for example
`dynamics.mass`. If nodes declare a name differently, as those of different packages may, `NAME` alone is an error.
"""


def page() -> str:
    """Text of docs/parameters.md."""
    return _HEAD + "".join(f"\n{_section(executable)}" for executable in node_names())


def _section(executable: str) -> str:
    cls = node_class(executable)
    lines = [f"## {executable}", "", _names(executable, cls), "", "| parameter | default | unit | allowed | meaning |"]
    lines += ["|---|---|---|---|---|", *_rows(cls)]
    return "\n".join([*lines, *_further(cls)]) + "\n"


def _further(cls: type[SimulationNode]) -> Iterator[str]:
    """Names of the parameters of optional sensors."""
    if issubclass(cls, Sensors) and (sensors := cls.optional_sensors()):
        yield from ("", f"`{FURTHER_SENSORS.name}` adds these parameters, which `ros2 param describe` explains:", "")
        for name, sensor in sensors.items():
            added = [one.name for one in sensor.timing + sensor.parameters if one.name not in cls.PARAMETERS]
            yield f"- `{name}`: {', '.join(f'`{one}`' for one in added)}"


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
