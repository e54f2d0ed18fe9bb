"""Effect of water on colours."""

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest
from camera_views import camera_named, truth_at

from rosflight_py_sim.camera.faces import brightness
from rosflight_py_sim.world import Kind, Object, Pool, Water, World, load_world
from rosflight_py_sim.world.colours import COLOURS

# OpenCV's hues for which missions search, with saturation and value of at least 50; black has a value of at most 70.
HUES = {"blue": (105, 135), "green": (45, 75), "yellow": (20, 35), "orange": (0, 30), "purple": (135, 165)}

NAMES = {colour: name for name, colour in COLOURS.items()}


def hsv(image):
    return cv2.cvtColor(image, cv2.COLOR_BGR2HSV).reshape(-1, 3).astype(int)


def view_of(thing, distance):
    """Camera and truth of a vehicle that sees an object in the middle, at a distance from the object's surface."""
    north, east, down = thing.position_ned
    if thing.kind is Kind.RING:
        # From below, nose up; the ring surrounds the middle of the image.
        camera = camera_named("front")
        return camera, truth_at((north, east, down + distance + camera.position_body[0]), 0, 90)
    if thing.kind is Kind.GATE or "post" in thing.name:
        camera = camera_named("front")
        away = distance + 0.5 * thing.size[-1 if thing.kind is Kind.GATE else 0] + camera.position_body[0]
        place = (north - away * math.cos(thing.yaw), east - away * math.sin(thing.yaw), down)
        return camera, truth_at(place, yaw_deg=math.degrees(thing.yaw))
    camera = camera_named("bottom")
    top = down - (0.5 * thing.size[2] if thing.kind in (Kind.BOX, Kind.BIN) else 0.0)
    return camera, truth_at((north, east, max(top - distance - camera.position_body[2], 0.0)), yaw_deg=30.0)


def has_colour(pixels, colour):
    """Mask of the pixels (n, 3), HSV, that a mission searching for the colour finds."""
    hue, saturation, value = pixels.T
    if colour == "black":
        return value <= 70
    if colour == "white":
        return (saturation < 50) & (value > 70)
    vivid = (saturation >= 50) & (value >= 50)
    if colour == "red":
        # Hues about 0, where the circle begins.
        return vivid & (np.abs((hue + 90) % 180 - 90) <= 10)
    low, high = HUES[colour]
    return vivid & (low <= hue) & (hue <= high)


@pytest.mark.parametrize("name", [thing.name for thing in load_world("pool").objects])
def test_pool_objects_keep_their_colours_at_three_distances(picture, name):
    world = load_world("pool")
    (thing,) = (one for one in world.objects if one.name == name)
    empty = replace(world, objects=tuple(one for one in world.objects if one is not thing))
    for distance in (1.0, 2.0, 3.5):
        camera, truth = view_of(thing, distance)
        image = picture(world, camera, truth)
        changed = np.any(image != picture(empty, camera, truth), axis=2)
        # Antialiased edges mix two colours; some remain in inner corners.
        inner = cv2.erode(changed.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        found = has_colour(hsv(image[inner][None]), NAMES[thing.colour])
        assert len(found) >= 4
        assert np.mean(found) > 0.98


@pytest.mark.parametrize("colour", [*HUES, "red", "black", "white"])
def test_pool_paint_keeps_its_hue_from_every_depth(colour):
    world = load_world("pool")
    for distance in np.arange(0.0, world.pool.depth, 0.1):
        left = np.exp(-np.array(world.water.attenuation) * distance)
        seen = left * COLOURS[colour] + (1.0 - left) * world.water.colour
        assert has_colour(hsv(np.round(seen[::-1]).astype(np.uint8)[None, None]), colour).all()


@pytest.mark.parametrize("name", ["front", "bottom"])
@pytest.mark.parametrize("depth", [0.3, 2.0, 3.5])
@pytest.mark.parametrize("yaw_deg", [0.0, 120.0, 240.0])
def test_pool_floor_walls_and_water_are_less_saturated_than_any_object(picture, name, depth, yaw_deg):
    world = replace(load_world("pool"), objects=())
    pixels = hsv(picture(world, camera_named(name), truth_at((-6.0, 1.0, depth), yaw_deg=yaw_deg)))
    # Missions search for a saturation of at least 50.
    assert pixels[:, 1].max() < 50
    if name == "bottom":
        assert pixels[:, 2].min() > 70


def test_blue_pool_differs_from_pool_only_in_water_colour(picture):
    pool, blue = load_world("pool"), load_world("blue_pool")
    assert replace(blue, name="pool", water=pool.water) == pool
    pixels = hsv(picture(replace(blue, objects=()), camera_named("front"), truth_at((-6.0, 1.0, 2.0))))
    # Water and tiles at some distance are saturated, with hues between green and blue.
    assert np.median(pixels[:, 1]) > 100
    assert 80 < np.median(pixels[:, 0]) < 105


@pytest.mark.parametrize("visibility", [(15.0, 22.0, 25.0), (2.0, 4.0, 3.0)])
@pytest.mark.parametrize("distance", [0.3, 1.0, 2.5, 6.0, 15.0])
def test_contrast_decays_exponentially_with_distance(picture, distance, visibility):
    colour, water_colour = (230, 200, 40), (20, 90, 120)
    board = Object("board", Kind.BOX, (20.0, 0.0, 2.5), 0.0, (1.0, 4.0, 4.0), colour, solid=True)
    world = World("", pool=Pool(50.0, 50.0, 5.0, (0, 0, 0)), water=Water(water_colour, visibility), objects=(board,))
    camera = camera_named("front")
    truth = truth_at((19.5 - distance - camera.position_body[0], 0.0, 2.5))
    row = picture(world, camera, truth)[119]
    lit = brightness(np.array((-1.0, 0.0, 0.0))) * np.array(colour)
    for u in (0, 80, 159) if distance < 2.0 else (159,):
        # Towards the side, the board is equally far along the axis, but the path through the water is longer.
        way = distance * math.hypot(1.0, (u - 159.5) / camera.focal_length)
        left = np.exp(-math.log(20.0) / np.array(visibility) * way)
        expected = left * lit + (1.0 - left) * np.array(water_colour)
        # Half a level of rounding, and another half for the table.
        np.testing.assert_allclose(row[u][::-1], expected, atol=1.0)


def test_distant_view_is_pure_water_colour(picture):
    world = load_world("open_water")
    truth = truth_at((0.0, 0.0, 2.0), yaw_deg=180.0)
    # Level, with nothing in view.
    np.testing.assert_array_equal(
        picture(world, camera_named("front"), truth)[125], np.tile(world.water.colour[::-1], (320, 1))
    )


def test_floor_seen_from_above_is_attenuated_only_by_water(picture):
    water_colour = (20, 90, 120)
    pool = Pool(50.0, 50.0, 3.0, (200, 200, 200))
    world = World("", pool=pool, water=Water(water_colour, (5.0, 9.0, 12.0)))
    camera = camera_named("bottom")
    pixels = [picture(world, camera, truth_at((0.3, 0.3, -height)))[119, 159].astype(int) for height in (1.0, 6.0)]
    # The height above the water adds only a little haze.
    np.testing.assert_allclose(*pixels, atol=2)
    left = np.exp(-math.log(20.0) / np.array((5.0, 9.0, 12.0)) * 3.0)
    expected = left * 200 + (1 - left) * np.array(water_colour)
    # A fiftieth is the sky's mirror image, and a tile's tone is up to 3 % from the mean.
    np.testing.assert_allclose(pixels[0][::-1], expected, atol=0.05 * 255)


def test_dry_land_has_sky_above_and_ground_below(picture):
    view = picture(World(""), camera_named("front"), truth_at((0.0, 0.0, -5.0))).astype(int)
    assert (view[:115, :, 0] > view[:115, :, 1]).all()
    assert (view[140:, :, 1] > view[140:, :, 0]).all()
    assert view[140:].std() > 3
