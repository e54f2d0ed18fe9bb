"""Plots as PNG pages and as SVG texts: colours, style, size."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rosflight_py_sim.recording.state_log import Array

# Colours of M. Okabe and K. Ito (Color Universal Design, 2008), distinguishable in all types of colour vision.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, AMBER, BLACK, GREY = "#56B4E9", "#E69F00", "#222222", "#8A8A8A"
ACTUATOR_COLOURS = (BLUE, AMBER, GREEN, PURPLE, SKY, ORANGE, BLACK, GREY)
# Lines of a panel also differ in their dashes, for prints without colour.
DASHES = ("-", "--", "-.", ":")

STYLE = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.4,
}


@contextmanager
def picture_page(path: Path | str) -> Iterator[Figure]:
    """Figure that is written as a PNG of 1600 by 1000 pixels to `path` (folders are created) at the end of the block.

    Raises:
        ModuleNotFoundError: matplotlib is not installed; the text gives the install command.
    """
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"the plot of a flight needs matplotlib ({missing}): pip install 'rosflight_py_sim[plot]'",
            name=missing.name,
        ) from missing
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(16.0, 10.0), dpi=100)
        canvas = FigureCanvasAgg(figure)
        yield figure
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        canvas.print_png(str(path))


@contextmanager
def svg_figure(width: float, height: float) -> Iterator[Figure]:
    """Figure (inches) for `svg_of`, which must be called within the block."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # Keep text as text, and give the same figure the same SVG.
    with matplotlib.rc_context(
        {**STYLE, "svg.fonttype": "none", "svg.hashsalt": "report", "font.family": "sans-serif"}
    ):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure


def svg_of(figure: Figure) -> str:
    """SVG element of a figure, for a page."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file = io.StringIO()
    # Figure.savefig would draw the figure twice.
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasSVG)
    canvas.print_svg(file, metadata={"Date": None})
    svg = file.getvalue()
    return svg[svg.index("<svg") :]


def write_title(figure: Figure, title: str, facts: list[str]) -> None:
    """Title of the page, and its facts in one line."""
    figure.text(0.05, 0.962, title, fontsize=17, fontweight="bold", color=BLACK)
    figure.text(0.05, 0.932, "   |   ".join(facts), fontsize=11, color="#444444")


def fit_map(axes: Axes, north: Array, east: Array) -> float:
    """Fit a map's axes to all points, with equal scales and a margin; return the greater extent (m)."""
    panel_ratio = axes.bbox.width / axes.bbox.height
    extent_north, extent_east = float(np.ptp(north)), float(np.ptp(east))
    reach = max(extent_north, extent_east, 1.0)
    half = 0.5 * max(extent_north + 0.32 * reach, (extent_east + 0.2 * reach) / panel_ratio)
    # The legend lies below the path, so the path sits a little above the middle.
    centre_north = 0.5 * float(north.max() + north.min()) - 0.04 * reach
    centre_east = 0.5 * float(east.max() + east.min())
    axes.set_xlim(centre_east - half * panel_ratio, centre_east + half * panel_ratio)
    axes.set_ylim(centre_north - half, centre_north + half)
    axes.set_aspect("equal", adjustable="box")
    return reach
