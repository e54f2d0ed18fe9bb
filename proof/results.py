"""Results of a proof, as a file from which docs/proof.md is generated."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "build" / "proof"
"""Where the results of this working copy are written."""


@dataclass(frozen=True)
class Row:
    """One promise and its measurement.

    Attributes:
        what: the subject, such as a vehicle and a condition.
        promise: what is promised.
        measured: what was measured, with units and counts.
        holds: whether the measurement keeps the promise; None if nothing is promised.
    """

    what: str
    promise: str
    measured: str
    holds: bool | None


def write_results(name: str, title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> Path:
    """Write the results of the proof `name`, with command, date and machine; return the path of the file.

    Args:
        name: file name without suffix.
        title: heading of the table.
        rows: the table.
        notes: what is not proven, and what was left out; one sentence or more each.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.json"
    results = {
        "title": title,
        "command": shlex.join(["python", "-m", f"proof.{name}", *sys.argv[1:]]),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": machine(),
        "rows": [asdict(row) for row in rows],
        "notes": list(notes),
    }
    path.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def machine() -> dict[str, str]:
    """Processor, cores, Python and operating system."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "system": _system(),
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform()
