"""Client of the standard services of simulators; of ROS it imports rclpy and simulation_interfaces alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import EntityState, Result, SimulationState

LIMIT_S = 80.0

OK = Result.RESULT_OK
STOPPED, PLAYING = SimulationState.STATE_STOPPED, SimulationState.STATE_PLAYING
PAUSED, QUITTING = SimulationState.STATE_PAUSED, SimulationState.STATE_QUITTING


class StandardClient:
    """Calls the services of the simulator in a ROS domain."""

    def __init__(self, domain: int) -> None:
        self.domain = domain
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain, args=[])
        self.node = Node("standard_client", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._clients: dict[str, Any] = {}
        self._action: Any = None

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Process messages until a condition holds."""
        end_s = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end_s, f"not within {LIMIT_S:g} s: {what}"
            self._executor.spin_once(timeout_sec=0.05)

    def spin(self, seconds: float) -> None:
        """Process messages for this much system time."""
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            self._executor.spin_once(timeout_sec=0.05)

    def call(self, kind: str, **fields: Any) -> Any:
        """Response of a service, by the name of its type."""
        service_type = getattr(srv, kind)
        if kind not in self._clients:
            name = "".join(f"_{one.lower()}" if one.isupper() else one for one in kind)[1:]
            self._clients[kind] = self.node.create_client(service_type, name)
        client = self._clients[kind]
        self.until(client.service_is_ready, f"service {kind}")
        future = client.call_async(service_type.Request(**fields))
        self.until(future.done, f"response of {kind}")
        return future.result()

    def done(self, kind: str, **fields: Any) -> Any:
        """Response of a service whose result is OK."""
        response = self.call(kind, **fields)
        assert response.result.result == OK, f"{kind}: {response.result}"
        return response

    def refused(self, kind: str, **fields: Any) -> tuple[int, str]:
        """Code and text of a refusal."""
        result = self.call(kind, **fields).result
        assert result.result != OK
        return result.result, result.error_message

    @property
    def features(self) -> set[int]:
        """Advertised features."""
        return set(self.call("GetSimulatorFeatures").features.features)

    @property
    def state(self) -> int:
        """State of the simulation."""
        state: int = self.done("GetSimulationState").state.state
        return state

    def change(self, state: int) -> None:
        """Change the state of the simulation, if it is another."""
        if self.state != state:
            self.done("SetSimulationState", state=SimulationState(state=state))
            assert self.state == state

    def entity(self, name: str) -> EntityState:
        """State of an entity."""
        return self.done("GetEntityState", entity=name).state

    def time_ns(self, name: str) -> int:
        """Stamp of the state of an entity, ns."""
        stamp = self.entity(name).header.stamp
        return int(stamp.sec * 1_000_000_000 + stamp.nanosec)

    def simulate_steps(self, steps: int, cancel_after: int = 0) -> tuple[int, Result, list[tuple[int, int]]]:
        """Status, result and feedback of the action; cancelled at that number of steps."""
        if self._action is None:
            self._action = ActionClient(self.node, SimulateSteps, "simulate_steps")
            self.until(self._action.server_is_ready, "action simulate_steps")
            # A subscription that is discovered, but not matched yet, loses feedback.
            self.spin(0.5)
        action = self._action
        feedback: list[tuple[int, int]] = []

        def note(message: Any) -> None:
            feedback.append((message.feedback.completed_steps, message.feedback.remaining_steps))

        sent = action.send_goal_async(SimulateSteps.Goal(steps=steps), feedback_callback=note)
        self.until(sent.done, "acceptance of the goal")
        goal = sent.result()
        assert goal.accepted
        ended = goal.get_result_async()
        if cancel_after:
            self.until(lambda: len(feedback) >= cancel_after, "feedback")
            cancelled = goal.cancel_goal_async()
            self.until(cancelled.done, "reply to the cancellation")
        self.until(ended.done, "result of the action")
        return ended.result().status, ended.result().result.result, feedback

    def close(self) -> None:
        if self._action is not None:
            self._action.destroy()
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)
