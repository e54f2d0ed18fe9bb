"""Any content of a world file is either a valid world or refused with a message."""

import contextlib
import random

import pytest

from rosflight_py_sim.world import WorldError, load_world
from rosflight_py_sim.world.world_file import WORLDS

PIECES = [
    "-",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "0",
    "9e9",
    "-1",
    "\n",
    "  ",
    "&a ",
    "*a",
    "null",
    "!!set",
    "'",
    '"',
    "\t",
    "# ",
    "é",
]


@pytest.mark.parametrize("seed", range(4))
def test_corrupted_files_load_or_are_rejected_with_clear_message(tmp_path, seed):
    draw = random.Random(seed)
    # A short one: YAML in Python is slow.
    text = "\n".join((WORLDS / "pool.yaml").read_text().splitlines()[2:16])
    refused = 0
    for number in range(150):
        damaged = text
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(damaged))
            damaged = damaged[:place] + draw.choice(PIECES) + damaged[place + draw.choice((0, 0, 1, 5, 40)) :]
        file = tmp_path / f"{number}.yaml"
        file.write_text(damaged)
        with contextlib.suppress(WorldError):
            load_world(file)
            continue
        refused += 1
    assert 50 < refused < 150
