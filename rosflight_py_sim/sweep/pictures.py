"""Plots of a sweep's table. Each point that stands for a run links to `#run-N`, as the report page expects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.sweep.factors import Array, Factor, spans_magnitudes
from rosflight_py_sim.sweep.sensitivity import Index
from rosflight_py_sim.viewer.picture_page import BLACK, BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Mask = npt.NDArray[np.bool_]
Runs = npt.NDArray[np.int64]

BANDS = ((5.0, 95.0, 0.18), (25.0, 75.0, 0.3))
"""Lower and upper percentile of each band around a median, and its opacity."""

_COLOURS = "viridis"
# Points of a plot that are drawn: more would only make the page larger.
_MOST_POINTS = 1500
_MOST_FAILED_LINES = 60
_MOST_BINS = 40
# Runs in a group of neighbouring values, of which a band is drawn.
_LEAST_GROUP, _MOST_GROUPS = 12, 14
# A band ends when fewer than this share of the runs are still in flight.
_LEAST_SHARE = 0.5
_LINES = 5

# Levels of contours in a decade, if the values are of different magnitude.
_STEPS = ((1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0,))
_MOST_LEVELS = 14

_LINK = re.compile(r'<a xlink:href="#run-(\d+)"[^>]*>')


def with_titles(svg: str, titles: Mapping[int, str]) -> str:
    """The SVG with a tool tip for each link to a run."""
    return _LINK.sub(lambda link: f'<a xlink:href="#run-{link[1]}"><title>{titles[int(link[1])]}</title>', svg)


def draw_histogram(axes: Axes, values: Array, succeeded: Mask, factor: Factor | None = None) -> None:
    """Number of runs by value, failed runs in another colour; the bins of a factor with levels are its levels."""
    finite = np.isfinite(values)
    if factor is not None and factor.has_levels:
        levels = factor.levels
        place = np.searchsorted(levels, values)
        for mask, colour, bottom in ((succeeded, BLUE, None), (~succeeded, ORANGE, succeeded)):
            counts = np.bincount(place[mask], minlength=len(levels))
            below = 0 if bottom is None else np.bincount(place[bottom], minlength=len(levels))
            axes.bar(np.arange(len(levels)), counts, bottom=below, color=colour, width=0.8)
        shown = np.unique(np.linspace(0, len(levels) - 1, min(len(levels), 9)).astype(int))
        axes.set_xticks(shown, [factor.text(levels[index]) for index in shown])
    else:
        is_logarithmic = factor.is_logarithmic if factor is not None else spans_magnitudes(values)
        places = np.log10(values[finite]) if is_logarithmic else values[finite]
        edges = np.histogram_bin_edges(places, bins="auto" if len(places) > 30 else 8)
        edges = np.linspace(edges[0], edges[-1], min(len(edges), _MOST_BINS + 1))
        parts = [values[finite & succeeded], values[finite & ~succeeded]]
        bins = 10.0**edges if is_logarithmic else edges
        axes.hist(parts, bins=bins.tolist(), stacked=True, color=[BLUE, ORANGE])
        if is_logarithmic:
            _set_logarithmic(axes, "x")
    axes.set_ylabel("runs")
    axes.grid(axis="x", visible=False)


def draw_quantiles(axes: Axes, values: Array) -> None:
    """Median, 5 % and 95 % quantile of a histogram's values, as lines, with their values above."""
    found = np.percentile(values[np.isfinite(values)], [5.0, 50.0, 95.0])
    for value, line in zip(found, (":", "-", ":"), strict=True):
        axes.axvline(value, color=BLACK, linewidth=1.0, linestyle=line)
    low, median, high = found
    axes.set_title(f"median {median:.3g}, 5 to 95 %: {low:.3g} to {high:.3g}", loc="right", fontweight="normal")


def draw_sensitivity(axes: Axes, indices: Sequence[Index]) -> None:
    """Share of the variance that each factor explains alone, with its confidence interval, the greatest on top."""
    place = np.arange(len(indices))[::-1]
    shares = [index.share for index in indices]
    axes.barh(place, np.maximum(shares, 0.0), color=BLUE, height=0.62)
    axes.errorbar(shares, place, xerr=[index.half_width for index in indices], fmt="none", ecolor=BLACK, capsize=3)
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.set_yticks(place, [index.name for index in indices])
    axes.set_xlim(-0.15, 1.05)
    axes.set_xlabel("share of the variance that the quantity explains alone")
    axes.grid(axis="y", visible=False)


def draw_against(axes: Axes, factor: Factor, values: Array, runs: Runs, succeeded: Mask) -> None:
    """A measure of succeeded runs over a factor, with median and bands, or boxes of choices; failed runs at the bottom.

    Args:
        axes: to draw on.
        factor: horizontal axis, n values.
        values: the measure, shape (n,).
        runs: numbers of the runs, shape (n,).
        succeeded: which runs succeeded, shape (n,).
    """
    good = succeeded & np.isfinite(values)
    shown, failed = _thinned(np.flatnonzero(good)), _thinned(np.flatnonzero(~succeeded))
    # Points of the same choice lie beside each other.
    beside = np.random.default_rng(0).uniform(-0.3, 0.3, len(values)) if factor.choices else np.zeros(len(values))
    places = factor.values + beside
    axes.scatter(places[shown], values[shown], s=9, color=BLUE, alpha=0.45, linewidths=0, urls=_links(runs[shown]))
    at, groups = _groups(factor, good)
    if factor.choices:
        line = {"color": BLUE, "linewidth": 2.0}
        axes.boxplot(
            [values[group] for group in groups],
            positions=at,
            whis=(5.0, 95.0),
            widths=0.7,
            showfliers=False,
            manage_ticks=False,
            medianprops=line,
        )
    else:
        for low, high, opacity in BANDS:
            lower, upper = ([float(np.percentile(values[group], edge)) for group in groups] for edge in (low, high))
            axes.fill_between(at, lower, upper, color=BLUE, alpha=opacity, linewidth=0)
        axes.plot(at, [float(np.median(values[group])) for group in groups], color=BLUE, linewidth=2.0)
    axes.scatter(
        places[failed],
        np.full(len(failed), 0.03),
        transform=axes.get_xaxis_transform(),
        s=26,
        marker="x",
        color=ORANGE,
        linewidths=1.3,
        urls=_links(runs[failed]),
        zorder=4,
    )
    # Space for the crosses.
    axes.margins(y=0.1 if len(failed) else 0.05)
    if spans_magnitudes(values[good]):
        _set_logarithmic(axes, "y")
    _fit_axis(axes, factor, "x")


def draw_map(axes: Axes, x: Factor, y: Factor, name: str, values: Array, runs: Runs, succeeded: Mask) -> None:
    """Contours of a measure over two factors, linear between the points; crosses where runs failed.

    Runs of the same point, its repetitions, are averaged; a point without a succeeded run leaves a gap. The link of a
    point leads to its first failed run, or else to its first run.

    Args:
        axes: to draw on; a colour bar is put beside it.
        x: horizontal axis, n values.
        y: vertical axis, n values.
        name: of the measure.
        values: the measure, shape (n,).
        runs: numbers of the runs, shape (n,).
        succeeded: which runs succeeded, shape (n,).
    """
    from matplotlib.colors import BoundaryNorm
    from matplotlib.tri import Triangulation

    points, place = np.unique(np.stack([x.values, y.values], axis=1), axis=0, return_inverse=True)
    good = succeeded & np.isfinite(values)
    counts = np.bincount(place[good], minlength=len(points))
    sums = np.bincount(place[good], weights=values[good], minlength=len(points))
    known = counts > 0
    mean = np.divide(sums, counts, out=np.zeros(len(points)), where=known)
    failures = np.bincount(place[~succeeded], minlength=len(points))

    scaled = np.stack([_scaled(x, points[:, 0]), _scaled(y, points[:, 1])], axis=1)
    triangles = Triangulation(*scaled.T).triangles
    triangles = triangles[known[triangles].all(axis=1)]
    if len(triangles) and np.ptp(mean[known]) > 0.0:
        net = Triangulation(*points.T, triangles=triangles)
        levels = _levels(mean[known])
        norm = BoundaryNorm(levels, 256, extend="max")
        contours = axes.tricontourf(net, mean, levels=levels, cmap=_COLOURS, norm=norm, extend="max")
        lines = axes.tricontour(net, mean, levels=levels, colors="white", linewidths=0.7)
        axes.figure.colorbar(contours, ax=axes, label=name, pad=0.02, ticks=levels, format="%.4g")
        axes.clabel(lines, fmt=lambda value: f"{value:.4g}", fontsize=8)
    first = np.array([_first(runs, succeeded, place == index) for index in range(len(points))])
    whole = failures == 0
    axes.scatter(
        points[whole, 0],
        points[whole, 1],
        s=14,
        color="white",
        edgecolors=BLACK,
        linewidths=0.6,
        urls=_links(first[whole]),
        zorder=4,
        clip_on=False,
    )
    share = failures / np.bincount(place, minlength=len(points))
    axes.scatter(
        points[~whole, 0],
        points[~whole, 1],
        s=20 + 50 * share[~whole],
        marker="x",
        color=ORANGE,
        linewidths=2.0,
        urls=_links(first[~whole]),
        zorder=5,
        clip_on=False,
    )
    _fit_axis(axes, x, "x")
    _fit_axis(axes, y, "y")
    axes.grid(visible=False)
    axes.set_facecolor("#EEF0F2")


def draw_bands(
    axes: Axes,
    signals: Sequence[Sequence[float]],
    period_s: float,
    runs: Runs,
    succeeded: Mask,
    factor: Factor | None = None,
) -> None:
    """Median and bands of a signal over time, of the succeeded runs in flight; failed runs as lines of their own.

    Args:
        axes: to draw on.
        signals: values of each run at `period_s`, 2 `period_s`, ...; n lists.
        period_s: time between two values, s.
        runs: numbers of the runs, shape (n,).
        succeeded: which runs succeeded, shape (n,).
        factor: colours the medians of its levels, or of neighbouring values; None: one median.
    """
    longest = max(map(len, signals), default=0)
    values: Array = np.full((len(signals), longest), np.nan)
    for row, signal in zip(values, signals, strict=True):
        row[: len(signal)] = signal
    time = np.arange(1, longest + 1, dtype=np.float64) * period_s
    for row in np.flatnonzero(~succeeded)[:_MOST_FAILED_LINES]:
        axes.plot(time, values[row], color=ORANGE, linewidth=0.8, alpha=0.7, url=f"#run-{runs[row]}", zorder=1.5)
    flown: Array = values[succeeded, : _end(values[succeeded])]
    if flown.size:
        for low, high, opacity in BANDS:
            lower, upper = np.nanpercentile(flown, [low, high], axis=0)
            axes.fill_between(time[: len(lower)], lower, upper, color=BLUE, alpha=opacity, linewidth=0)
        if factor is None:
            axes.plot(time[: flown.shape[1]], np.nanmedian(flown, axis=0), color=BLUE, linewidth=1.8)
        else:
            _draw_medians(axes, time, values, factor, succeeded)
    axes.set_xlabel("time (s)")
    _leave_out_divergence(axes, time, values[succeeded])


def _draw_medians(axes: Axes, time: Array, values: Array, factor: Factor, succeeded: Mask) -> None:
    """Median of each level of a factor, or of neighbouring values, in a colour of its own."""
    import matplotlib

    places, groups = _groups(factor, succeeded, most=_LINES)
    colours = matplotlib.colormaps[_COLOURS](np.linspace(0.0, 0.9, len(groups)))
    for at, group, colour in zip(places, groups, colours, strict=True):
        end = _end(values[group])
        median = np.nanmedian(values[group, :end], axis=0)
        axes.plot(time[:end], median, color=colour, linewidth=1.6, label=f"{factor.name} {factor.text(at)}")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)


def _fit_axis(axes: Axes, factor: Factor, name: str) -> None:
    """Label, scale and ticks of the axis `name` ("x" or "y") for a factor."""
    axes.set(**{f"{name}label": factor.label})
    if factor.is_logarithmic:
        _set_logarithmic(axes, name)
    if factor.choices:
        axes.set(**{f"{name}ticks": range(len(factor.choices)), f"{name}ticklabels": factor.choices})


def _set_logarithmic(axes: Axes, name: str) -> None:
    """Logarithmic scale of the axis `name` ("x" or "y"), with decimal numbers at its ticks."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axes.set(**{f"{name}scale": "log"})
    axis = axes.xaxis if name == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())


def _end(values: Array) -> int:
    """Number of the first moments at which enough runs are in flight."""
    flying = np.isfinite(values).sum(axis=0)
    return int(np.sum(flying >= max(1.0, _LEAST_SHARE * len(values))))


def _leave_out_divergence(axes: Axes, time: Array, values: Array) -> None:
    """Limits from the succeeded runs: a vehicle that falls, flies away or does not arrive would flatten the rest."""
    known = np.isfinite(values)
    if not known.any():
        return
    low, high = np.percentile(values[known], [0.5, 99.5])
    margin = 0.2 * (high - low) + 1e-9
    axes.set_ylim(low - margin, high + margin)
    lengths = known.sum(axis=1)
    axes.set_xlim(0.0, 1.05 * float(time[int(np.percentile(lengths, 95.0)) - 1]))


def _groups(factor: Factor, mask: Mask, most: int = _MOST_GROUPS) -> tuple[list[float], list[Runs]]:
    """Rows of a mask grouped by the factor's level or by neighbouring values, and the typical value of each group."""
    rows = np.flatnonzero(mask)
    values = factor.values[rows]
    if factor.has_levels:
        levels = np.unique(values)
        chosen = levels if most >= _MOST_GROUPS else levels[_spread(len(levels), most)]
        return chosen.tolist(), [rows[values == level] for level in chosen]
    count = min(most, max(len(rows) // _LEAST_GROUP, 1))
    groups = np.array_split(rows[np.argsort(values, kind="stable")], count) if len(rows) else []
    return [float(np.median(factor.values[group])) for group in groups], groups


def _levels(values: Array) -> Array:
    """Round numbers over the values; over their logarithm if they are positive and of different magnitude.

    The greatest values, of points at the edge of stability, may lie beyond the last level.
    """
    from matplotlib.ticker import MaxNLocator

    low, high = np.percentile(values, [0.0, 97.0])
    levels: Array = np.array(MaxNLocator(12).tick_values(low, max(high, low + 1e-9 * max(abs(low), 1.0))))
    if not spans_magnitudes(values):
        return levels
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1.0)
    for steps in _STEPS:
        levels = np.outer(decades, steps).ravel()
        first, last = np.searchsorted(levels, low, "right") - 1, np.searchsorted(levels, high)
        levels = levels[first : last + 1]
        if len(levels) <= _MOST_LEVELS:
            break
    return levels


def _scaled(factor: Factor, values: Array) -> Array:
    """Values between 0 and 1, as far from each other as on the factor's axis."""
    places = np.log(values) if factor.is_logarithmic else values
    scaled: Array = (places - places.min()) / np.ptp(places)
    return scaled


def _first(runs: Runs, succeeded: Mask, mask: Mask) -> int:
    failed = mask & ~succeeded
    return int(runs[failed if failed.any() else mask].min())


def _thinned(rows: Runs) -> Runs:
    return rows[_spread(len(rows), _MOST_POINTS)]


def _spread(count: int, most: int) -> Runs:
    """Indices of at most `most` entries of `count`, evenly spread."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).astype(np.int64))


def _links(runs: Runs) -> list[str]:
    return [f"#run-{run}" for run in runs]
