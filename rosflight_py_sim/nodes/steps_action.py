"""The action simulate_steps, of the services and topics of which an action consists.

rclpy's ActionServer runs coroutines, which end the spin of the EventsExecutor of rclpy 7.1.4 to 7.1.10 (Jazzy).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from rclpy.task import Future
from simulation_interfaces.action import SimulateSteps

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.refusals import Code, RefusedError, set_result
from rosflight_py_sim.nodes.scripts import Script, Scripts, Until
from rosflight_py_sim.step.qos import FEEDBACK, LATCHED

NAME = "simulate_steps"

# Time in which the middleware matches a client's subscription, s of system time.
_MATCHED_S = 2.0

# Ended goals whose results are kept.
_KEPT = 100

_ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)


class _Goal:
    def __init__(self, info: GoalInfo, steps: int) -> None:
        self.info, self.steps = info, steps
        self.status = GoalStatus.STATUS_EXECUTING
        self.result: Future[Any] = Future()

    @property
    def is_cancelled(self) -> bool:
        return bool(self.status == GoalStatus.STATUS_CANCELING)


class StepsAction:
    """Takes steps one by one, and publishes feedback after each."""

    def __init__(
        self,
        node: SimulationNode,
        scripts: Scripts,
        take: Callable[[int, Callable[[int], bool]], Script],
    ) -> None:
        """Offer the action.

        Args:
            node: the node.
            scripts: runs the scripts.
            take: takes a number of steps; its second argument is called with the number of steps taken after each, and
                returns whether to go on. It raises RefusedError if it cannot take them.
        """
        self._node, self._scripts, self._take = node, scripts, take
        self._goals: dict[bytes, _Goal] = {}
        parts = SimulateSteps.Impl
        node.create_service(parts.SendGoalService, f"{NAME}/_action/send_goal", self._on_goal)
        node.create_service(parts.GetResultService, f"{NAME}/_action/get_result", self._on_result)
        node.create_service(CancelGoal, f"{NAME}/_action/cancel_goal", self._on_cancel)
        self._feedback = node.create_publisher(parts.FeedbackMessage, f"{NAME}/_action/feedback", FEEDBACK)
        self._status = node.create_publisher(GoalStatusArray, f"{NAME}/_action/status", LATCHED)

    def _on_goal(self, request: Any, response: Any) -> Any:
        info = GoalInfo(goal_id=request.goal_id, stamp=self._node.get_clock().now().to_msg())
        response.accepted, response.stamp = True, info.stamp
        goal = _Goal(info, request.goal.steps)
        self._goals[bytes(request.goal_id.uuid)] = goal
        self._publish_status()
        self._scripts.run(self._execute(goal), self._publish_status)
        return response

    def _execute(self, goal: _Goal) -> Script:
        response = SimulateSteps.Impl.GetResultService.Response()
        taken = 0

        def on_step(number: int) -> bool:
            nonlocal taken
            taken = number
            message = SimulateSteps.Impl.FeedbackMessage(goal_id=goal.info.goal_id)
            message.feedback.completed_steps = number
            message.feedback.remaining_steps = goal.steps - number
            self._feedback.publish(message)
            return not goal.is_cancelled

        # A goal may arrive before the middleware has matched the client's subscription to the feedback.
        yield Until(lambda: self._feedback.get_subscription_count() > 0, _MATCHED_S)
        try:
            yield from self._take(goal.steps, on_step)
            if goal.is_cancelled and taken < goal.steps:
                text = f"cancelled after {taken} of {goal.steps} steps"
                raise RefusedError(Code.OPERATION_FAILED, text)
            goal.status = GoalStatus.STATUS_SUCCEEDED
            set_result(response.result)
        except RefusedError as error:
            goal.status = GoalStatus.STATUS_CANCELED if goal.is_cancelled else GoalStatus.STATUS_ABORTED
            set_result(response.result, error)
        response.status = goal.status
        goal.result.set_result(response)
        ended = [key for key, one in self._goals.items() if one.status in _ENDED]
        for key in ended[:-_KEPT]:
            del self._goals[key]

    def _on_result(self, request: Any, response: Any) -> Any:
        goal = self._goals.get(bytes(request.goal_id.uuid))
        if goal is None:
            response.status = GoalStatus.STATUS_UNKNOWN
            return response
        return goal.result.result() if goal.result.done() else goal.result

    def _on_cancel(self, request: CancelGoal.Request, response: CancelGoal.Response) -> CancelGoal.Response:
        wanted = request.goal_info
        key, stamp = bytes(wanted.goal_id.uuid), (wanted.stamp.sec, wanted.stamp.nanosec)
        if any(key) and key not in self._goals:
            response.return_code = CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID
            return response
        chosen = [self._goals[key]] if any(key) else list(self._goals.values())
        if any(stamp) and not any(key):
            chosen = [one for one in chosen if (one.info.stamp.sec, one.info.stamp.nanosec) <= stamp]
        running = [one for one in chosen if one.status not in _ENDED]
        if any(key) and not running:
            response.return_code = CancelGoal.Response.ERROR_GOAL_TERMINATED
        for one in running:
            one.status = GoalStatus.STATUS_CANCELING
        response.goals_canceling = [one.info for one in running]
        self._publish_status()
        return response

    def _publish_status(self) -> None:
        entries = [GoalStatus(goal_info=one.info, status=one.status) for one in self._goals.values()]
        self._status.publish(GoalStatusArray(status_list=entries))
