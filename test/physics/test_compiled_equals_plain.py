"""Compiled kernels and plain Python give the same flight."""

import os
import subprocess
import sys

import numpy as np
import pytest

from rosflight_py_sim.kernels.jit import COMPILED

FLIGHT = """
import numpy as np
from rosflight_py_sim.kernels.jit import COMPILED
from rosflight_py_sim.physics import atmosphere
from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind

body = VehicleDynamics(DYNAMICS_PARAMETERS.defaults())
rotors = Multirotor(MULTIROTOR_PARAMETERS.checked({
    **MULTIROTOR_PARAMETERS.defaults(), "rotor_dists": [0.25] * 4, "rotor_radial_angles": [45.0, 135.0, 225.0, 315.0],
    "battery_capacity_mah": 1000.0, "battery_internal_resistance": 0.02,
}))
air = Wind(WIND_PARAMETERS.checked({
    "sim_has_wind": True, "wind_has_gusts": True, "interoccurance_time_gust_s": 0.1,
    "turbulence_model": "dryden_8785c", "discrete_gust_velocity": [1.0, 2.0, 0.0], "discrete_gust_time": 0.1,
}), np.random.default_rng(5))
plane = FixedWing(FIXEDWING_PARAMETERS.checked({
    **FIXEDWING_PARAMETERS.defaults(), "battery_capacity_mah": 1000.0, "battery_internal_resistance": 0.02,
}))
glider = VehicleDynamics(DYNAMICS_PARAMETERS.checked({
    **DYNAMICS_PARAMETERS.defaults(), "contact_points": [-0.1, 0.3, 0.2, -0.1, -0.3, 0.2, 0.4, 0.0, 0.2],
    "contact_rolling_friction": [0.05, 0.05, 0.05], "mass": 4.5, "Jxx": 0.25, "Jyy": 0.38, "Jzz": 0.62,
}))
hull = {"hull_size": [0.5, 0.3, 0.2], "centre_of_buoyancy": [0.0, 0.0, -0.02]}
swimmer = VehicleDynamics(DYNAMICS_PARAMETERS.checked({
    **DYNAMICS_PARAMETERS.defaults(), **hull, "world": "pool",
    "added_mass": (np.diag([2.0, 4.0, 6.0, 0.1, 0.2, 0.3]) + 0.05).ravel().tolist(),
    "contact_points": [], "starts_on_ground": False,
}))
thrusters = Auv(AUV_PARAMETERS.checked({
    **AUV_PARAMETERS.defaults(), **hull, "net_buoyancy": 5.0, "linear_damping": [3.0] * 6,
    "quadratic_damping": [9.0] * 6, "num_thrusters": 2, "thruster_positions": [0.0, -0.2, 0.0, 0.0, 0.2, 0.0],
    "thruster_directions": [1.0, 0.0, 0.2, 1.0, 0.1, 0.0], "thruster_forward_thrusts": [20.0],
    "thruster_full_currents": [3.0], "battery_capacity_mah": 1000.0, "thruster_exponents": [1.6],
    "tether_length": 10.0, "tether_weight": 0.5, "tether_stiffness": 50.0, "water_density": 1000.0,
}))
# Rolling on its wheels at first, in the air from the middle on.
start = glider.initial_truth.copy()
start[7] = 8.0
glider.set_truth(start)
pwm = np.full(14, 1000.0)
rows = []
for k in range(300):
    pwm[:4] = 1600.0 + 20.0 * np.sin(0.05 * k + np.arange(4)) if k < 150 else 1000.0
    air.step(body.truth, 0.0025)
    body.step(rotors.update(body.truth, air.wind_ned, pwm, 0.0025), 0.0025)
    sticks = np.full(14, 1500.0)
    sticks[:5] = 1600.0, 1300.0, 1550.0, 1500.0, 1900.0
    swimmer.step(thrusters.update(swimmer.truth, 0.1 * air.wind_ned, sticks, 0.0025), 0.0025, 0.1 * air.wind_ned)
    if k == 150:
        # From the surface into a wall of the pool.
        wall = swimmer.truth.copy()
        wall[:3], wall[7] = (12.2, 1.0, 2.0), 2.0
        swimmer.set_truth(wall)
        start[2], start[7], start[9] = -50.0, 12.0, 4.0
        glider.set_truth(start)
    glider.step(plane.update(glider.truth, air.wind_ned, sticks, 0.0025), 0.0025)
    rows.append([*body.truth, *air.wind_ned, rotors.current_a, rotors.battery_voltage, *glider.truth[:13],
        *plane.steady_wrench(glider.truth, air.wind_ned, 0.1, 0.2, -0.1, 0.7), plane.current_a, plane.battery_voltage,
        *swimmer.truth[:13], thrusters.current_a, thrusters.battery_voltage])
altitude = body.truth[2] + 12000.0
rows.append([atmosphere.pressure(altitude), atmosphere.speed_of_sound(altitude), float(COMPILED)] + [0.0] * 57)
print("\\n".join(" ".join(number.hex() for number in map(float, row)) for row in rows))
"""


def flown(no_jit: str) -> np.ndarray:
    environment = {**os.environ, "ROSFLIGHT_PY_SIM_NO_JIT": no_jit}
    done = subprocess.run([sys.executable, "-c", FLIGHT], env=environment, capture_output=True, text=True, check=True)
    return np.array([[float.fromhex(number) for number in line.split()] for line in done.stdout.splitlines()])


@pytest.mark.skipif(not COMPILED, reason="numba is not installed")
def test_compiled_flight_equals_plain_python_flight():
    compiled, plain = flown("0"), flown("1")
    assert compiled[-1, 2] == 1.0
    assert plain[-1, 2] == 0.0
    assert compiled.shape == plain.shape == (301, 60)
    # Powers and exponentials may differ in their last bit, which the stiff ground turns into more acceleration.
    assert np.delete(compiled[:-1], range(13, 19), axis=1) == pytest.approx(
        np.delete(plain[:-1], range(13, 19), axis=1), rel=1e-12, abs=1e-12
    )
    assert compiled[:-1, 13:19] == pytest.approx(plain[:-1, 13:19], rel=1e-12, abs=1e-10)
    assert compiled[-1, :2] == pytest.approx(plain[-1, :2], rel=1e-14)
