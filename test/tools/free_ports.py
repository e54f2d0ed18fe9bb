"""Ports for servers in tests, including tests that run in parallel."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from pathlib import Path

# A ROS domain has 250 ports, of which DDS uses the first 50 for 20 participants (DDSI-RTPS 2.5, 9.6.2). The blocks end
# below Linux's ephemeral ports, of which DDS uses some, too.
_BLOCK = 50
_BLOCKS = [7400 + 250 * domain + offset for domain in range(11, 101) for offset in (100, 150, 200)]


def free_ports(count: int = 1, *, apart: int = 1) -> list[int]:
    """Unused TCP and UDP ports of this machine, which are not given to any other test for a while.

    Args:
        count: number of ports.
        apart: difference between successive ports; ArduPilot's ports are 10 apart.
    """
    while True:
        first = _next_block()
        ports = [first + apart * k for k in range(count)]
        assert ports[-1] < first + _BLOCK
        if all(_is_free(port, kind) for port in ports for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)):
            return ports


def _next_block() -> int:
    """First port of the block after the last one given, by any process."""
    with (Path(tempfile.gettempdir()) / f"test-ports-{os.getuid()}").open("a+") as last:
        fcntl.flock(last, fcntl.LOCK_EX)
        last.seek(0)
        index = (int(last.read() or -1) + 1) % len(_BLOCKS)
        last.truncate(0)
        last.write(str(index))
    return _BLOCKS[index]


def _is_free(port: int, kind: socket.SocketKind) -> bool:
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
