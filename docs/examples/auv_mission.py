"""Mission for the small AUV through the AUV protocol: dive, follow a line, pass a gate, surface in a ring.

Start the simulator in one terminal and this program in another; it needs pyzmq, numpy and opencv-python-headless, but
not the simulator's package:

    rosflight_py_sim sim --vehicle auv
    python auv_mission.py

All control loops run once per telemetry message, 60 times a second of the AUV's time, so neither the simulation's
speed nor this program's affects the result. Exit code 0: every part completed, by the program's own measurements;
1: not completed, or no telemetry; 130: Ctrl-C.
"""

from __future__ import annotations

import argparse
import math
import struct
import sys
import time
from collections.abc import Iterator

import cv2
import numpy as np
import zmq

RATE_HZ = 60.0
CRUISE_DEPTH = 2.0
POOL_DEPTH = 3.9

# Ranges of hue (0 to 180), saturation and value of the pool's paints under water.
ORANGE = ((2, 90, 60), (19, 255, 255))
GREEN = ((45, 90, 40), (80, 255, 255))
PURPLE = ((130, 60, 40), (170, 255, 255))

# Pixels to an image's centre, and pixels per tangent of an angle (images are 80 degrees wide).
MIDDLE_X, MIDDLE_Y, FOCAL = 159.5, 119.5, 190.7

# Least distance (pixels) of two posts that count as a gate, and of two to aim between.
LEAST_GATE, NEAR_GATE = 40, 100

# Longest duration of any part (s); a longer one indicates a failure.
TIMEOUT = 60.0

# Time without telemetry (s of system time) until a note, and until the program gives up; a simulation may have to
# compile first.
NOTE_AFTER, SILENCE = 5.0, 180.0


class LostError(RuntimeError):
    """The object of the current part is not visible, or the simulation is silent."""


class Loop:
    """A PID loop, run once per telemetry message: from an error to a power within a limit."""

    def __init__(self, proportional: float, integral: float, derivative: float, limit: float) -> None:
        self._gains, self._limit, self._sum = (proportional, integral / RATE_HZ, derivative), limit, 0.0

    def __call__(self, error: float, rate: float) -> float:
        """Power for an error that decreases by `rate` per second."""
        proportional, integral, derivative = self._gains
        wanted = proportional * error + self._sum - derivative * rate
        # No integration while the output is limited.
        if abs(wanted) < self._limit:
            self._sum += integral * error
        return float(np.clip(wanted, -self._limit, self._limit))


class Auv:
    """Client of the protocol, with loops that hold depth and heading.

    Attributes:
        time: seconds since the first telemetry message.
        x, y: position, m east and north.
        velocity: m/s east and north, (2,).
        depth: m; yaw: degrees, clockwise from north.
        front, bottom: newest images of the cameras, blue green red.
    """

    def __init__(self, auv_id: int, address: str, ports: tuple[int, int, int]) -> None:
        context = zmq.Context()
        self._id = bytes([auv_id])
        self._there = f"tcp://{address}:{ports[2]}"
        self._images = self._connect(context.socket(zmq.SUB), address, ports[0])
        self._thrusters = self._connect(context.socket(zmq.PUSH), address, ports[1])
        self._telemetry = self._connect(context.socket(zmq.SUB), address, ports[2])
        self.time = -1.0 / RATE_HZ
        self.x = self.y = self.depth = self.yaw = 0.0
        self.front = self.bottom = np.zeros((240, 320, 3), np.uint8)
        self.velocity = np.zeros(2)
        self._sink_rate = self._turn_rate = 0.0
        self._sinking, self._turning = Loop(250.0, 40.0, 150.0, 100.0), Loop(0.8, 0.1, 0.5, 40.0)

    def begin(self) -> None:
        """Wait for telemetry; rates are known from the second message on."""
        self.power(0, 0, 0, 0)
        self.power(0, 0, 0, 0)

    def _connect(self, socket: zmq.Socket, address: str, port: int) -> zmq.Socket:
        if socket.type == zmq.SUB:
            socket.subscribe(self._id)
        socket.connect(f"tcp://{address}:{port}")
        return socket

    def power(self, left: float, right: float, side: float, vertical: float) -> None:
        """Set the thrusters (-100 to 100), and wait for the next telemetry message."""
        self._send(*(int(np.clip(round(power), -100, 100)) for power in (left, right, side, vertical)))
        began, noted = time.monotonic(), False
        while not self._telemetry.poll(200):
            # Lets a simulation that waits for its clients continue: "leave all thrusters as they are".
            self._send(-127, -127, -127, -127)
            silent = time.monotonic() - began
            if silent > SILENCE:
                raise LostError(f"no telemetry from {self._there} within {SILENCE:g} s")
            if silent > NOTE_AFTER and not noted:
                noted = True
                print(f"no telemetry from {self._there} yet; waiting up to {SILENCE:g} s", file=sys.stderr, flush=True)
        x, y, depth, yaw = self.x, self.y, self.depth, self.yaw
        self.x, self.y, z, self.yaw, _, _ = struct.unpack("<6f", self._telemetry.recv_multipart()[1])
        self.depth = -z
        self.velocity = RATE_HZ * np.array([self.x - x, self.y - y])
        self._sink_rate = RATE_HZ * (self.depth - depth)
        self._turn_rate = RATE_HZ * wrapped(self.yaw - yaw)
        self.time += 1.0 / RATE_HZ
        while self._images.poll(0):
            _, front, bottom = self._images.recv_multipart()
            images = [cv2.imdecode(np.frombuffer(jpeg, np.uint8), 1) for jpeg in (front, bottom)]
            # OpenCV gives None for a damaged image.
            if not any(image is None for image in images):
                self.front, self.bottom = images

    def _send(self, *powers: int) -> None:
        self._thrusters.send(struct.pack("<Bbbbb", self._id[0], *powers))

    def steer(self, depth: float, yaw: float, ahead: float = 0.0, sideways: float = 0.0) -> None:
        """Hold depth (m) and yaw (degrees) until the next telemetry message, with forward and sideways power."""
        down = self._sinking(depth - self.depth, self._sink_rate)
        turn = self._turning(wrapped(yaw - self.yaw), self._turn_rate)
        self.power(ahead + turn, ahead - turn, sideways, -down)

    def close(self) -> None:
        """Stop the thrusters, and wait until the command is sent."""
        self._send(0, 0, 0, 0)
        for socket in (self._images, self._thrusters, self._telemetry):
            socket.close(linger=1000)


def wrapped(degrees: float) -> float:
    """Equivalent angle from -180 to 180 degrees."""
    return math.remainder(degrees, 360.0)


def seen(image: np.ndarray, colour: tuple) -> np.ndarray:
    """Mask of the pixels of a colour, without isolated ones."""
    mask = cv2.inRange(cv2.cvtColor(image, cv2.COLOR_BGR2HSV), *colour)
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))


def centre(mask: np.ndarray, least: int) -> tuple[float, float] | None:
    """Centre (x, y) of a mask's pixels; None for fewer than `least`."""
    moments = cv2.moments(mask, binaryImage=True)
    if moments["m00"] < least:
        return None
    return moments["m10"] / moments["m00"], moments["m01"] / moments["m00"]


def gate(front: np.ndarray) -> tuple[float, float] | None:
    """Centre and width (pixels) of the opening between two green posts."""
    tall = (seen(front, GREEN)[100:] > 0).sum(axis=0) > 50
    columns = np.flatnonzero(tall)
    gaps = np.diff(columns)
    if len(gaps) == 0 or gaps.max() < LEAST_GATE:
        return None
    left, right = columns[np.argmax(gaps) :][:2]
    return 0.5 * (left + right), float(right - left)


def dive(auv: Auv) -> Iterator[str]:
    """Descend to the cruising depth, without turning."""
    yaw = auv.yaw
    while abs(auv.depth - CRUISE_DEPTH) > 0.15:
        auv.steer(CRUISE_DEPTH, yaw)
        yield f"{auv.depth:.1f} m"


def follow_line(auv: Auv, *, until_gate: bool) -> Iterator[str]:
    """Follow the orange line on the floor until the gate is near, or until it ends over the purple disc."""
    yaw = auv.yaw
    while True:
        line = seen(auv.bottom, ORANGE)
        far, near = centre(line[:80], 60), centre(line[80:160], 60)
        bearing = math.degrees(math.atan2(far[0] - MIDDLE_X, MIDDLE_Y - far[1])) if far else 0.0
        yaw = auv.yaw + bearing if far else yaw
        opening = gate(auv.front)
        if until_gate and opening and opening[1] > NEAR_GATE:
            return
        if not until_gate and centre(seen(auv.bottom, PURPLE), 80):
            return
        sideways = 0.5 * (near[0] - MIDDLE_X) if near else 0.0
        auv.steer(
            CRUISE_DEPTH, yaw, ahead=60.0 if abs(bearing) < 15.0 else 20.0, sideways=np.clip(sideways, -40.0, 40.0)
        )
        yield f"line {bearing:+.0f} deg"


def pass_gate(auv: Auv) -> Iterator[str]:
    """Head for the middle of the opening, until its posts have passed on both sides."""
    yaw, missed = auv.yaw, 0
    while missed < 20:
        opening = gate(auv.front)
        missed = 0 if opening else missed + 1
        if opening:
            yaw = auv.yaw + math.degrees(math.atan2(opening[0] - MIDDLE_X, FOCAL))
        auv.steer(CRUISE_DEPTH, yaw, ahead=60.0)
        yield f"gate {opening[1]:.0f} pixels wide" if opening else "gate abreast"


class OverDisc:
    """Holds the AUV over the purple disc, located from image and telemetry."""

    def __init__(self, auv: Auv) -> None:
        self._auv = auv
        self._yaw: float | None = None
        self._ahead, self._aside = Loop(100.0, 20.0, 80.0, 50.0), Loop(100.0, 20.0, 80.0, 50.0)
        self._place: np.ndarray | None = None

    def hold(self, depth: float) -> float:
        """Steer for one telemetry message; return the distance from the disc, m."""
        auv = self._auv
        self._yaw = auv.yaw if self._yaw is None else self._yaw
        sine, cosine = math.sin(math.radians(auv.yaw)), math.cos(math.radians(auv.yaw))
        to_east_north = np.array([[sine, cosine], [cosine, -sine]])  # from ahead and starboard
        disc = centre(seen(auv.bottom, PURPLE), 40)
        if disc is not None:
            metres = (POOL_DEPTH - auv.depth) / FOCAL
            seen_at = (auv.x, auv.y) + to_east_north @ (metres * np.array([MIDDLE_Y - disc[1], disc[0] - MIDDLE_X]))
            self._place = seen_at if self._place is None else self._place + 0.05 * (seen_at - self._place)
        if self._place is None:
            raise LostError("no purple disc in the image")
        off = to_east_north.T @ (self._place - (auv.x, auv.y))
        speed = to_east_north.T @ auv.velocity
        auv.steer(depth, self._yaw, self._ahead(off[0], speed[0]), self._aside(off[1], speed[1]))
        return float(np.hypot(*off))

    def arrive(self) -> Iterator[str]:
        """Move over the disc, until the AUV has been there for half a second."""
        centred = 0
        while centred < 0.5 * RATE_HZ:
            off = self.hold(CRUISE_DEPTH)
            centred = centred + 1 if off < 0.15 else 0
            yield f"disc {off:.2f} m off"

    def rise(self) -> Iterator[str]:
        """Ascend, until the AUV has been afloat for a second."""
        depth, afloat = self._auv.depth, 0
        while afloat < RATE_HZ:
            depth = max(depth - 0.2 / RATE_HZ, 0.0)
            self.hold(depth)
            afloat = afloat + 1 if self._auv.depth < 0.2 else 0
            yield f"{self._auv.depth:.1f} m"


def main() -> int:
    """Run the mission; return the exit code."""
    parser = argparse.ArgumentParser(description="Dive, follow the line, pass the gate, surface in the ring.")
    parser.add_argument("--id", type=int, default=0, help="id of the AUV")
    parser.add_argument("--address", default="127.0.0.1", help="address of the simulator")
    ports = ("PORT_OF_IMAGES", "PORT_OF_THRUSTERS", "PORT_OF_TELEMETRY")
    parser.add_argument("--ports", type=int, nargs=3, default=(5555, 5556, 5557), metavar=ports)
    parser.add_argument("--linger", action="store_true", help="stay afloat after the mission, until SIGTERM")
    options = parser.parse_args()
    auv = Auv(options.id, options.address, tuple(options.ports))
    disc = OverDisc(auv)
    done = False
    parts = (
        ("dive", dive(auv)),
        ("follow the line", follow_line(auv, until_gate=True)),
        ("pass the gate", pass_gate(auv)),
        ("follow the line again", follow_line(auv, until_gate=False)),
        ("centre over the disc", disc.arrive()),
        ("surface in the ring", disc.rise()),
    )
    try:
        auv.begin()
        for name, part in parts:
            print(f"{auv.time:5.1f} s  {name}", flush=True)
            began = auv.time
            for doing in part:
                if auv.time - began > TIMEOUT:
                    raise LostError(f"{name} takes too long: {doing}")
        print(f"{auv.time:5.1f} s  done", flush=True)
        done = True
        while options.linger:
            disc.hold(0.0)
    except LostError as reason:
        print(f"{auv.time:5.1f} s  failed: {reason}", flush=True)
        return 1
    except KeyboardInterrupt:
        print(f"{auv.time:5.1f} s  interrupted at a depth of {auv.depth:.1f} m, thrusters off", flush=True)
        return 0 if done else 130
    finally:
        auv.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
