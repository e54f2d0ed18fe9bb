"""Clients of every socket of a simulation that request data and never read it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

# Small (bytes), so that the operating system's buffers fill quickly.
_BUFFER = 4096

# System time within which a simulation opens its sockets, s.
_START_S = 90.0

_DATA = b"\n".join(b"data_request(plane=%d,variable=all,interval=0.02)" % plane for plane in (12345, 12346, 12347))


@contextlib.contextmanager
def silent_clients(ports: Mapping[str, int]) -> Iterator[list[str]]:
    """Connect the clients, and yield their names.

    Args:
        ports: of uthere_in, uthere_out, image, telemetry and page.
    """
    with contextlib.ExitStack() as closing:
        tcp = closing.enter_context(_connected(ports["uthere_in"]))
        tcp.sendall(_DATA + b"\n")
        # The front-end sends to a fixed port, which only one program per address can bind.
        udp = closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        udp.bind(("127.0.1.1", ports["uthere_out"]))
        udp.sendto(_DATA, ("127.0.0.1", ports["uthere_in"]))
        closing.enter_context(_subscriber(ports["image"]))
        closing.enter_context(_subscriber(ports["telemetry"]))
        closing.enter_context(_page(ports["page"]))
        yield ["uThere by TCP", "uThere by UDP", "AUV images", "AUV telemetry", "the page's websocket"]


def _retried(connect: Callable[[], Any]) -> Any:
    end_s = time.monotonic() + _START_S
    while True:
        try:
            return connect()
        except OSError:
            if time.monotonic() > end_s:
                raise
            time.sleep(0.2)


@contextlib.contextmanager
def _connected(port: int) -> Iterator[socket.socket]:
    def connect() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        try:
            made.connect(("127.0.0.1", port))
        except OSError:
            made.close()
            raise
        return made

    made = _retried(connect)
    with made:
        yield made


@contextlib.contextmanager
def _subscriber(port: int) -> Iterator[None]:
    import zmq

    context = zmq.Context()
    subscriber = context.socket(zmq.SUB)
    subscriber.setsockopt(zmq.RCVHWM, 1)
    subscriber.setsockopt(zmq.RCVBUF, _BUFFER)
    subscriber.connect(f"tcp://127.0.0.1:{port}")
    subscriber.subscribe(b"")
    try:
        yield
    finally:
        context.destroy(linger=0)


@contextlib.contextmanager
def _page(port: int) -> Iterator[None]:
    import viser
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    version = Subprotocol(f"viser-v{viser.__version__}")
    # The client reads a few messages into its queue; after that the socket's buffer fills.
    page = _retried(
        lambda: connect(
            f"ws://127.0.0.1:{port}",
            subprotocols=[version],
            max_queue=1,
            ping_interval=None,
        )
    )
    try:
        yield
    finally:
        # Closing waits for the messages that have not been read.
        threading.Thread(target=page.close, daemon=True).start()
