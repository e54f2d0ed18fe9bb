"""Client of dynamics/set_sim_state: sets the state of a running simulation."""

from __future__ import annotations

import time
from collections.abc import Sequence

import rclpy
from rclpy.node import Node
from rosflight_msgs.srv import SetSimState

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.nodes.running import deferred_signals, initialise, refusals_of_ros
from rosflight_py_sim.physics.steady_model import Array
from rosflight_py_sim.step.vehicle_state import message_of_truth

SERVICE_TIMEOUT_S = 10.0
"""Time limit for the service, s of system time."""

REPLY_TIMEOUT_S = 40.0
"""Time limit for a successful reply, s of system time; a new simulation may still be compiling."""

ASK_AGAIN_S = 2.0
"""System time after which the request is repeated, s."""

# Interval at which a received signal is noticed.
_CHECK_S = 0.1


def set_state(truth: Array, namespace: str, ros_arguments: Sequence[str]) -> str:
    """Set the state (19,) of the running simulation; return the service's message.

    Raises:
        ParameterError: no simulation offers the service, it does not reply, or it rejects the state.
        KeyboardInterrupt: SIGINT or SIGTERM was received.
    """
    # An interrupt in a callback of rclpy could be lost, or end in a traceback.
    with deferred_signals() as signals:
        answer = _answer(SetSimState.Request(state=message_of_truth(truth)), namespace, ros_arguments, signals)
    if answer is None:
        raise KeyboardInterrupt
    if not answer.success:
        raise ParameterError(f"the simulation rejected the state: {answer.message}")
    return str(answer.message)


def _answer(
    request: SetSimState.Request, namespace: str, ros_arguments: Sequence[str], signals: Sequence[int]
) -> SetSimState.Response | None:
    """Response of the service; None after a signal."""
    initialise(["rosflight_py_sim", *ros_arguments])
    try:
        with refusals_of_ros():
            node = Node("trim", namespace=namespace)
        try:
            return _call(node, request, signals)
        finally:
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def _call(node: Node, request: SetSimState.Request, signals: Sequence[int]) -> SetSimState.Response | None:
    client = node.create_client(SetSimState, "dynamics/set_sim_state")
    service = node.resolve_service_name("dynamics/set_sim_state")
    end_s = time.monotonic() + SERVICE_TIMEOUT_S
    while not client.service_is_ready():
        if signals:
            return None
        if time.monotonic() > end_s:
            raise ParameterError(
                f"no running simulation: service {service} not available within {SERVICE_TIMEOUT_S:g} s "
                "(is it running, in this ROS_DOMAIN_ID and --namespace?)"
            )
        time.sleep(_CHECK_S)
    end_s = time.monotonic() + REPLY_TIMEOUT_S
    while time.monotonic() < end_s:
        # The reply is lost if the service has not discovered the client yet; repeating the request is safe.
        future = client.call_async(request)
        again_s = time.monotonic() + ASK_AGAIN_S
        while not future.done() and time.monotonic() < again_s:
            if signals:
                return None
            rclpy.spin_once(node, timeout_sec=_CHECK_S)
        if future.done():
            return future.result()
        client.remove_pending_request(future)
    raise ParameterError(f"no reply from {service} within {REPLY_TIMEOUT_S:g} s")
