"""The standard services on the simulation: features, state, steps and reset."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from simulation_interfaces.msg import SimulationState, SimulatorFeatures
from simulation_interfaces.srv import ResetSimulation, SetSimulationState
from std_srvs.srv import Trigger

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.entity import RESETS, Entity
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.nodes.scripts import Asked, Script, Scripts, Until
from rosflight_py_sim.nodes.time_control import TimeControl
from rosflight_py_sim.step.ports import Call

STATES = {
    SimulationState.STATE_STOPPED: "stopped",
    SimulationState.STATE_PLAYING: "playing",
    SimulationState.STATE_PAUSED: "paused",
    SimulationState.STATE_QUITTING: "quitting",
}
"""Names of the states that a simulation can have."""

_MOST_STEPS = 1_000_000_000

# Time in which the reply to the request to quit is sent, and in which a state that was set arrives, s of system time.
_SENT_S, _ARRIVES_S = 0.2, 2.0

_Features = SimulatorFeatures

_ALWAYS = (
    _Features.ENTITY_TAGS,
    _Features.ENTITY_BOUNDS,
    _Features.ENTITY_BOUNDS_BOX,
    _Features.ENTITY_CATEGORIES,
    _Features.ENTITY_STATE_GETTING,
    _Features.ENTITY_STATE_SETTING,
    _Features.ENTITY_INFO_GETTING,
    _Features.ENTITY_INFO_SETTING,
    _Features.SPAWNABLES,
    _Features.NAMED_POSES,
    _Features.POSE_BOUNDS,
    _Features.WORLD_TAGS,
    _Features.WORLD_INFO_GETTING,
    _Features.AVAILABLE_WORLDS,
    _Features.SIMULATION_RESET,
    _Features.SIMULATION_RESET_STATE,
    _Features.SIMULATION_STATE_GETTING,
    _Features.SIMULATION_STATE_SETTING,
)

_WITH_TIME_MANAGER = (
    _Features.SIMULATION_STATE_PAUSE,
    _Features.STEP_SIMULATION_SINGLE,
    _Features.STEP_SIMULATION_MULTIPLE,
    _Features.STEP_SIMULATION_ACTION,
)


class StateServices:
    """Answers the requests; each public method but `get_simulator_features` is the script of a service or action."""

    def __init__(
        self, node: SimulationNode, scripts: Scripts, time: TimeControl, entities: Mapping[str, Entity]
    ) -> None:
        """Serve the simulation of the node."""
        self._node, self._scripts, self._time, self._entities = node, scripts, time, entities
        self._is_quitting = False
        self._under_way = ""

    def get_simulator_features(self, request: Any, response: Any) -> None:
        """List the features in the node's time mode; this response has no result."""
        response.features.features = [*_ALWAYS, *(_WITH_TIME_MANAGER if self._time.exists else ())]
        response.features.custom_info = (
            f"rosflight_py_sim, time mode {self._node.time_mode}; docs/simulation_interfaces.md describes the features"
        )

    @property
    def state(self) -> int:
        """State of the simulation, one of STATES."""
        if self._is_quitting:
            return int(SimulationState.STATE_QUITTING)
        return int(SimulationState.STATE_PAUSED if self._time.is_paused else SimulationState.STATE_PLAYING)

    def get_simulation_state(self, request: Any, response: Any) -> Script:
        """State of the simulation."""
        response.state.state = self.state
        yield from ()

    def set_simulation_state(self, request: Any, response: Any) -> Script:
        """Pause, resume or end the simulation."""
        wanted, codes = request.state.state, SetSimulationState.Response
        if wanted == self.state:
            raise RefusedError(codes.ALREADY_IN_TARGET_STATE, f"the simulation is {STATES[wanted]} already")
        changes = self._changes()
        if wanted not in changes:
            given = f"state {wanted} ({STATES.get(wanted, 'not a state of this simulation')}) given while it is "
            allowed = ", ".join(f"{state} ({STATES[state]})" for state in changes)
            supported = wanted in STATES and not self._is_quitting
            code = Code.FEATURE_UNSUPPORTED if supported else codes.INCORRECT_TRANSITION
            raise RefusedError(code, f"{given}{STATES[self.state]}; allowed: {allowed or 'none'}")
        with self._alone(f"the change to {STATES[wanted]}"):
            yield from changes[wanted]()

    def _changes(self) -> dict[int, Callable[[], Script]]:
        """Scripts to the states that can be set."""
        if self._is_quitting:
            return {}
        changes: dict[int, Callable[[], Script]] = {SimulationState.STATE_QUITTING: self._quit}
        if self._time.exists:
            changes[SimulationState.STATE_PLAYING] = lambda: self._time.pause(False)
            changes[SimulationState.STATE_PAUSED] = lambda: self._time.pause(True)
        return changes

    def _quit(self) -> Script:
        if self._time.exists:
            yield from self._time.pause(True)
        self._is_quitting = True
        self._scripts.run(_after(_SENT_S), self._node.control.quit)

    def step_simulation(self, request: Any, response: Any) -> Script:
        """Take all steps at once."""
        self._check_steps(request.steps)
        with self._alone("step_simulation"):
            yield from self._time.take_steps(request.steps, 1)

    def simulate_steps(self, steps: int, on_step: Callable[[int], bool]) -> Script:
        """Take steps one by one; `on_step` as of `StepsAction`."""
        self._check_steps(steps)
        with self._alone("simulate_steps"):
            yield from self._time.take_steps(1, steps, on_step)

    def _check_steps(self, steps: int) -> None:
        if not self._time.exists:
            raise RefusedError(
                Code.FEATURE_UNSUPPORTED,
                "steps requested in the time mode wall, in which time is that of the system; allowed: paced, gated, "
                "lockstep",
            )
        if self.state != SimulationState.STATE_PAUSED:
            raise RefusedError(
                Code.OPERATION_FAILED,
                f"steps requested while the simulation is {STATES[self.state]}; allowed: while it is paused",
            )
        if not 1 <= steps <= _MOST_STEPS:
            raise RefusedError(Code.OPERATION_FAILED, f"steps {steps} given; allowed: 1 to {_MOST_STEPS}")

    def reset_simulation(self, request: Any, response: Any) -> Script:
        """Return the vehicles to their starts."""
        scopes = ResetSimulation.Request
        if request.scope != scopes.SCOPE_STATE:
            raise RefusedError(
                Code.FEATURE_UNSUPPORTED,
                f"scope {request.scope} given; allowed: {scopes.SCOPE_STATE} (state)",
            )
        with self._alone("reset_simulation"):
            yield from self._reset_states(list(self._entities.values()))

    def _reset_states(self, entities: Sequence[Entity]) -> Script:
        before = [one.state for one in entities]
        for entity in entities:
            for service in RESETS:
                call = entity.resets[service]
                yield Until(partial(_is_known, call), None)
                # A node of another package, such as ROSflight's, may have no such service; that of dynamics is needed.
                if service != RESETS[-1] and not call.is_available():
                    continue
                reply = yield Asked(f"{entity.namespace}/{service}".lstrip("/"), call, Trigger.Request())
                if not reply.success:
                    raise RefusedError(Code.OPERATION_FAILED, f"{service}: {reply.message}")
        yield Until(
            lambda: all(one.state is not state for one, state in zip(entities, before, strict=True)), _ARRIVES_S
        )

    @contextmanager
    def _alone(self, what: str) -> Generator[None, None, None]:
        """Context of a change of the simulation, beside which there is no other.

        Raises:
            RefusedError: another one is under way.
        """
        if self._under_way:
            raise RefusedError(
                Code.INCORRECT_STATE,
                f"{what} requested during {self._under_way}; allowed: one at a time",
            )
        self._under_way = what
        try:
            yield
        finally:
            self._under_way = ""


def _is_known(call: Call) -> bool:
    """Whether a service has been discovered, or is missing."""
    return call.is_available() or call.is_missing()


def _after(seconds: float) -> Script:
    yield Until(lambda: False, seconds)
