"""Self-contained HTML page about a recording."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rosflight_py_sim import __version__
from rosflight_py_sim.ground.parameters import shown
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.ground.topic_names import TRUTH_STATE
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.missions.recorded_mission import RecordedMission
from rosflight_py_sim.missions.summary_table import motion_rows
from rosflight_py_sim.recording.mcap_file import Recording, Topic
from rosflight_py_sim.recording.motion_summary import summarise_motion
from rosflight_py_sim.recording.recorded_failures import RecordedFailure, failures_of
from rosflight_py_sim.recording.recorded_vehicle import (
    RecordedVehicle,
    recorded_vehicles,
    unusable_states,
    world_of_recording,
)
from rosflight_py_sim.recording.rosout import warnings_of
from rosflight_py_sim.viewer.html_page import html_page
from rosflight_py_sim.viewer.report_panels import Panel, PanelData, panels
from rosflight_py_sim.world import World

# Largest number of messages read per topic: more than a plot has points.
_KEPT = 40_000

_PICTURES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")

# A topic is regular if most of its intervals are close to the median.
_REGULAR, _GAP = 0.3, 2.5


@dataclass(frozen=True)
class TopicRow:
    """A row of the table of topics."""

    name: str
    type_name: str
    count: int
    rate: str
    longest: str
    gaps: int
    size: int


@dataclass(frozen=True)
class PageSection:
    """Part of the page about one vehicle; `picture` is the plot of its mission, a PNG in base 64, or empty."""

    name: str
    title: str
    picture: str
    rows: list[tuple[str, str]]
    notes: list[str]
    panels: list[Panel]
    failures: list[RecordedFailure]


def kept_of(topic: str, type_name: str) -> int:
    """Largest number of messages of a topic to read for a page."""
    return 0 if type_name in _PICTURES else _KEPT


def report_page(recording: Recording, missions: list[RecordedMission]) -> str:
    """The page as HTML, with the missions of the recording's vehicles.

    Raises:
        ModuleNotFoundError: jinja2 or matplotlib is not installed; the text gives the install command.
    """
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"a report needs jinja2 and matplotlib ({missing}): pip install 'rosflight_py_sim[record,plot]'",
            name=missing.name,
        ) from missing
    first_ns, last_ns = recording.span_ns
    count = sum(len(topic.log_ns) for topic in recording.topics.values())
    facts = [
        f"{(last_ns - first_ns) / NANOSECONDS:.1f} s",
        f"{count:,} messages on {sum(bool(len(t.log_ns)) for t in recording.topics.values())} topics",
        f"{recording.size / 1e6:.1f} MB",
        f"recorded by {recording.library}" if recording.library else "recorded by an unknown program",
    ]
    return html_page(
        "viewer/report.html",
        title=shown(recording.path.name),
        facts=facts,
        troubles=troubles_of(recording),
        vehicles=[
            _section(mission, mission.recorded, world_of_recording(recording))
            for mission in missions
            if mission.recorded is not None
        ],
        warnings=warnings_of(recording),
        topics=[_row(topic) for topic in sorted(recording.topics.values(), key=lambda one: one.name)],
        version=__version__,
    )


def troubles_of(recording: Recording) -> list[str]:
    """Problems with the file as a whole, as sentences."""
    texts = []
    if recording.trouble:
        lost = recording.size - recording.read
        rest = f"{recording.read:,} of {recording.size:,} bytes were read" if lost else "all bytes were read"
        texts.append(f"The recording is not complete: {recording.trouble}; {rest}.")
    if recording.torn:
        texts.append(f"The recording is of no use: {recording.torn}.")
    has_messages = any(len(topic.log_ns) for topic in recording.topics.values())
    unusable = unusable_states(recording) if has_messages else []
    texts += [f"{reason}." for reason in unusable]
    if not has_messages:
        texts.append("The recording contains no messages.")
    elif not unusable and not recorded_vehicles(recording):
        texts.append(f"The recording contains no topic {TRUTH_STATE}, so the page lists topics without plots.")
    return texts


def _section(mission: RecordedMission, one: RecordedVehicle, world: World) -> PageSection:
    judge = mission.judge
    motion = one.motion()
    title, picture, rows, notes = "Summary", "", [], list(dict.fromkeys(one.missing))
    if judge is not None and judge.has_begun and not mission.problem:
        verdict = judge.verdict()
        title, picture, rows = verdict.title, _picture(judge), verdict.rows
    elif len(motion) > 1:
        wall_s = one.wall_between(float(motion.time_s[0]), float(motion.time_s[-1]))
        rows = motion_rows(summarise_motion(motion, wall_s), underwater=world.water is not None)
    if judge is not None and judge.reason:
        notes.append(f"failed while {judge.reason}")
    if mission.was_flown and mission.problem:
        notes.append(f"mission {mission.name} is not judged: {mission.problem}")
    path = judge.path_ned if judge is not None else None
    drawn = list(panels(PanelData(one, motion, world, path))) if len(motion) > 1 else []
    return PageSection(one.name, title, picture, rows, notes, drawn, failures_of(one.recording, one.namespace))


def _picture(judge: MissionJudge) -> str:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "mission.png"
        judge.draw(file)
        return b64encode(file.read_bytes()).decode() if file.exists() else ""


def _row(topic: Topic) -> TopicRow:
    waits = np.diff(np.sort(topic.log_ns)).astype(np.float64) / NANOSECONDS
    span_s = float(waits.sum())
    gaps = 0
    if len(waits) >= 10:
        usual = float(np.median(waits))
        regular = float(np.mean(np.abs(waits - usual) <= _REGULAR * usual)) > 0.5
        gaps = int(np.sum(waits > _GAP * usual)) if regular and usual > 0.0 else 0
    return TopicRow(
        topic.name,
        topic.type_name,
        len(topic.log_ns),
        f"{len(waits) / span_s:.1f}" if span_s > 0.0 else "",
        f"{waits.max():.3f}" if len(waits) else "",
        gaps,
        topic.size,
    )
