"""Draw docs/pictures/failures.png: the square of the multirotors, flown with one failure each.

Run from the project's folder: `.venv/bin/python tools/draw_failures.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN, GREY, PURPLE, picture_page

PROJECT = Path(__file__).parents[1]
PICTURE = PROJECT / "docs" / "pictures" / "failures.png"

END_S = 52.0
# Of the truth states, 20 a second.
_EVERY_NS = NANOSECONDS // 20

FLIGHTS = (
    ("multirotor", "", GREY),
    ("multirotor", "wind front 9 0 0 at 19 for 8", BLUE),
    ("multirotor", "gyro wrong by 0 0.5 0 at 27 for 2", PURPLE),
    ("multirotor", "motor 2 off at 31", AMBER),
    ("octorotor", "motor 2 off at 31", GREEN),
)


class Log:
    """Time (s), north, east and height (m) of a flight."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, ...]] = []
        self._next_ns = 0

    def take(self, state: VehicleState) -> None:
        """Keep a state when one is due."""
        if state.time_ns >= self._next_ns:
            self._next_ns += _EVERY_NS
            north, east, down = state.position_ned
            self.rows.append((state.time_ns / NANOSECONDS, north, east, -down))

    @property
    def done(self) -> bool:
        """Whether the flight is complete."""
        return bool(self.rows) and self.rows[-1][0] >= END_S


def flown(name: str, failure: str) -> NDArray[np.float64]:
    """Rows of the flight's log (n, 4)."""
    chosen, log = vehicle(name), Log()
    graph = ComposedGraph(
        [Member(chosen, executables=(chosen.autopilot,))],
        files=[str(PROJECT / "config" / "wind.yaml")],
        settings={"real_time_multiplier": 0.0, "failures": [failure] if failure else []},
    )
    try:
        pilot = graph.join(MissionPilot)
        pilot.subscribe(TRUTH_STATE, log.take)
        graph.spin(lambda: not log.done)
    finally:
        graph.close()
    return np.array(log.rows)


def main() -> None:
    """Fly and draw."""
    logs = [flown(name, failure) for name, failure, _ in FLIGHTS]
    with picture_page(PICTURE) as figure:
        figure.set_size_inches(16.0, 7.0)
        path, height = figure.subplots(1, 2, width_ratios=(1.0, 1.35))
        figure.subplots_adjust(left=0.05, right=0.98, top=0.93, bottom=0.1, wspace=0.16)
        for (name, failure, colour), log in zip(FLIGHTS, logs, strict=True):
            time_s, north, east, up = log.T
            label = f"{name}: {failure or 'no failure'}"
            style = {"color": colour, "linewidth": 1.8 if failure else 3.5, "alpha": 1.0 if failure else 0.6}
            ground = np.flatnonzero((time_s > 30.0) & (up < 0.2))
            end = ground[0] + 1 if len(ground) else len(log)
            path.plot(east[:end], north[:end], **style)
            height.plot(time_s[:end], up[:end], label=label, **style)
            if failure:
                begin = int(np.searchsorted(time_s, float(failure.split(" at ")[1].split()[0])))
                path.plot(east[begin], north[begin], "o", color=colour, markersize=8)
                height.plot(time_s[begin], up[begin], "o", color=colour, markersize=8)
        path.set_aspect("equal", adjustable="datalim")
        path.set(title="path from above; dots: the failure begins", xlabel="east (m)", ylabel="north (m)")
        height.set(title="height", xlabel="time (s)", ylabel="height (m)", xlim=(0.0, END_S))
        height.legend(loc="center left", bbox_to_anchor=(0.15, 0.5))


if __name__ == "__main__":
    main()
