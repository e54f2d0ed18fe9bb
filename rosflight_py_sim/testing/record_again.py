"""Program that flies a simulation again in a composed graph, and records it: `python -m ... FILE RECORDING LIMIT`.

A process of its own leaves ROS in the process of the tests as it is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rosflight_py_sim.graph.simulation_file import read_simulation
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.sweep.fly_run import fly_in_graph
from rosflight_py_sim.testing.ros_domains import NoDomainError, claimed_domain


def main(simulation: str, recording: str, limit_s: str) -> int:
    """Fly the simulation of a file (`graph/simulation_file.py`), for at most a simulated time, s; record it."""
    _, scenario = read_simulation(Path(simulation))
    try:
        with claimed_domain() as domain:
            os.environ["ROS_DOMAIN_ID"] = str(domain)
            stay_on_this_machine()
            fly_in_graph(scenario, float(limit_s), record=recording)
    except (ParameterError, NoDomainError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
