"""Draw the pictures of docs/sweep.md: maps of the example sweeps, and the report page in a headless browser.

    .venv/bin/python tools/draw_sweeps.py [--tables FOLDER]

Needs Debian's chromium, and Playwright (the extra `test`). Complete tables in the folder are not flown again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from playwright.sync_api import sync_playwright

from rosflight_py_sim.sweep import run
from rosflight_py_sim.sweep.factors import factors_of
from rosflight_py_sim.sweep.pictures import draw_map
from rosflight_py_sim.sweep.report import write_report
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.viewer.picture_page import picture_page, write_title

PROJECT = Path(__file__).parents[1]
PICTURES = PROJECT / "docs" / "pictures"
SWEEPS = Path("docs/examples/sweeps")
CHROMIUM = "/usr/bin/chromium"


@dataclass(frozen=True)
class Map:
    """A map of a picture: its title, the name of the sweep and that of the measure."""

    title: str
    sweep: str
    measure: str


GAINS = Map("Multirotor in wind: tracking error (m RMS)", "multirotor_gains", "tracking_error")
LANDING = Map(
    "Fixed wing lands in wind: distance from the planned place (m)", "fixedwing_landing", "touch_down_distance"
)
MAPS = {
    "sweeps.png": (GAINS, LANDING),
    "sweep_gains.png": (GAINS, Map("Angular rate (rad/s RMS)", "multirotor_gains", "rotation")),
    "sweep_landing.png": (
        Map("Distance from the planned place (m)", "fixedwing_landing", "touch_down_distance"),
        Map("Greatest bank in the flare (rad)", "fixedwing_landing", "bank"),
    ),
}
REPORT = "multirotor_wind"


def main() -> None:
    """Fly the sweeps that are missing, and draw."""
    parser = argparse.ArgumentParser(description="Draw the pictures of sweeps.")
    parser.add_argument("--tables", type=Path, default=PROJECT / "build" / "sweeps", help="folder for the tables")
    tables = parser.parse_args().tables
    flown = {name: run(file_of(name), output=tables / name) for name in (GAINS.sweep, LANDING.sweep, REPORT)}
    for file, maps in MAPS.items():
        draw(PICTURES / file, maps, flown)
    draw_report(tables / REPORT)


def file_of(name: str) -> Path:
    """Path of an example sweep, relative to the project, as the report page shows it."""
    return SWEEPS / f"{name}.yaml"


def draw(path: Path, maps: Sequence[Map], tables: dict[str, pd.DataFrame]) -> None:
    """Draw maps side by side."""
    with picture_page(path) as figure:
        figure.set_size_inches(16.0, 6.6)
        for axes, one in zip(figure.subplots(1, len(maps)), maps, strict=True):
            table = tables[one.sweep]
            y, x = factors_of(read_sweep(file_of(one.sweep)), table)
            values, runs, succeeded = (table[name].to_numpy() for name in (one.measure, "run", "succeeded"))
            draw_map(axes, x, y, one.measure, values, runs, succeeded)
            axes.set_title(one.title)
        figure.subplots_adjust(left=0.05, right=0.97, top=0.84, bottom=0.09, wspace=0.12)
        names = {one.sweep for one in maps}
        title = (
            read_sweep(file_of(maps[0].sweep)).description if len(names) == 1 else "A gain study and a wind envelope"
        )
        flights = sum(len(tables[name]) for name in names)
        write_title(figure, title, [f"{flights} flights", "dots: succeeded", "orange crosses: failed"])


def draw_report(folder: Path) -> None:
    """Draw the upper part of a sweep's report page."""
    page_file = write_report(folder, read_sweep(file_of(REPORT)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1150, "height": 1750})
        page.goto(page_file.resolve().as_uri())
        page.screenshot(path=PICTURES / "sweep_report.png")
        browser.close()


if __name__ == "__main__":
    main()
