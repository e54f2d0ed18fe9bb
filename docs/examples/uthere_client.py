"""Client library for uThere Ground Control's text protocol; needs Python's standard library only.

    ground = GroundControl()
    plane = ground.plane(ground.planes()[0])
    while plane.values["altitude"] < 400:
        plane.fly(heading=270, airspeed=18, climb=5)
        ground.wait()

Planes send their state five times a second of their own time. A program that acts once per update, and uses no
other clock, works at any speed of the simulation.
"""

from __future__ import annotations

import math
import select
import socket
import sys
import time

# Interval of a plane's data, s of its own time, and so of fly().
PERIOD = 0.2

# Interval (s) of repeated data requests: a plane without packets for 10 s switches fly() off, as after a lost ground
# station.
KEEP_ALIVE = 2.0

# Longest wait for a reply, and wait until a note, s; a simulation may have to compile first.
TIMEOUT, NOTE_AFTER = 180.0, 5.0

# Modes in which a plane accepts fly() and waypoints.
WAYPOINT, PACKET_TARGET = 3, 24

# Names of the cage's bits, from bit 0.
CAGE = """altitude, climb, throttle, soft range, hard range, handheld lost, packet timeout, packets lost, airspeed,
roll, pitch, wing load, battery warning, battery emergency, unspecified, target, GPS bad, nav lost, IMU disabled"""
CAGE_BITS = tuple(name.strip() for name in CAGE.split(","))

EARTH_RADIUS = 6_371_000.0


class GaveUpError(RuntimeError):
    """The awaited packet did not arrive."""


class Plane:
    """One plane: its data, and its commands.

    Attributes:
        number: number of the plane.
        stamp: Unix time of its newest data, s; all planes of a simulation share one clock.
        time: s since its first data.
        values: its newest data, by variable name.
    """

    def __init__(self, ground: GroundControl, number: int) -> None:
        self.number = number
        self.stamp = self.time = 0.0
        self.values: dict[str, float] = {}
        self._ground = ground
        self._first = self._requested = 0.0

    @property
    def place(self) -> tuple[float, float]:
        """Latitude and longitude, degrees."""
        return self.values["latitude"], self.values["longitude"]

    @property
    def mode(self) -> int:
        """Current mode: WAYPOINT, PACKET_TARGET or another."""
        return int(self.values["control_operate_mode"])

    @property
    def is_engaged(self) -> bool:
        """Whether fly() is switched on."""
        return bool(self.values["ap_target_from_packet_enabled"])

    @property
    def beyond(self) -> str:
        """Exceeded limits of the cage; empty if none."""
        return cage_text(self.values["cage_triggered"])

    @property
    def switched_off_by(self) -> str:
        """Limits that last switched fly() off; empty if none since it was switched on."""
        return cage_text(self.values["ap_target_from_packet_cage_triggered_last"])

    def store(self, stamp: float, values: dict[str, float]) -> bool:
        """Store data with their Unix time; return whether they are the first with that time."""
        is_new = stamp > self.stamp
        self._first = self._first or stamp
        self.stamp, self.time = stamp, stamp - self._first
        self.values.update(values)
        if self.time > self._requested + KEEP_ALIVE:
            self.request_data()
        return is_new

    def request_data(self) -> None:
        """Request all variables from now on."""
        self._requested = self.time
        self._ground.send(f"data_request(plane={self.number},variable=all,interval={PERIOD})")

    def engage(self) -> None:
        """Switch fly() on."""
        self._ground.send(f"fly_engage(plane={self.number})")

    def disengage(self) -> None:
        """Switch fly() off."""
        self._ground.send(f"fly_disengage(plane={self.number})")

    def fly(self, **target: float) -> None:
        """Fly: latitude and longitude, course, heading or roll; airspeed or pitch; altitude, climb or throttle."""
        self._ground.send(f"fly(plane={self.number}{arguments(target)})")

    def add_waypoint(self, number: int, following: int, **where: float) -> str:
        """Add a waypoint to the buffer; return the command."""
        return self._ground.send(
            f"waypoint_add(waypointid={number},nextwaypointid={following},plane={self.number}{arguments(where)})"
        )

    def fly_to_waypoint(self, number: int) -> None:
        """Fly the waypoints of the buffer, from this one on."""
        self._ground.send(f"fly_to_waypoint({number})")


class GroundControl:
    """Connection to Ground Control."""

    def __init__(self, address: str = "127.0.0.1", port_in: int = 10000, port_out: int = 10001) -> None:
        """`port_in` is Ground Control's port for commands, `port_out` the local port that it sends to."""
        self._there = (address, port_in)
        self._planes: dict[int, Plane] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1" if address.startswith("127.") else "", port_out))
        self._socket.settimeout(1.0)

    def send(self, command: str) -> str:
        """Send a command, and return it."""
        self._socket.sendto(command.encode("ascii"), self._there)
        return command

    def planes(self) -> list[int]:
        """Numbers of all planes; waits for Ground Control."""
        there = f"no plane list from {self._there[0]}:{self._there[1]}"
        began, noted = time.monotonic(), False
        while time.monotonic() < began + TIMEOUT:
            self.send("request_plane_list")
            name, fields = self._packet()
            if name == "plane_list":
                return [int(field) for field in fields]
            if time.monotonic() > began + NOTE_AFTER and not noted:
                noted = True
                print(f"{there} yet; waiting up to {TIMEOUT:g} s", file=sys.stderr, flush=True)
        raise GaveUpError(f"{there} within {TIMEOUT:g} s")

    def plane(self, number: int) -> Plane:
        """The plane with this number, once all its data have arrived."""
        plane = self._planes[number] = Plane(self, number)
        plane.request_data()
        while "ap_target_from_packet_enabled" not in plane.values:
            self.wait()
        return plane

    def wait(self) -> None:
        """Wait for new data of a plane, and process all queued packets."""
        give_up = time.monotonic() + TIMEOUT
        has_news = False
        while time.monotonic() < give_up:
            if has_news and not select.select([self._socket], [], [], 0.0)[0]:
                return
            name, fields = self._packet()
            if name == "":
                # A packet may be lost, and the simulation may have restarted.
                for plane in self._planes.values():
                    plane.request_data()
            elif name in ("data", "data_all"):
                has_news |= self._store(fields)
        raise GaveUpError(f"no data from {self._there[0]}:{self._there[1]}")

    def _store(self, fields: list[str]) -> bool:
        stamp, *pairs = fields
        values = {name: float(value) for name, _, value in (pair.partition("=") for pair in pairs)}
        plane = self._planes.get(int(values.pop("plane")))
        return plane is not None and plane.store(float(stamp), values)

    def _packet(self) -> tuple[str, list[str]]:
        """Name and fields of the next packet; both empty if none arrives within a second."""
        try:
            packet = self._socket.recv(65536)
        except TimeoutError:
            return "", []
        if not packet.isascii():
            return "damaged", []
        name, _, rest = packet.decode("ascii").strip().partition("(")
        return name, [field.strip() for field in rest.rstrip(")").split(",")]

    def close(self) -> None:
        """Stop the data, and close the socket."""
        self.send("data_clear")
        self._socket.close()


def arguments(values: dict[str, float]) -> str:
    """A comma and name=value for each; seven decimals of a degree are a centimetre."""
    return "".join(f",{name}={value:.7f}" for name, value in values.items())


def cage_text(bits: float) -> str:
    """Names of the bits that are set."""
    return ", ".join(name for bit, name in enumerate(CAGE_BITS) if int(bits) >> bit & 1)


def moved(place: tuple[float, float], north: float, east: float) -> tuple[float, float]:
    """Latitude and longitude of the point that is so many metres north and east of a place."""
    latitude, longitude = place
    per_degree = math.radians(EARTH_RADIUS)
    return latitude + north / per_degree, longitude + east / (per_degree * math.cos(math.radians(latitude)))


def offset(place: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Metres north and east from a place to another nearby."""
    per_degree = math.radians(EARTH_RADIUS)
    north = (other[0] - place[0]) * per_degree
    return north, (other[1] - place[1]) * per_degree * math.cos(math.radians(place[0]))
