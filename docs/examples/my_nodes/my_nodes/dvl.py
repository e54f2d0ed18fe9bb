"""A Doppler velocity log (DVL) besides the sensors of `standalone_sensors`.

Four beams, 30 degrees from the downward axis, measure the velocity over the bottom. At least three of them must reach
it; otherwise the message has the velocity 0 and -1 as the first element of its covariance.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import TwistWithCovarianceStamped
from rosflight_py_sim.failures.failure import Target
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import GROUND_ALTITUDE
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parts.standalone_sensors import ModelledSensors
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.sensing.errors import ErrorModel, ErrorSource
from rosflight_py_sim.sensing.failing import Vector
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorModel, Surroundings
from rosflight_py_sim.step.topics import stamped
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.world import WORLD, beam_boundary, beam_distance, part_array, world_of

TILT = math.radians(30.0)
BEAMS = [
    (math.sin(TILT) * math.cos(turn), math.sin(TILT) * math.sin(turn), math.cos(TILT))
    for turn in (0.25 * math.pi, 0.75 * math.pi, 1.25 * math.pi, 1.75 * math.pi)
]
ERRORS = ErrorSource("dvl", "velocity over the bottom", "m/s", 8.0, stdev=0.003, bias_range=0.002)


class DvlSample(NamedTuple):
    """Velocity over the bottom in body axes, m/s (3), and the covariance of the twist (36)."""

    time_ns: int
    velocity: tuple[float, ...]
    covariance: tuple[float, ...]


class DopplerVelocityLog(SensorModel):
    """Velocity over the bottom, in the world that the parameter `world` names."""

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        super().__init__(ErrorModel([ERRORS.terms(values)] * 3, rng))
        world = world_of(values)
        self._boundary, self._parts = beam_boundary(world), part_array(world.objects)
        if world.water is None:
            self._boundary[0] = -number(values, "ground_altitude")
        self._reach = number(values, "dvl_max_range")

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[Any, ...]:
        """Velocity and covariance."""
        errors = self._errors.sample(dt)
        place, attitude = state.position_ned.tolist(), state.quaternion.tolist()
        directions = [rotate_to_inertial(*attitude, *beam) for beam in BEAMS]
        reached = [beam_distance(self._boundary, self._parts, *place, *one) <= self._reach for one in directions]
        if sum(reached) < 3:
            return (0.0, 0.0, 0.0), (-1.0, *(0.0,) * 35)
        velocity = (state.velocity_body + errors).tolist()
        variance = self._errors.variances(dt)[0]
        return velocity, tuple(variance if k in (0, 7, 14) else 0.0 for k in range(36))

    def true_errors(self) -> dict[str, float]:
        """Biases of the last measurement, m/s."""
        return self._errors.biases("dvl_bias_x", "dvl_bias_y", "dvl_bias_z")


class DvlSensors(ModelledSensors):
    """The sensors of `standalone_sensors` and a DVL."""

    send_dvl = Sensor(
        stamped(
            "sim/sensors/dvl",
            TwistWithCovarianceStamped,
            DvlSample,
            {"velocity": "twist.twist.linear", "covariance": "twist.covariance"},
            frame_id="body",
        ),
        "dvl",
        "the DVL",
        DopplerVelocityLog,
        rate_hz=8.0,
        latency_s=0.05,
        parameters=ERRORS.parameters()
        + ParameterTable(
            Parameter("dvl_max_range", 50.0, "Longest distance to the bottom along a beam", "m", minimum=0.1),
            WORLD,
            GROUND_ALTITUDE,
        ),
        failures={"dvl": Failing(Target("DVL", "m/s", 3), lambda: Vector("velocity"))},
    )


def main() -> None:
    """Run the node."""
    run(DvlSensors)


if __name__ == "__main__":
    main()
