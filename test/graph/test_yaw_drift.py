"""Drift of the estimated yaw in a recording, and its explanation in the report."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.recording.mcap_file import Recording, read_recording
from rosflight_py_sim.recording.recorded_vehicle import recorded_vehicles
from rosflight_py_sim.recording.yaw_drift import YawDrift, yaw_drift
from rosflight_py_sim.step.topics import ATTITUDE_EULER, EXTERNAL_ATTITUDE
from rosflight_py_sim.viewer.report_panels import PanelData, panels
from rosflight_py_sim.world import DRY_LAND

LENGTH_S = 15.0
# Warmth integrated over time, K s: the IMU warms by 21 K with a time constant of 120 s, from the calibration on.
WARMTH_KS = 21.0 * (LENGTH_S - 120.0 * (1.0 - math.exp(-LENGTH_S / 120.0)))

Make = Callable[..., Any]


def at_rest(make: Make, path: Path, *settings: str) -> Recording:
    """Recorded run at rest, with the IMU calibrated at its start."""
    one = make("--ros-args", *(word for setting in settings for word in ("-p", setting)), record=str(path))
    one.ready().calibrate()
    one.spin_for(LENGTH_S)
    one.close()
    return read_recording(path, lambda topic, type_name: 10**5)


def drift_of(recording: Recording) -> YawDrift | None:
    (vehicle,) = recorded_vehicles(recording)
    return yaw_drift(vehicle, vehicle.motion())


def test_drift_of_the_estimated_yaw_is_explained_by_the_gyro_biases(graph: Make, tmp_path: Path) -> None:
    recording = at_rest(graph, tmp_path / "run.mcap", "gyro_bias_temperature_range:=0.0028")
    drift = drift_of(recording)
    assert drift is not None and drift.expected is not None
    assert 2.0 < drift.first_s < 5.0 and drift.last_s - drift.first_s == pytest.approx(LENGTH_S, abs=1.0)
    # The coefficient is drawn from plus or minus 0.0028 rad/s/K; the warm-up bias of 0.001 rad/s decays with 400 s.
    assert 0.1 < abs(np.degrees(drift.drift)) < np.degrees(0.0028 * WARMTH_KS) + 0.1
    # The calibration averages 1001 noisy samples: 7e-5 rad/s.
    assert drift.expected == pytest.approx(drift.drift, abs=4.0 * 7e-5 * LENGTH_S)
    (vehicle,) = recorded_vehicles(recording)
    drawn = panels(PanelData(vehicle, vehicle.motion(), DRY_LAND, None))
    assert next(panel for panel in drawn if "Attitude" in panel.title).note == drift.text
    # An external attitude, which corrects the yaw.
    recording.topics[f"/{EXTERNAL_ATTITUDE.name}"] = recording.topics[f"/{ATTITUDE_EULER.name}"]
    assert drift_of(recording) is None


def test_gyro_of_constant_bias_lets_the_estimated_yaw_drift_by_its_noise_only(graph: Make, tmp_path: Path) -> None:
    settings = ("gyro_bias_temperature_range:=0.0", "gyro_bias_model_z0:=0.0")
    drift = drift_of(at_rest(graph, tmp_path / "run.mcap", *settings))
    assert drift is not None and drift.expected is not None
    assert abs(np.degrees(drift.expected)) < 0.1
    # Four times the calibration's error, and the random walk of the noise: 0.000105 rad/s/sqrt(Hz) over 15 s.
    assert abs(drift.drift) < 4.0 * (7e-5 * LENGTH_S + 0.000105 * math.sqrt(LENGTH_S))


def test_text_names_cause_times_drift_and_expectation() -> None:
    text = YawDrift(2.5, 52.0, math.radians(21.84), math.radians(21.41)).text
    assert "no magnetometer in its loop" in text
    assert "From 2.5 s to 52.0 s its error changed by +21.8 deg. Expected: +21.4 deg" in text
    assert "unknown without sim/truth_imu_bias" in YawDrift(2.5, 52.0, 0.1, None).text
