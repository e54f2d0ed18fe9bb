"""Folder of a sweep: stored rows survive, and only the same sweep continues it."""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from sample_flights import fly_sample, write_sweep

from rosflight_py_sim import __version__
from rosflight_py_sim.sweep.definition import Row, Sweep, run_of
from rosflight_py_sim.sweep.store import Store, SweepError
from rosflight_py_sim.sweep.sweep_file import read_sweep


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    return read_sweep(write_sweep(tmp_path))


def stored(folder: Path, sweep: Sweep) -> list[int]:
    with Store(folder, sweep) as store:
        return [cells["run"] for cells in store.cells()]


def test_rows_are_on_the_disk_after_save(tmp_path: Path, sweep: Sweep) -> None:
    with Store(tmp_path / "out", sweep) as store:
        for number in (3, 1):
            store.add(fly_sample(sweep, run_of(sweep, number)))
        store.save()
        (part,) = (tmp_path / "out" / "parts").iterdir()
        assert pq.read_table(part)["run"].to_pylist() == [3, 1]
    assert stored(tmp_path / "out", sweep) == [3, 1]


def test_rows_are_saved_when_they_are_many_or_a_second_old(
    tmp_path: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now_s)
    with Store(tmp_path, sweep) as store:
        store.add(fly_sample(sweep, run_of(sweep, 0)))
        now_s += 0.99
        store.save_if_due()
        assert store.stored == 0
        now_s += 0.02
        store.save_if_due()
        assert store.stored == 1
        for number in range(100):
            store.add(fly_sample(sweep, run_of(sweep, number % 20)))
        store.save_if_due()
        assert store.stored == 101


def test_table_has_a_row_per_run_in_order_with_all_columns(tmp_path: Path, sweep: Sweep) -> None:
    rows = [fly_sample(sweep, run_of(sweep, number)) for number in range(20)]
    with Store(tmp_path, sweep) as store:
        for row in reversed(rows):
            store.add(row)
        store.complete(20)
        table = pq.read_table(store.table)
    kinds = dict(zip(table.column_names, map(str, table.schema.types), strict=True))
    assert list(kinds) == ["run", "seed", "mass", "use_random_wind", "succeeded", "reason", "error", "height"]
    assert list(kinds.values()) == [
        *("int64", "int64", "double", "bool", "bool", "string", "double", "list<element: double>"),
    ]
    for row, cells in zip(rows, table.to_pylist(), strict=True):
        assert cells.items() >= {**row.run.values, "run": row.run.number, "seed": row.run.seed}.items()
        assert (cells["succeeded"], cells["reason"]) == (row.succeeded, row.reason)
        assert cells["height"] == list(row.signals.get("height", []))
        assert cells["error"] == row.measures["error"] if row.succeeded else math.isnan(cells["error"])


def test_table_names_sweep_and_version(tmp_path: Path, sweep: Sweep) -> None:
    with Store(tmp_path / "out", sweep) as store:
        for number in range(20):
            store.add(fly_sample(sweep, run_of(sweep, number)))
        store.complete(20)
        metadata = pq.read_schema(store.table).metadata
    assert metadata[b"digest"].decode() == sweep.digest
    assert metadata[b"sweep_file"].decode() == sweep.file.read_text()
    assert metadata[b"version"].decode() == __version__


def test_table_does_not_depend_on_the_order_or_repetition_of_rows(tmp_path: Path, sweep: Sweep) -> None:
    contents = set()
    for name, numbers in (("up", range(20)), ("down", range(19, -1, -1)), ("twice", [4, *range(20)])):
        with Store(tmp_path / name, sweep) as store:
            for number in numbers:
                store.add(fly_sample(sweep, run_of(sweep, number)))
                if number % 3 == 0:
                    store.save()
            store.complete(20)
            contents.add(store.table.read_bytes())
    assert len(contents) == 1


def test_rows_beyond_the_end_of_the_table_are_dropped(tmp_path: Path, sweep: Sweep) -> None:
    with Store(tmp_path, sweep) as store:
        for number in range(9):
            store.add(fly_sample(sweep, run_of(sweep, number)))
        store.complete(6)
        assert pq.read_table(store.table)["run"].to_pylist() == list(range(6))


def test_results_of_another_sweep_file_are_refused_with_both_files(tmp_path: Path, sweep: Sweep) -> None:
    Store(tmp_path / "out", sweep).close()
    (tmp_path / "other").mkdir()
    other = read_sweep(write_sweep(tmp_path / "other", runs=21))
    with pytest.raises(SweepError) as refused:
        Store(tmp_path / "out", other)
    text = str(refused.value)
    assert str(sweep.file) in text and str(other.file) in text and "--output" in text and "\n" not in text


def test_results_of_an_edited_sweep_file_are_refused(tmp_path: Path, sweep: Sweep) -> None:
    Store(tmp_path / "out", sweep).close()
    edited = read_sweep(write_sweep(tmp_path, runs=21))
    with pytest.raises(
        SweepError, match=r"results from before a change to '.*sample\.yaml' or to a file that it names"
    ):
        Store(tmp_path / "out", edited)


def test_results_of_another_version_are_refused(tmp_path: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path / "out", sweep).close()
    monkeypatch.setattr("rosflight_py_sim.sweep.store.__version__", "9.9")
    with pytest.raises(SweepError, match=f"results of version {__version__}, which version 9.9 does not continue"):
        Store(tmp_path / "out", sweep)


def test_damaged_description_is_refused_by_name(tmp_path: Path, sweep: Sweep) -> None:
    Store(tmp_path, sweep).close()
    (tmp_path / "sweep.json").write_text("{}")
    with pytest.raises(SweepError, match=r"cannot read '.*sweep\.json' .*--output"):
        Store(tmp_path, sweep)


def test_complete_sweep_is_read_from_a_folder_that_holds_nothing_else(tmp_path: Path, sweep: Sweep) -> None:
    for _ in range(2):
        with Store(tmp_path / "out", sweep) as store:
            if not store.is_complete:
                for number in range(20):
                    store.add(fly_sample(sweep, run_of(sweep, number)))
                store.complete(20)
        assert {path.name for path in (tmp_path / "out").iterdir()} == {"lock", "sweep.json", "table.parquet"}


def test_second_process_may_not_write_to_the_folder(tmp_path: Path, sweep: Sweep) -> None:
    with Store(tmp_path, sweep), pytest.raises(SweepError, match="another process is flying"):
        Store(tmp_path, sweep)


def test_damaged_part_is_refused_by_name_and_other_parts_stay(tmp_path: Path, sweep: Sweep) -> None:
    with Store(tmp_path, sweep) as store:
        for number in range(3):
            store.add(fly_sample(sweep, run_of(sweep, number)))
            store.save()
    damaged = tmp_path / "parts" / "000000001.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.raises(
        SweepError, match=r"000000001\.parquet' .*: delete it, and the same command flies its runs again"
    ):
        Store(tmp_path, sweep)
    damaged.unlink()
    with Store(tmp_path, sweep) as store:
        store.add(fly_sample(sweep, run_of(sweep, 1)))
    assert stored(tmp_path, sweep) == [0, 2, 1]


def test_partial_file_of_a_killed_process_is_ignored(tmp_path: Path, sweep: Sweep) -> None:
    with Store(tmp_path, sweep) as store:
        store.add(fly_sample(sweep, run_of(sweep, 0)))
    (tmp_path / "parts" / "000000001.parquet.partial").write_bytes(b"PAR1")
    assert stored(tmp_path, sweep) == [0]


def test_full_disk_is_one_line_and_stored_rows_stay(
    tmp_path: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(SweepError) as refused, Store(tmp_path, sweep) as store:
        store.add(fly_sample(sweep, run_of(sweep, 0)))
        store.save()
        monkeypatch.setattr("os.fsync", fail)
        store.add(Row(run_of(sweep, 1), succeeded=False))
        store.save()
    assert "No space left on device; 1 of 20 runs are stored, and the same command" in str(refused.value)
    assert not list(tmp_path.rglob("*.partial"))
    monkeypatch.undo()
    assert stored(tmp_path, sweep) == [0]


def test_unwritable_folder_is_refused_in_one_line(tmp_path: Path, sweep: Sweep) -> None:
    with pytest.raises(SweepError, match=r"cannot write '.*sample\.yaml': (Not a directory|File exists)"):
        Store(sweep.file, sweep)
