"""Instruments and controls beside viser's page: the files that the page loads, and a WebSocket to the pilot."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, ClassVar

from rosflight_py_sim.transmitter.keyboard import LAYOUTS
from rosflight_py_sim.transmitter.page import DRAWN_STICKS, KEYBOARD, STANDARD_GAMEPAD, StickReport
from rosflight_py_sim.viewer.web.pilot_seat import BadMessageError, PilotSeat

PROGRAM = 'import("/cockpit/cockpit.js")'
"""JavaScript that adds the cockpit to viser's page."""

_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

# Longest time between two reports of a pilot who flies by keys, s; the page reports every 0.04 s unless it draws.
_PERIOD_S = 0.05

# Limit of unread messages, B. A page that has more, for example because its computer sleeps, receives no further ones.
_UNREAD = 1 << 16

_LONGEST = 4096


class Cockpit:
    """The cockpit of all browsers.

    Attributes:
        files: path to content type and content of the files that the page loads.
        can_fly: whether the page offers the controls: in a running simulation, not in a replay.
        obstacle: called before a pilot takes the controls; returns why the pilot cannot take them, or an empty text.
        on_report: called with each report of the pilot, in the web server's thread.
        on_take: called when a pilot takes the controls, in the web server's thread.
        armed: whether the vehicle is armed that a pilot flies or would fly.
    """

    SOCKET: ClassVar[str] = "/cockpit"
    """Path of the WebSocket, on the page's port."""

    FIRST: ClassVar[str] = f"{SOCKET}/software_rendering.js"
    """Path of the script that runs before viser's: without a graphics card, it makes the page draw fewer pixels."""

    def __init__(self) -> None:
        """Read the files."""
        folder = files("rosflight_py_sim.viewer.web") / "page"
        self.files = {
            f"{self.SOCKET}/{file.name}": (_TYPES[f".{file.name.rpartition('.')[2]}"], file.read_bytes())
            for file in folder.iterdir()
            if file.is_file()
        }
        self.can_fly = self.armed = False
        self.on_report: Callable[[StickReport], None] = lambda _: None
        self.obstacle: Callable[[], str] = str
        self.on_take: Callable[[], None] = lambda: None
        self._shown_obstacle = ""
        self._seat = PilotSeat(lambda report: self.on_report(report))
        self._browsers: set[Any] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_flown(self) -> bool:
        """Whether a pilot flies."""
        return not self._seat.is_free

    def show(self, shown: Mapping[str, object]) -> None:
        """Show readings in every browser; may be called from any thread."""
        self._send_all({"readings": shown})

    def show_obstacle(self, why: str) -> None:
        """Show why a pilot cannot take the controls; empty: a pilot can. May be called from any thread."""
        if why != self._shown_obstacle:
            self._shown_obstacle = why
            self._send_all({"obstacle": why})

    def _send_all(self, message: Mapping[str, object]) -> None:
        if self._browsers and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._broadcast, json.dumps(message))

    async def serve(self, browser: Any) -> None:
        """Serve a browser's connection until it ends."""
        self._loop = asyncio.get_running_loop()
        self._browsers.add(browser)
        try:
            await browser.send(json.dumps({"setup": self._setup()}))
            if self._shown_obstacle:
                await browser.send(json.dumps({"obstacle": self._shown_obstacle}))
            self._tell_seat()
            while True:
                limit_s = _PERIOD_S if self._seat.is_taken_by(browser) else None
                try:
                    text = await asyncio.wait_for(browser.recv(), limit_s)
                except asyncio.TimeoutError:
                    self._seat.wait(time.monotonic())
                    continue
                self._take_message(browser, text)
        except BadMessageError as error:
            await browser.close(1008, str(error)[:100])
        except Exception as error:
            if not _is_closure(error):
                raise
        finally:
            self._browsers.discard(browser)
            self._seat.lose(browser)
            self._tell_seat()

    def _setup(self) -> dict[str, object]:
        return {
            "can_fly": self.can_fly,
            "keyboard": KEYBOARD,
            "sticks": DRAWN_STICKS,
            "standard_gamepad": STANDARD_GAMEPAD,
            "layouts": {name: {key: does.value for key, does in keys.items()} for name, keys in LAYOUTS.items()},
        }

    def _take_message(self, browser: Any, text: object) -> None:
        message = _parsed(text)
        if "take" in message:
            if not self.can_fly:
                raise BadMessageError("a replay cannot be flown")
            # A pilot who flies takes the controls again to change the device.
            begins = not self.is_flown
            refusal = self.obstacle() if begins else ""
            refusal = refusal or self._seat.take(browser, message["take"], time.monotonic(), armed=self.armed)
            if refusal:
                self._post(browser, json.dumps({"refused": refusal}))
                return
            if begins:
                self.on_take()
            self._tell_seat()
        elif "leave" in message:
            self._seat.leave(browser)
            self._tell_seat()
        else:
            self._seat.report(browser, message, time.monotonic())

    def _tell_seat(self) -> None:
        for browser in tuple(self._browsers):
            seat = "free" if self._seat.is_free else "mine" if self._seat.is_taken_by(browser) else "taken"
            self._post(browser, json.dumps({"seat": seat}))

    def _broadcast(self, text: str) -> None:
        for browser in tuple(self._browsers):
            self._post(browser, text)

    def _post(self, browser: Any, text: str) -> None:
        from websockets.asyncio.server import broadcast

        if browser.transport.get_write_buffer_size() < _UNREAD:
            broadcast([browser], text)


def _parsed(text: object) -> Mapping[str, object]:
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise BadMessageError(f"allowed: a text of at most {_LONGEST} characters")
    try:
        message = json.loads(text)
    except ValueError as error:
        raise BadMessageError("the message is not JSON") from error
    if not isinstance(message, dict):
        raise BadMessageError("allowed: a JSON object")
    return message


def _is_closure(error: Exception) -> bool:
    from websockets.exceptions import ConnectionClosed

    return isinstance(error, ConnectionClosed)
