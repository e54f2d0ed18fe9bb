"""Uses of viser beyond its public interface.

`test/viewer/test_viser_internals.py` fails if a version of viser lacks one of these or behaves differently.
"""

from __future__ import annotations

import contextlib
import functools
import http
import zipfile
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from rosflight_py_sim.viewer.web.visitors import refusal

if TYPE_CHECKING:
    import viser


class Addition(Protocol):
    """Files and a WebSocket that a server offers beside viser's own."""

    SOCKET: ClassVar[str]
    FIRST: ClassVar[str]
    """Path of a script that runs before viser's program."""

    @property
    def files(self) -> Mapping[str, tuple[str, bytes]]:
        """Path to content type and content."""

    async def serve(self, connection: Any) -> None:
        """Serve a connection to the path `SOCKET` until it ends."""


@contextlib.contextmanager
def own_requests(address: str, addition: Addition | None) -> Iterator[None]:
    """Let a viser server that is created in this block refuse requests from other sites (see `visitors`).

    It also serves the addition's files and WebSocket. viser passes its handlers of requests and connections to
    websockets, which viser does not let its users replace.
    """
    import websockets.asyncio.server
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    def answer(own: Callable[[Any, Any], Any], connection: Any, request: Any) -> Any:
        headers = request.headers
        if why := refusal(headers.get_all("Host"), headers.get_all("Origin"), address):
            return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", Headers(), f"refused: {why}\n".encode())
        path = request.path.partition("?")[0]
        if addition is not None and path in addition.files:
            kind, content = addition.files[path]
            head = Headers({"Content-Type": kind, "Content-Length": str(len(content)), "Cache-Control": "no-cache"})
            response = Response(http.HTTPStatus.OK, "OK", head, content)
        elif addition is not None and path == "/":
            # viser compresses its page for browsers that accept that. Other clients may lack the header.
            if "Accept-Encoding" in request.headers:
                del request.headers["Accept-Encoding"]
            response = own(connection, request)
            if response is not None:  # None: the request opens viser's WebSocket
                _run_before(response, addition.FIRST)
        else:
            response = own(connection, request)
        if response is not None:
            response.headers["X-Frame-Options"] = "SAMEORIGIN"
        return response

    serve = websockets.asyncio.server.serve

    async def attend(own: Callable[[Any], Any], connection: Any) -> None:
        is_addition = addition is not None and connection.request.path == addition.SOCKET
        await (addition.serve(connection) if addition is not None and is_addition else own(connection))

    def checking_serve(
        handler: Callable[[Any], Any], *arguments: Any, process_request: Callable[[Any, Any], Any], **options: Any
    ) -> Any:
        answering, attending = functools.partial(answer, process_request), functools.partial(attend, handler)
        return serve(attending, *arguments, process_request=answering, **options)

    websockets.asyncio.server.serve = checking_serve  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # type: ignore[misc]


def _run_before(page: Any, program: str) -> None:
    """Make viser's page, a response, run the script at a path before viser's program."""
    before, head, after = page.body.partition(b"<head>")
    assert head, "viser's page has no head"
    page.body = before + head + f'<script src="{program}"></script>'.encode() + after
    del page.headers["Content-Length"]
    page.headers["Content-Length"] = str(len(page.body))


def forbid_sharing(server: viser.ViserServer) -> None:
    """Ignore requests of browsers to open a tunnel, by which viser would publish the page on the internet."""
    from viser._messages import ShareUrlDisconnect, ShareUrlRequest

    for message in (ShareUrlRequest, ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)


def run_in_page(server: viser.ViserServer, program: str) -> None:
    """Run JavaScript in the page of every browser, also of those that connect later."""
    from viser._messages import RunJavascriptMessage

    server.gui._websock_interface.queue_message(RunJavascriptMessage(source=program))


class _KeptOpen(zipfile.ZipFile):
    """An archive that stays open at the end of a `with` block."""

    def __exit__(self, *_: object) -> None:
        """Leave the archive open."""


_icon_archive = functools.cache(_KeptOpen)


def open_icon_archive_once() -> None:
    """Let viser keep its archive of 5,000 icons open, which it would open for each icon, at 50 ms of CPU time."""
    from viser import _icons

    _icons.zipfile = SimpleNamespace(ZipFile=_icon_archive)  # type: ignore[assignment]


def show_jpeg(image: viser.GuiImageHandle, jpeg: bytes) -> None:
    """Show a JPEG file as it is; assigning `image.image` needs pixels, which viser encodes again."""
    image._data = jpeg


def jpeg_shown(image: viser.GuiImageHandle) -> bytes | None:
    """The JPEG file that the browser shows."""
    data: bytes | None = image._data
    return data


@contextlib.contextmanager
def pushing() -> Iterator[None]:
    """Guard updates of the page from threads other than viser's event loop.

    viser 1.1 wakes its loop by asyncio.Event.set() from the caller's thread. If a connection starts or stops waiting at
    that moment, the set of waiters changes during the call, which raises RuntimeError. By then the update is queued,
    and the next one wakes the loop; updates that would have followed in the guarded block are skipped.
    """
    try:
        yield
    except RuntimeError as error:
        if "mutated during iteration" not in str(error):
            raise
