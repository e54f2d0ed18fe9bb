"""Attack ZeroMQ ports until killed.

python test/tools/zeromq_flood.py subscriptions PORT      subscribe to long topics, then receive a message
python test/tools/zeromq_flood.py connections PORT...     connect, and send random bytes
"""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import sys
from collections.abc import Iterator

SUBSCRIPTIONS = 20_000
TOPIC_LENGTH = 250

MOST_MIB = 16.0
"""Memory that the attacked program may use more than before, MiB; the allocator's own memory varies by a few."""


def subscribe(port: int) -> None:
    """Subscribe to many long topics, and last to AUV 0; print a line after the first message."""
    import zmq

    made = zmq.Context().socket(zmq.SUB)
    # Otherwise, the client would drop most subscriptions.
    made.setsockopt(zmq.SNDHWM, 0)
    chance = random.Random(1)
    for _ in range(SUBSCRIPTIONS):
        made.subscribe(chance.randbytes(TOPIC_LENGTH))
    made.subscribe(b"\0")
    made.connect(f"tcp://127.0.0.1:{port}")
    made.recv_multipart()
    print("received", flush=True)
    sys.stdin.read()


def connect(ports: list[int]) -> None:
    """Connect to the ports in turn as fast as possible, and send random bytes."""
    chance = random.Random(2)
    while True:
        for port in ports:
            with socket.socket() as one, contextlib.suppress(OSError):
                one.connect(("127.0.0.1", port))
                one.sendall(chance.randbytes(100))


@contextlib.contextmanager
def attack(kind: str, *ports: int) -> Iterator[subprocess.Popen[str]]:
    """Run this file as a program; its standard output can be read."""
    arguments = [sys.executable, __file__, kind, *map(str, ports)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as made:
        try:
            yield made
        finally:
            made.kill()


def main() -> None:
    """Attack until killed."""
    ports = [int(text) for text in sys.argv[2:]]
    if sys.argv[1] == "subscriptions":
        subscribe(ports[0])
    else:
        connect(ports)


if __name__ == "__main__":
    main()
