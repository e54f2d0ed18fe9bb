"""A pilot flies from the page: keys that a browser sends, and a vehicle that climbs, turns and lands."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from rosflight_py_sim.transmitter.channels import ARM, HIGH, LOW, OVERRIDE
from test.processes.browser import Tab, browsers
from test.processes.conftest import Processes
from test.processes.hand_flight import PAGE, Flown, hold, reading, shows, take_control

pytestmark = pytest.mark.timeout(240)


# Notes for how long keys are held, ms, by their own times and by those at which the page takes them.
NOTE_KEYS = """
window.lengths = [];
const pressed = {};
const note = (event) => {
    if (event.type === "keydown") pressed[event.key] = [event.timeStamp, performance.now()];
    else window.lengths.push([event.timeStamp - pressed[event.key][0], performance.now() - pressed[event.key][1]]);
};
for (const kind of ["keydown", "keyup"]) window.addEventListener(kind, (event) => event.repeat || note(event), true);
"""

# Occupies the page for most of each 0.4 s instead of drawing, until `window.rest()`: on a busy machine, a frame in
# software takes so long that the page would also be silent for 2 s, which releases all keys.
OCCUPY = """() => {
    const draw = window.requestAnimationFrame;
    const frames = [];
    window.requestAnimationFrame = (frame) => -frames.push(frame);
    let busy = setTimeout(function occupy() {
        for (const end = performance.now() + 380; performance.now() < end;);
        busy = setTimeout(occupy, 20);
    });
    window.rest = () => {
        clearTimeout(busy);
        window.requestAnimationFrame = draw;
        frames.forEach(draw);
    };
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        browser.add_init_script(NOTE_KEYS)
        yield browser


@pytest.fixture(scope="module")
def flown(
    browser: Any, tmp_path_factory: pytest.TempPathFactory, claim_domain: Callable[[], AbstractContextManager[int]]
) -> Iterator[Flown]:
    with claim_domain() as domain:
        processes = Processes(domain, tmp_path_factory.mktemp("flown"))
        try:
            yield Flown(processes)
        finally:
            processes.close()


@pytest.fixture(scope="module")
def tab(browser: Any, flown: Flown) -> Iterator[Tab]:
    tab = Tab(browser, flown.url, **PAGE)
    yield tab
    assert (tab.outside, tab.errors) == ([], [])


def arm(tab: Tab, flown: Flown) -> None:
    tab.page.locator("#pilot select").select_option("keys wasd")
    take_control(tab, flown)
    tab.until(lambda: flown.status.header.stamp.sec and not flown.status.error_code, "a calibrated IMU", flown.listen)
    assert not flown.status.armed
    tab.page.keyboard.press("t")
    tab.until(lambda: flown.status.armed, "armed", flown.listen)


def climb_at(tab: Tab, flown: Flown, rate: float) -> None:
    """Move the throttle towards that of a vertical speed, m/s; 41.5 % hover."""
    flown.listen()
    lacking_us = 1415.0 + 60.0 * (rate - reading(tab, "climb")) - flown.rc.values[2]
    # Keys move the throttle by 500 us per second.
    tab.page.keyboard.press("w" if lacking_us > 0.0 else "s", delay=min(2.0 * abs(lacking_us), 300.0))


def sink(tab: Tab, flown: Flown) -> None:
    """Descend, slowly near the ground."""
    climb_at(tab, flown, -min(0.8 + 0.4 * reading(tab, "altitude"), 3.0))


def test_pilot_arms_climbs_turns_and_lands_by_keys(tab: Tab, flown: Flown) -> None:
    arm(tab, flown)
    hold(tab, flown, "w", lambda: reading(tab, "altitude") > 1.0, "a vehicle in the air")
    tab.until(lambda: abs(reading(tab, "climb")) < 0.5, "hover", lambda: climb_at(tab, flown, 0.0), every_ms=20)
    hold(tab, flown, "d", lambda: 20.0 < reading(tab, "heading") < 180.0, "a turn to the right")
    hold(tab, flown, "ArrowUp", lambda: reading(tab, "ground_speed") > 1.0, "speed")
    hold(tab, flown, "ArrowDown", lambda: reading(tab, "ground_speed") < 0.5, "a stop")
    tab.until(lambda: reading(tab, "altitude") < 0.3, "the ground", lambda: sink(tab, flown), every_ms=20)
    hold(tab, flown, "s", lambda: flown.rc.values[2] == LOW, "no throttle")
    tab.page.keyboard.press("t")
    tab.until(lambda: not flown.status.armed, "disarmed", flown.listen)
    tab.until(lambda: reading(tab, "altitude") < 0.3 and reading(tab, "climb") == 0.0, "a vehicle on its legs")


# Elements of the page over the middle of the scene, where the vehicle is. viser has two canvases.
COVERING = """() => {
    const {x, y, width, height} = document.querySelector("canvas").getBoundingClientRect();
    const shares = [0.4, 0.5, 0.6];
    const points = shares.flatMap((right) => shares.map((down) => [x + right * width, y + down * height]));
    return points.map(([x, y]) => document.elementFromPoint(x, y).tagName).filter((name) => name !== "CANVAS");
}"""


@pytest.mark.parametrize("size", [(700, 500), (1000, 600), (1280, 600)], ids=lambda size: f"{size[0]} px")
def test_controls_leave_the_vehicle_visible(tab: Tab, size: tuple[int, int]) -> None:
    assert tab.button("Leave controls").is_visible()
    tab.dismiss_notifications()
    try:
        tab.page.set_viewport_size({"width": size[0], "height": size[1]})
        tab.until(lambda: tab.page.evaluate(COVERING) == [], "a scene that nothing covers")
        for control in ("Leave controls", "angles"):
            assert tab.button(control).is_visible()
    finally:
        tab.page.set_viewport_size({"width": PAGE["width"], "height": PAGE["height"]})


def test_second_browser_cannot_take_the_controls(browser: Any, tab: Tab, flown: Flown) -> None:
    other = Tab(browser, flown.url, **PAGE)
    other.until(lambda: other.button("Fly by hand").is_disabled(), "a disabled button")
    # Not even by a message that its page does not send.
    text = other.page.evaluate(
        """() => new Promise((done) => {
            const socket = new WebSocket(`ws://${location.host}/cockpit`);
            socket.onopen = () => socket.send(JSON.stringify({take: "sticks on the page"}));
            socket.onmessage = (event) => event.data.includes("refused") && done(event.data);
        })"""
    )
    assert "another browser flies the vehicle" in text
    other.page.close()
    assert tab.button("Leave controls").is_visible()


def test_leaving_gives_the_switches_back_to_the_services(tab: Tab, flown: Flown) -> None:
    tab.click("Leave controls")
    tab.until(lambda: tab.button("Fly by hand").is_enabled(), "a free seat")
    flown.observer.spin(0.2)
    assert flown.observer.trigger("toggle_arm") == "arm switch on"
    tab.until(lambda: shows(tab, "armed"), "an armed vehicle")
    assert flown.observer.trigger("toggle_arm") == "arm switch off"
    # A pilot who takes the controls of a vehicle that the page shows as armed begins with half throttle.
    tab.until(lambda: shows(tab, "disarmed"), "a disarmed vehicle")


def test_keys_count_for_as_long_as_they_were_held_on_a_page_that_draws_slowly(tab: Tab, flown: Flown) -> None:
    take_control(tab, flown)
    tab.until(lambda: flown.rc.values[2] == LOW, "the throttle at rest", flown.listen)
    tab.page.evaluate("() => {window.lengths.length = 0}")
    tab.page.evaluate(OCCUPY)
    for hold_ms in (60, 250, 60):
        tab.page.keyboard.press("w", delay=hold_ms)
    lengths = tab.page.evaluate("() => {window.rest(); return window.lengths}")
    assert max(abs(held_ms - taken_ms) for held_ms, taken_ms in lengths) > 100.0
    # A key moves the throttle by 500 us per second.
    throttle_us = min(LOW + 0.5 * sum(held_ms for held_ms, _ in lengths), HIGH)
    # A pulse width is a whole number.
    tab.until(lambda: abs(float(flown.rc.values[2]) - throttle_us) < 2.0, f"{throttle_us} us", flown.listen)
    tab.click("Leave controls")
    tab.until(lambda: tab.button("Fly by hand").is_enabled(), "a free seat")


def test_sticks_on_the_page_and_switches_move_the_channels(tab: Tab, flown: Flown) -> None:
    tab.dismiss_notifications()
    tab.page.locator("#pilot select").select_option("sticks")
    tab.page.wait_for_selector("#pilot[data-armed=false]")
    take_control(tab, flown)
    box = tab.page.locator("[aria-label='pitch and roll']").bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"], box["y"])
    tab.until(lambda: (flown.rc.values[0], flown.rc.values[1]) == (HIGH, LOW), "right and forward", flown.listen)
    tab.page.mouse.up()
    tab.until(lambda: (flown.rc.values[0], flown.rc.values[1]) == (1500, 1500), "centred", flown.listen)
    assert flown.rc.values[2] == LOW
    tab.click("sticks fly")
    tab.until(lambda: flown.rc.values[OVERRIDE] == LOW, "the computer", flown.listen)
    tab.click("computer flies")
    tab.until(lambda: flown.rc.values[OVERRIDE] == HIGH, "the sticks", flown.listen)


GAMEPAD = """() => {
    window.pad = {id: "Sample Pad (STANDARD GAMEPAD Vendor: 045e Product: 028e)", index: 0, connected: true,
        mapping: "standard", axes: [0, 1, 0, 0], buttons: Array.from({length: 17}, () => ({pressed: false}))};
    navigator.getGamepads = () => [window.pad, null];
    window.dispatchEvent(new Event("gamepadconnected"));
}"""


def test_gamepad_flies_by_the_mapping_file_and_counts_as_unplugged_when_it_is(tab: Tab, flown: Flown) -> None:
    tab.page.evaluate(GAMEPAD)
    tab.page.locator("#pilot select").select_option("gamepad 0")
    tab.page.evaluate("() => {window.pad.axes[2] = 1}")
    tab.until(lambda: flown.rc.values[0] == HIGH, "right", flown.listen)
    tab.page.evaluate("() => {window.pad.buttons[0].pressed = true}")
    tab.until(lambda: flown.rc.values[ARM] == HIGH, "the arm switch", flown.listen)
    tab.until(lambda: flown.status.armed, "armed", flown.listen)
    # A vehicle in flight would fall if the throttle of another device began at the bottom.
    tab.page.locator("#pilot select").select_option("sticks")
    tab.until(lambda: flown.rc.values[2] == 1500, "half throttle", flown.listen)
    tab.page.locator("#pilot select").select_option("gamepad 0")
    tab.page.evaluate("() => {window.pad.connected = false}")
    tab.until(lambda: flown.status.failsafe, "failsafe", flown.listen)
    tab.page.evaluate("() => {window.pad.connected = true; window.pad.buttons[0].pressed = false}")
    tab.until(lambda: not flown.status.failsafe, "the signal", flown.listen)


HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_hidden_page_and_closed_page_are_a_lost_transmitter(tab: Tab, flown: Flown) -> None:
    if not flown.status.armed:
        arm(tab, flown)
    for lose in (lambda: tab.page.evaluate(HIDE, True), tab.page.close):
        assert flown.status.armed
        lose()
        flown.observer.wait_for(lambda: flown.status.failsafe, "failsafe")
        if not tab.page.is_closed():
            tab.page.evaluate(HIDE, False)
            take_control(tab, flown)
            tab.until(lambda: not flown.status.failsafe, "the signal", flown.listen)
    flown.simulation.signal(signal.SIGINT)
    assert flown.simulation.wait() == 130
    assert flown.simulation.error_lines == []
