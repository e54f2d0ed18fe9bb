"""Abstract part that holds the true state of the vehicle and advances it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rosflight_msgs.srv import SetSimState
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.failures.signal import FailedSignal
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS, seconds_text
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import admitting, output, service
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topics import (
    SIM_STEP_SIZE,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    StepSize,
    WindRates,
    WindSample,
    new_message,
)
from rosflight_py_sim.step.vehicle_state import VehicleState, truth_of_message


class Truth(Part, ABC):
    """Answers each driving message with the truth state and the wind.

    Offers dynamics/set_sim_state, and dynamics/reset, which returns the vehicle to its start while time continues. A
    derived class declares the trigger, whose messages drive the steps.

    In lockstep a driving message stamped t advances the state from t to t plus the step given by sim/step_size. While
    vehicles request step lengths, the message waits until sim/step_size gives the step of t. In the other time modes it
    advances the state from the stamp of the previous message to t.

    `run` raises StateDivergedError if the new state is not finite; the old one has been kept. Later messages have no
    effect until a service sets a state.

    Attributes:
        time_ns: stamp of the state, ns; during a step, that of the state at its beginning.
        step_ns: step size (ns) given by sim/step_size; 0 before the first.
        time_is_known: whether `time_ns` is known; nothing is sent before.
        gives_wind: whether the wind of `time_ns` is sent with the state.
        has_diverged: whether the last step led to a state that is not finite.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.DYNAMICS
    DEFAULT_NAME: ClassVar[str] = "dynamics"
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(TIME_MODE, FAILURES)
    FALLIBLE: ClassVar[tuple[str, ...]] = ("wind",)

    send_wind = output(TRUTH_WIND)
    send_wind_rates = output(TRUTH_WIND_RATES, when="has_wind_rates")
    send_truth = output(TRUTH_STATE)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self.time_ns = self.step_ns = 0
        self.time_is_known = self.gives_wind = True
        self.has_diverged = False
        self._front: FailedSignal | None = None
        self._given_start: NDArray[np.float64] | None = None

    def begin(self) -> None:
        """Send the initial state."""
        self._initial_truth = self.compute_truth().copy()
        self.send_state()

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

    def start_from(self, truth: NDArray[np.float64]) -> None:
        """Place the vehicle at a start other than that of the parameters; a reset also returns it there.

        Raises:
            ValueError: as in `set_sim_state`.
        """
        self.set_sim_state(truth)
        self._given_start = self.compute_truth().copy()

    def has_wind_rates(self) -> bool:
        """Whether a derived class computes the rotation of the air."""
        return self.compute_wind_rates() is not None

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
        return self.time_ns + round(dt * NANOSECONDS)

    @admitting(SIM_STEP_SIZE)
    def _on_step_size(self, step: StepSize) -> None:
        self.step_ns = step.length_ns

    def answer(self, time_ns: int, content: Any) -> None:
        """Advance the state and send it, unless it has diverged."""
        try:
            if not self.has_diverged:
                self._advance(time_ns, content)
        except StateDivergedError as error:
            self.has_diverged = True
            self.on_divergence(error, time_ns)
        if self.has_diverged:
            self.make_stale()

    def on_divergence(self, error: StateDivergedError, time_ns: int) -> None:
        """Handle a step, begun at `time_ns`, that has led to a state that is not finite; by default raise the error."""
        raise error

    def on_gap(self, elapsed_ns: int) -> None:
        """Handle a time without messages, outside of lockstep, that counts as a pause; by default do nothing."""

    def _advance(self, time_ns: int, content: Any) -> None:
        self.gives_wind = True
        if self.lockstep:
            step_ns, end_ns = self.step_ns, time_ns + self.step_ns
        else:
            elapsed_ns = time_ns - self.time_ns
            if elapsed_ns > LONGEST_STEP_NS and self.answered_ns >= 0:
                self.on_gap(elapsed_ns)
            step_ns, end_ns = elapsed_ns if 0 < elapsed_ns <= LONGEST_STEP_NS else 0, time_ns
        if step_ns:
            self.move(content, step_ns / NANOSECONDS)
        self.time_ns = end_ns
        self.send_forces(time_ns)
        self.send_state()

    def answer_again(self, time_ns: int) -> None:
        """Send the present state."""
        self.send_forces(time_ns)
        self.send_state()

    def send_forces(self, stamp_ns: int) -> None:
        """Send further topics of the step that a message stamped `stamp_ns` drove; by default none."""

    def send_state(self) -> None:
        """Send wind and state, if the time is known."""
        if not self.time_is_known:
            return
        time_ns = self.time_ns
        if self.gives_wind:
            self.send_wind(new_message(WindSample, (time_ns, self.compute_wind_truth().tolist())))
            rates = self.compute_wind_rates()
            if rates is not None:
                self.send_wind_rates(new_message(WindRates, (time_ns, rates.tolist())))
        # A copy: the truth vector keeps changing, and receivers keep the message.
        self.send_truth(VehicleState(time_ns, self.compute_truth().copy()))

    def adopt_new_state(self) -> None:
        """Go on from a state that a service has set."""
        self.has_diverged = False
        self.send_state()

    @service(SetSimState, "dynamics/set_sim_state")
    def _set_sim_state(self, request: SetSimState.Request, response: SetSimState.Response) -> SetSimState.Response:
        try:
            self.set_sim_state(truth_of_message(request.state))
        except ValueError as error:
            response.message = str(error)
            self.log.warning(f"set_sim_state refused: {error}")
            return response
        self.adopt_new_state()
        response.success = True
        response.message = f"state set at {seconds_text(self.time_ns)}"
        return response

    @service(Trigger, "dynamics/reset")
    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.start_over()
        if self._given_start is not None:
            self.set_sim_state(self._given_start)
        self.adopt_new_state()
        response.success = True
        response.message = f"the vehicle is back at its start at {seconds_text(self.time_ns)}"
        return response
