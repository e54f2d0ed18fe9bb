"""Actions of the page's buttons, performed in the thread of the viewer's node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rosflight_msgs.srv import SetSimState

from rosflight_py_sim.step.vehicle_state import message_of_truth
from rosflight_py_sim.viewer.web.disturbance import DISTURBED

if TYPE_CHECKING:
    from rosflight_py_sim.nodes.web_viewer import WebViewer


class PageActions:
    """The simulation, for the page (`Simulation` in viewer/web/controls.py)."""

    def __init__(self, node: WebViewer) -> None:
        """Act through the node's service calls."""
        self._node = node

    def call(self, label: str, services: Sequence[str]) -> None:
        """Call services in order."""
        self._node.request(lambda: self._node.calls.trigger(services, label))

    def step(self, count: int) -> None:
        """Take steps while paused."""
        node = self._node
        then = ["time_manager/step"]
        node.request(lambda: node.calls.set_parameter("time_manager", "step_count", count, then, "Step"))

    def set_pace(self, multiplier: float) -> None:
        """Set the simulated seconds per second."""
        node, name = self._node, "real_time_multiplier"
        node.request(lambda: node.calls.set_parameter("time_manager", name, multiplier, label="Set pace"))

    def set_state(self, truth: NDArray[np.float64]) -> None:
        """Set the state (19,) of the selected vehicle."""
        node = self._node
        request = SetSimState.Request(state=message_of_truth(truth))
        service = node.display.of_chosen("dynamics/set_sim_state")
        node.request(lambda: node.calls.set_state(service, request, "Set state"))

    def set_parameters(self, label: str, node: str, values: Mapping[str, object], done: str) -> None:
        """Set parameters of a node of the selected vehicle."""
        name = self._node.display.of_chosen(node)
        self._node.request(lambda: self._node.calls.set_parameters(name, values, label, done))

    def add_failure(self, label: str, node: str, text: str) -> None:
        """Append a failure to those of a node of the selected vehicle."""
        name = self._node.display.of_chosen(node)
        self._node.request(lambda: self._node.calls.add_failure(name, text, label))

    def end_failures(self, label: str) -> None:
        """End the failures of the selected vehicle's nodes."""
        for node in DISTURBED:
            name = self._node.display.of_chosen(node)
            self._node.request(partial(self._node.calls.set_failures, name, [], label, f"{node}: none"))
