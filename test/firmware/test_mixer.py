"""Mixing, motor model, saturation and the choice of the matrix."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.firmware import CommandMode, ErrorFlag, Firmware, FirmwareParameters, MixerChoice, OutputType
from rosflight_py_sim.firmware import mixer as m
from rosflight_py_sim.firmware.canned_mixers import ROTOR_AZIMUTHS, canned_mixer, rotor_geometry

ROOT = Path(__file__).parents[2]
MOTOR, SERVO, AUX = OutputType.MOTOR, OutputType.SERVO, OutputType.AUX


class Mixing:
    """A mixer kernel on its own: `outputs` types from output 0 on."""

    def __init__(self, matrix: np.ndarray, types: list[int], **parameters: float) -> None:
        store = FirmwareParameters()
        store.restore({"MOTOR_IDLE_THR": 0.0, **parameters})
        self.settings = m.mixer_settings(store)
        self.matrix = matrix
        self.types = np.zeros(14)
        self.types[: len(types)] = types
        self.aux_types, self.aux_values, self.raw = np.zeros(14), np.zeros(14), np.zeros(14)

    def step(self, command, armed: bool = True, density: float = 1.2, voltage: float = 24.0) -> np.ndarray:
        values = np.zeros(14)
        values[: len(command)] = command
        self.greatest = m.mixer_step(
            self.settings,
            self.matrix,
            self.types,
            self.aux_types,
            self.aux_values,
            values,
            self.raw,
            armed,
            density,
            voltage,
        )
        return self.raw


def identity() -> np.ndarray:
    return np.eye(10)


@pytest.mark.parametrize("choice", ROTOR_AZIMUTHS)
def test_mixed_command_applied_to_rotors_reproduces_the_command(choice: MixerChoice) -> None:
    mixer = canned_mixer(choice)
    effect = rotor_geometry(choice) @ mixer.matrix.T
    assert effect[2:6, 2:6] == pytest.approx(np.eye(4), abs=1e-12)
    count = len(ROTOR_AZIMUTHS[choice])
    assert mixer.types == (MOTOR,) * count + (AUX,) * (10 - count)
    assert not mixer.matrix[:, count:].any()


def test_full_throttle_drives_every_rotor_at_full_output() -> None:
    for choice in ROTOR_AZIMUTHS:
        count = len(ROTOR_AZIMUTHS[choice])
        assert canned_mixer(choice).matrix[2, :count] == pytest.approx([-1.0] * count)
    assert canned_mixer(MixerChoice.ESC_CALIBRATION).matrix[2] == pytest.approx([-1.0] * 10)


def test_quad_x_matrix_matches_rosflight() -> None:
    a = 1.0 / (4.0 * math.sqrt(0.5))
    expected = [[-1, -1, -1, -1], [-a, -a, a, a], [a, -a, -a, a], [0.25, -0.25, 0.25, -0.25]]
    assert canned_mixer(MixerChoice.QUADCOPTER_X).matrix[2:6, :4] == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    ("choice", "fast"),
    [(MixerChoice.QUADCOPTER_PLUS, 4), (MixerChoice.HEX_X, 8), (MixerChoice.Y6, 8), (MixerChoice.X8, 8)],
)
def test_pwm_rates_match_rosflight(make_bench, choice: MixerChoice, fast: int) -> None:
    parameters = make_bench(PRIMARY_MIXER=choice).parameters
    assert [parameters[f"PRI_MIXER_PWM_{j}"] for j in range(10)] == [490.0] * fast + [50.0] * (10 - fast)


def test_inverted_v_tail_deflects_both_surfaces() -> None:
    mixer = canned_mixer(MixerChoice.INVERTED_V_TAIL)
    raw = Mixing(mixer.matrix, list(mixer.types), FIXED_WING=1).step([0.5, 0, 0, 0.2, 0.4, 0.6])
    # Deflection d is 0.5 + d / 2.
    assert raw[:5] == pytest.approx([0.6, 0.5 + (-0.2 + 0.3) / 2, 0.5 + (0.2 + 0.3) / 2, 0.0, 0.5])


def test_reversed_surfaces_change_sign() -> None:
    mixer = canned_mixer(MixerChoice.FIXED_WING)
    mixing = Mixing(mixer.matrix, list(mixer.types), FIXED_WING=1, REV_AILERON=1, REV_RUDDER=1)
    assert mixing.step([0, 0, 0, 0.2, 0.4, 0.6])[:3] == pytest.approx([0.4, 0.7, 0.2])


def test_motor_model_yields_throttle_for_commanded_propeller_speed() -> None:
    store = FirmwareParameters()
    get = store.__getitem__
    settings = m.mixer_settings(store)
    for speed in (0.0, 100.0, 700.0):
        volts = m.throttle_for_speed(settings, speed**2, 1.1, 22.0) * 22.0
        current = (volts - get("MOTOR_KV") * speed) / get("MOTOR_RESISTANCE")
        motor_torque = get("MOTOR_KV") * (current - get("NO_LOAD_CURRENT"))
        propeller_torque = 1.1 * get("PROP_DIAMETER") ** 5 * get("PROP_CQ") / (4 * math.pi**2) * speed**2
        assert motor_torque == pytest.approx(propeller_torque, abs=1e-13)
    assert m.throttle_for_speed(settings, -5.0, 1.1, 22.0) == m.throttle_for_speed(settings, 0.0, 1.1, 22.0)


def test_custom_mixer_with_motor_model_reproduces_commanded_thrust() -> None:
    # The path of config/multirotor_firmware.yaml: newtons and newton metres in, squared speeds, throttle; and back.
    store = FirmwareParameters()
    store.load(ROOT / "config/multirotor_firmware.yaml")
    firmware = Firmware(store)
    settings = m.mixer_settings(store)
    command = np.array([0, 0, -20.0, 0.1, -0.2, 0.01, 0, 0, 0, 0])
    squares = command @ firmware.mixer_matrix
    get = store.__getitem__
    # The matrix was computed for an unknown density, which follows from the mean squared speed.
    density = 20.0 * 4 * math.pi**2 / (get("PROP_DIAMETER") ** 4 * get("PROP_CT") * squares[:4].sum())
    assert 0.9 < density < 1.3
    throttles = [m.throttle_for_speed(settings, square, density, 23.0) for square in squares[:4]]
    assert all(0.0 < throttle < 1.0 for throttle in throttles)


def test_motor_without_battery_voltage_or_kv_is_stopped() -> None:
    assert Mixing(identity(), [MOTOR] * 4, USE_MOTOR_PARAM=1).step([1e5] * 4, voltage=0.0)[0] == 0.0
    assert Mixing(identity(), [MOTOR] * 4, USE_MOTOR_PARAM=1, MOTOR_KV=0.0).step([1e5] * 4)[0] == 0.0


def test_all_motors_are_scaled_when_one_exceeds_full_output() -> None:
    mixing = Mixing(identity(), [MOTOR, MOTOR, MOTOR, SERVO])
    raw = mixing.step([0.5, 1.0, 2.0, 3.0])
    assert raw[:4] == pytest.approx([0.25, 0.5, 1.0, 1.0])
    assert mixing.greatest == pytest.approx(2.0)


def test_fixed_wing_motor_is_clamped_not_scaled() -> None:
    raw = Mixing(identity(), [MOTOR, MOTOR, SERVO], FIXED_WING=1).step([0.5, 2.0, -0.5])
    assert raw[:3] == pytest.approx([0.5, 1.0, 0.25])


def test_armed_motors_idle_only_when_configured_and_disarmed_ones_stop() -> None:
    spinning = {"MOTOR_IDLE_THR": 0.15, "ARM_SPIN_MOTORS": 1}
    assert Mixing(identity(), [MOTOR] * 2, **spinning).step([-1.0, 0.1])[:2] == pytest.approx([0.15, 0.15])
    spinning["ARM_SPIN_MOTORS"] = 0
    assert Mixing(identity(), [MOTOR] * 2, **spinning).step([-1.0, 0.1])[:2] == pytest.approx([0.0, 0.1])
    assert not Mixing(identity(), [MOTOR] * 2, **spinning).step([0.5, 0.5], armed=False).any()


def test_yaw_is_disabled_below_idle_throttle() -> None:
    mixing = Mixing(identity(), [MOTOR] * 6, MOTOR_IDLE_THR=0.1, ARM_SPIN_MOTORS=0)
    assert mixing.step([0, 0, -0.05, 0, 0, 0.5])[5] == 0.0
    assert mixing.step([0, 0, -0.2, 0, 0, 0.5])[5] == pytest.approx(0.5)


def test_only_aux_outputs_follow_the_aux_command() -> None:
    mixing = Mixing(identity(), [MOTOR, AUX, AUX])
    mixing.aux_types[[0, 1, 2, 13]] = [SERVO, SERVO, MOTOR, SERVO]
    mixing.aux_values[[0, 1, 2, 13]] = [-1.0, -0.5, 0.7, 2.0]
    raw = mixing.step([0.3])
    assert raw[[0, 1, 2, 13]] == pytest.approx([0.3, 0.25, 0.7, 1.0])
    assert mixing.step([0.3], armed=False)[[1, 2]] == pytest.approx([0.25, 0.0])


def test_firmware_applies_valid_aux_commands_and_rejects_invalid_ones(make_bench) -> None:
    bench = make_bench()
    types, values = [0] * 14, [0.0] * 14
    types[8], values[8] = 1, 0.5
    bench.firmware.set_aux_command(types, values)
    assert bench.run(0.1)[8] == pytest.approx(1750.0)
    bench.firmware.set_aux_command([3] * 14, values)
    bench.firmware.set_aux_command(types[:13], values[:13])
    bench.firmware.set_aux_command(types, [math.nan] * 14)
    assert bench.run(0.1)[8] == pytest.approx(1750.0)
    assert len([line for _, line in bench.log_lines if "auxiliary command dropped" in line]) == 3


def test_canned_mixer_is_written_to_primary_and_secondary_parameters(make_bench) -> None:
    bench = make_bench(PRIMARY_MIXER=255)
    bench.parameters.set("PRIMARY_MIXER", 4)
    matrix = canned_mixer(MixerChoice.HEX_X).matrix
    for prefix in ("PRI_MIXER", "SEC_MIXER"):
        stored = [[bench.parameters[f"{prefix}_{i}_{j}"] for j in range(10)] for i in range(10)]
        assert np.array_equal(stored, matrix)
    assert [bench.parameters[f"PRI_MIXER_OUT_{i}"] for i in range(10)] == [2] * 6 + [0] * 4
    bench.parameters.set("PRI_MIXER_2_0", -0.5)
    assert bench.parameters["SEC_MIXER_2_0"] == -0.5
    assert bench.firmware.mixer_matrix[2, 0] == -0.5


@pytest.mark.parametrize("secondary", [MixerChoice.FIXED_WING, MixerChoice.INVERTED_V_TAIL])
def test_fixed_wing_mixer_is_not_inverted_when_secondary(make_bench, secondary: MixerChoice) -> None:
    bench = make_bench(SECONDARY_MIXER=int(secondary))
    stored = [[bench.parameters[f"SEC_MIXER_{i}_{j}"] for j in range(10)] for i in range(10)]
    assert np.array_equal(stored, canned_mixer(secondary).matrix)


def test_secondary_mixer_applies_only_to_offboard_axes(make_bench) -> None:
    bench = make_bench(SECONDARY_MIXER=11, RC_OVRD_LAG_T=0, RC_THR_OVRD_CHN=6)
    bench.parameters.restore({f"SEC_MIXER_{i}_{j}": 10.0 * i + j for i in range(6) for j in range(4)})
    primary = canned_mixer(MixerChoice.QUADCOPTER_X).matrix
    secondary = np.add.outer(10.0 * np.arange(6), np.arange(4))
    bench.sticks(throttle=1.0)
    bench.command = (CommandMode.PASS_THROUGH, 0, [0.0] * 10)
    bench.parameters.set("TAKE_MIN_THR", 0)
    bench.run(0.1)
    in_force = bench.firmware.mixer_matrix
    assert np.array_equal(in_force[:6, :4], secondary)
    bench.switch(6, True)
    bench.run(0.05)
    assert np.array_equal(in_force[:3], primary[:3])
    assert np.array_equal(in_force[3:6, :4], secondary[3:])
    bench.switch(5, True)
    bench.run(0.05)
    assert np.array_equal(in_force[3:6], primary[3:6])


def test_parameter_file_loaded_at_runtime_activates_its_mixer_without_false_alarm(make_bench) -> None:
    bench = make_bench()
    bench.run(0.1)
    bench.parameters.set("PRIMARY_MIXER", 11)
    bench.parameters.load(ROOT / "config/multirotor_firmware.yaml")
    assert not bench.logged("invalid mixer")
    assert bench.firmware.status.error_code == 0
    assert bench.firmware.mixer_matrix[2, 3] == pytest.approx(-5814.79345703125)
    assert bench.parameters["SEC_MIXER_5_1"] == bench.parameters["PRI_MIXER_5_1"] != 0.0


@pytest.mark.parametrize("row", [2, 3, 4, 5])
def test_custom_mixer_with_uncontrollable_axis_is_an_error(make_bench, row: int) -> None:
    bench = make_bench()
    bench.parameters.set("PRIMARY_MIXER", 11)
    assert bench.firmware.status.error_code == 0
    good = [bench.parameters[f"PRI_MIXER_{row}_{j}"] for j in range(4)]
    for j in range(4):
        bench.parameters.set(f"PRI_MIXER_{row}_{j}", 0.0)
    assert bench.firmware.status.error_code == ErrorFlag.INVALID_MIXER
    assert bench.logged(f"cannot command {('Fz', 'Qx', 'Qy', 'Qz')[row - 2]} independently")
    for j in range(4):
        bench.parameters.set(f"PRI_MIXER_{row}_{j}", good[j])
    assert bench.firmware.status.error_code == 0


def test_custom_secondary_mixer_must_control_its_axes(make_bench) -> None:
    bench = make_bench()
    bench.parameters.set("SECONDARY_MIXER", 11)
    assert bench.firmware.status.error_code == 0
    for j in range(4):
        bench.parameters.set(f"SEC_MIXER_5_{j}", 0.0)
    assert bench.firmware.status.error_code == ErrorFlag.INVALID_MIXER
    assert bench.logged("the custom SECONDARY_MIXER cannot command Qz independently")
    bench.run(0.1)
    bench.switch(4, True)
    bench.run(0.1)
    assert not bench.firmware.status.armed
    bench.parameters.set("SECONDARY_MIXER", 255)
    bench.run(0.1)
    assert bench.firmware.status.armed


def test_fixed_wing_custom_mixer_may_omit_rudder(make_bench) -> None:
    bench = make_bench(FIXED_WING=1, PRIMARY_MIXER=9, RC_F_AXIS=0)
    bench.parameters.set("PRIMARY_MIXER", 11)
    bench.parameters.set("PRI_MIXER_5_2", 0.0)
    assert bench.firmware.status.error_code == 0
    bench.parameters.set("PRI_MIXER_0_4", 0.0)
    assert bench.firmware.status.error_code == ErrorFlag.INVALID_MIXER


def test_questionable_mixers_are_warned_about(make_bench) -> None:
    assert make_bench(USE_MOTOR_PARAM=1).logged("USE_MOTOR_PARAM is 1")
    assert make_bench(FIXED_WING=1, PRIMARY_MIXER=9).logged("RC_F_AXIS is not 0")


def multirotor_in_flight(make_bench, scale: float) -> Any:
    """A bench with the parameters of config/multirotor_firmware.yaml and the mixer times `scale`, under command."""
    store = FirmwareParameters()
    store.load(ROOT / "config/multirotor_firmware.yaml")
    values = store.snapshot()
    for name in values:
        if name.startswith(("PRI_MIXER_", "SEC_MIXER_")) and not name.startswith(("PRI_MIXER_OUT_", "PRI_MIXER_PWM_")):
            values[name] *= scale
    values |= {"RC_THR_OVRD_CHN": -1, "RC_ATT_OVRD_CHN": -1, "TAKE_MIN_THR": 1, "GYRO_X_BIAS": 1e-12}
    bench = make_bench(**values)
    for _ in range(2000):
        bench.firmware.receive_battery(23.0, 0.0)
    bench.arm()
    bench.sticks(throttle=1.0)
    return bench


def test_a_command_beyond_full_thrust_is_no_fault_of_the_mixer(make_bench) -> None:
    bench = multirotor_in_flight(make_bench, 1.0)
    # Pass-through, as ROScopter commands thrust (N); four of these motors give about 130 N.
    bench.command = (0, 0, [0.0, 0.0, -1000.0, *[0.0] * 7])
    pwm = bench.run(0.2)
    assert pwm[:4] == pytest.approx([2000.0] * 4)
    assert not bench.logged("check the mixer")


def test_a_mixer_far_beyond_the_motors_is_warned_about(make_bench) -> None:
    bench = multirotor_in_flight(make_bench, 10.0)
    bench.command = (0, 0, [0.0, 0.0, -100.0, *[0.0] * 7])
    bench.run(0.2)
    assert bench.logged("at full throttle; allowed: up to 1; check the mixer")
