"""A vehicle as an entity of the standard services: its truth state in ENU, its volume, and the calls that change it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from geometry_msgs.msg import Accel, Pose, Twist
from numpy.typing import NDArray
from rosflight_msgs.srv import SetSimState
from std_srvs.srv import Trigger
from transforms3d.quaternions import qmult

from rosflight_py_sim.ground.coordinate_frames import MAP, swap_attitude, swap_frd_flu, swap_mounting, swap_ned_enu
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.nodes.scripts import Asked, Script, Until
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import calls, newest
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState, message_of_truth
from rosflight_py_sim.viewer.appearance import Appearance

Array = NDArray[np.float64]

_AT_REST = np.array([0.0, 0.0, 0.0, 1.0, *[0.0] * 15])

WORLD_FRAMES = ("", "world", MAP)
"""Names of the frame in which states are given; states in replies have the last one."""

SET_STATE = "dynamics/set_sim_state"

ARRIVES_S = 2.0
"""Time in which a truth state arrives, s of system time."""

RESETS = ("forces_and_moments/reset", "dynamics/reset")
"""Services that return a vehicle to its start, in the order in which they are called."""


class StateRefusedError(RefusedError):
    """A state that the dynamics node refuses."""


@dataclass
class Description:
    """What an entity is.

    Attributes:
        category: one of the categories of EntityCategory.
        text: for people.
        tags: for filters.
    """

    category: int
    text: str = ""
    tags: list[str] = field(default_factory=list)


class Entity(Part):
    """A vehicle.

    Attributes:
        name: unique name among the entities.
        namespace: of its topics and services, relative to the node's.
        initial: its description at the start.
        description: its present description.
        least_flu, greatest_flu: corners of the box around it, forward, left, up from its centre of mass, m (3,).
    """

    truth: Any = newest(TRUTH_STATE)
    resets = calls(Trigger, *RESETS)
    setting = calls(SetSimState, SET_STATE)

    def __init__(self, name: str, namespace: str, description: Description, shape: Appearance) -> None:
        """Describe the vehicle; `shape` gives its size."""
        super().__init__({})
        self.name, self.namespace = name, namespace
        self.initial = self.description = description
        self.least_flu, self.greatest_flu = box_of(shape)

    @property
    def state(self) -> VehicleState | None:
        """The newest truth state; None before the first."""
        state: VehicleState | None = self.truth
        return state

    @property
    def box_ned(self) -> tuple[Array, Array, Array]:
        """Centre (3,), half sizes (3,) and axes (3, 3), one a row, of the present box, in NED, m."""
        state = self.state
        assert state is not None
        ends = swap_frd_flu(np.stack([self.least_flu, self.greatest_flu]))
        axes = np.stack([_to_inertial(state.quaternion, axis) for axis in np.eye(3)])
        return state.position_ned + ends.mean(axis=0) @ axes, np.abs(np.ptp(ends, axis=0)) / 2.0, axes

    def set_truth(self, truth: Array) -> Script:
        """Set the truth vector (19,), and wait until it is published.

        Raises:
            StateRefusedError: the dynamics node refuses the state.
            RefusedError: it does not reply.
        """
        before = self.state
        request = SetSimState.Request(state=message_of_truth(truth))
        reply = yield Asked(f"{self.namespace}/{SET_STATE}".lstrip("/"), self.setting[SET_STATE], request)
        if not reply.success:
            raise StateRefusedError(Code.OPERATION_FAILED, reply.message)
        yield Until(lambda: self.state is not before, ARRIVES_S)


def box_of(shape: Appearance) -> tuple[Array, Array]:
    """Least and greatest coordinates (3,) of a shape with all parts at rest, forward, left, up, m."""
    vertices = [part.mesh.vertices.astype(np.float64) + np.array(part.pivot_frd) for part in shape.parts]
    corners = swap_frd_flu(np.concatenate(vertices))
    return corners.min(axis=0), corners.max(axis=0)


def enu_of_state(state: VehicleState) -> tuple[Pose, Twist, Accel]:
    """Pose, velocities and accelerations of a truth state, all in the axes of the world: east, north, up.

    The orientation is that of forward, left, up axes. The accelerations are the inertial ones: sum of all forces over
    mass, and angular acceleration.
    """
    pose, twist, accel = Pose(), Twist(), Accel()
    _set(pose.position, swap_ned_enu(state.position_ned))
    w, x, y, z = swap_attitude(state.quaternion).tolist()
    pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z = w, x, y, z
    for vector, body in (
        (twist.linear, state.velocity_body),
        (twist.angular, state.angular_velocity),
        (accel.linear, state.acceleration_body),
        (accel.angular, state.angular_acceleration),
    ):
        _set(vector, swap_ned_enu(_to_inertial(state.quaternion, body)))
    return pose, twist, accel


def truth_of_enu(truth: Array, pose: Pose | None, twist: Twist | None) -> Array:
    """Truth vector (19,) with another pose and other velocities, given as by `enu_of_state`; None: those of `truth`.

    With a new pose alone, the velocities keep their directions in the world.
    """
    new = truth.copy()
    linear, angular = (_to_inertial(truth[3:7], part) for part in (truth[7:10], truth[10:13]))
    if pose is not None:
        p, q = pose.position, pose.orientation
        new[0:3] = swap_ned_enu([p.x, p.y, p.z])
        new[3:7] = swap_attitude([q.w, q.x, q.y, q.z])
    if twist is not None:
        linear, angular = (swap_ned_enu([v.x, v.y, v.z]) for v in (twist.linear, twist.angular))
    new[7:10], new[10:13] = (rotate_to_body(*new[3:7].tolist(), *vector.tolist()) for vector in (linear, angular))
    return new


def truth_in_frame(pose: Pose, frame: Array | None) -> Array:
    """Truth vector (19,) of a vehicle at rest.

    Args:
        pose: its pose, in the axes of the world or of `frame`, whose x, y and z point forward, left and up.
        frame: (19,) truth vector of the vehicle that has these axes; None: the axes of the world.
    """
    truth = truth_of_enu(_AT_REST, pose, None)
    if frame is None:
        return truth
    p, q = pose.position, pose.orientation
    placed = _AT_REST.copy()
    placed[0:3] = frame[0:3] + _to_inertial(frame[3:7], swap_frd_flu(np.array([p.x, p.y, p.z])))
    placed[3:7] = qmult(frame[3:7], swap_mounting([q.w, q.x, q.y, q.z]))
    return placed


def _to_inertial(quaternion: Array, vector: Array) -> Array:
    return np.array(rotate_to_inertial(*quaternion.tolist(), *vector.tolist()))


def _set(vector: Any, values: Array) -> None:
    vector.x, vector.y, vector.z = values.tolist()
