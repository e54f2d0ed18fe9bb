"""Skywriting through uThere Ground Control's text protocol, with an excursion out of the cage.

Start the simulator in one terminal and this program in another; besides uthere_client.py it has no dependencies:

    rosflight_py_sim sim --vehicle uthere
    python uthere_skywriting.py

The program waits until the plane is airborne in Waypoint mode. It writes each letter as strokes of waypoints, and flies
to the start of each stroke with fly() at 5 Hz. Before the last letter it leaves the cage on purpose: Ground Control
switches fly() off and brings the plane back, and the program takes over again. Exit code 0: all letters flown; 1: not
flown; 130: Ctrl-C.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable

from uthere_client import (
    PACKET_TARGET,
    WAYPOINT,
    GaveUpError,
    GroundControl,
    Plane,
    moved,
    offset,
)

Point = tuple[float, float]

AIRSPEED = 16.0  # m/s
ALTITUDE = 300.0  # ft
CLIMB = 20.0  # ft/s

# Size of a letter, m, and spacing of the waypoints on its curves.
HEIGHT, WIDTH, GAP, SPACING = 220.0, 145.0, 75.0, 25.0

# Run-up (m) before a stroke's first point, so that the plane is on the line by then. fly() leads to a point still
# farther back.
RUN_UP, APPROACH = 80.0, 90.0

# Distance (m) at which a place counts as reached: Ground Control circles the place.
NEAR = 90.0

# Longest duration of any part, s of the plane's time.
LONGEST = 400.0

# Metres from the plane's initial position to the lower left corner of the first letter: north, east.
CORNER = (60.0, -300.0)


def line(*points: Point) -> list[Point]:
    """A polyline (x to the right, y up, for a letter of height 1)."""
    return list(points)


def arc(x: float, y: float, radius: float, start: float, end: float, stretch: float = 1.0) -> list[Point]:
    """An arc between two angles, degrees counterclockwise from the right; `stretch` scales its height."""
    steps = max(round(abs(math.radians(end - start)) * radius * stretch * HEIGHT / SPACING), 2)
    angles = [math.radians(start + (end - start) * step / steps) for step in range(steps + 1)]
    return [(x + radius * math.cos(angle), y + radius * stretch * math.sin(angle)) for angle in angles]


_W = WIDTH / HEIGHT
_ROUND = 0.25

# Strokes of each letter.
LETTERS = {
    "R": (
        line((0.0, 0.0), (0.0, 1.0)),
        [(0.0, 1.0), *arc(_W - _ROUND, 0.75, _ROUND, 90.0, -90.0), (0.0, 0.5)],
        line((_W - _ROUND, 0.5), (_W, 0.0)),
    ),
    "O": (arc(0.5 * _W, 0.5, 0.5 * _W, 90.0, -270.0, stretch=1.0 / _W),),
    # Two arcs and their common tangent: a plane needs time to reverse its bank.
    "S": ([*arc(0.5 * _W, 0.76, 0.24, 30.0, 247.0), *arc(0.5 * _W, 0.24, 0.24, 67.0, -150.0)],),
}


class Writer:
    """Writes letters with a plane."""

    def __init__(self, ground: GroundControl, plane: Plane, *, airspeed: float, echo: bool) -> None:
        """`airspeed` in m/s; `echo`: also print the waypoints that are sent."""
        self._ground, self._plane, self._airspeed, self._echo = ground, plane, airspeed, echo
        self._origin = plane.place
        self._next_number = 1

    def report(self, text: str) -> None:
        """Print the next step."""
        print(f"{self._plane.time:5.1f} s  {text}", flush=True)

    def until(self, happened: Callable[[], bool], what: str, each_time: Callable[[], None] = lambda: None) -> None:
        """Do something five times a second of the plane's time, until a condition holds."""
        plane, began = self._plane, self._plane.time
        while not happened():
            each_time()
            self._ground.wait()
            if plane.time - began > LONGEST:
                raise GaveUpError(
                    f"{what} takes too long: mode {plane.mode}, exceeded limits: {plane.beyond or 'none'}"
                )

    def stream(self, until: Callable[[], bool], what: str, **target: float) -> None:
        """Send fly() until a condition holds."""

        def each_time() -> None:
            self._keep_engaged()
            self._plane.fly(**target)

        self.until(until, what, each_time)

    def follow(self, first: int, until: Callable[[], bool], what: str) -> None:
        """Fly the waypoints from the first on until a condition holds; resume them whenever the plane has left them."""
        plane, present = self._plane, first

        def each_time() -> None:
            nonlocal present
            number = int(plane.values["waypoint_id"])
            if plane.mode == WAYPOINT and number >= first:
                present = number
            else:
                self._keep_engaged()
                plane.fly_to_waypoint(present)

        self.until(until, what, each_time)

    def _keep_engaged(self) -> None:
        """Switch fly() on again if it was switched off."""
        if not self._plane.is_engaged and not self._plane.beyond:
            self._plane.engage()

    def write(self, letter: str, corner: Point) -> None:
        """Write a letter with its lower left corner at a place, m north and east of the origin."""
        self.report(f"write {letter}")
        for stroke in LETTERS[letter]:
            self._draw([(corner[0] + HEIGHT * y, corner[1] + HEIGHT * x) for x, y in stroke])

    def _draw(self, points: list[Point]) -> None:
        back = tuple(-part for part in unit(points[0], points[1]))
        start, gather = (along(points[0], back, way) for way in (RUN_UP, RUN_UP + APPROACH))
        north_east = moved(self._origin, *gather)
        self.stream(
            lambda: math.dist(self._here, gather) < NEAR,
            "to fly to a stroke",
            latitude=north_east[0],
            longitude=north_east[1],
            airspeed=self._airspeed,
            altitude=ALTITUDE,
        )
        first, last = self._send([start, *points])
        ahead = unit(points[-2], points[-1])
        self.follow(
            first,
            lambda: self._plane.values["waypoint_id"] == last and passed(self._here, points[-1], ahead),
            "a stroke",
        )

    def _send(self, points: list[Point]) -> tuple[int, int]:
        """Put waypoints into the buffer; return the numbers of the first and the last."""
        first = self._next_number
        for number, point in enumerate(points, start=first):
            latitude, longitude = moved(self._origin, *point)
            where = {"latitude": latitude, "longitude": longitude, "altitude": ALTITUDE, "airspeed": self._airspeed}
            command = self._plane.add_waypoint(number, number + 1, **where)
            if self._echo:
                print(command, flush=True)
        # No waypoint has the number after the last: the chain ends there.
        self._next_number += len(points) + 1
        return first, first + len(points) - 1

    @property
    def _here(self) -> Point:
        return offset(self._origin, self._plane.place)

    def break_out(self) -> None:
        """Climb until Ground Control switches fly() off, and wait until the plane is back in the cage."""
        plane = self._plane
        self.report(f"climb out of the cage, beyond {plane.values['cage_altitude_maximum']:.0f} ft")
        self.stream(
            lambda: "altitude" in plane.switched_off_by,
            "to leave the cage",
            heading=0.0,
            airspeed=self._airspeed,
            climb=CLIMB,
        )
        self.report(f"fly() switched off ({plane.switched_off_by}), mode {plane.mode}")
        self.until(lambda: not plane.beyond, "to come back into the cage")
        self.report("back in the cage")


def unit(start: Point, end: Point) -> Point:
    """Unit vector from one point to another."""
    length = math.dist(start, end)
    return (end[0] - start[0]) / length, (end[1] - start[1]) / length


def along(point: Point, direction: tuple[float, ...], way: float) -> Point:
    """The point at a distance in a direction."""
    return point[0] + way * direction[0], point[1] + way * direction[1]


def passed(here: Point, point: Point, direction: Point) -> bool:
    """Whether a point lies behind, relative to a direction."""
    return (here[0] - point[0]) * direction[0] + (here[1] - point[1]) * direction[1] > 0.0


def main() -> int:
    """Run the program; return the exit code."""
    parser = argparse.ArgumentParser(description="Write letters in the sky, with an excursion out of the cage.")
    parser.add_argument("--word", default="ROS", help=f"of the letters {', '.join(LETTERS)} (default ROS)")
    parser.add_argument("--plane", type=int, help="number of the plane (default: the first)")
    parser.add_argument("--address", default="127.0.0.1", help="address of Ground Control")
    parser.add_argument("--ports", type=int, nargs=2, default=(10000, 10001), metavar=("PORT_IN", "PORT_OUT"))
    parser.add_argument("--airspeed", type=float, default=AIRSPEED, metavar="M/S", help=f"default {AIRSPEED:g}")
    parser.add_argument("--echo", action="store_true", help="print the waypoints that are sent")
    options = parser.parse_args()
    unknown = set(options.word) - set(LETTERS)
    if unknown or not options.word:
        parser.error(f"argument --word: '{options.word}' given; allowed: letters {', '.join(LETTERS)}")
    ground = GroundControl(options.address, *options.ports)
    try:
        plane = ground.plane(ground.planes()[0] if options.plane is None else options.plane)
        writer = Writer(ground, plane, airspeed=options.airspeed, echo=options.echo)
        writer.report(f"wait for plane {plane.number} to be airborne in Waypoint mode")
        writer.until(lambda: plane.mode == WAYPOINT and plane.values["altitude"] > 0.5 * ALTITUDE, "to take off")
        for place, letter in enumerate(options.word):
            if place == len(options.word) - 1:
                writer.break_out()
            writer.write(letter, (CORNER[0], CORNER[1] + place * (WIDTH + GAP)))
        writer.report("hand the plane back")
        plane.disengage()
        writer.until(lambda: plane.mode != PACKET_TARGET, "to hand the plane back")
        writer.report("done")
    except GaveUpError as reason:
        print(f"failed: {reason}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print(
            "interrupted; Ground Control takes the plane back when fly() commands stop",
            file=sys.stderr,
            flush=True,
        )
        return 130
    finally:
        ground.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
