"""The contract of each module: the methods that a derived class must implement, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd, OffboardFrontEnd
from rosflight_py_sim.interfaces.dynamics_interface import DynamicsInterface
from rosflight_py_sim.interfaces.flight_model_interface import FlightModelInterface
from rosflight_py_sim.interfaces.forces_and_moments_interface import ForcesAndMomentsInterface
from rosflight_py_sim.interfaces.sensor_interface import SensorInterface
from rosflight_py_sim.interfaces.time_manager_interface import TimeManagerInterface

CONTRACTS: dict[type[Any], set[str]] = {
    TimeManagerInterface: {"update_time", "get_seconds", "get_nanoseconds"},
    SensorInterface: {
        "imu_update",
        "imu_temperature_update",
        "mag_update",
        "baro_update",
        "gnss_update",
        "sonar_update",
        "diff_pressure_update",
        "battery_update",
    },
    ForcesAndMomentsInterface: {"update_forces_and_torques", "get_firmware_parameters"},
    DynamicsInterface: {"apply_forces_and_torques", "compute_truth", "compute_wind_truth", "set_sim_state"},
    FlightModelInterface: {
        "fly",
        "compute_forces_and_torques",
        "compute_battery",
        "get_firmware_parameters",
        "compute_truth",
        "compute_wind_truth",
        "set_sim_state",
    },
}
NAMES = {
    TimeManagerInterface: "time_manager",
    SensorInterface: "sensors",
    ForcesAndMomentsInterface: "forces_and_moments",
    DynamicsInterface: "dynamics",
    FlightModelInterface: "dynamics",
}


@pytest.mark.parametrize("interface", CONTRACTS)
def test_abstract_methods_match_the_contract(interface: type[Any]) -> None:
    assert interface.__abstractmethods__ == CONTRACTS[interface]
    assert NAMES[interface] == interface.DEFAULT_NAME


@pytest.mark.parametrize(
    ("interface", "missing"), [(interface, name) for interface, names in CONTRACTS.items() for name in sorted(names)]
)
def test_class_missing_a_method_cannot_be_instantiated(interface: type[Any], missing: str) -> None:
    filled = {name: lambda self, *_: None for name in CONTRACTS[interface] - {missing}}
    with pytest.raises(TypeError, match=rf"abstract class Incomplete .*'?{missing}'?"):
        type("Incomplete", (interface,), filled)()


@pytest.mark.parametrize(
    ("kind", "own"),
    [(ActuatorFrontEnd, {"filenos", "exchange"}), (OffboardFrontEnd, {"serve", "command", "guided_state"})],
)
def test_front_end_must_implement_sockets_and_vehicle_handling(kind: type[Any], own: set[str]) -> None:
    assert kind.__abstractmethods__ == {"open", "close", "peer"} | own
