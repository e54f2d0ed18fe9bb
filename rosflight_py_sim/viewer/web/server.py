"""The viewer's web server: one port, one page, no requests to other hosts, and none from their pages."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
import warnings
from typing import TYPE_CHECKING

from rosflight_py_sim.bridge.peers import bind
from rosflight_py_sim.viewer.web.cockpit import PROGRAM, Cockpit
from rosflight_py_sim.viewer.web.viser_internals import (
    forbid_sharing,
    open_icon_archive_once,
    own_requests,
    run_in_page,
)

if TYPE_CHECKING:
    import viser


class NoServerError(RuntimeError):
    """The page cannot be served; the text gives the reason and the remedy."""


def open_server(address: str, port: int, label: str, cockpit: Cockpit | None = None) -> viser.ViserServer:
    """Serve the page on a local address, with a cockpit if one is given; port 0: any free port.

    Raises:
        NoServerError: viser is not installed, or the address or port is not available.
    """
    try:
        import viser
    except ImportError as error:
        raise NoServerError(
            f"viser, which serves the viewer's page, is not installed ({error}); install it with `pip install viser` "
            "or this package's extra 'view'"
        ) from error
    _check_free(address, port)
    # Malformed requests from other hosts are not worth a log line, and viser's greeting repeats the log.
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), own_requests(address, cockpit):
        server = viser.ViserServer(address, port, label, verbose=False)
    forbid_sharing(server)
    if cockpit is not None:
        run_in_page(server, PROGRAM)
    open_icon_archive_once()
    if port and server.get_port() != port:
        stop_server(server)
        raise NoServerError(_taken(address, port, "another program has just taken it"))
    server.gui.configure_theme(
        control_width="medium", show_logo=False, show_share_button=False, brand_color=(34, 100, 150)
    )
    # Beside the scene: a floating panel would hide the vehicle on a narrow page.
    server.gui.main_panel.dock_right()
    return server


def stop_server(server: viser.ViserServer) -> None:
    """Close all connections and the port, without log output."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def url_of(server: viser.ViserServer) -> str:
    """Address for a browser on this machine."""
    host = server.get_host()
    return f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{server.get_port()}"


def _check_free(address: str, port: int) -> None:
    """Check the address and port: viser would use the next port, and wait forever for an unknown address."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bind(probe, (address, port))
    except OSError as error:
        raise NoServerError(_taken(address, port, error.strerror or str(error))) from error


def _taken(address: str, port: int, why: str) -> str:
    return (
        f"cannot serve at {address}:{port} ({why}): choose a local address and a free port "
        "(web_viewer.port 0: any free port)"
    )
