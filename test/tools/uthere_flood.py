"""Send commands, requests and garbage of uThere's protocol to a UDP port at a steady rate until killed.

python test/tools/uthere_flood.py PORT PACKETS_PER_SECOND
"""

from __future__ import annotations

import itertools
import socket
import sys
import time

PACKETS = [
    b"fly(plane=12345,heading=265,airspeed=19.5,climb=5.0)",
    b"request_plane_list",
    b"data_request(plane=12345,variable=all,interval=0.02)",
    b"data_request(plane=12345,variable=nothing,interval=0)",
    b"fly(plane=12345,roll=nan,pitch=10.3,throttle=65)",
    b"waypoint_clear_all;" * 400,
    b"\xff" * 3000,
    b"(" * 60000,
    b"",
]

# Shorter sleeps are not accurate, s.
BURST_S = 1e-3


def main() -> None:
    """Send packets until killed."""
    port, rate = int(sys.argv[1]), int(sys.argv[2])
    packets = itertools.cycle(PACKETS)
    burst = max(1, round(rate * BURST_S))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        # An address that no other program uses.
        sender.bind(("127.0.0.7", 0))
        due_s = time.monotonic()
        while True:
            for packet in itertools.islice(packets, burst):
                sender.sendto(packet, ("127.0.0.1", port))
            due_s += burst / rate
            # Packets missed on a busy machine are not sent later.
            due_s = max(due_s, time.monotonic() - 0.1)
            time.sleep(max(0.0, due_s - time.monotonic()))


if __name__ == "__main__":
    main()
