"""The time manager as the standard services use it: pause, resume, and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python
from std_srvs.srv import Trigger

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.entity import Entity
from rosflight_py_sim.nodes.node_names import NAMES, node_name
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.nodes.scripts import REPLY_LIMIT_S, Asked, Script, Until
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import calls, newest
from rosflight_py_sim.step.topics import PAUSED

_TOGGLE, _STEP, _STEP_COUNT = "time_manager/toggle_pause", "time_manager/step", "step_count"

# By either choice of node names; only the parameters depend on it.
_NODES = tuple(node_name("time_manager", "", names) for names in NAMES)

# Time in which the truth states of a step that is under way arrive, s of system time; as a rule, a millisecond.
_STEP_ENDS_S = 2.0


class TimeControl(Part):
    """The time manager of a simulation."""

    paused: Any = newest(PAUSED)
    triggers = calls(Trigger, _TOGGLE, _STEP)
    reading = calls(GetParameters, *(f"{name}/get_parameters" for name in _NODES))
    setting = calls(SetParametersAtomically, *(f"{name}/set_parameters_atomically" for name in _NODES))

    def __init__(self, node: SimulationNode, entities: Mapping[str, Entity]) -> None:
        """Control the time of these entities, which are given by name."""
        super().__init__({})
        self._node, self._entities = node, entities
        self.is_stepping = False

    @property
    def exists(self) -> bool:
        """Whether the time mode has a time manager."""
        return self._node.time_mode != "wall"

    @property
    def is_paused(self) -> bool:
        """Whether the simulation is paused, as far as is known."""
        return self.paused is not None and bool(self.paused.data)

    def step_is_complete(self) -> bool:
        """Whether the truth states of the present step have arrived."""
        stamps = [-1 if one.state is None else one.state.time_ns for one in self._entities.values()]
        now_ns, in_lockstep = self._node.now_ns, self._node.time_mode == "lockstep"
        return all(stamp > now_ns if in_lockstep else stamp >= now_ns for stamp in stamps)

    def pause(self, paused: bool) -> Script:
        """Pause or resume; a pause begins when the present step is complete."""
        is_paused = self.is_paused
        while is_paused is not paused:
            # The service only toggles: another client may have been faster.
            reply = yield from self._trigger(_TOGGLE)
            is_paused = reply.message.startswith("paused")
        if paused:
            yield Until(self.step_is_complete, _STEP_ENDS_S)

    def take_steps(self, size: int, times: int, go_on: Callable[[int], bool] = lambda _: True) -> Script:
        """Take `times` times `size` steps of a paused simulation.

        Args:
            size: number of steps at a time.
            times: how often.
            go_on: called each time with how often it was; returns whether to go on.

        Raises:
            RefusedError: the time manager refuses, or does not reply.
        """
        name = next((one for one in _NODES if self.reading[f"{one}/get_parameters"].is_available()), _NODES[0])
        asking = f"{name}/get_parameters"
        reply = yield Asked(asking, self.reading[asking], GetParameters.Request(names=[_STEP_COUNT]))
        count = parameter_value_to_python(reply.values[0])
        yield from self._set_step_count(name, size)
        error: RefusedError | None = None
        self.is_stepping = True
        try:
            for taken in range(1, times + 1):
                yield from self._trigger(_STEP, limit_s=None)
                yield Until(self.step_is_complete, _STEP_ENDS_S)
                if not go_on(taken):
                    break
        except RefusedError as raised:
            error = raised
        self.is_stepping = False
        yield from self._set_step_count(name, count)
        if error is not None:
            raise error

    def _set_step_count(self, name: str, count: int) -> Script:
        asking = f"{name}/set_parameters_atomically"
        changes = [Parameter(_STEP_COUNT, value=count).to_parameter_msg()]
        reply = yield Asked(asking, self.setting[asking], SetParametersAtomically.Request(parameters=changes))
        if not reply.result.successful:
            raise RefusedError(Code.OPERATION_FAILED, reply.result.reason)

    def _trigger(self, service: str, limit_s: float | None = REPLY_LIMIT_S) -> Script:
        reply = yield Asked(service, self.triggers[service], Trigger.Request(), limit_s)
        if not reply.success:
            raise RefusedError(Code.OPERATION_FAILED, reply.message)
        return reply
