"""Base class of time managers that wait for the graph's answer to each /clock message."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Iterable
from statistics import median
from typing import ClassVar, cast

from rclpy.executors import Executor

from rosflight_py_sim.ground.parameters import ParameterTable, Value, number
from rosflight_py_sim.ground.shared_parameters import STEP_SIZE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.awaited_topics import WAIT_FOR, AwaitedTopics, awaited_topics
from rosflight_py_sim.interfaces.time_manager_interface import (
    REAL_TIME_MULTIPLIER,
    TIME_MANAGER_PARAMETERS,
    TimeManagerInterface,
)
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.topic_statistics import Period

# A simulation that is further behind than this does not catch up, but continues at its pace.
_CATCH_UP_S = 0.1

# Steps may be published this much early, which is still more punctual than a timer.
_EARLY_S = 50e-6


class SteppingTimeManager(TimeManagerInterface):
    """Publishes the next time once the previous step is complete, at up to `real_time_multiplier` times real time.

    A derived class calls `complete_step` when all answers to the current time have arrived. Its `step_is_complete`
    returns whether they have, and its `next_ns` the time of the next step.

    Attributes:
        time_ns: current time, ns; -1 before the first.
        is_without_vehicles: whether a step without vehicles has yet to be completed.
    """

    PARAMETERS: ClassVar[ParameterTable] = TIME_MANAGER_PARAMETERS + ParameterTable(
        REAL_TIME_MULTIPLIER.overridden("an upper limit; 0 runs as fast as the machine allows", also_allowed=(0.0,)),
        STEP_SIZE,
        WAIT_FOR,
    )

    def initialise(self) -> None:
        """Set the state before the first step."""
        super().initialise()
        self.time_ns = -1
        self._began_s: float | None = None
        self._multiplier = math.nan
        self._took_s: list[float] = []
        self._due_s = math.inf
        self._is_spun = self.is_without_vehicles = False
        self._awaited = AwaitedTopics(self, ())

    def begin(self) -> None:
        """Create the pace timer, and look for the publishers of the topics to wait for."""
        self._awaited.begin()
        self._pace_timer = self.create_system_timer(1.0, self._on_pace_timer, autostart=False)
        super().begin()

    def configure(self, values: dict[str, Value]) -> None:
        """Set the pace."""
        super().configure(values)
        if math.isnan(self._multiplier):
            self._awaited = AwaitedTopics(self, awaited_topics(cast("list[str]", values[WAIT_FOR.name])))
        multiplier, self._multiplier = self._multiplier, number(values, "real_time_multiplier")
        if self._multiplier != multiplier:
            self._anchor(self.time_ns)

    @property
    @abstractmethod
    def next_ns(self) -> int:
        """Time of the next step, ns."""

    @property
    def has_time(self) -> bool:
        """Whether the first step has begun."""
        return self.time_ns >= 0

    def update_time(self) -> None:
        """Advance to the time of the next step."""
        self.time_ns = self.next_ns

    def get_seconds(self) -> int:
        """Whole seconds of the simulation's time."""
        return max(self.time_ns, 0) // NANOSECONDS

    def get_nanoseconds(self) -> int:
        """Nanoseconds beyond the whole seconds."""
        return max(self.time_ns, 0) % NANOSECONDS

    def advance(self) -> None:
        """Begin a step; without vehicles, it is complete once the time has been delivered."""
        self._began_s = time.perf_counter()
        self.is_without_vehicles = not self.timed
        super().advance()
        if self.is_without_vehicles and self.hand_off is not None:
            self.hand_off.run(self._complete_without_vehicles)

    def _complete_without_vehicles(self) -> None:
        self.is_without_vehicles = False
        self.complete_step()

    def on_resume(self) -> None:
        """Take the step that was held back."""
        self._anchor(self.time_ns)
        if self.step_is_complete and not self._awaited.is_held:
            self._go()

    @property
    def is_stalled(self) -> bool:
        """Whether a message of a node outside of the step is missing."""
        return self._awaited.is_held

    def repeat_time(self) -> None:
        """Publish the present time again for a node that starts late."""
        self.publish_time()

    def complete_step(self) -> None:
        """Reply to time_manager/step, and begin the next step when it is due.

        If a message of a node outside of the step is missing, this happens after its arrival.
        """
        if self._awaited.hold():
            return
        if self._began_s is None:
            # Measure the pace from the first step, not from the start of the process or from time 0 of a running graph.
            self._anchor(self.next_ns)
        else:
            self._took_s.append(time.perf_counter() - self._began_s)
        if self._stepped is not None:
            self.answer_step()
        self.check_end()
        self._go()

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Duration of steps from /clock to the last answer."""
        took_ms, self._took_s = [1e3 * s for s in self._took_s], []
        if took_ms:
            yield Diagnosis("", "", values={"step median (ms)": median(took_ms), "step max (ms)": max(took_ms)})
        yield from self._awaited.diagnoses()
        yield from super().diagnose(period)

    def _anchor(self, time_ns: int) -> None:
        """Measure the pace from now, when the simulated time is `time_ns`."""
        self._anchor_wall_s = time.monotonic()
        self._anchor_time_ns = time_ns

    def _go(self) -> None:
        """Begin the next step now or when it is due."""
        if not self.may_advance:
            return
        if self.hand_off is not None and self.hand_off.outside.waits_for_idle:
            # Inputs that arrived between two steps come first.
            self.hand_off.when_idle(self._advance_if_due)
            return
        if self._multiplier == 0.0 or self.paused:
            self.advance()
            return
        due_s = (self.next_ns - self._anchor_time_ns) / NANOSECONDS / self._multiplier
        wait_s = self._anchor_wall_s + due_s - time.monotonic()
        if wait_s > _EARLY_S:
            self._due_s = time.monotonic() + wait_s
            if not self._is_spun:
                self._start_pace_timer()
            return
        if wait_s < -_CATCH_UP_S:
            self.lags += 1
            self._anchor(self.time_ns)
        self.advance()

    def spin_once(self, executor: Executor, timeout_s: float) -> None:
        """Spin an executor that serves this node once, at most until the next step is due, and begin that step.

        A timer of the executor has a thread of its own, and would wake the process several times for each step.
        """
        if not self._is_spun:
            self._is_spun = True
            self._pace_timer.cancel()
        executor.spin_once(timeout_sec=min(timeout_s, max(self._due_s - time.monotonic(), 0.0)))
        self._begin_due_step()

    def end_spin(self) -> None:
        """Let a timer begin the next step, if it is not due yet."""
        self._is_spun = False
        if self._due_s < math.inf:
            self._start_pace_timer()

    def _start_pace_timer(self) -> None:
        self._pace_timer.timer_period_ns = max(int((self._due_s - time.monotonic()) * NANOSECONDS), 1)
        self._pace_timer.reset()

    def _on_pace_timer(self) -> None:
        self._pace_timer.cancel()
        self._begin_due_step()
        if self._due_s < math.inf and not self._is_spun:
            self._start_pace_timer()

    def _begin_due_step(self) -> None:
        """Begin the step for which the time has come, if there is one."""
        if time.monotonic() >= self._due_s:
            self._due_s = math.inf
            if self.hand_off is None:
                self._advance_if_due()
            else:
                self.hand_off.run(self._advance_if_due)

    def _advance_if_due(self) -> None:
        if self.step_is_complete and self.may_advance:
            self.advance()
