"""Log of a flight that writes an L, leaves the cage and returns."""

from __future__ import annotations

import math

import numpy as np

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.autopilot.guided_mode_states import Mode
from rosflight_py_sim.autopilot.waypoint_route import RouteWaypoint
from rosflight_py_sim.missions.client_log import Mark
from rosflight_py_sim.missions.skywriting.log import Letter, SkywritingLog
from rosflight_py_sim.vehicles import vehicle

LIMIT_M = 100.0
SPEED = 20.0
RATE_HZ = 10.0
LEVEL = 90.0

LIMITS = {
    "cage_altitude_minimum": 10.0,
    "cage_altitude_maximum": LIMIT_M,
    "cage_airspeed_min": 10.0,
    "cage_airspeed_max": 35.0,
    "cage_roll_max": 1.0,
}

_ABOVE = 1 << CageBit.ALTITUDE


def letter_l(aside: float = 0.0, begun_s: float = 10.0) -> Letter:
    """An L of 200 m by 100 m: down, and to the right; its lines are `aside` (m) too far east."""
    letter = Letter("L", begun_s)
    corners = [(300.0, 0.0), (200.0, 0.0), (0.0, 0.0)]
    for number, (north, east) in enumerate(corners):
        letter.add(RouteWaypoint(number, number + 1, (north, east + aside, -LEVEL), SPEED))
    for number, (north, east) in enumerate([(0.0, -100.0), (0.0, 0.0), (0.0, 100.0)], start=7):
        letter.add(RouteWaypoint(number, number + 1, (north, east, -LEVEL), SPEED))
    return letter


def flight() -> SkywritingLog:
    """10 s of fly(), the L, 10 s above the cage, 10 s home, 10 s of fly()."""
    log = SkywritingLog(vehicle("anaconda").actuators)
    corners = np.array([[300.0, -200.0], [300.0, 0.0], [0.0, 0.0], [0.0, -100.0], [0.0, 100.0], [0.0, 900.0]])
    lengths = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))]
    for row in range(int(lengths[-1] / SPEED * RATE_HZ)):
        time_s = row / RATE_HZ
        way = SPEED * time_s
        north, east = (float(np.interp(way, lengths, corners[:, axis])) for axis in (0, 1))
        written = 10.0 <= time_s < 40.0
        mode = Mode.WAYPOINT if written else Mode.RETURN_HOME if 50.0 <= time_s < 60.0 else Mode.PACKET_TARGET
        height = LEVEL + 15.0 * math.exp(-(((time_s - 50.0) / 4.0) ** 2))
        above = _ABOVE if height > LIMIT_M else 0
        truth = np.array([north, east, -height, 1.0, 0.0, 0.0, 0.0, SPEED, *[0.0] * 11])
        last = _ABOVE if 50.0 <= time_s < 60.0 else 0
        log.append(time_s, truth, [0.0, 0.0, 0.0, 0.5], (0.0, 0.0, 0.0), mode, above, last)
    log.marks += [Mark(0.0, "wait"), Mark(10.0, "write L"), Mark(40.0, "climb"), Mark(60.0, "back")]
    log.letters.append(letter_l())
    return log
