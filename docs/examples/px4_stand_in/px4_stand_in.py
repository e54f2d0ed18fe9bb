"""Stand-in for PX4's SITL: connects, boots and answers as PX4 does, and flies a quadrotor of the simulator.

    python docs/examples/px4_stand_in/px4_stand_in.py --port 4560

The program prints each phase of the flight, and ends after the landing. It has no estimator: it flies by the true
state that PX4 requests for its log, and by the gyro. The pilot is that of ArduPilot's stand-in. The program exits at
the first message that PX4 would not read. It needs only Python.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import px4_frames

sys.path.append(str(Path(__file__).resolve().parents[1] / "ardupilot_stand_in"))

from ardupilot_lines import Reading
from copter_pilot import CopterPilot

from ardupilot_stand_in import Logbook

# Of one degree of latitude, m.
DEGREE_M = 111_194.9

RETRY_S = 0.05
NOTE_AFTER_S = 5.0
IMU_BITS = 0x3F

# The pilot's motors are front right, rear left, front left, rear right; those of the vehicle front right, rear right,
# rear left, front left.
ORDER = (0, 3, 1, 2)


class StandIn:
    """PX4's side of the connection: one answer per message with IMU readings, once it has booted.

    Attributes:
        pilot: flies the vehicle.
        steps: number of messages with IMU readings.
        answers: number of outputs sent.
        time_us: time of the last message.
    """

    def __init__(self, pilot: CopterPilot, book: Logbook, boot_steps: int, interval_us: float = 1.0) -> None:
        """`boot_steps` messages are not answered; the true state is requested every `interval_us`."""
        self.pilot, self._book, self._boot_steps, self._interval_us = pilot, book, boot_steps, interval_us
        self.steps = self.answers = self.time_us = self._sequence = 0
        self._reader = px4_frames.Reader()
        self._state: px4_frames.State | None = None
        self._home: px4_frames.State | None = None
        self._socket = socket.socket()

    def connect(self, address: str, port: int) -> bool:
        """Try to connect; return whether that succeeded."""
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            made.connect((address, port))
        except OSError:
            made.close()
            return False
        made.settimeout(0.5)
        self._socket = made
        self._send(px4_frames.heartbeat(self._sequence))
        self._send(px4_frames.interval_request(self._interval_us, self._sequence))
        return True

    def work(self) -> bool:
        """Answer what arrives within half a second; return whether the connection still exists.

        Raises:
            px4_frames.FrameError: PX4 would not read the message.
        """
        try:
            data = self._socket.recv(1 << 16)
        except TimeoutError:
            return True
        except ConnectionResetError:
            return False
        for message in self._reader.messages(data):
            if isinstance(message, px4_frames.State):
                self._state = message
            else:
                self._answer(message)
        return bool(data)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _send(self, data: bytes) -> None:
        self._sequence += 1
        self._socket.sendall(data)

    def _answer(self, sensor: px4_frames.Sensor) -> None:
        dt = (sensor.time_us - self.time_us) * 1e-6 if self.steps else 0.0
        self.time_us = sensor.time_us
        self.steps += 1
        if sensor.updated & IMU_BITS != IMU_BITS or self.steps <= self._boot_steps:
            return
        controls = [0.0] * 4
        if self._state is not None:
            now = self._reading(sensor, self._state)
            pulses_us = self.pilot.command(now, dt)
            self._book(now)
            controls = [(pulses_us[motor] - 1000) / 1000.0 for motor in ORDER]
        self.answers += 1
        self._send(px4_frames.outputs(sensor.time_us, controls, self._sequence))

    def _reading(self, sensor: px4_frames.Sensor, state: px4_frames.State) -> Reading:
        home = self._home = self._home or state
        north = (state.latitude_e7 - home.latitude_e7) * 1e-7 * DEGREE_M
        shrunk = math.cos(math.radians(home.latitude_e7 * 1e-7))
        east = (state.longitude_e7 - home.longitude_e7) * 1e-7 * DEGREE_M * shrunk
        position = (north, east, (home.altitude_mm - state.altitude_mm) * 1e-3)
        return Reading(sensor.time_us * 1e-6, sensor.gyro, sensor.accel, position, state.velocity, state.quaternion)


def main() -> None:
    """Run the program."""
    options = _parser().parse_args()
    print_line = (lambda text: None) if options.json else (lambda text: print(text, flush=True))
    pilot = CopterPilot()
    book = Logbook(pilot, print_line)
    stand_in = StandIn(pilot, book, options.boot_steps)
    ended = noted = False

    def end(*_: object) -> None:
        nonlocal ended
        ended = True

    signal.signal(signal.SIGTERM, end)
    port, began_s = options.port + options.instance, time.monotonic()
    try:
        while not ended and not stand_in.connect(options.address, port):
            if not noted and time.monotonic() > began_s + NOTE_AFTER_S:
                noted = True
                print(f"no connection to {options.address}:{port} yet; trying again", file=sys.stderr, flush=True)
            time.sleep(RETRY_S)
        while not ended and not pilot.is_done:
            if not stand_in.work():
                sys.exit(f"the simulator closed the connection in phase '{pilot.phase}'")
        summary = _summary(stand_in, book)
        print(json.dumps(summary) if options.json else _in_words(summary), flush=True)
        if options.linger:
            print_line(f"{summary['time_s']:9.3f} s  done")
        while options.linger and not ended and stand_in.work():
            pass
    except KeyboardInterrupt:
        print(f"interrupted in phase '{pilot.phase}'", file=sys.stderr, flush=True)
        sys.exit(130)
    finally:
        stand_in.close()


def _summary(stand_in: StandIn, book: Logbook) -> dict[str, Any]:
    return {
        "landed": stand_in.pilot.is_done,
        "time_s": stand_in.time_us * 1e-6,
        "steps": stand_in.steps,
        "answers": stand_in.answers,
        **book.figures,
    }


def _in_words(summary: dict[str, Any]) -> str:
    return (
        "flown in {time_s:.1f} s: {height_m:.2f} m high, {distance_m:.1f} m away, landed {off_m:.2f} m from the start "
        "at {sink_mps:.2f} m/s; {answers} answers to {steps} messages"
    ).format(**summary)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="px4_stand_in.py", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--address", default="127.0.0.1", help="of the simulator")
    parser.add_argument("--port", type=int, default=4560, help="TCP port of instance 0 (default 4560)")
    parser.add_argument("--instance", type=int, default=0, help="instance I connects to port + I")
    parser.add_argument("--boot-steps", type=int, default=200, help="messages without an answer in the beginning")
    parser.add_argument("--linger", action="store_true", help="go on after the landing, until SIGTERM")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON, and nothing else")
    return parser


if __name__ == "__main__":
    main()
