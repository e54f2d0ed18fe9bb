"""Coverage-guided fuzzing of one parser with atheris: `python -m proof.coverage NAME [LIBFUZZER OPTIONS]`.

The process exits with an error at the first defect.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris


def main() -> None:
    """Fuzz the parser."""
    from proof.parsers import PARSERS

    name, *options = sys.argv[1:]
    atheris.Setup([sys.argv[0], *options], PARSERS[name].feed)
    atheris.Fuzz()


if __name__ == "__main__":
    package = Path(__file__).parents[1] / "rosflight_py_sim"
    # numba cannot compile instrumented kernels.
    kernels = [path for path in package.rglob("*.py") if "@kernel" in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(package.parent).with_suffix("").parts) for path in kernels]
    with atheris.instrument_imports(include=["mcap", "mcap_ros2", "rosflight_py_sim"], exclude=names):
        import proof.parsers  # noqa: F401
    main()
