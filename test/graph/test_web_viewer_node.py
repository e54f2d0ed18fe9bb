"""The node of the browser viewer in a graph, without a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rclpy.parameter import Parameter

from rosflight_py_sim.nodes.web_viewer import WebViewer
from rosflight_py_sim.viewer.web.display import Display


@pytest.mark.parametrize(("namespace", "names"), [("", "short"), ("range", "short"), ("", "rosflight")])
def test_pace_follows_time_manager_multiplier(graph: Callable[..., Any], namespace: str, names: str) -> None:
    made = graph("-p", "step_size:=0.01", multiplier=2.0, namespace=namespace, names=names).ready()
    viewer = WebViewer(namespace=namespace, parameter_overrides=[Parameter("web_viewer.port", value=0)])
    made.include(viewer)
    pace = viewer.controls.pace
    made.spin_until(lambda: pace.value == "2 x", "the multiplier that the time manager was started with")
    time_manager = made.time_manager if names == "short" else "standalone_time_manager"
    made.set_parameter(time_manager, "real_time_multiplier", 1.25)
    made.spin_until(lambda: pace.value == "1.25 x", "the multiplier that was set from elsewhere")
    made.set_parameter(time_manager, "real_time_multiplier", 0.0)
    made.spin_until(lambda: pace.value == "as fast as possible", "no limit")


def test_page_survives_update_during_concurrent_connection(
    graph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = graph("-p", "step_size:=0.01", multiplier=1.0).ready()
    viewer = WebViewer(parameter_overrides=[Parameter("web_viewer.port", value=0)])
    made.include(viewer)
    calls = []
    refresh = Display.refresh

    def meeting(display: Display) -> None:
        calls.append(1)
        # asyncio.Event.set() raises this when a waiter is added or removed in the loop's thread.
        if len(calls) == 1:
            raise RuntimeError("deque mutated during iteration")
        refresh(display)

    monkeypatch.setattr(Display, "refresh", meeting)
    made.spin_until(lambda: len(calls) > 3, "further updates")
