"""Print the build requirements of both packages, one per line, for `make lock`."""

from __future__ import annotations

from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib


def main() -> None:
    """Print the `requires` of both pyproject.toml."""
    for path in (Path("pyproject.toml"), Path("rosflight_msgs/pyproject.toml")):
        for requirement in tomllib.loads(path.read_text(encoding="utf-8"))["build-system"]["requires"]:
            print(requirement)


if __name__ == "__main__":
    main()
