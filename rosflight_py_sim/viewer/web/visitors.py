"""Which requests the viewer's web server answers: those of its own page, opened under an address of this machine.

A page of another site can reach a server on this machine through the visitor's browser: directly (cross-site
WebSocket), under a name that the site's DNS server maps to 127.0.0.1 (DNS rebinding), or in a frame (clickjacking).
The browser states its page in `Origin` and the name in `Host`.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit


def refusal(hosts: Sequence[str], origins: Sequence[str], address: str) -> str:
    """Why a request is refused; empty if it is answered.

    Numeric addresses are accepted in `Host` because no DNS server answers for them. Programs other than browsers send
    no `Origin`.

    Args:
        hosts: values of the request's `Host` headers.
        origins: values of its `Origin` headers.
        address: local address of the server, as configured.
    """
    if len(hosts) != 1 or not _is_own(hosts[0], address):
        return f"host {', '.join(hosts) or 'missing'}; allowed: a numeric address, localhost, {socket.gethostname()}"
    if any(origin.lower() != f"http://{hosts[0]}".lower() for origin in origins):
        return f"origin {', '.join(origins)}; allowed: http://{hosts[0]}"
    return ""


def _is_own(host: str, address: str) -> bool:
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    own = socket.gethostname().lower()
    if name in ("localhost", own, f"{own}.local", address.lower()):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
