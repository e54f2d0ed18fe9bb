"""The standard services on the simulation: features, state, steps and reset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from simulation_interfaces.msg import SimulationState, SimulatorFeatures
from simulation_interfaces.srv import ResetSimulation, SetSimulationState
from std_srvs.srv import Trigger

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.entities import Entities
from rosflight_py_sim.nodes.entity import ARRIVES_S, RESETS, Entity
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.nodes.resources import FORMATS
from rosflight_py_sim.nodes.scripts import REPLY_LIMIT_S, Asked, Script, Scripts, Until
from rosflight_py_sim.nodes.simulation_changes import SimulationChanges
from rosflight_py_sim.nodes.time_control import TimeControl
from rosflight_py_sim.step.ports import Call

STATES = {
    SimulationState.STATE_STOPPED: "stopped",
    SimulationState.STATE_PLAYING: "playing",
    SimulationState.STATE_PAUSED: "paused",
    SimulationState.STATE_QUITTING: "quitting",
    SimulationState.STATE_NO_WORLD: "without a world",
}
"""Names of the states that a simulation can have."""

_MOST_STEPS = 1_000_000_000

# Time in which the reply to the request to quit is sent, s of system time.
_SENT_S = 0.2

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


_WITH_SPAWNING = (
    _Features.SPAWNING,
    _Features.SPAWNING_ENTITIES,
    _Features.SPAWNING_RESOURCE_STRING,
    _Features.DELETING,
    _Features.SIMULATION_RESET_SPAWNED,
)

_WITH_RESTART = (
    _Features.SIMULATION_RESET_TIME,
    _Features.WORLD_LOADING,
    _Features.WORLD_RESOURCE_STRING,
    _Features.WORLD_UNLOADING,
)

_SCOPES = ResetSimulation.Request


class StateServices:
    """Answers the requests; each public method but `get_simulator_features` is the script of a service or action."""

    def __init__(
        self,
        node: SimulationNode,
        scripts: Scripts,
        time: TimeControl,
        entities: Entities,
        changes: SimulationChanges,
        delete: Callable[[Entity], Script],
        has_world: Callable[[], bool],
    ) -> None:
        """Serve the simulation of the node.

        Args:
            node: the node.
            scripts: its scripts.
            time: its time manager.
            entities: its entities.
            changes: its changes.
            delete: script that removes an entity during a change.
            has_world: returns whether a world is loaded.
        """
        self._node, self._scripts, self._time, self._entities = node, scripts, time, entities
        self._changes, self._delete, self._has_world = changes, delete, has_world
        self._is_quitting = self._is_stopped = False

    def get_simulator_features(self, request: Any, response: Any) -> None:
        """List the features in the node's time mode; this response has no result."""
        response.features.features = [
            *_ALWAYS,
            *(_WITH_TIME_MANAGER if self._time.exists else ()),
            *(_WITH_SPAWNING if self._changes.can_spawn else ()),
            *(_WITH_RESTART if self._changes.can_restart else ()),
        ]
        response.features.spawn_formats = list(FORMATS if self._changes.can_spawn else ())
        response.features.custom_info = (
            f"rosflight_py_sim, time mode {self._node.time_mode}; docs/simulation_interfaces.md describes the features"
        )

    @property
    def state(self) -> int:
        """State of the simulation, one of STATES."""
        if self._is_quitting:
            return int(SimulationState.STATE_QUITTING)
        if not self._has_world():
            return int(SimulationState.STATE_NO_WORLD)
        if not self._time.is_paused:
            return int(SimulationState.STATE_PLAYING)
        # Another client may have stepped or resumed in the meantime.
        times = [self._node.now_ns, *(one.state.time_ns for one in self._entities.values() if one.state)]
        is_stopped = self._is_stopped and not any(times)
        return int(SimulationState.STATE_STOPPED if is_stopped else SimulationState.STATE_PAUSED)

    def get_simulation_state(self, request: Any, response: Any) -> Script:
        """State of the simulation."""
        response.state.state = self.state
        yield from ()

    def set_simulation_state(self, request: Any, response: Any) -> Script:
        """Pause, resume or end the simulation."""
        wanted, codes = request.state.state, SetSimulationState.Response
        if wanted == self.state:
            raise RefusedError(codes.ALREADY_IN_TARGET_STATE, f"the simulation is {STATES[wanted]} already")
        transitions = self._transitions()
        if wanted not in transitions:
            given = f"state {wanted} ({STATES.get(wanted, 'not a state of this simulation')}) given while it is "
            allowed = ", ".join(f"{state} ({STATES[state]})" for state in transitions)
            supported = wanted in STATES and not self._is_quitting and self._has_world()
            code = Code.FEATURE_UNSUPPORTED if supported else codes.INCORRECT_TRANSITION
            raise RefusedError(code, f"{given}{STATES[self.state]}; allowed: {allowed or 'none'}")
        with self._changes.alone(f"the change to {STATES[wanted]}"):
            yield from transitions[wanted]()

    def _transitions(self) -> dict[int, Callable[[], Script]]:
        """Scripts to the states that can be set."""
        if self._is_quitting:
            return {}
        changes: dict[int, Callable[[], Script]] = {SimulationState.STATE_QUITTING: self._quit}
        if not self._has_world():
            return changes
        if self._time.exists:
            changes[SimulationState.STATE_PLAYING] = self._play
            changes[SimulationState.STATE_PAUSED] = self._pause
        if self._changes.can_restart:
            changes[SimulationState.STATE_STOPPED] = self._stop
        return changes

    def _play(self) -> Script:
        self._is_stopped = False
        yield from self._time.pause(False)

    def _pause(self) -> Script:
        self._is_stopped = False
        yield from self._time.pause(True)

    def _stop(self) -> Script:
        yield from self._time.pause(True)
        yield from self._restart(paused=True)
        self._is_stopped = True

    def _restart(self, *, paused: bool, entirely: bool = True) -> Script:
        """Start the simulation again at time 0; with `entirely`, return to the initial vehicles."""
        self._entities.restart(entirely=entirely)
        yield from self._changes.restart(paused=paused, entirely=entirely)
        entities = self._entities.values()
        if not (yield Until(lambda: all(one.state is not None for one in entities), REPLY_LIMIT_S)):
            late = ", ".join(one.name for one in entities if one.state is None)
            raise RefusedError(
                Code.OPERATION_FAILED, f"no truth state of {late} within {REPLY_LIMIT_S:g} s of the restart"
            )

    def start_over(self, world: str) -> Script:
        """Start again without vehicles, in another world, and stop; a change must be under way."""
        yield from self._time.pause(True)
        self._entities.leave()
        error = yield from self._changes.carry_out(lambda simulation: simulation.load_world(world))
        if error is not None:
            raise RefusedError(Code.OPERATION_FAILED, str(error)) from error
        self._is_stopped = True

    def _quit(self) -> Script:
        if self._time.exists:
            yield from self._time.pause(True)
        self._is_quitting = True
        self._scripts.run(_after(_SENT_S), self._node.control.quit)

    def step_simulation(self, request: Any, response: Any) -> Script:
        """Take all steps at once."""
        self._check_steps(request.steps)
        with self._changes.alone("step_simulation"):
            yield from self._time.take_steps(request.steps, 1)

    def simulate_steps(self, steps: int, on_step: Callable[[int], bool]) -> Script:
        """Take steps one by one; `on_step` as of `StepsAction`."""
        self._check_steps(steps)
        with self._changes.alone("simulate_steps"):
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
        """Reset time, the vehicles or both, and remove spawned vehicles; stay playing or paused."""
        allowed = self._allowed_scopes()
        if request.scope not in allowed:
            texts = ", ".join(f"{scope} ({allowed[scope]})" for scope in sorted(allowed))
            raise RefusedError(Code.FEATURE_UNSUPPORTED, f"scope {request.scope} given; allowed: {texts}")
        if not self._has_world():
            raise RefusedError(
                Code.INCORRECT_STATE, "reset requested while the simulation is without a world; allowed: load_world"
            )
        is_all = request.scope in (_SCOPES.SCOPE_DEFAULT, _SCOPES.SCOPE_ALL)
        with self._changes.alone("reset_simulation"):
            if is_all:
                yield from self._restart(paused=self._time.is_paused)
                return
            if request.scope & _SCOPES.SCOPE_SPAWNED:
                for entity in self._entities.spawned:
                    yield from self._delete(entity)
            if request.scope & _SCOPES.SCOPE_TIME and request.scope & _SCOPES.SCOPE_STATE:
                yield from self._restart(paused=self._time.is_paused, entirely=False)
            elif request.scope & _SCOPES.SCOPE_TIME:
                yield from self._reset_time()
            elif request.scope & _SCOPES.SCOPE_STATE:
                yield from self._reset_states(list(self._entities.values()))

    def _allowed_scopes(self) -> dict[int, str]:
        """Scopes that can be reset, with their texts: all sums of the offered scopes."""
        offered = {_SCOPES.SCOPE_STATE: "state"}
        if self._changes.can_restart:
            offered = {_SCOPES.SCOPE_TIME: "time", **offered}
        if self._changes.can_spawn:
            offered[_SCOPES.SCOPE_SPAWNED] = "spawned"
        sums = (some for count in range(1, len(offered) + 1) for some in combinations(offered, count))
        allowed = {sum(some): " and ".join(offered[scope] for scope in some) for some in sums}
        if self._changes.can_restart:
            allowed |= dict.fromkeys((_SCOPES.SCOPE_DEFAULT, _SCOPES.SCOPE_ALL), "all")
        return allowed

    def _reset_time(self) -> Script:
        """Start again at time 0, with the vehicles where they are."""
        was_paused = self._time.is_paused
        yield from self._time.pause(True)
        kept = [(one, one.state, one.description) for one in self._entities.values()]
        yield from self._restart(paused=True, entirely=False)
        for entity, state, description in kept:
            entity.description = description
            if state is not None:
                yield from entity.set_truth(state.truth)
        if not was_paused:
            yield from self._time.pause(False)

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
        yield Until(lambda: all(one.state is not state for one, state in zip(entities, before, strict=True)), ARRIVES_S)


def _is_known(call: Call) -> bool:
    """Whether a service has been discovered, or is missing."""
    return call.is_available() or call.is_missing()


def _after(seconds: float) -> Script:
    yield Until(lambda: False, seconds)
