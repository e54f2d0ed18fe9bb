"""Names of several vehicles over the scene, in a browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pytest
import viser

from rosflight_py_sim.viewer.appearance import appearance
from rosflight_py_sim.viewer.web.cockpit import Cockpit
from rosflight_py_sim.viewer.web.display import Display
from rosflight_py_sim.viewer.web.server import open_server, stop_server, url_of
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView
from rosflight_py_sim.world import DRY_LAND
from test.processes.browser import Tab, browsers

pytestmark = pytest.mark.timeout(120)

# Text, visibility, and place of the bottom centre in the scene, from 0 to 1 to the right and down.
NAMES = """() => {
    const scene = document.querySelector("canvas").getBoundingClientRect();
    const place = (box) => [(box.x + box.width / 2 - scene.x) / scene.width, (box.bottom - scene.y) / scene.height];
    return Object.fromEntries([...document.querySelectorAll("#names span")].map(
        (name) => [name.textContent, [!name.hidden, ...place(name.getBoundingClientRect())]]));
}"""


@pytest.fixture
def server() -> Iterator[tuple[viser.ViserServer, Cockpit]]:
    cockpit = Cockpit()
    server = open_server("127.0.0.1", 0, "test", cockpit)
    yield server, cockpit
    stop_server(server)


def views(places: Mapping[str, tuple[float, float]]) -> dict[str, VehicleView]:
    """Level vehicles 5 m up, by name, at places north and east."""
    return {
        name: VehicleView(0.0, np.array([*place, -5.0, 1.0, *[0.0] * 15]), np.zeros(3), np.full(14, 1000.0))
        for name, place in places.items()
    }


def test_names_are_text_of_the_page_over_the_vehicles(server: tuple[viser.ViserServer, Cockpit]) -> None:
    # The camera follows the first from behind, on the left.
    places = {"lead": (0.0, 0.0), "swarm/second <b>": (0.0, 0.5), "behind": (-1000.0, 0.0)}
    display = Display(server[0], dict.fromkeys(places, appearance("dart")), DRY_LAND, server[1])
    with browsers() as browser:
        tab = Tab(browser, f"{url_of(server[0])}/?fixedDpr=0.3", ready="canvas")

        def names() -> dict[str, list[float]]:
            display.show(views(places))
            return dict(tab.page.evaluate(NAMES))

        tab.until(lambda: names().keys() == places.keys(), "the names")
        # The followed vehicle is in the middle, and its name above it.
        tab.until(lambda: abs(names()["lead"][1] - 0.5) < 0.01, "a name in the middle")
        shown = names()
        assert 0.2 < shown["lead"][2] < 0.5
        assert 0.5 < shown["swarm/second <b>"][1] < 1.0
        assert [shown[name][0] for name in places] == [True, True, False]
        display.scene.chosen = "swarm/second <b>"
        tab.until(lambda: abs(names()["swarm/second <b>"][1] - 0.5) < 0.01, "the other name in the middle")
        assert names()["lead"][1] < 0.5
        # viser's warning is closed after 10 s. Before, it would cover the scene of a small page.
        tab.until(lambda: tab.page.locator(".mantine-Notification-root").count() == 0, "a scene without a warning")
        assert (tab.outside, tab.errors) == ([], [])


def test_large_fleet_has_the_name_of_the_selected_vehicle_only(server: tuple[viser.ViserServer, Cockpit]) -> None:
    places = {f"v{k}": (0.0, float(k)) for k in range(13)}
    display = Display(server[0], dict.fromkeys(places, appearance("dart")), DRY_LAND, server[1])
    with browsers() as browser:
        tab = Tab(browser, url_of(server[0]), ready="canvas")

        def names() -> list[str]:
            display.show(views(places))
            return list(tab.page.evaluate(NAMES))

        tab.until(lambda: names() == ["v0"], "the first")
        display.scene.chosen = "v7"
        tab.until(lambda: names() == ["v7"], "the other")
