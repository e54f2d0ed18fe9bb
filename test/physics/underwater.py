"""An underwater vehicle for tests: physics and thrusters without a graph."""

import numpy as np

from rosflight_py_sim.interfaces.given_values import merged_values
from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.vehicles import vehicle as known_vehicle

DT = 0.0025

MASS, VOLUME, SIZE = 2.0, 0.002, [0.5, 0.2, 0.1]

# Neutral, centre of buoyancy at the centre of mass, no damping, one forward thruster without lag.
NEUTRAL = {
    "mass": MASS,
    "Jxx": 0.02,
    "Jyy": 0.03,
    "Jzz": 0.04,
    "gravity": 9.81,
    "ground_contact": False,
    "hull_size": SIZE,
    "linear_damping": [0.0] * 6,
    "quadratic_damping": [0.0] * 6,
    "num_thrusters": 1,
    "thruster_positions": [0.0, 0.0, 0.0],
    "thruster_directions": [1.0, 0.0, 0.0],
    "thruster_forward_thrusts": [10.0],
    "thruster_time_constants": [0.0],
    "V_max": 12.0,
}


def state(down=0.0, quaternion=(1, 0, 0, 0), velocity=(0, 0, 0), rates=(0, 0, 0), north=0.0, east=0.0):
    return np.concatenate([(north, east, down), quaternion, velocity, rates, np.zeros(6)]).astype(float)


def commands(*given):
    """Pulse widths for thruster commands from -1 to 1; the other outputs are centred."""
    pulses = np.full(14, 1500.0)
    pulses[: len(given)] = 1500.0 + 500.0 * np.array(given)
    return pulses


def net_buoyancy(volume):
    """Net buoyancy, N, of the hull of NEUTRAL with another volume, m^3, in fresh water."""
    return (1000.0 * volume - MASS) * 9.81


class Underwater:
    """Body and forces with the parameters of NEUTRAL by default, or of a vehicle of the package."""

    def __init__(self, vehicle="", **values):
        if vehicle:
            file = str(known_vehicle(vehicle).parameter_file)
            given = {}
            for node in ("dynamics", "forces_and_moments"):
                given |= merged_values([file], (node,))
            given |= values
        else:
            given = {**NEUTRAL, **values}
        self.body = VehicleDynamics(
            DYNAMICS_PARAMETERS.checked({n: given[n] for n in given if n in DYNAMICS_PARAMETERS})
        )
        self.forces = Auv(AUV_PARAMETERS.checked({n: given[n] for n in given if n in AUV_PARAMETERS}))
        self.current_ned = np.zeros(3)
        self.pulses = commands()
        self.time_s = 0.0

    def step(self, dt=DT):
        waves = self.forces.waves
        waves.move_to(self.body.truth, self.time_s)
        water_ned = self.current_ned + waves.velocity_ned
        wrench = self.forces.update(self.body.truth, water_ned, self.pulses, dt)
        self.body.step(wrench, dt, water_ned, waves.sea)
        self.time_s += dt

    def run(self, seconds, dt=DT):
        for _ in range(round(seconds / dt)):
            self.step(dt)
        return self.body.truth

    @property
    def velocity_ned(self):
        return np.array(rotate_to_inertial(*self.body.truth[3:10]))
