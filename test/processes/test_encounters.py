"""Vehicles that meet fly equal to the bit in one process and with one process per node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosflight_msgs.msg import SimState

from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(240)

TIMEOUT_S = 120.0
SECONDS = 0.4

# One above the other, so that they are pushed apart, and the rotors of each, which turn in the wind, move some air.
SCENARIO = """\
description: two multirotors that touch as they fall
parameters: {collision_radius: 0.45, downwash: true, sim_has_wind: true, use_random_wind: false,
             steady_state_wind: [3.0, 0.0, -9.0]}
vehicles:
  - {name: one, kind: multirotor, start: {position: [0.0, 0.0, -50.0]}}
  - {name: two, kind: multirotor, start: {position: [0.3, 0.1, -50.6]}}
"""
STARTS = {"one": ([0.0, 0.0], 50.0), "two": ([0.3, 0.1], 50.6)}
# A process that gets no processor time for two of these timeouts counts as lost.
PATIENT = ("-p", "stall_timeout:=5.0")
NODES = ("standalone_dynamics", "multirotor_forces_and_moments", "sil_board", "standalone_sensors")


def test_separate_processes_fly_as_one_process_does(processes: Any, tmp_path: Path) -> None:
    scenario, recording = tmp_path / "meeting.yaml", tmp_path / "one.mcap"
    scenario.write_text(SCENARIO, encoding="utf-8")
    pace = ("--real-time-multiplier", "0")
    run = processes.command(
        "sim", "--scenario", str(scenario), "--record", str(recording), "--duration", str(SECONDS), *pace
    )
    assert run.wait(TIMEOUT_S) == 0, run.stderr
    recorded = read_recording(recording, lambda topic, type_name: 10**7).topics
    together = {
        name: {
            state.time_ns: state.truth.tobytes()
            for state in map(TRUTH_STATE.decode, recorded[f"/{name}/sim/truth_state"].messages)
        }
        for name in STARTS
    }
    assert recorded["/contacts"].messages

    observer = processes.observer(truth="none")
    apart: dict[str, dict[int, bytes]] = {name: {} for name in STARTS}
    deep = QoSProfile(depth=10000, reliability=ReliabilityPolicy.RELIABLE)
    for name in STARTS:

        def on_truth(message: bytes, name: str = name) -> None:
            state = TRUTH_STATE.decode(message)
            apart[name][state.time_ns] = state.truth.tobytes()

        observer.node.create_subscription(SimState, f"/{name}/sim/truth_state", on_truth, deep, raw=True)
    common = ["--params-file", str(vehicle("multirotor").parameter_file), "-p", "use_sim_time:=true"]
    common += ["-p", "time_mode:=lockstep"]
    meeting = ["-p", "collision_radius:=0.45", "-p", "downwash:=true", "-p", "starts_on_ground:=false"]
    meeting += ["-p", "sim_has_wind:=true", "-p", "use_random_wind:=false", "-p", "steady_state_wind:=[3.0, 0.0, -9.0]"]
    for name, (position, altitude) in STARTS.items():
        start = ["-p", f"initial_position:={position}", "-p", f"initial_altitude:={altitude}"]
        for executable in NODES:
            own = (
                [*meeting, *start]
                if executable == NODES[0]
                else ["-p", "downwash:=true"]
                if executable == NODES[1]
                else []
            )
            processes.node(executable, *common, "-r", f"__ns:=/{name}", *own)
    lists = ("colliding", "downwash_sources", "downwash_receivers")
    served = [word for one in lists for word in ("-p", f"{one}:=[two, one]")]
    processes.node("encounters", "-p", "use_sim_time:=true", "-p", "time_mode:=lockstep", *served)
    processes.node(
        "lockstep_time_manager", *common, "-p", "vehicles:=[one, two]", "-p", "real_time_multiplier:=1.0", *PATIENT
    )
    end_ns = round(SECONDS * 0.9e9)
    observer.wait_for(lambda: all(max(one, default=0) >= end_ns for one in apart.values()), "the flight", TIMEOUT_S)
    for name in STARTS:
        shared = together[name].keys() & apart[name].keys()
        assert len(shared) > 100
        assert [stamp for stamp in shared if together[name][stamp] != apart[name][stamp]] == []
