"""Stand-in for ArduPilot's SITL: sends the same frames at the same times, and flies a vehicle of the simulator.

    python docs/examples/ardupilot_stand_in/ardupilot_stand_in.py --vehicle copter --port 9002

The program prints each phase of the flight, and ends after the landing. It checks every reply in two ways
(`ardupilot_lines.py`) and exits at the first reply that ArduPilot would misread. It has no estimator: the replies are
its only measurements. It needs only Python.
"""

from __future__ import annotations

import argparse
import json
import math
import select
import signal
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from ardupilot_frames import servo_frame
from ardupilot_lines import LineReader, Reading
from copter_pilot import CopterPilot
from plane_pilot import PlanePilot
from unreliable_line import UnreliableLine

# After its frames without outputs, ArduPilot sends a few more of them a little later.
_LATE_ZEROS = range(50, 54)

# ArduPilot limited to a multiple of real time works in bursts: it sleeps when it is ahead by this time.
_AHEAD_S = 5e-3

# ArduPilot ignores steps of at least this length for its pace.
_LONGEST_STEP_S = 0.1

# System time without a reply until a note, s.
_NOTE_AFTER_S = 5.0

_LONGEST_ANSWER = 65536


class Pilot(Protocol):
    """Computes pulse widths from replies."""

    phase: str

    @property
    def is_done(self) -> bool:
        """Whether the flight is over."""

    def command(self, now: Reading, dt: float) -> list[int]:
        """Pulse widths of the first channels, us, for the next `dt` seconds."""


PILOTS: dict[str, Callable[[], Pilot]] = {
    "copter": CopterPilot,
    "plane": PlanePilot,
    "elevon": lambda: PlanePilot(elevons=True),
}


class StandIn:
    """ArduPilot's side of the socket: one reply per frame; a frame without a reply is sent again.

    Attributes:
        count: frame_count of the frame that awaits a reply.
        rate_hz: its frame_rate: that of the last reply's step, moved towards SIM_RATE_HZ by at most 1 Hz.
        time_us: ArduPilot's clock: sum of the steps between timestamps, each truncated to whole microseconds.
        reading: newest reply; None before the first.
        counters: answers, resent (frames), frozen (replies without a time step), physics_resets (time went back) and
            long_steps.
    """

    def __init__(
        self,
        pilot: Pilot,
        *,
        port: int = 9002,
        instance: int = 0,
        address: str = "127.0.0.1",
        channels: int = 16,
        sim_rate_hz: int = 400,
        start_rate_hz: int = 0,
        boot_frames: int = 2100,
        resend_s: float = 1.1,
        speedup: float = 0.0,
        line: UnreliableLine | None = None,
        on_answer: Callable[[Reading], None] | None = None,
    ) -> None:
        """Open a socket on a free port, as ArduPilot does at each start.

        Args:
            pilot: flies the vehicle.
            port: port of instance 0; instance i sends to this plus 10 i.
            instance: as ArduPilot's option -I.
            address: address of the simulator.
            channels: 16 or 32 (SERVO_32_ENABLE).
            sim_rate_hz: SIM_RATE_HZ.
            start_rate_hz: frame_rate of the first frame, 1200 in ArduPilot; 0: SIM_RATE_HZ.
            boot_frames: number of initial frames with 0 us on all channels.
            resend_s: system time without a reply after which the frame is sent again.
            speedup: largest number of simulated seconds per second; 0: no limit.
            line: losses and delays of frames and replies; None: all arrive.
            on_answer: called with each reply.
        """
        self.pilot = pilot
        self.count = 0
        self.time_us = 0
        self.rate_hz = float(start_rate_hz or sim_rate_hz)
        self.reading: Reading | None = None
        self.counters: Counter[str] = Counter()
        self.fields: frozenset[str] = frozenset()
        self._sim_rate_hz = sim_rate_hz
        self._boot_frames = boot_frames
        self._resend_s = resend_s
        self._speedup = speedup
        self._line = line or UnreliableLine()
        self._on_answer = on_answer
        self._reader = LineReader()
        self._pwm_us = [0] * channels
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._to = (address, port + 10 * instance)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._began_s: float | None = None
        self._sent_s = 0.0

    @property
    def own_port(self) -> int:
        """UDP port from which the frames are sent; 0 before the first."""
        return int(self._socket.getsockname()[1])

    @property
    def frame(self) -> bytes:
        """The frame that awaits a reply."""
        # Truncated, not rounded: 599.9999 Hz are sent as 599.
        return servo_frame(int(self.rate_hz), self.count, self._pwm_us)

    def set_sim_rate(self, sim_rate_hz: int) -> None:
        """Change SIM_RATE_HZ in flight; the frame rate follows by 1 Hz per frame."""
        self._sim_rate_hz = sim_rate_hz

    def skip_frames(self, frames: int) -> None:
        """Increase the frame count without sending: frames that the simulator never receives."""
        self.count += frames

    def start(self) -> None:
        """Send the first frame."""
        self._send()

    def work(self, timeout_s: float = 0.0) -> bool:
        """Process a reply if one arrives within this time, and send the next frame; resend the frame if it is due.

        Returns:
            Whether a reply was processed.

        Raises:
            LineError: ArduPilot would misread the reply.
        """
        overdue_s = self._sent_s + self._resend_s
        wait_s = min(timeout_s, max(0.0, overdue_s - time.monotonic()))
        if self._poll.poll(wait_s * 1e3):
            datagram = self._receive()
            if datagram is not None and self._line.answer_arrives():
                self._take(datagram)
                return True
        elif time.monotonic() >= overdue_s:
            self.counters["resent"] += 1
            self._send()
        return False

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _receive(self) -> bytes | None:
        try:
            datagram, sender = self._socket.recvfrom(_LONGEST_ANSWER)
            # ArduPilot accepts datagrams from any sender; here a late one to an earlier socket's port is ignored.
            return datagram if sender == self._to else None
        # The simulator's port was closed when a frame arrived.
        except (BlockingIOError, ConnectionRefusedError):
            return None

    def _send(self) -> None:
        for datagram in self._line.arriving(self.frame):
            self._socket.sendto(datagram, self._to)
        self._sent_s = time.monotonic()

    def _take(self, datagram: bytes) -> None:
        reading = self._reader.read(datagram)
        self.fields = self._reader.fields
        dt = reading.timestamp - self.reading.timestamp if self.reading is not None else 0.0
        first, self.reading = self.reading is None, reading
        self.counters["answers"] += 1
        if dt > 0.0:
            self._advance(dt)
        elif not first:
            self.counters["physics_resets" if dt < 0.0 else "frozen"] += 1
        self.rate_hz = max(self.rate_hz - 1.0, min(float(self._sim_rate_hz), self.rate_hz + 1.0))
        self.count = (self.count + 1) % 2**32
        booted = self.counters["answers"] - self._boot_frames
        if booted < 0 or booted in _LATE_ZEROS:
            pulses = [0] * len(self._pwm_us)
        else:
            pulses = self.pilot.command(reading, max(0.0, dt))
        self._pwm_us[: len(pulses)] = pulses
        if self._on_answer is not None:
            self._on_answer(reading)
        self._pace()
        self._send()

    def _advance(self, dt: float) -> None:
        # A rounding error must not truncate a whole microsecond.
        self.time_us += int(dt * 1e6 + 1e-3)
        if dt >= _LONGEST_STEP_S:
            self.counters["long_steps"] += 1
            return
        self.rate_hz = _single(1.0 / dt)

    def _pace(self) -> None:
        if self._speedup == 0.0:
            return
        now_s = time.monotonic()
        if self._began_s is None:
            self._began_s = now_s - self.time_us * 1e-6 / self._speedup
        ahead_s = self.time_us * 1e-6 / self._speedup - (now_s - self._began_s)
        if ahead_s > _AHEAD_S:
            time.sleep(ahead_s)


def _single(value: float) -> float:
    """The nearest single-precision number."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


class Logbook:
    """Log of a flight, from the replies."""

    def __init__(self, pilot: Pilot, print_line: Callable[[str], None]) -> None:
        """`print_line` is called with a line of text for each phase."""
        self._pilot = pilot
        self._print_line = print_line
        self._phase = ""
        self._home: tuple[float, ...] = ()
        self._hover: list[float] = []
        self.phases: list[str] = []
        self.height_m = self.distance_m = self.sink_mps = self.off_m = 0.0

    def __call__(self, now: Reading) -> None:
        """Log a reply."""
        self._home = self._home or now.position
        north, east, down = (p - h for p, h in zip(now.position, self._home, strict=True))
        self.off_m = math.hypot(north, east)
        self.height_m, self.distance_m = max(self.height_m, -down), max(self.distance_m, self.off_m)
        # The last sink rate before the touch-down.
        if -down > 0.3:
            self.sink_mps = now.velocity[2]
        if self._pilot.phase == "hover":
            self._hover.append(-down)
        if self._phase != self._pilot.phase:
            self._phase = self._pilot.phase
            self.phases.append(self._phase)
            self._print_line(
                f"{now.timestamp:9.3f} s  {self._phase:<10} {north:8.2f} N {east:8.2f} E {-down:7.2f} m up"
            )

    @property
    def figures(self) -> dict[str, Any]:
        """The log's values, for JSON."""
        return {
            "phases": self.phases,
            "height_m": self.height_m,
            "distance_m": self.distance_m,
            "off_m": self.off_m,
            "sink_mps": self.sink_mps,
            "hover_m": [min(self._hover), max(self._hover)] if self._hover else [],
        }

    def summary(self, stand_in: StandIn) -> dict[str, Any]:
        """The log's values and those of the stand-in, for JSON."""
        return {
            "landed": self._pilot.is_done,
            "time_s": stand_in.reading.timestamp if stand_in.reading else 0.0,
            **self.figures,
            "frames": stand_in.count,
            "clock_s": stand_in.time_us * 1e-6,
            "rate_hz": stand_in.rate_hz,
            "fields": sorted(stand_in.fields),
            **{name: stand_in.counters[name] for name in ("resent", "frozen", "physics_resets", "long_steps")},
        }


def main() -> None:
    """Run the program."""
    options = _parser().parse_args()
    print_line = (lambda text: None) if options.json else (lambda text: print(text, flush=True))
    pilot = PILOTS[options.vehicle]()
    book = Logbook(pilot, print_line)
    stand_in = StandIn(
        pilot,
        port=options.port,
        instance=options.instance,
        address=options.address,
        channels=options.channels,
        sim_rate_hz=options.rate,
        boot_frames=options.boot_frames,
        speedup=options.speedup,
        line=UnreliableLine(options.loss, options.doubling, options.delay, options.answer_loss),
        on_answer=book,
    )
    ended = False

    def end(*_: object) -> None:
        nonlocal ended
        ended = True

    signal.signal(signal.SIGTERM, end)
    began_s = time.monotonic()
    try:
        stand_in.start()
        noted = False
        while not pilot.is_done and not ended:
            stand_in.work(0.5)
            if stand_in.reading is None and not noted and time.monotonic() > began_s + _NOTE_AFTER_S:
                noted = True
                port = options.port + 10 * options.instance
                print(
                    f"no reply from {options.address}:{port} yet; waiting, as ArduPilot does",
                    file=sys.stderr,
                    flush=True,
                )
        summary = book.summary(stand_in) | {"wall_s": time.monotonic() - began_s}
        print(json.dumps(summary) if options.json else _in_words(summary), flush=True)
        if options.linger:
            print_line(f"{summary['time_s']:9.3f} s  done")
        while options.linger and not ended:
            stand_in.work(0.5)
    except KeyboardInterrupt:
        print(f"interrupted in phase '{pilot.phase}'", file=sys.stderr, flush=True)
        sys.exit(130)
    finally:
        stand_in.close()


def _in_words(summary: dict[str, Any]) -> str:
    return (
        "flown in {time_s:.1f} s: {height_m:.2f} m high, {distance_m:.1f} m away, landed {off_m:.2f} m from the start "
        "at {sink_mps:.2f} m/s; {frames} frames, {resent} sent again, {frozen} answers without a step; {wall_s:.1f} s "
        "of system time"
    ).format(**summary)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ardupilot_stand_in.py", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--vehicle", choices=tuple(PILOTS), default="copter", help="what to fly (default copter)")
    parser.add_argument("--address", default="127.0.0.1", help="of the simulator")
    parser.add_argument("--port", type=int, default=9002, help="UDP port of instance 0 (default 9002)")
    parser.add_argument("--instance", type=int, default=0, help="instance I sends to port + 10 I")
    parser.add_argument("--channels", type=int, choices=(16, 32), default=16, help="servo outputs in a frame")
    parser.add_argument("--rate", type=int, default=400, help="SIM_RATE_HZ (default 400)")
    parser.add_argument("--boot-frames", type=int, default=2100, help="frames without outputs in the beginning")
    parser.add_argument("--speedup", type=float, default=0.0, help="times real time at the most (default 0: no limit)")
    parser.add_argument("--loss", type=float, default=0.0, help="share of the frames that are lost")
    parser.add_argument("--doubling", type=float, default=0.0, help="share of the frames that arrive twice")
    parser.add_argument("--delay", type=float, default=0.0, help="share of the frames that arrive again after the next")
    parser.add_argument("--answer-loss", type=float, default=0.0, help="share of the answers that are lost")
    parser.add_argument("--linger", action="store_true", help="go on after the landing, until SIGTERM")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON, and nothing else")
    return parser


if __name__ == "__main__":
    main()
