"""Results folder of a sweep, which stays consistent whenever a process ends."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rosflight_py_sim import __version__
from rosflight_py_sim.sweep.definition import Row, Sweep
from rosflight_py_sim.sweep.table import (
    REASON,
    RUN,
    SUCCEEDED,
    schema_of,
    sorted_table,
    table_of,
    write_file,
    write_table,
)

TABLE = "table.parquet"
"""Complete table, in the folder of a sweep."""

# Description of the sweep, rows stored while it is flown, and the lock of the process that flies it.
_SWEEP, _PARTS, _LOCK = "sweep.json", "parts", "lock"

SAVING_PERIOD_S = 1.0
"""Time after which rows are written to the disk, s."""

# Number of rows that are written at once.
_ROWS = 100


class SweepError(Exception):
    """A sweep cannot continue; the text gives the reason and the remedy."""


def default_folder(sweep: Sweep) -> Path:
    """Folder for the results of a sweep: named after its file, in the working directory."""
    return Path(f"{sweep.file.stem}.sweep")


class Store:
    """Rows of a sweep in a folder, which only one process at a time may write.

    Rows are kept in memory for up to a second, then written to a separate file. At the end, the file `TABLE` replaces
    these files. It depends on the rows alone, and holds the sweep's digest, file and version as metadata.

    Attributes:
        table: path of the complete table; the file exists when the sweep is complete.
        stored: number of runs on the disk.
    """

    def __init__(self, folder: Path, sweep: Sweep) -> None:
        """Open or create the folder, and read its rows.

        Raises:
            SweepError: the folder holds results of another sweep, another process writes it, or it cannot be written.
        """
        self.table = folder / TABLE
        self._folder, self._sweep = folder, sweep
        self._parts = folder / _PARTS
        self._rows: list[Row] = []
        self._due_s = 0.0
        self.stored = 0
        try:
            (folder if self.is_complete else self._parts).mkdir(parents=True, exist_ok=True)
            self._lock = (folder / _LOCK).open("a")
        except OSError as error:
            raise SweepError(f"cannot write '{folder}': {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._text = self._identified()
            self._tables = self._read_parts()
        except BlockingIOError as error:
            self._lock.close()
            raise SweepError(
                f"another process is flying the sweep in '{folder}': wait until it ends, or give another folder with "
                "--output"
            ) from error
        except BaseException:
            self._lock.close()
            raise
        self.stored = len({number for part in self._tables for number in part[RUN].to_pylist()})

    @property
    def is_complete(self) -> bool:
        """Whether the table is complete."""
        return self.table.exists()

    def cells(self) -> Iterator[dict[str, Any]]:
        """Number, outcome and measures of each stored run, by column, in the order in which they were stored."""
        names = [RUN, SUCCEEDED, REASON, *(one.name for one in self._sweep.measures)]
        for part in self._tables:
            yield from part.select(names).to_pylist()

    def add(self, row: Row) -> None:
        """Add the row of a run; the first call of `save_if_due` a second later writes it to the disk."""
        if not self._rows:
            self._due_s = time.monotonic() + SAVING_PERIOD_S
        self._rows.append(row)

    def save_if_due(self) -> None:
        """Write the rows if the oldest has waited for a second, or if there are many.

        Raises:
            SweepError: they cannot be written.
        """
        if len(self._rows) >= _ROWS or (self._rows and time.monotonic() >= self._due_s):
            self.save()

    def save(self) -> None:
        """Write all rows.

        Raises:
            SweepError: they cannot be written.
        """
        if not self._rows:
            return
        part = table_of(self._rows, self._sweep)
        self._write(part, self._parts / f"{self._next_part:09d}.parquet")
        self._next_part += 1
        self._tables.append(part)
        self.stored += len(self._rows)
        self._rows.clear()

    def complete(self, rows: int) -> None:
        """Write the table of the runs below `rows`, all of which have been added.

        Raises:
            SweepError: it cannot be written.
        """
        self.save()
        table = sorted_table(pa.concat_tables(self._tables), rows)
        metadata = {"digest": self._sweep.digest, "sweep_file": self._text, "version": __version__}
        self._write(table, self.table, metadata)
        shutil.rmtree(self._parts, ignore_errors=True)

    def close(self) -> None:
        """Write all rows, and let other processes write to the folder.

        Raises:
            SweepError: the rows cannot be written.
        """
        try:
            self.save()
        finally:
            self._lock.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        # After a write that failed, another one would replace the first error.
        with contextlib.suppress(SweepError) if isinstance(error, SweepError) else contextlib.nullcontext():
            self.close()

    def _identified(self) -> str:
        """Text of the sweep file, after a check that the folder's results belong to the sweep."""
        path, sweep = self._folder / _SWEEP, self._sweep
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            file, digest, version, text = (str(known[key]) for key in ("file", "digest", "version", "text"))
        except FileNotFoundError:
            file, digest, version = str(sweep.file.absolute()), sweep.digest, __version__
            text = sweep.file.read_text(encoding="utf-8")
            known = {"file": file, "digest": digest, "version": version, "text": text}
            self._write_text(path, json.dumps(known, indent=2))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SweepError(f"cannot read '{path}' ({error}): give another folder with --output") from error
        if (digest, version) == (sweep.digest, __version__):
            return text
        if digest == sweep.digest:
            holds = f"results of version {version}, which version {__version__} does not continue"
        elif Path(file) == sweep.file.absolute():
            holds = f"results from before a change to '{file}' or to a file that it names"
        else:
            holds = f"results of '{file}', not of '{sweep.file}'"
        raise SweepError(
            f"the folder '{self._folder}' holds {holds}: give another folder with --output, or delete '{self._folder}'"
        )

    def _read_parts(self) -> list[pa.Table]:
        """Rows on the disk, in the order in which they were stored."""
        if self.is_complete:
            return [self._read(self.table)]
        paths = sorted(self._parts.glob("*.parquet"))
        self._next_part = int(paths[-1].stem) + 1 if paths else 0
        return [self._read(path) for path in paths]

    def _read(self, path: Path) -> pa.Table:
        try:
            return pq.ParquetFile(path).read().cast(schema_of(self._sweep))
        except (OSError, pa.ArrowException) as error:
            raise SweepError(
                f"cannot read '{path}' ({error}): delete it, and the same command flies its runs again"
            ) from error

    def _write(self, table: pa.Table, path: Path, metadata: dict[str, str] | None = None) -> None:
        try:
            write_table(table, path, metadata)
        except OSError as error:
            raise self._unwritable(path, error) from error

    def _write_text(self, path: Path, text: str) -> None:
        try:
            write_file(path, text.encode())
        except OSError as error:
            raise self._unwritable(path, error) from error

    def _unwritable(self, path: Path, error: OSError) -> SweepError:
        return SweepError(
            f"cannot write '{path}': {error.strerror}; {self.stored} of {self._sweep.runs} runs are stored, and the "
            "same command flies the others once the folder can be written"
        )
