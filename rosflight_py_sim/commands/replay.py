"""Replay of a recording in the browser viewer, without the simulator and without ROS."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rosflight_py_sim.ground.parameters import shown
from rosflight_py_sim.ground.process_signals import interrupt_on_signals
from rosflight_py_sim.ground.topic_names import CAMERAS, PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND
from rosflight_py_sim.recording.columns import Array
from rosflight_py_sim.recording.mcap_file import Recording, Topic
from rosflight_py_sim.recording.recorded_vehicle import (
    RecordedVehicle,
    recorded_vehicles,
    unusable_states,
    world_of_recording,
)
from rosflight_py_sim.viewer.recorded_appearance import appearance_of
from rosflight_py_sim.viewer.recorded_events import EVENT_TOPICS, recorded_events
from rosflight_py_sim.viewer.recorded_messages import KEPT, LARGE, RecordedMessages
from rosflight_py_sim.viewer.web.cockpit import Cockpit
from rosflight_py_sim.viewer.web.player import Player, between
from rosflight_py_sim.viewer.web.server import open_server, stop_server, url_of

if TYPE_CHECKING:
    from rosflight_py_sim.viewer.web.display import Display

_STATES, _PICTURES = 40_000, 2_000
_COMPRESSED = "sensor_msgs/msg/CompressedImage"
_OF_EVENTS = tuple(f"/{name}" for name in EVENT_TOPICS)
_OF_STATES = tuple(f"/{name}" for name in (TRUTH_STATE, TRUTH_WIND, PWM_OUTPUT))
_LONG_AGO_S = 1e8
_UPDATES_HZ = 30.0
_SLIDER_HZ = 8.0
_BEGINNING_OF_JPEG = b"\xff\xd8\xff"


class NothingToShowError(ValueError):
    """Error for a recording without a vehicle."""


def kept_of(topic: str, type_name: str) -> int:
    """Largest number of messages of a topic to load."""
    if type_name == _COMPRESSED:
        return _PICTURES
    if topic.endswith(_OF_STATES + _OF_EVENTS):
        return _STATES
    return 0 if type_name in LARGE else KEPT


@dataclass(frozen=True)
class Moment:
    """Recorded state of a vehicle at one time; see `VehicleView`."""

    truth: Array
    wind_ned: Array
    pwm_us: Array
    images: Mapping[str, bytes]


class Track:
    """One vehicle's recorded states.

    Attributes:
        vehicle: the vehicle.
        name: display name.
        first_s, last_s: times of the first and the last state, s.
    """

    def __init__(self, vehicle: RecordedVehicle) -> None:
        """Load the states, and find the vehicle's cameras."""
        self.name = vehicle.name
        self.first_s, self.last_s = float(vehicle.time_s[0]), float(vehicle.time_s[-1])
        self.vehicle = vehicle
        self._cameras = dict(_cameras(vehicle))

    def at(self, time_s: float) -> Moment:
        """Interpolated state at a time, with the newest of all other data."""
        one = self.vehicle
        row = int(np.clip(np.searchsorted(one.time_s, time_s, side="right") - 1, 0, len(one.time_s) - 1))
        after = min(row + 1, len(one.time_s) - 1)
        truth = between(time_s, float(one.time_s[row]), one.truth[row], float(one.time_s[after]), one.truth[after])
        images = {name: picture for name, topic in self._cameras.items() if (picture := _picture(topic, time_s))}
        return Moment(truth, one.wind_ned[row], one.pwm_us[row], images)


def _cameras(vehicle: RecordedVehicle) -> Iterator[tuple[str, Topic]]:
    prefix = f"{vehicle.namespace}/{CAMERAS}/"
    for name, topic in vehicle.recording.topics.items():
        if topic.type_name == _COMPRESSED and name.startswith(prefix) and topic.messages:
            yield name.removeprefix(prefix).split("/")[0], topic


def _picture(topic: Topic, time_s: float) -> bytes:
    row = int(np.searchsorted(topic.kept_s, time_s + 1e-9, side="right")) - 1
    if row < 0:
        return b""
    body = topic.messages[row]
    at = body.find(_BEGINNING_OF_JPEG)
    return body[at:] if at >= 0 else b""


def replay(recording: Recording, address: str, port: int, speed: float) -> None:
    """Serve the replay until SIGINT or SIGTERM.

    Raises:
        NothingToShowError: the recording contains no vehicle.
        NoServerError: the page cannot be served.
        KeyboardInterrupt: the signal.
    """
    tracks = [Track(vehicle) for vehicle in recorded_vehicles(recording)]
    if not tracks:
        unusable = unusable_states(recording)
        absent = f"contains no topic {TRUTH_STATE}, which the replay needs"
        reason = f"cannot be replayed: {'; '.join(unusable)}" if unusable else absent
        raise NothingToShowError(f"'{recording.path}' {reason}")
    interrupt_on_signals()
    if recording.trouble:
        print(f"rosflight_py_sim: '{recording.path}' is not complete: {recording.trouble}", file=sys.stderr)
    first_s, last_s = min(track.first_s for track in tracks), max(track.last_s for track in tracks)
    # Simulated times are shown as recorded; Unix times are shown relative to the start of the recording.
    zero_s = first_s if first_s > _LONG_AGO_S else 0.0
    player = Player(first_s - zero_s, last_s - zero_s, speed)
    cockpit = Cockpit()
    server = open_server(address, port, f"rosflight_py_sim: {shown(recording.path.name)}", cockpit)
    try:
        from rosflight_py_sim.viewer.web.display import Display
        from rosflight_py_sim.viewer.web.field_plots import FieldPlots
        from rosflight_py_sim.viewer.web.playback import Playback
        from rosflight_py_sim.viewer.web.timeline import Timeline

        looks = {track.name: appearance_of(track.vehicle) for track in tracks}
        display = Display(server, looks, world_of_recording(recording), cockpit)
        playback = Playback(server, display, player, shown(recording.path.name))
        events = {track.name: recorded_events(track.vehicle, zero_s) for track in tracks}
        timeline = Timeline(server.gui, display.tabs, playback.go_to)
        print(f"open the recording in a browser: {url_of(server)}", flush=True)

        fields = FieldPlots(server.gui, display.plots_tab, RecordedMessages(recording, zero_s))

        def refresh() -> None:
            playback.refresh()
            fields.show(player.time_s)
            timeline.show(events[display.chosen])

        _play(player, tracks, zero_s, display, refresh)
    finally:
        stop_server(server)


def _play(player: Player, tracks: list[Track], zero_s: float, display: Display, refresh: Callable[[], None]) -> None:
    """Update the display until playback is interrupted, and at a slower rate its controls."""
    from rosflight_py_sim.viewer.web.scene import VehicleView

    before_s = shown_s = time.monotonic()
    while True:
        now_s = time.monotonic()
        time_s = player.advance(now_s - before_s)
        before_s = now_s
        display.show_pace(player.speed)
        moments = {track.name: track.at(zero_s + time_s) for track in tracks}
        display.show({name: VehicleView(time_s, **vars(moment)) for name, moment in moments.items()})
        if now_s - shown_s >= 1.0 / _SLIDER_HZ:
            refresh()
            shown_s = now_s
        time.sleep(max(0.0, before_s + 1.0 / _UPDATES_HZ - time.monotonic()))
