"""A headless browser restricted to this machine, and the addresses that its pages request."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.page_frames import FLAGS

TIMEOUT_S = 60.0

CHROMIUM = Path("/usr/bin/chromium")

# Otherwise, pages would draw 60 antialiased frames a second while the tests wait for something else. A test can set the
# interval between two frames of its page.
_FEW_FRAMES = """
const draw = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => setTimeout(() => draw(callback), window.frameIntervalMs ?? 1000);
window.cancelAnimationFrame = clearTimeout;
const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, settings) {
    return context.call(this, kind, {...settings, antialias: false});
};
"""


class Tab:
    """One page of a browser.

    Attributes:
        page: page of Playwright.
        outside: requested addresses of other machines; all requests were blocked.
        errors: errors reported by the page.
    """

    def __init__(
        self, browser: Any, url: str, *, width: int = 900, height: int = 560, ready: str = ".simulated-time"
    ) -> None:
        """Load a page and wait for an element, named by its selector."""
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.page = browser.new_page()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.set_default_timeout(1000.0 * TIMEOUT_S)
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.route("**", self._answer)
        self.page.goto(url)
        self.page.wait_for_selector(ready, state="attached")

    def _note(self, url: str) -> bool:
        local = url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "blob:http://127.0.0.1:", "data:"))
        if not local:
            self.outside.append(url)
        return local

    def _answer(self, route: Any) -> None:
        if self._note(route.request.url):
            route.continue_()
        else:
            route.abort()

    @property
    def shown_time(self) -> str:
        """Simulated time shown on the page."""
        return str(self.page.locator(".simulated-time").inner_text())

    @property
    def text(self) -> str:
        """All text on the page."""
        return str(self.page.locator("body").inner_text())

    def button(self, label: str) -> Any:
        """A button by its label."""
        return self.page.get_by_role("button", name=label, exact=True)

    def click(self, label: str) -> None:
        """Click a button once it is enabled, wherever it is on the page."""
        self.until(lambda: self.button(label).is_enabled(), f"button {label}")
        self.button(label).dispatch_event("click")

    def dismiss_notifications(self) -> None:
        """Close all notifications, and those that appear meanwhile."""
        close = """() => {
            const buttons = document.querySelectorAll(".mantine-Notification-closeButton");
            buttons.forEach(one => one.click());
            return buttons.length;
        }"""
        self.until(lambda: self.page.evaluate(close) == 0, "no notification")

    def row_of(self, label: str) -> Any:
        """The panel's row with this label."""
        return self.page.locator(f"xpath=//label[text()='{label}']/ancestor::div[contains(@class,'Flex-root')][1]")

    def until(
        self,
        condition: Callable[[], object],
        what: str,
        meanwhile: Callable[[], None] = lambda: None,
        *,
        every_ms: int = 100,
        limit_s: float = TIMEOUT_S,
    ) -> None:
        """Wait until a condition holds; it is evaluated every `every_ms` of system time."""
        end = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < end, f"not within {limit_s:g} s: {what}, on the page:\n{self.text}"
            meanwhile()
            self.page.wait_for_timeout(every_ms)

    def until_picture(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition on the picture holds, which changes once a second and takes long to evaluate."""
        self.until(condition, what, every_ms=400)

    def picture(self, top: int = 130, height: int = 300) -> np.ndarray:
        """The middle of the scene, left of the panel, as red, green and blue (height, width, 3)."""
        from PIL import Image

        file = self.page.screenshot(clip={"x": 165, "y": top, "width": 250, "height": height})
        return np.asarray(Image.open(io.BytesIO(file)).convert("RGB"), dtype=int)


@contextmanager
def browsers() -> Iterator[Any]:
    """A Chromium; without one, the test is skipped, except in continuous integration, where it fails."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        _skip(f"Playwright is not installed ({error})")
    if not CHROMIUM.exists():
        _skip(f"there is no {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=list(FLAGS), timeout=1000.0 * TIMEOUT_S
        )
        try:
            # All pages share a cache, and draw few frames, as on a slow computer.
            context = browser.new_context()
            context.add_init_script(_FEW_FRAMES)
            yield context
        finally:
            browser.close()


def _skip(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
