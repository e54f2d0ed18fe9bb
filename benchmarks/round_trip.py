"""Round-trip time of a datagram that another machine sends back: what a step over the network takes at least.

python -m benchmarks.round_trip echo ADDRESS
python -m benchmarks.round_trip ADDRESS
"""

from __future__ import annotations

import socket
import sys
import time
from statistics import median

_PORT = 7777
_COUNT, _WARM_UP = 1000, 100

# As long as an IMU message, the longest of those that a step waits for.
_PACKET = bytes(324)

_TIMEOUT_S = 5.0


def echo(address: str) -> None:
    """Send every datagram back to its sender."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, _PORT))
        print("ready", flush=True)
        while True:
            server.sendto(*server.recvfrom(len(_PACKET)))


def round_trip_us(address: str) -> float:
    """Median round-trip time of datagrams to the echo at an address, us.

    Raises:
        TimeoutError: a datagram did not come back.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(_TIMEOUT_S)
        client.connect((address, _PORT))
        took: list[float] = []
        for _ in range(_WARM_UP + _COUNT):
            began = time.perf_counter()
            client.send(_PACKET)
            client.recv(len(_PACKET))
            took.append(time.perf_counter() - began)
    return 1e6 * median(took[_WARM_UP:])


if __name__ == "__main__":
    if sys.argv[1] == "echo":
        echo(sys.argv[2])
    print(round_trip_us(sys.argv[1]))
