"""Names of the sections in parameter files that a user gives."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from rosflight_py_sim.graph.plan import PlannedNode
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.registry import node_names
from rosflight_py_sim.interfaces.parameter_files import line_in_file, sections_of
from rosflight_py_sim.nodes.running import node_class

# Least similarity of a name to count as a misspelt one, 0 to 1.
_NEAR = 0.85


def check_section_names(files: Iterable[str], planned: Iterable[PlannedNode]) -> None:
    """Refuse sections whose name is nearly that of a node.

    Sections with other names may be meant for nodes of other packages, and are ignored, as by ROS.

    Args:
        files: parameter files, whose sections can be read.
        planned: the nodes of the simulation.

    Raises:
        ParameterError: the name of a section is misspelt; the text gives file, line and the similar name.
    """
    known = set(node_names())
    for one in planned:
        known |= {one.name, node_class(one.executable).DEFAULT_NAME, *node_class(one.executable).ALIASES}
    for file in files:
        for section, _ in sections_of(file):
            name = section.rpartition("/")[2]
            near = difflib.get_close_matches(name, known, n=1, cutoff=_NEAR) if name not in known else []
            if near:
                raise ParameterError(
                    f"{file}, line {line_in_file(file, section, '')}: section '{section}' given, but no node has this "
                    f"name; did you mean '{near[0]}'?"
                )
