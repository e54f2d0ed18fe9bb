"""The notebook in docs/examples runs, with smaller grids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from short_flights import CALIBRATED, SMALL_BIASES

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CONFIG = EXAMPLES.parents[1] / "config"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copies of the sweep files, with 2 by 2 points each, and of the plan that one of them names.

    The square is smaller and lower. The landings are shorter and lower, exclude headwind, which takes longest, and
    strong tailwind, which needs a longer approach, and have a lower time limit. Steps are longer, and the firmware
    knows the biases of its IMU, which then need not be calibrated.
    """
    (tmp_path / "sweeps").mkdir()
    plan = (EXAMPLES / "straight_landing.yaml").read_text(encoding="utf-8")
    for given, shorter in (
        ("[600.0,", "[250.0,"),
        ("[900.0,", "[300.0,"),
        (" -25.0]", " -15.0]"),
        ("[1600.0,", "[700.0,"),
    ):
        assert given in plan
        plan = plan.replace(given, shorter)
    (tmp_path / "straight_landing.yaml").write_text(plan, encoding="utf-8")
    notebook = (EXAMPLES / "sweep.ipynb").read_text(encoding="utf-8")
    for file in (one for one in (EXAMPLES / "sweeps").glob("*.yaml") if one.name in notebook):
        text = file.read_text(encoding="utf-8").replace("../../../config", str(CONFIG))
        text, count = re.subn(r"count: \d+", "count: 2", text)
        text = re.sub(r"^repeats: \d+", "repeats: 1", text, flags=re.MULTILINE)
        assert count in (0, 2)
        text = text.replace("{from: -12, to: 12,", "{from: 0, to: 4,").replace("limit: 400", "limit: 75")
        settings = {"step_size": 0.02}
        if "vehicle: multirotor" in text:
            smaller = {"square_side": 0.5, "square_height": 1.0, "square_acceleration": 4.0, "corner_pause": 0.0}
            settings |= {"step_size": 0.008, **smaller}
        lines = "".join(f"  {name}: {value}\n" for name, value in settings.items())
        text = text.replace("\nparameters:\n", f"\nfirmware: {{{CALIBRATED}}}\nparameters:\n{SMALL_BIASES}\n{lines}")
        (tmp_path / "sweeps" / file.name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.timeout(600)
def test_notebook_runs_and_draws_both_studies(folder: Path) -> None:
    # Here, because each process that runs tests imports all modules of tests, and these take long.
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(EXAMPLES / "sweep.ipynb", as_version=4)
    NotebookClient(notebook, timeout=500, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    assert {file.name for file in folder.glob("*.sweep")} == {"multirotor_gains.sweep", "fixedwing_landing.sweep"}
