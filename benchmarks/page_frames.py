"""Frames per second of the viewer's page in a headless Chromium that renders on the CPU.

    python -m benchmarks.page_frames [--vehicle NAME | --recording FILE] [--width PX] [--height PX]

The page shows a mission that is flown at real time, or the replay of a recording, such as that of a fleet. Needs
Chromium, and Playwright (the extra `test`).
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.separate_graph import cpu_seconds

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


# viser's number of pixels drawn per pixel of the page, in each direction.
_RATIO = "() => window.__viserTestpoints.devSettings.get().fixedDpr ?? window.devicePixelRatio"

# Turns of the mouse wheel that bring a fleet into view.
_WHEEL_TURNS, _WHEEL_PX = 14, 300


class PageFrames(NamedTuple):
    """Measurements of a page.

    Attributes:
        frames_per_second: mean.
        real_time_factor: simulated time over system time.
        ratio: number of pixels drawn per pixel of the page at the end, in each direction.
        server_cores: CPU time over system time of the program that serves the page; nan for a mission, which takes
            several processes.
    """

    frames_per_second: float
    real_time_factor: float
    ratio: float
    server_cores: float


def page_frames(name: str, seconds: float, width: int = 1280, height: int = 760) -> PageFrames:
    """Fly a vehicle's mission at real time with its page in a browser: a page whose vehicle rests draws nothing.

    Args:
        name: the vehicle.
        seconds: length of the measurement, s.
        width: of the page, pixels.
        height: of the page, pixels.
    """
    with TemporaryDirectory() as folder:
        words = ["fly", "--view", "--vehicle", name, "--real-time-multiplier", "1", "--output", folder]
        frames = _frames_of([*words, "--ros-args", "-p", "web_viewer.port:=0"], seconds, width, height)
        return frames._replace(server_cores=math.nan)


def replayed_frames(recording: str, seconds: float, width: int = 1280, height: int = 760) -> PageFrames:
    """Replay a recording at real time, seen from afar, as a fleet needs; other arguments as in `page_frames`."""
    return _frames_of(["replay", recording, "--port", "0"], seconds, width, height, wheel_turns=_WHEEL_TURNS)


def _frames_of(words: Sequence[str], seconds: float, width: int, height: int, wheel_turns: int = 0) -> PageFrames:
    """Measure the page that a command serves."""
    environment = os.environ | {"ROS_DOMAIN_ID": str(random.SystemRandom().randint(1, 101))}
    program = subprocess.Popen(
        [sys.executable, "-m", "rosflight_py_sim", *words], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert program.stdout is not None
        url = next(found[0] for line in program.stdout if (found := re.search(r"http://\S+", line)))
        return _measured(url, program.pid, seconds, width, height, wheel_turns)
    finally:
        program.terminate()
        program.wait()


def _measured(url: str, pid: int, seconds: float, width: int, height: int, wheel_turns: int) -> PageFrames:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(1000.0 * TIMEOUT_S)
        page.goto(url)
        page.wait_for_selector(".simulated-time", state="attached")
        page.mouse.move(width / 3, height / 3)
        for _ in range(wheel_turns):
            page.mouse.wheel(0.0, _WHEEL_PX)
        page.evaluate(_COUNT, WARM_UP_S)
        shown = page.locator(".simulated-time")
        began_s, began_cpu_s = float(shown.inner_text()), cpu_seconds(pid)
        times_ms = page.evaluate(_COUNT, seconds)
        simulated_s, cpu_s = float(shown.inner_text()) - began_s, cpu_seconds(pid) - began_cpu_s
        ratio = float(page.evaluate(_RATIO))
        browser.close()
    span_s = 1e-3 * (times_ms[-1] - times_ms[0])
    return PageFrames((len(times_ms) - 1) / span_s, simulated_s / span_s, ratio, cpu_s / span_s)


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description="Measure the frames of the page.")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--vehicle", default="multirotor")
    shown.add_argument("--recording", help="an MCAP file, which is replayed instead of a flight")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=760)
    options = parser.parse_args()
    size = (options.width, options.height)
    if options.recording:
        frames = replayed_frames(options.recording, options.seconds, *size)
    else:
        frames = page_frames(options.vehicle, options.seconds, *size)
    server = f", server {frames.server_cores:.2f} cores" if options.recording else ""
    print(
        f"{options.recording or options.vehicle}: {frames.frames_per_second:.1f} frames/s at {options.width} x "
        f"{options.height}, {frames.ratio:.2f} of the pixels in each direction, "
        f"{frames.real_time_factor:.2f} x real time{server}"
    )


if __name__ == "__main__":
    main()
