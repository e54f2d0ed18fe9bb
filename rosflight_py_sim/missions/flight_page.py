"""The page of `fly --view` after the flight: it shows the verdicts until Ctrl-C, and may request another flight."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.graph.sidecar import Sidecar
from rosflight_py_sim.missions.flight_result import FlightResult
from rosflight_py_sim.nodes.running import deferred_signals, initialise
from rosflight_py_sim.step.mission_topics import MISSION_VERDICT
from rosflight_py_sim.viewer.web.flight_verdict import FLY_AGAIN

_SPIN_S = 0.1


class FlightPage:
    """Processes of the viewers, which outlive the flights, and the end of each flight.

    Attributes:
        processes: the processes.
        flies_again: whether another flight was requested at the end of the last one.
    """

    def __init__(self) -> None:
        """Without processes: the graph of the first flight starts them."""
        self.processes: list[Sidecar] = []
        self.flies_again = False

    def __enter__(self) -> FlightPage:
        """Return the page."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        while self.processes:
            self.processes.pop().close()

    def serve(self, result: FlightResult, namespace: str, ros_arguments: Sequence[str], by_hand: str = "") -> None:
        """Publish the result and offer the service, until a request to fly again or a signal.

        Args:
            result: result of the flight.
            namespace: of the graph.
            ros_arguments: ROS arguments of the graph.
            by_hand: line that says how to fly by hand; empty without a transmitter.
        """
        self.flies_again = False
        print("the page shows the flight until Ctrl-C; Fly again starts it once more", flush=True)
        if by_hand:
            print(by_hand, flush=True)
        # An interrupted callback of rclpy leaves the process unable to end.
        with deferred_signals() as signals:
            initialise([sys.argv[0], *ros_arguments])
            node = Node("flight_end", namespace=namespace)
            executor = SingleThreadedExecutor()
            try:
                node.create_publisher(String, MISSION_VERDICT.name, MISSION_VERDICT.qos).publish(
                    String(data=result.text)
                )
                node.create_service(Trigger, FLY_AGAIN, self._fly_again)
                executor.add_node(node)
                while not signals and not self.flies_again:
                    executor.spin_once(_SPIN_S)
                # The reply is on its way.
                executor.spin_once(_SPIN_S)
            finally:
                executor.shutdown()
                node.destroy_node()
                rclpy.try_shutdown()

    def _fly_again(self, request: Trigger.Request, response: Any) -> Any:
        self.flies_again = True
        response.success, response.message = True, "the vehicles start again"
        return response
