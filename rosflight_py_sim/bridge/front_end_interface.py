"""Contract of a front-end: whoever carries a step of the simulation out to a program and its commands back in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

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
    """The simulation at one time.

    Attributes:
        time_ns: simulated time, ns.
        truth: truth vector (19,): position NED (m), quaternion w x y z (body to NED), velocity over ground in body
            axes (m/s), body rates (rad/s), accelerations.
        wind_ned: velocity of the air over the ground, NED, m/s.
        gyro: what the IMU measures: angular rate in body axes, rad/s.
        accel_body: what the IMU measures: specific force in body axes, m/s^2.
    """

    time_ns: int
    truth: NDArray[np.float64]
    wind_ned: Vector3
    gyro: Vector3
    accel_body: Vector3


class FrontEndInterface(ABC):
    """Speaks one protocol over its own sockets; knows no ROS.

    The bridge calls `open` once, then `exchange` for each step of the simulation, and `close` at the end, all from one
    thread. Nothing here may wait: what has not come yet is asked for again.

    Attributes:
        PARAMETERS: the front-end's parameters, whose names begin with the front-end's name and a dot.
        counters: how often each thing worth a diagnosis happened.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable()

    def __init__(self, values: Values, logger: Logger) -> None:
        """Take the checked values of PARAMETERS (there may be others among them)."""
        self.values = values
        self.logger = logger
        self.counters: Counter[str] = Counter()

    @property
    @abstractmethod
    def partner(self) -> str:
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
    def fileno(self) -> int:
        """File descriptor that is readable when `exchange` has something new to look at."""

    @abstractmethod
    def exchange(self, snapshot: Snapshot) -> list[int] | None:
        """Tell the program the state at the beginning of a step, and take its commands for that step.

        Called once with the snapshot of each step, and then, as long as the answer is None, with the same one again
        whenever `fileno` is readable. A snapshot with a new time means that the step before has been taken.

        Returns:
            Pulse width of each output, us (14), or None while the program has not said: the simulation holds still.
        """
