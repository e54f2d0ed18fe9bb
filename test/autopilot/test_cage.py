"""Each bit of the cage is set by its cause, alone, and cleared when the cause is gone."""

from __future__ import annotations

import math
from typing import Any

import pytest
from cruising import INSIDE, observed

from rosflight_py_sim.autopilot.cage import CAGE_LIMITS, CAGE_PARAMETERS, Cage, CageBit, Observed, bit_names
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    CourseTarget,
    FlyTarget,
    HeadingTarget,
    Lateral,
    PitchTarget,
    PositionTarget,
    RollTarget,
    Speed,
    ThrottleTarget,
    Vertical,
)
from rosflight_py_sim.ground.parameters import ParameterError

LIMITS = {
    "cage_altitude_maximum": 200.0,
    "cage_altitude_minimum": 20.0,
    "cage_climb_maximum": 5.0,
    "cage_climb_minimum": -4.0,
    "cage_throttle_maximum": 0.9,
    "cage_range": 500.0,
    "cage_range_hard": 800.0,
    "cage_airspeed_max": 30.0,
    "cage_airspeed_min": 12.0,
    "cage_roll_max": 0.8,
    "cage_pitch_max": 0.5,
    "cage_pitch_min": -0.4,
    "cage_wingload_max": 3.0,
    "cage_battery_warn": 21.0,
    "cage_battery_emergency": 19.0,
    "cage_handheld_lost_comm": True,
}


def cage(**changed: float) -> Cage:
    return Cage(CAGE_PARAMETERS.checked(LIMITS | changed))


def bits_of(seen: Observed) -> list[CageBit]:
    bits = cage().of_state(seen, seen.battery_voltage)
    return [bit for bit in CageBit if bits >> bit & 1]


def test_bit_numbers_match_documentation() -> None:
    order = [
        "Altitude",
        "Climb",
        "Throttle",
        "RangeSoft",
        "RangeHard",
        "HandheldLostComm",
        "PacketTImeoutForSelectedMode",
        "PacketTimeoutLostComm",
        "Airspeed",
        "Roll",
        "Pitch",
        "Wingload",
        "BatteryWarn",
        "BatteryEmergency",
        "Unspecified",
        "Target",
        "GPSBad",
        "NavLost",
        "IMUdisabled",
    ]
    assert [bit.name.replace("_", "").lower() for bit in CageBit] == [name.lower() for name in order]
    assert list(CageBit) == list(range(19))
    assert CageBit.ROLL == 9  # the page's own example: cage_triggered & (1 << 9)


def test_plane_inside_cage_sets_no_bits() -> None:
    assert bits_of(INSIDE) == []


STATES: list[tuple[str, CageBit, dict[str, Any], dict[str, Any]]] = [
    ("highest", CageBit.ALTITUDE, {"position_ned": (0.0, 0.0, -200.0)}, {"position_ned": (0.0, 0.0, -200.1)}),
    ("lowest", CageBit.ALTITUDE, {"position_ned": (0.0, 0.0, -20.0)}, {"position_ned": (0.0, 0.0, -19.9)}),
    ("climb", CageBit.CLIMB, {"velocity_ned": (18.0, 0.0, -5.0)}, {"velocity_ned": (18.0, 0.0, -5.1)}),
    ("descent", CageBit.CLIMB, {"velocity_ned": (18.0, 0.0, 4.0)}, {"velocity_ned": (18.0, 0.0, 4.1)}),
    ("throttle", CageBit.THROTTLE, {"throttle": 0.9}, {"throttle": 0.91}),
    ("range", CageBit.RANGE_SOFT, {"position_ned": (300.0, -400.0, -100.0)}, {"position_ned": (300.0, -401.0, -100.0)}),
    ("rc", CageBit.HANDHELD_LOST_COMM, {"rc_lost": False}, {"rc_lost": True}),
    ("fastest", CageBit.AIRSPEED, {"airspeed": 30.0}, {"airspeed": 30.1}),
    ("slowest", CageBit.AIRSPEED, {"airspeed": 12.0}, {"airspeed": 11.9}),
    ("right", CageBit.ROLL, {"roll": 0.8}, {"roll": 0.81}),
    ("left", CageBit.ROLL, {"roll": -0.8}, {"roll": -0.81}),
    ("inverted", CageBit.ROLL, {"roll": 0.8}, {"roll": math.pi}),
    ("up", CageBit.PITCH, {"pitch": 0.5}, {"pitch": 0.51}),
    ("down", CageBit.PITCH, {"pitch": -0.4}, {"pitch": -0.41}),
    ("pulls", CageBit.WINGLOAD, {"wing_load": 3.0}, {"wing_load": 3.1}),
    ("low battery", CageBit.BATTERY_WARN, {"battery_voltage": 21.0}, {"battery_voltage": 20.9}),
    ("GNSS", CageBit.GPS_BAD, {"gps_ok": True}, {"gps_ok": False}),
    ("IMU", CageBit.IMU_DISABLED, {"imu_ok": True}, {"imu_ok": False}),
]


@pytest.mark.parametrize(("bit", "inside", "outside"), [row[1:] for row in STATES], ids=[row[0] for row in STATES])
def test_each_bit_is_set_only_by_its_own_cause(bit: CageBit, inside: dict[str, Any], outside: dict[str, Any]) -> None:
    assert bits_of(observed(INSIDE, **inside)) == []
    assert bits_of(observed(INSIDE, **outside)) == [bit]


def test_rc_loss_sets_its_bit_only_when_configured() -> None:
    assert cage(cage_handheld_lost_comm=False).of_state(observed(INSIDE, rc_lost=True), 23.0) == 0
    assert not CAGE_PARAMETERS["cage_handheld_lost_comm"].default


def test_exceeding_hard_limit_also_sets_soft_limit_bit() -> None:
    assert bits_of(observed(INSIDE, position_ned=(0.0, 800.1, -100.0))) == [CageBit.RANGE_SOFT, CageBit.RANGE_HARD]
    assert bits_of(observed(INSIDE, battery_voltage=18.9)) == [CageBit.BATTERY_WARN, CageBit.BATTERY_EMERGENCY]


def test_unmeasured_battery_sets_no_bits() -> None:
    assert bits_of(observed(INSIDE, battery_voltage=None)) == []


def test_multiple_causes_set_multiple_bits() -> None:
    seen = observed(INSIDE, roll=1.0, pitch=-1.0, gps_ok=False)
    assert bits_of(seen) == [CageBit.ROLL, CageBit.PITCH, CageBit.GPS_BAD]
    assert bit_names(cage().of_state(seen, 23.0)) == "roll, pitch, gps bad"


def test_unspecified_bit_is_never_set() -> None:
    worst = observed(
        INSIDE,
        position_ned=(1e4, 1e4, 1e3),
        velocity_ned=(0.0, 0.0, 99.0),
        airspeed=0.0,
        roll=3.0,
        pitch=-1.5,
        throttle=1.0,
        wing_load=99.0,
        battery_voltage=0.0,
        rc_lost=True,
        gps_ok=False,
        nav_ok=False,
        imu_ok=False,
    )
    # The pilot sets the bits of targets and of durations; they have their own tests.
    of_time = {CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE, CageBit.PACKET_TIMEOUT_LOST_COMM, CageBit.NAV_LOST}
    assert set(bits_of(worst)) == set(CageBit) - of_time - {CageBit.TARGET, CageBit.UNSPECIFIED}


def target(
    lateral: Lateral = HeadingTarget(0.0),  # noqa: B008
    speed: Speed = AirspeedTarget(18.0),  # noqa: B008
    vertical: Vertical = AltitudeTarget(100.0),  # noqa: B008
) -> FlyTarget:
    return FlyTarget(lateral, speed, vertical)


TARGETS: list[tuple[FlyTarget, list[CageBit]]] = [
    (target(), []),
    (target(CourseTarget(3.0)), []),
    (target(PositionTarget(300.0, 400.0)), []),
    (target(PositionTarget(300.0, 401.0)), [CageBit.RANGE_SOFT]),
    (target(PositionTarget(0.0, -801.0)), [CageBit.RANGE_SOFT, CageBit.RANGE_HARD]),
    (target(RollTarget(-0.8)), []),
    (target(RollTarget(-0.9)), [CageBit.ROLL]),
    (target(RollTarget(0.9)), [CageBit.ROLL]),
    (target(speed=AirspeedTarget(31.0)), [CageBit.AIRSPEED]),
    (target(speed=AirspeedTarget(11.0)), [CageBit.AIRSPEED]),
    (target(speed=PitchTarget(0.6)), [CageBit.PITCH]),
    (target(speed=PitchTarget(-0.5)), [CageBit.PITCH]),
    (target(vertical=AltitudeTarget(201.0)), [CageBit.ALTITUDE]),
    (target(vertical=AltitudeTarget(19.0)), [CageBit.ALTITUDE]),
    (target(vertical=ClimbTarget(5.0)), []),
    (target(vertical=ClimbTarget(5.1)), [CageBit.CLIMB]),
    (target(vertical=ClimbTarget(-4.1)), [CageBit.CLIMB]),
    (target(vertical=ThrottleTarget(0.0)), []),
    (target(vertical=ThrottleTarget(0.95)), [CageBit.THROTTLE]),
    (target(RollTarget(1.0), PitchTarget(1.0), ThrottleTarget(1.0)), [CageBit.THROTTLE, CageBit.ROLL, CageBit.PITCH]),
]


@pytest.mark.parametrize(("asked", "exceeded"), TARGETS)
def test_target_outside_cage_sets_target_bit_and_bit_of_exceeded_limit(
    asked: FlyTarget, exceeded: list[CageBit]
) -> None:
    bits = cage().of_target(asked)
    assert [bit for bit in CageBit if bits >> bit & 1] == sorted([*exceeded, CageBit.TARGET] if exceeded else [])


@pytest.mark.parametrize("limit", CAGE_LIMITS, ids=lambda limit: limit.name)
def test_each_limit_comes_from_its_parameter(limit: Any) -> None:
    value = LIMITS[limit.name]
    beyond, within = value + limit.sign * 0.01, value - limit.sign * 0.01
    assert cage().exceeded({limit.quantity: beyond}) >> limit.bit & 1
    assert not cage().exceeded({limit.quantity: within}) >> limit.bit & 1
    moved = cage(**{limit.name: value + limit.sign * 0.02})
    assert not moved.exceeded({limit.quantity: beyond}) >> limit.bit & 1
    assert moved.limits[limit.name] == value + limit.sign * 0.02


def test_every_documented_limit_is_a_parameter_with_description_and_unit() -> None:
    page = [
        "cage_altitude_maximum",
        "cage_altitude_minimum",
        "cage_climb_maximum",
        "cage_climb_minimum",
        "cage_throttle_maximum",
        "cage_range",
        "cage_airspeed_max",
        "cage_airspeed_min",
        "cage_roll_max",
        "cage_pitch_min",
        "cage_pitch_max",
        "cage_wingload_max",
    ]
    for name in page:
        parameter = CAGE_PARAMETERS[name]
        assert parameter.text
        assert parameter.unit or name in ("cage_throttle_maximum", "cage_wingload_max")


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("cage_altitude_minimum", "cage_altitude_maximum"),
        ("cage_climb_minimum", "cage_climb_maximum"),
        ("cage_range", "cage_range_hard"),
        ("cage_airspeed_min", "cage_airspeed_max"),
        ("cage_pitch_min", "cage_pitch_max"),
        ("cage_battery_emergency", "cage_battery_warn"),
    ],
)
def test_empty_bounds_are_rejected(low: str, high: str) -> None:
    assert cage(**{low: 1.0, high: 1.0}).limits[low] == 1.0
    with pytest.raises(ParameterError, match=f"'{low}' and '{high}': 1.1 and 1 given; allowed: the second not below"):
        cage(**{low: 1.1, high: 1.0})
