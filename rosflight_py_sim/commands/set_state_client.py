"""Client of dynamics/set_sim_state: sets the state of a running simulation."""

from __future__ import annotations

from collections.abc import Sequence

import rclpy
from rosflight_msgs.srv import SetSimState

from rosflight_py_sim.commands.service_client import InterruptedCallError, service_client
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.nodes.running import deferred_signals, initialise
from rosflight_py_sim.physics.steady_model import Array
from rosflight_py_sim.step.vehicle_state import message_of_truth

SERVICE_TIMEOUT_S = 10.0
"""Time limit for the service, s of system time."""

REPLY_TIMEOUT_S = 40.0
"""Time limit for a successful reply, s of system time; a new simulation may still be compiling."""

SERVICE = "dynamics/set_sim_state"


def set_state(truth: Array, namespace: str, ros_arguments: Sequence[str]) -> str:
    """Set the state (19,) of the running simulation; return the service's message.

    Raises:
        ParameterError: no simulation offers the service, it does not reply, or it rejects the state.
        KeyboardInterrupt: SIGINT or SIGTERM was received.
    """
    request = SetSimState.Request(state=message_of_truth(truth))
    initialise(["rosflight_py_sim", *ros_arguments])
    try:
        # An interrupt in a callback of rclpy could be lost, or end in a traceback.
        with deferred_signals() as signals, service_client("trim", namespace, signals=signals) as client:
            missing = (
                f"no running simulation: service {client.node.resolve_service_name(SERVICE)} not available within "
                f"{SERVICE_TIMEOUT_S:g} s (is it running, in this ROS_DOMAIN_ID and --namespace?)"
            )
            answer = client.call(
                SERVICE, SetSimState, request, missing=missing, missing_s=SERVICE_TIMEOUT_S, reply_s=REPLY_TIMEOUT_S
            )
    except InterruptedCallError as error:
        raise KeyboardInterrupt from error
    finally:
        rclpy.try_shutdown()
    if not answer.success:
        raise ParameterError(f"the simulation rejected the state: {answer.message}")
    return str(answer.message)
