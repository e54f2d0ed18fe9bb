"""Vehicles under ArduPilot: its channels move the vehicle as ArduPilot intends.

Motors and servos follow ArduPilot's documentation (copter.ardupilot.org, Connect ESCs and Motors; plane.ardupilot.org,
Normal, Elevon; ardusub.com, frames): a higher servo output rolls right, pitches up and yaws right.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from rosflight_py_sim.bridge.ardupilot_front_end import ArduPilotFrontEnd
from rosflight_py_sim.bridge.output_map import OutputMap
from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.graph.flight_controllers import FLIGHT_CONTROLLERS, instructions
from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.surface_mix import SURFACE_MIX_PARAMETERS, mixer_of_values
from rosflight_py_sim.vehicles import vehicle
from test.bridge.logged_lines import LoggedLines

CHANNELS = 16
NAMES = [str(channel + 1) for channel in range(CHANNELS)]
LONG_S = 10.0
"""Long enough for all lags to decay, s."""


def files(name: str) -> list[Path]:
    return [vehicle(name).parameter_file, *FLIGHT_CONTROLLERS["ardupilot"].files_for(vehicle(name))]


def values(table: ParameterTable, paths: list[Path]) -> Any:
    return given_values(table, paths, "forces_and_moments", "", "none")


def outputs(name: str, channels_us: list[float]) -> NDArray[np.float64]:
    """Outputs (14,) for the first of 16 channels; ArduPilot does not use the others."""
    rest = (0,) * (CHANNELS - len(channels_us))
    return np.array(output_map(name).outputs((*map(round, channels_us), *rest)), dtype=np.float64)


@cache
def output_map(name: str) -> OutputMap:
    bridge = yaml.safe_load(files(name)[1].read_text(encoding="utf-8"))["/**/bridge"]["ros__parameters"]
    return OutputMap("outputs", bridge["ardupilot.outputs"], bridge["ardupilot.no_output"], NAMES)


def truth(*, forward: float = 0.0, down: float = -100.0) -> NDArray[np.float64]:
    state = np.zeros(19)
    state[2], state[3], state[7] = down, 1.0, forward
    return state


# ArduCopter's motors 1 to 4 of quad x: position (forward, right), and whether they turn counterclockwise.
QUAD_X = [((1, 1), True), ((-1, -1), True), ((1, -1), False), ((-1, 1), False)]


@pytest.mark.parametrize(
    ("command", "axis"),
    [((100.0, 0.0, 0.0), 0), ((0.0, 100.0, 0.0), 1), ((0.0, 0.0, 100.0), 2)],
    ids=["roll", "pitch", "yaw"],
)
def test_quad_x_rotates_as_arducopter_commands(command: tuple[float, float, float], axis: int) -> None:
    roll, pitch, yaw = command
    # More thrust on the left rolls right, in front pitches up; counterclockwise propellers turn the vehicle right.
    channels = [
        1500.0 - roll * right + pitch * forward + yaw * (1 if counterclockwise else -1)
        for (forward, right), counterclockwise in QUAD_X
    ]
    copter = Multirotor(values(MULTIROTOR_PARAMETERS, files("multirotor")))
    # The rotors follow outputs from their instant on.
    for _ in range(2):
        wrench = copter.update(truth(), np.zeros(3), outputs("multirotor", channels), LONG_S)
    moments = wrench[3:]
    assert wrench[2] < 0.0
    assert moments[axis] > 0.01
    # The other moments are rounding errors.
    assert np.abs(np.delete(moments, axis)).max() < 1e-9 * abs(wrench[2])


@cache
def plane_values(name: str, overlays: tuple[Path, ...]) -> tuple[Any, Any]:
    """Values of the model of the forces, and of the mixer."""
    paths = [*files(name), *overlays]
    return values(FIXEDWING_PARAMETERS, paths), values(SURFACE_MIX_PARAMETERS, paths)


def plane_moments(name: str, channels: list[float], overlays: list[Path]) -> NDArray[np.float64]:
    """Wrench of a plane in straight flight at 20 m/s."""
    forces, mix = plane_values(name, tuple(overlays))
    plane = FixedWing(forces)
    mixer = mixer_of_values(mix)
    assert mixer is not None
    plane.set_mixer(mixer)
    driven = outputs(name, channels)
    # The battery's voltage follows from the motor's previous speed: repeat until both settle.
    for _ in range(100):
        wrench = plane.update(truth(forward=20.0), np.zeros(3), driven, 0.02)
    return wrench.copy()


PLANES = ["anaconda", "aerosonde"]
LEVEL = [1500.0, 1500.0, 1500.0, 1500.0]


@pytest.mark.parametrize("name", PLANES)
@pytest.mark.parametrize(("channel", "axis"), [(0, 3), (1, 4), (3, 5)], ids=["aileron", "elevator", "rudder"])
def test_higher_pulses_roll_right_pitch_up_and_yaw_right(name: str, channel: int, axis: int) -> None:
    moved = list(LEVEL)
    moved[channel] += 200.0
    change = plane_moments(name, moved, []) - plane_moments(name, LEVEL, [])
    assert change[axis] > 0.1
    # Ailerons also yaw a little, and a rudder rolls; the intended effect is the largest.
    assert np.argmax(np.abs(change[3:])) == axis - 3


@pytest.mark.parametrize("name", PLANES)
def test_channel_three_is_throttle(name: str) -> None:
    thrusts = [plane_moments(name, [1500.0, 1500.0, us, 1500.0], [])[0] for us in (1000.0, 1700.0, 2000.0)]
    # A propeller too slow for 20 m/s produces no thrust.
    assert thrusts[0] < thrusts[1] - 1.0 < thrusts[2] - 2.0


ELEVON = [share_directory() / "config" / "ardupilot" / "elevon.yaml"]


@pytest.mark.parametrize("name", PLANES)
@pytest.mark.parametrize(
    ("left", "right", "axis"), [(200.0, 200.0, 4), (-200.0, 200.0, 3)], ids=["both", "left down, right up"]
)
def test_elevons_move_together_for_pitch_and_opposite_for_roll(name: str, left: float, right: float, axis: int) -> None:
    # ArduPlane's SERVO1_FUNCTION 77 and SERVO2_FUNCTION 78: left is elevator - aileron, right is elevator + aileron.
    still = plane_moments(name, LEVEL, ELEVON)
    change = plane_moments(name, [1500.0 + left, 1500.0 + right, 1500.0, 1500.0], ELEVON) - still
    assert change[axis] > 0.1
    # The same moments as with aileron or elevator alone.
    single = list(LEVEL)
    single[axis - 3] += 200.0
    plain = plane_moments(name, single, []) - plane_moments(name, LEVEL, [])
    assert change[3:] == pytest.approx(plain[3:], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", PLANES)
def test_plane_with_elevons_has_no_rudder(name: str) -> None:
    turned = plane_moments(name, [1500.0, 1500.0, 1500.0, 1900.0], ELEVON)
    assert np.array_equal(turned, plane_moments(name, LEVEL, ELEVON))


# ArduSub's frame "vectored": axis of the wrench, and factors of motors 1 to 6, for each command.
VECTORED = {
    "roll": (3, [0, 0, 0, 0, 1, -1]),
    "yaw": (5, [1, -1, -1, 1, 0, 0]),
    "up": (2, [0, 0, 0, 0, -1, -1]),
    "forward": (0, [-1, -1, 1, 1, 0, 0]),
    "right": (1, [1, -1, 1, -1, 0, 0]),
}


@pytest.mark.parametrize("command", VECTORED)
def test_vectored_frame_moves_as_ardusub_commands(command: str) -> None:
    axis, factors = VECTORED[command]
    sub = Auv(values(AUV_PARAMETERS, files("bluerov2")))

    def wrench(size: float) -> NDArray[np.float64]:
        channels = [1500.0 + size * factor for factor in factors]
        # The thrusters follow outputs from their instant on.
        sub.update(truth(down=5.0), np.zeros(3), outputs("bluerov2", channels), 0.0)
        return sub.update(truth(down=5.0), np.zeros(3), outputs("bluerov2", channels), LONG_S).copy()

    change = wrench(200.0) - wrench(0.0)
    assert change[axis] * (-1.0 if command == "up" else 1.0) > 1.0
    # Thrusters are weaker in reverse: a command has side effects, all smaller than the intended effect.
    assert np.argmax(np.abs(change[:3] if axis < 3 else change[3:])) == axis % 3


def flown_by(controller: str, members: list[Member]) -> list[Member]:
    return [replace(one, flight_controller=controller) for one in members]


def test_each_fleet_vehicle_has_ardupilot_instance_on_matching_bridge_port() -> None:
    members = flown_by("ardupilot", fleet(vehicle("multirotor"), count=3, seed=0))
    (alone,) = instructions([Member(vehicle("multirotor"), flight_controller="ardupilot")])
    assert " -I " not in alone
    assert instructions(members) == [f"multirotor_{k + 1}, {alone} -I {k}" for k in range(3)]
    bridge = ArduPilotFrontEnd(
        ArduPilotFrontEnd.PARAMETERS.checked({}), LoggedLines(), [member.namespace for member in members]
    )
    # ArduPilot started with -I N sends to UDP port 9002 + 10 N.
    assert [bridge.peer(k) for k in range(3)] == [f"ArduPilot on UDP 127.0.0.1:{9002 + 10 * k}" for k in range(3)]


def test_one_command_serves_a_fleet_on_a_shared_socket() -> None:
    members = fleet(vehicle("uthere"), count=2, seed=0)
    (line,) = instructions(members)
    assert instructions([Member(vehicle("uthere"))]) == [line]
    assert instructions(flown_by("sil_board", members)) == []


def test_each_vehicle_of_different_kinds_has_its_own_instructions() -> None:
    members = [
        Member(vehicle("uthere"), "plane"),
        Member(vehicle("multirotor"), "copter", flight_controller="ardupilot"),
        Member(vehicle("auv"), "auv"),
        Member(vehicle("multirotor"), "second", flight_controller="ardupilot"),
    ]
    plane, copter, second = instructions(members)
    assert plane == "in another terminal: rosflight_py_sim hand-over; rosflight_py_sim uthere-terminal"
    assert copter.startswith("copter, in another terminal: sim_vehicle.py -v ArduCopter ")
    # Instance numbers, like the bridge's ports, count only vehicles flown by ArduPilot.
    assert copter.endswith(" -I 0")
    assert second.endswith(" -I 1")
    values = ArduPilotFrontEnd.PARAMETERS.checked({})
    observed = {0: "uthere", 2: "auv_zeromq"}
    bridge = ArduPilotFrontEnd(values, LoggedLines(), [member.namespace for member in members], observed)
    assert [bridge.peer(k).rpartition(":")[2] for k in range(4)] == ["9022", "9002", "9032", "9012"]


def level_flight(given: Any, *, tilt: float | None = None, speed: float | None = None) -> tuple[float, float]:
    """Tilt (rad) and airspeed (m/s) of steady level flight or hover in wind, of which one is given; by Newton's method.

    The copter flies forward, at the density of sea level, and weighs 3.5 kg.
    """
    weight = 3.5 * 9.81

    def force(unknown: NDArray[np.float64]) -> NDArray[np.float64]:
        """Force forward and down, N, at a pulse width (us) and the unknown one of tilt and speed."""
        angle = unknown[1] if tilt is None else tilt
        airspeed = unknown[1] if speed is None else speed
        body = np.array([airspeed * np.cos(angle), 0.0, -airspeed * np.sin(angle)])
        state = truth()
        state[3:7] = np.cos(angle / 2.0), 0.0, -np.sin(angle / 2.0), 0.0
        state[7:10] = body
        # A new one, with a full battery, whose rotors follow the outputs once these are in force.
        copter, pulses = Multirotor(given), outputs("multirotor", [unknown[0]] * 4)
        copter.update(state, np.zeros(3), pulses, 0.0)
        fx, _, fz = copter.update(state, np.zeros(3), pulses, LONG_S)[:3]
        return np.array([fx * np.cos(angle) - fz * np.sin(angle), fx * np.sin(angle) + fz * np.cos(angle) + weight])

    found = np.array([1500.0, 0.1 if tilt is None else 15.0])
    # Pulses are whole microseconds.
    step = np.array([20.0, 0.01 if tilt is None else 0.5])
    for _ in range(30):
        error = force(found)
        slope = np.column_stack([(force(found + d) - error) / d.max() for d in np.diag(step)])
        found = found - 0.5 * np.linalg.solve(slope, error)
    assert np.abs(force(found)).max() < 0.2
    return (found[1] if tilt is None else tilt), (found[1] if speed is None else speed)


def test_copter_leans_and_flies_as_real_ones_of_its_size() -> None:
    copter = {**values(MULTIROTOR_PARAMETERS, files("multirotor")), "origin_altitude": 0.0}
    # ArduPilot's model of a quadrotor leans 5.5 degrees in a turbulent wind of 5 m/s.
    assert 3.0 < np.degrees(level_flight(copter, speed=5.0)[0]) < 6.0
    # DJI's Matrice 30 flies 23 m/s at 35 degrees, its Inspire 2 26 m/s at 40; both have smooth bodies.
    assert 20.0 < level_flight(copter, tilt=np.radians(35.0))[1] < 23.5
    assert 22.0 < level_flight(copter, tilt=np.radians(40.0))[1] < 26.5
