"""Build requirements of both packages."""

from __future__ import annotations

from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

PROJECT = Path(__file__).parents[1]


def build_requirements() -> list[str]:
    """The `requires` of both pyproject.toml."""
    files = (PROJECT / "pyproject.toml", PROJECT / "rosflight_msgs" / "pyproject.toml")
    return [
        requirement
        for path in files
        for requirement in tomllib.loads(path.read_text(encoding="utf-8"))["build-system"]["requires"]
    ]
