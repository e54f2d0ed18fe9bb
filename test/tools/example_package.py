"""The package of docs/examples, as pip would install it."""

from __future__ import annotations

import ast
import os
from pathlib import Path

PROJECT = Path(__file__).parents[2]

EXAMPLE = PROJECT / "docs" / "examples" / "my_nodes"


def install_example(site: Path) -> str:
    """Write the package's entry points into a folder, as an editable installation; return a PYTHONPATH with them."""
    information = site / "my_nodes-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my_nodes\nVersion: 1.0\n")
    groups = ast.literal_eval((EXAMPLE / "setup.py").read_text().partition("entry_points=")[2].rpartition(",\n)")[0])
    texts = (f"[{group}]\n" + "\n".join(lines) for group, lines in groups.items())
    (information / "entry_points.txt").write_text("\n".join(texts))
    return os.pathsep.join(map(str, (PROJECT, EXAMPLE, site)))
