"""Result files of the proof programs: one table each, as JSON in build/proof."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "build" / "proof"
"""Folder of the result files."""


@dataclass(frozen=True)
class Row:
    """One measured promise.

    Attributes:
        what: subject of the measurement.
        promise: what the project promises about it.
        measured: what was measured, with units.
        holds: whether the measurement keeps the promise; None if nothing was promised or nothing could be measured.
    """

    what: str
    promise: str
    measured: str
    holds: bool | None


def write_results(name: str, title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> Path:
    """Write build/proof/NAME.json, and return its path.

    Args:
        name: name of the file without its suffix.
        title: heading of the table.
        rows: the table.
        notes: sentences below the table, such as what was left out.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.json"
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    found = {
        "title": title,
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine,
        "rows": [asdict(row) for row in rows],
        "notes": list(notes),
    }
    path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return path
