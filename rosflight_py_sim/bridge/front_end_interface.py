"""Front-end interface: exchange of state and commands with an external program.

There are two kinds. An `ActuatorFrontEnd` replaces the flight controller: its program's reply to a step moves the
actuators, and the step waits for the reply. An `OffboardFrontEnd` is a companion computer of a flight controller: it
receives the state and may send commands, for which no step waits. Several front-ends can serve one simulation: at most
one commands a vehicle, and the others observe it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.bridge.numbering import numbers_of_vehicles
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.vehicle_parameters import values_of_vehicle

if TYPE_CHECKING:
    from rosflight_py_sim.step.topics import (
        AirspeedSample,
        BaroSample,
        GnssSample,
        MagSample,
        PulseWidths,
        RangeSample,
        StatusReport,
    )

Vector3: TypeAlias = tuple[float, float, float]

OBSERVED_ONLY = "none"
"""Commander of a vehicle that no front-end commands."""


class Logger(Protocol):
    """A logger of rclpy or of the standard library."""

    def info(self, message: str) -> object:
        """Log information for the user."""

    def warning(self, message: str) -> object:
        """Log a problem that the user should check."""


@dataclass(slots=True)
class Snapshot:
    """State of one vehicle at one time; fields that are not required or have not arrived yet are empty.

    Attributes:
        time_ns: simulated time, ns.
        truth: truth vector (19,): position NED (m), quaternion w x y z (body to NED), velocity over ground in body
            axes (m/s), body rates (rad/s), accelerations.
        wind_ned: velocity of the air over the ground, NED, m/s.
        gyro: measured angular rate in body axes, rad/s; from the previous step unless "imu" is required.
        accel_body: measured specific force in body axes, m/s^2; likewise.
        ranges: measurement of each range finder (+inf beyond its maximum, -inf below its minimum): the one of the node
            sensors, then those of `further_ranges`; None before the first message of one.
        airspeed: measurement of the pitot tube.
        battery: measurement of the battery monitor, V and A.
        rc_us: pulse width of each channel of the transmitter, us.
        images: newest image of each camera by name, bytes of a JPEG file.
        status: newest status of the flight controller.
        attitude: roll, pitch and yaw as the flight controller estimates them, rad.
        gnss: measurement of the GNSS receiver.
        mag: measurement of the magnetometer.
        baro: measurement of the barometer.
        rotor_speeds: speed of each rotor, rad/s (14; 0 beyond the last).
        outputs: flight controller's command for each output: 0 to 1 for a motor, -1 to 1 for a servo (14).
        unix_ns: Unix time that belongs to time_ns, ns.
    """

    time_ns: int
    truth: NDArray[np.float64]
    wind_ned: Vector3
    gyro: Vector3
    accel_body: Vector3
    ranges: tuple[RangeSample | None, ...] = ()
    airspeed: AirspeedSample | None = None
    battery: tuple[float, float] | None = None
    rc_us: tuple[int, ...] = ()
    images: Mapping[str, bytes] = field(default_factory=dict)
    status: StatusReport | None = None
    attitude: Vector3 | None = None
    gnss: GnssSample | None = None
    mag: MagSample | None = None
    baro: BaroSample | None = None
    outputs: tuple[float, ...] = ()
    rotor_speeds: tuple[float, ...] = ()
    unix_ns: int = 0


OPTIONAL_FIELDS = frozenset(
    {
        "imu",
        "range",
        "airspeed",
        "battery",
        "rc",
        "images",
        "status",
        "attitude",
        "gnss",
        "mag",
        "baro",
        "outputs",
        "rotor_speeds",
    }
)
"""Optional fields of snapshots, in addition to state and wind; they contain the newest message received."""


class NewestMeasurements(Protocol):
    """Newest measurements of a vehicle, as in `Snapshot`.

    Attributes:
        gnss: of the GNSS receiver.
        mag: of the magnetometer.
        baro: of the barometer.
        airspeed: of the pitot tube.
    """

    gnss: GnssSample | None
    mag: MagSample | None
    baro: BaroSample | None
    airspeed: AirspeedSample | None


class NewestMessages(NewestMeasurements, Protocol):
    """Newest messages of a vehicle; None before the first.

    Attributes:
        range: of the range finder.
        rc: of the transmitter.
    """

    range: RangeSample | None
    rc: PulseWidths | None


class FrontEndInterface(ABC):
    """Implements one protocol over its own sockets, for all vehicles of the simulation, without ROS.

    The bridge calls `open` first and `close` last, and all methods from one thread. Methods must not block: the bridge
    repeats the call for data that have not arrived. Vehicles are numbered from 0.

    Attributes:
        PARAMETERS: the front-end's parameters, whose names begin with the front-end's name and a dot.
        VEHICLE_PARAMETERS: those of them that may be given for one vehicle alone, see `own_values`.
        CONTROLLER: name of the parameter that selects the control loops of a vehicle, for which the graph gives those
            that suit the vehicle's physics; empty if the front-end has no control loops.
        COUNTERS: names of the counters, in the order in which they are reported.
        vehicles: namespace of each vehicle; empty for a single vehicle.
        required_fields: optional snapshot fields, a subset of `OPTIONAL_FIELDS`; set before `open` returns,
            then constant.
        observed: vehicles that the front-end observes without commanding them, each with the name of the front-end or
            flight controller that commands it.
        counters: count of each kind of event, for diagnostics.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable()
    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = ParameterTable()
    CONTROLLER: ClassVar[str] = ""
    COUNTERS: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        values: Values,
        logger: Logger,
        vehicles: Sequence[str] = ("",),
        observed: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Store the checked values of PARAMETERS; `values` may contain others."""
        self.values = values
        self.logger = logger
        self.vehicles = tuple(vehicles)
        self.required_fields: frozenset[str] = frozenset()
        self.observed = observed
        self.counters: Counter[str] = Counter()

    def configure(self, values: Values) -> None:
        """Apply changed values of the parameters that may change at run time.

        Raises:
            ParameterError: the values contradict each other; the text gives the reason. The method is then called with
                the previous values.
        """
        self.values = values

    def own_values(self, values: Values, vehicle: int) -> Values:
        """The values that apply to a vehicle: those given for it alone, and the general ones of other parameters."""
        return values_of_vehicle(values, self.vehicles[vehicle])

    def numbered_values(self, name: str, apart: int = 1, *, beside: str = "") -> list[Values]:
        """The values that apply to each vehicle, if the parameter `name` counts up from vehicle to vehicle.

        `numbers_of_vehicles` gives the order. A vehicle that has a value of its own leaves those of the others as they
        are.

        Args:
            name: a whole number of VEHICLE_PARAMETERS.
            apart: difference between successive vehicles.
            beside: another parameter; vehicles that differ in it may have the same `name`.

        Raises:
            ParameterError: a vehicle's value is beyond the parameter's maximum, or that of another vehicle.
        """
        first, largest = int(number(self.values, name)), int(self.PARAMETERS[name].maximum)
        numbered: list[Values] = []
        owners: dict[object, str] = {}
        for vehicle, place in enumerate(numbers_of_vehicles(len(self.vehicles), self.observed)):
            own = self.own_values({**self.values, name: first + apart * place}, vehicle)
            given, who = int(number(own, name)), self.vehicles[vehicle]
            if given > largest:
                raise ParameterError(
                    f"parameter '{name}': {first} given, which gives vehicle '{who}' {given}; allowed: at most "
                    f"{largest - apart * (len(self.vehicles) - 1)} for {len(self.vehicles)} vehicles"
                )
            owner = owners.setdefault((given, own.get(beside)), who)
            if owner != who:
                raise ParameterError(
                    f"parameter '{name}': {given} given for vehicles '{owner}' and '{who}'; allowed: another one for "
                    "each vehicle"
                )
            numbered.append(own)
        return numbered

    @abstractmethod
    def open(self) -> None:
        """Open the sockets.

        Raises:
            ParameterError: an address cannot be used; the text gives the address and the reason.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the sockets; may be called again."""

    @classmethod
    def link_obstacle(cls, values: Values) -> str:
        """Reason why the link to the programs cannot fail with these parameter values; empty if it can."""
        return "" if cls.fail is not FrontEndInterface.fail else "its front-end does not support failures of the link"

    def fail(self, vehicle: int, signals: Signals) -> None:  # noqa: B027
        """From now on, apply exactly these failures to the link between a vehicle and its programs (`PacketLink`)."""

    def needs_images(self, vehicle: int) -> bool:
        """Whether snapshots need the vehicle's images at present; asked only if `required_fields` has "images"."""
        return True

    @abstractmethod
    def peer(self, vehicle: int) -> str:
        """The program and its address, as a phrase that completes 'waiting for ...'."""

    def announcement(self) -> str:
        """Addresses and ports on which the front-end listens, and for whom; logged after `open`."""
        return ", ".join(dict.fromkeys(map(self.peer, range(len(self.vehicles)))))

    def announced(self, program: str, ports: Sequence[str], what: str) -> str:
        """The program and the port of each vehicle, and the vehicles that it may not command; for `announcement`.

        Args:
            program: name of the program.
            ports: text for the port of each vehicle.
            what: what is refused from programs of observed vehicles.
        """
        lines = []
        for index, (vehicle, port) in enumerate(zip(self.vehicles, ports, strict=True)):
            of = f" for {vehicle}" if vehicle else ""
            commander = self.observed.get(index)
            refused = f", whose {what} are refused: commanded by {commander}" if commander else ""
            lines.append(f"{port}{of}{refused}")
        return f"{program} on {'; '.join(lines)}"

    def further_ranges(self, vehicle: int) -> Sequence[str]:
        """Topics of sensor_msgs/Range, in the vehicle's namespace, for `Snapshot.ranges` from the second on."""
        return ()

    def serve(self) -> None:  # noqa: B027 (not all front-ends need it)
        """Process received data, and send replies that are due at once.

        Called about 50 times per second of system time, even while the simulation is paused. The work per call must be
        bounded.
        """

    def is_due(self, vehicle: int, time_ns: int) -> bool:
        """Whether `observe` has something to do at this time; asked once for each step of an observed vehicle.

        By default it always has, if the class overrides it. Without need, no snapshot is made.
        """
        return type(self).observe is not FrontEndInterface.observe

    def observe(self, vehicle: int, snapshot: Snapshot) -> None:  # noqa: B027
        """Process the snapshot of a step of an observed vehicle: send its data, and refuse commands to it."""


class StartOver(Enum):
    """Answer that requests a restart instead of commands."""

    START_OVER = "start over"


START_OVER: Final = StartOver.START_OVER
"""Return the vehicle to its initial state."""

Answer: TypeAlias = list[int] | Literal[StartOver.START_OVER] | None
"""Result of `exchange`."""


Direct: TypeAlias = Callable[[int], bool]
"""Exchange of a step, given its time, ns; returns whether the step has its commands. See `ActuatorFrontEnd.direct`."""


class ActuatorFrontEnd(FrontEndInterface):
    """Replaces the flight controller: the program sends each step's actuator commands. Lockstep only.

    If `required_fields` contains "imu", the bridge passes a snapshot when its IMU message arrives, after all others of
    that time. Otherwise the bridge passes the snapshot as soon as the previous step has been taken, so that the program
    computes while the rest of the step runs; the measurements are then from the previous step.

    Attributes:
        PORTS_APART: difference between the ports of successive vehicles, whose parameter is the front-end's `port`; 0
            if vehicles have no ports of their own.
    """

    PORTS_APART: ClassVar[int] = 0

    @abstractmethod
    def filenos(self) -> list[int]:
        """File descriptors that become readable when `exchange` has new data to process; fixed from `open` on."""

    @abstractmethod
    def exchange(self, vehicle: int, snapshot: Snapshot) -> Answer:
        """Send the program the state at the beginning of a step, and receive its commands for that step.

        Called once with the snapshot of each step. While the answer is None, called again with the same snapshot
        whenever one of `filenos` is readable, and about 50 times per second of system time. A snapshot with a new time
        means that the previous step has been taken.

        Returns:
            Pulse width of each output, us (14), or None while the program has not replied: the simulation waits. Or
            START_OVER: the vehicle returns to its initial state, and the call is repeated with a snapshot of that state
            and the same time (the IMU is not sampled again).
        """

    def direct(
        self,
        vehicle: int,
        imu: NDArray[np.float64],
        newest: NewestMessages,
        snapshot: Callable[[int], Snapshot],
        pulse_us: NDArray[np.int64],
    ) -> Direct | None:
        """Function that exchanges the steps of a vehicle whose program is answering each; None if there is none.

        It is called in each step, if the simulation waits for no other program. It returns True if it has written the
        commands, for which it may wait for a millisecond. Otherwise `exchange` is called with a snapshot of the same
        time.

        Args:
            vehicle: number of the vehicle.
            imu: specific force (m/s^2) and angular rate (rad/s) of each step (6,).
            newest: newest messages of the vehicle.
            snapshot: makes the snapshot of a time, ns.
            pulse_us: pulse width of each output, us (14,), for the function to write.
        """
        return None

    @classmethod
    def requests_step_sizes(cls) -> bool:
        """Whether the class overrides `requested_step`."""
        return cls.requested_step is not ActuatorFrontEnd.requested_step

    def requested_step(self, vehicle: int) -> float | None:
        """Length of the step that the last commands begin, s; None: no request.

        Called once for each step, before `exchange` is called again. The step gets the shortest length that the
        vehicles request for it. After a step without a request, the next request may count one step later.
        """
        return None

    def is_contacted(self, vehicle: int) -> bool:
        """Whether a program has contacted the vehicle, even if what it has sent has not been read yet."""
        return False

    def refused(self, vehicle: int) -> str:
        """Description of the program that is currently refused; empty if none."""
        return ""


class OffboardCommand(Protocol):
    """Command to a flight controller."""

    @property
    def mode(self) -> int:
        """Mode as in rosflight_msgs/Command."""

    @property
    def u(self) -> tuple[float, ...]:
        """The ten setpoints."""


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
    """Commands a flight controller for programs, in any time mode; no step waits for it.

    Attributes:
        served_ns: simulated time of the last commands, ns.
    """

    served_ns = -1

    def serve_before(self, time_ns: int) -> None:
        """Call `serve` once before the commands of a time, so that those sent together take effect in the same step."""
        if time_ns != self.served_ns:
            self.served_ns = time_ns
            self.serve()

    @abstractmethod
    def serve(self) -> None:
        """As in the base class; also called before the commands of each command period."""

    @abstractmethod
    def command(self, vehicle: int, snapshot: Snapshot, dt: float) -> OffboardCommand | None:
        """Process a snapshot, once per command period; return the command, or None for no command.

        `dt` is the simulated time since the previous call, s; 0 after a gap, which integrators must skip.
        """

    @abstractmethod
    def guided_state(self, vehicle: int) -> GuidedState:
        """State of the vehicle's guided mode after the last command."""

    def activity(self, vehicle: int) -> str:
        """Current activity with the vehicle, in a few words."""
        return "served"

    def details(self, vehicle: int) -> Mapping[str, object]:
        """Further values for /diagnostics, by name."""
        return {}
