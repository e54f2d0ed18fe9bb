"""What the nodes say of themselves on /diagnostics: figures that are right, and what is amiss."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from numpy.typing import NDArray

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_QOS
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.nodes.multirotor_forces_and_moments import MultirotorForcesAndMoments
from rosflight_py_sim.vehicles import vehicle


class Heard:
    """The newest entries of /diagnostics, by name."""

    def __init__(self, graph: Any) -> None:
        self._messages: list[DiagnosticArray] = graph.hear("/diagnostics", DiagnosticArray, DIAGNOSTICS_QOS)

    @property
    def entries(self) -> dict[str, DiagnosticStatus]:
        return {status.name: status for message in self._messages for status in message.status}

    def forget(self) -> None:
        self._messages.clear()

    def level(self, name: str) -> int:
        """How bad it is; -1: nothing was heard."""
        entry = self.entries.get(name)
        return entry.level[0] if entry else -1

    def message(self, name: str) -> str:
        entry = self.entries.get(name)
        return str(entry.message) if entry else ""

    def values(self, name: str) -> dict[str, str]:
        entry = self.entries.get(name)
        return {v.key: v.value for v in entry.values} if entry else {}


class FailingForces(MultirotorForcesAndMoments):
    """Forces that can be told to go wrong."""

    fails = False

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        wrench = super().update_forces_and_torques(state, wind_ned, pwm_us, dt)
        return wrench * math.nan if self.fails else wrench


OK, WARN, ERROR = (level[0] for level in (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR))


def own_nodes(graph: Any) -> list[str]:
    return [n.get_fully_qualified_name()[1:] for n in graph.nodes if isinstance(n, SimulationNode)]


def test_every_node_of_the_graph_says_that_it_is_well(undisturbed_graph: Callable[..., Any]) -> None:
    made = undisturbed_graph(executables=["autopilot"])
    heard = Heard(made)
    names = own_nodes(made)
    assert len(names) == 7
    made.spin_until(lambda: all(heard.level(name) == OK for name in names), "all nodes are well")
    assert heard.message("sil_board") == "disarmed, the IMU is not calibrated"
    assert heard.message("autopilot") == "wait"


def test_rates_are_those_of_simulated_time(undisturbed_graph: Callable[..., Any]) -> None:
    made = undisturbed_graph(executables=["autopilot"])
    heard = Heard(made)
    expected = {
        "sensors": {"in /clock": 400, "out /sim/sensors/imu/data": 400, "out /sim/sensors/baro": 100},
        "sil_board": {
            "in /sim/sensors/imu/data": 400,
            "in /sim/RC": 50,
            "out /sim/pwm_output": 400,
            "out /attitude": 400,
        },
        "forces_and_moments": {"in /sim/pwm_output": 400, "out /sim/truth_battery": 50},
        "dynamics": {"in /sim/forces_and_moments": 400, "out /sim/truth_state": 400, "out /sim/fault": 0},
        "time_manager": {"out /clock": 400, "in /sim/truth_state": 400},
    }

    def told() -> bool:
        # The first report has the start in it, before which time stood still.
        return all(float(heard.values(name).get("real-time factor", 0.0)) > 0.2 for name in expected)

    made.spin_until(told, "reports")
    heard.forget()
    made.spin_until(told, "reports of a whole second")
    for name, rates in expected.items():
        values = heard.values(f"{name}: topics")
        for topic, hz in rates.items():
            # A period begins and ends amid a step, and amid that of a slower topic: two messages in at least 0.2 s.
            assert float(values[topic]) == pytest.approx(hz, abs=10.0), (name, topic)
        whole = heard.values(name)
        assert float(whole["in (1/s of system time)"]) == pytest.approx(
            float(whole["in (Hz)"]) * float(whole["real-time factor"]), rel=1e-3
        )
    manager = heard.values("time_manager")
    assert int(manager["steps"]) > 0
    assert int(manager["repeated"]) == 0
    assert 0.0 < float(manager["step median (ms)"]) <= float(manager["step max (ms)"])


def test_a_step_that_nobody_answers_is_told_with_what_is_missing(graph: Callable[..., Any]) -> None:
    made = graph("-p", "stall_timeout:=0.1")
    heard = Heard(made)
    made.spin_until(lambda: heard.level("time_manager") == OK, "a start")
    made.remove(made.node("sil_board"))
    # On a busy machine the first report of it may come when it has become an error.
    made.spin_until(lambda: heard.level("time_manager") >= WARN, "a warning")
    assert heard.message("time_manager").startswith("stalled at ")
    assert heard.message("time_manager").endswith("no sim/truth_state")
    made.spin_until(lambda: heard.level("time_manager") == ERROR, "an error")
    assert int(heard.values("time_manager")["repeated"]) > 0


def test_a_pause_is_nothing_to_warn_of(graph: Callable[..., Any]) -> None:
    made = graph()
    heard = Heard(made)
    made.spin_until(lambda: heard.level("dynamics") == OK, "a start")
    made.call("time_manager/toggle_pause")
    made.spin_until(lambda: heard.message("time_manager").startswith("paused at "), "a pause")
    heard.forget()
    names = own_nodes(made)

    def quiet() -> bool:
        return all(heard.values(name).get("real-time factor") == "0" for name in names)

    made.spin_until(quiet, "reports of a second of the pause")
    assert {name: heard.message(name) for name in names if heard.level(name) != OK} == {}
    assert heard.values("sensors: topics")["out /sim/sensors/imu/data"] == "0"


def test_sensors_that_are_not_fed_say_what_they_miss(graph: Callable[..., Any]) -> None:
    made = graph(time_mode="paced", multiplier=1.0)
    heard = Heard(made)
    made.spin_until(lambda: heard.level("sensors") == OK, "a start")
    made.remove(made.node("dynamics"))
    text = "/sim/truth_wind, /sim/truth_state has stopped"
    made.spin_until(lambda: heard.message("sensors") == text, "both inputs are missed")
    assert heard.level("sensors") == ERROR


def test_a_state_that_is_not_finite_is_an_error(graph: Callable[..., Any]) -> None:
    made = graph(classes={"multirotor_forces_and_moments": FailingForces})
    heard = Heard(made)
    made.spin_until(lambda: heard.level("dynamics") == OK, "a start")
    made.node("forces_and_moments").fails = True
    made.spin_until(lambda: heard.level("dynamics") == ERROR, "an error")
    assert heard.message("dynamics").startswith("diverged")


def test_an_empty_battery_is_told_before_it_is_empty(graph: Callable[..., Any]) -> None:
    made = graph()
    heard = Heard(made)
    entry = "forces_and_moments: battery"
    made.spin_until(lambda: heard.level(entry) == OK, "a full battery")
    made.arm()
    made.spin_for(0.5)
    assert made.call("toggle_arm").success
    made.spin_until(lambda: not made.status.armed, "motors at rest")
    made.spin_for(0.1)
    drawn_mah = 1e3 * made.node("forces_and_moments").model.charge_drawn_ah
    made.set_parameter("forces_and_moments", "battery_capacity_mah", drawn_mah / 0.85)
    made.spin_until(lambda: heard.level(entry) == WARN, "a warning")
    assert float(heard.values(entry)["state of charge"]) == pytest.approx(0.15, abs=0.001)
    made.set_parameter("forces_and_moments", "battery_capacity_mah", drawn_mah / 0.97)
    made.spin_until(lambda: heard.level(entry) == ERROR, "an error")
    assert heard.message(entry) == "3% full"


def test_each_vehicle_of_a_fleet_speaks_under_its_namespace(graph: Callable[..., Any]) -> None:
    made = graph(vehicles=fleet(vehicle("multirotor"), count=2, seed=0))
    heard = Heard(made)
    names = own_nodes(made)
    assert {"multirotor_1/dynamics", "multirotor_2/dynamics", "time_manager"} < set(names)
    made.spin_until(lambda: all(heard.level(name) == OK for name in names), "all nodes are well")
    # Of one vehicle's step no message of the other is counted.
    topics = heard.values("multirotor_2/forces_and_moments: topics")
    assert "in /multirotor_2/sim/pwm_output" in topics
    assert not any("multirotor_1" in key for key in topics)
