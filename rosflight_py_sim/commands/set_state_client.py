"""Putting a running simulation into a state, from outside: a client of dynamics/set_sim_state."""

from __future__ import annotations

import time
from collections.abc import Sequence

import rclpy
from rclpy.node import Node
from rosflight_msgs.srv import SetSimState

from rosflight_py_sim.interfaces.vehicle_state import message_of_truth
from rosflight_py_sim.nodes.running import initialise, refusals_of_ros
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.physics.steady_model import Array

PATIENCE_S = 10.0
"""System time after which no simulation counts as running."""

ANSWER_PATIENCE_S = 40.0
"""System time after which a simulation counts as not answering: one that has just begun may be compiling."""

ASK_AGAIN_S = 2.0
"""System time after which one answer counts as lost."""


def set_state(truth: Array, namespace: str, ros_arguments: Sequence[str]) -> str:
    """Put the running simulation into a state (19,); what the service says.

    Raises:
        ParameterError: no simulation offers the service, it does not answer, or it refuses the state.
    """
    initialise(["rosflight_py_sim", *ros_arguments])
    try:
        with refusals_of_ros():
            node = Node("trim", namespace=namespace)
        try:
            answer = _call(node, SetSimState.Request(state=message_of_truth(truth)))
        finally:
            node.destroy_node()
    finally:
        rclpy.try_shutdown()
    if not answer.success:
        raise ParameterError(f"the simulation refuses the state: {answer.message}")
    return str(answer.message)


def _call(node: Node, request: SetSimState.Request) -> SetSimState.Response:
    client = node.create_client(SetSimState, "dynamics/set_sim_state")
    service = node.resolve_service_name("dynamics/set_sim_state")
    if not client.wait_for_service(timeout_sec=PATIENCE_S):
        raise ParameterError(
            f"no simulation to set: nobody offers {service} within {PATIENCE_S:g} s "
            "(is it running, in this ROS_DOMAIN_ID and --namespace?)"
        )
    end = time.monotonic() + ANSWER_PATIENCE_S
    while time.monotonic() < end:
        # An answer is lost where the service has not discovered the client as yet; asking again does no harm.
        future = client.call_async(request)
        rclpy.spin_until_future_complete(node, future, timeout_sec=ASK_AGAIN_S)
        if future.done():
            return future.result()
        client.remove_pending_request(future)
    raise ParameterError(f"{service} gave no answer within {ANSWER_PATIENCE_S:g} s")
