"""Draw docs/pictures/web_viewer.png: a flight in a headless browser, started by the page's buttons.

    .venv/bin/python tools/draw_web_viewer.py [--vehicle NAME] [--seconds S] [--output FILE] [--open CHECKBOX]

Needs Debian's chromium, and Playwright (the extra `test`).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

from playwright.sync_api import sync_playwright

from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.vehicles import DEFAULT_VEHICLE, vehicle

PROJECT = Path(__file__).parents[1]
PICTURE = PROJECT / "docs" / "pictures" / "web_viewer.png"

CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")

TIMEOUT_S = 120.0


def main() -> None:
    """Fly, and take a screenshot."""
    parser = argparse.ArgumentParser(description="Draw the browser viewer.")
    parser.add_argument("--vehicle", default=DEFAULT_VEHICLE)
    parser.add_argument("--seconds", type=float, default=22.0, help="duration of the mission before the screenshot, s")
    parser.add_argument("--output", type=Path, default=PICTURE)
    parser.add_argument("--open", default="", help="checkbox to tick before the screenshot")
    options = parser.parse_args()
    environment = os.environ | {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_DOMAIN_ID": str(random.SystemRandom().randint(1, 101)),
    }
    chosen = vehicle(options.vehicle)
    has_pilot = bool(chosen.autopilot) and chosen_flight_controller(chosen.flight_controller).follows(chosen.autopilot)
    pilot = ["--autopilot"] if has_pilot else []
    words = ["sim", "--vehicle", options.vehicle, *pilot, "--view", "--params-file", str(PROJECT / "config/wind.yaml")]
    command = [sys.executable, "-m", "rosflight_py_sim", *words, "--ros-args", "-p", "web_viewer.port:=0"]
    simulation = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert simulation.stdout is not None
        _draw(_address(simulation.stdout), options, has_pilot=bool(pilot))
    finally:
        simulation.terminate()
        simulation.wait()


def _address(lines: IO[str]) -> str:
    for line in lines:
        said = re.search(r"http://\S+", line)
        if said:
            return said[0]
    raise RuntimeError("the viewer has not printed its URL")


def _draw(url: str, options: argparse.Namespace, *, has_pilot: bool) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 760})
        page.set_default_timeout(1000.0 * TIMEOUT_S)
        page.goto(url)
        page.wait_for_selector(".simulated-time", state="attached")
        if has_pilot:
            _press(page, "Fly")
            page.get_by_text("Fly the mission").wait_for(state="attached")
        if options.open:
            page.get_by_label(options.open).dispatch_event("click")
        _wait_for_time(page, _time(page) + options.seconds)
        # Warnings that this browser has no graphics card.
        for close in page.locator(".mantine-Notification-closeButton").all():
            close.dispatch_event("click")
        page.wait_for_timeout(1500)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=options.output)
        browser.close()
    print(options.output)


def _press(page: Any, label: str) -> None:
    button = page.get_by_role("button", name=label, exact=True)
    end = time.monotonic() + TIMEOUT_S
    while not button.is_enabled() and time.monotonic() < end:
        page.wait_for_timeout(100)
    button.dispatch_event("click")


def _time(page: Any) -> float:
    return float(page.locator(".simulated-time").inner_text())


def _wait_for_time(page: Any, time_s: float) -> None:
    end = time.monotonic() + TIMEOUT_S
    while _time(page) < time_s and time.monotonic() < end:
        page.wait_for_timeout(100)


if __name__ == "__main__":
    main()
