"""Actions of the page's buttons, performed in the thread of the viewer's node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rosflight_msgs.srv import SetSimState

from rosflight_py_sim.nodes.scripts import Script
from rosflight_py_sim.step.vehicle_state import message_of_truth
from rosflight_py_sim.viewer.web.disturbance import DISTURBED

if TYPE_CHECKING:
    from rosflight_py_sim.nodes.web_viewer import WebViewer


class PageActions:
    """The simulation, for the page (`Simulation` in viewer/web/controls.py)."""

    def __init__(self, node: WebViewer) -> None:
        """Act through the node's services."""
        self._node, self._calls = node, node.calls

    def _run(self, label: str, *scripts: Script) -> None:
        self._node.request(lambda: self._calls.run(label, *scripts))

    def call(self, label: str, services: Sequence[str]) -> None:
        """Call services in order."""
        self._run(label, *map(self._calls.call, services))

    def step(self, count: int) -> None:
        """Take steps while paused."""
        set_count = self._calls.set_parameters("time_manager", {"step_count": count})
        self._run("Step", set_count, self._calls.call("time_manager/step"))

    def set_pace(self, multiplier: float) -> None:
        """Set the simulated seconds per second."""
        self._run("Set pace", self._calls.set_parameters("time_manager", {"real_time_multiplier": multiplier}))

    def set_state(self, truth: NDArray[np.float64]) -> None:
        """Set the state (19,) of the selected vehicle."""
        request = SetSimState.Request(state=message_of_truth(truth))
        self._run("Set state", self._calls.call(self._of_chosen("dynamics/set_sim_state"), request))

    def set_parameters(self, label: str, node: str, values: Mapping[str, object], done: str) -> None:
        """Set parameters of a node of the selected vehicle."""
        self._run(label, self._calls.set_parameters(self._of_chosen(node), values, done))

    def add_failure(self, label: str, node: str, text: str) -> None:
        """Append a failure to those of a node of the selected vehicle."""
        self._run(label, self._calls.add_failure(self._of_chosen(node), text))

    def end_failures(self, label: str) -> None:
        """End the failures of the selected vehicle's nodes."""
        for node in DISTURBED:
            self._run(label, self._calls.set_failures(self._of_chosen(node), [], f"{node}: none"))

    def _of_chosen(self, name: str) -> str:
        return self._node.display.of_chosen(name)
