"""Draw docs/pictures/encounters.png: the flight of the scenario `crossing`, whose vehicles meet.

Run from the project's folder: `.venv/bin/python tools/draw_encounters.py`. It takes some minutes.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.ground.stamps import NANOSECONDS, time_ns_of
from rosflight_py_sim.missions.autopilot.judge import autopilot_class
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import CONTACTS, INDUCED_AIR, TRUTH_STATE, InducedAir
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.viewer.picture_page import BLUE, GREY, ORANGE, PURPLE, picture_page

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "encounters.png"

END_S = 26.0
# Of the states, 10 a second.
_EVERY_NS = NANOSECONDS // 10

COLOURS = {"west": BLUE, "east": ORANGE}


class Log:
    """A flight.

    Attributes:
        positions: rows of time (s), north, east and height (m), by vehicle.
        air: rows of time (s) and velocity of the moved air, down (m/s), by vehicle.
        contacts: rows of north and east (m) at which two vehicles begin to touch.
    """

    def __init__(self) -> None:
        self.positions: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        self.air: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.contacts: list[tuple[float, float]] = []
        self._newest: dict[str, VehicleState] = {}
        self._touching: dict[str, int] = {}

    def take_state(self, name: str, state: VehicleState) -> None:
        """Keep a state."""
        self._newest[name] = state
        if state.time_ns % _EVERY_NS == 0:
            north, east, down = state.position_ned.tolist()
            self.positions[name].append((state.time_s, north, east, -down))

    def take_air(self, name: str, air: InducedAir) -> None:
        """Keep a velocity."""
        if air.time_ns % _EVERY_NS == 0:
            self.air[name].append((air.time_ns / NANOSECONDS, air.velocity_ned[2]))

    def take_contacts(self, message: JointState) -> None:
        """Keep the places of contacts that begin."""
        time_ns = time_ns_of(message.header.stamp)
        for pair in message.name:
            if time_ns - self._touching.get(pair, -NANOSECONDS) > _EVERY_NS:
                north, east = np.mean([self._newest[one].position_ned[:2] for one in pair.split(" and ")], axis=0)
                self.contacts.append((north, east))
            self._touching[pair] = time_ns


def flown() -> Log:
    """Log of the scenario's flight."""
    scenario, log = load_scenario("crossing"), Log()
    graph = ComposedGraph(
        scenario.members,
        settings={**scenario.settings, "real_time_multiplier": 0.0},
        arguments=["--log-level", "warn"],
    )
    try:
        names = [member.namespace for member in scenario.members]
        pilots = [
            graph.join(
                autopilot_class(member.vehicle).PILOT,
                autopilot=graph.values_of("autopilot", member.namespace),
                namespace=member.namespace,
            )
            for member in scenario.members
        ]
        tap = partial(graph.hand_off.subscribe, pilots[0])
        for name in names:
            tap(TRUTH_STATE, f"/{name}/{TRUTH_STATE.name}", CHAIN, partial(log.take_state, name))
            tap(INDUCED_AIR, f"/{name}/{INDUCED_AIR.name}", CHAIN, partial(log.take_air, name))
        tap(CONTACTS, f"/{CONTACTS.name}", CHAIN, log.take_contacts)
        graph.spin(lambda: graph.time_ns < END_S * NANOSECONDS)
    finally:
        graph.close()
    return log


def main() -> None:
    """Fly and draw."""
    log = flown()
    with picture_page(PICTURE) as figure:
        figure.set_size_inches(16.0, 7.6)
        grid = figure.add_gridspec(2, 2, left=0.05, right=0.98, top=0.94, bottom=0.08, wspace=0.13, hspace=0.28)
        plan, height, air = (figure.add_subplot(one) for one in (grid[:, 0], grid[0, 1], grid[1, 1]))
        for name, rows in log.positions.items():
            time_s, north, east, up = np.array(rows).T
            group = name.partition("_")[0]
            style: dict[str, Any] = {"color": COLOURS.get(group, GREY), "linewidth": 1.0 if group in COLOURS else 0.7}
            label = {"west_1": "from the west", "east_1": "from the east", "leader": "the layer above"}.get(name)
            plan.plot(east, north, **style)
            height.plot(time_s, up, label=label, **style)
            if group in COLOURS:
                air.plot(*np.array(log.air[name]).T, **style)
        north, east = np.array(log.contacts).T
        plan.plot(east, north, "o", color=PURPLE, markersize=5, label="collisions")
        plan.set_aspect("equal", adjustable="datalim")
        plan.set(title="paths from above", xlabel="east (m)", ylabel="north (m)")
        plan.legend(loc="upper right")
        height.set(title="height", ylabel="height (m)", xlim=(4.0, END_S))
        height.legend(loc="lower right")
        air.set(title="air from rotors above, at the lower vehicles", xlabel="time (s)", ylabel="down (m/s)")
        air.set_xlim(4.0, END_S)


if __name__ == "__main__":
    main()
