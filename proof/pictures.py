"""Pictures for docs/proof.md, from the samples of the results."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

_COLOURS = {"wall": "tab:orange", "paced": "tab:green", "gated": "tab:purple", "lockstep": "tab:blue"}

_KILL = re.compile(r"kill -9 of `(.+)`: (.+), (\w+)$")

_MEMORY = re.compile(r"memory of the (.+)$")


@dataclass(frozen=True)
class Drawing:
    """A picture of results.

    Attributes:
        about: alternative text.
        plot: function that draws the rows.
    """

    about: str
    plot: Callable[[Figure, list[dict[str, Any]]], None]

    def draw(self, results: dict[str, Any], path: Path) -> None:
        """Write the picture to a PNG file."""
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        self.plot(figure, [row for row in results["rows"] if "samples" in row])
        figure.savefig(path, dpi=110)


def _restarts(figure: Figure, rows: list[dict[str, Any]]) -> None:
    """Time to recover, by graph, node and time mode."""
    kills = [(match, row["samples"]) for row in rows if (match := _KILL.match(row["what"]))]
    graphs = list(dict.fromkeys(match[2] for match, _ in kills))
    nodes = {graph: list(dict.fromkeys(m[1] for m, _ in kills if m[2] == graph)) for graph in graphs}
    figure.set_size_inches(9.0, 1.0 + 0.24 * sum(map(len, nodes.values())) + 0.5 * len(graphs))
    panels = figure.subplots(
        len(graphs), 1, sharex=True, squeeze=False, height_ratios=[len(nodes[graph]) for graph in graphs]
    )[:, 0]
    longest_s = max(max(samples) for _, samples in kills if samples)
    for panel, graph in zip(panels, graphs, strict=True):
        for match, samples in kills:
            if match[2] == graph:
                place = list(_COLOURS).index(match[3]) - 1.5
                y = nodes[graph].index(match[1]) + 0.18 * place
                label = match[3] if match[1] == nodes[graph][0] else None
                panel.plot(samples, [y] * len(samples), ".", color=_COLOURS[match[3]], alpha=0.6, label=label)
        panel.set_title(graph, fontsize="medium", loc="left")
        panel.set_yticks(range(len(nodes[graph])), nodes[graph], fontsize="small")
        panel.set_ylim(len(nodes[graph]) - 0.5, -0.5)
        panel.set_xlim(0.0, 1.05 * longest_s)
        panel.grid(axis="x", alpha=0.3)
    panels[0].legend(ncols=4, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0))
    panels[-1].set_xlabel("time from the start of the new process to the next steps of the graph (s)")


def _soak(figure: Figure, rows: list[dict[str, Any]]) -> None:
    """Memory of each process, and CPU time of the simulation, during the run."""
    figure.set_size_inches(9.0, 4.5)
    memory, cpu = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    for row in rows:
        samples = row["samples"]
        part = [100.0 * (number + 0.5) / len(samples) for number in range(len(samples))]
        if match := _MEMORY.match(row["what"]):
            memory.plot(part, samples, label=match[1])
        else:
            cpu.plot(part, samples, color="black")
    memory.set_ylabel("memory (MiB)")
    cpu.set_ylabel("CPU time (s/s)")
    cpu.set_xlabel("part of the run (%)")
    memory.legend(fontsize="small")
    for panel in (memory, cpu):
        panel.set_ylim(0.0)
        panel.grid(alpha=0.3)


PICTURES = {
    "restarts": Drawing("time to recover from each kill, by node and time mode", _restarts),
    "soak": Drawing("memory of each process, and CPU time per simulated second, during the run", _soak),
}
"""Pictures by name of the proof."""
