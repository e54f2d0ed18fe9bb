"""Flights by hand from the page: the simulation, and what a pilot reads and presses."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from rosflight_msgs.msg import RCRaw, SimState, Status

from rosflight_py_sim.step.topics import RC, STATUS, TRUTH_STATE
from test.processes.browser import Tab
from test.processes.conftest import TIMEOUT_S, Observer, Processes, Program

PAGE = {"width": 700, "height": 420, "ready": "#pilot button"}


class Flown:
    """A simulation with a page, and an observer of its transmitter and flight controller."""

    def __init__(self, processes: Processes, *options: str) -> None:
        words = ("sim", "--view", *options, "--ros-args", "-p", "web_viewer.port:=0")
        self.simulation: Program = processes.command(*words)
        # At real time, an observer of each step would be busy with nothing else.
        self.observer: Observer = processes.observer(truth="not_published")
        self.status, self.rc, self.truth = Status(), RCRaw(), SimState()
        self.observer.node.create_subscription(Status, STATUS.name, lambda one: setattr(self, "status", one), 1)
        self.observer.node.create_subscription(RCRaw, RC.name, lambda one: setattr(self, "rc", one), 1)
        relayed = f"view/{TRUTH_STATE.name.removeprefix('sim/')}"
        self.observer.node.create_subscription(SimState, relayed, lambda one: setattr(self, "truth", one), 1)
        self.url = address_of(self.simulation)

    def listen(self) -> None:
        for _ in range(50):
            self.observer.executor.spin_once(timeout_sec=0.0)

    def services(self) -> set[str]:
        return {name for name, _ in self.observer.node.get_service_names_and_types() if "toggle_" in name}


def address_of(simulation: Program) -> str:
    """Address of the page, from the simulation's output."""
    end = time.monotonic() + TIMEOUT_S
    while not (found := re.search(r"http://\S+", simulation.stdout)):
        assert simulation.process.poll() is None and time.monotonic() < end, simulation.stderr
        time.sleep(0.05)
    return found[0]


def reading(tab: Tab, name: str) -> float:
    """Number that an instrument shows."""
    text = str(tab.page.locator(f"[data-reading={name}]").text_content())
    found = re.search(r"[-\N{MINUS SIGN}]?\d+\.?\d*", text)
    assert found is not None, text
    return float(found[0].replace("\N{MINUS SIGN}", "-"))


def hold(tab: Tab, flown: Flown, key: str, condition: Callable[[], object], what: str) -> None:
    """Hold a key until a condition holds."""
    tab.page.keyboard.down(key)
    tab.until(condition, what, flown.listen, every_ms=20)
    tab.page.keyboard.up(key)


def take_control(tab: Tab, flown: Flown) -> None:
    """Take the controls, unless this page's pilot has them."""
    if not tab.button("Leave controls").is_visible():
        tab.click("Fly by hand")
        tab.until(lambda: tab.button("Leave controls").is_visible(), "the controls")


def shows(tab: Tab, state: str) -> bool:
    """Whether a line of the page is the state of the flight controller."""
    return state in tab.text.splitlines()
