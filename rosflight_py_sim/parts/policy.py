"""Policies: functions from an observation to an action, by name or from a file, and the form of both arrays.

Observation and action are float32 arrays, as learning libraries use them. The arithmetic before and after is float64;
`observation_of` and `action_of` alone round, so that a policy flies alike wherever it runs.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.autopilot.goals import Goal
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.parameters import Parameter, ParameterError
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_body, rotate_to_inertial

Array: TypeAlias = npt.NDArray[np.float32]
Array64: TypeAlias = npt.NDArray[np.float64]
Policy: TypeAlias = Callable[[Array], Any]
"""Function from an observation (n,) to an action (m,), whose elements are from -1 to 1."""

OBSERVED = 17
"""Number of elements of an observation before the last action."""

POLICY = Parameter(
    "policy",
    "",
    "Policy that flies: MODULE:NAME of a Python function or class, or the path of an ONNX file (docs/learning.md)",
    required=True,
    read_only=True,
)

_ALLOWED = "MODULE:NAME of a function or class, or the path of a file whose name ends in .onnx"


class Motion(NamedTuple):
    """Motion of the vehicle as the policy's observation has it: true, or estimated from sensors.

    Attributes:
        position_ned: m.
        velocity_ned: over ground, m/s.
        quaternion: body to inertial, w x y z.
        rates: angular velocity in body axes, rad/s.
    """

    position_ned: Vector3
    velocity_ned: Vector3
    quaternion: tuple[float, float, float, float]
    rates: Vector3


class PolicyError(ValueError):
    """A policy that returned an action that is not allowed; the text names the policy and the action."""


@kernel
def write_observation(
    motion: Array64,
    goal: Array64,
    last_action: Array64,
    observation: Array64,
) -> None:
    """Write the observation of `observation_of` (17 + m,).

    Args:
        motion: position and velocity NED, quaternion, angular velocity (13,), as in `Motion`.
        goal: position, velocity and next position NED, yaw (10,), as in `Goal`.
        last_action: last action (m,).
        observation: the result.
    """
    qw, qx, qy, qz = motion[6], motion[7], motion[8], motion[9]
    _, _, yaw = euler_from_quaternion(qw, qx, qy, qz)
    turn = goal[9] - yaw
    for first, other in ((0, 0), (3, 3), (6, 0)):
        x, y, z = rotate_to_body(
            qw,
            qx,
            qy,
            qz,
            goal[first] - motion[other],
            goal[first + 1] - motion[other + 1],
            goal[first + 2] - motion[other + 2],
        )
        observation[first], observation[first + 1], observation[first + 2] = x, y, z
    x, y, z = rotate_to_body(qw, qx, qy, qz, 0.0, 0.0, 1.0)
    observation[9], observation[10], observation[11] = x, y, z
    observation[12], observation[13], observation[14] = motion[10], motion[11], motion[12]
    observation[15], observation[16] = math.sin(turn), math.cos(turn)
    for i in range(len(last_action)):
        observation[OBSERVED + i] = last_action[i]


@kernel
def observe_lanes(
    truths: Array64,
    goals: Array64,
    last_actions: Array64,
    motion: Array64,
    observations: Array64,
) -> None:
    """Write the observations (n, 17 + m) of vehicles with the truths (n, 19); `motion` (13,) is scratch memory."""
    for i in range(truths.shape[0]):
        for k in range(3):
            motion[k], motion[10 + k] = truths[i, k], truths[i, 10 + k]
        for k in range(4):
            motion[6 + k] = truths[i, 3 + k]
        north, east, down = rotate_to_inertial(
            truths[i, 3], truths[i, 4], truths[i, 5], truths[i, 6], truths[i, 7], truths[i, 8], truths[i, 9]
        )
        motion[3], motion[4], motion[5] = north, east, down
        write_observation(motion, goals[i, :], last_actions[i, :], observations[i, :])


def true_motion(truth: Array64) -> Motion:
    """The motion in a truth vector (19,)."""
    north, east, down, qw, qx, qy, qz, u, v, w, p, q, r = truth[:13].tolist()
    return Motion((north, east, down), rotate_to_inertial(qw, qx, qy, qz, u, v, w), (qw, qx, qy, qz), (p, q, r))


def observation_of(motion: Motion, goal: Goal, last_action: Array) -> Array:
    """Observation (17 + m,) of a policy that has `last_action` (m,).

    All vectors are in body axes (forward, right, down):

    - 0 to 2: from the vehicle to the goal, m
    - 3 to 5: velocity of the goal less that of the vehicle, m/s
    - 6 to 8: from the vehicle to the next goal, m
    - 9 to 11: unit vector down
    - 12 to 14: angular velocity, rad/s
    - 15, 16: sine and cosine of the turn to the right that the heading needs
    - from 17: the last action, 0 at first
    """
    position, velocity, attitude, rates = motion
    moving = np.array((*position, *velocity, *attitude, *rates))
    observation = np.empty(OBSERVED + len(last_action))
    write_observation(moving, goal.numbers, last_action.astype(np.float64), observation)
    return observation.astype(np.float32)


def action_of(given: Any, size: int, name: str) -> Array:
    """Action (m,) of float32 from what a policy of that name returned, each element limited to -1 to 1.

    Raises:
        PolicyError: not `size` finite numbers.
    """
    try:
        action = np.array(given, dtype=np.float32).reshape(-1)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy '{name}' returned {given!r}; allowed: {size} numbers from -1 to 1") from error
    if action.shape != (size,) or not np.isfinite(action).all():
        raise PolicyError(f"policy '{name}' returned {action.tolist()}; allowed: {size} finite numbers from -1 to 1")
    return np.clip(action, np.float32(-1.0), np.float32(1.0))


def neutral(observation: Array) -> Array:
    """Policy whose actions are all 0."""
    return np.zeros(len(observation) - OBSERVED, dtype=np.float32)


def load_policy(name: str, observed: int, acts: int) -> Policy:
    """The policy of that name; a class is called without arguments first, so that each vehicle has its own state.

    Args:
        name: MODULE:NAME, or the path of an ONNX file.
        observed: size of the observation.
        acts: size of the action.

    Raises:
        ParameterError: there is no such policy, or it cannot be loaded.
    """
    if name.endswith(".onnx"):
        return _onnx_policy(Path(name), observed, acts)
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise _refusal(name)
    try:
        found = getattr(importlib.import_module(module), attribute)
        policy: Any = found() if inspect.isclass(found) else found
    except Exception as error:
        raise ParameterError(
            f"parameter 'policy': '{name}' given, which cannot be loaded: {error} ({type(error).__name__})"
        ) from error
    if not callable(policy):
        raise _refusal(name)
    return cast("Policy", policy)


def _refusal(name: str) -> ParameterError:
    return ParameterError(f"parameter 'policy': '{name}' given; allowed: {_ALLOWED}")


def _onnx_policy(file: Path, observed: int, acts: int) -> Policy:
    """Policy in an ONNX file: one input and one output of float32, each (n,) or (1, n)."""
    try:
        import onnxruntime
    except ImportError as error:
        raise missing_extra(f"the policy '{file}'", error, "learn") from error
    options = onnxruntime.SessionOptions()
    # One thread, so that sums have one order, and a pass of a small network does not wait for other threads.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        text = " ".join(str(error).split())
        raise ParameterError(f"parameter 'policy': '{file}' given, which cannot be loaded: {text}") from error
    inputs, outputs = session.get_inputs(), session.get_outputs()
    shape = [one.shape for one in (*inputs, *outputs)]
    sizes = [row[-1] if row else 0 for row in shape]
    if (
        len(inputs) != 1
        or len(outputs) != 1
        or any(isinstance(size, int) and size != wanted for size, wanted in zip(sizes, (observed, acts), strict=True))
    ):
        raise ParameterError(
            f"parameter 'policy': '{file}' given, with inputs and outputs of the shapes {shape}; allowed: one input "
            f"with {observed} elements and one output with {acts}"
        )
    name, is_row = inputs[0].name, len(shape[0]) == 2

    def policy(observation: Array) -> Any:
        return session.run(None, {name: observation[np.newaxis] if is_row else observation})[0]

    return policy
