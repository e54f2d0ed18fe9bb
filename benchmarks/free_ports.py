"""Ports of this machine that are free for TCP and UDP."""

from __future__ import annotations

import contextlib
import socket


def free_ports(count: int) -> list[int]:
    """Different ports; another process may take one before it is used."""
    with contextlib.ExitStack() as probes:
        ports: list[int] = []
        while len(ports) < count:
            stream = probes.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            stream.bind(("127.0.0.1", 0))
            datagrams = probes.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                datagrams.bind(stream.getsockname())
                ports.append(int(stream.getsockname()[1]))
        return ports
