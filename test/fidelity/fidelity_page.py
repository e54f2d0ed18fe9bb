"""Print the fidelity table and draw a picture for each subject, for `make fidelity`.

python test/fidelity/fidelity_page.py [--write] [SUBJECT ...]

Pictures go to flights/fidelity. `--write` also writes the table into docs/fidelity.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

import matplotlib
from aircraft import NAMES
from aircraft_page import AircraftPage
from comparison import Comparison, Subject
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from rosflight_py_sim.viewer.picture_page import BLACK, STYLE

PAGE = Path(__file__).parents[2] / "docs" / "fidelity.md"
PICTURES = Path("flights/fidelity")
BEGIN, END = "<!-- table: written by test/fidelity/fidelity_page.py --write -->\n", "<!-- end of the table -->\n"

MODULES = (
    "air",
    "check_cases",
    "fixes",
    "ground_roll",
    "imu",
    "latency",
    "magnetometer",
    "rotors",
    "slipstream",
    "turbulence",
    "water",
    "whole_loop",
    "wrench_hold",
)
"""Modules of this folder that are subjects."""

SUBJECTS: Mapping[str, Subject] = {
    **{name: AircraftPage(name) for name in NAMES},
    **{name: import_module(name) for name in MODULES},
}


def main() -> None:
    """Print, draw and write the subjects named on the command line."""
    parser = argparse.ArgumentParser(description="Print the fidelity table and draw its pictures.")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"one of {', '.join(SUBJECTS)}; default: all")
    parser.add_argument("--write", action="store_true", help="write the whole table into docs/fidelity.md")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.subjects if name not in SUBJECTS]:
        parser.error(f"unknown subject {unknown[0]!r}; allowed: {', '.join(SUBJECTS)}")
    names = SUBJECTS if arguments.write or not arguments.subjects else arguments.subjects
    rows = {}
    for name in names:
        path = picture(name, PICTURES)
        rows[name] = list(SUBJECTS[name].comparisons())
        Console().print(printed(SUBJECTS[name].TITLE, rows[name]))
        print(f"plot: {path.resolve()}")
    if arguments.write:
        head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        tail = rest.partition(END)[2]
        PAGE.write_text(head + BEGIN + "".join(lines(rows)) + END + tail, "utf-8")


def printed(title: str, rows: Iterable[Comparison]) -> Table:
    """The rows as a table for the terminal."""
    table = Table(title=f"Fidelity: {title}", title_justify="left")
    for heading in ("quantity", "simulation", "reference", "difference"):
        table.add_column(heading, justify="left" if heading == "quantity" else "right")
    for row in rows:
        table.add_row(row.quantity, row.simulation, row.reference, row.difference)
    return table


def lines(rows: Mapping[str, Iterable[Comparison]]) -> Iterator[str]:
    """Lines of the table in docs/fidelity.md, from the rows of each subject."""
    yield "| quantity | simulation | reference | difference |\n|---|---|---|---|\n"
    for name, comparisons in rows.items():
        yield f"| **{SUBJECTS[name].TITLE}** | | | |\n"
        for row in comparisons:
            yield f"| {row.quantity} | {row.simulation} | {row.reference} | {row.difference} |\n"


def picture(name: str, folder: Path) -> Path:
    """Draw the picture of a subject; return its path."""
    with matplotlib.rc_context({**STYLE, "font.size": 9, "axes.titlesize": 10, "legend.fontsize": 8}):
        figure = Figure(figsize=(16.0, 10.0), dpi=100)
        canvas = FigureCanvasAgg(figure)
        figure.text(0.045, 0.962, f"Fidelity: {SUBJECTS[name].TITLE}", fontsize=17, fontweight="bold", color=BLACK)
        SUBJECTS[name].draw(figure)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        canvas.print_png(str(path))
    return path


if __name__ == "__main__":
    main()
