"""Write the state transition tables of the code into docs/bridge.md.

Run from the project's folder: `.venv/bin/python tools/write_transition_tables.py`. A test compares the page with
this output.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rosflight_py_sim.bridge.actuated_vehicle import EXCHANGE_TRANSITIONS
from rosflight_py_sim.bridge.ardupilot_link import STEP_TRANSITIONS
from rosflight_py_sim.bridge.ardupilot_peer import PEER_TRANSITIONS
from rosflight_py_sim.bridge.px4_link import PX4_TRANSITIONS
from rosflight_py_sim.ground.transitions import Transitions

PAGE = Path(__file__).parents[1] / "docs" / "bridge.md"

TABLES: Mapping[str, Transitions[Any, Any]] = {
    "vehicle": EXCHANGE_TRANSITIONS,
    "step": STEP_TRANSITIONS,
    "peer": PEER_TRANSITIONS,
    "PX4": PX4_TRANSITIONS,
}
"""Transition tables, by the first word of their header row on the page."""


def page(text: str) -> str:
    """Text of the page, with each table generated from the code."""
    for name, transitions in TABLES.items():
        before, heading, after = text.partition(f"| {name} state |")
        _, rest = re.split(r"^(?!\|)", after.partition("\n")[2], maxsplit=1, flags=re.MULTILINE)
        text = f"{before}{heading} event | actions | next state |\n|---|---|---|---|\n{_rows(transitions)}{rest}"
    return text


def _rows(transitions: Transitions[Any, Any]) -> str:
    return "".join(
        f"| {state.value} | {event.value} | "
        f"{', '.join(action.__name__.strip('_').replace('_', ' ') for action in actions)} | {target.value} |\n"
        for state, row in transitions.items()
        for event, (target, actions) in row.items()
    )


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
