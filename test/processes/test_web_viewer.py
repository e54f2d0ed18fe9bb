"""The pages of a running simulation and of a recording, as a user sees them in a browser."""

from __future__ import annotations

import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosflight_msgs.msg import SimState, Status
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topics import AUTOPILOT_PHASE, STATUS, TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle
from test.processes.browser import Tab, browsers
from test.processes.conftest import SLOWLY, Observer, Processes, Program

pytestmark = pytest.mark.timeout(240)

MULTIROTOR = vehicle("multirotor")
STEP_S = 0.01

RECORDING = Path(__file__).parents[1] / "data" / "other_recorder.mcap"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


def url_of(viewer: Program) -> str:
    """Address of the viewer, from its output."""
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        match = re.search(r"http://\S+", viewer.stdout)
        if match:
            return match[0]
        assert viewer.process.poll() is None, viewer.stderr
        time.sleep(0.05)
    pytest.fail("the viewer printed no address")


def assert_time_advances(tab: Tab, what: str) -> None:
    began = float(tab.shown_time)
    tab.until(lambda: float(tab.shown_time) > began, f"{what}: time advances")


@pytest.fixture
def replay(browser: Any, processes: Processes) -> Iterator[Tab]:
    """The recording at a slow pace: its ten seconds last longer than a test."""
    program = processes.command("replay", str(RECORDING), "--speed", "0.05")
    tab = Tab(browser, url_of(program))
    yield tab
    tab.page.close()
    assert tab.outside == []
    assert tab.errors == []
    program.signal(signal.SIGTERM)
    assert program.wait() == 130
    assert program.error_lines == []


def settled_time(tab: Tab) -> float:
    """The time shown, once it no longer changes."""
    before = -1.0
    for _ in range(100):
        now = float(tab.shown_time)
        if now == before:
            return now
        before = now
        tab.page.wait_for_timeout(400)
    pytest.fail("the time does not settle")


def seek(tab: Tab, time_s: str) -> None:
    field = tab.row_of("Time, s").get_by_role("textbox")
    field.fill(time_s)
    field.press("Enter")


def test_recording_plays_pauses_and_seeks_to_any_time(replay: Tab) -> None:
    assert_time_advances(replay, "playing")
    # The blue dart is over the green ground.
    replay.until_picture(lambda: is_blue(replay.picture()), "the vehicle")
    replay.page.set_viewport_size(SMALL)
    replay.click("Pause")
    # On a busy machine, the page may show one time for a while although it plays.
    replay.until(lambda: "paused at" in replay.text, "a page that looks paused")
    paused_s = settled_time(replay)
    assert 0.0 < paused_s < 10.0
    assert f"paused at {paused_s:.4f} s" in replay.text
    seek(replay, "7.5")
    replay.until(lambda: float(replay.shown_time) == pytest.approx(7.5), "7.5 s")
    # A circle of 8 m radius at half a radian per second.
    assert f"north {8.0 * np.cos(3.75):.1f} m, east {8.0 * np.sin(3.75):.1f} m, height 12.0 m" in replay.text
    seek(replay, "1.0")
    replay.until(lambda: float(replay.shown_time) == pytest.approx(1.0), "1 s")
    replay.click("Play")
    assert_time_advances(replay, "playing again")


def is_blue(picture: np.ndarray) -> bool:
    red, green, blue = np.moveaxis(picture, 2, 0)
    return float(np.mean((blue > 100) & (blue > red + 60) & (blue > green + 30))) > 0.003


class Watched:
    """A viewer, its simulation, and an observer that receives the effects of the viewer's buttons.

    Attributes:
        simulation: the simulation, once it has been started.
        phases: phases of the autopilot's mission so far.
    """

    simulation: Program

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        self.viewer = start_viewer(processes)
        self.url = url_of(self.viewer)
        self.observer: Observer = processes.observer()
        self.status = Status()
        self.truth = SimState()
        self.phases: set[str] = set()
        self.observer.node.create_subscription(Status, STATUS.name, self._on_status, 1)
        self.observer.node.create_subscription(String, AUTOPILOT_PHASE.name, self._on_phase, LATCHED)
        self.observer.node.create_subscription(SimState, TRUTH_STATE.name, self._on_truth, 1)

    def start_simulation(self) -> None:
        # A slow pace and long steps: the tests wait for the page more than for simulated time.
        slowly = ("--real-time-multiplier", str(SLOWLY), "--ros-args", "-p", f"step_size:={STEP_S}")
        self.simulation = self.processes.command("sim", "--autopilot", *slowly)

    def _on_status(self, message: Status) -> None:
        self.status = message

    def _on_truth(self, message: SimState) -> None:
        self.truth = message

    def _on_phase(self, message: String) -> None:
        self.phases.add(message.data)

    def set_multiplier(self, multiplier: float) -> None:
        """Set the pace from outside the page."""
        assert self.observer.set_number("time_manager", "real_time_multiplier", multiplier).successful

    def listen(self) -> None:
        """Let the observer process the received messages."""
        for _ in range(50):
            self.observer.executor.spin_once(timeout_sec=0.0)


def start_viewer(processes: Processes, *arguments: str) -> Program:
    given = ["--params-file", str(MULTIROTOR.parameter_file), "-p", f"appearance:={MULTIROTOR.appearance}"]
    given += ["-p", "web_viewer.port:=0", "-p", "web_viewer.rate:=5.0"]
    return processes.node("web_viewer", *given, *arguments)


@pytest.fixture(scope="module")
def watched(
    tmp_path_factory: pytest.TempPathFactory, claim_domain: Callable[[], AbstractContextManager[int]]
) -> Iterator[Watched]:
    with claim_domain() as domain:
        processes = Processes(domain, tmp_path_factory.mktemp("watched"))
        try:
            watched = Watched(processes)
            yield watched
            watched.viewer.signal(signal.SIGTERM)
            assert watched.viewer.wait() == 0
            assert watched.viewer.error_lines == []
        finally:
            processes.close()


# Rendering is in software: only a page whose picture or plots are checked is large.
SMALL = {"width": 450, "height": 280}
LARGE = {"width": 900, "height": 560}
large_page = pytest.mark.parametrize("tab", [LARGE], indirect=True, ids=["large"])


@pytest.fixture(scope="module")
def page_without_simulation(browser: Any, watched: Watched) -> Iterator[Tab]:
    """One page for all tests, because loading takes longer than most of them, loaded before the simulation starts."""
    tab = Tab(browser, watched.url, **SMALL, ready="text=Pause")
    yield tab
    tab.page.close()


@pytest.fixture(scope="module")
def is_disabled_without_simulation(page_without_simulation: Tab) -> bool:
    """Whether a button was disabled before the simulation started."""
    return bool(page_without_simulation.button("Pause").is_disabled())


@pytest.fixture(scope="module")
def page(page_without_simulation: Tab, is_disabled_without_simulation: bool, watched: Watched) -> Tab:
    """The page, with the simulation."""
    watched.start_simulation()
    page_without_simulation.page.wait_for_selector(".simulated-time", state="attached")
    return page_without_simulation


@pytest.fixture
def tab(request: pytest.FixtureRequest, page: Tab) -> Iterator[Tab]:
    """The page in the size that the test requests, without notifications of the previous test."""
    page.page.set_viewport_size(getattr(request, "param", SMALL))
    page.dismiss_notifications()
    yield page
    assert page.outside == []
    assert page.errors == []


@large_page
def test_page_shows_vehicle_above_ground(tab: Tab) -> None:
    tab.until_picture(lambda: shows_vehicle(tab), "the vehicle")
    tab.until_picture(lambda: shows_landscape(tab), "sky above ground")
    assert_time_advances(tab, "shown")


def shows_landscape(tab: Tab) -> bool:
    """Whether the page is more blue than green at the top, and vice versa below, without viser's notifications."""
    tab.dismiss_notifications()
    sky, ground = tab.picture(10, 60), tab.picture(450, 60)
    is_blue = float(np.mean(sky[:, :, 2] - sky[:, :, 1])) > 10.0
    return is_blue and float(np.mean(ground[:, :, 1] - ground[:, :, 2])) > 10.0


def shows_vehicle(tab: Tab) -> bool:
    """Whether the middle of the page contains black pixels: there, only rotors and legs are black."""
    return float(np.mean(tab.picture().max(axis=2) < 45)) > 0.004


def choose_camera(tab: Tab, view: str) -> None:
    """Choose a view in the panel."""
    tab.page.get_by_label("Camera", exact=True).click()
    tab.page.get_by_role("option", name=view).click()


def test_pause_stops_displayed_time_and_simulated_clock(tab: Tab, watched: Watched) -> None:
    assert_time_advances(tab, "before the pause")
    tab.click("Pause")
    tab.until(lambda: "paused at" in tab.text, "the answer to pause")
    paused_at = agreed_time(tab, watched)
    for _ in range(20):
        watched.listen()
        tab.page.wait_for_timeout(20)
    assert (float(tab.shown_time), watched.observer.time_s) == (paused_at, pytest.approx(paused_at))
    tab.click("Resume")
    assert_time_advances(tab, "after the pause")


def test_step_button_takes_the_requested_number_of_steps(tab: Tab, watched: Watched) -> None:
    tab.click("Pause")
    tab.until(lambda: "paused at" in tab.text, "the answer to pause")
    began = agreed_time(tab, watched)
    tab.click("Step")
    tab.until(lambda: "advanced 1 step," in tab.text, "the answer to one step")
    # The page shows four decimal places.
    assert agreed_time(tab, watched) == pytest.approx(began + STEP_S, abs=1e-6)
    steps = tab.page.get_by_label("Steps")
    steps.fill("40")
    steps.press("Enter")
    tab.click("Step")
    tab.until(lambda: "advanced 40 steps," in tab.text, "the answer to forty steps")
    assert agreed_time(tab, watched) == pytest.approx(began + 41 * STEP_S, abs=1e-6)
    tab.click("Resume")
    assert_time_advances(tab, "after the steps")


def agreed_time(tab: Tab, watched: Watched) -> float:
    """The time, once page and clock agree."""

    def agree() -> bool:
        watched.listen()
        return abs(float(tab.shown_time) - watched.observer.time_s) < 1e-6

    tab.until(agree, "page and clock agree")
    return float(tab.shown_time)


def test_button_that_cannot_work_is_grey(tab: Tab) -> None:
    tab.until(lambda: "disarmed: the IMU is not calibrated" in tab.text, "the firmware's reason")
    # Each would be refused: time is running, and the IMU is not calibrated.
    for label in ("Step", "Arm", "Start mission"):
        tab.until(lambda label=label: tab.button(label).is_disabled(), f"{label}, grey")
    for label in ("Fly", "Calibrate", "Set pace"):
        tab.until(lambda label=label: tab.button(label).is_enabled(), label)
    assert "arm switch: off, override switch: on" in tab.text


def test_instruments_at_rest_show_no_negative_zero(tab: Tab) -> None:
    # The current of a battery at rest is 0 with noise of both signs.
    battery = tab.page.locator("[data-reading=battery]")
    shown: set[str] = set()

    def several_are_shown() -> bool:
        shown.add(str(battery.text_content()))
        return len(shown) > 8

    tab.until(several_are_shown, "nine readings of the battery", every_ms=20)
    assert all(text.endswith(" A") and " -0.0" not in text for text in shown), shown


def test_refusal_of_the_firmware_reaches_the_page(tab: Tab, watched: Watched) -> None:
    toggle = watched.observer.node.create_client(Trigger, "toggle_arm")
    tab.until(toggle.service_is_ready, "the service", watched.listen)
    toggle.call_async(Trigger.Request())
    tab.until(lambda: "cannot arm: the IMU is not calibrated" in tab.text, "the reason", watched.listen)
    # The next press must not arm: the button now moves the switch back.
    tab.click("Disarm")
    tab.until(lambda: "arm switch: off" in tab.text, "the switch")


def test_arm_button_arms_and_is_named_after_what_it_does(tab: Tab, watched: Watched) -> None:
    watched.set_multiplier(5.0)
    tab.click("Calibrate")
    tab.until(lambda: not watched.status.error_code, "the calibration", watched.listen)
    watched.set_multiplier(SLOWLY)
    tab.click("Arm")
    tab.until(lambda: watched.status.armed, "armed", watched.listen)
    tab.until(lambda: re.search(r"^armed", tab.text, re.MULTILINE), "armed, on the page")
    tab.until(lambda: "arm switch: on" in tab.text, "the switch")
    assert tab.button("Calibrate").is_disabled()
    tab.click("Disarm")
    tab.until(lambda: not watched.status.armed, "disarmed", watched.listen)


@large_page
def test_sliders_set_state_and_vehicle_moves(tab: Tab, watched: Watched) -> None:
    tab.until_picture(lambda: shows_vehicle(tab), "the vehicle")
    choose_camera(tab, "fixed")
    tab.page.get_by_text("Set state", exact=True).dispatch_event("click")
    slider = tab.row_of("north, m").get_by_role("slider")
    slider.press("End")
    # Each slider has a number field.
    field = tab.row_of("height, m").locator("input[type=text]")
    field.fill("80")
    field.press("Enter")
    tab.click("Set")
    tab.until(lambda: "state set at" in tab.text, "the answer")

    def state_is_applied() -> bool:
        watched.listen()
        place = watched.truth.pose.position
        return abs(place.x - 200.0) < 0.01 and place.z < -10.0

    tab.until(state_is_applied, "the state")
    # The camera no longer follows the vehicle, which leaves the middle.
    tab.until_picture(lambda: not shows_vehicle(tab), "a middle without the vehicle")
    choose_camera(tab, "follow")
    tab.until_picture(lambda: shows_vehicle(tab), "the vehicle in the middle again")
    tab.click("Reset")
    tab.until(lambda: "height 0." in tab.text, "back at the start")


# Plot state: width, range of the time axis, and times of the first and last rows.
PLOTS = """() => Object.values((window.__viserTestpoints || {}).uplots || {}).map(plot => plot.chart).map(
    chart => [chart.width, chart.scales.x.min, chart.scales.x.max, chart.data[0][0], chart.data[0].at(-1)])"""


# Labels of the vertical axis of each plot.
LABELS = """() => Object.values(window.__viserTestpoints.uplots).map(plot => plot.chart.axes[1]._values)"""


@large_page
def test_plot_tab_opened_late_shows_history(tab: Tab, watched: Watched) -> None:
    watched.set_multiplier(5.0)
    tab.until(lambda: float(tab.shown_time) > 8.0, "a history of some length")
    watched.set_multiplier(SLOWLY)
    tab.page.get_by_text("Plots", exact=True).click()
    tab.until(lambda: [plot[0] > 0.0 for plot in tab.page.evaluate(PLOTS)] == [True] * 4, "plots that have a width")
    for _, lowest, highest, first, last in tab.page.evaluate(PLOTS):
        assert (lowest, highest) == (-30.0, 0.0)
        assert -30.0 <= first < -5.0 and last == 0.0
    # At rest the labels of an axis differ: "0", "-0", "-0" would not.
    for labels in tab.page.evaluate(LABELS):
        shown = [label for label in labels if label]
        assert len(shown) > 1 and len(set(shown)) == len(shown), labels
    tab.page.get_by_text("Flight", exact=True).click()


def choose(tab: Tab, label: str, option: str) -> None:
    """Choose an option of a list once it is there."""
    tab.page.get_by_label(label, exact=True).first.click()
    tab.page.get_by_role("option", name=option, exact=True).click()


@large_page
def test_any_field_is_plotted_by_its_name(tab: Tab) -> None:
    tab.page.get_by_text("Plots", exact=True).click()
    choose(tab, "Topic", "/sim/sensors/baro")
    tab.until(lambda: tab.button("Add plot").is_enabled(), "the fields")
    choose(tab, "Field", "altitude")
    tab.click("Add plot")
    remove = tab.button("Remove altitude")
    tab.until(remove.is_visible, "the plot")
    tab.until(lambda: len(tab.page.evaluate(PLOTS)) == 5, "five plots")
    tab.until(lambda: tab.page.evaluate(PLOTS)[-1][3] < 0.0, "some values")
    remove.dispatch_event("click")
    tab.until(lambda: not remove.count(), "no plot")
    # The page applies removals at once and updates at the end of a frame, and then misses the plot of the last update.
    tab.errors[:] = [error for error in tab.errors if not error.startswith("Tried to update non-existent component")]
    tab.page.get_by_text("Flight", exact=True).click()


def test_pace_control_shows_externally_set_multiplier(tab: Tab, watched: Watched) -> None:
    pace = tab.page.get_by_label("Pace")
    tab.until(lambda: pace.input_value() == f"{SLOWLY:g} x", "the pace of the start")
    watched.set_multiplier(1.5)
    tab.until(lambda: pace.input_value() == "1.5 x", "the pace that was set")
    watched.set_multiplier(SLOWLY)
    tab.until(lambda: pace.input_value() == f"{SLOWLY:g} x", "the pace that was set back")


# Number of pixels drawn per pixel of the page, in each direction.
DRAWN = "() => { const scene = document.querySelector('canvas[data-engine]'); return scene.width / scene.clientWidth }"

# Draws a frame about every 80 ms.
DRAW_SLOWLY = """() => {
    window.frameIntervalMs = 80;
    const next = () => requestAnimationFrame(next);
    next();
}"""


@pytest.mark.parametrize(("setting", "ratio"), [("", 0.63), ("/?fixedDpr=0.5", 0.5)])
def test_page_rendered_on_the_cpu_draws_fewer_pixels_unless_its_address_says_how_many(
    browser: Any, watched: Watched, page: Tab, setting: str, ratio: float
) -> None:
    # 0.63 of the pixels in each direction are 200,000 of 900 x 560.
    other = Tab(browser, f"{watched.url}{setting}", width=900, height=560)
    assert other.page.evaluate(DRAWN) == pytest.approx(ratio, rel=0.02)
    other.until(lambda: ("fixedDpr" in other.page.url) == bool(setting), "the address as it was given")
    assert other.errors == []
    other.page.close()
    assert page.errors == []


def test_page_that_draws_slowly_draws_fewer_pixels(browser: Any, watched: Watched) -> None:
    other = Tab(browser, watched.url, **SMALL)
    before = other.page.evaluate(DRAWN)
    other.page.evaluate(DRAW_SLOWLY)
    other.until(lambda: other.page.evaluate(DRAWN) < 0.8 * before, "fewer pixels", every_ms=500)
    assert other.errors == []
    other.page.close()


def test_two_browsers_can_view_at_once_and_one_may_be_closed(browser: Any, tab: Tab, watched: Watched) -> None:
    other = Tab(browser, watched.url, **SMALL)
    assert_time_advances(tab, "first")
    assert_time_advances(other, "second")
    other.click("Pause")
    tab.until(lambda: "paused at" in tab.text, "what the second browser did, in the first")
    other.page.close()
    tab.click("Resume")
    assert_time_advances(tab, "first, alone")
    assert watched.viewer.error_lines == []


def test_fly_button_makes_the_vehicle_ready_and_flies_the_mission(tab: Tab, watched: Watched) -> None:
    watched.set_multiplier(5.0)
    tab.click("Fly")
    # On a busy machine, the page is too slow to show each phase at this pace.
    watched.observer.wait_for(lambda: "side 1" in watched.phases, "the first side")
    watched.set_multiplier(SLOWLY)
    tab.until(lambda: "mission: side" in tab.text, "a side on the page", watched.listen)
    done = ("Calibrate the IMU", "Arm", "Give control to the autopilot", "Start the mission")
    for line in (*(f"\N{CHECK MARK} {step}" for step in done), "battery 2", "target height 5."):
        assert line in tab.text, line
    assert "% done" in tab.text
    assert watched.status.armed and watched.status.offboard
    tab.until(lambda: tab.button("Fly").is_disabled(), "no second flight")
    tab.until(lambda: tab.button("Start mission").is_disabled(), "no second mission")


def test_disturb_panel_sets_wind_and_mass_and_lets_parts_fail(tab: Tab, watched: Watched) -> None:
    tab.page.get_by_text("Disturb", exact=True).dispatch_event("click")
    tab.click("Set wind")
    tab.until(lambda: "6 m/s from 270 deg" in tab.text, "the answer")
    tab.until(lambda: "wind 6.0 m/s" in tab.text, "the wind")
    mass = tab.row_of("mass, kg").get_by_role("textbox")
    tab.until(lambda: mass.input_value() == "3.5", "the present mass")
    mass.fill("3.8")
    mass.press("Enter")
    tab.click("Set mass")
    tab.until(lambda: "3.8 kg" in tab.text, "the mass")
    failures = {"Gust": "wind front 0 6 0 for 5", "Motor off": "motor 1 off", "GNSS lost": "gnss jammed"}
    for label, text in failures.items():
        tab.click(label)
        tab.until(lambda text=text: text in tab.text, label)
    tab.dismiss_notifications()
    tab.page.get_by_text("Timeline", exact=True).click()
    for text in failures.values():
        tab.until(lambda text=text: text in tab.text, "the event")
    tab.page.get_by_text("Flight", exact=True).click()
    tab.click("End failures")
    tab.until(lambda: "sensors: none" in tab.text, "the end of the failures")


def test_page_continues_after_simulation_restart(tab: Tab, watched: Watched) -> None:
    assert_time_advances(tab, "before")
    last = float(tab.shown_time)
    watched.simulation.signal(signal.SIGTERM)
    watched.simulation.wait()
    watched.start_simulation()
    tab.until(lambda: float(tab.shown_time) < last, "a time that begins anew")
    assert_time_advances(tab, "after")


def test_buttons_without_service_are_disabled(is_disabled_without_simulation: bool, tab: Tab) -> None:
    assert is_disabled_without_simulation
    tab.until(lambda: tab.button("Pause").is_enabled(), "the button, with the service")


def test_port_in_use_ends_viewer_with_one_line(processes: Processes) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        viewer = start_viewer(processes, "-p", f"web_viewer.port:={port}")
        assert viewer.wait() == 1
    assert len(viewer.error_lines) == 1
    assert f"127.0.0.1:{port} (Address already in use)" in viewer.error_lines[0]


@pytest.fixture
def flown(browser: Any, processes: Processes, tmp_path: Path) -> Iterator[tuple[Tab, Program]]:
    """The page of a short flight of `fly`."""
    short = ("square_side:=1.0", "square_height:=1.0", f"step_size:={STEP_S}", "web_viewer.port:=0")
    given = [word for one in short for word in ("-p", one)]
    program = processes.command(
        "fly", "--view", "--calm", "--real-time-multiplier", "10", "--output", str(tmp_path), "--ros-args", *given
    )
    tab = Tab(browser, url_of(program), **SMALL)
    yield tab, program
    tab.page.close()
    assert tab.outside == []
    assert tab.errors == []


def test_page_of_fly_shows_the_verdict_and_flies_again_until_ctrl_c(flown: tuple[Tab, Program], tmp_path: Path) -> None:
    tab, program = flown
    again = tab.button("Fly again")
    tab.until(lambda: again.is_visible() and again.is_enabled(), "the end of the flight")
    tab.until(lambda: tab.button("Fly").is_disabled(), "the page cannot start the mission")
    by_hand = tab.button("Fly by hand")
    tab.until(by_hand.is_disabled, "nothing to fly by hand")
    assert by_hand.get_attribute("title") == "no simulation of this vehicle is running"
    for part in ("multirotor: completed", "largest miss of a waypoint", f"plot: {tmp_path}"):
        assert part in tab.text, part
    assert tab.page.get_by_alt_text("plot of the flight").evaluate("image => image.naturalWidth") > 100
    last_s = float(tab.shown_time)

    tab.page.get_by_text("Timeline", exact=True).click()
    tab.until(lambda: "mission: take off" in tab.text, "the events")
    for event in ("armed", "waypoint 1 passed", "mission: land", "disarmed"):
        assert event in tab.text, event
    tab.page.get_by_role("button", name=re.compile("s mission: take off")).dispatch_event("click")
    tab.until(lambda: 0.0 < float(tab.shown_time) < 0.7 * last_s, "the take-off once more")
    tab.click("Back to live")
    tab.page.get_by_text("Flight", exact=True).click()

    tab.click("Fly again")
    tab.until(lambda: not again.is_visible(), "the next flight")
    tab.until(again.is_visible, "its end")
    tab.until(lambda: len(list(tmp_path.glob("*.png"))) == 2, "its plot")
    program.signal(signal.SIGINT)
    assert program.wait() == 0
    assert program.error_lines == []
