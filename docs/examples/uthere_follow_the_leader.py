"""One plane follows another, through uThere Ground Control's text protocol.

Start the simulator in one terminal and this program in another; besides uthere_client.py it has no dependencies:

    rosflight_py_sim sim --vehicle uthere --count 2
    python uthere_follow_the_leader.py

The follower's target is the leader's position some seconds ago, a little higher. With each update of the follower, five
times a second of its own time, it gets a fly() command: the leader's velocity at that position, plus a velocity
towards it in proportion to the distance. Ends on Ctrl-C, or after --seconds.
"""

from __future__ import annotations

import argparse
import bisect
import math
import sys
from collections import deque

from uthere_client import PACKET_TARGET, WAYPOINT, GaveUpError, GroundControl, Plane, offset

# Speed towards the target per metre of distance (1/s), and limits of the airspeed (m/s).
HASTE = 0.2
SLOWEST, FASTEST = 13.0, 25.0

# Time (s) a plane takes to turn to a new course: the commanded course is the one needed that much later.
TURNING = 0.4

# Length of the leader's stored path, s.
MEMORY = 60.0

SAY_EVERY = 5.0

# Longest wait for both planes to be airborne, s of the follower's time.
LONGEST_TAKE_OFF = 400.0

Point = tuple[float, float]


class Trail:
    """The leader's past positions, m north and east of an origin."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, float, float]] = deque()

    def add(self, time: float, place: Point) -> None:
        """Add the leader's position at a time."""
        if not self._points or time > self._points[-1][0]:
            self._points.append((time, *place))
        while self._points[0][0] < time - MEMORY:
            self._points.popleft()

    def at(self, time: float) -> tuple[Point, Point]:
        """Position and velocity (m/s north and east) at a time; before the first time, those at the first time."""
        after = min(max(bisect.bisect(self._points, (time,)), 1), len(self._points) - 1)
        (start, north, east), (end, next_north, next_east) = self._points[after - 1], self._points[after]
        velocity = (next_north - north) / (end - start), (next_east - east) / (end - start)
        since = max(time - start, 0.0)
        return (north + since * velocity[0], east + since * velocity[1]), velocity

    @property
    def is_known(self) -> bool:
        """Whether there are two positions, which a velocity needs."""
        return len(self._points) > 1


class Follower:
    """Steers one plane after another."""

    def __init__(self, leader: Plane, follower: Plane, delay: float, above: float) -> None:
        """`delay`: time behind the leader, s; `above`: height above the leader, ft."""
        self._leader, self._follower = leader, follower
        self._delay, self._above = delay, above
        self._origin = leader.place
        self._trail = Trail()
        self.off = math.inf

    def steer(self) -> None:
        """Command the follower; `off` becomes its distance (m) from the target."""
        leader, follower = self._leader, self._follower
        # The stamps of both planes come from one clock.
        self._trail.add(leader.stamp, offset(self._origin, leader.place))
        if not self._trail.is_known:
            return
        then = follower.stamp - self._delay
        place, velocity = self._trail.at(then)
        _, soon = self._trail.at(then + TURNING)
        here = offset(self._origin, follower.place)
        away = place[0] - here[0], place[1] - here[1]
        self.off = math.hypot(*away)
        wanted = soon[0] + HASTE * away[0], soon[1] + HASTE * away[1]
        # The distance ahead is closed by airspeed, whatever the wind.
        speed = max(math.hypot(*velocity), 1.0)
        ahead = (away[0] * velocity[0] + away[1] * velocity[1]) / speed
        follower.fly(
            course=math.degrees(math.atan2(wanted[1], wanted[0])),
            airspeed=min(max(leader.values["airspeed"] + HASTE * ahead, SLOWEST), FASTEST),
            altitude=leader.values["altitude"] + self._above,
        )


def main() -> int:
    """Run the program; return the exit code."""
    parser = argparse.ArgumentParser(description="Let one plane follow another.")
    parser.add_argument("--leader", type=int, help="number of the plane ahead (default: the first)")
    parser.add_argument("--follower", type=int, help="number of the plane behind (default: the second)")
    parser.add_argument("--delay", type=float, default=4.0, help="how far behind, s (default 4)")
    parser.add_argument("--above", type=float, default=30.0, help="how much higher, ft (default 30)")
    parser.add_argument("--seconds", type=float, default=math.inf, help="duration, in the plane's time")
    parser.add_argument("--address", default="127.0.0.1", help="address of Ground Control")
    parser.add_argument("--ports", type=int, nargs=2, default=(10000, 10001), metavar=("PORT_IN", "PORT_OUT"))
    options = parser.parse_args()
    ground = GroundControl(options.address, *options.ports)
    try:
        follow(ground, options)
    except GaveUpError as reason:
        print(f"failed: {reason}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("ended by Ctrl-C; Ground Control takes the follower back", file=sys.stderr, flush=True)
    finally:
        ground.close()
    return 0


def follow(ground: GroundControl, options: argparse.Namespace) -> None:
    """Wait for both planes, and steer the follower."""
    numbers = ground.planes()
    if len(numbers) < 2:
        raise GaveUpError(f"planes {numbers} found; two are needed")
    leader = ground.plane(numbers[0] if options.leader is None else options.leader)
    follower = ground.plane(numbers[1] if options.follower is None else options.follower)
    report(follower, f"wait for planes {leader.number} and {follower.number} to be airborne")
    began = follower.time
    while {leader.mode, follower.mode} - {WAYPOINT, PACKET_TARGET}:
        ground.wait()
        if follower.time - began > LONGEST_TAKE_OFF:
            raise GaveUpError(f"take-off takes too long: modes {leader.mode} and {follower.mode}")
    report(follower, f"plane {follower.number} follows plane {leader.number}")
    end = follower.time + options.seconds
    printed = steered = follower.time
    pursuit = Follower(leader, follower, options.delay, options.above)
    while follower.time < end:
        if not follower.is_engaged and not follower.beyond:
            follower.engage()
        if follower.time > steered:
            steered = follower.time
            pursuit.steer()
        if follower.time > printed + SAY_EVERY:
            printed = follower.time
            report(follower, f"{pursuit.off:.0f} m from its place")
        ground.wait()
    follower.disengage()
    report(follower, "done")


def report(plane: Plane, text: str) -> None:
    """Print the plane's time and a text."""
    print(f"{plane.time:5.1f} s  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
