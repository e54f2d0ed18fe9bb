"""World files: values read, and invalid entries refused with their path and line."""

import math
from dataclasses import replace

import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.world import (
    DRY_LAND,
    Kind,
    WorldError,
    distance_to_part,
    known_worlds,
    load_world,
    part_array,
    world_of,
)
from rosflight_py_sim.world.world_file import corners

POOL = """\
pool: {length_north: 10, width_east: 6, depth: 3}
water:
  colour: pool_water
  visibility: 20
start: {position: [1, 0, 0.5]}
objects:
  - kind: box
    name: crate
    position: [-2, 1, 2.5]
    yaw_deg: 90
    size: [1, 0.5, 1]
    colour: red
  - {kind: ring, position: [3, 0, 0], size: [2.0, 0.1], colour: [255, 0, 128], solid: false}
"""


@pytest.fixture
def world_file(tmp_path):
    def write(text):
        file = tmp_path / "basin.yaml"
        file.write_text(text)
        return file

    return write


def test_file_is_parsed_correctly(world_file):
    world = load_world(world_file(POOL))
    assert world.name == "basin"
    assert (world.pool.length_north, world.pool.width_east, world.pool.depth, world.floor_down) == (10, 6, 3, 3)
    assert world.water.visibility == (20, 20, 20)
    assert world.start.position_ned == (1, 0, 0.5)
    crate, ring = world.objects
    assert (crate.name, crate.kind, crate.position_ned, crate.solid) == ("crate", Kind.BOX, (-2, 1, 2.5), True)
    assert crate.yaw == pytest.approx(math.pi / 2)
    assert crate.size == (1, 0.5, 1)
    assert (ring.name, ring.colour, ring.solid) == ("ring 1", (255, 0, 128), False)


def test_visibility_is_distance_at_five_percent_contrast(world_file):
    water = load_world(world_file(POOL)).water
    assert [math.exp(-rate * 20) for rate in water.attenuation] == pytest.approx([0.05] * 3, rel=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "line", "path", "words"),
    [
        ("depth: 3}", "depth: 3, dept: 1}", 1, "pool.dept", "unknown key given.*did you mean depth"),
        ("depth: 3}", "depth: 3, depth: 4}", 1, "pool.depth", "second one given"),
        (", depth: 3}", "}", 1, "pool", "no depth given"),
        ("length_north: 10", "length_north: 0", 1, "pool.length_north", "0 given; allowed: .*greater than 0"),
        ("length_north: 10", "length_north: '10'", 1, "pool.length_north", "'10' given; allowed: a number"),
        ("length_north: 10", "length_north: .nan", 1, "pool.length_north", r"\.nan given"),
        ("length_north: 10", "length_north: 1e400", 1, "pool.length_north", "1e400 given"),
        ("visibility: 20", "visibility: [1, 2]", 4, "water.visibility", r"\[1, 2\] given; allowed: \[red, green, blue"),
        ("visibility: 20", "visibility: [9, -1, 9]", 4, r"water.visibility\[1\]", "-1 given"),
        ("visibility: 20", "visibility:", 4, "water.visibility", "'' given; allowed: a number"),
        ("colour: pool_water", "colour: wet", 3, "water.colour", "wet given; allowed: .*pool_water"),
        ("objects:\n", "gravel: 1\nobjects:\n", 6, "gravel", "unknown key"),
        ("kind: box", "kind: boks", 7, r"objects\[0\].kind", "boks given; allowed: box, cylinder"),
        ("    position: [-2, 1, 2.5]\n", "", 7, r"objects\[0\]", "no position given"),
        ("position: [-2, 1, 2.5]", "position: [-2, 1]", 9, r"objects\[0\].position", "allowed: .north, east, down"),
        ("[-2, 1, 2.5]", "[-2, 1, 2.6]", 9, r"objects\[0\].position", "0.1 m beyond the floor"),
        ("[-2, 1, 2.5]", "[-4.9, 1, 2.5]", 9, r"objects\[0\].position", "0.15 m beyond the north and south walls"),
        ("yaw_deg: 90", "yaw_deg: [1]", 10, r"objects\[0\].yaw_deg", r"\[1\] given; allowed: a number"),
        ("size: [1, 0.5, 1]", "size: [1, -0.5, 1]", 11, r"objects\[0\].size\[1\]", "-0.5 given; allowed: .*greater"),
        ("size: [1, 0.5, 1]", "size: [1, 0.5]", 11, r"objects\[0\].size", r"allowed: \[length, width, height\]"),
        ("colour: red", "colour: [1, 2, 300]", 12, r"objects\[0\].colour\[2\]", "300 given"),
        ("size: [2.0, 0.1]", "size: [2.0, 1.0]", 13, r"objects\[1\].size", "less than half the diameter"),
        ("solid: false", "solid: maybe", 13, r"objects\[1\].solid", "maybe given; allowed: true, false"),
        ("kind: ring, position", "kind: ring, name: crate, position", 13, r"objects\[1\].name", "'crate' given"),
        ("kind: ring", "kind: line, solid: true", 13, r"objects\[1\].solid", "a second one given"),
        ("[1, 0, 0.5]", "[-2, 1, 2.5]", 5, "start.position", "in or beyond the object 'crate'"),
        ("[1, 0, 0.5]", "[-2, 1.6, 2.5]", 5, "start.position", "0.1 m from the object 'crate'.*0.3 m .clearance."),
        ("[1, 0, 0.5]", "[1, 2.9, 0.5]", 5, "start.position", "0.1 m from the east and west walls"),
        ("[1, 0, 0.5]", "[1, 0, 3.5]", 5, "start.position", "in or beyond the floor"),
        ("pool: {length_north: 10, width_east: 6, depth: 3}\n", "", 2, "water", "neither given"),
        ("water:\n", "sea_floor: {depth: 3}\nwater:\n", 2, "sea_floor", "both given"),
    ],
)
def test_invalid_values_are_rejected_with_path_and_line(world_file, old, new, line, path, words):
    assert old in POOL
    file = world_file(POOL.replace(old, new))
    with pytest.raises(WorldError, match=rf"basin.yaml, line {line}: {path}: .*{words}"):
        load_world(file)


def test_paint_cannot_be_solid(world_file):
    text = POOL.replace("kind: ring", "kind: line").replace("solid: false", "solid: true")
    with pytest.raises(WorldError, match=r"line 13: objects\[1\].solid: true given; allowed: false for a line"):
        load_world(world_file(text))


def test_size_error_names_the_element(world_file):
    with pytest.raises(WorldError, match=r"line 11: objects\[0\].size\[0\]: long given; allowed: a number"):
        load_world(world_file(POOL.replace("size: [1,", "size: [long,")))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("pool: [", "not YAML"),
        ("- a list", "line 1: a list given|line 1: .*allowed: a mapping"),
        ("[" * 100_000, "not YAML"),
        ("a: &a [*a]", "not YAML: an alias"),
    ],
)
def test_file_that_is_not_a_world_is_rejected(world_file, text, words):
    with pytest.raises(WorldError, match=words):
        load_world(world_file(text))


def test_non_text_bytes_are_rejected(tmp_path):
    file = tmp_path / "noise.yaml"
    file.write_bytes(bytes(range(128, 256)))
    with pytest.raises(WorldError, match="cannot be read"):
        load_world(file)


def test_unknown_name_is_rejected_with_allowed_names():
    names = ", ".join(known_worlds())
    with pytest.raises(WorldError, match=rf"no world 'puddle'; allowed: a name \({names}\)"):
        load_world("puddle")


def test_parameter_selects_the_world_and_rejects_unknown_ones():
    assert world_of({"world": ""}) is DRY_LAND
    assert world_of({"world": "pool"}).name == "pool"
    with pytest.raises(ParameterError, match="parameter 'world': there is no world 'puddle'"):
        world_of({"world": "puddle"})


@pytest.mark.parametrize("name", known_worlds())
def test_included_worlds_contain_their_objects_and_a_clear_start(name):
    world = load_world(name)
    assert world.objects
    for thing in world.objects:
        for _, _, down in corners(thing):
            assert down <= world.floor_down + 1e-6
        if world.pool:
            assert all(abs(north) <= 0.5 * world.pool.length_north for north, _, _ in corners(thing))
            assert all(abs(east) <= 0.5 * world.pool.width_east for _, east, _ in corners(thing))
    solid = part_array(thing for thing in world.objects if thing.solid)
    assert min(distance_to_part(row, *world.start.position_ned) for row in solid) >= world.start.clearance


def test_pool_matches_the_test_scene_of_its_protocol():
    world = load_world("pool")
    assert world.pool.depth == 3.9
    assert {thing.kind for thing in world.objects} == set(Kind)
    # Objects within about 7 m of the centre.
    assert max(math.hypot(*thing.position_ned[:2]) for thing in world.objects) < 7.0


def test_world_can_override_keys_of_a_base_world(world_file, tmp_path):
    world_file(POOL)
    other = tmp_path / "murky.yaml"
    other.write_text("based_on: basin.yaml\nwater: {colour: black, visibility: 2}\n")
    base, world = load_world(tmp_path / "basin.yaml"), load_world(other)
    assert world.name == "murky"
    assert world.water.colour == (12, 12, 12)
    assert replace(world, name=base.name, water=base.water) == base


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("based_on: puddle", rf"line 1: based_on: puddle given; allowed: a name \({', '.join(known_worlds())}\) or"),
        ("based_on: blue_pool", "based_on: blue_pool given; allowed: a world that is based on no other"),
        ("based_on: [pool]", r"based_on: \[pool\] given; allowed: a text"),
        ("based_on: pool\npool: {length_north: 5, width_east: 5, depth: 3}", r"pool.yaml, line \d+: objects\[0\]"),
    ],
)
def test_invalid_base_world_is_rejected(world_file, text, reason):
    with pytest.raises(WorldError, match=reason):
        load_world(world_file(text))
