"""Forces and moments node of an underwater vehicle."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parts.auv_forces import AuvForces


class AuvForcesAndMoments(AuvForces, PartNode):
    """Forces and moments of an underwater vehicle: buoyancy, damping, thrusters, tether; the wind is the current."""


def main() -> None:
    """Run the node."""
    run(AuvForcesAndMoments)


if __name__ == "__main__":
    main()
