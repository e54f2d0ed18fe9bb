"""Sweeps: many flights of a scenario with drawn parameters, as a table (docs/sweep.md)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rosflight_py_sim.ground.extras import missing_extra

if TYPE_CHECKING:
    from pandas import DataFrame


def run(
    file: str | Path,
    *,
    output: str | Path | None = None,
    workers: int | None = None,
    ray: str | None = None,
    graph: bool = False,
) -> DataFrame:
    """Fly a sweep, or the remaining runs of an interrupted one, as `rosflight_py_sim sweep` does.

    Args:
        file: the sweep file.
        output: folder for the results; None: named after the sweep file, in the working directory.
        workers: number of runs at a time; None: one per CPU.
        ray: address of a Ray cluster; None: processes on this machine.
        graph: whether the runs are flown in the composed node graph.

    Returns:
        The table, with one row per run.

    Raises:
        ParameterError: the sweep file is invalid, or a package is not installed.
        SweepError: the results cannot be stored, or no worker can fly the runs; what is stored remains.
    """
    require_packages()
    import pyarrow.parquet as pq

    from rosflight_py_sim.sweep.execution import execute, flight_function
    from rosflight_py_sim.sweep.store import default_folder
    from rosflight_py_sim.sweep.sweep_file import read_sweep

    sweep = read_sweep(Path(file))
    folder = default_folder(sweep) if output is None else Path(output)
    table = execute(sweep, folder, flight_function(sweep, graph=graph), workers=workers, ray=ray)
    return pq.read_table(table, partitioning=None).to_pandas()


def require_packages() -> None:
    """Check that the packages of the extra `sweep` are installed.

    Raises:
        ParameterError: one of them is missing; the text names the extra.
    """
    for name in ("jinja2", "matplotlib", "pandas", "pyarrow", "SALib", "scipy"):
        if find_spec(name) is None:
            raise missing_extra("a sweep", ImportError(f"No module named '{name}'", name=name), "sweep")
