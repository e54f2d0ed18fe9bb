"""Frames per second of the viewer's page in a headless Chromium that renders on the CPU, while a mission is flown.

    python -m benchmarks.page_frames [--vehicle NAME] [--width PX] [--height PX]

Needs Chromium, and Playwright (the extra `test`).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import NamedTuple

CHROMIUM = "/usr/bin/chromium"
# As a desktop's Chromium without a graphics card: SwiftShader draws the scene, and Skia the page around it.
FLAGS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
)

TIMEOUT_S = 120.0
# The vehicle takes off meanwhile.
WARM_UP_S = 6.0

# Counts the animation frames of some seconds; the page draws the scene in each of them. Milliseconds between frames.
_COUNT = """(seconds) => new Promise((done) => {
    const times = [];
    const next = (now) => {
        times.push(now);
        if (now - times[0] < 1000 * seconds) requestAnimationFrame(next);
        else done(times);
    };
    requestAnimationFrame(next);
})"""


class PageFrames(NamedTuple):
    """Mean frames per second, and simulated time over system time meanwhile."""

    frames_per_second: float
    real_time_factor: float


def page_frames(name: str, seconds: float, width: int = 1280, height: int = 760) -> PageFrames:
    """Fly a vehicle's mission at real time with its page in a browser: a page whose vehicle rests draws nothing.

    Args:
        name: the vehicle.
        seconds: length of the measurement, s.
        width: of the page, pixels.
        height: of the page, pixels.
    """
    environment = os.environ | {"ROS_DOMAIN_ID": str(random.SystemRandom().randint(1, 101))}
    with TemporaryDirectory() as folder:
        words = ["fly", "--view", "--vehicle", name, "--real-time-multiplier", "1", "--output", folder]
        words += ["--ros-args", "-p", "web_viewer.port:=0"]
        simulation = subprocess.Popen(
            [sys.executable, "-m", "rosflight_py_sim", *words], env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert simulation.stdout is not None
            url = next(found[0] for line in simulation.stdout if (found := re.search(r"http://\S+", line)))
            return _frames_of(url, seconds, width, height)
        finally:
            simulation.terminate()
            simulation.wait()


def _frames_of(url: str, seconds: float, width: int, height: int) -> PageFrames:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(1000.0 * TIMEOUT_S)
        page.goto(url)
        page.wait_for_selector(".simulated-time", state="attached")
        page.evaluate(_COUNT, WARM_UP_S)
        shown = page.locator(".simulated-time")
        began_s = float(shown.inner_text())
        times_ms = page.evaluate(_COUNT, seconds)
        simulated_s = float(shown.inner_text()) - began_s
        browser.close()
    span_s = 1e-3 * (times_ms[-1] - times_ms[0])
    return PageFrames((len(times_ms) - 1) / span_s, simulated_s / span_s)


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description="Measure the frames of the page.")
    parser.add_argument("--vehicle", default="multirotor")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=760)
    options = parser.parse_args()
    frames, pace = page_frames(options.vehicle, options.seconds, options.width, options.height)
    print(f"{options.vehicle}: {frames:.1f} frames/s at {options.width} x {options.height}, {pace:.2f} x real time")


if __name__ == "__main__":
    main()
