"""The web server of the viewer: one port, one page, no requests to anywhere else."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import viser


class NoServerError(RuntimeError):
    """The page cannot be served; the text says why, and what helps."""


def open_server(address: str, port: int, label: str) -> viser.ViserServer:
    """Serve on an address of this machine, at once; port 0: any free one.

    Raises:
        NoServerError: viser is not installed, or address and port are not to be had.
    """
    try:
        import viser
    except ImportError as error:
        raise NoServerError(
            f"viser, which serves the viewer's page, is not installed ({error}); `pip install viser` (or this "
            "package's extra 'view') brings it"
        ) from error
    _check_free(address, port)
    # Whatever strangers send to the port is no news; the box in which it greets says what is said elsewhere.
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        server = viser.ViserServer(address, port, label, verbose=False)
    if port and server.get_port() != port:
        stop_server(server)
        raise NoServerError(_taken(address, port, "somebody else was quicker"))
    server.gui.configure_theme(
        control_width="medium", show_logo=False, show_share_button=False, brand_color=(34, 100, 150)
    )
    return server


def stop_server(server: viser.ViserServer) -> None:
    """Close all connections and the port, without a word."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def url_of(server: viser.ViserServer) -> str:
    """What to type into a browser of this machine."""
    host = server.get_host()
    return f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{server.get_port()}"


def _check_free(address: str, port: int) -> None:
    """Viser would take the next port, and wait for ever where there is no such address."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError as error:
        raise NoServerError(_taken(address, port, error.strerror or str(error))) from error


def _taken(address: str, port: int, why: str) -> str:
    return (
        f"nothing can be served at {address}:{port} ({why}): choose an address of this machine and a port that is free "
        "(web_viewer.port 0: any)"
    )
