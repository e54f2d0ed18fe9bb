"""uThere Ground Control's text protocol over UDP and TCP: programs command planes and receive their data."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.cage import bit_names
from rosflight_py_sim.bridge.fair_inbox import FairInbox
from rosflight_py_sim.bridge.front_end_interface import GuidedState, Logger, OffboardFrontEnd, Snapshot
from rosflight_py_sim.bridge.line_server import LineServer
from rosflight_py_sim.bridge.numbering import numbers_of_vehicles
from rosflight_py_sim.bridge.peers import Address, address_text
from rosflight_py_sim.bridge.rare_warnings import RareWarnings
from rosflight_py_sim.bridge.subscriptions import EXPIRES_AFTER_S, MOST_CLIENTS, MOST_SUBSCRIPTIONS, Subscriptions
from rosflight_py_sim.bridge.uthere_plane import (
    CONTROLLER,
    UTHERE_PLANE_PARAMETERS,
    FlightCommand,
    PlaneCommand,
    UtherePlane,
)
from rosflight_py_sim.bridge.uthere_settings import UTHERE_SETTINGS, UthereSettings
from rosflight_py_sim.bridge.uthere_variables import REQUIRED_FIELDS
from rosflight_py_sim.failures.failure import DOWNLINK, UPLINK
from rosflight_py_sim.failures.packet_link import PacketLink
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.protocols.uthere import (
    Command,
    DataClear,
    DataPause,
    DataRemove,
    DataRequest,
    DataResume,
    Fly,
    FlyToWaypoint,
    RequestClientIpList,
    RequestPlaneList,
    UthereError,
    client_ip_list_text,
    data_all_texts,
    data_text,
    error_text,
    parse_packet,
    plane_list_text,
)

_ALL = "all"

# Greatest number of error replies to one packet.
_MOST_ERRORS = 8

# Bytes that may be read per second of simulated time: the limit of a simulation beyond 8 times real time. A slower one,
# even a paused one, has that of the inbox. And bytes that a command, and a line by TCP, counts besides its length.
_GRANTED_HZ = 1 << 15
_COMMAND_COST = 16.0
_LINE_COST = 64.0

# Time modes in which the simulation waits for the bridge, so that the bridge can slow it down.
_WAITING = ("lockstep", "gated")

# Longest time for which one step is held for a late program, and interval of the checks for its packets, s. The time
# managers resume without a message that takes longer than a quarter of a second.
_LONGEST_HOLD_S, _CHECK_S = 0.1, 2e-3

# Interval of the search for clients to expire, s of simulated time.
_EXPIRY_PERIOD_NS = NANOSECONDS


class UthereFrontEnd(OffboardFrontEnd):
    """Serves all planes of the simulation on one UDP port, and on the TCP port of the same number.

    The sender of a command becomes a client. A UDP client is identified by its address without the port; replies and
    data are sent only to the port `udp_port_out` of that address. A TCP client is identified by its connection, over
    which replies and data are sent, one a line. Data rates are in simulated time.

    The time limits after which a silent program loses the plane are in simulated time. A simulation that runs faster
    than real time is slowed down to it from half of the time limit on, so that a program that the operating system has
    suspended for a moment has as much system time to send its command. In `wall` and `paced` time does not wait.

    Attributes:
        planes: in the order of the vehicles.
    """

    PARAMETERS: ClassVar[ParameterTable] = UTHERE_SETTINGS + UTHERE_PLANE_PARAMETERS
    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = UTHERE_PLANE_PARAMETERS
    CONTROLLER: ClassVar[str] = CONTROLLER

    COUNTERS: ClassVar[tuple[str, ...]] = (
        "packets",
        "commands",
        "replies",
        "data_packets",
        "bad_commands",
        "refused_commands",
        "unknown_plane",
        "unknown_variable",
        "too_many_clients",
        "too_many_connections",
        "too_many_subscriptions",
        "too_high_rate",
        "expired_clients",
        "too_long",
        "flooding",
        "unsent",
    )

    def __init__(
        self,
        values: Values,
        logger: Logger,
        vehicles: Sequence[str] = ("",),
        observed: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Store the parameters; `open` opens the socket.

        Raises:
            ParameterError: two planes have the same number, or replies would be read as commands.
        """
        super().__init__(values, logger, vehicles, observed)
        self.required_fields = REQUIRED_FIELDS
        self._settings = UthereSettings(values)
        ports = {"udp_port_in": self._settings.own[1], "udp_port_out": self._settings.port_out}
        self.planes = [UtherePlane(own, ports) for own in self.numbered_values("uthere.plane_id")]
        # The first number of a plane list is that of a plane that programs may command.
        order = sorted(range(len(self.planes)), key=numbers_of_vehicles(len(self.planes), observed).__getitem__)
        self._index_of = {self.planes[index].number: index for index in order}
        self._warn = RareWarnings(logger)
        self._inbox: FairInbox | None = None
        self._line_server: LineServer | None = None
        self._tcp_is_next = False
        self._subscriptions = Subscriptions()
        self._signals: dict[int, Signals] = {}
        self._uplink: PacketLink[tuple[str, Address | None]] = PacketLink(UPLINK)
        self._downlink: PacketLink[tuple[str, str]] = PacketLink(DOWNLINK)
        self._time_ns = 0
        self._expiry_period = -1
        self._waits = values.get("time_mode") in _WAITING
        # System time of the last packet, and of the last accepted fly() of each plane.
        now_s = time.monotonic()
        self._packet_s, self._fly_s = now_s, [now_s] * len(self.planes)

    def configure(self, values: Values) -> None:
        """Apply changed parameters to all planes.

        Raises:
            ParameterError: the values contradict each other.
        """
        for index, plane in enumerate(self.planes):
            plane.configure(self.own_values(values, index))
        super().configure(values)

    def open(self) -> None:
        """Bind the UDP and the TCP port.

        Raises:
            ParameterError: one of them cannot be bound.
        """
        own = self._settings.own
        try:
            self._inbox = FairInbox(own, self._count)
            self._line_server = LineServer(own, self._count)
        except OSError as error:
            self.close()
            raise ParameterError(
                f"parameters 'uthere.address' and 'uthere.udp_port_in': {address_text(own)} given, which cannot be "
                f"used: {error.strerror}; allowed: a local address and a free port"
            ) from error

    def close(self) -> None:
        """Close the ports."""
        if self._inbox is not None:
            self._inbox.close()
            self._inbox = None
        if self._line_server is not None:
            self._line_server.close()
            self._line_server = None

    def peer(self, vehicle: int) -> str:
        """Number and address for programs that command the plane."""
        return f"plane {self.planes[vehicle].number} on UDP {address_text(self._settings.own)}"

    def announcement(self) -> str:
        """Numbers of the planes, and the ports of Ground Control and of its programs."""
        numbers = ", ".join(str(plane.number) for plane in self.planes)
        return (
            f"plane{'s' if len(self.planes) > 1 else ''} {numbers} on UDP and TCP {address_text(self._settings.own)}; "
            f"replies and data to UDP port {self._settings.port_out} of each program"
        )

    def activity(self, vehicle: int) -> str:
        """Mode of the plane."""
        return self.planes[vehicle].mode

    def details(self, vehicle: int) -> dict[str, object]:
        """State of the cage as text, in Ground Control's form, and the clients of all planes."""
        pilot, server = self.planes[vehicle].pilot, self._line_server
        return {
            "cage_triggered": bit_names(pilot.cage_triggered),
            "ap_target_from_packet_cage_triggered_last": bit_names(pilot.triggered_last),
            "ap_target_from_packet_enabled": pilot.enabled,
            "clients": len(self._subscriptions.addresses),
            "tcp_connections": 0 if server is None else server.connections,
            "tcp_backlog": 0 if server is None else server.backlog,
        }

    def guided_state(self, vehicle: int) -> GuidedState:
        """Mode and cage state of the plane."""
        pilot = self.planes[vehicle].pilot
        return GuidedState(pilot.mode, pilot.cage_triggered, pilot.triggered_last)

    def fail(self, vehicle: int, signals: Signals) -> None:
        """Apply the failures of a plane to the link of all planes, which share one port."""
        self._signals[vehicle] = signals
        for direction in (self._uplink, self._downlink):
            direction.fail(self._signals.values())

    def serve(self) -> None:
        """Execute and answer received commands, as many as the rate limit permits."""
        assert self._inbox is not None
        assert self._line_server is not None
        # In turn, because each could use up the limit alone.
        self._tcp_is_next = not self._tcp_is_next
        for read in (self._lines, self._datagrams) if self._tcp_is_next else (self._datagrams, self._lines):
            for packet, (client, sender) in self._uplink.passed(self.served_ns, read()):
                # A connection may have ended while its packet was under way.
                if sender is None and client not in self._line_server:
                    continue
                if self._read(packet, client) and sender is not None:
                    self._inbox.welcome(sender)
        for client in self._line_server.drop_ended():
            self._subscriptions.forget(client)
        self._pass_on()

    def command(self, vehicle: int, snapshot: Snapshot, dt: float) -> AutopilotCommand | None:
        """Update the plane's commands, and send data that are due."""
        plane = self.planes[vehicle]
        if self._waits:
            self._await_program(vehicle, snapshot.time_ns / NANOSECONDS)
        guided = plane.update(snapshot, dt)
        self._send_data(vehicle, plane, snapshot)
        return guided

    def is_due(self, vehicle: int, time_ns: int) -> bool:
        """Whether data may be due."""
        if vehicle == 0:
            self._time_passed(time_ns)
        return not self._subscriptions.is_quiet(vehicle, time_ns)

    def observe(self, vehicle: int, snapshot: Snapshot) -> None:
        """Send data that are due."""
        self._send_data(vehicle, self.planes[vehicle], snapshot)

    def _await_program(self, vehicle: int, time_s: float) -> None:
        """Hold the step while a late program has had less system time than simulated time for its next command."""
        end_s = time.monotonic() + _LONGEST_HOLD_S
        while (late := self.planes[vehicle].pilot.overdue(time_s)) is not None:
            now_s = time.monotonic()
            since_s = self._packet_s if late.what == "packet" else self._fly_s[vehicle]
            if now_s - since_s >= late.lasted_s or now_s >= end_s:
                return
            time.sleep(_CHECK_S)
            self.serve()

    @property
    def _client_addresses(self) -> list[str]:
        """Addresses of the clients, without the ports of connections; each once."""
        return list(dict.fromkeys(client.partition(":")[0] for client in self._subscriptions.addresses))

    def _time_passed(self, time_ns: int) -> None:
        """Permit what may be done per simulated time, and end the data of clients that have sent nothing for long."""
        assert self._inbox is not None
        self._inbox.grant(_GRANTED_HZ * max(time_ns - self._time_ns, 0) / NANOSECONDS)
        self._time_ns = time_ns
        period = time_ns // _EXPIRY_PERIOD_NS
        if period == self._expiry_period:
            return
        self._expiry_period = period
        for client in self._subscriptions.expire(time_ns):
            text = f"data of {client} ended: nothing received from it for {EXPIRES_AFTER_S:g} s of simulated time"
            self._count("expired_clients", text)
            if self._settings.reply_errors:
                self._reply(client, error_text(text))

    # Receiving.

    def _datagrams(self) -> Iterator[tuple[bytes, tuple[str, Address | None]]]:
        assert self._inbox is not None
        for datagram, sender in self._inbox.datagrams():
            yield datagram, (sender[0], sender)

    def _lines(self) -> Iterator[tuple[bytes, tuple[str, Address | None]]]:
        inbox, server = self._inbox, self._line_server
        assert inbox is not None
        assert server is not None
        for line, client in server.lines(lambda: inbox.may_read):
            inbox.charge(_LINE_COST + len(line))
            yield line, (client, None)

    def _read(self, datagram: bytes, client: str) -> bool:
        """Execute the commands of a packet; return whether there was one."""
        self.counters["packets"] += 1
        commands = parse_packet(datagram)
        assert self._inbox is not None
        self._inbox.charge(_COMMAND_COST * len(commands))
        makes_sense = any(not isinstance(command, UthereError) for command in commands)
        if makes_sense:
            if not self._subscriptions.register(client):
                text = f"{MOST_CLIENTS} other clients receive data; data_clear from one of them makes room"
                problem = self._refuse("too_many_clients", client, text)
                if self._settings.reply_errors:
                    self._reply(client, error_text(problem))
                return False
            self._packet_s = time.monotonic()
            for plane in self.planes:
                plane.packet_received()
        problems = [problem for command in commands for problem in self._execute(command, client)]
        for problem in problems[:_MOST_ERRORS] if self._settings.reply_errors else ():
            self._reply(client, error_text(problem))
        return makes_sense

    def _execute(self, command: Command | UthereError, client: str) -> Iterator[str]:
        """Execute a command; yield the reason for each part that is refused."""
        if isinstance(command, UthereError):
            yield self._refuse("bad_commands", client, str(command))
            return
        self.counters["commands"] += 1
        match command:
            case RequestPlaneList():
                self._reply(client, plane_list_text(self._index_of))
            case RequestClientIpList():
                self._reply(client, client_ip_list_text(self._client_addresses))
            case DataClear():
                self._subscriptions.clear(client)
            case DataPause():
                self._subscriptions.pause(client, paused=True)
            case DataResume():
                self._subscriptions.pause(client, paused=False)
            case FlyToWaypoint():
                yield from self._fly_to_waypoint(command, client)
            case _:
                yield from self._execute_for_plane(command, client)

    def _execute_for_plane(self, command: DataRequest | DataRemove | PlaneCommand, client: str) -> Iterator[str]:
        """Execute a command for the plane that it names, or for all planes."""
        if command.plane is not None and command.plane not in self._index_of:
            planes = ", ".join(map(str, self._index_of))
            yield self._refuse("unknown_plane", client, f"there is no plane {command.plane}; allowed: {planes}")
            return
        for number in self._index_of if command.plane is None else (command.plane,):
            index = self._index_of[number]
            match command:
                case DataRequest():
                    yield from self._subscribe(index, command, client)
                case DataRemove():
                    if not self._subscriptions.remove(client, index, command.variable):
                        text = f"data_remove of '{command.variable}', which is not subscribed"
                        yield self._refuse("unknown_variable", client, text)
                case _:
                    yield from self._execute_flight(index, command, client)

    def _subscribe(self, index: int, command: DataRequest, client: str) -> Iterator[str]:
        if command.variable != _ALL and command.variable not in self.planes[index].names:
            text = f"there is no variable '{command.variable}'; variable=all sends all variables"
            yield self._refuse("unknown_variable", client, text)
            return
        excess = self._subscriptions.excess(client, index, command.variable, command.interval)
        if excess:
            yield self._refuse("too_high_rate", client, f"{excess}; variable=all needs one for all variables")
        elif not self._subscriptions.add(client, index, command.variable, command.interval):
            text = f"more than {MOST_SUBSCRIPTIONS} variables; end subscriptions with data_remove or data_clear"
            yield self._refuse("too_many_subscriptions", client, text)

    def _fly_to_waypoint(self, command: FlyToWaypoint, client: str) -> Iterator[str]:
        """Fly to a waypoint; its id identifies the plane, which the command does not name."""
        meant = [index for index, plane in enumerate(self.planes) if plane.has_waypoint(command.waypointid)]
        if not meant:
            yield self._refuse("refused_commands", client, f"no plane has a waypoint {command.waypointid}")
        for index in meant:
            yield from self._execute_flight(index, command, client)

    def _execute_flight(self, index: int, command: FlightCommand, client: str) -> Iterator[str]:
        plane = self.planes[index]
        commander = self.observed.get(index)
        problem = f"commanded by {commander}" if commander else plane.execute(command)
        if isinstance(command, Fly) and not problem:
            self._fly_s[index] = time.monotonic()
        if problem:
            yield self._refuse("refused_commands", client, f"plane {plane.number}: {problem}")

    # Sending.

    def _send_data(self, vehicle: int, plane: UtherePlane, snapshot: Snapshot) -> None:
        """Send the data of a plane to the clients for which they are due."""
        if vehicle == 0:
            self._time_passed(snapshot.time_ns)
        values: dict[str, float] = {}
        packets: dict[str, list[str]] = {}
        for client, variables in self._subscriptions.due(vehicle, snapshot.time_ns):
            values = values or plane.variables(snapshot)
            for variable in variables:
                if variable not in packets:
                    packets[variable] = self._packets(snapshot.unix_ns / NANOSECONDS, plane.number, variable, values)
                for packet in packets[variable]:
                    self._send("data_packets", client, packet)

    def _packets(self, unix_s: float, plane: int, variable: str, values: Mapping[str, float]) -> list[str]:
        """Packets with the data of a variable, or of all; none if the value is not known yet."""
        if variable == _ALL:
            return data_all_texts(unix_s, plane, values, self._settings.largest_packet)
        return [data_text(unix_s, plane, {variable: values[variable]})] if variable in values else []

    def _reply(self, client: str, text: str) -> None:
        self._send("replies", client, text)

    def _send(self, kind: str, client: str, text: str) -> None:
        self._pass_on([(text.encode("ascii"), (kind, client))])

    def _pass_on(self, packets: Iterable[tuple[bytes, tuple[str, str]]] = ()) -> None:
        """Transmit packets, and earlier ones whose delay on a late link is over."""
        for data, (kind, client) in self._downlink.passed(self.served_ns, packets):
            self._transmit(data, kind, client)

    def _transmit(self, data: bytes, kind: str, client: str) -> None:
        assert self._inbox is not None
        assert self._line_server is not None
        if client in self._line_server:
            sent = self._line_server.send(client, data)
        else:
            # As above: the name of a connection contains its port.
            sent = ":" not in client and self._inbox.send(data, (client, self._settings.port_out))
        self.counters[kind if sent else "unsent"] += 1

    # Counting.

    def _refuse(self, kind: str, client: str, problem: str) -> str:
        self._count(kind, f"ignored, from {client}: {problem}")
        return problem

    def _count(self, kind: str, text: str, times: int = 1) -> None:
        self.counters[kind] += times
        self._warn(kind, text, self.counters[kind])
