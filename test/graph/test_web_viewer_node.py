"""The node of the browser viewer in a graph, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from types import SimpleNamespace
from typing import Any

import pytest
from rclpy.parameter import Parameter
from rosflight_msgs.msg import SimState, Status
from sensor_msgs.msg import Joy
from websockets.sync.client import connect

from rosflight_py_sim.missions.judge_node import JudgeNode
from rosflight_py_sim.missions.oscillation import Oscillation
from rosflight_py_sim.nodes.display_rate import display_rate
from rosflight_py_sim.nodes.page_services import PageServices
from rosflight_py_sim.nodes.web_viewer import WebViewer
from rosflight_py_sim.step.pilot_topics import PILOT
from rosflight_py_sim.step.topics import STATUS, TRUTH_STATE
from rosflight_py_sim.transmitter.page import DRAWN_STICKS, KEYBOARD
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


@pytest.mark.parametrize("namespace", ["", "range"])
def test_oscillation_that_the_judge_finds_stands_below_the_checklist(graph: Callable[..., Any], namespace: str) -> None:
    made = graph("-p", "step_size:=0.01", multiplier=1.0, namespace=namespace).ready()
    viewer = WebViewer(namespace=namespace, parameter_overrides=[Parameter("web_viewer.port", value=0)])
    made.include(viewer)
    pilot = viewer.controls.pilot
    judge: Any = SimpleNamespace(name="quad", inputs=[], oscillation=None)
    node = made.join(JudgeNode, judge, SimpleNamespace(text="{}"), namespace=namespace)
    made.spin_until(lambda: pilot.flown_by_program, "the judge")
    node.warn_of_oscillation()
    assert "oscillates" not in pilot.checklist()
    judge.oscillation = Oscillation("roll", 19.0, 2.5, 3.0)
    node.warn_of_oscillation()
    made.spin_until(
        lambda: f"</span> {escape(str(judge.oscillation))}</div>" in pilot.checklist(), "the judge's report"
    )


def test_pilot_keeps_the_vehicle_when_another_is_selected(graph: Callable[..., Any]) -> None:
    made = graph("-p", "step_size:=0.01", multiplier=1.0).ready()
    vehicles = ["one", "two"]
    viewer = WebViewer(
        parameter_overrides=[Parameter("web_viewer.port", value=0), Parameter("vehicles", value=vehicles)]
    )
    made.include(viewer)
    reports: dict[str, list[Joy]] = {name: [] for name in vehicles}
    for name, taken in reports.items():
        # On a busy machine, a report without axes follows a page that was silent for two seconds.
        made.tester.create_subscription(
            Joy, f"/{name}/{PILOT.name}", lambda one, taken=taken: one.axes and taken.append(one), 10
        )
    truth = made.tester.create_publisher(SimState, f"/two/{TRUTH_STATE.name}", 10)
    status = made.tester.create_publisher(Status, f"/two/{STATUS.name}", 10)

    def is_shown_armed() -> bool:
        truth.publish(SimState())
        status.publish(Status(armed=True))
        return ">armed" in viewer.display.readings

    def take(page: Any, answer: str, device: str = KEYBOARD) -> None:
        """Take the controls, and wait for a message with this text."""
        page.send(json.dumps({"take": device}))

        def is_answered() -> bool:
            try:
                return answer in page.recv(0.0)
            except TimeoutError:
                return False

        made.spin_until(is_answered, answer)

    viewer.display.scene.chosen = "two"
    made.spin_until(is_shown_armed, "the armed vehicle")
    address = viewer.url.replace("http://", "ws://").rstrip("/") + "/cockpit"
    with connect(address, compression=None) as pilot, connect(address, compression=None) as other:
        take(pilot, '{"seat": "mine"}')
        viewer.display.scene.chosen = "one"
        take(other, "another browser flies")
        pilot.send(json.dumps({"held": [], "at": 0.0}))
        made.spin_until(lambda: any(reports.values()), "a report")
        take(pilot, '{"seat": "mine"}', DRAWN_STICKS)
        pilot.send(json.dumps({"axes": [0.0] * 4, "buttons": []}))
        made.spin_until(lambda: reports["two"][-1].header.frame_id == DRAWN_STICKS, "a report of the other device")
    assert not reports["one"]
    # In the air, the throttle starts at half.
    assert reports["two"][0].axes[2] == 0.0


def test_large_fleets_are_shown_less_often() -> None:
    assert [display_rate(30.0, vehicles) for vehicles in (1, 33, 50, 100)] == [30.0, 30.0, 20.0, 10.0]
    assert display_rate(5.0, 100) == 5.0


def test_failure_during_the_change_of_another_is_refused(graph: Callable[..., Any]) -> None:
    made = graph("-p", "step_size:=0.01", multiplier=1.0).ready()
    answers: list[tuple[str, str, bool]] = []
    calls = PageServices(made.tester, lambda *answer: answers.append(answer))
    services = {"sensors/get_parameters", "sensors/set_parameters"}
    made.spin_until(lambda: services <= calls.discover(services.__contains__), "the services")
    made.idle(0.5)
    calls.run("first", calls.add_failure("sensors", "gnss jammed"))
    calls.run("second", calls.add_failure("sensors", "mag off"))
    made.spin_until(lambda: len(answers) == 2, "both answers")
    assert answers == [
        ("second", "the failures of sensors cannot be read now; try again", False),
        ("first", "gnss jammed", True),
    ]
    calls.run("again", calls.add_failure("sensors", "mag off"))
    made.spin_until(lambda: len(answers) == 3, "the third answer")
    assert answers[2] == ("again", "mag off", True)
