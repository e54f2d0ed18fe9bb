"""The mission's state machine, flown by a vehicle without position error."""

from __future__ import annotations

import itertools

import pytest

from rosflight_py_sim.autopilot.mission import MISSION_PARAMETERS, Mission, Phase
from rosflight_py_sim.autopilot.setpoint import Setpoint
from rosflight_py_sim.ground.parameters import Value

REST = (0.0, 0.0, 0.0)
DT = 0.01


def mission(**changed: Value) -> Mission:
    return Mission(MISSION_PARAMETERS.checked(changed))


def fly(subject: Mission, start_s: float = 0.0, ground: float = 0.0) -> list[tuple[float, Phase, Setpoint, float]]:
    """Time, phase, setpoint and progress of each step of a flight without error; it cannot sink below the ground."""
    time, position, velocity = start_s, (0.0, 0.0, ground), REST
    subject.start(time, position, 0.3)
    rows = []
    while subject.phase is not Phase.DONE:
        setpoint = subject.setpoint(time, position, velocity)
        north, east, down = setpoint.position_ned
        stands = down >= ground
        position, velocity = (north, east, min(down, ground)), REST if stands else setpoint.velocity_ned
        rows.append((time, subject.phase, setpoint, subject.progress))
        time += DT
        assert time < start_s + 200.0, "the mission does not end"
    return rows


def test_mission_runs_through_all_phases_and_ends() -> None:
    phases = [phase for _, phase, _, _ in fly(mission())]
    assert list(dict.fromkeys(phases)) == list(Phase)[1:]
    assert phases == sorted(phases)


def test_mission_holds_vehicle_position_until_started() -> None:
    subject = mission()
    assert subject.setpoint(3.0, (1.0, 2.0, 0.1), REST).position_ned == (1.0, 2.0, 0.1)
    assert subject.phase is Phase.WAIT
    assert not subject.thrust_on
    subject.start(3.5, (1.0, 2.0, 0.1), 0.0)
    assert subject.thrust_on
    with pytest.raises(RuntimeError, match="already begun: take off"):
        subject.start(4.0, REST, 0.0)


def test_reference_is_continuous_and_respects_speed_limits() -> None:
    rows = fly(mission())
    for (_, phase, before, _), (_, following, after, _) in itertools.pairwise(rows):
        if following is Phase.DONE:
            break
        step = sum((a - b) ** 2 for a, b in zip(after.position_ned, before.position_ned, strict=True)) ** 0.5
        assert step <= 2.0 * DT + 1e-9, phase


def test_square_passes_its_corners_at_height_above_start() -> None:
    subject = mission(square_side=4.0, square_height=3.0)
    rows = fly(subject, ground=0.25)
    assert subject.corners_ned == ((0.0, 0.0, -2.75), (4.0, 0.0, -2.75), (4.0, 4.0, -2.75), (0.0, 4.0, -2.75))
    on_square = [setpoint for _, phase, setpoint, _ in rows if phase.on_path]
    for corner in subject.corners_ned:
        assert any(setpoint.position_ned == pytest.approx(corner, abs=1e-12) for setpoint in on_square)
    assert {setpoint.position_ned[2] for setpoint in on_square} == {-2.75}
    assert {setpoint.yaw_rad for _, _, setpoint, _ in rows} == {0.3}


def test_progress_rises_linearly_from_0_to_1() -> None:
    subject = mission()
    rows = fly(subject, start_s=12.0)
    progress = [row[3] for row in rows]
    assert progress[0] < 0.01
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert max(b - a for a, b in itertools.pairwise(progress[:-1])) < 0.01
    # The landing ends before its nominal leg does, which aims below the ground.
    assert rows[-1][0] - 12.0 == pytest.approx(subject.nominal_duration_s, rel=0.1)


def test_mission_waits_for_lagging_vehicle() -> None:
    subject = mission()
    subject.start(0.0, REST, 0.0)
    for step in range(6000):
        subject.setpoint(step * DT, REST, REST)
    assert subject.phase is Phase.TAKE_OFF
    assert subject.progress < 0.3
    subject.setpoint(60.0, (0.0, 0.0, -4.5), REST)
    assert subject.phase is Phase.SIDE_1


def test_low_vehicle_still_descending_has_not_landed() -> None:
    subject = mission()
    time = 0.0
    subject.start(time, REST, 0.0)
    position = REST
    while subject.phase is not Phase.LAND:
        position = subject.setpoint(time, position, REST).position_ned
        time += DT
    for _ in range(100):
        subject.setpoint(time, (0.0, 0.0, -0.1), (0.0, 0.0, 0.3))
        time += DT
    assert subject.phase is Phase.LAND
    for _ in range(9):
        subject.setpoint(time, (0.0, 0.0, 0.0), REST)
        time += DT
    assert subject.phase is Phase.LAND, "a tenth of a second of standing still is asked for"
    for _ in range(3):
        subject.setpoint(time, (0.0, 0.0, 0.0), REST)
        time += DT
    assert subject.phase is Phase.DONE
    assert subject.progress == 1.0
    assert not subject.thrust_on


def test_phase_labels_are_readable() -> None:
    assert [phase.label for phase in (Phase.TAKE_OFF, Phase.SIDE_3)] == ["take off", "side 3"]
    assert [phase for phase in Phase if phase.on_path] == [Phase.SIDE_1, Phase.SIDE_2, Phase.SIDE_3, Phase.SIDE_4]
