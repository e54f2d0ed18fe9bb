"""Base classes of dynamics nodes, which hold the true state of the vehicle and advance it.

A wrench drives DynamicsInterface; the outputs of the flight controller drive a whole flight model
(`flight_model_interface.py`). TruthInterface is the common base class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rclpy.subscription import Subscription
from rosflight_msgs.srv import SetSimState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.failures.signal import Signal
from rosflight_py_sim.interfaces.fallible_node import FallibleNode
from rosflight_py_sim.parameters import ParameterTable
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.shared_parameters import TIME_MODE
from rosflight_py_sim.stamps import NANOSECONDS, seconds_text
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.join import JoinRule, StepJoin
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    CLOCK,
    FAULT,
    FORCES_AND_MOMENTS,
    HAS_STARTED,
    SIM_STEP_SIZE,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    StepSize,
    StepTopic,
    Wind,
    WindRates,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState, truth_of_message

# Outside of lockstep, subscriptions to the state are volatile: a node that starts while no step is taken receives it at
# the next of these repetitions.
_REPEAT_S = 0.5


class TruthInterface(FallibleNode, ABC):
    """Answers each driving message with the truth state and the wind, by the rule of `StepJoin`.

    Offers dynamics/set_sim_state, and dynamics/reset, which returns the vehicle to its start while time continues.

    In lockstep a driving message stamped t advances the state from t to t plus the step given by sim/step_size. While
    vehicles request step lengths, the message waits until sim/step_size gives the step of t. In the other time modes it
    advances the state from the stamp of the previous message to t. The answer to a repeated message is the current
    state. So is the answer to a message with an older stamp: the stamps of the truth state only decrease if /clock
    does. Outside of lockstep, while no step is taken, the state is published again every half second of system time.

    Nothing is published before the time is known. In time mode wall it is the system time, in the other modes that of
    the first /clock or driving message to arrive; it is 0 if the time manager reports on sim/has_started that time has
    not started. The state is then published with that time: the initial state of a node that is restarted in a running
    graph counts as a state that was set. In lockstep, that node publishes the wind from its first step on: the wind at
    the end of that step may have been published before the restart.

    When the derived class raises StateDivergedError, the state is kept, the error is published on sim/fault (which
    pauses the time manager), and messages have no effect until one of the services sets a finite state.

    Class attributes:
        DRIVEN_BY: topic of the driving messages, set by the derived interface.
    """

    DEFAULT_NAME: ClassVar[str] = "dynamics"
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(TIME_MODE, FAILURES)
    FALLIBLE: ClassVar[tuple[str, ...]] = ("wind",)
    DRIVEN_BY: ClassVar[StepTopic[Any]]

    def __init__(self, **arguments: Any) -> None:
        """Create topics and service, and publish the initial state."""
        self._diverged = False
        self._time_ns = 0
        self._step_ns = 0
        self._answered_again = 0
        self._gaps, self._left_out_ns = 0, 0
        self._has_stepped = False
        self._is_idle = True
        self._knows_time = self._gives_wind = False
        self._front: Signal | None = None
        super().__init__(**arguments)
        self._lockstep = self.values["time_mode"] == "lockstep"
        self._join = StepJoin(self.join_rule, self._take_step, self._answer_again, lockstep=self._lockstep)
        self._send_wind = self.publisher(TRUTH_WIND)
        has_rates = self.compute_wind_rates() is not None
        self._send_wind_rates = self.publisher(TRUTH_WIND_RATES) if has_rates else None
        self._send_truth = self.publisher(TRUTH_STATE)
        self._send_fault = self.publisher(FAULT)
        self._send_fault(String())
        self.create_service(SetSimState, "dynamics/set_sim_state", self._set_sim_state)
        if self._lockstep:
            self.follow_stamps()
            self.subscribe(SIM_STEP_SIZE, self._on_step_size)
        else:
            # The stamps determine the step.
            self._join.admit()
            self.create_system_timer(_REPEAT_S, self._repeat_if_idle)
        self.create_service(Trigger, "dynamics/reset", self._reset)
        self._initial_truth = self.compute_truth().copy()
        self._clock_subscription: Subscription[Any] | None = None
        if self.time_mode == "wall":
            self._start_at(self.now_ns)
        else:
            self._clock_subscription = self.subscribe(CLOCK, self._start_at)
            self.subscribe(HAS_STARTED, self._on_has_started)
        self.subscribe(self.DRIVEN_BY, self._on_driven, needed=True)

    @abstractmethod
    def move(self, driver: Any, dt: float) -> None:
        """Advance the state.

        Args:
            driver: message that drives the step.
            dt: s, greater than 0.

        Raises:
            StateDivergedError: the new state is not finite; the old one has been kept.
        """

    @abstractmethod
    def compute_truth(self) -> NDArray[np.float64]:
        """Truth vector (19,): see VehicleState."""

    @abstractmethod
    def compute_wind_truth(self) -> NDArray[np.float64]:
        """Velocity of the air over the ground at the vehicle, NED, m/s (3,)."""

    def compute_wind_rates(self) -> NDArray[np.float64] | None:
        """Angular velocity of the air at the vehicle, body axes, rad/s (3,); always None if it is not published."""
        return None

    @abstractmethod
    def set_sim_state(self, truth: NDArray[np.float64]) -> None:
        """Set the state; accelerations may be recomputed.

        Args:
            truth: (19,), as in VehicleState.

        Raises:
            ValueError: the state is refused, with the reason; the old state has been kept.
        """

    def start_over(self) -> None:
        """Return the vehicle to its start; by default, set its initial state.

        A derived class also resets any further state of the vehicle, but not the wind.
        """
        self.set_sim_state(self._initial_truth)

    def fail(self, signals: Signals) -> None:
        """Let the wind change."""
        self._front = signals.get(("wind", 0))

    def with_front(self, wind_ned: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        """Wind (3,), m/s, with the front of a failure at the end of a step of `dt` seconds; the same array if none."""
        if self._front is None:
            return wind_ned
        changed = self._front.applied(self.end_ns(dt), wind_ned.tolist())
        assert changed is not None
        return np.array(changed)

    def end_ns(self, dt: float) -> int:
        """Time (ns) at the end of the present step of `dt` seconds."""
        return self._time_ns + round(dt * NANOSECONDS)

    @property
    def step_ns(self) -> int:
        """Step size (ns) that the time manager published last; 0 before."""
        return self._step_ns

    @property
    def join_rule(self) -> JoinRule:
        """Inputs of a step; read once, after the first `configure`."""
        return JoinRule(self.DRIVEN_BY.name, admitted_by=SIM_STEP_SIZE.name)

    def publish_forces(self, stamp_ns: int) -> None:
        """Publish further topics of the step that a message stamped `stamp_ns` drove; by default none."""

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Whether the state is finite, the messages with the stamp of an earlier one, and gaps taken for pauses."""
        state = "diverged; set a finite state" if self._diverged else "running"
        values = {
            "step (s)": self._step_ns / NANOSECONDS,
            "answered again": self._answered_again,
            "gaps": self._gaps,
            "left out (s)": self._left_out_ns / NANOSECONDS,
        }
        yield Diagnosis("", state, Level.ERROR if self._diverged else Level.OK, values=values)

    def _on_step_size(self, step: StepSize) -> None:
        self._step_ns = step.length_ns
        if step.is_requested:
            self._join.admit(step.time_ns)
        else:
            self._join.admit()

    def _on_has_started(self, message: Bool) -> None:
        if not message.data:
            self._start_at(0)

    def _start_at(self, time_ns: int) -> None:
        """Set the time of the initial state and publish it, unless the time is known."""
        if self._knows_time:
            return
        self._knows_time = True
        self._gives_wind = not (self._lockstep and time_ns)
        self._time_ns = time_ns
        self.update_clock(time_ns)
        if self._clock_subscription is not None:
            self.destroy_subscription(self._clock_subscription)
        self._publish()

    def _on_driven(self, message: Any) -> None:
        stamp = message.time_ns
        self._start_at(stamp)
        self.update_clock(stamp)
        if self._is_past(stamp):
            self._answer_again(stamp)
        else:
            self._join.trigger(stamp, message)

    def _is_past(self, stamp_ns: int) -> bool:
        """Whether the state is beyond the step of that stamp."""
        if self._lockstep:
            return 0 < self._step_ns <= self._time_ns - stamp_ns
        # A message with an older stamp is late, unless the clock itself was set back.
        return stamp_ns <= self._time_ns and not self._clock_was_set_back()

    def _take_step(self, stamp_ns: int, driver: Any) -> None:
        if self._lockstep:
            step_ns, end_ns = self._step_ns, stamp_ns + self._step_ns
        else:
            step_ns, end_ns = stamp_ns - self._time_ns, stamp_ns
            if step_ns > LONGEST_STEP_NS and self._has_stepped:
                self._gaps += 1
                self._left_out_ns += step_ns
            if not 0 < step_ns <= LONGEST_STEP_NS:
                step_ns = 0
        self._is_idle = False
        self._has_stepped = self._gives_wind = True
        if self.has_failures:
            self.advance_failures(stamp_ns)
        if self._advance(driver, step_ns / NANOSECONDS, end_ns):
            self.publish_forces(stamp_ns)
            self._publish()
        else:
            self._join.make_stale()

    def _answer_again(self, stamp_ns: int) -> None:
        self._is_idle = False
        self._answered_again += 1
        self.publish_forces(stamp_ns)
        self._publish()

    def _clock_was_set_back(self) -> bool:
        return self.now_ns < self._time_ns - LONGEST_STEP_NS

    def _advance(self, driver: Any, dt: float, end_ns: int) -> bool:
        """Advance the state by `dt` to `end_ns`; False when it has diverged."""
        if self._diverged:
            return False
        try:
            if dt > 0.0:
                self.move(driver, dt)
        except StateDivergedError as error:
            self._diverged = True
            text = f"{error} at {seconds_text(end_ns)}; the last finite state is kept; set a state with "
            text += "dynamics/set_sim_state and resume with time_manager/toggle_pause"
            self.get_logger().error(text)
            self._send_fault(String(data=text))
            return False
        self._time_ns = end_ns
        return True

    def _repeat_if_idle(self) -> None:
        if self._is_idle:
            self._publish()
        self._is_idle = True

    def _publish(self) -> None:
        if not self._knows_time:
            return
        if self._gives_wind:
            self._publish_wind()
        # A copy: the truth vector keeps changing, and receivers keep the message.
        self._send_truth(VehicleState(self._time_ns, self.compute_truth().copy()))

    def _publish_wind(self) -> None:
        self._send_wind(Wind(self._time_ns, self.compute_wind_truth().tolist()))
        rates = self.compute_wind_rates()
        if self._send_wind_rates is not None and rates is not None:
            self._send_wind_rates(WindRates(self._time_ns, rates.tolist()))

    def _set_sim_state(self, request: SetSimState.Request, response: SetSimState.Response) -> SetSimState.Response:
        try:
            self.set_sim_state(truth_of_message(request.state))
        except ValueError as error:
            response.message = str(error)
            self.get_logger().warning(f"set_sim_state refused: {error}")
            return response
        self._go_on_from_new_state()
        response.success = True
        response.message = f"state set at {seconds_text(self._time_ns)}"
        return response

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.start_over()
        self._go_on_from_new_state()
        response.success = True
        response.message = f"the vehicle is back at its start at {seconds_text(self._time_ns)}"
        return response

    def _go_on_from_new_state(self) -> None:
        if self._diverged:
            self._diverged = False
            self._send_fault(String())
        self._publish()


class DynamicsInterface(TruthInterface):
    """Answers each wrench on sim/forces_and_moments with the truth state and the wind."""

    DRIVEN_BY: ClassVar[StepTopic[Any]] = FORCES_AND_MOMENTS

    def __init__(self, **arguments: Any) -> None:
        """Create topics and service, and publish the initial state."""
        self._wrench = np.zeros(6)
        super().__init__(**arguments)

    @abstractmethod
    def apply_forces_and_torques(self, wrench: NDArray[np.float64], dt: float) -> None:
        """Advance the state by `dt` seconds under a constant wrench.

        Args:
            wrench: force (N) and moment (N m) in body axes, gravity and contact excluded, (6,).
            dt: s, greater than 0.

        Raises:
            StateDivergedError: the new state is not finite; the old one has been kept.
        """

    def move(self, driver: Wrench, dt: float) -> None:
        """Advance the state under the wrench."""
        self._wrench[:] = (*driver.force, *driver.moment)
        self.apply_forces_and_torques(self._wrench, dt)
