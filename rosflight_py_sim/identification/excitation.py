"""Manoeuvres that show the parameters of a vehicle: steps to and fro, added to the commands of a guidance.

The steps are 3-2-1-1 multisteps (Klein and Morelli, Aircraft System Identification, section 9.3; Jategaonkar, Flight
Vehicle System Identification, section 2.2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from rosflight_py_sim.firmware import CommandMode
from rosflight_py_sim.identification.flight_log import Array


class Step(NamedTuple):
    """A multistep within a period of manoeuvres.

    Attributes:
        begin_s: begin within the period.
        length_s: length of the shortest step.
    """

    begin_s: float
    length_s: float


def multistep(time_s: float, step_s: float) -> float:
    """3-2-1-1 multistep of size 1 that begins at 0, with a shortest step of `step_s`; 0 before and after it."""
    place = time_s / step_s
    if not 0.0 <= place < 7.0:
        return 0.0
    return 1.0 if place < 3.0 or 5.0 <= place < 6.0 else -1.0


def multisteps(within_s: float, steps: tuple[Step, ...]) -> float:
    """Sum of multisteps of size 1 at a time within the period, s."""
    return sum(multistep(within_s - step.begin_s, step.length_s) for step in steps)


class Excitation(ABC):
    """Commands of a flight with manoeuvres, in the air from begin to end.

    Class attributes:
        SECONDS: length of a flight that shows the parameters that are estimated by default.
        MODE: mode of the commands.
    """

    SECONDS: ClassVar[float]
    MODE: ClassVar[CommandMode]

    @property
    def start_airspeed(self) -> float:
        """Airspeed with which the flight begins, m/s; 0 for any."""
        return 0.0

    @abstractmethod
    def command(self, time_s: float, truth: Array, wind_ned: Array) -> tuple[float, ...]:
        """Ten set-points of rosflight_msgs/Command, at a time since the begin, s, a state (19,) and a wind (3,)."""
