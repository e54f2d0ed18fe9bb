"""Contract of a front-end: whoever carries the simulation's state out to a program and its commands back in.

There are two kinds. An `ActuatorFrontEnd` is the flight controller: what its program says of a step moves the
actuators, and the step waits for it. An `OffboardFrontEnd` is the computer beside a flight controller that flies by
itself: it sees what goes on, and commands when it has something to say; nothing waits for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Final, Literal, NamedTuple, Protocol, TypeAlias

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


class ControllerStatus(NamedTuple):
    """The fields of rosflight_msgs/Status that matter outside of the flight controller."""

    armed: bool
    failsafe: bool
    rc_override: int
    offboard: bool
    control_mode: int
    error_code: int


class GnssReport(NamedTuple):
    """Fix type as in rosflight_msgs/GNSS (3: position and height), degrees, m above mean sea level."""

    fix_type: int
    satellites: int
    latitude_deg: float
    longitude_deg: float
    altitude_msl_m: float


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
        status: what the flight controller tells of itself.
        attitude: roll, pitch and yaw as the flight controller estimates them, rad.
        gnss: what the GNSS receiver measures.
        outputs: what the flight controller asks of each output: 0 to 1 of a motor, -1 to 1 of a servo (14).
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
    status: ControllerStatus | None = None
    attitude: Vector3 | None = None
    gnss: GnssReport | None = None
    outputs: tuple[float, ...] = ()


WANTS = frozenset({"imu", "range", "airspeed", "battery", "rc", "images", "status", "attitude", "gnss", "outputs"})
"""What a front-end may want in its snapshots beyond state and wind; all but these two are the newest that was heard."""


class FrontEndInterface(ABC):
    """Speaks one protocol over its own sockets, for all vehicles of the simulation; knows no ROS.

    The bridge calls `open` once and `close` at the end, and all else between them, all from one thread. Nothing here
    may wait: what has not come yet is asked for again. Vehicles go by their number, from 0.

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

    def configure(self, values: Values) -> None:
        """Take over changed values of those parameters that may change at run time, all of them or none.

        Raises:
            ParameterError: they do not fit together; the text says why.
        """
        self.values = values

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
    def partner(self, vehicle: int) -> str:
        """Who is on the other side, and where, in words that complete 'waiting for ...'."""


class StartOver(Enum):
    """The answer that is no commands."""

    START_OVER = "start over"


START_OVER: Final = StartOver.START_OVER
"""The vehicle is to go back to its start."""

Answer: TypeAlias = list[int] | Literal[StartOver.START_OVER] | None
"""What `exchange` gives."""


class ActuatorFrontEnd(FrontEndInterface):
    """Fills the place of the flight controller: each step's actuator commands come from the program. Lockstep only.

    If it wants "imu", a snapshot comes with its IMU message, before which all others of that time have come. Otherwise
    it comes as soon as the step before has been taken, so that the program reckons while the rest of the step goes on;
    its slower measurements are those of the step before.
    """

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

    def requested_step(self, vehicle: int) -> float | None:
        """Length that the step which begins with the last commands is to have, s; None: no wish."""
        return None

    def refused(self, vehicle: int) -> str:
        """Whom the front-end turns away at present, in words; empty: nobody."""
        return ""


class OffboardCommand(Protocol):
    """What a flight controller is commanded."""

    @property
    def mode(self) -> int:
        """Of rosflight_msgs/Command."""

    @property
    def u(self) -> tuple[float, ...]:
        """Its ten numbers."""


class GuidedState(NamedTuple):
    """State of a vehicle in guided mode.

    Attributes:
        mode: number of the mode.
        cage_triggered: bitmap of the limits that are exceeded.
        cage_triggered_last: bitmap of the limits that last ended guided flight.
    """

    mode: int
    cage_triggered: int
    cage_triggered_last: int


class OffboardFrontEnd(FrontEndInterface):
    """Sits beside the flight controller and commands it as programs say, in any time mode; nothing waits for it."""

    @abstractmethod
    def serve(self) -> None:
        """Look at what programs have sent, and answer what can be answered at once.

        Called before the commands of each command period, and some 50 times a second of system time, so also when the
        simulation stands still. What it does in one call must have a bound.
        """

    @abstractmethod
    def command(self, vehicle: int, snapshot: Snapshot, dt: float) -> OffboardCommand | None:
        """See the vehicle, once each command period; what it is to do now, or None: nothing is said of that.

        `dt` is the simulated time since the call before, s; 0 after a gap, which integrators must not see.
        """

    @abstractmethod
    def guided_state(self, vehicle: int) -> GuidedState:
        """State of the vehicle's guided mode after the last command."""

    def doing(self, vehicle: int) -> str:
        """What it does with the vehicle, in a word or a few."""
        return "served"

    def details(self, vehicle: int) -> Mapping[str, object]:
        """What else is worth knowing of that, by name, for /diagnostics."""
        return {}
