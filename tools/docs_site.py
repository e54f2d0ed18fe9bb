"""Sphinx extension of docs/conf.py: additions to the site that Markdown pages on a forge do not need.

The pages remain plain Markdown with links that work in both places, because the site's source directory is the
project's. The extension adds a table of contents from the headings and tables of docs/index.md, the docstrings of the
classes named in docs/api.md, rendered sequence diagrams, flowcharts as text, and a first page that redirects to
docs/index.html.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

CONTENTS, API = "docs/index", "docs/api"

_HEADING_OR_PAGE = re.compile(r"^## (?P<heading>.+)$|\[(?P<title>[^\]]+)\]\((?P<page>[^)#\s]+)\.md\)", re.MULTILINE)
_API_ROW = re.compile(r"^\| `(?P<name>\w+)` \|.*?\]\(\.\./(?P<file>rosflight_py_sim/[\w/]+)\.py\)", re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _extend_page)
    # Before the extension that reads Google's style does.
    app.connect("autodoc-process-docstring", _plain_docstring, priority=400)
    app.connect("build-finished", _lead_to_contents)
    app.add_directive("mermaid", MermaidDiagram)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _extend_page(app: Sphinx, page: str, text: list[str]) -> None:
    if page == CONTENTS:
        text[0] += contents(text[0])
    elif page == API:
        text[0] += api(text[0])


def contents(page: str) -> str:
    """Hidden tables of contents, one per heading, of the pages that the Markdown text links to below it."""
    sections: dict[str, list[str]] = {}
    seen: set[str] = set()
    heading = ""
    for found in _HEADING_OR_PAGE.finditer(page):
        heading = found["heading"] or heading
        if found["page"] and found["page"] not in seen:
            seen.add(found["page"])
            sections.setdefault(heading, []).append(f"{found['title']} <{found['page']}>")
    blocks = [
        "\n".join(["", "```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```", ""])
        for heading, pages in sections.items()
    ]
    return "\n" + "".join(blocks)


def api(page: str) -> str:
    """Sections with the docstrings of all classes in the tables of Markdown text."""
    parts = ["\n"]
    for row in _API_ROW.finditer(page):
        module = row["file"].replace("/", ".")
        directive = [f".. autoclass:: {module}.{row['name']}", "   :members:", "   :member-order: bysource"]
        parts.append("\n".join([f"## {row['name']}", "", "```{eval-rst}", *directive, "```", "", ""]))
    return "".join(parts)


def _plain_docstring(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Convert docstrings from this project's style: names in single backticks, and no other markup."""
    for i, line in enumerate(lines):
        parts = line.split("`")
        for j in range(0, len(parts), 2):
            parts[j] = re.sub(r"([*|]|_\b)", r"\\\1", parts[j])
        lines[i] = "``".join(parts)


def _lead_to_contents(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        target = f"{CONTENTS}.html"
        text = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">'
        text += f'<title>{app.config.project}</title><a href="{target}">{app.config.project}</a>\n'
        (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")


# Sequence diagrams, which forges render themselves.

_COLUMN, _ROW, _TOP, _LETTER = 200, 34, 44, 6.7

_PARTICIPANT = re.compile(r"participant (\w+) as (.+)")
_MESSAGE = re.compile(r"(\w+)->>(\w+): (.+)")
_NOTE = re.compile(r"Note over (\w+): (.+)")


class MermaidDiagram(Directive):
    """Mermaid diagram: sequence diagrams of participants, messages and notes are drawn, flowcharts shown as text."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The picture or the text, as part of the page."""
        if self.content[0].startswith("flowchart"):
            text = "\n".join(self.content)
            return [nodes.literal_block(text, text, language="text")]
        try:
            return [nodes.raw("", sequence_diagram(list(self.content)), format="html")]
        except ValueError as error:
            raise self.error(str(error)) from error


def sequence_diagram(lines: list[str]) -> str:
    """SVG of a sequence diagram.

    Raises:
        ValueError: a line is not supported.
    """
    first, *rest = [line.strip() for line in lines if line.strip()]
    if first != "sequenceDiagram":
        raise ValueError(f"'{first}': only sequence diagrams can be drawn")
    names: dict[str, str] = {}
    steps: list[tuple[str, str, str]] = []
    for line in rest:
        if found := _PARTICIPANT.fullmatch(line):
            names[found[1]] = found[2]
        elif found := _MESSAGE.fullmatch(line):
            steps.append((found[1], found[2], found[3]))
        elif found := _NOTE.fullmatch(line):
            steps.append((found[1], found[1], found[2]))
        else:
            raise ValueError(f"'{line}': neither a participant, a message nor a note over one participant")
    x = {name: _COLUMN // 2 + 12 + _COLUMN * i for i, name in enumerate(names)}
    width, height = _COLUMN * len(names) + 24, _TOP + _ROW * (len(steps) + 1)
    parts: list[str] = []
    for name, title in names.items():
        parts.append(f'<line x1="{x[name]}" y1="{_TOP}" x2="{x[name]}" y2="{height}" stroke-dasharray="4 4"/>')
        parts.append(f'<rect x="{x[name] - 74}" y="4" width="148" height="30" rx="6" class="box"/>')
        parts.append(f'<text x="{x[name]}" y="24" font-weight="bold">{escape(title)}</text>')
    for i, (source, target, text) in enumerate(steps):
        y = _TOP + _ROW * (i + 1)
        middle = (x[source] + x[target]) / 2
        if source == target:
            half = len(text) * _LETTER / 2 + 8
            parts.append(
                f'<rect x="{middle - half:.0f}" y="{y - 21}" width="{2 * half:.0f}" height="25" class="note"/>'
            )
            parts.append(f'<text x="{middle:.0f}" y="{y - 4}">{escape(text)}</text>')
            continue
        end = x[target] - 8 if x[target] > x[source] else x[target] + 8
        parts.append(f'<line x1="{x[source]}" y1="{y}" x2="{end}" y2="{y}" class="arrow"/>')
        tip = 1 if x[target] > x[source] else -1
        parts.append(f'<path d="M{x[target]} {y} l{-9 * tip} -5 v10 z" class="head"/>')
        parts.append(f'<text x="{middle:.0f}" y="{y - 7}">{escape(text)}</text>')
    return f'<svg class="sequence" viewBox="0 0 {width} {height}" role="img">{"".join(parts)}</svg>'
