"""Coverage-guided fuzzing of one parser by atheris: `python -m proof.coverage NAME [libFuzzer's options]`.

The process ends with an error at the first defect.
"""

from __future__ import annotations

import sys

import atheris


def main() -> None:
    """Fuzz the parser."""
    from proof.parsers import PARSERS

    name, *options = sys.argv[1:]
    atheris.Setup([sys.argv[0], *options], PARSERS[name].feed)
    atheris.Fuzz()


if __name__ == "__main__":
    # Without modules of kernels, which numba could not compile.
    rooms = (
        "protocols",
        "failures",
        "vehicles",
        "world.world_file",
        "graph",
        "transmitter",
        "recording",
        "interfaces",
        "commands",
    )
    parts = (*rooms, "bounded_yaml", "yaml_section", "autopilot.waypoints", "firmware.parameters")
    with atheris.instrument_imports(include=["mcap", "mcap_ros2", *(f"rosflight_py_sim.{one}" for one in parts)]):
        import proof.parsers  # noqa: F401
    main()
