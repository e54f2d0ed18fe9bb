"""ArduPilot's stand-in flies by frames and replies alone: climb, hover, out and back, landing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ardupilot_flights import StandInProcess, run_until_over
from free_ports import free_ports

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(300)

COPTER_PHASES = ["arming", "take off", "hover", "away", "back", "land", "landed"]
PLANE_PHASES = ["arming", "roll", "climb", "downwind", "final", "flare", "roll out", "landed"]

# Lower rates than ArduCopter's, 400 Hz, and ArduPlane's, about 1200 Hz, which would take longer in proportion.
FLIGHTS = [("copter", 50, 50), ("plane", 50, 50), ("elevon", 50, 50)]

# Two vehicles, with fewer steps than in reality and faster than real time, for the same reason.
SHARED_HZ, PACE = 50, 4.0

LONG_STEPS = ("-p", "ardupilot.max_step:=0.02")

VEHICLES = {"copter": "multirotor", "plane": "anaconda", "elevon": "anaconda"}


@pytest.fixture
def stand_in() -> Iterator[Callable[..., StandInProcess]]:
    """A function that starts a stand-in; it ends with the test."""
    started: list[StandInProcess] = []

    def start(vehicle_name: str, port: int, *options: str) -> StandInProcess:
        started.append(StandInProcess(vehicle_name, port, *options))
        return started[-1]

    yield start
    for one in started:
        one.close()


def check_copter(flight: dict[str, Any]) -> None:
    assert flight["phases"] == COPTER_PHASES
    assert flight["distance_m"] > 20.0
    # The commanded height is 5 m. The copter overshoots by some decimetres and returns slowly.
    assert 4.5 < flight["hover_m"][0] < flight["hover_m"][1] < 6.0
    assert flight["off_m"] < 1.0
    assert 0.0 < flight["sink_mps"] < 1.5


def check_plane(flight: dict[str, Any]) -> None:
    assert flight["phases"] == PLANE_PHASES
    # The corners of the circuit are 160 m away, and the plane rolls out on the line where it started.
    assert 140.0 < flight["distance_m"] < 250.0
    assert 11.0 < flight["height_m"] < 16.0
    assert flight["off_m"] < 220.0
    assert 0.0 < flight["sink_mps"] < 1.5


def check_conversation(flight: dict[str, Any], step_s: float) -> None:
    """Check that each frame was one step and that ArduPilot's clock followed."""
    assert flight["landed"]
    assert flight["time_s"] == pytest.approx(flight["frames"] * step_s, abs=1e-6)
    # The first reply only sets the clock.
    assert flight["clock_s"] == pytest.approx((flight["frames"] - 1) * step_s, abs=1e-6)
    assert flight["physics_resets"] == flight["long_steps"] == 0
    # A second reply to a frame would put it one frame behind. It resends frames only on a very busy machine.
    assert flight["frozen"] <= flight["resent"]
    assert flight["rate_hz"] == pytest.approx(1.0 / step_s, abs=1.0)


@pytest.mark.parametrize(("kind", "rate_hz", "boot_frames"), FLIGHTS)
def test_flight_at_maximum_speed(
    graph: Callable[..., Any], stand_in: Callable[..., StandInProcess], kind: str, rate_hz: int, boot_frames: int
) -> None:
    (port,) = free_ports()
    files = [str(share_directory() / "config" / "ardupilot" / "elevon.yaml")] if kind == "elevon" else []
    options = {"vehicle_name": VEHICLES[kind], "files": files, "flight_controller": "ardupilot"}
    flown = graph("-p", f"ardupilot.port:={port}", *LONG_STEPS, **options)
    program = stand_in(kind, port, "--rate", str(rate_hz), "--boot-frames", str(boot_frames))
    run_until_over(flown, program)
    flight = program.summary()
    check_conversation(flight, 1.0 / rate_hz)
    (check_copter if kind == "copter" else check_plane)(flight)
    # The graph has taken as many steps as there were replies, and the vehicle is where the stand-in believes it is.
    flown.idle(0.1)
    assert flown.time_s == pytest.approx(flight["time_s"], abs=1.01 / rate_hz)
    counters = flown.node("bridge").front_ends["ardupilot"].counters
    assert counters["steps"] in (flight["frames"], flight["frames"] + 1)
    assert counters["lost_frames"] == counters["late_frames"] == counters["restarts"] == 0
    position, speed_mps = flown.truth.pose.position, flown.truth.twist.linear.x
    off_m = math.hypot(position.x, position.y) - speed_mps * (flown.time_s - flight["time_s"])
    assert off_m == pytest.approx(flight["off_m"], abs=0.01)


def test_copter_and_plane_share_one_simulation_no_faster_than_asked(
    graph: Callable[..., Any], stand_in: Callable[..., StandInProcess]
) -> None:
    port, _ = free_ports(2, apart=10)
    # One bridge maps outputs to channels for both vehicles; the copter's rotors are therefore in ArduCopter's order.
    quad_x = {"rotor_radial_angles": [45.0, 225.0, 315.0, 135.0], "rotor_rotation_directions": [-1, -1, 1, 1]}
    members = [
        Member(vehicle("multirotor"), "copter", quad_x),
        Member(vehicle("anaconda"), "plane", {"initial_position": [0.0, 40.0]}),
    ]
    outputs = [str(channel) for channel in range(1, 15)]
    arguments = ["-p", f"ardupilot.port:={port}", "-p", f"ardupilot.outputs:={outputs}", *LONG_STEPS]
    flown = graph(*arguments, vehicles=members, flight_controller="ardupilot", multiplier=PACE)
    # The copter's stand-in paces itself, as ArduPilot does; the plane's leaves the pace to the time manager.
    boot = ("--rate", str(SHARED_HZ), "--boot-frames", "50")
    copter = stand_in("copter", port, "--instance", "0", "--speedup", f"{PACE:g}", *boot, "--linger")
    plane = stand_in("plane", port, "--instance", "1", *boot)
    began_s = time.monotonic()
    run_until_over(flown, plane)
    wall_s = time.monotonic() - began_s
    copter.process.terminate()
    run_until_over(flown, copter)
    flights = copter.summary(), plane.summary()
    check_copter(flights[0])
    check_plane(flights[1])
    for flight in flights:
        check_conversation(flight, 1.0 / SHARED_HZ)
    # Never faster; how much slower depends on the machine.
    assert wall_s > 0.98 * flights[1]["time_s"] / PACE
