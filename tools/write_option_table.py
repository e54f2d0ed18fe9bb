"""Write the table of options into docs/launch.md, from the table used by launch files and command line.

Run from the project's folder: `.venv/bin/python tools/write_option_table.py`. A test compares the page with this
output.
"""

from __future__ import annotations

import re
from pathlib import Path

from rosflight_py_sim.graph.options import LAUNCH, Kind, Option, all_options

PAGE = Path(__file__).parents[1] / "docs" / "launch.md"

HEADER = "| argument | command line | value | default | meaning |"


def page(text: str) -> str:
    """Text of the page with the table from the code."""
    before, _, after = text.partition(HEADER)
    _, rest = re.split(r"^(?!\|)", after.partition("\n")[2], maxsplit=1, flags=re.MULTILINE)
    return f"{before}{HEADER}\n|---|---|---|---|---|\n{''.join(map(_row, all_options().values()))}{rest}"


def _row(one: Option) -> str:
    argument = f"`{one.name}`" if LAUNCH in one.at else ""
    return f"| {argument} | {_command_line(one)} | {_value(one)} | {_default(one)} | {_meaning(one)} |\n"


def _command_line(one: Option) -> str:
    commands = [place for place in one.at if place != LAUNCH]
    return f"`{one.command_flag}` ({', '.join(commands)})" if commands else ""


def _value(one: Option) -> str:
    choices = [f"`{choice}`" for choice in one.choices if choice]
    return ", ".join(choices) if choices and one.kind is Kind.TEXT else one.kind.value


def _default(one: Option) -> str:
    default = "required" if one.default is None else f"`{one.default}`" if one.default else one.unset
    if one.fly_unset:
        default += f"; fly: {one.fly_unset}"
    return f"{default}; command line: `{one.command_default}`" if one.command_default else default


def _meaning(one: Option) -> str:
    links = ", ".join(f"[{words}]({page})" for words, page in one.pages)
    return " ".join(filter(None, (one.sentence, one.details, f"See {links}." if links else "")))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
