"""A vehicle that does not take off: its run ends with the reason, without ROS and in the graph."""

from __future__ import annotations

from pathlib import Path

from short_flights import flown_directly
from test_pipeline_flight import flown_in_graph

from rosflight_py_sim.sweep.sweep_file import read_sweep


def test_vehicle_that_does_not_leave_the_ground_ends_alike_with_and_without_ros(
    tmp_path: Path, ros_domain: int
) -> None:
    file = tmp_path / "weak.yaml"
    file.write_text(
        """
description: A plane with an empty battery
vehicle: anaconda
runs: 1
seed: 3
limit: 1500.0
parameters:
  V_max: {choice: [6.0]}
  take_off_timeout: 20.0
measures: {rms: judge.tracking_error_rms_m}
""",
        encoding="utf-8",
    )
    row = flown_directly(read_sweep(file))
    assert not row.succeeded
    assert row.reason == (
        "take off: the vehicle does not leave the ground: the time with a running motor is 20.02 s; allowed: at most "
        "20 s (take_off_timeout)"
    )
    assert flown_in_graph(file, 0, ros_domain).reason == row.reason
