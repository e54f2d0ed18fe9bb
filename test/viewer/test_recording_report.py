"""The page about a recording: our own, other programs', and truncated files."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.commands.cli import main
from rosflight_py_sim.commands.report_page import report_page, troubles_of
from rosflight_py_sim.missions.recorded_mission import gap, recorded_missions
from rosflight_py_sim.recording.mcap_file import Recording, read_recording
from rosflight_py_sim.recording.recorded_vehicle import recorded_vehicles

OTHER = Path(__file__).parents[1] / "data" / "other_recorder.mcap"


class _Page(HTMLParser):
    """Text of a page, and all its links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if value and name in ("src", "href", "xlink:href", "data")]

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())


def everything(path: Path) -> Recording:
    return read_recording(path, lambda topic, type_name: 10**5)


@pytest.fixture(scope="module")
def page() -> str:
    recording = everything(OTHER)
    return report_page(recording, recorded_missions(recording))


def test_third_party_recording_yields_the_vehicle_motion() -> None:
    (kite,) = recorded_vehicles(everything(OTHER))
    assert kite.name == "kite"
    assert len(kite.time_s) == 475
    np.testing.assert_allclose(np.hypot(kite.truth[:, 0], kite.truth[:, 1]), 8.0, atol=1e-9)
    np.testing.assert_allclose(kite.truth[:, 2], -12.0)
    np.testing.assert_allclose(np.linalg.norm(kite.truth[:, 3:7], axis=1), 1.0)
    assert (kite.truth[:, 7] == 4.0).all()
    assert [actuator.output for actuator in kite.actuators] == [2]
    assert kite.missing == ["no /kite/sim/truth_wind: wind is assumed to be zero"]


def test_page_has_summary_plots_and_topics_and_lists_missing_data(page: str) -> None:
    parsed = _Page(page)
    text = "\n".join(parsed.text)
    assert {"kite", "Path from above", "Attitude, true and estimated", "Actuators", "Topics"} <= set(parsed.text)
    assert "no /kite/sim/truth_wind: wind is assumed to be zero" in parsed.text
    assert "lighthouse_msgs/msg/Watch" in parsed.text
    assert "4.00 m/s, 0.0 deg" in text
    assert "recorded by rosbags" in text
    assert parsed.tags.count("svg") == 6


def test_gap_in_a_regular_topic_is_counted(page: str) -> None:
    rows = re.findall(r"<tr><td><code>(.*?)</code>.*?</tr>", page)
    assert rows == ["/kite/sim/pwm_output", "/kite/sim/truth_state", "/watch"]
    truth = re.search(r"<tr><td><code>/kite/sim/truth_state.*?</tr>", page)
    assert truth is not None
    cells = re.findall(r"<td[^>]*>(.*?)</td>", truth[0])
    assert cells[2:6] == ["475", "47.5", "0.520", "1"]


def test_page_loads_no_external_resources(page: str) -> None:
    parsed = _Page(page)
    # Only links to elements within a plot.
    assert all(link.startswith("#") for link in parsed.links)
    assert not re.search(r"url\((?!#)|@import|<script", page)


def test_truncated_recording_yields_report_with_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = OTHER.read_bytes()
    for share in (0.5, 0.8, 0.999):
        path = tmp_path / "cut.mcap"
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(SystemExit) as ended:
            main(["report", str(path)])
        assert ended.value.code == 0
        parsed = capsys.readouterr()
        assert "The recording is not complete: its end is missing" in parsed.err
        assert "The recording is not complete: its end is missing" in path.with_suffix(".html").read_text()


def test_report_writes_a_film_of_the_recorded_flight(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("panda3d")
    from PIL import Image

    film, page = tmp_path / "kite.gif", tmp_path / "kite.html"
    with pytest.raises(SystemExit) as end:
        main(["report", str(OTHER), "--output", str(page), "--gif", str(film)])
    assert end.value.code == 0
    assert f"film: {film}" in capsys.readouterr().out
    with Image.open(film) as images:
        # Ten images a second of a flight that is shown at its own speed.
        recorded = recorded_vehicles(everything(OTHER))[0].time_s
        assert images.n_frames == pytest.approx(10.0 * np.ptp(recorded), abs=2.0)  # type: ignore[attr-defined]


def test_recording_without_vehicle_lists_its_topics() -> None:
    recording = everything(OTHER)
    del recording.topics["/kite/sim/truth_state"]
    assert troubles_of(recording) == [
        "The recording contains no topic sim/truth_state, so the page lists topics without plots."
    ]
    assert "/watch" in report_page(recording, recorded_missions(recording))


def test_only_a_log_with_a_long_gap_is_refused() -> None:
    time_s = np.arange(0.0, 10.0, 0.02)
    assert gap(time_s) == gap(time_s[:1]) == gap(np.delete(time_s, slice(100, 120))) == ""
    assert gap(np.delete(time_s, slice(100, 150))) == (
        "messages were lost: the recording has a gap from 2.0 s to 3.0 s"
    )


def test_names_in_a_recording_are_escaped() -> None:
    recording = everything(OTHER)
    topic = recording.topics.pop("/watch")
    topic.name = "/<script>alert(1)</script>"
    recording.topics[topic.name] = topic
    html = report_page(recording, recorded_missions(recording))
    assert "<script" not in html and "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("notes.txt", b"some notes\n" * 9, "'{path}' is not an MCAP file"),
        ("missing.mcap", None, "cannot read '{path}': No such file or directory"),
    ],
)
def test_file_that_is_not_a_recording_is_rejected_in_one_line(
    name: str, content: bytes | None, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        main(["report", str(path)])
    assert ended.value.code == 1
    assert capsys.readouterr().err == f"rosflight_py_sim: {text.format(path=path)}\n"
    assert not path.with_suffix(".html").exists()


def test_unwritable_path_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(OTHER), "--output", "/proc/page.html"])
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("rosflight_py_sim: cannot write '/proc/page.html': ")
