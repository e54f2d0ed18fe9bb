"""From outputs back to surfaces: the inverse of the firmware's mixer."""

import numpy as np
import pytest

from rosflight_py_sim.firmware.canned_mixers import MixerChoice, canned_mixer
from rosflight_py_sim.firmware.command import FX, QX, QY, QZ
from rosflight_py_sim.firmware.mixer import OutputType, mixer_settings, mixer_step
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.unmixing import unmixer, unmixer_of_parameters

AUX, SERVO, MOTOR = OutputType.AUX, OutputType.SERVO, OutputType.MOTOR


def mixed(matrix, types, aileron, elevator, rudder, throttle):
    """Pulse widths (14,) from commands, by the firmware's mixer."""
    command, raw = np.zeros(10), np.full(14, 0.5)
    command[[QX, QY, QZ, FX]] = aileron, elevator, rudder, throttle
    all_types = np.concatenate([types, np.zeros(4)])
    settings = mixer_settings(FirmwareParameters())
    settings.fixed_wing, settings.spin_when_armed = True, False
    mixer_step(settings, matrix, all_types, np.zeros(14), np.zeros(14), command, raw, True, 1.2, 20.0)
    return 1000.0 + 1000.0 * raw


def unmixed(sums, pwm_us):
    return sums[:, :14] @ pwm_us + sums[:, 14]


def canned(choice):
    mixer = canned_mixer(choice)
    return mixer.matrix, np.array(mixer.types, dtype=np.float64)


def flaperons():
    """Ailerons on two servos, a rudder assisted by two propellers, and the tail's elevator halved."""
    matrix, types = np.zeros((10, 10)), np.zeros(10)
    matrix[QX, 0], matrix[QX, 1] = 0.6, -0.6
    matrix[QY, 2] = -0.5
    matrix[QZ, 3], matrix[QZ, 5], matrix[QZ, 6] = 1.0, 0.2, -0.2
    matrix[FX, 5] = matrix[FX, 6] = 0.7
    types[[0, 1, 2, 3]], types[[5, 6]] = SERVO, MOTOR
    return matrix, types


MIXERS = {
    "standard": canned(MixerChoice.FIXED_WING),
    "tail": canned(MixerChoice.INVERTED_V_TAIL),
    "custom": flaperons(),
}


@pytest.mark.parametrize("name", MIXERS)
@pytest.mark.parametrize("commands", [(0.0, 0.0, 0.0, 0.0), (0.3, -0.2, 0.4, 0.5), (-0.5, 0.5, -0.4, 0.6)])
def test_unmixing_inverts_mixing(name, commands):
    matrix, types = MIXERS[name]
    assert unmixed(unmixer(matrix, types), mixed(matrix, types, *commands)) == pytest.approx(commands, abs=1e-12)


def test_standard_mixer_maps_one_output_per_surface():
    pwm = np.full(14, 1500.0)
    pwm[:5] = 2000.0, 1000.0, 1750.0, 1234.0, 1250.0
    assert unmixed(unmixer(*MIXERS["standard"]), pwm) == pytest.approx([1.0, -1.0, 0.5, 0.25], abs=1e-12)


def test_outputs_without_servo_or_motor_are_ignored():
    matrix, types = MIXERS["standard"]
    types = types.copy()
    types[2] = AUX
    sums = unmixer(matrix, types)
    assert not np.any(sums[:, 2])
    assert not np.any(sums[2])


def test_commands_missing_from_the_mixer_stay_zero():
    sums = unmixer(*canned(MixerChoice.QUADCOPTER_X))
    assert not np.any(sums[3])


def test_flight_controller_parameters_yield_the_same_unmixer():
    matrix, types = MIXERS["custom"]
    values = {f"PRI_MIXER_{i}_{j}": matrix[i, j] for i in range(10) for j in range(10)}
    values |= {f"PRI_MIXER_OUT_{j}": types[j] for j in range(10)}
    assert np.array_equal(unmixer_of_parameters(values), unmixer(matrix, types))
    del values["PRI_MIXER_4_4"]
    with pytest.raises(KeyError, match="PRI_MIXER_4_4"):
        unmixer_of_parameters(values)
