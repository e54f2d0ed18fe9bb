"""Verdicts of a flight, as the command `fly` sends them to the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape

FLY_AGAIN = "mission/fly_again"
"""Service of the command `fly` that requests another flight."""


@dataclass(frozen=True)
class FlownMission:
    """A mission of one vehicle.

    Attributes:
        name: display name of the vehicle.
        completed: whether the mission succeeded.
        reason: why it failed; empty if it succeeded.
        title: title of the table.
        rows: rows of the table: a name, and a value with its unit.
    """

    name: str
    completed: bool
    reason: str
    title: str
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Verdicts:
    """All missions of a flight.

    Attributes:
        flights: the missions.
        torn: why the flight cannot be judged; empty if it can be.
        plot: PNG file, base64; empty for none.
        plot_file: path of that file.
        recording: path of the recording; empty for none.
    """

    flights: Sequence[FlownMission]
    torn: str = ""
    plot: str = ""
    plot_file: str = ""
    recording: str = ""

    @property
    def text(self) -> str:
        """The verdicts as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> Verdicts:
        """Read verdicts from the JSON of `text`.

        Raises:
            ValueError: the JSON does not contain verdicts.
        """
        try:
            given = json.loads(text)
            flights = [
                FlownMission(**{**one, "rows": [(str(a), str(b)) for a, b in one["rows"]]}) for one in given["flights"]
            ]
            return cls(flights, *(str(given[name]) for name in ("torn", "plot", "plot_file", "recording")))
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"not the verdicts of a flight: {error!r}") from error

    @property
    def headline(self) -> str:
        """HTML of the verdicts."""
        lines = [f"<b>the flight cannot be judged: {escape(self.torn)}</b>"] if self.torn else []
        for one in self.flights:
            colour, word = ("#1a7f37", "completed") if one.completed else ("#cf222e", "failed")
            reason = f": {escape(one.reason)}" if one.reason else ""
            lines.append(f'<b style="color:{colour}">{escape(one.name)}: {word}</b>{reason}')
        return _block(lines)

    @property
    def details(self) -> str:
        """HTML of the tables, the plot, and the files."""
        parts = []
        for one in self.flights:
            cells = "".join(f"<tr><td>{escape(name)}</td><td>{escape(text)}</td></tr>" for name, text in one.rows)
            parts.append(f'{escape(one.title)}<table style="border-spacing:0.5em 0.1em">{cells}</table>')
        if self.plot:
            source = f"data:image/png;base64,{escape(self.plot)}"
            parts.append(f'<img alt="plot of the flight" style="width:100%" src="{source}">')
            parts.append(f"plot: {escape(self.plot_file)}")
        if self.recording:
            parts.append(f"recording: {escape(self.recording)}")
        return _block(parts)


def _block(lines: Sequence[str]) -> str:
    style = "padding:0.2em 0.8em;line-height:1.4;font-size:0.85em;overflow-wrap:anywhere"
    return f'<div style="{style}">{"<br>".join(lines)}</div>'
