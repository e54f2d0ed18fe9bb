"""Print the gains of a fixed wing's autopilot, in the format of its parameter file.

    .venv/bin/python tools/design_autopilot_gains.py anaconda 18

A test compares the files in config/ with this output.
"""

from __future__ import annotations

import sys

from rosflight_py_sim.autopilot.gain_design import designed_gains
from rosflight_py_sim.commands.vehicle_models import steady_vehicle
from rosflight_py_sim.vehicles import vehicle


def gains(name: str, airspeed: float) -> dict[str, float]:
    """Autopilot parameters of the vehicle with this name, to three digits."""
    chosen = vehicle(name)
    steady = steady_vehicle(chosen, [chosen.parameter_file])
    return {key: float(f"{value:.3g}") for key, value in designed_gains(steady.model, airspeed).items()}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} VEHICLE AIRSPEED")
    for parameter, value in gains(sys.argv[1], float(sys.argv[2])).items():
        print(f"    {parameter}: {value}")
