"""Short form of `make determinism`: hashes of all topics, in fresh processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.determinism import CASES, MULTIROTOR, Case, equality, with_outside_subscriber
from proof.topic_digests import differing

pytestmark = pytest.mark.timeout(400)

SECONDS = 3.0
STEP_S = 0.01

LONG_STEPS = ("-p", f"step_size:={STEP_S}")
# The IMU need not be calibrated, which takes 1,001 steps: the vehicle flies.
CALIBRATED = (
    *("-p", "acc_bias_range:=0.0", "-p", "gyro_bias_range:=0.0"),
    *("-p", 'firmware_parameters:=["FILT_INIT_T 0", "GYRO_X_BIAS 0.003", "GYRO_Y_BIAS -0.002", "GYRO_Z_BIAS 0.001"]'),
)


def test_runs_publish_the_same_messages_and_end_at_the_same_step(ros_domain: int, tmp_path: Path) -> None:
    case = Case(MULTIROTOR.name, (*MULTIROTOR.arguments, *LONG_STEPS, *CALIBRATED))
    plain = case.flown(seconds=SECONDS)
    assert plain.end_s == SECONDS
    # The last step is complete: from time 0 on, one message per step.
    steps = round(SECONDS / STEP_S) + 1
    counts = {topic: count for topic, (count, _) in plain.digests.items()}
    assert counts["/clock"] == counts["/sim/sensors/imu/data"] == counts["/sim/pwm_output"] == steps
    assert counts["/sim/truth_state"] == steps + 1
    file = tmp_path / "recorded.mcap"
    recorded = Case("with the recorder", (*case.arguments, "--record", str(file)))
    run, text = with_outside_subscriber(recorded, SECONDS, tmp_path)
    row = equality("with the recorder and a subscriber to every topic in another process", "", plain, run, text)
    assert row.holds, row.measured
    assert file.stat().st_size > 0
    other = case.flown("--seed", "8", seconds=SECONDS)
    assert "/sim/truth_state" in differing(plain.digests, other.digests)


@pytest.mark.parametrize("name", ["swarm (four multirotors), ROSflight", "bluerov2, auv_autopilot"])
def test_vehicles_repeat_their_flights(ros_domain: int, name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    # Images take most of the time.
    options = (*LONG_STEPS, "-p", "frame_rate:=1.0") if "auv" in name else (*LONG_STEPS, *CALIBRATED)
    first, second = case.flown(*options, seconds=SECONDS), case.flown(*options, seconds=SECONDS)
    assert differing(first.digests, second.digests) == []
    assert len(first.digests) > 20


def test_topics_of_one_run_only_are_differences() -> None:
    assert differing({"/a": (1, "x"), "/b": (1, "x")}, {"/a": (1, "y"), "/c": (1, "x")}) == ["/a", "/b", "/c"]
