"""What water does to colours."""

import math

import cv2
import numpy as np
import pytest
from camera_views import camera_named, truth_at

from rosflight_py_sim.camera.faces import brightness
from rosflight_py_sim.world import Kind, Object, Pool, Water, World, load_world

# OpenCV's hues, which missions look for, with saturation and value of at least 50; black has a value of at most 70.
HUES = {"blue": (105, 135), "green": (45, 75), "yellow": (20, 35), "orange": (0, 30), "purple": (135, 165)}

FLAT = {
    "blue": "blue disc",
    "green": "green disc",
    "yellow": "yellow square",
    "orange": "orange rectangle",
    "purple": "disc under the ring",
    "black": "black square",
}


def hsv_at(picture, camera, truth, place):
    u, v = (round(one) for one in camera.pixel(truth, place))
    return cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)[v - 2 : v + 3, u - 2 : u + 3].reshape(-1, 3).astype(int)


def assert_colour(pixels, colour):
    hue, saturation, value = pixels.T
    if colour == "black":
        assert value.max() <= 70
        return
    low, high = HUES[colour]
    assert low <= hue.min() <= hue.max() <= high
    assert min(saturation.min(), value.min()) >= 50


@pytest.mark.parametrize("distance", [1.0, 2.0])
@pytest.mark.parametrize("colour", FLAT)
def test_colours_of_the_pool_are_found_by_their_hues_from_above(picture, colour, distance):
    world = load_world("pool")
    camera = camera_named("bottom")
    (thing,) = (one for one in world.objects if one.name == FLAT[colour])
    north, east, down = thing.position_ned
    truth = truth_at((north, east, down - 0.01 - distance - camera.position_body[2]), yaw_deg=thing.yaw)
    assert_colour(hsv_at(picture(world, camera, truth), camera, truth, thing.position_ned), colour)


@pytest.mark.parametrize(
    ("colour", "name"), [("blue", "blue post"), ("black", "black post"), ("green", "green platform")]
)
@pytest.mark.parametrize("heading_deg", [0.0, 90.0, 180.0, 270.0])
def test_colours_of_the_pool_are_found_by_their_hues_from_all_sides(picture, colour, name, heading_deg):
    world = load_world("pool")
    camera = camera_named("front")
    (thing,) = (one for one in world.objects if one.name == name)
    heading = math.radians(heading_deg)
    north, east, down = thing.position_ned
    distance = 1.0 + 0.5 * thing.size[0] + camera.position_body[0]
    truth = truth_at(
        (north - distance * math.cos(heading), east - distance * math.sin(heading), down), 0, 0, heading_deg
    )
    assert_colour(hsv_at(picture(world, camera, truth), camera, truth, thing.position_ned), colour)


def test_floor_of_the_pool_is_none_of_the_colours(picture):
    world = load_world("pool")
    camera = camera_named("bottom")
    truth = truth_at((-9.0, 0.0, 2.0))
    hsv = cv2.cvtColor(picture(world, camera, truth), cv2.COLOR_BGR2HSV).reshape(-1, 3).astype(int)
    vivid = hsv[(hsv[:, 1] >= 50) & (hsv[:, 2] >= 50)]
    for low, high in HUES.values():
        assert not ((vivid[:, 0] >= low) & (vivid[:, 0] <= high)).any()
    assert hsv[:, 2].min() > 70


@pytest.mark.parametrize("visibility", [(15.0, 22.0, 25.0), (2.0, 4.0, 3.0)])
@pytest.mark.parametrize("distance", [0.3, 1.0, 2.5, 6.0, 15.0])
def test_contrast_fades_with_distance_by_the_law(picture, distance, visibility):
    colour, water_colour = (230, 200, 40), (20, 90, 120)
    board = Object("board", Kind.BOX, (20.0, 0.0, 2.5), 0.0, (1.0, 4.0, 4.0), colour, solid=True)
    world = World("", pool=Pool(50.0, 50.0, 5.0, (0, 0, 0)), water=Water(water_colour, visibility), objects=(board,))
    camera = camera_named("front")
    truth = truth_at((19.5 - distance - camera.position_body[0], 0.0, 2.5))
    row = picture(world, camera, truth)[119]
    lit = brightness(np.array((-1.0, 0.0, 0.0))) * np.array(colour)
    for u in (0, 80, 159) if distance < 2.0 else (159,):
        # Towards the side the board is as far, but the way through the water longer.
        way = distance * math.hypot(1.0, (u - 159.5) / camera.focal_length)
        left = np.exp(-math.log(20.0) / np.array(visibility) * way)
        expected = left * lit + (1.0 - left) * np.array(water_colour)
        # Half a level of rounding, and as much again for the table.
        np.testing.assert_allclose(row[u][::-1], expected, atol=1.0)


def test_far_away_all_is_water(picture):
    world = load_world("open_water")
    truth = truth_at((0.0, 0.0, 2.0), yaw_deg=180.0)
    # Level, in clear view of nothing.
    np.testing.assert_array_equal(
        picture(world, camera_named("front"), truth)[125], np.tile(world.water.colour[::-1], (320, 1))
    )


def test_from_above_the_floor_is_seen_through_the_water_alone(picture):
    water_colour = (20, 90, 120)
    pool = Pool(50.0, 50.0, 3.0, (200, 200, 200))
    world = World("", pool=pool, water=Water(water_colour, (5.0, 9.0, 12.0)))
    camera = camera_named("bottom")
    pixels = [picture(world, camera, truth_at((0.3, 0.3, -height)))[119, 159].astype(int) for height in (1.0, 6.0)]
    # The height above the water takes nothing but a little haze.
    np.testing.assert_allclose(*pixels, atol=2)
    left = np.exp(-math.log(20.0) / np.array((5.0, 9.0, 12.0)) * 3.0)
    expected = left * 200 + (1 - left) * np.array(water_colour)
    # A fiftieth is the sky's mirror image, and a tile's tone is up to 3 % from the mean.
    np.testing.assert_allclose(pixels[0][::-1], expected, atol=0.05 * 255)


def test_sky_is_above_and_ground_below_on_dry_land(picture):
    view = picture(World(""), camera_named("front"), truth_at((0.0, 0.0, -5.0))).astype(int)
    assert (view[:115, :, 0] > view[:115, :, 1]).all()
    assert (view[140:, :, 1] > view[140:, :, 0]).all()
    assert view[140:].std() > 3
