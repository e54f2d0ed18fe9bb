"""The flight log's columns and their summary."""

from __future__ import annotations

import math

import numpy as np
import pytest
from transforms3d.euler import euler2mat, euler2quat

from rosflight_py_sim.autopilot.fixedwing_mission import FixedwingPhase
from rosflight_py_sim.autopilot.mission import Phase
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.autopilot.summary import nearest_on_segment, reference_error, summarise, tracking_error
from rosflight_py_sim.missions.autopilot.table import summary_rows
from rosflight_py_sim.recording.state_log import TimeWentBackError
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.vehicles.physics_model import VehicleClass

MOTORS, V_TAIL = vehicle("multirotor").actuators, vehicle("anaconda").actuators
CORNERS = ((0.0, 0.0, -5.0), (10.0, 0.0, -5.0), (10.0, 10.0, -5.0), (0.0, 10.0, -5.0))
SQUARE = np.array((*CORNERS, CORNERS[0]))
LEVEL = (1.0, 0.0, 0.0, 0.0)


def truth(
    position: tuple[float, float, float], quaternion: tuple[float, ...] = LEVEL, velocity: float = 0.0
) -> np.ndarray:
    return np.array([*position, *quaternion, velocity, 0.0, 0.0, *[0.0] * 9])


def append(
    log: FlightLog,
    time: float,
    position: tuple[float, float, float],
    phase: Phase,
    wanted: object = None,
    **other: object,
) -> None:
    row = {
        "truth": truth(position),
        "actuator_commands": [0.4] * 4,
        "wind_ned": (3.0, -4.0, 0.0),
        "battery_current": 18.0,
    }
    row.update(other)
    setpoint = position if wanted is None else wanted
    log.append(time_s=time, setpoint_ned=setpoint, battery_voltage=24.0 - 0.01 * time, phase=phase, **row)


def square_flight(offset: float = 0.3, dt: float = 0.1) -> FlightLog:
    """A flight whose sides run `offset` metres outside the square and 0.4 m too low, wanted on the square."""
    log = FlightLog(MOTORS, Phase, capacity=8)
    append(log, 0.0, (0.0, 0.0, 0.0), Phase.TAKE_OFF)
    time = dt
    for side in range(4):
        start, end = np.array(CORNERS[side]), np.array(CORNERS[(side + 1) % 4])
        along = (end - start) / 10.0
        outward = np.array([along[1], -along[0], 0.0])
        for distance in np.arange(0.0, 10.0, 0.2):
            wanted = start + along * distance
            position = wanted + offset * outward + [0.0, 0.0, 0.4]
            append(log, time, tuple(position), Phase(Phase.SIDE_1 + side), tuple(wanted))
            time += dt
    append(log, time, (0.1, 0.0, 0.0), Phase.DONE)
    return log


def test_rows_are_returned_as_columns_as_the_table_grows() -> None:
    log = FlightLog(MOTORS[:2], Phase, capacity=1)
    for k in range(100):
        setpoint = (k + 0.1, k + 0.2, k + 0.3)
        log.append(0.01 * k, np.arange(19.0) + k, setpoint, [0.1, 0.2], (1.0, 2.0, 3.0), 24.0, 5.0, Phase.SIDE_2)
    assert len(log) == 100
    assert log.truth.shape == (100, 19)
    assert np.array_equal(log.truth[:, 0], np.arange(100.0))
    assert np.array_equal(log.truth[99], np.arange(19.0) + 99)
    assert np.array_equal(log.setpoint_ned[7], [7.1, 7.2, 7.3])
    assert np.array_equal(log.actuator_commands[50], [0.1, 0.2])
    assert np.array_equal(log.wind_ned[50], [1.0, 2.0, 3.0])
    assert (log.battery_voltage[3], log.battery_current[3], log.phase[3]) == (24.0, 5.0, Phase.SIDE_2)
    assert np.array_equal(log.time_s, 0.01 * np.arange(100))


def test_euler_angles_and_velocity_match_transforms3d() -> None:
    log = FlightLog(MOTORS, Phase)
    # Pitch stays a degree away from +-90 degrees; there, the arc sine magnifies a rounding by up to 57.
    angles = np.random.default_rng(1).uniform(-1.0, 1.0, (100, 3)) * [math.pi, math.radians(89.0), math.pi]
    for k, (roll, pitch, yaw) in enumerate(angles):
        attitude = tuple(euler2quat(roll, pitch, yaw))
        append(log, 0.01 * k, (0.0, 0.0, 0.0), Phase.WAIT, truth=truth((0.0, 0.0, 0.0), attitude, velocity=2.0))
    assert log.euler == pytest.approx(angles, abs=1e-12)
    noses = np.array([euler2mat(*one)[:, 0] for one in angles])
    assert log.velocity_ned == pytest.approx(2.0 * noses, abs=1e-12)


def test_rows_with_wrong_shape_or_time_are_rejected_and_not_added() -> None:
    log = FlightLog(MOTORS, Phase)
    append(log, 1.0, (0.0, 0.0, 0.0), Phase.WAIT)
    with pytest.raises(TimeWentBackError, match=r"the time went back from 1 s to 0\.9 s"):
        append(log, 0.9, (0.0, 0.0, 0.0), Phase.WAIT)
    with pytest.raises(ValueError, match="19 truth values and 3 actuator commands given; allowed: 19 and 4"):
        append(log, 1.1, (0.0, 0.0, 0.0), Phase.WAIT, actuator_commands=[0.1] * 3)
    with pytest.raises(ValueError, match="0 actuators"):
        FlightLog((), Phase)
    assert len(log) == 1


def test_distance_to_segment_is_measured_to_its_nearest_point() -> None:
    points = np.array([[5.0, 3.0, 4.0], [-3.0, 4.0, 0.0], [13.0, 0.0, -4.0], [2.0, 0.0, 0.0]])
    nearest = nearest_on_segment(points, np.zeros(3), np.array([10.0, 0.0, 0.0]))
    distances = np.linalg.norm(points - nearest, axis=1)
    assert distances == pytest.approx([5.0, 5.0, 5.0, 0.0], abs=1e-12)


def test_tracking_error_includes_height_and_covers_only_the_square() -> None:
    log = square_flight()
    error = tracking_error(log, SQUARE)
    assert np.isnan(error[[0, -1]]).all()
    assert error[1:-1] == pytest.approx(np.full(len(log) - 2, 0.5), abs=1e-12)


def test_reference_error_is_independent_of_setpoint_hold_time() -> None:
    log = FlightLog(MOTORS, Phase)
    for k in range(400):
        held = k - k % 4
        append(log, 0.0025 * k, (0.005 * k, 0.2, -5.0), Phase.SIDE_1, (0.005 * held, 0.0, -5.0))
    # The last three rows hold the last setpoint: the reference's further path is unknown.
    assert reference_error(log)[:-3] == pytest.approx(np.full(397, 0.2), abs=1e-12)


def test_setpoint_that_stood_still_is_not_interpolated_to_the_next_one() -> None:
    log = FlightLog(MOTORS, Phase)
    for k in range(200):
        append(log, 0.1 * k, (0.0, 0.0, -5.0), Phase.SIDE_1, (2.0 if k < 150 else 7.0, 0.0, -5.0))
    assert reference_error(log).tolist() == [2.0] * 150 + [7.0] * 50


def test_summary_describes_the_flight() -> None:
    log = square_flight()
    summary = summarise(log, SQUARE, "multirotor", wall_duration_s=2.0)
    assert summary.completed
    assert summary.duration_s == pytest.approx(20.1)
    assert summary.real_time_factor == pytest.approx(10.05)
    assert summary.tracking_error_rms_m == pytest.approx(0.5)
    assert summary.tracking_error_max_m == pytest.approx(0.5)
    assert summary.height_error_max_m == pytest.approx(0.4)
    assert summary.max_height_m == pytest.approx(4.6)
    assert summary.mean_wind_speed_mps == pytest.approx(5.0)
    # Air that moves 3 north and -4 east comes from the south-east: 126.87 deg.
    assert math.degrees(summary.mean_wind_from_rad) == pytest.approx(180.0 - 53.1301, abs=1e-3)
    assert summary.battery_used_mah == pytest.approx(18.0 * 20.1 / 3.6)
    assert summary.mean_current_a == pytest.approx(18.0)
    assert summary.battery_voltage_start - summary.battery_voltage_end == pytest.approx(0.201)
    assert summary.landing_distance_m == pytest.approx(0.1)


UNHEALTHY, RC_LOST = 0x08, 0x04


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([0.0, RC_LOST, 0.0, 0.0, 0.0], "never"),
        ([0.0, UNHEALTHY, UNHEALTHY | RC_LOST, RC_LOST, 0.0], "for 1.0 s"),
    ],
)
def test_summary_gives_duration_of_unhealthy_estimator(codes: list[float], text: str) -> None:
    log = FlightLog(MOTORS, Phase)
    for k, code in enumerate(codes):
        append(log, 0.5 * k, (0.0, 0.0, -1.0), Phase.SIDE_1, error_code=code)
    assert dict(summary_rows(summarise(log, SQUARE, "multirotor")))["estimator unhealthy"] == text


def test_flight_that_never_reached_the_square_is_summarised_as_incomplete() -> None:
    log = FlightLog(MOTORS, Phase)
    for k in range(10):
        append(log, 0.1 * k, (0.0, 0.0, -0.1 * k), Phase.TAKE_OFF)
    summary = summarise(log, SQUARE, "multirotor")
    assert not summary.completed
    assert math.isnan(summary.tracking_error_rms_m)
    assert summary.real_time_factor is None
    assert summary.path_length_m == pytest.approx(0.9)


def test_invalid_log_is_rejected_by_the_summary() -> None:
    log = FlightLog(MOTORS, Phase)
    append(log, 0.0, (0.0, 0.0, 0.0), Phase.WAIT)
    with pytest.raises(ValueError, match="1 rows"):
        summarise(log, SQUARE, "multirotor")
    append(log, 0.1, (math.nan, 0.0, 0.0), Phase.WAIT)
    with pytest.raises(ValueError, match="not finite"):
        summarise(log, SQUARE, "multirotor")
    with pytest.raises(ValueError, match="1 points given; allowed: at least 2"):
        tracking_error(log, np.zeros((1, 3)))


def flight_on_wings(*heights: float) -> FlightLog:
    """A northward flight at 20 m/s in 5 m/s of head wind, a row a second, along a path at 50 m height."""
    log = FlightLog(V_TAIL, FixedwingPhase)
    for k, height in enumerate(heights):
        last = k == len(heights) - 1
        phase = FixedwingPhase.DONE if last else FixedwingPhase.WAYPOINTS if k else FixedwingPhase.TAKE_OFF
        row = truth((20.0 * k, 3.0, -height), velocity=20.0)
        log.append(float(k), row, (20.0 * k, 0.0, -50.0), [0.1, -0.2, 0.3, 0.6], (-5.0, 0.0, 0.0), 24.0, 10.0, phase)
    return log


def test_fixed_wing_flight_is_summarised_with_airspeed_and_without_landing() -> None:
    summary = summarise(
        flight_on_wings(0.0, 54.0, 54.0, 54.0),
        [(0.0, 0.0, -50.0), (1e3, 0.0, -50.0)],
        "fixedwing",
        vehicle_class=VehicleClass.FIXED_WING,
    )
    assert summary.completed
    assert not summary.landed
    assert (summary.min_airspeed_mps, summary.max_airspeed_mps) == (25.0, 25.0)
    assert summary.tracking_error_rms_m == pytest.approx(5.0)
    assert summary.height_error_rms_m == pytest.approx(4.0)
    assert summary.end_height_m == pytest.approx(54.0)
    assert math.isnan(summary.landing_distance_m)
    assert math.isnan(summary.touch_down_speed_mps)
    assert math.isnan(summary.touch_down_distance_m)


def test_touch_down_of_a_wing_is_measured_from_the_planned_place() -> None:
    log = FlightLog(V_TAIL, FixedwingPhase)
    for k, (phase, north, height, sink) in enumerate(
        (
            (FixedwingPhase.TAKE_OFF, 0.0, 0.3, 0.0),
            (FixedwingPhase.FINAL_APPROACH, 300.0, 50.0, 0.0),
            (FixedwingPhase.FLARE, 960.0, 2.0, 1.0),
            (FixedwingPhase.FLARE, 974.0, 0.35, 0.5),
            (FixedwingPhase.FLARE, 978.0, 0.31, 0.1),
            (FixedwingPhase.DONE, 1100.0, 0.3, 0.0),
        )
    ):
        row = truth((north, 4.0, -height), velocity=20.0)
        row[9] = sink
        log.append(float(k), row, (975.0, 0.0, -0.3), [0.0] * 4, (0.0, 0.0, 0.0), 24.0, 10.0, phase)
    summary = summarise(log, [(0.0, 0.0, -50.0), (1e3, 0.0, -50.0)], "fixedwing", vehicle_class=VehicleClass.FIXED_WING)
    assert summary.landed
    assert summary.touch_down_speed_mps == pytest.approx(0.5)
    assert summary.touch_down_distance_m == pytest.approx(5.0)
    assert dict(summary_rows(summary))["landing"] == "5.00 m from the planned touch-down, 0.50 m/s"


@pytest.mark.parametrize("name", ["multirotor", "fixedwing", "aerosonde"])
def test_pulse_widths_are_logged_as_fractions_of_actuator_range(name: str) -> None:
    for actuator in vehicle(name).actuators:
        low = 0.0 if actuator.is_motor else -1.0
        assert (actuator.command(1000.0), actuator.command(2000.0)) == (low, 1.0)
