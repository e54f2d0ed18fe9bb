"""The picture and the table of a dive."""

from __future__ import annotations

import io
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rosflight_py_sim.missions.client_log import Mark
from rosflight_py_sim.missions.dive.log import CameraImage, DiveLog
from rosflight_py_sim.missions.dive.picture import MOMENTS, draw_dive, key_moments
from rosflight_py_sim.missions.dive.summary import DiveSummary, summarise_dive, task_object
from rosflight_py_sim.missions.dive.table import dive_rows
from rosflight_py_sim.missions.summary_table import print_table
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.world_map import outline
from rosflight_py_sim.world import Kind, Object, World, load_world

POOL = load_world("pool")


def short_dive(world: World = POOL, name: str = "auv") -> tuple[DiveLog, DiveSummary]:
    cv2 = pytest.importorskip("cv2")
    actuators = vehicle(name).actuators
    log = DiveLog(actuators)
    for k in range(100):
        truth = np.array([0.02 * k, 0.1, 0.3 + 0.01 * k, 1.0, *[0.0] * 15])
        log.append(5.0 + 0.1 * k, truth, [0.4] * len(actuators), (0.0, 0.0, 0.0))
    log.marks += [Mark(4.99, "dive"), Mark(8.0, "look about"), Mark(14.9, "done")]
    jpeg = cv2.imencode(".jpg", np.full((24, 32, 3), 90, np.uint8))[1].tobytes()
    log.images += [CameraImage(5.0 + k, camera, jpeg) for k in range(10) for camera in ("front", "bottom")]
    tasks = task_object(POOL, "gate", Kind.GATE), task_object(POOL, "ring", Kind.RING)
    return log, summarise_dive(log, world, *tasks, name, 2.0)


@pytest.mark.parametrize("name", ["pool", "open_water"])
@pytest.mark.parametrize("vehicle", ["auv", "bluerov2"])
def test_image_is_a_1600_by_1000_png(tmp_path: Path, name: str, vehicle: str) -> None:
    pytest.importorskip("matplotlib")
    world = load_world(name)
    head = draw_dive(*short_dive(world, vehicle), world, tmp_path / "dives" / "one.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:24]) == (1600, 1000)


def test_plot_without_any_camera_image_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    log, summary = short_dive()
    log.images.clear()
    assert draw_dive(log, summary, POOL, tmp_path / "one.png").stat().st_size > 10_000


def test_snapshot_times_are_the_midpoints_of_the_phases_and_the_end() -> None:
    moments = key_moments(*short_dive())
    assert [(m.text, round(m.time_s, 2)) for m in moments] == [
        ("dive", 6.5),
        ("look about", 11.45),
        ("at the end", 14.9),
    ]


def test_snapshot_count_is_bounded() -> None:
    log, summary = short_dive()
    log.marks[:] = [Mark(5.0 + 0.3 * k, f"part {k}") for k in range(30)]
    moments = key_moments(log, summary)
    assert len(moments) <= MOMENTS
    assert moments == sorted(moments, key=lambda moment: moment.time_s)


def test_table_reports_missed_objectives() -> None:
    text = io.StringIO()
    print_table("Dive", dive_rows(short_dive()[1]), Console(file=text, width=120))
    for part in ("Dive", "not completed", "9.9 s", "not reached", "1.29 m", "none", "40 %"):
        assert part in text.getvalue()


def test_outline_of_rotated_object_follows_its_yaw() -> None:
    line = Object("line", Kind.LINE, (1.0, 2.0, 3.0), math.radians(30.0), (4.0, 0.2), (0, 0, 0), solid=False)
    ends = outline(line).reshape(2, 2, 2).mean(axis=1)
    along = 2.0 * np.array([math.cos(line.yaw), math.sin(line.yaw)])
    # Rounding of a rotation.
    assert ends[0] == pytest.approx(np.array([1.0, 2.0]) + along, abs=1e-12)
    assert ends[1] == pytest.approx(np.array([1.0, 2.0]) - along, abs=1e-12)
