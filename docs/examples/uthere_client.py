"""A client of uThere Ground Control's text protocol to build programs on, with Python's standard library alone.

    ground = GroundControl()
    plane = ground.plane(ground.planes()[0])
    while plane.values["altitude"] < 400:
        plane.fly(heading=270, airspeed=18, climb=5)
        ground.wait()

Planes tell their state five times a second of their own time. A program that does one thing each time, and looks at no
other clock, is right at any speed of the simulation.
"""

from __future__ import annotations

import math
import select
import socket
import time

# Data of a plane come this often, s of its own time: as often as fly() is to be sent.
PERIOD = 0.2

# A plane that hears nothing for 10 s takes its ground station for lost, and fly() away: this often (s) it is asked for
# its data again.
KEEP_ALIVE = 2.0

# What does not come within so many seconds does not come any more; a simulation may be compiling for a while first.
PATIENCE = 180.0

# Modes in which a plane takes fly() and waypoints.
WAYPOINT, PACKET_TARGET = 3, 24

# Bits of the cage, the first is 0.
CAGE = """altitude, climb, throttle, soft range, hard range, handheld lost, packet timeout, packets lost, airspeed,
roll, pitch, wing load, battery warning, battery emergency, unspecified, target, GPS bad, nav lost, IMU disabled"""
CAGE_BITS = tuple(name.strip() for name in CAGE.split(","))

EARTH_RADIUS = 6_371_000.0


class GaveUpError(RuntimeError):
    """What the program waits for does not come."""


class Plane:
    """One plane: what it tells, and what it is told.

    Attributes:
        number: of the plane.
        stamp: Unix time of its newest data, s; all planes of a simulation have one clock.
        time: s since its first data.
        values: its newest data, by the names of the variables.
    """

    def __init__(self, ground: GroundControl, number: int) -> None:
        self.number = number
        self.stamp = self.time = 0.0
        self.values: dict[str, float] = {}
        self._ground = ground
        self._first = self._asked = 0.0

    @property
    def place(self) -> tuple[float, float]:
        """Latitude and longitude, degrees."""
        return self.values["latitude"], self.values["longitude"]

    @property
    def mode(self) -> int:
        """What flies it: WAYPOINT, PACKET_TARGET or another."""
        return int(self.values["control_operate_mode"])

    @property
    def hears_fly(self) -> bool:
        """Whether fly() is switched on."""
        return bool(self.values["ap_target_from_packet_enabled"])

    @property
    def beyond(self) -> str:
        """Limits of the cage that it is beyond; empty: none."""
        return cage_text(self.values["cage_triggered"])

    @property
    def switched_off_by(self) -> str:
        """Limits that switched fly() off; empty: none has since it was switched on."""
        return cage_text(self.values["ap_target_from_packet_cage_triggered_last"])

    def take_down(self, stamp: float, values: dict[str, float]) -> bool:
        """Keep data of a Unix time; whether they are the first of that time."""
        is_new = stamp > self.stamp
        self._first = self._first or stamp
        self.stamp, self.time = stamp, stamp - self._first
        self.values.update(values)
        if self.time > self._asked + KEEP_ALIVE:
            self.ask_for_data()
        return is_new

    def ask_for_data(self) -> None:
        """Have all variables told from now on."""
        self._asked = self.time
        self._ground.send(f"data_request(plane={self.number},variable=all,interval={PERIOD})")

    def engage(self) -> None:
        """Switch fly() on."""
        self._ground.send(f"fly_engage(plane={self.number})")

    def disengage(self) -> None:
        """Switch fly() off."""
        self._ground.send(f"fly_disengage(plane={self.number})")

    def fly(self, **target: float) -> None:
        """Fly so: latitude and longitude, course, heading or roll; airspeed or pitch; altitude, climb or throttle."""
        self._ground.send(f"fly(plane={self.number}{arguments(target)})")

    def add_waypoint(self, number: int, following: int, **where: float) -> str:
        """Put a waypoint into the buffer; the command."""
        return self._ground.send(
            f"waypoint_add(waypointid={number},nextwaypointid={following},plane={self.number}{arguments(where)})"
        )

    def fly_to_waypoint(self, number: int) -> None:
        """Fly the waypoints of the buffer, from this one on."""
        self._ground.send(f"fly_to_waypoint({number})")


class GroundControl:
    """The socket to Ground Control."""

    def __init__(self, address: str = "127.0.0.1", port_in: int = 10000, port_out: int = 10001) -> None:
        """`port_in` is where Ground Control listens, `port_out` where it sends to."""
        self._there = (address, port_in)
        self._planes: dict[int, Plane] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1" if address.startswith("127.") else "", port_out))
        self._socket.settimeout(1.0)

    def send(self, command: str) -> str:
        """Send a command; the same."""
        self._socket.sendto(command.encode("ascii"), self._there)
        return command

    def planes(self) -> list[int]:
        """Numbers of all planes, once Ground Control is there."""
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            self.send("request_plane_list")
            name, words = self._packet()
            if name == "plane_list":
                return [int(word) for word in words]
        raise GaveUpError(f"no plane list from {self._there[0]}:{self._there[1]}")

    def plane(self, number: int) -> Plane:
        """The plane of that number, once it has told all about itself."""
        plane = self._planes[number] = Plane(self, number)
        plane.ask_for_data()
        while "ap_target_from_packet_enabled" not in plane.values:
            self.wait()
        return plane

    def wait(self) -> None:
        """Wait for new data of a plane; whoever was busy meanwhile is told all that has come."""
        give_up = time.monotonic() + PATIENCE
        has_news = False
        while time.monotonic() < give_up:
            if has_news and not select.select([self._socket], [], [], 0.0)[0]:
                return
            name, words = self._packet()
            if name == "":
                # A packet may be lost, and a simulation started anew.
                for plane in self._planes.values():
                    plane.ask_for_data()
            elif name in ("data", "data_all"):
                has_news |= self._take_down(words)
        raise GaveUpError(f"no data from {self._there[0]}:{self._there[1]}")

    def _take_down(self, words: list[str]) -> bool:
        stamp, *pairs = words
        values = {name: float(value) for name, _, value in (pair.partition("=") for pair in pairs)}
        plane = self._planes.get(int(values.pop("plane")))
        return plane is not None and plane.take_down(float(stamp), values)

    def _packet(self) -> tuple[str, list[str]]:
        """The next packet: its name and what it is called with; both empty, if none comes within a second."""
        try:
            text = self._socket.recv(65536).decode("ascii")
        except TimeoutError:
            return "", []
        name, _, rest = text.strip().partition("(")
        return name, [word.strip() for word in rest.rstrip(")").split(",")]

    def close(self) -> None:
        """Have no more data sent, and close the socket."""
        self.send("data_clear")
        self._socket.close()


def arguments(values: dict[str, float]) -> str:
    """A comma and name=value of each; seven decimals of a degree are a centimetre."""
    return "".join(f",{name}={value:.7f}" for name, value in values.items())


def cage_text(bits: float) -> str:
    """The limits that a number of the cage stands for."""
    return ", ".join(name for bit, name in enumerate(CAGE_BITS) if int(bits) >> bit & 1)


def moved(place: tuple[float, float], north: float, east: float) -> tuple[float, float]:
    """Latitude and longitude of what lies so many metres north and east of a place."""
    latitude, longitude = place
    per_degree = math.radians(EARTH_RADIUS)
    return latitude + north / per_degree, longitude + east / (per_degree * math.cos(math.radians(latitude)))


def offset(place: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Metres north and east from a place to another nearby."""
    per_degree = math.radians(EARTH_RADIUS)
    north = (other[0] - place[0]) * per_degree
    return north, (other[1] - place[1]) * per_degree * math.cos(math.radians(place[0]))
