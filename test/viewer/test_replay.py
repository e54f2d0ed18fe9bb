"""Replay: position of the player, and contents of a recording at any time."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.commands.cli import main
from rosflight_py_sim.commands.replay import Player, Track, appearance_of, kept_of
from rosflight_py_sim.nodes.vehicle_physics import physics_of_sources
from rosflight_py_sim.recording.mcap_file import Topic, read_recording
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle, recorded_vehicles
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.appearance import appearance
from rosflight_py_sim.viewer.web.display import Display
from rosflight_py_sim.viewer.web.scene import VehicleView
from rosflight_py_sim.viewer.web.server import open_server, stop_server
from rosflight_py_sim.viewer.web.viser_internals import jpeg_shown
from rosflight_py_sim.world import DRY_LAND

OTHER = Path(__file__).parents[1] / "data" / "other_recorder.mcap"
BEGAN_S = 1_700_000_000.0

RADIUS_M, RATE = 8.0, 0.5


def test_playback_runs_at_its_speed_stops_when_paused_and_ends_at_the_end() -> None:
    player = Player(2.0, 12.0, 2.0)
    assert player.advance(1.0) == 4.0
    player.set_speed(0.5)
    assert (player.speed, player.advance(1.0)) == (0.5, 4.5)
    player.toggle()
    assert (player.speed, player.advance(100.0)) == (0.0, 4.5)
    player.seek(11.0)
    assert player.advance(1.0) == 11.0
    player.toggle()
    assert player.advance(100.0) == 12.0
    assert not player.playing
    # At the end, the player restarts.
    player.toggle()
    assert player.advance(1.0) == 2.5


def test_seeking_is_clamped_to_the_recording() -> None:
    player = Player(2.0, 12.0, 1.0)
    player.seek(-5.0)
    assert player.time_s == 2.0
    player.seek(50.0)
    assert player.time_s == 12.0


@pytest.fixture(scope="module")
def kite() -> RecordedVehicle:
    (one,) = recorded_vehicles(read_recording(OTHER, kept_of))
    return one


def test_state_is_interpolated_between_two_rows(kite: RecordedVehicle) -> None:
    track = Track(kite)
    for time_s in np.linspace(0.0, 5.9, 60):
        truth = track.at(BEGAN_S + time_s).truth
        angle = RATE * time_s
        # The chord of a row's step is this much nearer to the middle; stamps in seconds since 1970 are as accurate.
        np.testing.assert_allclose(truth[:2], [RADIUS_M * math.cos(angle), RADIUS_M * math.sin(angle)], atol=2e-4)
        half = 0.5 * (angle + 0.5 * math.pi)
        assert abs(truth[3:7] @ [math.cos(half), 0.0, 0.0, math.sin(half)]) == pytest.approx(1.0, abs=1e-7)
        assert np.linalg.norm(truth[3:7]) == pytest.approx(1.0)


def test_state_is_held_before_the_start_and_after_the_end(kite: RecordedVehicle) -> None:
    track = Track(kite)
    assert track.at(0.0).truth.tolist() == pytest.approx(kite.truth[0].tolist())
    assert track.at(1e12).truth.tolist() == pytest.approx(kite.truth[-1].tolist())
    assert track.at(BEGAN_S + 1.0).pwm_us[2] == pytest.approx(1500.0 + 400.0 * math.sin(1.0), abs=0.5)


def test_latest_image_of_a_camera_is_shown(kite: RecordedVehicle) -> None:
    topic = Topic("/kite/camera/front/image_raw/compressed", "sensor_msgs/msg/CompressedImage", "cdr", "ros2msg", "")
    pictures = [b"\xff\xd8\xff" + bytes([number]) * 9 for number in range(3)]
    topic.messages = [b"\x00\x01\x00\x00header" + picture for picture in pictures]
    topic.kept = [0, 1, 2]
    topic.log_ns = np.array([1, 2, 3]) * 10**9 + int(BEGAN_S) * 10**9
    kite.recording.topics[topic.name] = topic
    track = Track(kite)
    shown = [track.at(BEGAN_S + time_s).images.get("front") for time_s in (0.5, 1.0, 2.9, 3.0, 9.0)]
    assert shown == [None, pictures[0], pictures[1], pictures[2], pictures[2]]
    del kite.recording.topics[topic.name]


def test_images_are_shown_alongside_readings_at_the_same_rate() -> None:
    server = open_server("127.0.0.1", 0, "test")
    try:
        display = Display(server, {"kite": appearance("dart")}, DRY_LAND)
        picture = b"\xff\xd8\xff"
        view = VehicleView(0.0, np.eye(19)[3], np.zeros(3), np.zeros(14), {"front": picture})
        display.show({"kite": view})
        assert [jpeg_shown(shown) for shown in display.pictures.values()] == [picture]
    finally:
        stop_server(server)


def test_vehicle_missing_from_recording_is_drawn_as_a_dart(
    kite: RecordedVehicle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert appearance_of(kite).name == "dart"
    assert not capsys.readouterr().err
    kite.recording.facts["appearance"] = "multirotor"
    assert appearance_of(kite).name == "dart"
    hexarotor = vehicle("hexarotor").parameter_file
    kite.recording.facts["physics"] = json.dumps(physics_of_sources([hexarotor], "multirotor"))
    shape = appearance_of(kite)
    assert shape.name == "multirotor" and sum(part.motion is not None for part in shape.parts) == 6
    kite.recording.facts["appearance"] = "zeppelin"
    capsys.readouterr()
    assert appearance_of(kite).name == "dart"
    assert "is drawn as a dart: parameter 'appearance': 'zeppelin' given; allowed: dart, " in capsys.readouterr().err
    kite.recording.facts.clear()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["{folder}/missing.mcap"], "cannot read '{folder}/missing.mcap': No such file or directory"),
        (["{folder}/text"], "'{folder}/text' is not an MCAP file"),
        (["{folder}/empty.mcap"], "'{folder}/empty.mcap' contains no topic sim/truth_state, which the replay needs"),
        ([str(OTHER), "--speed", "0"], "--speed: 0 given; allowed: greater than 0"),
        ([str(OTHER), "--port", "70000"], "--port: 70000 given; allowed: 0 to 65535"),
        ([str(OTHER), "--address", "203.0.113.7"], "cannot serve at 203.0.113.7:0"),
    ],
)
def test_unshowable_recording_is_rejected_in_one_line(
    arguments: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("no recording")
    (tmp_path / "empty.mcap").write_bytes(OTHER.read_bytes()[:200])
    with pytest.raises(SystemExit) as ended:
        main(["replay", *(word.format(folder=tmp_path) for word in arguments)])
    assert ended.value.code == 1
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"rosflight_py_sim: {text.format(folder=tmp_path)}")
    assert len(stderr.splitlines()) == 1
