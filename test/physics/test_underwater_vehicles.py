"""The package's underwater vehicles: they float, move as their outputs are named, and reach their speeds."""

import math

import numpy as np
import pytest
from underwater import DT, Underwater, commands, state

from rosflight_py_sim.commands.vehicle_models import steady_vehicle
from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.vehicles import names_of_vehicles, vehicle

NAMES = names_of_vehicles(lambda one: one.forces_and_moments == "auv_forces_and_moments")

# ArduSub's frame "Vectored" (FRAME_CONFIG 1): what each output does at a positive command, as factors of roll, pitch,
# yaw, throttle (up), forward and lateral (to starboard).
VECTORED = [
    (0, 0, 1, 0, -1, 1),
    (0, 0, -1, 0, -1, -1),
    (0, 0, -1, 0, 1, 1),
    (0, 0, 1, 0, 1, -1),
    (1, 0, 0, -1, 0, 0),
    (-1, 0, 0, -1, 0, 0),
]


def moved(name, *given, seconds=4.0):
    """Position and attitude changes of a vehicle that starts deep and follows thruster commands."""
    vehicle = Underwater(name, ground_altitude=-50.0, world="")
    vehicle.body.set_truth(state(20.0))
    vehicle.pulses = commands()
    vehicle.run(seconds)
    before = vehicle.body.truth.copy()
    vehicle.pulses = commands(*given)
    vehicle.run(seconds)
    return (
        vehicle.body.truth[:3] - before[:3],
        euler_from_quaternion(*vehicle.body.truth[3:7]),
        vehicle.body.truth[7:13],
    )


def thrust_wrench(name, output):
    """Wrench of one thruster at full positive command, without buoyancy."""
    vehicle = Underwater(name, world="")
    still = vehicle.forces.update(state(20.0), np.zeros(3), commands(), 0.0).copy()
    given = np.zeros(output + 1)
    given[output] = 1.0
    at_once = vehicle.forces.update(state(20.0), np.zeros(3), commands(*given), 0.0)
    assert np.array_equal(at_once, still)
    return vehicle.forces.update(state(20.0), np.zeros(3), commands(*given), 100.0) - still


def test_package_has_two_underwater_vehicles():
    assert set(NAMES) == {"auv", "bluerov2"}


@pytest.mark.parametrize("name", NAMES)
def test_each_thruster_is_a_servo_output_of_the_vehicle(name):
    actuators = vehicle(name).actuators
    assert [actuator.output for actuator in actuators] == list(range(len(Underwater(name).forces.thrusts)))
    assert not any(actuator.is_motor for actuator in actuators)


@pytest.mark.parametrize("name", NAMES)
def test_vehicle_starts_at_its_floating_position(name):
    vehicle = Underwater(name, world="")
    start = vehicle.body.truth.copy()
    vehicle.run(30.0)
    # The vehicle file gives the waterline to a tenth of a millimetre.
    assert vehicle.body.truth[:7] == pytest.approx(start[:7], abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_vehicle_is_slightly_buoyant_and_self_righting(name):
    vehicle = Underwater(name, world="", ground_altitude=-50.0)
    vehicle.body.set_truth(state(20.0, (math.cos(1.2), math.sin(1.2), 0.0, 0.0)))
    vehicle.run(30.0)
    roll, pitch, _ = euler_from_quaternion(*vehicle.body.truth[3:7])
    assert abs(roll) < 0.02
    assert abs(pitch) < 0.02
    assert -0.3 < vehicle.velocity_ned[2] < -0.01


# As configured, and with 1 % of the weight.
@pytest.mark.parametrize(
    ("given", "percent_per_metre"),
    [({}, 45.0), ({}, 100.0), ({}, 200.0), ({"net_buoyancy": 0.147}, 160.0), ({"net_buoyancy": 0.147}, 250.0)],
)
def test_proportional_depth_loop_holds_the_auv_within_a_tenth_of_a_metre(given, percent_per_metre):
    vehicle = Underwater("auv", world="", ground_altitude=-50.0, **given)
    vehicle.body.set_truth(state(1.0))
    errors = []
    # At 60 Hz, the rate of telemetry, with a whole number of percent.
    for _ in range(60 * 60):
        errors.append(2.0 - vehicle.body.truth[2])
        percent = round(max(-100.0, min(100.0, -percent_per_metre * errors[-1])))
        vehicle.pulses = commands(0.0, 0.0, 0.0, percent / 100.0)
        vehicle.run(1.0 / 60.0, 1.0 / 120.0)
    assert max(abs(error) for error in errors[-600:]) < 0.1


def test_net_buoyancy_lifts_the_submerged_vehicle():
    for net in (-1.0, 0.0, 0.147):
        vehicle = Underwater("auv", world="", net_buoyancy=net)
        wrench = vehicle.forces.update(state(5.0), np.zeros(3), commands(), DT)
        assert wrench[2] == pytest.approx(-1.5 * 9.81 - net, rel=1e-12)


def test_auv_turns_clockwise_when_left_thruster_pushes_harder():
    _, (_, _, yaw), _ = moved("auv", 0.2, 0.1, seconds=2.0)
    assert yaw > 0.1


def test_auv_moves_along_the_documented_thruster_directions():
    ahead, _, _ = moved("auv", 1.0, 1.0)
    assert ahead[0] > 1.0
    assert abs(ahead[1]) < 1e-9
    starboard, (_, _, yaw), _ = moved("auv", 0.0, 0.0, 1.0)
    assert starboard[1] > 0.5
    assert abs(yaw) < 1e-9
    up, _, _ = moved("auv", 0.0, 0.0, 0.0, 1.0)
    down, _, _ = moved("auv", 0.0, 0.0, 0.0, -1.0)
    assert up[2] < -0.5 < 0.5 < down[2]


def test_auv_reaches_the_speed_in_its_file():
    _, _, ahead = moved("auv", 1.0, 1.0, seconds=10.0)
    assert ahead[0] == pytest.approx(0.5, abs=0.02)
    _, _, down = moved("auv", 0.0, 0.0, 0.0, -1.0, seconds=10.0)
    assert down[2] == pytest.approx(0.3, abs=0.04)
    _, _, turning = moved("auv", 1.0, -1.0, seconds=10.0)
    assert 2.0 * math.pi / turning[5] == pytest.approx(5.0, abs=0.5)


@pytest.mark.parametrize("output", range(6))
def test_bluerov2_thrusters_match_ardusub_vectored_frame(output):
    fx, fy, fz, mx, my, mz = thrust_wrench("bluerov2", output)
    roll, pitch, yaw, throttle, forward, lateral = VECTORED[output]
    signs = [0 if abs(part) < 1e-9 else math.copysign(1, part) for part in (mx, my, mz, -fz, fx, fy)]
    assert signs == [roll, pitch, yaw, throttle, forward, lateral]
    assert math.hypot(fx, fy, fz) == pytest.approx(51.5, rel=1e-9)


def test_bluerov2_stays_level_at_full_forward_thrust():
    _, (roll, pitch, yaw), velocity = moved("bluerov2", -0.8, -0.8, 0.8, 0.8, seconds=10.0)
    # 2 x (51.5 + 40.2) N / sqrt(2) = 13.7 u + 141 u^2.
    assert velocity[0] == pytest.approx(0.91, abs=0.02)
    assert max(abs(roll), abs(pitch), abs(yaw)) < math.radians(15.0)


@pytest.mark.parametrize("name", NAMES)
def test_fleet_of_eight_starts_inside_its_world(name):
    starts = [
        Underwater(name, initial_position=member.settings["initial_position"]).body.truth[:3]
        for member in fleet(vehicle(name), count=8, seed=0)
    ]
    # Wider than the wider vehicle.
    assert np.min(np.diff([east for _, east, _ in starts])) > 0.6


@pytest.mark.parametrize("dt", [1.0 / 120.0, 1.0 / 60.0])
@pytest.mark.parametrize("name", NAMES)
def test_longer_steps_yield_the_same_motion(name, dt):
    def end(step):
        vehicle = Underwater(name, ground_altitude=-50.0, world="")
        vehicle.body.set_truth(state(20.0))
        for given in [
            (0.6, 0.4, 0.3, -0.5, 0.2, 0.1),
            (-0.5, 0.5, -0.3, 0.5, -0.2, 0.2),
            (0.3, 0.3, 0.3, 0.3, 0.3, 0.3),
        ]:
            vehicle.pulses = commands(*given)
            vehicle.run(3.0, step)
        return vehicle.body.truth[:13]

    # Forces are held over a step, which is a lag of half a step: 10 ms of 2 m/s and of 5 rad/s at most.
    assert end(dt) == pytest.approx(end(1.0 / 1200.0), abs=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_trim_rejects_vehicles_without_steady_flight(name):
    with pytest.raises(ParameterError, match=f"vehicle '{name}' given.*trim supports vehicles with"):
        steady_vehicle(vehicle(name), [])
