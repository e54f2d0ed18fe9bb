"""Small motions about a trimmed state: state-space matrices by central differences, and the modes of motion.

Beard and McLain, Small Unmanned Aircraft, section 5.5: about trim, x' = A x + B u for the deviations x of the state and
u of the inputs, with the book's states of chapter 3 (position, velocity in body axes, Euler angles, body rates). The
longitudinal and lateral models are its blocks, and the modes are those of section 5.6.

The modes are computed from both blocks together, without position and heading, which affect them only through the
decrease of density with height. So they hold in a turn too, where the blocks are coupled. Valid where the wrench is
smooth: not at the onset of stall, nor where a propeller coefficient is clipped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.physics.rotations import quaternion_from_euler, rotate_to_body
from rosflight_py_sim.physics.steady_model import Array, SteadyModel
from rosflight_py_sim.physics.trim import Trim

STATES = ("north", "east", "down", "u", "v", "w", "phi", "theta", "psi", "p", "q", "r")
LONGITUDINAL = ("u", "w", "q", "theta", "h")
LATERAL = ("v", "p", "r", "phi", "psi")

_STEPS = np.array([1.0, 1.0, 1.0, 1e-4, 1e-4, 1e-4, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5])
"""Steps of the differences (m, m/s, rad, rad/s); truncation grows with their square, rounding is 1e-14 over them."""
_INPUT_STEP = 1e-5
_MOVING = [STATES.index(name) for name in ("u", "v", "w", "phi", "theta", "p", "q", "r")]
_LONGITUDINAL_NAMES = ("short period", "phugoid", "longitudinal")
_NEUTRAL = 1e-6
_ROUNDING = 1e-6
"""Eigenvalues below it count as zero, rad/s."""


@dataclass(frozen=True)
class Mode:
    """One mode of motion: exp(eigenvalue t), with the conjugate of a complex eigenvalue understood.

    Attributes:
        name: short period, phugoid, dutch roll, roll or spiral; longitudinal or lateral for any other mode.
        eigenvalue: 1/s, its imaginary part not negative.
        shape: (8,) complex eigenvector over u, v, w, phi, theta, p, q, r.
    """

    name: str
    eigenvalue: complex
    shape: np.ndarray

    @property
    def natural_frequency(self) -> float:
        """|eigenvalue|, rad/s."""
        return abs(self.eigenvalue)

    @property
    def damping_ratio(self) -> float:
        """-Re / |eigenvalue|: 1 for a real stable mode, -1 for a real unstable one."""
        return -self.eigenvalue.real / max(abs(self.eigenvalue), 1e-300)

    @property
    def time_constant(self) -> float:
        """Time in which the mode decays by a factor of e (s); negative if it grows, inf if it does neither."""
        return -1.0 / self.eigenvalue.real if abs(self.eigenvalue.real) > _NEUTRAL else math.inf

    @property
    def period(self) -> float:
        """Time of one oscillation (s), inf for an aperiodic mode."""
        return 2.0 * math.pi / self.eigenvalue.imag if self.eigenvalue.imag > 0.0 else math.inf


@dataclass(frozen=True)
class LinearModel:
    """x' = A x + B u about a trimmed state: `a` (12, 12) over STATES, `b` (12, n) over the model's inputs."""

    a: Array
    b: Array
    airspeed: float

    @property
    def longitudinal(self) -> tuple[Array, Array]:
        """A (5, 5) and B (5, n) over LONGITUDINAL, as the book's section 5.5 has them, with all inputs as columns."""
        return self._block(LONGITUDINAL)

    @property
    def lateral(self) -> tuple[Array, Array]:
        """A (5, 5) and B (5, n) over LATERAL, as the book's section 5.5 has them, with all inputs as columns."""
        return self._block(LATERAL)

    def _block(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        chosen = [STATES.index("down" if name == "h" else name) for name in names]
        sign = np.array([-1.0 if name == "h" else 1.0 for name in names])
        return self.a[np.ix_(chosen, chosen)] * np.outer(sign, sign), self.b[chosen] * sign[:, None]

    @property
    def modes(self) -> list[Mode]:
        """The modes, longitudinal ones first, in each group the fastest first."""
        values, shapes = np.linalg.eig(self.a[np.ix_(_MOVING, _MOVING)])
        # Rounding turns a double real eigenvalue into a pair.
        values = np.where(np.abs(values.imag) < _ROUNDING * np.abs(values), values.real, values)
        modes = [Mode("", complex(s), shape) for s, shape in zip(values, shapes.T, strict=True) if s.imag >= 0.0]
        modes.sort(key=lambda mode: -abs(mode.eigenvalue))
        lateral = [self._is_lateral(mode) for mode in modes]
        names = _aeroplane_names(modes, lateral) or ["lateral" if side else "longitudinal" for side in lateral]
        named = [Mode(name, mode.eigenvalue, mode.shape) for name, mode in zip(names, modes, strict=True)]
        return sorted(named, key=lambda mode: mode.name not in _LONGITUDINAL_NAMES)

    def _is_lateral(self, mode: Mode) -> bool:
        u, v, w, phi, theta, p, q, r = np.abs(mode.shape)
        speed, rate = max(self.airspeed, 1.0), max(abs(mode.eigenvalue), 0.01)
        lateral = np.hypot(v / speed, phi) ** 2 + (p**2 + r**2) / rate**2
        longitudinal = (u**2 + w**2) / speed**2 + theta**2 + (q / rate) ** 2
        return bool(lateral > longitudinal)


def _aeroplane_names(modes: list[Mode], lateral: list[bool]) -> list[str]:
    """Names of the modes, fastest first, if the motion is that of an aeroplane, straight or in a turn; else none.

    An aeroplane has two aperiodic modes, the faster of which is lateral, and three oscillations, of which the slowest
    is the phugoid and one other is lateral. In a turn the slow modes are mixed, so their shapes do not identify them.
    """
    swinging = [k for k, mode in enumerate(modes) if mode.eigenvalue.imag > 0.0]
    aperiodic = [k for k in range(len(modes)) if k not in swinging]
    if len(swinging) != 3 or len(aperiodic) != 2 or not lateral[aperiodic[0]]:
        return []
    if lateral[swinging[0]] == lateral[swinging[1]]:
        return []
    names = {aperiodic[0]: "roll", aperiodic[1]: "spiral", swinging[2]: "phugoid"}
    names.update({k: "dutch roll" if lateral[k] else "short period" for k in swinging[:2]})
    return [names[k] for k in range(len(modes))]


def linearise(model: SteadyModel, trimmed: Trim) -> LinearModel:
    """The linear model of `model` about the trimmed state."""
    state = _state_of(trimmed)
    inputs = trimmed.inputs
    columns = []
    for index, step in enumerate(_STEPS):
        change = np.zeros(12)
        change[index] = step
        ahead, behind = _rates(model, state + change, inputs), _rates(model, state - change, inputs)
        columns.append((ahead - behind) / (2.0 * step))
    input_columns = []
    for index, limits in enumerate(model.inputs):
        # An input at its limit is differentiated from inside.
        high = inputs.copy()
        low = inputs.copy()
        high[index] = min(inputs[index] + _INPUT_STEP, limits.maximum)
        low[index] = max(inputs[index] - _INPUT_STEP, limits.minimum)
        span = high[index] - low[index]
        input_columns.append((_rates(model, state, high) - _rates(model, state, low)) / span)
    return LinearModel(np.array(columns).T, np.array(input_columns).T, trimmed.condition.airspeed)


def truth_of(state: Array) -> Array:
    """Truth vector (19,), without accelerations, of a state (12,) over STATES."""
    truth = np.zeros(19)
    truth[0:3] = state[0:3]
    truth[3:7] = quaternion_from_euler(*(float(angle) for angle in state[6:9]))
    truth[7:10] = state[3:6]
    truth[10:13] = state[9:12]
    return truth


def _state_of(trimmed: Trim) -> Array:
    truth = trimmed.truth
    return np.array([*truth[0:3], *truth[7:10], *trimmed.euler, *truth[10:13]])


def _rates(model: SteadyModel, state: Array, inputs: Array) -> Array:
    """d(state)/dt (12,): eq. 3.14 to 3.17 of the book."""
    truth = truth_of(state)
    rate = model.derivative(truth, inputs)
    p, q, r = (float(component) for component in state[9:12])
    roll, pitch = float(state[6]), float(state[7])
    acceleration = rotate_to_body(*(float(c) for c in truth[3:7]), *(float(c) for c in rate[7:10]))
    turn = q * math.sin(roll) + r * math.cos(roll)
    euler_rates = (p + turn * math.tan(pitch), q * math.cos(roll) - r * math.sin(roll), turn / math.cos(pitch))
    return np.array([*rate[0:3], *(acceleration - np.cross(state[9:12], state[3:6])), *euler_rates, *rate[10:13]])
