"""The hold controller on the vehicles of the package: their own physics and parameters, without ROS."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rosflight_py_sim.autopilot.hold_controller import (
    HOLD_CONTROLLER_PARAMETERS,
    HoldController,
    HoldSetpoint,
    Motion,
)
from rosflight_py_sim.autopilot.underwater_body import UNDERWATER_BODY_PARAMETERS, UnderwaterBody
from rosflight_py_sim.commands.vehicle_models import Given, given_values
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial
from rosflight_py_sim.physics.thrusters import settled_command, settled_thrust, thruster_numbers
from rosflight_py_sim.vehicles import vehicle

DT = 0.01
NAMES = ["auv", "bluerov2"]


def values(name: str, table: object, node: str) -> Given:
    return given_values(table, [vehicle(name).parameter_file], node, "", node)  # type: ignore[arg-type]


class HeldVehicle:
    """A vehicle under water, with its controller."""

    def __init__(self, name: str, current_ned: tuple[float, float, float]) -> None:
        # The node handles the world: here, the water has no boundaries.
        dynamics = values(name, DYNAMICS_PARAMETERS, "dynamics") | {"starts_on_ground": False, "ground_contact": False}
        self.dynamics = VehicleDynamics(dynamics)
        truth = self.dynamics.truth.copy()
        truth[2] = 1.0
        self.dynamics.set_truth(truth)
        self.physics = Auv(values(name, AUV_PARAMETERS, "forces_and_moments"))
        self.body = UnderwaterBody(values(name, UNDERWATER_BODY_PARAMETERS, "auv_controller"))
        self.controller = HoldController(HOLD_CONTROLLER_PARAMETERS.defaults(), self.body.held, self.body.allocation)
        self.current = np.array(current_ned)
        self.controller.begin(self.motion)

    @property
    def motion(self) -> Motion:
        truth = self.dynamics.truth.tolist()
        _, _, down_rate = rotate_to_inertial(*truth[3:10])
        return Motion(truth[2], down_rate, euler_from_quaternion(*truth[3:7])[2], truth[12])

    def hold(self, setpoint: HoldSetpoint, seconds: float) -> list[Motion]:
        pwm = np.full(14, 1500.0)
        motions = []
        for _ in range(round(seconds / DT)):
            thrusts = self.controller.update(self.motion, setpoint, DT) * self.body.full_thrust
            commands = list(map(settled_command, self.body.thrusters, thrusts.tolist()))
            pwm[: len(commands)] = 1500.0 + 500.0 * np.array(commands)
            self.dynamics.step(self.physics.update(self.dynamics.truth, self.current, pwm, DT), DT)
            motions.append(self.motion)
        return motions


@pytest.mark.parametrize("current", [(0.0, 0.0, 0.0), (0.1, -0.08, 0.05)], ids=["still water", "current"])
@pytest.mark.parametrize("name", NAMES)
def test_depth_settles_within_centimetres_and_yaw_within_a_degree(
    name: str, current: tuple[float, float, float]
) -> None:
    one = HeldVehicle(name, current)
    motions = one.hold(HoldSetpoint(2.0, math.radians(-120.0)), 30.0)
    # Required: centimetres and a degree, during the last ten seconds.
    settled = motions[-1000:]
    assert max(abs(m.depth - 2.0) for m in settled) < 0.02
    assert max(abs(math.remainder(m.yaw - math.radians(-120.0), math.tau)) for m in settled) < math.radians(1.0)
    # On the way it must not come near a floor half a metre below.
    assert max(m.depth for m in motions) < 2.1
    assert one.dynamics.truth[3] ** 2 + one.dynamics.truth[6] ** 2 > 0.999, "it stays upright"


@pytest.mark.parametrize("name", NAMES)
def test_surge_and_sway_do_not_disturb_depth_and_yaw(name: str) -> None:
    one = HeldVehicle(name, (0.0, 0.0, 0.0))
    one.hold(HoldSetpoint(1.0, 0.5), 15.0)
    pushed = one.hold(HoldSetpoint(1.0, 0.5, surge=0.5, sway=0.2), 10.0)
    assert max(abs(m.depth - 1.0) for m in pushed) < 0.1
    assert max(abs(m.yaw - 0.5) for m in pushed) < math.radians(5.0)
    assert one.dynamics.truth[7] > 0.1
    assert one.dynamics.truth[8] > 0.03


@pytest.mark.parametrize("name", NAMES)
def test_commands_compensate_thruster_dead_zone_and_curve(name: str) -> None:
    thrusters = thruster_numbers(values(name, UNDERWATER_BODY_PARAMETERS, "auv_controller"))
    for thruster in thrusters:
        for share in (-1.0, -0.6, -0.01, 0.0, 0.01, 0.3, 1.0):
            thrust = share * thruster[6 if share > 0.0 else 7]
            assert settled_thrust(thruster, 1500.0 + 500.0 * settled_command(thruster, thrust)) == pytest.approx(thrust)
        assert settled_command(thruster, 1e3) == pytest.approx(thruster[9])


def test_vehicle_without_vertical_thruster_is_rejected() -> None:
    given = values("auv", UNDERWATER_BODY_PARAMETERS, "auv_controller")
    given |= {"num_thrusters": 3, "thruster_positions": [0.0] * 9, "thruster_directions": [1.0, 0.0, 0.0] * 3}
    with pytest.raises(ParameterError, match="3 thrusters given that cannot push down alone"):
        UnderwaterBody(given)
