"""Reports of the nodes on /diagnostics: correct figures and faults."""

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
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle

MultirotorForcesAndMoments = node_of(MultirotorForces)

# Reports come once per second of system time: at full speed, each would take thousands of steps.
PACE = 1.0


class LatestDiagnostics:
    """The newest entries of /diagnostics, by name."""

    def __init__(self, graph: Any) -> None:
        self._messages: list[DiagnosticArray] = graph.collect_messages("/diagnostics", DiagnosticArray, DIAGNOSTICS_QOS)

    @property
    def entries(self) -> dict[str, DiagnosticStatus]:
        return {status.name: status for message in self._messages for status in message.status}

    def forget(self) -> None:
        self._messages.clear()

    def level(self, name: str) -> int:
        """Level of an entry; -1 before its first report."""
        entry = self.entries.get(name)
        return entry.level[0] if entry else -1

    def message(self, name: str) -> str:
        entry = self.entries.get(name)
        return str(entry.message) if entry else ""

    def values(self, name: str) -> dict[str, str]:
        entry = self.entries.get(name)
        return {v.key: v.value for v in entry.values} if entry else {}


class FailingForces(MultirotorForcesAndMoments):
    """Forces that become NaN when `fails` is set."""

    fails = False

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        wrench = super().update_forces_and_torques(state, wind_ned, pwm_us, dt)
        return wrench * math.nan if self.fails else wrench


OK, WARN, ERROR = (level[0] for level in (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR))


def own_nodes(graph: Any) -> list[str]:
    return [n.get_fully_qualified_name()[1:] for n in graph.nodes if isinstance(n, SimulationNode)]


def test_every_node_reports_ok(undisturbed_graph: Callable[..., Any]) -> None:
    made = undisturbed_graph(executables=["autopilot"], multiplier=PACE)
    latest = LatestDiagnostics(made)
    names = own_nodes(made)
    assert len(names) == 7
    made.spin_until(lambda: all(latest.level(name) == OK for name in names), "all nodes healthy")
    assert latest.message("sil_board") == "disarmed: the IMU is not calibrated"
    assert latest.message("autopilot") == "wait"


def test_rates_are_in_simulated_time(undisturbed_graph: Callable[..., Any]) -> None:
    made = undisturbed_graph(executables=["autopilot"], multiplier=PACE)
    latest = LatestDiagnostics(made)
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

    def rates_reported() -> bool:
        # The first report includes the time before the start, when simulated time stood still.
        return all(float(latest.values(name).get("real-time factor", 0.0)) > 0.2 for name in expected)

    made.spin_until(rates_reported, "reports")
    latest.forget()
    made.spin_until(rates_reported, "reports of a whole second")
    for name, rates in expected.items():
        values = latest.values(f"{name}: topics")
        for topic, hz in rates.items():
            # A period may begin and end within a step, also within a slow topic's: two messages in 0.2 s or more.
            assert float(values[topic]) == pytest.approx(hz, abs=10.0), (name, topic)
        whole = latest.values(name)
        assert float(whole["in (1/s of system time)"]) == pytest.approx(
            float(whole["in (Hz)"]) * float(whole["real-time factor"]), rel=1e-3
        )
    manager = latest.values("time_manager")
    assert int(manager["steps"]) > 0
    assert int(manager["repeated"]) == 0
    assert 0.0 < float(manager["step median (ms)"]) <= float(manager["step max (ms)"])


def test_unanswered_step_is_reported_with_missing_input(graph: Callable[..., Any]) -> None:
    made = graph("-p", "stall_timeout:=0.1", multiplier=PACE)
    latest = LatestDiagnostics(made)
    made.spin_until(lambda: latest.level("time_manager") == OK, "a start")
    made.remove(made.node("sil_board"))
    # On a busy machine, the first report may already be an error.
    made.spin_until(lambda: latest.level("time_manager") >= WARN, "a warning")
    assert latest.message("time_manager").startswith("stalled at ")
    # The pace follows where the machine is too busy for it.
    assert "no sim/truth_state" in latest.message("time_manager").split("; ")[0]
    made.spin_until(lambda: latest.level("time_manager") == ERROR, "an error")
    assert int(latest.values("time_manager")["repeated"]) > 0


def test_pause_raises_no_warning(graph: Callable[..., Any]) -> None:
    made = graph(multiplier=PACE)
    latest = LatestDiagnostics(made)
    made.spin_until(lambda: latest.level("dynamics") == OK, "a start")
    made.call("time_manager/toggle_pause")
    made.spin_until(lambda: latest.message("time_manager").startswith("paused at "), "a pause")
    latest.forget()
    names = own_nodes(made)

    def quiet() -> bool:
        return all(latest.values(name).get("real-time factor") == "0" for name in names)

    made.spin_until(quiet, "reports of a second of the pause")
    assert {name: latest.message(name) for name in names if latest.level(name) != OK} == {}
    assert latest.values("sensors: topics")["out /sim/sensors/imu/data"] == "0"


def test_sensors_report_missing_inputs(graph: Callable[..., Any]) -> None:
    made = graph(time_mode="paced", multiplier=1.0)
    latest = LatestDiagnostics(made)
    made.spin_until(lambda: latest.level("sensors") == OK, "a start")
    made.remove(made.node("dynamics"))
    text = "/sim/truth_wind, /sim/truth_state has stopped"
    made.spin_until(lambda: latest.message("sensors") == text, "both inputs are missed")
    assert latest.level("sensors") == ERROR


def test_non_finite_state_is_an_error(graph: Callable[..., Any]) -> None:
    made = graph(classes={"multirotor_forces_and_moments": FailingForces}, multiplier=PACE)
    latest = LatestDiagnostics(made)
    made.spin_until(lambda: latest.level("dynamics") == OK, "a start")
    made.node("forces_and_moments").fails = True
    made.spin_until(lambda: latest.level("dynamics") == ERROR, "an error")
    assert latest.message("dynamics").startswith("diverged")


def test_low_battery_is_reported_before_it_is_empty(graph: Callable[..., Any]) -> None:
    made = graph(multiplier=PACE)
    latest = LatestDiagnostics(made)
    entry = "forces_and_moments: battery"
    made.spin_until(lambda: latest.level(entry) == OK, "a full battery")
    made.arm(calibrate=False)
    made.spin_for(0.5)
    assert made.call("toggle_arm").success
    made.spin_until(lambda: not made.status.armed, "motors at rest")
    made.spin_for(0.1)
    drawn_mah = 1e3 * made.node("forces_and_moments").model.charge_drawn_ah
    made.set_parameter("forces_and_moments", "battery_capacity_mah", drawn_mah / 0.85)
    made.spin_until(lambda: latest.level(entry) == WARN, "a warning")
    assert float(latest.values(entry)["state of charge"]) == pytest.approx(0.15, abs=0.001)
    made.set_parameter("forces_and_moments", "battery_capacity_mah", drawn_mah / 0.97)
    made.spin_until(lambda: latest.level(entry) == ERROR, "an error")
    assert latest.message(entry) == "3% full"


def test_each_fleet_vehicle_reports_under_its_namespace(graph: Callable[..., Any]) -> None:
    made = graph(vehicles=fleet(vehicle("multirotor"), count=2, seed=0), multiplier=PACE)
    latest = LatestDiagnostics(made)
    names = own_nodes(made)
    assert {"multirotor_1/dynamics", "multirotor_2/dynamics", "time_manager"} < set(names)
    made.spin_until(lambda: all(latest.level(name) == OK for name in names), "all nodes healthy")
    # A vehicle's counters exclude the other vehicle's messages.
    topics = latest.values("multirotor_2/forces_and_moments: topics")
    assert "in /multirotor_2/sim/pwm_output" in topics
    assert not any("multirotor_1" in key for key in topics)
