"""Table of a sweep: a row for each run, as Arrow data and as Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.sweep.definition import Row, Sweep

RUN, SEED, SUCCEEDED, REASON = "run", "seed", "succeeded", "reason"
"""Columns of every table; the others are the quantities, measures and signals of the sweep."""

_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


def schema_of(sweep: Sweep) -> pa.Schema:
    """Columns of a sweep's table: run, seed, quantities, succeeded, reason, measures and signals, in this order."""
    return pa.schema(
        [
            (RUN, pa.int64()),
            (SEED, pa.int64()),
            *((one.key, _type_of(one.parameter)) for one in sweep.quantities),
            (SUCCEEDED, pa.bool_()),
            (REASON, pa.string()),
            *((one.name, pa.float64()) for one in sweep.measures),
            *((one.name, pa.list_(pa.float64())) for one in sweep.signals),
        ]
    )


def table_of(rows: Iterable[Row], sweep: Sweep) -> pa.Table:
    """Table of some rows: NaN for a missing measure, an empty list for a missing signal."""
    return pa.Table.from_pylist([_cells(row, sweep) for row in rows], schema_of(sweep))


def sorted_table(table: pa.Table, rows: int) -> pa.Table:
    """Rows of the runs below `rows`, each once, in order of their numbers.

    The table is in one piece, so that it does not depend on the order in which rows were stored.
    """
    numbers = table[RUN].to_numpy()
    first = {int(number): place for place, number in reversed(list(enumerate(numbers)))}
    return table.take([first[number] for number in range(rows)]).combine_chunks()


def write_table(table: pa.Table, path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write a Parquet file, which is complete whenever it exists, and on the disk on return.

    Args:
        table: its content.
        path: the file.
        metadata: texts to store beside the columns, by name.

    Raises:
        OSError: the file cannot be written.
    """
    buffer = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(metadata), buffer, compression="zstd")
    write_file(path, buffer.getvalue())


def write_file(path: Path, content: bytes | pa.Buffer) -> None:
    """Write a file, which is complete whenever it exists, and on the disk on return.

    Raises:
        OSError: the file cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _type_of(parameter: Parameter) -> pa.DataType:
    kind = _TYPES[parameter.scalar_type]
    return pa.list_(kind) if isinstance(parameter.default, list) else kind


def _cells(row: Row, sweep: Sweep) -> dict[str, object]:
    return {
        RUN: row.run.number,
        SEED: row.run.seed,
        **row.run.values,
        SUCCEEDED: row.succeeded,
        REASON: row.reason,
        **{one.name: float(row.measures.get(one.name, float("nan"))) for one in sweep.measures},
        **{one.name: list(row.signals.get(one.name, ())) for one in sweep.signals},
    }
