"""Buoyancy, damping, thrust and added mass together, against closed forms."""

import math

import numpy as np
import pytest
from underwater import DT, MASS, SIZE, VOLUME, Underwater, commands, net_buoyancy, state

from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler, rotate_to_inertial

WATERPLANE = SIZE[0] * SIZE[1]
DEEP = 5.0


def period(values, dt=DT):
    """Mean period of an oscillation about 0, from its upward crossings, interpolated."""
    values = np.asarray(values)
    before = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    crossings = before - values[before] / (values[before + 1] - values[before])
    assert len(crossings) > 3
    return (crossings[-1] - crossings[0]) / (len(crossings) - 1) * dt


def test_neutrally_buoyant_vehicle_stays_put_at_any_attitude():
    vehicle = Underwater(added_mass=[1.0, 2.0, 3.0, 0.01, 0.02, 0.03])
    start = state(DEEP, quaternion_from_euler(1.0, -0.5, 2.0))
    vehicle.body.set_truth(start)
    vehicle.run(60.0)
    # Weight and buoyancy are 20 N and cancel to their last bits, 4e-15 N.
    assert vehicle.body.truth[:13] == pytest.approx(start[:13], abs=1e-11)


@pytest.mark.parametrize("reserve", [0.01, 0.25, 0.6])
def test_buoyant_vehicle_floats_with_hull_above_water_equal_to_reserve_buoyancy(reserve):
    vehicle = Underwater(net_buoyancy=net_buoyancy(VOLUME / (1.0 - reserve)), linear_damping=[20.0] * 3 + [1.0] * 3)
    vehicle.body.set_truth(state(0.3))
    vehicle.run(60.0)
    # Draught T from rho g L B T (V / L B H) = m g; the hull's middle is at the centre of mass.
    assert vehicle.body.truth[2] == pytest.approx(SIZE[2] * (0.5 - reserve), abs=1e-9)
    assert np.max(np.abs(vehicle.body.truth[7:13])) < 1e-8


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("current", [0.0, 0.4])
def test_terminal_speed_balances_thrust_and_drag(axis, current):
    direction = np.eye(3)[axis]
    vehicle = Underwater(
        added_mass=[1.0, 2.0, 3.0, 0.0, 0.0, 0.0],
        thruster_directions=direction.tolist(),
        linear_damping=[1.0, 2.0, 3.0, 0.0, 0.0, 0.0],
        quadratic_damping=[7.0, 8.0, 9.0, 0.0, 0.0, 0.0],
    )
    vehicle.body.set_truth(state(500.0))
    vehicle.current_ned[:] = current * direction
    vehicle.pulses = commands(1.0)
    vehicle.run(30.0)
    linear, quadratic = (1.0, 2.0, 3.0)[axis], (7.0, 8.0, 9.0)[axis]
    speed = (-linear + math.sqrt(linear**2 + 4.0 * quadratic * 10.0)) / (2.0 * quadratic)
    # 30 s are more than 30 time constants of at most 0.6 s.
    assert vehicle.body.truth[7 + axis] - current == pytest.approx(speed, rel=1e-9)


def test_terminal_turn_rate_balances_moment_of_two_thrusters():
    vehicle = Underwater(
        num_thrusters=2,
        thruster_positions=[0.0, -0.3, 0.0, 0.0, 0.3, 0.0],
        thruster_directions=[1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        linear_damping=[1.0, 1.0, 1.0, 0.1, 0.1, 2.0],
    )
    vehicle.body.set_truth(state(DEEP))
    vehicle.pulses = commands(0.5, -0.5)
    vehicle.run(5.0)
    assert vehicle.body.truth[12] == pytest.approx(2 * 5.0 * 0.3 / 2.0, rel=1e-9)


@pytest.mark.parametrize("added", [0.0, 3.0])
def test_floating_box_has_expected_heave_period(added):
    reserve = 0.5
    volume = VOLUME / (1.0 - reserve)
    vehicle = Underwater(net_buoyancy=net_buoyancy(volume), added_mass=[0.0, 0.0, added, 0.0, 0.0, 0.0])
    vehicle.body.set_truth(state(1e-4))
    heights = []
    for _ in range(round(10.0 / DT)):
        vehicle.step()
        heights.append(vehicle.body.truth[2])
    # The box is filled to V / L B H; half of the added mass acts if half of the hull is in the water.
    stiffness = 1000.0 * 9.81 * WATERPLANE * volume / math.prod(SIZE)
    exact = 2.0 * math.pi * math.sqrt((MASS + (1.0 - reserve) * added) / stiffness)
    # Buoyancy held over a step comes half a step late: the period changes by (pi DT / T)^2 / 2, 2e-4 at T = 0.45 s.
    assert period(heights) == pytest.approx(exact, rel=3e-4)


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.5])
def test_submerged_righting_moment_is_buoyancy_times_lever_arm(angle):
    vehicle = Underwater(centre_of_buoyancy=[0.0, 0.0, -0.03])
    for axis, attitude in enumerate([(angle, 0.0, 0.0), (0.0, min(angle, 1.5), 0.0)]):
        truth = state(DEEP, quaternion_from_euler(*attitude))
        wrench = vehicle.forces.update(truth, np.zeros(3), commands(), DT)
        assert wrench[3 + axis] == pytest.approx(-MASS * 9.81 * 0.03 * math.sin(max(attitude)), rel=1e-12)


def test_floating_righting_moment_matches_metacentric_height():
    volume = 2.0 * VOLUME
    vehicle = Underwater(net_buoyancy=net_buoyancy(volume), centre_of_buoyancy=[0.0, 0.0, -0.01])
    heel = 1e-4
    truth = state(0.01, quaternion_from_euler(heel, 0.0, 0.0))
    wrench = vehicle.forces.update(truth, np.zeros(3), commands(), DT)
    # GM = KB + BM - KG: the middle of the immersed lower half is 0.025 below that of the hull, which is 0.01 above the
    # centre of mass; BM = B^2 / 12 T of a box.
    metacentric = 0.01 - 0.025 + SIZE[1] ** 2 / (12.0 * 0.05)
    assert wrench[3] == pytest.approx(-MASS * 9.81 * metacentric * heel, rel=1e-5)


@pytest.mark.parametrize("added", [0.0, 0.05])
def test_submerged_roll_period_matches_closed_form(added):
    vehicle = Underwater(centre_of_buoyancy=[0.0, 0.0, -0.03], added_mass=[0.0, 0.0, 0.0, added, 0.0, 0.0])
    vehicle.body.set_truth(state(DEEP, quaternion_from_euler(1e-3, 0.0, 0.0)))
    rolls = []
    for _ in range(round(15.0 / DT)):
        vehicle.step()
        rolls.append(euler_from_quaternion(*vehicle.body.truth[3:7])[0])
    exact = 2.0 * math.pi * math.sqrt((0.02 + added) / (MASS * 9.81 * 0.03))
    # The moment held over a step: (pi DT / T)^2 / 2 is 3e-5 at T = 1.2 s.
    assert period(rolls) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize(("axis", "added"), [(0, 4.0), (1, 8.0), (2, 20.0)])
def test_thrust_step_accelerates_mass_plus_added_mass(axis, added):
    direction = np.eye(3)[axis]
    vehicle = Underwater(
        thruster_directions=direction.tolist(), added_mass=[4.0, 8.0, 20.0, 0.0, 0.0, 0.0], linear_damping=[5.0] * 6
    )
    vehicle.body.set_truth(state(100.0))
    vehicle.pulses = commands(1.0)
    vehicle.step(1e-6)
    assert vehicle.body.truth[13 + axis] == pytest.approx(10.0 / (MASS + added), rel=1e-12)
    vehicle.run(1.5)
    exact = 10.0 / 5.0 * (1.0 - math.exp(-5.0 * 1.5 / (MASS + added)))
    # Damping is held over a step and therefore half a step late: a share of 5 DT / 2 (m + A), 1e-3 at most.
    assert vehicle.body.truth[7 + axis] == pytest.approx(exact, rel=2e-3)


def test_moment_step_accelerates_inertia_plus_added_inertia():
    vehicle = Underwater(added_mass=[0.0, 0.0, 0.0, 0.1, 0.2, 0.3], Jxz=0.005)
    vehicle.body.set_truth(state(DEEP))
    moment = np.array([0.1, -0.2, 0.3])
    vehicle.body.step(np.array([0.0, 0.0, -MASS * 9.81, *moment]), 1e-6)
    inertia = np.array([[0.12, 0.0, 0.005], [0.0, 0.23, 0.0], [0.005, 0.0, 0.34]])
    # Rates of 1e-6 rad/s leave gyroscopic terms far below.
    assert vehicle.body.truth[16:19] == pytest.approx(np.linalg.solve(inertia, moment), rel=1e-9)


def test_added_mass_of_ten_times_body_mass_is_integrated_stably():
    def velocity(dt):
        vehicle = Underwater(
            added_mass=[20.0, 20.0, 20.0, 0.2, 0.3, 0.4],
            centre_of_buoyancy=[0.0, 0.0, -0.02],
            thruster_positions=[0.0, 0.1, 0.02],
            linear_damping=[5.0] * 3 + [0.1] * 3,
            quadratic_damping=[20.0] * 3 + [0.5] * 3,
        )
        vehicle.body.set_truth(state(DEEP))
        history = []
        for k in range(20):
            vehicle.pulses = commands(1.0 if k % 2 else -0.6)
            vehicle.run(0.5, dt)
            history.append(vehicle.body.truth[7:13].copy())
        return np.array(history)

    coarse, fine = velocity(DT), velocity(DT / 10.0)
    assert np.max(np.abs(coarse)) < 1.0
    # Forces held over a step are first order in the step.
    assert coarse == pytest.approx(fine, abs=5e-3)


def test_vehicle_at_rest_drifts_with_the_current():
    vehicle = Underwater(added_mass=[4.0, 4.0, 4.0, 0.0, 0.0, 0.0], linear_damping=[6.0] * 3 + [0.0] * 3)
    vehicle.body.set_truth(state(100.0))
    vehicle.current_ned[:] = 0.5, -0.3, 0.1
    vehicle.run(1.0)
    # (m + A) v_r' = -d v_r; damping comes half a step late, a share of 6 DT / 2 (m + A).
    assert vehicle.velocity_ned == pytest.approx(vehicle.current_ned * (1.0 - math.exp(-1.0)), rel=2e-3)
    vehicle.run(20.0)
    assert vehicle.velocity_ned == pytest.approx(vehicle.current_ned, abs=1e-8)


def test_vehicle_moving_with_the_current_has_no_hydrodynamic_forces_while_turning():
    vehicle = Underwater(
        added_mass=[1.0, 5.0, 9.0, 0.0, 0.0, 0.0],
        linear_damping=[3.0, 4.0, 5.0, 0.0, 0.0, 0.0],
        gravity=0.0,
    )
    vehicle.current_ned[:] = 0.5, -0.3, 0.1
    vehicle.body.set_truth(state(100.0, velocity=vehicle.current_ned, rates=(0.5, -1.0, 2.0)))
    vehicle.run(5.0)
    # In body axes the current turns with the rates: its derivative must be in the equations.
    assert vehicle.velocity_ned == pytest.approx(vehicle.current_ned, abs=1e-12)
    assert np.max(np.abs(vehicle.body.truth[13:16])) < 1e-12
    assert np.linalg.norm(vehicle.body.truth[10:13]) > 2.0


def momenta(truth, added, inertia):
    """Linear and angular momentum of body and added mass about the origin, NED, in still water."""
    turn = np.array([rotate_to_inertial(*truth[3:7], *axis) for axis in np.eye(3)]).T
    linear = turn @ ((MASS + added[:3]) * truth[7:10])
    return [*linear, *(turn @ ((inertia + added[3:]) * truth[10:13]) + np.cross(truth[:3], linear))]


def energy(truth, added, inertia):
    return 0.5 * np.concatenate([MASS + added[:3], inertia + added[3:]]) @ truth[7:13] ** 2


ADDED, INERTIA = np.array([1.0, 4.0, 8.0, 0.05, 0.02, 0.1]), np.array([0.02, 0.03, 0.04])
TUMBLING = {"velocity": (0.5, 0.3, -0.2), "rates": (0.4, -0.8, 0.6)}


def test_free_body_with_added_mass_conserves_momentum_and_energy():
    vehicle = Underwater(added_mass=ADDED.tolist(), gravity=0.0)
    vehicle.body.set_truth(state(100.0, **TUMBLING))
    before, first = momenta(vehicle.body.truth, ADDED, INERTIA), energy(vehicle.body.truth, ADDED, INERTIA)
    vehicle.run(30.0)
    # Half a minute at some 3 rad/s: local errors of order (7.5e-3)^5 / 120, 12000 times, on arms of 100 m.
    assert momenta(vehicle.body.truth, ADDED, INERTIA) == pytest.approx(before, abs=1e-6)
    assert energy(vehicle.body.truth, ADDED, INERTIA) == pytest.approx(first, rel=1e-8)


def test_damping_dissipates_energy_at_every_step():
    vehicle = Underwater(
        added_mass=ADDED.tolist(),
        gravity=0.0,
        linear_damping=[0.5] * 3 + [0.01] * 3,
        quadratic_damping=[2.0] * 3 + [0.02] * 3,
    )
    vehicle.body.set_truth(state(DEEP, **TUMBLING))
    energies = []
    for _ in range(4000):
        vehicle.step()
        energies.append(energy(vehicle.body.truth, ADDED, INERTIA))
    assert np.all(np.diff(energies) < 0.0)
    assert energies[-1] < 0.1 * energies[0]


def test_munk_moment_turns_slender_body_broadside():
    vehicle = Underwater(added_mass=[1.0, 5.0, 0.0, 0.0, 0.0, 0.06])
    vehicle.body.set_truth(state(DEEP, velocity=(2.0, 0.5, 0.0)))
    # N = (A_11 - A_22) u v: drifting to starboard the nose goes to port, still farther from the way.
    assert vehicle.body.truth[18] == pytest.approx((1.0 - 5.0) * 2.0 * 0.5 / (0.04 + 0.06), rel=1e-12)


def test_accelerations_refer_to_the_hull():
    vehicle = Underwater(added_mass=[4.0, 8.0, 20.0, 0.1, 0.0, 0.1])
    current = np.array([0.3, 0.1, -0.2])
    body = vehicle.body
    body.set_truth(state(DEEP, quaternion_from_euler(0.2, -0.3, 0.4), (0.5, -0.2, 0.1), (0.3, -0.2, 0.5)))
    wrench = np.array([10.0, -3.0, -25.0, 0.02, 0.01, -0.03])
    body.step(wrench, DT, current)
    before = vehicle.velocity_ned
    reported = np.array(rotate_to_inertial(*body.truth[3:7], *body.truth[13:16]))
    body.step(wrench, 1e-6, current)
    # Over 1 us the acceleration changes by 1e-6 s times a jerk of some 50 m/s^3, as the Munk moment turns the body.
    assert (vehicle.velocity_ned - before) / 1e-6 == pytest.approx(reported, abs=1e-4)
    assert np.linalg.norm(reported) > 0.5


def test_vehicle_above_water_is_in_free_fall():
    vehicle = Underwater(added_mass=[4.0, 8.0, 20.0, 0.1, 0.2, 0.3], linear_damping=[5.0] * 6)
    vehicle.pulses = commands(1.0)
    vehicle.body.set_truth(state(-3.0, velocity=(1.0, 0.0, 0.0)))
    vehicle.run(0.5)
    assert vehicle.body.truth[13:16] == pytest.approx((0.0, 0.0, 9.81), abs=1e-12)
    assert vehicle.body.truth[7] == pytest.approx(1.0, abs=1e-12)


def test_vehicle_dropped_into_water_resurfaces_and_floats():
    vehicle = Underwater("auv", world="")
    vehicle.body.set_truth(state(-1.0, quaternion_from_euler(0.5, 0.4, 0.0)))
    # Trimmed nearly neutral, it rises by a metre in 75 s.
    vehicle.run(120.0)
    assert vehicle.body.truth[2] == pytest.approx(0.1820, abs=1e-3)
    assert np.max(np.abs(vehicle.body.truth[7:13])) < 1e-3


def test_water_and_current_have_no_effect_without_added_mass():
    one, other = (Underwater(hull_size=size, ground_contact=True) for size in (SIZE, [0.0, 0.0, 0.0]))
    wrench = np.array([1.0, -2.0, -30.0, 0.01, 0.02, -0.03])
    for _ in range(400):
        one.body.step(wrench, DT, np.array([1.0, 2.0, 3.0]))
        other.body.step(wrench, DT)
    assert np.array_equal(one.body.truth, other.body.truth)


def test_propeller_above_surface_produces_no_thrust():
    vehicle = Underwater(thruster_positions=[0.0, 0.0, -0.04], thruster_diameter=0.02)
    for down, share in [(0.02, 0.0), (0.04, 0.5), (0.045, 0.75), (0.06, 1.0)]:
        wrench = vehicle.forces.update(state(down), np.zeros(3), commands(1.0), DT)
        assert wrench[0] == pytest.approx(10.0 * share, abs=1e-12)


def test_battery_supplies_thrusters_and_electronics_and_sags():
    vehicle = Underwater(
        thruster_full_currents=[4.0],
        electronics_current=1.0,
        battery_capacity_mah=100.0,
        battery_internal_resistance=0.1,
    )
    assert vehicle.forces.battery_voltage == 12.0
    vehicle.pulses = commands(1.0)
    vehicle.body.set_truth(state(DEEP))
    vehicle.step()
    assert vehicle.forces.current_a == pytest.approx(5.0, rel=1e-12)
    assert vehicle.forces.battery_voltage == pytest.approx(12.0 - 0.5, abs=1e-3)
    vehicle.run(60.0)
    # 5 A for a minute are 83 of 100 mA h.
    assert vehicle.forces.battery_voltage < 11.0
    vehicle.pulses = commands(0.25)
    vehicle.step()
    assert vehicle.forces.current_a == pytest.approx(1.0 + 4.0 / 8.0, rel=1e-12)


def test_parameter_change_preserves_thrust_and_charge():
    old = Underwater(thruster_time_constants=[1.0], battery_capacity_mah=100.0, electronics_current=5.0)
    old.pulses = commands(1.0)
    old.run(1.0)
    new = Underwater(
        thruster_time_constants=[1.0], battery_capacity_mah=100.0, num_thrusters=1, electronics_current=0.0
    )
    new.forces.adopt(old.forces)
    assert new.forces.thrusts[0] == old.forces.thrusts[0]
    new.forces.update(state(DEEP), np.zeros(3), commands(), 0.0)
    assert new.forces.battery_voltage < 12.0
