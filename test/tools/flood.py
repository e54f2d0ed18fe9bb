"""Send garbage, and frames of an unwanted ArduPilot, to a UDP port at a steady rate until killed.

python test/tools/flood.py PORT PACKETS_PER_SECOND
"""

from __future__ import annotations

import itertools
import socket
import sys
import time
from pathlib import Path

# The program is started without the tests' search path.
sys.path.append(str(Path(__file__).parents[2] / "docs/examples/ardupilot_stand_in"))

from ardupilot_frames import servo_frame
from mutated_frames import mutated_frames

# Shorter sleeps are not accurate, s.
BURST_S = 1e-3


def main() -> None:
    """Send datagrams until killed."""
    port, rate = int(sys.argv[1]), int(sys.argv[2])
    frame = servo_frame(400, 7, [2000] * 16)
    no_rate = servo_frame(0, 7, [2000] * 16)
    chosen = [datagram for k in range(1000) for datagram in (frame, no_rate, frame[:17], b"\0" * 40, frame + frame)]
    datagrams = itertools.cycle([*chosen, *mutated_frames(3, 5000)])
    burst = max(1, round(rate * BURST_S))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        to = ("127.0.0.1", port)
        due_s = time.monotonic()
        while True:
            for datagram in itertools.islice(datagrams, burst):
                sender.sendto(datagram, to)
            due_s += burst / rate
            # Datagrams missed on a busy machine are not sent later.
            due_s = max(due_s, time.monotonic() - 0.1)
            time.sleep(max(0.0, due_s - time.monotonic()))


if __name__ == "__main__":
    main()
