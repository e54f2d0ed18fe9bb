"""The viewer's web server answers only its own page, whatever a browser is made to request."""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from rosflight_py_sim.viewer.web.server import open_server, stop_server

TIMEOUT_S = 30.0

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    server = open_server("127.0.0.1", 0, "test")
    yield server
    stop_server(server)


def response(port: int, path: str = "/", **headers: str) -> tuple[int, str]:
    """Status and head of the reply to a request with these headers; {own} in them is the page's own."""
    lines = [
        f"{name.replace('_', '-')}: {text.replace('{own}', f'127.0.0.1:{port}')}" for name, text in headers.items()
    ]
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as client:
        client.sendall("\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode())
        received = b""
        while b"\r\n\r\n" not in received and (more := client.recv(1 << 16)):
            received += more
    head = received.partition(b"\r\n\r\n")[0].decode()
    return int(head.split()[1]), head


@pytest.mark.parametrize(
    "host", ["{own}", "localhost", "LOCALHOST:1", "localhost.:8642", "[::1]:8642", socket.gethostname()]
)
def test_page_is_served_under_addresses_of_this_machine(server: Any, host: str) -> None:
    status, head = response(server.get_port(), Host=host)
    assert status == 200
    assert "X-Frame-Options: SAMEORIGIN" in head
    assert response(server.get_port(), Host=host, Origin=f"http://{host}", **UPGRADE)[0] == 101


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8642", "evil.example:8642", "a@b", "[", ""],
)
@pytest.mark.parametrize("upgrade", [{}, UPGRADE])
def test_other_host_is_refused(server: Any, host: str, upgrade: dict[str, str]) -> None:
    assert response(server.get_port(), Host=host, Origin=f"http://{host}", **upgrade)[0] == 403


def test_request_without_host_or_with_two_is_refused(server: Any) -> None:
    port = server.get_port()
    assert response(port)[0] == 403
    assert response(port, Host="{own}\r\nHost: evil.example")[0] == 403


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://{own}", "http://127.0.0.1:1", "http://localhost", "null", "file://", "", "{own}"],
)
def test_page_of_another_origin_cannot_open_the_websocket(server: Any, origin: str) -> None:
    assert response(server.get_port(), Host="{own}", Origin=origin, **UPGRADE)[0] == 403


@pytest.mark.parametrize("path", ["/../../setup.cfg", "/%2e%2e/%2e%2e/setup.cfg", "//etc/passwd", "/..%5c..%5cx"])
def test_files_outside_of_the_page_are_not_served(server: Any, path: str) -> None:
    assert response(server.get_port(), path, Host="{own}")[0] == 404


def test_browser_cannot_publish_the_page_on_the_internet(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(server, "request_share_url", lambda: asked.append("share"))
    protocol = Subprotocol(f"viser-v{viser.__version__}")
    with connect(f"ws://127.0.0.1:{server.get_port()}", subprotocols=[protocol], compression=None) as client:
        client.recv(TIMEOUT_S)
        client.send(msgspec.msgpack.encode({"type": "ShareUrlRequest"}))
        # The server closes the connection at a message that it cannot read, after the earlier ones.
        client.send(b"")
        with pytest.raises(ConnectionClosed):
            while True:
                client.recv(TIMEOUT_S)
    assert asked == []
