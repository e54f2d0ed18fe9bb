"""Results of a proof, written to a file from which docs/proof.md is generated."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "build" / "proof"
"""Folder for the results of this working copy."""


_VERDICTS = {True: "holds", False: "FAILS", None: "-"}


@dataclass(frozen=True)
class Row:
    """One promise and its measurement.

    Attributes:
        what: the case, such as a vehicle and a condition.
        promise: the property promised for it.
        measured: the result, with units and counts.
        holds: whether the measurement keeps the promise; None if nothing is promised.
        samples: the individual measurements, for a picture.
    """

    what: str
    promise: str
    measured: str
    holds: bool | None
    samples: tuple[float, ...] = ()


def publish(name: str, title: str, rows: Iterable[Row], notes: Sequence[str] = (), *, case: str = "") -> int:
    """Print each row as soon as it is measured, and write the results; return the exit code of the program.

    The results of an interrupted proof are kept.

    Args:
        name: module of the proof, and file name without suffix.
        title: heading of the table.
        rows: the table.
        notes: limits of the proof, one or more sentences each.
        case: part of the proof with a file of its own, which ends with this word; empty for the whole proof.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}_{case}.json" if case else FOLDER / f"{name}.json"
    done: list[Row] = []
    for row in rows:
        done.append(row)
        print(f"{_VERDICTS[row.holds]}: {row.what}: {row.measured}", flush=True)
        results = {
            "title": title,
            "command": shlex.join(["python", "-m", f"proof.{name}", *sys.argv[1:]]),
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "machine": machine(),
            "rows": [{key: value for key, value in asdict(one).items() if value != ()} for one in done],
            "notes": list(notes),
        }
        path.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"results: {path}")
    return int(any(row.holds is False for row in done))


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
