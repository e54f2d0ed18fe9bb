"""Contract of a front-end: whoever carries a step of the simulation out to a program and its commands back in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Final, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.parameters import ParameterTable, Values

Vector3: TypeAlias = tuple[float, float, float]


class Logger(Protocol):
    """A logger of rclpy or of the standard library."""

    def info(self, message: str) -> object:
        """Log what a user may want to know."""

    def warning(self, message: str) -> object:
        """Log what a user should look into."""


@dataclass(slots=True)
class Snapshot:
    """One vehicle at one time; of what the front-end does not want, or has not been heard yet, there is nothing.

    Attributes:
        time_ns: simulated time, ns.
        truth: truth vector (19,): position NED (m), quaternion w x y z (body to NED), velocity over ground in body
            axes (m/s), body rates (rad/s), accelerations.
        wind_ned: velocity of the air over the ground, NED, m/s.
        gyro: what the IMU measures: angular rate in body axes, rad/s; of the time before where it is not wanted.
        accel_body: what the IMU measures: specific force in body axes, m/s^2; likewise.
        ranges: what each range finder measures, m (+inf beyond its maximum, -inf below its minimum).
        airspeed: what the Pitot tube measures, m/s.
        battery: what the battery monitor measures, V and A.
        rc_us: pulse width of each channel of the transmitter, us.
        images: camera name to its newest picture, a JPEG file's bytes.
    """

    time_ns: int
    truth: NDArray[np.float64]
    wind_ned: Vector3
    gyro: Vector3
    accel_body: Vector3
    ranges: tuple[float, ...] = ()
    airspeed: float | None = None
    battery: tuple[float, float] | None = None
    rc_us: tuple[int, ...] = ()
    images: Mapping[str, bytes] = field(default_factory=dict)


WANTS = frozenset({"imu", "range", "airspeed", "battery", "rc", "images"})
"""What a front-end may want in its snapshots beyond state and wind.

A snapshot with "imu" comes with its IMU message, before which all others of that time have come. One without it comes
as soon as the step before has been taken, so that the program reckons while the rest of the step goes on; its slower
measurements are those of the step before.
"""


class StartOver(Enum):
    """The answer that is no commands."""

    START_OVER = "start over"


START_OVER: Final = StartOver.START_OVER
"""The vehicle is to go back to its start."""

Answer: TypeAlias = list[int] | Literal[StartOver.START_OVER] | None
"""What `exchange` gives."""


class FrontEndInterface(ABC):
    """Speaks one protocol over its own sockets, for all vehicles of the simulation; knows no ROS.

    The bridge calls `open` once, then `exchange` for each step of each vehicle, and `close` at the end, all from one
    thread. Nothing here may wait: what has not come yet is asked for again. Vehicles go by their number, from 0.

    Attributes:
        PARAMETERS: the front-end's parameters, whose names begin with the front-end's name and a dot.
        COUNTERS: names of the counters, in the order in which they are told.
        vehicles: namespace of each vehicle; empty for one that is alone.
        wants: what else the snapshots are to hold, of `WANTS`; set before `open` returns, and not changed.
        counters: how often each thing worth a diagnosis happened.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable()
    COUNTERS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, values: Values, logger: Logger, vehicles: Sequence[str] = ("",)) -> None:
        """Take the checked values of PARAMETERS (there may be others among them)."""
        self.values = values
        self.logger = logger
        self.vehicles = tuple(vehicles)
        self.wants: frozenset[str] = frozenset()
        self.counters: Counter[str] = Counter()

    @abstractmethod
    def partner(self, vehicle: int) -> str:
        """Who is on the other side, and where, in words that complete 'waiting for ...'."""

    @abstractmethod
    def open(self) -> None:
        """Open the sockets.

        Raises:
            ParameterError: an address cannot be used; the text says which and why.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the sockets; may be called again."""

    @abstractmethod
    def filenos(self) -> list[int]:
        """File descriptors of which one is readable when `exchange` has something new to look at; fixed from `open`."""

    @abstractmethod
    def exchange(self, vehicle: int, snapshot: Snapshot) -> Answer:
        """Tell the program the state at the beginning of a step, and take its commands for that step.

        Called once with the snapshot of each step, and then, as long as the answer is None, with the same one again
        whenever one of `filenos` is readable, and once a second. A snapshot with a new time means that the step before
        has been taken.

        Returns:
            Pulse width of each output, us (14), or None while the program has not said: the simulation holds still. Or
            START_OVER: the vehicle is put back to its start, and the call comes again with a snapshot of that, of the
            same time (its IMU has not been read anew).
        """

    def wanted_step(self, vehicle: int) -> float | None:
        """Length that the step which begins with the last commands is to have, s; None: no wish."""
        return None

    def refused(self, vehicle: int) -> str:
        """Whom the front-end turns away at present, in words; empty: nobody."""
        return ""
