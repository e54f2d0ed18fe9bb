"""Underwater vehicles in the running graph: afloat, in a current, under thrust, and back at their start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosflight_msgs.msg import PwmOutput, SimState
from rosflight_msgs.srv import SetSimState

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.physics.waves import ELEVATION, HEAD, WAVE_PARAMETERS, Waves
from rosflight_py_sim.step.qos import CHAIN, LATCHED
from rosflight_py_sim.step.topics import BARO, IMU, PWM_OUTPUT, TRUTH_BATTERY, TRUTH_STATE, TRUTH_WIND
from rosflight_py_sim.step.vehicle_state import truth_of_message

MakeGraph = Callable[..., Any]

# With a quarter of the usual number of steps.
OPEN_WATER = ("-p", "world:=''", "-p", "step_size:=0.01")
_ERRORS = "noise_density", "bias_range", "bias_walk_stdev", "bias_temperature_range", "scale_range", "cross_axis_range"
CALM_SENSORS = (
    *(word for error in _ERRORS for word in ("-p", f"acc_{error}:=0.0")),
    *("-p", "imu_misalignment_range:=0.0"),
)

CALM_PRESSURE = tuple(
    word
    for name in ("stdev", "bias_range", "bias_walk_stdev", "bias_temperature_range")
    for word in ("-p", f"baro_{name}:=0.0")
)


def afloat(graph: MakeGraph, *arguments: str, name: str = "auv") -> Any:
    """A vehicle without commands: the firmware's servo outputs are centred."""
    return graph(*OPEN_WATER, *arguments, vehicle_name=name, flight_controller="sil_board")


def nanoseconds(message: Any) -> int:
    return int(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)


def velocity_ned(graph: Any) -> np.ndarray:
    return np.array(rotate_to_inertial(*truth_of_message(graph.truth)[3:10]))


@pytest.mark.parametrize("name", ["auv", "bluerov2"])
def test_vehicle_floats_at_start_and_imu_measures_gravity(graph: MakeGraph, name: str) -> None:
    g = afloat(graph, *CALM_SENSORS, name=name)
    batteries = g.collect_messages(TRUTH_BATTERY)
    imus = g.collect_messages(IMU)
    g.spin_for(0.1)
    start = truth_of_message(g.truth)
    g.spin_for(3.0)
    # The vehicle file gives the waterline to a tenth of a millimetre.
    assert truth_of_message(g.truth)[:7] == pytest.approx(start[:7], abs=2e-4)
    felt = imus[-1].linear_acceleration
    assert (felt.x, felt.y, felt.z) == pytest.approx((0.0, 0.0, -9.81), abs=0.01)
    assert batteries[-1].voltage > 10.0
    assert 0.0 < batteries[-1].current < 2.0


def test_wind_acts_as_current_that_carries_the_vehicle(graph: MakeGraph) -> None:
    current = [0.3, -0.2, 0.0]
    words = ("-p", "sim_has_wind:=true", "-p", "use_random_wind:=false", "-p", f"steady_state_wind:={current}")
    g = afloat(graph, *words)
    winds = g.collect_messages(TRUTH_WIND, qos=LATCHED)
    g.spin_for(4.0)
    assert (winds[-1].vector.x, winds[-1].vector.y, winds[-1].vector.z) == pytest.approx(current)
    # After two time constants (m + A) / d of 2 s or less, the vehicle is nearly as fast as the current, and not faster.
    assert velocity_ned(g)[:2] / current[:2] == pytest.approx([0.92, 0.92], abs=0.07)


def test_floating_vehicle_rides_on_the_waves_of_the_example_file(graph: MakeGraph) -> None:
    file = Path(__file__).parents[2] / "config" / "waves.yaml"
    g = afloat(graph, "--params-file", str(file), *CALM_PRESSURE, name="bluerov2")
    winds = g.collect_messages(TRUTH_WIND, qos=LATCHED)
    states = g.collect_messages(TRUTH_STATE)
    pressures = g.collect_messages(BARO)
    g.spin_for(7.0)
    # The same sea as in the nodes: it depends only on position and stamp.
    values = {"wave_height": 0.3, "wave_period": 3.0, "wave_direction": 90.0}
    waves = Waves(WAVE_PARAMETERS.checked(values), reach=1.0)
    position = {nanoseconds(one): one.pose.position for one in states}

    def move_waves(message: Any) -> Any:
        place = position[nanoseconds(message)]
        waves.move_to(np.array([place.x, place.y, place.z]), nanoseconds(message) * 1e-9)
        return place

    depths, elevations = [], []
    for wind in winds:
        if nanoseconds(wind) in position and nanoseconds(wind) > 0:
            depths.append(move_waves(wind).z)
            elevations.append(waves.sea[ELEVATION])
            assert (wind.vector.x, wind.vector.y, wind.vector.z) == pytest.approx(waves.velocity_ned, abs=1e-9)
    assert len(depths) > 250
    # The vehicle moves like the water, less the decay of the orbits over its draught.
    assert np.corrcoef(depths, elevations)[0, 1] < -0.9
    assert 0.6 < np.std(depths) / np.std(elevations) < 1.3
    measured, expected = [], []
    for pressure in pressures:
        if nanoseconds(pressure) in position:
            expected.append(1025.0 * 9.81 * (move_waves(pressure).z + waves.sea[HEAD]))
            measured.append(pressure.pressure)
    assert len(measured) > 100
    # The resolution is 0.33 Pa, single precision 0.01 Pa, and the air at the surface changes by 12 Pa/m.
    assert np.ptp(np.subtract(measured, expected)) < 4.0
    assert np.ptp(measured) > 50.0


def test_reset_restores_start_state_with_thrusters_stopped(graph: MakeGraph) -> None:
    g = graph(*OPEN_WATER, vehicle_name="auv", flight_controller="sil_board")
    g.spin_for(0.1)
    start = truth_of_message(g.truth)
    deep = SimState()
    deep.pose.position.x, deep.pose.position.z = 4.0, 6.0
    deep.pose.orientation.w, deep.twist.linear.y = 1.0, 0.3
    g.pause()
    assert g.call("dynamics/set_sim_state", SetSimState, state=deep).success
    assert g.call("forces_and_moments/reset").success
    assert g.call("dynamics/reset").success
    g.spin_until(lambda: g.truth.pose.position.z < 1.0, "the start")
    g.call("time_manager/toggle_pause")
    g.spin_for(0.5)
    assert truth_of_message(g.truth)[:7] == pytest.approx(start[:7], abs=2e-4)


def test_outputs_drive_the_thrusters(graph: MakeGraph) -> None:
    g = graph(*OPEN_WATER, vehicle_name="auv", flight_controller="sil_board")
    # Removing a node while it answers another node would raise an error.
    nodes = [node for node in g.nodes if isinstance(node, SimulationNode)]
    g.spin_until(lambda: g.time_s > 0.1 and not any(node.awaited_services() for node in nodes), "the answers")
    # Outputs in place of the board's: left and right thruster forward.
    g.remove(g.node("sil_board"))
    publisher = g.tester.create_publisher(PwmOutput, PWM_OUTPUT.name, CHAIN)
    pulses = [2000.0, 2000.0, *[1500.0] * 12]

    def drive(message: SimState) -> None:
        output = PwmOutput(values=pulses)
        output.header.stamp = message.header.stamp
        publisher.publish(output)

    g.tester.create_subscription(SimState, TRUTH_STATE.name, drive, CHAIN)
    drive(g.truth)
    g.spin_until(lambda: g.truth.twist.linear.x > 0.3, "speed ahead")
    assert abs(g.truth.twist.linear.y) < 1e-6
