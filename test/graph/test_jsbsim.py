"""A JSBSim aircraft in place of forces_and_moments and dynamics; all other nodes are unaffected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rosflight_msgs.msg import Command, SimState
from rosflight_msgs.srv import SetSimState

pytest.importorskip("jsbsim")

from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.nodes.running import chosen_nodes
from rosflight_py_sim.physics.jsbsim_aircraft import FOOT
from rosflight_py_sim.step.qos import CHAIN, LATCHED
from rosflight_py_sim.step.topics import (
    COMMAND,
    DIFF_PRESSURE,
    FAULT,
    FORCES_AND_MOMENTS,
    IMU,
    PWM_OUTPUT,
    TRUTH_BATTERY,
    TRUTH_STATE,
    TRUTH_WIND,
)
from rosflight_py_sim.step.vehicle_state import truth_of_message

STEP_NS = 2_500_000


@pytest.fixture
def flown(graph: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes a graph with the aircraft in it."""
    return lambda *arguments, **options: graph(*arguments, vehicle_name="fixedwing", dynamics="jsbsim", **options)


@pytest.fixture
def parked(undisturbed_graph: Callable[..., Any]) -> Iterator[Any]:
    """A graph with the aircraft on the runway, where it is again after the test."""
    g = undisturbed_graph(vehicle_name="fixedwing", dynamics="jsbsim").ready()
    yield g
    assert g.call("dynamics/reset").success
    if g.node("time_manager").paused:
        assert g.call("time_manager/toggle_pause").success


def in_flight(speed: float = 50.0, height: float = 300.0) -> SimState:
    state = SimState()
    state.pose.position.x, state.pose.position.y, state.pose.position.z = 50.0, -20.0, -height
    half = 0.3
    state.pose.orientation.w, state.pose.orientation.z = math.cos(half), math.sin(half)
    state.twist.linear.x = speed
    state.twist.angular.y = 0.02
    return state


def place(g: Any, state: SimState) -> None:
    """Set the state, and wait until it is published."""
    answer = g.call("dynamics/set_sim_state", SetSimState, state=state)
    assert answer.success, answer.message
    height = state.pose.position.z
    g.spin_until(lambda: abs(g.truth.pose.position.z - height) < 1e-3, "the state that was set")


def test_node_fills_its_declared_roles() -> None:
    usual = ["rc", "standalone_sensors", "sil_board", "multirotor_forces_and_moments", "standalone_dynamics"]
    assert chosen_nodes(usual) == {
        "rc": "rc",
        "sensors": "standalone_sensors",
        "sil_board": "sil_board",
        "forces_and_moments": "multirotor_forces_and_moments",
        "dynamics": "standalone_dynamics",
    }
    by_jsbsim = chosen_nodes([*usual, "jsbsim_dynamics"])
    assert by_jsbsim == {
        "rc": "rc",
        "sensors": "standalone_sensors",
        "sil_board": "sil_board",
        "dynamics": "jsbsim_dynamics",
    }
    # The flight controller's row states whether the bridge runs with sil_board or alone.
    assert chosen_nodes([*usual, "bridge"]) == {**chosen_nodes(usual), "bridge": "bridge"}


def test_each_output_yields_wrench_with_same_stamp_and_truth_one_step_later(
    parked: Any,
) -> None:
    g = parked
    assert "forces_and_moments" not in [node.get_name() for node in g.nodes]
    pwm, wrench = g.collect_messages(PWM_OUTPUT), g.collect_messages(FORCES_AND_MOMENTS)
    truth, wind = g.collect_messages(TRUTH_STATE), g.collect_messages(TRUTH_WIND)
    battery, imu = g.collect_messages(TRUTH_BATTERY), g.collect_messages(IMU)
    g.spin_until(lambda: all((pwm, wrench, truth, wind, battery, imu)), "each topic")
    g.pause()
    for _ in range(3):
        now = g.time_ns
        g.step()
        for messages, stamp in ((pwm, now), (wrench, now), (wind, now + STEP_NS), (truth, now + STEP_NS)):
            g.spin_until(lambda m=messages, t=stamp: time_ns_of(m[-1].header.stamp) == t, f"a message of {stamp} ns")
    assert battery[-1].voltage == 14.0
    # The wrench is that of the state from which the step began.
    (model,) = (node for node in g.nodes if node.get_name() == "dynamics")
    before = model.compute_forces_and_torques()
    g.step()
    g.spin_until(lambda: len(wrench) > 0 and time_ns_of(wrench[-1].header.stamp) == g.time_ns - STEP_NS, "a wrench")
    published = wrench[-1].wrench
    assert (published.force.x, published.force.y, published.force.z) == tuple(before[:3])
    assert not np.array_equal(before, model.compute_forces_and_torques())
    # The idling engine produces thrust, and the brakes hold.
    assert wrench[-1].wrench.force.x > 50.0
    assert truth[-1].twist.linear.x == pytest.approx(0.0, abs=1e-3)
    # One g upward in the mean, with a bias of up to 0.6 m/s^2 and a noise of 0.03 m/s^2 per sample.
    assert np.mean([m.linear_acceleration.z for m in imu]) == pytest.approx(-9.79, abs=0.7)


def test_valid_state_is_set_and_invalid_state_is_rejected(parked: Any) -> None:
    g = parked
    g.pause()
    state = in_flight()
    place(g, state)
    expected, received = truth_of_message(state), truth_of_message(g.truth)
    # Feet and geocentric radii cost nine digits of the position.
    np.testing.assert_allclose(received[:3], expected[:3], atol=1e-6)
    np.testing.assert_allclose(received[3:13], expected[3:13], atol=1e-12)
    state.pose.position.x = math.nan
    answer = g.call("dynamics/set_sim_state", SetSimState, state=state)
    assert not answer.success
    assert "position is not finite" in answer.message
    before = g.truth
    g.step()
    moved = truth_of_message(g.truth)[:3] - truth_of_message(before)[:3]
    assert np.linalg.norm(moved) == pytest.approx(50.0 * 0.0025, rel=0.01)


def test_diverged_state_pauses_run_and_valid_state_resumes_it(parked: Any) -> None:
    g = parked
    faults = g.collect_messages(FAULT, qos=LATCHED)
    wild = in_flight()
    wild.twist.angular.x = wild.twist.angular.y = 7e3
    g.call("dynamics/set_sim_state", SetSimState, state=wild)
    g.spin_until(lambda: faults and faults[-1].data, "a fault")
    assert "dynamics/set_sim_state" in faults[-1].data
    g.spin_until(lambda: g.node("time_manager").paused, "a pause")
    place(g, in_flight())
    g.spin_until(lambda: not faults[-1].data, "the end of the fault")
    time_ns = g.time_ns
    assert g.call("time_manager/toggle_pause").message.startswith("running")
    g.spin_until(lambda: g.time_ns > time_ns + 100_000_000, "advancing time")
    assert g.truth.twist.linear.x == pytest.approx(50.0, abs=2.0)


def test_armed_aircraft_with_open_throttle_rolls(flown: Callable[..., Any]) -> None:
    g = flown()
    g.arm(calibrate=False)
    assert g.truth.twist.linear.x == pytest.approx(0.0, abs=1e-3)
    commands = g.tester.create_publisher(Command, COMMAND.name, CHAIN)
    full = Command(mode=Command.MODE_PASS_THROUGH)
    full.u[0] = 1.0

    def command(truth: SimState) -> None:
        full.header.stamp = truth.header.stamp
        commands.publish(full)

    g.tester.create_subscription(SimState, TRUTH_STATE.name, command, CHAIN)
    assert g.call("toggle_override").success
    g.spin_until(lambda: g.truth.twist.linear.x > 4.0, "an aircraft that rolls")
    assert g.truth.pose.position.x > 1.0
    assert g.node("dynamics").aircraft.property("fcs/throttle-cmd-norm") == 1.0


def test_published_wind_is_the_wind_acting_on_aircraft(flown: Callable[..., Any]) -> None:
    g = flown("-p", "sim_has_wind:=true", "-p", "use_random_wind:=false").ready()
    wind, airspeed = g.collect_messages(TRUTH_WIND), g.collect_messages(DIFF_PRESSURE)
    g.set_parameter("dynamics", "turbulence_model", "dryden_8785c")
    g.set_parameter("dynamics", "steady_state_wind", [-12.0, 3.0, 0.0])
    g.pause()
    place(g, in_flight())
    for _ in range(8):
        g.step()
    aircraft = g.node("dynamics").aircraft
    g.spin_until(lambda: wind and wind[-1].header.stamp == g.truth.header.stamp)
    felt = [FOOT * aircraft.property(f"atmosphere/wind-{axis}-fps") for axis in ("north", "east", "down")]
    published = [wind[-1].vector.x, wind[-1].vector.y, wind[-1].vector.z]
    np.testing.assert_allclose(felt, published, atol=1e-12)
    np.testing.assert_allclose(published, [-12.0, 3.0, 0.0], atol=6.0)
    assert published[2] != 0.0
    # Along the nose: the ground speed, 50 m/s, less the wind's part.
    nose = np.array([math.cos(0.6), math.sin(0.6)])
    assert FOOT * aircraft.property("velocities/u-aero-fps") == pytest.approx(50.0 - nose @ published[:2], abs=1.0)
    # The pitot tube assumes sea-level density, and has noise.
    assert airspeed[-1].velocity > 45.0


@pytest.mark.parametrize("time_mode", ["paced", "wall"])
def test_aircraft_flies_in_other_time_modes(flown: Callable[..., Any], time_mode: str) -> None:
    g = flown(time_mode=time_mode, multiplier=1.0)
    g.spin_until(lambda: g.time_ns > 0, "advancing time")
    state = in_flight()
    assert g.call("dynamics/set_sim_state", SetSimState, state=state).success
    g.spin_until(lambda: g.truth.pose.position.z < -100.0, "the state that was set")
    start, time_s = truth_of_message(g.truth)[:2], g.time_s
    g.spin_until(lambda: g.time_s > time_s + 0.5, "half a second")
    flown_m = float(np.linalg.norm(truth_of_message(g.truth)[:2] - start))
    # About 50 m/s; when the machine falls behind by more than 0.1 s, time advances without the vehicle.
    assert 1.0 < flown_m < 1.2 * 50.0 * (g.time_s - time_s)
