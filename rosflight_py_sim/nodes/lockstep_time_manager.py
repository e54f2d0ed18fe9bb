"""Time manager that advances one step when the step before is complete (time mode `lockstep`)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from functools import partial
from statistics import median
from typing import Any, ClassVar

from rclpy.parameter import Parameter as RosParameter
from rclpy.timer import Timer
from rosflight_msgs.msg import SimState
from std_msgs.msg import Float64, String

from rosflight_py_sim.interfaces.diagnostics import Diagnosis, Level
from rosflight_py_sim.interfaces.qos import LATCHED
from rosflight_py_sim.interfaces.time_manager_interface import (
    STEP_SIZE,
    TIME_MANAGER_PARAMETERS,
    TimeManagerInterface,
    topic_of,
)
from rosflight_py_sim.interfaces.traffic import Period
from rosflight_py_sim.interfaces.wire import NANOSECONDS, stamp_ns
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Value, number

# A simulation that fell behind by more than this goes on at its pace instead of sprinting.
_CATCH_UP_S = 0.1

# Publishing a step this much early is closer to the truth than a timer can be.
_EARLY_S = 50e-6

# The time is repeated this often before somebody is called missing.
_PATIENCE = 40


class _Vehicle:
    """What the time manager knows of one vehicle.

    Attributes:
        truth_topic: name of its truth state's topic.
        ready_ns: stamp of its newest truth state.
        waiting_for: who holds it up, from outside of the graph.
        step_wish: the longest step that suits it, s.
    """

    def __init__(self, name: str) -> None:
        self.truth_topic = topic_of(name, "sim/truth_state")
        self.ready_ns = -1
        self.waiting_for = ""
        self.step_wish = math.inf

    def on_waiting_for(self, message: String) -> None:
        self.waiting_for = message.data


class LockstepTimeManager(TimeManagerInterface):
    """Publishes t(k+1) when the truth state of t(k+1) has come in from each vehicle: slow machines change nothing.

    The length of a step is told to dynamics on sim/step_size (s, latched); the time itself follows the stamps of the
    truth states, so the manager may be stopped and started again. When no step has been completed for stall_timeout,
    the present time is published again, and every node answers it with its last answer. A vehicle of which a node waits
    for somebody outside of the graph says so on sim/waiting_for, and then nothing is missing.

    A vehicle may wish for a length of its steps on sim/step_wish (s, latched), before it takes a step: the shortest
    wish becomes the parameter step_size, and sim/step_size answers at once.
    """

    PARAMETERS: ClassVar[ParameterTable] = TIME_MANAGER_PARAMETERS + ParameterTable(
        Parameter(
            "real_time_multiplier",
            1.0,
            "Simulated seconds per second of system time at the most; 0: as fast as the machine allows",
            minimum=0.0,
        ),
        STEP_SIZE,
        Parameter(
            "stall_timeout", 0.25, "System time without a completed step after which the time is repeated", "s", 0.01
        ),
    )

    def __init__(self, **arguments: Any) -> None:
        """Wait for the first truth state of each vehicle."""
        self._time_ns = -1
        self._ready_ns = -1
        self._repeats, self._all_repeats = 0, 0
        self._went_s = math.nan
        self._took_s: list[float] = []
        self._stall_timer: Timer | None = None
        self._told_step_size = 0.0
        super().__init__(**arguments)
        self._pace_timer = self.create_system_timer(1.0, self._on_pace_timer, autostart=False)
        for name, vehicle in zip(self.vehicles, self._all, strict=True):
            self.create_subscription(String, topic_of(name, "sim/waiting_for"), vehicle.on_waiting_for, LATCHED)
            on_wish = partial(self._on_step_wish, vehicle)
            self.create_subscription(Float64, topic_of(name, "sim/step_wish"), on_wish, LATCHED)
            self.listen(vehicle.truth_topic, SimState, partial(self._on_truth, vehicle), LATCHED)

    def configure(self, values: dict[str, Value]) -> None:
        """Set step, pace and patience."""
        super().configure(values)
        if self._stall_timer is None:
            self._all = [_Vehicle(name) for name in self.vehicles]
            self._behind = set(self._all)
            self._step_sizes = [
                self.create_publisher(Float64, topic_of(name, "sim/step_size"), LATCHED) for name in self.vehicles
            ]
        else:
            self.destroy_timer(self._stall_timer)
        self._step_size = number(values, "step_size")
        self._multiplier = number(values, "real_time_multiplier")
        self._stall_timer = self.create_system_timer(number(values, "stall_timeout"), self._on_stall_timer)
        # Amid a step it would reach some vehicles before they take it and others after.
        if self._time_ns < 0 or not self._behind:
            self._tell_step_size()
        self._anchor()

    def update_time(self) -> None:
        """Move on to the time of the newest truth states."""
        self._time_ns = self._ready_ns
        self._behind.update(v for v in self._all if v.ready_ns <= self._time_ns)

    def get_seconds(self) -> int:
        """Whole seconds of the simulation's time."""
        return max(self._time_ns, 0) // NANOSECONDS

    def get_nanoseconds(self) -> int:
        """Nanoseconds beyond the whole seconds."""
        return max(self._time_ns, 0) % NANOSECONDS

    def advance(self) -> None:
        """Begin a step, and look at the clock."""
        self._went_s = time.perf_counter()
        super().advance()

    def on_resume(self) -> None:
        """Take the step that was held back."""
        self._anchor()
        self._repeats = 0
        if not self._behind:
            self._go()

    def _tell_step_size(self) -> None:
        self._told_step_size = self._step_size
        for publisher in self._step_sizes:
            publisher.publish(Float64(data=self._step_size))

    def _on_step_wish(self, vehicle: _Vehicle, message: Float64) -> None:
        try:
            wish = STEP_SIZE.checked(message.data)
        except ParameterError as error:
            self.get_logger().warning(f"a wish on sim/step_wish is passed over: {error}")
            return
        vehicle.step_wish = float(wish)  # type: ignore[arg-type]
        shortest = min(one.step_wish for one in self._all)
        if shortest != self._step_size:
            self.set_parameters([RosParameter("step_size", value=shortest)])
        # Who wishes has not taken the step under way, nor let others take it.
        self._tell_step_size()

    def _anchor(self) -> None:
        self._anchor_wall_s = time.monotonic()
        self._anchor_time_ns = self._time_ns

    def _on_truth(self, vehicle: _Vehicle, message: bytes) -> None:
        stamp = stamp_ns(message)
        if stamp > vehicle.ready_ns:
            vehicle.ready_ns = stamp
            self._behind.discard(vehicle)
            if not self._behind:
                self._complete()

    def _complete(self) -> None:
        self._took_s.append(time.perf_counter() - self._went_s)
        if self._time_ns < 0:
            # The pace begins with the first step, not with the process.
            self._anchor()
        stamps = [vehicle.ready_ns for vehicle in self._all]
        # They differ only where manager or dynamics have been started anew. Vehicles one step ahead wait for the
        # others; one that begins again at 0 is taken along from the time of the others.
        self._ready_ns = max(min(stamps), max(stamps) - round(self._told_step_size * NANOSECONDS))
        if self._told_step_size != self._step_size:
            self._tell_step_size()
        self._repeats = 0
        self.answer_step()
        self._go()

    def _go(self) -> None:
        if not self.may_advance:
            return
        if self._multiplier == 0.0 or self.paused:
            self.advance()
            return
        due_s = (self._ready_ns - self._anchor_time_ns) / NANOSECONDS / self._multiplier
        wait_s = self._anchor_wall_s + due_s - time.monotonic()
        if wait_s > _EARLY_S:
            self._pace_timer.timer_period_ns = int(wait_s * NANOSECONDS)
            self._pace_timer.reset()
            return
        if wait_s < -_CATCH_UP_S:
            self.lags += 1
            self._anchor()
        self.advance()

    def _on_pace_timer(self) -> None:
        self._pace_timer.cancel()
        if not self._behind and self.may_advance:
            self.advance()

    def _on_stall_timer(self) -> None:
        if not self._behind:
            return
        self._repeats += 1
        if self._repeats > 1 and self._time_ns >= 0:
            self._all_repeats += 1
            self.publish_time()
        missing = self._missing()
        if self._repeats == _PATIENCE and missing:
            self.get_logger().warning(
                f"no {missing} after {self.time_text}: a node of the step is missing or still starting "
                "(sensors, sil_board, forces_and_moments or dynamics)"
            )

    def _missing(self) -> str:
        """Topics of the truth states for which a step waits, for no reason that was told."""
        return ", ".join(v.truth_topic for v in self._all if v in self._behind and not v.waiting_for)

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Whether the step is being completed, and how long steps take from /clock to the last truth state."""
        took_ms, self._took_s = [1e3 * s for s in self._took_s if math.isfinite(s)], []
        values: dict[str, object] = {"repeated": self._all_repeats}
        if took_ms:
            values |= {"step median (ms)": median(took_ms), "step max (ms)": max(took_ms)}
        yield Diagnosis("", "", values=values)
        stalls, missing = self._repeats > 1 and bool(self._behind), self._missing()
        if stalls and missing:
            level = Level.ERROR if self._repeats >= _PATIENCE else Level.WARN
            yield Diagnosis("", f"stalled at {self.time_text}: no {missing}", level)
        elif stalls:
            whom = ", ".join(v.waiting_for for v in self._all if v in self._behind)
            yield Diagnosis("", f"waiting for {whom} at {self.time_text}", Level.WARN)
        yield from super().diagnose(period)


def main() -> None:
    """Run the node."""
    run(LockstepTimeManager)


if __name__ == "__main__":
    main()
