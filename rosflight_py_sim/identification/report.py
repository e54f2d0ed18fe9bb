"""Pages about an identification and about a comparison: tables, and plots of log and model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rosflight_py_sim import __version__
from rosflight_py_sim.identification.allan_variance import walk_variance
from rosflight_py_sim.identification.battery_fit import BatteryFit
from rosflight_py_sim.identification.comparison import Comparison
from rosflight_py_sim.identification.findings import Findings
from rosflight_py_sim.identification.flight_log import CHANNELS, Array, FlightLog
from rosflight_py_sim.identification.identification import Identification
from rosflight_py_sim.identification.output_error import READINGS
from rosflight_py_sim.identification.rest_noise import RestNoise
from rosflight_py_sim.identification.shooting import Shots
from rosflight_py_sim.viewer.html_page import html_page
from rosflight_py_sim.viewer.picture_page import BLACK, BLUE, GREY, ORANGE, svg_figure, svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = ("rad/s",) * 3 + ("m/s²",) * 3 + ("m/s",) * 4
"""Unit of each reading."""

_SHOWN = 12
"""Stretches in a plot: more would not be legible."""


@dataclass(frozen=True)
class Table:
    """A table of a page; without heads, the first column names the rows. Cells are numbers, unless `is_text`."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    is_wide: bool = False
    is_text: bool = False


@dataclass(frozen=True)
class Picture:
    """A plot of a page."""

    title: str
    svg: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """Plots under a common title."""

    title: str
    pictures: Sequence[Picture] = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    """A model's readings in a plot: of the IMU (blocks, 6), and velocities with the airspeed (m, 4)."""

    label: str
    colour: str
    readings: tuple[Array, Array]


def identification_page(found: Findings, name: str, logs: Sequence[FlightLog]) -> str:
    """Page about what logs show of a vehicle of a name."""
    facts, tables, sections = [fact_of_log(log) for log in logs], [*_estimates(found)], []
    if (flight := found.flight) is not None:
        held_out = flight.held_out
        facts.append(f"{flight.stretches} stretches of {flight.stretch_s:.3g} s in the fit")
        tables += _tables(flight)
        lines = [Line("before", ORANGE, held_out.before), Line("after", BLUE, held_out.after)]
        plots = pictures(held_out.shots, held_out.measured, lines)
        sections.append(Section("Stretches not used in the fit", plots))
    if (rest := found.rest) is not None:
        sections.append(Section("Allan deviation at rest", [_allan_picture(rest, sensor) for sensor in rest.allan]))
    if (battery := found.battery) is not None:
        sections.append(Section("Battery", [_battery_picture(battery)]))
    if found.facts:
        tables.append(Table("Notes", (), [(fact,) for fact in found.facts], is_wide=True))
    return page(f"Identification of {name}", facts, tables, sections)


def comparison_page(result: Comparison) -> str:
    """Page about a comparison."""
    horizons = result.horizons_s
    errors = [result.errors(one) for one in horizons]
    tables = [
        Table(
            title,
            ("reading", *(f"up to {one:.3g} s" for one in horizons)),
            [
                (f"{name}, {UNITS[number]}" if part == 0 else name, *(form(one[part][number]) for one in errors))
                for number, name in enumerate(READINGS)
                if not math.isnan(errors[0][0][number])
            ],
            note,
            is_wide=True,
        )
        for part, (title, form, note) in enumerate(
            (
                ("Root mean square of log minus model", "{:.3g}".format, ""),
                ("The same over the standard deviation of the log", "{:.1%}".format, ""),
            )
        )
    ]
    if result.notes:
        tables.append(Table("Notes", (), [(note,) for note in result.notes], is_wide=True))
    lines = [Line("simulation", BLUE, result.modelled)]
    length_s = result.shots.steps * result.shots.step_s
    return page(
        f"Comparison of {result.subject.name} with {result.log.file.name}",
        [
            fact_of_log(result.log),
            f"{len(result.shots)} stretches of {length_s:.3g} s",
            f"mean wind: north {result.wind[0]:.1f}, east {result.wind[1]:.1f} m/s",
        ],
        tables,
        [Section("Log and simulation", pictures(result.shots, result.measured, lines))],
    )


def page(title: str, facts: Sequence[str], tables: Sequence[Table], sections: Sequence[Section]) -> str:
    """A page of tables and plots."""
    return html_page(
        "identification/report.html", title=title, facts=facts, tables=tables, sections=sections, version=__version__
    )


def fact_of_log(log: FlightLog) -> str:
    """A log in a few words."""
    kind = f"{log.program}, {log.vehicle}" if log.vehicle else log.program
    return f"{log.file.name} ({kind}{f', {log.date}' if log.date else ''})"


def _estimates(found: Findings) -> Iterator[Table]:
    rows = [
        (
            one.name,
            f"{one.before:.5g}",
            f"{one.value:.5g}",
            f"{one.standard_error:.2g}",
            one.share_text,
            one.parameter.unit,
        )
        for one in found.estimates
    ]
    heads = ("parameter", "before", "estimate", "standard error", "of the value", "unit")
    yield Table("Estimates", heads, rows, is_wide=True)
    if found.refused:
        texts = [(one.name, one.reason, one.manoeuvre) for one in found.refused]
        of_text = ("parameter", "reason", "what shows it")
        yield Table("Not shown by the logs", of_text, texts, is_wide=True, is_text=True)


def _allan_picture(rest: RestNoise, channel: str) -> Picture:
    allan, noise = rest.allan[channel], rest.noise[channel]
    lengths = allan.lengths_s
    model = noise.density**2 / lengths + noise.walk**2 * walk_variance(lengths, noise.decay_rate)
    with svg_figure(7.6, 3.2) as figure:
        axes = figure.add_subplot()
        deviations = np.sqrt(allan.variances)
        axes.errorbar(
            lengths,
            deviations,
            yerr=deviations * np.minimum(0.9, 0.5 * np.sqrt(2.0 / allan.freedom)),
            color=BLACK,
            marker=".",
            linewidth=1.0,
            label="log",
        )
        axes.plot(lengths, np.sqrt(model), color=BLUE, linewidth=1.0, label="estimate")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("length of a cluster, s")
        axes.set_ylabel(f"{channel}, {CHANNELS[channel].unit}")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2)
        note = f"Mean of the axes. Bias instability {allan.bias_instability:.3g} {CHANNELS[channel].unit}."
        return Picture(channel, svg_of(figure), note)


def _battery_picture(battery: BatteryFit) -> Picture:
    with svg_figure(7.6, 3.2) as figure:
        axes = figure.add_subplot()
        axes.plot(battery.time_s, battery.measured, color=BLACK, linewidth=0.8, label="log")
        axes.plot(battery.time_s, battery.modelled, color=BLUE, linewidth=1.0, label="estimate")
        axes.set_xlabel("time, s")
        axes.set_ylabel("voltage, V")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2)
        return Picture("voltage", svg_of(figure))


def _tables(result: Identification) -> Iterator[Table]:
    before, after = (result.held_out.errors(one) for one in (result.held_out.before, result.held_out.after))
    errors = [
        (name, f"{100.0 * first:.1f} %", f"{100.0 * second:.1f} %", f"{deviation:.3g} {unit}")
        for name, first, second, deviation, unit in zip(READINGS, before, after, result.deviations, UNITS, strict=True)
        if not math.isnan(first)
    ]
    yield Table(
        "Errors in stretches not used in the fit",
        ("reading", "before", "after", "standard deviation in the fit"),
        errors,
        "Root mean square of log minus model over the standard deviation of the log. States and wind at the starts are "
        "those that suit the model best, before and after.",
    )
    names = [one.name for one in result.estimates]
    correlations = [
        (
            name,
            *(f"{result.correlations[row, column]:.2f}" for column in range(row + 1)),
            *[""] * (len(names) - row - 1),
        )
        for row, name in enumerate(names)
    ]
    yield Table("Correlations of the estimates", ("", *names), correlations, is_wide=True)
    for log, wind, biases in zip(result.logs, result.winds, result.biases, strict=True):
        yield Table(
            f"Air and sensors, {log.file.name}",
            (),
            [
                ("mean wind, north and east", f"{wind[0]:.2f}, {wind[1]:.2f} m/s"),
                ("bias of the gyro", f"{', '.join(f'{one:.4f}' for one in biases[:3])} rad/s"),
                ("bias of the accelerometer", f"{', '.join(f'{one:.3f}' for one in biases[3:])} m/s²"),
            ],
        )


def pictures(shots: Shots, measured: tuple[Array, Array], lines: Sequence[Line]) -> list[Picture]:
    """A plot of each reading: log and models in stretches, side by side."""
    known = np.isfinite(np.concatenate([one.sum(axis=0) for one in measured]))
    return [_picture(number, shots, measured, lines) for number in range(len(READINGS)) if known[number]]


def _picture(number: int, shots: Shots, measured: tuple[Array, Array], lines: Sequence[Line]) -> Picture:
    with svg_figure(7.6, 3.2) as figure:
        axes = figure.add_subplot()
        shown = min(len(shots), _SHOWN)
        for shot in range(shown):
            _draw(axes, number, shot, shots, measured, lines)
        axes.set_xticks(range(shown), [f"{time_s:.0f}" for time_s in shots.time_s[:shown] - shots.time_s[0]])
        axes.set_xlabel("start of each stretch, s after the first")
        axes.set_ylabel(f"{READINGS[number]}, {UNITS[number]}")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=len(lines) + 1)
        return Picture(READINGS[number], svg_of(figure))


def _draw(
    axes: Axes, number: int, shot: int, shots: Shots, measured: tuple[Array, Array], lines: Sequence[Line]
) -> None:
    if number < 6:
        blocks = shots.steps // shots.block
        rows = np.arange(shot * blocks, (shot + 1) * blocks)
        place = shot + 0.9 * (np.arange(blocks) + 0.5) / blocks
        part, column = 0, number
    else:
        rows = np.flatnonzero(shots.velocity_of == shot)
        place = shot + 0.9 * shots.velocity_step[rows] / shots.steps
        part, column = 1, number - 6
    first = shot == 0
    axes.plot(place, measured[part][rows, column], color=BLACK, linewidth=1.0, label="log" if first else None)
    for line in lines:
        label = line.label if first else None
        axes.plot(place, line.readings[part][rows, column], color=line.colour, linewidth=1.0, label=label)
    axes.axvline(shot, color=GREY, linewidth=0.5)
