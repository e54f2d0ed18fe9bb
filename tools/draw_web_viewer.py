"""Draw pictures of the pages in docs/pictures, with a headless browser.

    .venv/bin/python tools/draw_web_viewer.py [PICTURE] [--vehicle NAME] [--seconds S] [--output FILE] [--open CHECKBOX]

PICTURE is `web_viewer` (a flight, started by the page's button; the default), `hand_flight` (a flight by keys),
`recording_replay` (the replay of a dive) or `recording_report` (the report of a flight). Needs Debian's chromium, and
Playwright (the extra `test`).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from playwright.sync_api import sync_playwright

from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.vehicles import DEFAULT_VEHICLE, vehicle

PROJECT = Path(__file__).parents[1]
PICTURES = PROJECT / "docs" / "pictures"

CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")

TIMEOUT_S = 120.0

PROGRAM = (sys.executable, "-m", "rosflight_py_sim")
LIVE, BY_HAND, REPLAY, REPORT = "web_viewer", "hand_flight", "recording_replay", "recording_report"


def main() -> None:
    """Fly or open a recording, and take a screenshot."""
    parser = argparse.ArgumentParser(description="Draw a page.")
    parser.add_argument("picture", nargs="?", choices=(LIVE, BY_HAND, REPLAY, REPORT), default=LIVE)
    parser.add_argument("--vehicle", default="", help="default: multirotor, or auv for the replay")
    parser.add_argument("--seconds", type=float, default=22.0, help="duration of the mission before the screenshot, s")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--open", default="", help="checkbox to tick before the screenshot")
    options = parser.parse_args()
    options.vehicle = options.vehicle or ("auv" if options.picture == REPLAY else DEFAULT_VEHICLE)
    options.output = options.output or PICTURES / f"{options.picture}.png"
    os.environ |= {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_DOMAIN_ID": str(random.SystemRandom().randint(1, 101)),
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    if options.picture == LIVE:
        _draw_flight(options)
    elif options.picture == BY_HAND:
        _draw_hand_flight(options)
    else:
        with TemporaryDirectory() as folder:
            _draw_recording(options, Path(folder))
    print(options.output)


def _draw_flight(options: argparse.Namespace) -> None:
    chosen = vehicle(options.vehicle)
    has_pilot = bool(chosen.autopilot) and chosen_flight_controller(chosen.flight_controller).follows(chosen.autopilot)
    words = ["sim", "--vehicle", options.vehicle, *(["--autopilot"] if has_pilot else []), "--view"]
    words += ["--params-file", str(PROJECT / "config/wind.yaml"), "--ros-args", "-p", "web_viewer.port:=0"]
    with _served(words) as url, _page(1280, 760) as page:
        page.goto(f"{url}/?fixedDpr=1")
        page.wait_for_selector(".simulated-time", state="attached")
        if has_pilot:
            _press(page, "Fly")
            page.get_by_text("Fly the mission").wait_for(state="attached")
        if options.open:
            page.get_by_label(options.open).dispatch_event("click")
        _wait_for_time(page, _time(page) + options.seconds)
        _take(page, options.output)


def _draw_hand_flight(options: argparse.Namespace) -> None:
    words = ["sim", "--vehicle", options.vehicle, "--view", "--ros-args", "-p", "web_viewer.port:=0"]
    with _served(words) as url, _page(1280, 760) as page:
        page.goto(f"{url}/?fixedDpr=1")
        _press(page, "Fly by hand")
        # The IMU is calibrated.
        _wait_until_enabled(page, "Arm")
        page.keyboard.press("t")
        page.wait_for_function("() => /^armed/m.test(document.body.innerText)")
        # Half throttle.
        page.keyboard.press("w", delay=1000)
        page.wait_for_function("() => parseFloat(document.querySelector('[data-reading=altitude]').textContent) > 3")
        page.keyboard.down("ArrowRight")
        _take(page, options.output)


def _draw_recording(options: argparse.Namespace, folder: Path) -> None:
    file = folder / f"{options.vehicle}.mcap"
    words = ["fly", "--vehicle", options.vehicle, "--record", str(file), "--output", str(folder)]
    subprocess.run([*PROGRAM, *words], check=True, stdout=subprocess.DEVNULL)
    if options.picture == REPORT:
        subprocess.run([*PROGRAM, "report", str(file)], check=True, stdout=subprocess.DEVNULL)
        with _page(1280, 2385) as page:
            page.goto(file.with_suffix(".html").as_uri())
            _take(page, options.output)
        return
    with _served(["replay", str(file)]) as url, _page(1280, 760) as page:
        page.goto(f"{url}/?fixedDpr=1")
        page.wait_for_selector(".simulated-time", state="attached")
        _wait_for_time(page, options.seconds)
        _press(page, "Pause")
        _take(page, options.output)


@contextmanager
def _served(words: list[str]) -> Iterator[str]:
    """Address of the page of a program, which ends with the block."""
    program = subprocess.Popen([*PROGRAM, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        yield _address(program.stdout)
    finally:
        program.terminate()
        program.wait()


def _address(lines: IO[str]) -> str:
    for line in lines:
        said = re.search(r"http://\S+", line)
        if said:
            return said[0]
    raise RuntimeError("the viewer has not printed its URL")


@contextmanager
def _page(width: int, height: int) -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(1000.0 * TIMEOUT_S)
        yield page
        browser.close()


def _take(page: Any, output: Path) -> None:
    # Notifications, such as that this browser has no graphics card.
    page.evaluate("() => document.querySelectorAll('.mantine-Notification-closeButton').forEach((one) => one.click())")
    page.wait_for_timeout(1500)
    page.screenshot(path=output)


def _press(page: Any, label: str) -> None:
    _wait_until_enabled(page, label).dispatch_event("click")


def _wait_until_enabled(page: Any, label: str) -> Any:
    button = page.get_by_role("button", name=label, exact=True)
    end = time.monotonic() + TIMEOUT_S
    while not button.is_enabled() and time.monotonic() < end:
        page.wait_for_timeout(100)
    return button


def _time(page: Any) -> float:
    return float(page.locator(".simulated-time").inner_text())


def _wait_for_time(page: Any, time_s: float) -> None:
    end = time.monotonic() + TIMEOUT_S
    while _time(page) < time_s and time.monotonic() < end:
        page.wait_for_timeout(100)


if __name__ == "__main__":
    main()
