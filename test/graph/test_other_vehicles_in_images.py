"""Images of the camera node show the other vehicles at their states of the same stamp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rosflight_msgs.msg import SimState
from sensor_msgs.msg import Image

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Camera, Renderer, cameras
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.vehicle_appearance import appearance_of
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.nodes.camera import surroundings
from rosflight_py_sim.nodes.vehicle_shape import faces_of_shape
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import truth_of_message
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.world import DRY_LAND

MakeGraph = Callable[..., Any]
Images = dict[int, NDArray[np.uint8]]
States = dict[int, NDArray[np.float64]]

SIZE = {"image_width": 80, "image_height": 60}
SMALL = tuple(part for name, value in SIZE.items() for part in ("-p", f"{name}:={value}"))

OTHERS = ("hexarotor", "anaconda")


def front() -> Camera:
    return cameras(CAMERA_PARAMETERS.checked(SIZE))[0]


def rendered(*truths: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Image from the first vehicle, showing the other vehicles given."""
    shapes = [faces_of_shape(appearance_of(vehicle(name))) for name in OTHERS[: len(truths) - 1]]
    renderer = Renderer(DRY_LAND, SIZE["image_width"], SIZE["image_height"], vehicles=shapes)
    image = renderer.render(front(), truths[0], truths[1:]).copy()
    renderer.close()
    return image


def member(kind: str, name: str, *place: float) -> Member:
    """A vehicle that falls from 60 m."""
    start = {"initial_position": list(place), "initial_altitude": 60.0, "starts_on_ground": False}
    filmed = vehicle(kind).carrying("camera", name == "filmer")
    return Member(filmed, name, start)


def filmed(graph: MakeGraph, members: list[Member]) -> tuple[Images, dict[str, States]]:
    """Images of the filmer's front camera, and the states of all vehicles, by their stamps."""
    sim = graph(*SMALL, vehicles=members)
    received = sim.collect_messages("/filmer/camera/front/image_raw", Image)
    states: dict[str, list[SimState]] = {
        one.namespace: sim.collect_messages(TRUTH_STATE, at=f"/{one.namespace}") for one in members
    }
    sim.spin_until(lambda: len(received) >= 8, "images")
    sim.close()
    images = {
        time_ns_of(one.header.stamp): np.array(one.data, dtype=np.uint8).reshape(one.height, one.width, 3)
        for one in received
    }
    truths = {
        name: {time_ns_of(one.header.stamp): truth_of_message(one) for one in some} for name, some in states.items()
    }
    return images, truths


def test_image_shows_others_at_its_stamp_the_same_in_each_run_and_order(graph: MakeGraph) -> None:
    members = [member("multirotor", "filmer", 0.0, 0.0)]
    members += [member(kind, kind, 4.0, east) for kind, east in zip(OTHERS, (-0.5, 1.0), strict=True)]
    first, states = filmed(graph, members)
    checked = 0
    for stamp, image in first.items():
        truths = [states[name].get(stamp) for name in ("filmer", *OTHERS)]
        if any(truth is None for truth in truths):
            continue
        checked += 1
        # Alphabetical order: anaconda before hexarotor; the order does not matter.
        np.testing.assert_array_equal(image, rendered(*truths))
        bare = rendered(truths[0])
        for truth in truths[1:]:
            u, v = (round(number) for number in front().pixel(truths[0], tuple(truth[:3])))
            assert (image[v - 4 : v + 5, u - 4 : u + 5] != bare[v - 4 : v + 5, u - 4 : u + 5]).any()
    assert checked >= 5
    images, _ = filmed(graph, members[::-1])
    both = first.keys() & images.keys()
    assert len(both) >= 5
    for stamp in both:
        np.testing.assert_array_equal(images[stamp], first[stamp])


def test_image_does_not_show_a_vehicle_behind_the_camera(graph: MakeGraph) -> None:
    images, states = filmed(
        graph, [member("multirotor", "filmer", 0.0, 0.0), member("hexarotor", "hexarotor", -4.0, 0.0)]
    )
    known = images.keys() & states["filmer"].keys()
    assert len(known) >= 5
    for stamp in known:
        np.testing.assert_array_equal(images[stamp], rendered(states["filmer"][stamp]))


@pytest.mark.parametrize(
    ("namespace", "vehicles", "expected"),
    [
        ("/", [""], ("", [])),
        ("/diver", [""], ("/diver", [])),
        ("/b", ["c", "b", "a"], ("", ["a", "c"])),
        ("/sea/b", ["b", "a"], ("/sea", ["a"])),
        ("/sea/left/b", ["left/b", "b"], ("/sea", ["b"])),
    ],
)
def test_other_vehicles_are_those_of_the_same_simulation(
    namespace: str, vehicles: list[str], expected: tuple[str, list[str]]
) -> None:
    assert surroundings(namespace, vehicles) == expected


def test_vehicles_without_the_own_one_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"\['a', 'b'\] given; allowed: namespaces that include the node's, /c"):
        surroundings("/c", ["a", "b"])
