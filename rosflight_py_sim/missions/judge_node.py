"""Node that passes the messages of a running graph to a mission's judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from std_msgs.msg import String

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.missions.mission_settings import MissionSettings
from rosflight_py_sim.recording.state_log import TimeWentBackError
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.mission_topics import MISSION_SETTINGS
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState


class JudgeNode(SimulationNode):
    """Source of live messages for a judge; publishes the mission's settings for recordings.

    Messages that precede a true state in its step are read when the judge needs them.

    Attributes:
        torn: description of the moment at which the time went back, so that the mission cannot be judged; empty until
            then.
    """

    DEFAULT_NAME = "judge"

    def __init__(self, judge: MissionJudge, settings: MissionSettings, **arguments: Any) -> None:
        """Subscribe to the judge's topics."""
        super().__init__(**arguments)
        self.torn = ""
        self.publisher(MISSION_SETTINGS)(String(data=settings.text))
        self._judge = judge
        self._has_warned = False
        self._kept = [(self.poll(one.topic), one.take) for one in judge.inputs if one.precedes]
        for one in judge.inputs:
            if not one.precedes:
                take = self._with_kept(one.take) if one.topic is TRUTH_STATE else one.take
                self.subscribe(one.topic, partial(self._pass, take))

    def warn_of_oscillation(self) -> None:
        """Log a warning if the attitude oscillates, once; call this while the mission is under way."""
        if not self._has_warned and (oscillation := self._judge.oscillation) is not None:
            self._has_warned = True
            self.get_logger().warning(f"{self._judge.name}: {oscillation}")

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """The oscillation."""
        if self._has_warned:
            yield Diagnosis("", str(self._judge.oscillation), Level.WARN)

    def _with_kept(self, take: Callable[[VehicleState], None]) -> Callable[[VehicleState], None]:
        def take_state(state: VehicleState) -> None:
            if state.time_ns >= self._judge.idle_until_ns:
                for polled, keep in self._kept:
                    message = polled.take()
                    if message is not None:
                        keep(message)
            take(state)

        return take_state

    def _pass(self, take: Callable[[Any], None], message: Any) -> None:
        if self.torn:
            return
        try:
            take(message)
        except TimeWentBackError as error:
            self.torn = str(error)
