"""Every parameter has an effect on the controller, or is in the page's list of those without one."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.firmware import FirmwareParameters
from rosflight_py_sim.firmware.parameter_table import PARAMETERS

ROOT = Path(__file__).parents[2]
TILTED = (0.4, -0.3, -9.9)
TURNING = (0.2, -0.1, 0.15)

Observed = dict[str, Any]
Scene = Callable[[Any], None]


def arm(bench) -> None:
    """Feed one sample of each sensor, arm under the pilot's override, and end the override."""
    bench.firmware.receive_battery(23.0, 4.0)
    bench.firmware.receive_baro(95_000.0, 280.0)
    bench.firmware.receive_mag([20e-6, 3e-6, 40e-6])
    bench.firmware.receive_diff_pressure(40.0, 290.0)
    bench.run(0.1)
    bench.switch(4, True)
    bench.switch(5, True)
    bench.run(0.1)
    bench.switch(5, False)
    bench.run(0.02)


def by_pilot(bench) -> None:
    """Sticks out of centre, a tilted vehicle whose rates change."""
    arm(bench)
    bench.sticks(roll=0.2, pitch=-0.25, yaw=0.3, throttle=0.5)
    bench.accel, bench.gyro = TILTED, TURNING
    bench.run(0.05)
    bench.gyro = (-0.1, 0.3, 0.05)
    bench.firmware.receive_battery(22.0, 8.0)
    bench.run(0.05)


def by_computer(bench) -> None:
    """Sticks centred, throttle stick half up, and a command that passes through."""
    arm(bench)
    bench.sticks(throttle=0.5)
    bench.command = (0, 0, [0.15, -0.1, -0.6, 0.05, -0.04, 0.03, 0.3, -0.3, 0.2, -0.2])
    bench.run(0.1)


def by_computer_with_sticks_moved(bench) -> None:
    by_computer(bench)
    bench.sticks(roll=0.2, throttle=0.5)
    bench.run(0.05)
    bench.sticks(throttle=0.5)
    bench.run(0.3)


def by_computer_with_switches(bench) -> None:
    """The switches of channels 5 and 7, counted from 0, are off, that of 6 is on."""
    bench.switch(6, True)
    by_computer(bench)


def by_computer_until_timeout(bench) -> None:
    by_computer(bench)
    bench.command = None
    bench.run(0.15)


def by_throttle_of_computer(bench) -> None:
    """A commanded throttle higher than the stick's."""
    arm(bench)
    bench.sticks(throttle=0.3)
    bench.command = (2, 0, [0.6, 0.6, 0.6, *[0.0] * 7])
    bench.run(0.1)


def without_throttle(bench) -> None:
    arm(bench)


def with_throttle_slightly_up(bench) -> None:
    bench.sticks(throttle=0.1)
    arm(bench)


def with_external_attitude(bench) -> None:
    arm(bench)
    bench.firmware.set_external_attitude([0.99, 0.1, 0.0, 0.1])
    bench.run(0.05)


def without_transmitter(bench) -> None:
    arm(bench)
    bench.rc = None
    bench.run(0.3)


SCENES: tuple[Scene, ...] = (
    *(by_pilot, by_computer, by_computer_with_sticks_moved, by_computer_with_switches, by_throttle_of_computer),
    *(by_computer_until_timeout, without_throttle, with_throttle_slightly_up, with_external_attitude),
    without_transmitter,
)


@dataclass(frozen=True)
class Effect:
    """`observable` changes in the scene, begun with `given`, when the parameter becomes `value`."""

    value: float
    observable: str = "outputs"
    scene: Scene = by_pilot
    given: dict[str, float] | None = None


def observe(make_bench: Callable[..., Any], scene: Scene, given: dict[str, float]) -> Observed:
    bench = make_bench(**given)
    scene(bench)
    firmware = bench.firmware
    return {
        "outputs": firmware.outputs.copy(),
        "attitude": firmware.attitude.copy(),
        "rate": firmware.angular_velocity.copy(),
        "accel": firmware.imu_accel.copy(),
        "gyro": firmware.imu_gyro.copy(),
        "field": firmware.magnetic_field.copy(),
        "battery": np.array([firmware.battery.voltage, firmware.battery.current]),
        "air": np.array([firmware.air.altitude, firmware.air.airspeed, firmware.air.density]),
        "armed": firmware.status.armed,
        "offboard": firmware.status.offboard,
        "override": firmware.status.rc_override,
        "mode": firmware.status.control_mode,
        "errors": firmware.status.error_code,
    }


def file_values(name: str) -> dict[str, float]:
    parameters = FirmwareParameters()
    before = parameters.snapshot()
    parameters.load(ROOT / "config" / name)
    return {key: value for key, value in parameters.snapshot().items() if value != before[key]}


# The motor model with the benches' switches; no idle throttle, so that every output follows the arithmetic.
MODEL: dict[str, float] = {
    **file_values("multirotor_firmware.yaml"),
    "RC_ARM_CHN": 4,
    "RC_ATT_OVRD_CHN": 5,
    "RC_THR_OVRD_CHN": 5,
    "MOTOR_IDLE_THR": 0.0,
}
RATES: dict[str, float] = {"RC_ATT_MODE": 0}
SLOW: dict[str, float] = {"FILT_INIT_T": 0}
WING: dict[str, float] = {"FIXED_WING": 1, "PRIMARY_MIXER": 9, "RC_F_AXIS": 0}


def matrices(throttle_axis: int) -> dict[str, float]:
    """Custom mixers without any zero, all outputs servos, which never reach their ends."""
    generator = np.random.default_rng(11)
    names = [f"{which}_MIXER_{i}_{j}" for which in ("PRI", "SEC") for i in range(10) for j in range(10)]
    elements = dict(zip(names, generator.uniform(-0.1, 0.1, len(names)).tolist(), strict=True))
    kinds = {f"PRI_MIXER_OUT_{j}": 1 for j in range(10)}
    return {**elements, **kinds, "PRIMARY_MIXER": 11, "SECONDARY_MIXER": 11, "RC_F_AXIS": throttle_axis}


def elements() -> dict[str, Effect]:
    found = {f"PRI_MIXER_OUT_{j}": Effect(2, given=matrices(2)) for j in range(10)}
    for j in range(10):
        for i in range(6):
            found[f"PRI_MIXER_{i}_{j}"] = Effect(0.2, given=matrices(min(i, 2)))
            found[f"SEC_MIXER_{i}_{j}"] = Effect(0.2, scene=by_computer, given={**matrices(2), "TAKE_MIN_THR": 0})
        for i in range(6, 10):
            found[f"PRI_MIXER_{i}_{j}"] = Effect(0.2, scene=by_computer, given=matrices(2))
    return found


def gains() -> dict[str, Effect]:
    found = {}
    for loop in ("ROLL_RATE", "PITCH_RATE", "YAW_RATE"):
        found |= {f"PID_{loop}_{gain}": Effect(0.3, given=RATES) for gain in "PID"}
    for loop in ("ROLL_ANG", "PITCH_ANG"):
        found |= {f"PID_{loop}_{gain}": Effect(0.3) for gain in "PID"}
    return found


EFFECTS: dict[str, Effect] = {
    **elements(),
    **gains(),
    **{
        name: Effect(value, given=MODEL)
        for name, value in (
            ("NUM_MOTORS", 6),
            ("MOTOR_RESISTANCE", 0.06),
            ("MOTOR_KV", 0.02),
            ("NO_LOAD_CURRENT", 2.5),
            ("PROP_DIAMETER", 0.3),
            ("PROP_CT", 0.09),
            ("PROP_CQ", 0.006),
            ("BATT_VOLT_MAX", 20.0),
            ("USE_MOTOR_PARAM", 0),
        )
    },
    **{f"{axis}_EQ_TORQUE": Effect(0.02) for axis in "XYZ"},
    "PID_TAU": Effect(0.2, given={**RATES, "PID_ROLL_RATE_D": 0.05}),
    "MOTOR_IDLE_THR": Effect(0.2, scene=without_throttle),
    "FAILSAFE_THR": Effect(0.6, scene=without_transmitter),
    "ARM_SPIN_MOTORS": Effect(0, scene=without_throttle),
    "FILT_INIT_T": Effect(0, "attitude"),
    "FILT_ACC_KP": Effect(2.0, "attitude", given=SLOW),
    "FILT_KI": Effect(0.5, "rate", given=SLOW),
    "FILT_EXT_KP": Effect(3.0, "attitude", with_external_attitude, SLOW),
    "FILT_ACC_MARGIN": Effect(0.001, "attitude"),
    "FILT_QUAD_INT": Effect(0, "attitude"),
    "FILT_MAT_EXP": Effect(0, "attitude"),
    "FILT_USE_ACC": Effect(0, "attitude"),
    "ARM_CAL_GYRO": Effect(1, "armed"),
    "GYRO_XY_LPF": Effect(0.9, "rate"),
    "GYRO_Z_LPF": Effect(0.9, "rate"),
    "ACC_LPF": Effect(0.95, "attitude"),
    **{f"GYRO_{axis}_BIAS": Effect(0.05, "gyro") for axis in "XYZ"},
    **{f"ACC_{axis}_BIAS": Effect(0.05, "accel") for axis in "XYZ"},
    **{f"ACC_{axis}_TEMP_COMP": Effect(0.001, "accel") for axis in "XYZ"},
    **{f"MAG_CAL_A{i}{j}": Effect(0.5, "field") for i in range(3) for j in range(3)},
    **{f"MAG_{axis}_BIAS": Effect(1e-6, "field") for axis in "XYZ"},
    "DIFF_PRESS_BIAS": Effect(2.0, "air"),
    "RC_X_CHN": Effect(1),
    "RC_Y_CHN": Effect(3),
    "RC_Z_CHN": Effect(0),
    "RC_F_CHN": Effect(0, "armed"),
    "RC_F_AXIS": Effect(0),
    "RC_ATT_OVRD_CHN": Effect(6, "override", by_computer_with_switches),
    "RC_THR_OVRD_CHN": Effect(6, "override", by_computer_with_switches),
    "RC_ATT_CTRL_CHN": Effect(7, "mode"),
    "RC_ARM_CHN": Effect(7, "armed"),
    "RC_NUM_CHN": Effect(4, "armed"),
    "SWITCH_5_DIR": Effect(-1, "armed"),
    "SWITCH_6_DIR": Effect(-1, "override", by_computer_with_switches),
    "SWITCH_7_DIR": Effect(-1, "override", by_computer_with_switches, {"RC_ATT_OVRD_CHN": 6}),
    "SWITCH_8_DIR": Effect(-1, "override", by_computer_with_switches, {"RC_ATT_OVRD_CHN": 7}),
    "RC_OVRD_DEV": Effect(0.5, "override", by_computer_with_sticks_moved),
    "RC_OVRD_LAG_T": Effect(100, "override", by_computer_with_sticks_moved),
    "TAKE_MIN_THR": Effect(0, "outputs", by_throttle_of_computer),
    "RC_MAX_THR": Effect(0.5),
    "RC_ATT_MODE": Effect(0, "mode"),
    "RC_MAX_ROLL": Effect(0.4),
    "RC_MAX_PITCH": Effect(0.4),
    "RC_MAX_ROLLRATE": Effect(2.0, given=RATES),
    "RC_MAX_PITCHRATE": Effect(2.0, given=RATES),
    "RC_MAX_YAWRATE": Effect(1.0),
    "PRIMARY_MIXER": Effect(1),
    "SECONDARY_MIXER": Effect(1, scene=by_computer, given={"TAKE_MIN_THR": 0}),
    "FIXED_WING": Effect(1),
    "REV_AILERON": Effect(1, given=WING),
    "REV_ELEVATOR": Effect(1, given=WING),
    "REV_RUDDER": Effect(1, given=WING),
    **{f"IMU_{angle}": Effect(90.0, "accel") for angle in ("ROLL", "PITCH", "YAW")},
    **{f"MAG_{angle}": Effect(90.0, "field") for angle in ("ROLL", "PITCH", "YAW")},
    "RC_ARM_THRESHOLD": Effect(0.05, "armed", with_throttle_slightly_up),
    "BATT_VOLT_MULT": Effect(1.1, "battery"),
    "BATT_CURR_MULT": Effect(1.1, "battery"),
    "BATT_VOLT_LPF": Effect(0.5, "battery"),
    "BATT_CURR_LPF": Effect(0.5, "battery"),
    "OFFBOARD_TIMEOUT": Effect(1000, "offboard", by_computer_until_timeout),
}


def without_effect() -> set[str]:
    """Parameters listed on the page, with wildcards resolved."""
    page = (ROOT / "docs/firmware.md").read_text()
    section = page.split("### Without effect in simulation", 1)[1].split("\n#", 1)[0]
    patterns = [
        pattern
        for line in section.splitlines()
        if line.startswith("|")
        for pattern in re.findall("`([^`]+)`", line.split("|")[1])
    ]
    assert patterns
    found = set()
    for pattern in patterns:
        names = fnmatch.filter([p.name for p in PARAMETERS], pattern)
        assert names, f"the page names {pattern}, which is no parameter"
        found |= set(names)
    return found


def test_every_parameter_has_an_effect_or_is_documented_as_unused() -> None:
    names = {p.name for p in PARAMETERS}
    assert set(EFFECTS) <= names
    assert names - set(EFFECTS) == without_effect()


@pytest.fixture(scope="module")
def unchanged() -> dict[Any, Observed]:
    """Observations before any change, by scene and given parameters."""
    return {}


@pytest.mark.parametrize("name", list(EFFECTS))
def test_parameter_changes_its_observable(make_bench, unchanged, name: str) -> None:
    effect = EFFECTS[name]
    given = effect.given or {}
    key = (effect.scene, frozenset(given.items()))
    if key not in unchanged:
        unchanged[key] = observe(make_bench, effect.scene, given)
    after = observe(make_bench, effect.scene, {**given, name: effect.value})
    assert not np.array_equal(unchanged[key][effect.observable], after[effect.observable])


def other_value(name: str) -> float:
    parameter = next(p for p in PARAMETERS if p.name == name)
    ends = [parameter.type(end) for end in (parameter.minimum, parameter.maximum) if np.isfinite(end)]
    return next((end for end in ends if end != parameter.default), 0.3)


@pytest.mark.parametrize("scene", SCENES)
def test_unused_parameters_have_no_effect(make_bench, scene: Scene) -> None:
    changes = {name: other_value(name) for name in without_effect()}
    for given in ({}, matrices(2)):
        before = observe(make_bench, scene, given)
        after = observe(make_bench, scene, {**given, **changes})
        for observable, seen in before.items():
            assert np.array_equal(seen, after[observable]), observable
