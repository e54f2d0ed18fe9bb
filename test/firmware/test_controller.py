"""The control loops, term by term."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rosflight_py_sim.firmware import CommandType, FirmwareParameters
from rosflight_py_sim.firmware import controller as c
from rosflight_py_sim.firmware import estimator as e

DT = 0.0025
QUIET = {f"PID_{loop}_{gain}": 0.0 for loop in ("ROLL_ANG", "PITCH_ANG", "ROLL_RATE", "PITCH_RATE") for gain in "PD"}
QUIET["PID_YAW_RATE_P"] = 0.0


class Loops:
    def __init__(self, **parameters: float) -> None:
        store = FirmwareParameters()
        store.restore({**QUIET, **parameters})
        self.settings = c.controller_settings(store)
        self.memory = c.new_controller_memory()
        self.estimate = e.new_estimator_state()
        self.command = np.zeros((2, 10))
        self.command[1] = CommandType.PASS_THROUGH
        self.output = np.zeros(14)
        self.density = 1.225

    def command_axis(self, axis: int, kind: CommandType, value: float) -> None:
        self.command[:, axis] = value, kind

    def step(self, armed: bool = True, dt: float = DT) -> np.ndarray:
        c.controller_step(self.settings, self.memory, self.estimate, self.command, self.output, armed, self.density, dt)
        return self.output


@pytest.mark.parametrize(("axis", "loop"), [(3, "ROLL_RATE"), (4, "PITCH_RATE"), (5, "YAW_RATE")])
def test_rate_loop_is_proportional_to_the_error(axis: int, loop: str) -> None:
    loops = Loops(**{f"PID_{loop}_P": 0.4})
    loops.command_axis(axis, CommandType.RATE, 0.5)
    loops.estimate[e.RATE + axis - 3] = 0.2
    expected = np.zeros(6)
    expected[axis] = 0.4 * 0.3
    assert loops.step()[:6] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("axis", "loop"), [(3, "ROLL_ANG"), (4, "PITCH_ANG")])
def test_angle_loop_is_damped_by_measured_rate(axis: int, loop: str) -> None:
    loops = Loops(**{f"PID_{loop}_P": 2.0, f"PID_{loop}_D": 0.3})
    loops.command_axis(axis, CommandType.ANGLE, 0.1)
    loops.estimate[e.EULER + axis - 3] = 0.3
    loops.estimate[e.RATE + axis - 3] = 0.5
    assert loops.step()[axis] == pytest.approx(2.0 * -0.2 - 0.3 * 0.5, abs=1e-15)


def test_rate_step_is_differentiated_with_configured_time_constant() -> None:
    loops = Loops(PID_ROLL_RATE_D=1.0, PID_TAU=0.05)
    loops.command_axis(3, CommandType.RATE, 0.0)
    loops.step()
    loops.estimate[e.RATE] = 1.0
    seen = [-loops.step()[3] for _ in range(40)]
    # Bilinear form of s / (tau s + 1) under a step: 2 / (2 tau + dt), then shrinking by a fixed ratio.
    first, ratio = 2.0 / (2 * 0.05 + DT), (2 * 0.05 - DT) / (2 * 0.05 + DT)
    assert seen == pytest.approx([first * ratio**k for k in range(40)], rel=1e-12)


def test_integrators_run_only_when_armed_with_throttle_up_and_short_steps() -> None:
    loops = Loops(PID_ROLL_RATE_I=3.0)
    loops.command_axis(3, CommandType.RATE, 0.2)
    loops.command_axis(2, CommandType.THROTTLE, 0.05)
    assert loops.step()[3] == 0.0
    loops.command_axis(2, CommandType.THROTTLE, 0.5)
    assert loops.step(armed=False)[3] == 0.0
    assert loops.step(dt=0.02)[3] == 0.0
    for _ in range(100):
        loops.step()
    assert loops.output[3] == pytest.approx(3.0 * 0.2 * 100 * DT, rel=1e-12)
    assert loops.step(armed=False)[3] == 0.0


def test_equilibrium_torques_are_always_applied() -> None:
    loops = Loops(X_EQ_TORQUE=0.1, Y_EQ_TORQUE=-0.2, Z_EQ_TORQUE=0.3)
    loops.command[0, 3:6] = 1.0
    assert loops.step()[3:6] == pytest.approx([1.1, 0.8, 1.3])


def test_throttle_scales_maximum_thrust_and_is_negated_only_on_z() -> None:
    loops = Loops(RC_MAX_THR=0.5)
    for axis in range(3):
        loops.command_axis(axis, CommandType.THROTTLE, 0.6)
    assert loops.step()[:3] == pytest.approx([0.3, 0.3, -0.3])


def test_pass_through_values_are_unchanged() -> None:
    loops = Loops()
    loops.command[0] = np.arange(10.0)
    assert loops.step()[:10] == pytest.approx(np.arange(10.0))


def test_maximum_thrust_balances_motor_and_propeller_torque() -> None:
    store = FirmwareParameters()
    store.restore({"USE_MOTOR_PARAM": 1, "RC_MAX_THR": 1.0, "NUM_MOTORS": 6})
    get = store.__getitem__
    density = 1.1
    thrust = c.greatest_thrust(c.controller_settings(store), density)
    k = 4 * math.pi**2
    speed = math.sqrt(thrust / 6 * k / (density * get("PROP_DIAMETER") ** 4 * get("PROP_CT")))
    current = (get("BATT_VOLT_MAX") - get("MOTOR_KV") * speed) / get("MOTOR_RESISTANCE") - get("NO_LOAD_CURRENT")
    propeller_torque = density * get("PROP_DIAMETER") ** 5 * get("PROP_CQ") / k * speed**2
    assert get("MOTOR_KV") * current == pytest.approx(propeller_torque, rel=1e-12)
    loops = Loops(USE_MOTOR_PARAM=1, RC_MAX_THR=1.0, NUM_MOTORS=6)
    loops.density = density
    loops.command_axis(2, CommandType.THROTTLE, 0.5)
    assert loops.step()[2] == pytest.approx(-0.5 * thrust)


@pytest.mark.parametrize("broken", [{"MOTOR_KV": 0.0}, {"BATT_VOLT_MAX": 0.0}])
def test_motor_that_cannot_spin_produces_no_thrust(broken: dict[str, float]) -> None:
    store = FirmwareParameters()
    store.restore(broken)
    assert c.greatest_thrust(c.controller_settings(store), 1.2) == 0.0


def test_propeller_without_torque_spins_at_no_load_speed() -> None:
    store = FirmwareParameters()
    store.restore({"PROP_CQ": 0.0, "NUM_MOTORS": 1})
    get = store.__getitem__
    speed = (get("BATT_VOLT_MAX") - get("NO_LOAD_CURRENT") * get("MOTOR_RESISTANCE")) / get("MOTOR_KV")
    expected = 1.2 * get("PROP_DIAMETER") ** 4 * get("PROP_CT") / (4 * math.pi**2) * speed**2
    assert c.greatest_thrust(c.controller_settings(store), 1.2) == pytest.approx(expected, rel=1e-12)
