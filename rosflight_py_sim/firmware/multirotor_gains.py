"""Gains of the firmware's attitude loops for a multirotor, by loop shaping on its linear model in hover.

The firmware adds to its torque command, on each of the roll and pitch axes (`controller.py`, angle mode),

    torque = P (commanded angle - angle) + I integral of it - D rate

and, in rate mode and on the yaw axis, P (commanded rate - rate). From the command to the measured rate, an axis is

    G(z) = b F(z) (N(z) + (1 - N(z)) T_r / tau) s M(s) (1 - a) / (1 - a / z),   z = exp(s T)
    N(z) = (1 - e) / (z - e),   e = exp(-T / tau)
    F(z) = T (3 - 1 / z) / 2 / (z - 1), or T / (z - 1) without `wrench_hold: first_order`

with the step T of the IMU's messages; the angular acceleration b per command (in hover, through mixer and motors, all
lags settled); the motors' time constant tau and the reaction of the accelerating rotors T_r (yaw only); the rate M(s)
per angular acceleration, almost 1/s, which the forces of the rotors in motion change; and the gyroscope's low pass with
the weight a of its old value.

The rate loop, D G, has its crossover at the chosen frequency w. Beyond it, P = D w / 4 places the poles of the
rigid body alone, s^2 + w s + w^2 / 4, at critical damping, and the integrator's corner is a tenth of P / D: the inner
loop is faster than the outer one by a factor of four (K. J. Aastroem, R. M. Murray: Feedback Systems, 2nd ed., 2021,
chapters 10 and 12; R. Beard, T. McLain: Small Unmanned Aircraft, 2012, section 6.3, successive loop closure). Valid
near hover, while no motor saturates.

On the yaw axis, the reaction of the rotors makes the loop fast, so that its gain is limited by the gain margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.command import COMMANDS, FZ, QX, QY, QZ
from rosflight_py_sim.firmware.controller import controller_settings, thrust_at_full_throttle
from rosflight_py_sim.firmware.mixer import mixer_settings, mixer_step
from rosflight_py_sim.firmware.mixer_selection import MixerSelection
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.ground.parameters import ParameterError, Values, number
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.physics.atmosphere import density
from rosflight_py_sim.physics.multirotor import Multirotor
from rosflight_py_sim.physics.steady_model import SteadyModel

Array = NDArray[np.float64]
Response = NDArray[np.complex128]

PHASE_MARGIN_DEG = 60.0
"""Phase margin of the rate loop at the highest crossover that is chosen without one being asked for."""

LEAST_PHASE_MARGIN_DEG, LEAST_GAIN_MARGIN_DB = 40.0, 6.0
"""Margins below which a crossover is refused (Aastroem and Murray, section 10.3: 30 to 60 deg, and 2 to 5)."""

_ROLL_OVER_ANGLE = 4.0
_ANGLE_OVER_INTEGRAL = 10.0
_YAW_GAIN_MARGIN_DB = 10.0

_AXES = {"roll": QX, "pitch": QY, "yaw": QZ}

# Step of the differences, m/s and rad/s.
_STEP = 1e-3

# Lag that counts as a reversal: at half the rate of the steps, it is 180 deg but for the motion of the air.
_REVERSED_DEG = 179.0

# Frequencies of the margins: the lowest, rad/s, and their number.
_LOWEST, _COUNT = 0.05, 8000


@dataclass(frozen=True)
class Axis:
    """Linear model of an axis, from the firmware's command to the rate that it measures.

    Attributes:
        acceleration: b, rad/s^2 per unit of the command (N m with USE_MOTOR_PARAM, else a share).
        motion: derivatives of velocity along the axis' plane, rate and angle by these three, (3, 3), without input: the
            first row m/s^2, the second rad/s^2, the third rad/s. Of yaw, only that of the rate by the rate is not 0.
        lag_s: tau, s.
        reaction_s: T_r, s.
        step_s: T, s.
        is_extrapolated: whether the wrench is held by `first_order`.
        low_pass: a.
    """

    acceleration: float
    motion: Array
    lag_s: float
    reaction_s: float
    step_s: float
    is_extrapolated: bool
    low_pass: float

    @property
    def frequencies(self) -> Array:
        """Frequencies of the margins, rad/s, up to half the rate of the IMU."""
        return np.geomspace(_LOWEST, math.pi / self.step_s, _COUNT)

    def rate(self) -> Response:
        """Rate per command, at the frequencies."""
        s = 1j * self.frequencies
        z = np.exp(s * self.step_s)
        kept = math.exp(-self.step_s / self.lag_s)
        speed = (1.0 - kept) / (z - kept)
        held = self.step_s * (1.5 - 0.5 / z if self.is_extrapolated else 1.0) / (z - 1.0)
        motion = s * np.linalg.inv(s[:, None, None] * np.eye(3) - self.motion)[:, 1, 1]
        rate: Response = self.acceleration * held * (speed + (1.0 - speed) * self.reaction_s / self.lag_s) * motion
        return rate

    def measured_rate(self) -> Response:
        """Rate as the estimator has it, per command."""
        delay = np.exp(-1j * self.frequencies * self.step_s)
        filtered: Response = self.rate() * (1.0 - self.low_pass) / (1.0 - self.low_pass * delay)
        return filtered

    def highest_crossover(self, phase_margin_deg: float) -> float:
        """Highest crossover of the rate loop with a phase margin, rad/s."""
        enough = np.flatnonzero(_lag_deg(self.measured_rate()) <= 180.0 - phase_margin_deg)
        return float(self.frequencies[enough[-1]]) if len(enough) else 0.0


@dataclass(frozen=True)
class AxisDesign:
    """Gains of an axis, and what they achieve.

    Attributes:
        axis: its model.
        crossover: of the rate loop, rad/s.
        p, i, d: gains on the angle, its integral and the rate; of yaw, `d` is that on the rate and the others are 0.
        margins: of the whole loop, broken at the torque.
        bandwidth: frequency at which the response to a command has fallen by 3 dB, rad/s.
        rise_time_s: time from 10 to 90 % of a step of the command.
    """

    axis: Axis
    crossover: float
    p: float
    i: float
    d: float
    margins: Margins
    bandwidth: float
    rise_time_s: float


@dataclass(frozen=True)
class Hover:
    """Hover of a multirotor, and its axes.

    Attributes:
        thrust_command: force command in hover, N or a share of full thrust.
        max_thrust: the autopilot's `max_thrust`, N: the weight divided by the throttle in hover.
        axes: roll, pitch and yaw.
    """

    thrust_command: float
    max_thrust: float
    axes: Mapping[str, Axis]


def hover_of(values: Values, dynamics: Values, firmware: FirmwareParameters, step_s: float) -> Hover:
    """Linear model of a multirotor in hover, at its origin and with a full battery.

    Args:
        values: MULTIROTOR_PARAMETERS.
        dynamics: DYNAMICS_PARAMETERS.
        firmware: parameters of the firmware; those of a predefined mixer are filled in.
        step_s: time between two messages of the IMU, s.

    Raises:
        ParameterError: the mixer does not command one of the axes, or the vehicle cannot hover.
    """
    vehicle = Multirotor(values)
    still_air, truth = np.zeros(3), np.zeros(19)
    # Far from the ground.
    truth[2], truth[3] = -100.0, 1.0
    model = SteadyModel(dynamics, [], lambda state, throttles: vehicle.steady_wrench(state, still_air, throttles))
    types = np.zeros(OUTPUTS)
    selection = MixerSelection(firmware, lambda severity, text: None, types)
    if selection.fault:
        raise ParameterError(f"the firmware's mixer cannot be used: {selection.fault}")
    settings = mixer_settings(firmware)
    air = density(number(values, "origin_altitude")) if "origin_altitude" in values else density(0.0)
    voltage = number(values, "V_max")

    def throttles(thrust: float, row: int = FZ, torque: float = 0.0) -> Array:
        command, raw = np.zeros(COMMANDS), np.zeros(OUTPUTS)
        command[row] = torque
        command[FZ] = -thrust
        nothing = np.zeros(OUTPUTS)
        mixer_step(settings, selection.matrix, types, nothing, nothing, command, raw, True, air, voltage)
        return raw[: vehicle.outputs].copy()

    def lift(thrust: float) -> float:
        return -float(vehicle.steady_wrench(truth, still_air, throttles(thrust))[2])

    weight = model.mass * model.gravity
    thrust = _hover_command(lift, weight, bool(firmware["USE_MOTOR_PARAM"]))
    lag_s = number(values, "motor_time_constant")
    axes = {}
    for name, row in _AXES.items():
        step = 0.02 * thrust * (0.1 if firmware["USE_MOTOR_PARAM"] else 1.0)
        more, less = throttles(thrust, row, step), throttles(thrust, row, -step)
        rates = [model.derivative(truth.copy(), one)[10 + row - QX] for one in (more, less)]
        acceleration = float(rates[0] - rates[1]) / (2.0 * step)
        if not acceleration > 0.0:
            raise ParameterError(
                f"the firmware's mixer turns the vehicle by {acceleration:.3g} rad/s^2 per unit of {name} command; "
                "allowed: more than 0; PRIMARY_MIXER or the order of the rotors does not fit the vehicle"
            )
        reaction_s = 0.0
        if row == QZ:
            speeds = vehicle.steady_speeds(truth, still_air, more) - vehicle.steady_speeds(truth, still_air, less)
            turns = np.array(values["rotor_rotation_directions"], dtype=np.float64)
            # A rotor that turns clockwise (1) and accelerates turns the vehicle the other way.
            momentum = -number(values, "rotor_inertia") * float(turns @ speeds) / (2.0 * step)
            reaction_s = momentum / (acceleration * number(dynamics, "Jzz"))
        low_pass = float(firmware["GYRO_Z_LPF" if row == QZ else "GYRO_XY_LPF"])
        axes[name] = Axis(
            acceleration,
            _motion(model, truth, throttles(thrust), row),
            lag_s,
            reaction_s,
            step_s,
            dynamics["wrench_hold"] == "first_order",
            low_pass,
        )
    scale = float(thrust_at_full_throttle(controller_settings(firmware), air))
    return Hover(thrust, weight * scale / thrust, axes)


def _motion(model: SteadyModel, truth: Array, throttles: Array, row: int) -> Array:
    """Derivatives of velocity, rate and angle of an axis by these three, by central differences."""
    rate = 10 + row - QX
    # Roll moves the vehicle to the right (y), pitch backwards (x), yaw nowhere.
    along = {QX: 8, QY: 7}.get(row)
    motion = np.zeros((3, 3))
    for column, place in ((0, along), (1, rate)):
        if place is None:
            continue
        derivatives = []
        for sign in (1.0, -1.0):
            moved = truth.copy()
            moved[place] += sign * _STEP
            derivatives.append(model.derivative(moved, throttles))
        slope = (derivatives[0] - derivatives[1]) / (2.0 * _STEP)
        motion[1, column] = slope[rate]
        if along is not None:
            motion[0, column] = slope[along]
    if along is not None:
        motion[0, 2] = model.gravity if row == QX else -model.gravity
        motion[2, 1] = 1.0
    return motion


def _hover_command(lift: Callable[[float], float], weight: float, in_newtons: bool) -> float:
    """Force command whose lift is the weight."""
    low, high = 0.0, (10.0 * weight if in_newtons else 1.0)
    if lift(high) < weight:
        raise ParameterError(f"thrust of all motors: {lift(high):.4g} N; allowed: more than the weight, {weight:.4g} N")
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if lift(middle) < weight else (low, middle)
    return high


def designed(hover: Hover, *, crossover: float | None = None, least_crossover: float = 0.0) -> dict[str, AxisDesign]:
    """Gains of roll, pitch and yaw.

    Args:
        hover: the vehicle.
        crossover: of the roll and pitch rate loops, rad/s; None: the highest with `PHASE_MARGIN_DEG`.
        least_crossover: lowest crossover of use, rad/s.

    Raises:
        ParameterError: the motors are too slow for the crossover; the text names it, and the highest possible.
    """
    designs = {}
    for name, axis in hover.axes.items():
        highest = axis.highest_crossover(PHASE_MARGIN_DEG)
        slow = f"motor_time_constant {axis.lag_s:g} s: the motors are too slow"
        if name == "yaw":
            designs[name] = _designed_yaw(axis, highest)
            continue
        chosen = highest if crossover is None else crossover
        if chosen < least_crossover:
            raise ParameterError(
                f"{slow}: the {name} rate loop can have a crossover of {chosen:.3g} rad/s with a phase margin of "
                f"{PHASE_MARGIN_DEG:g} deg; allowed: at least {least_crossover:.3g} rad/s, which the position "
                "controller needs"
            )
        designs[name] = one = _designed(axis, chosen, angle=True)
        if one.margins.phase_deg < LEAST_PHASE_MARGIN_DEG or one.margins.gain_db < LEAST_GAIN_MARGIN_DB:
            raise ParameterError(
                f"{slow} for a crossover of {chosen:.4g} rad/s: {name} would have a phase margin of "
                f"{one.margins.phase_deg:.3g} deg and a gain margin of {one.margins.gain_db:.3g} dB; allowed: at least "
                f"{LEAST_PHASE_MARGIN_DEG:g} deg and {LEAST_GAIN_MARGIN_DB:g} dB, as with a crossover of up to "
                f"{highest:.3g} rad/s"
            )
    return designs


def _designed_yaw(axis: Axis, highest: float) -> AxisDesign:
    """The gain with `_YAW_GAIN_MARGIN_DB`, or with `PHASE_MARGIN_DEG` if that is smaller."""
    frequencies, size = axis.frequencies, np.abs(axis.measured_rate())
    unit = margins(axis.measured_rate() / size[0] * 1e3, frequencies)
    by_gain = 10.0 ** ((unit.gain_db - _YAW_GAIN_MARGIN_DB) / 20.0) * 1e3 / size[0]
    gain = min(by_gain, 1.0 / float(np.interp(highest, frequencies, size)))
    crossover = float(frequencies[np.flatnonzero(gain * size >= 1.0)[-1]])
    return _designed(axis, crossover, angle=False)


def _designed(axis: Axis, crossover: float, *, angle: bool) -> AxisDesign:
    frequencies, rate, measured = axis.frequencies, axis.rate(), axis.measured_rate()
    d = 1.0 / float(np.interp(crossover, frequencies, np.abs(measured)))
    p = d * crossover / _ROLL_OVER_ANGLE if angle else 0.0
    i = p * crossover / (_ROLL_OVER_ANGLE * _ANGLE_OVER_INTEGRAL)
    s = 1j * frequencies
    loop = (d + p / s + i / (s * s)) * measured
    closed = (p / s + i / (s * s) if angle else d) * rate / (1.0 + loop)
    # A step is followed at once at low frequencies, and least at high ones.
    fallen = np.flatnonzero((np.abs(closed) < math.sqrt(0.5)) & (frequencies > 0.1 * crossover))
    return AxisDesign(
        axis,
        crossover,
        p,
        i,
        d,
        margins(loop, frequencies),
        float(frequencies[fallen[0]]) if len(fallen) else float(frequencies[-1]),
        rise_time(closed, frequencies),
    )


@dataclass(frozen=True)
class Margins:
    """Stability margins of a loop.

    Attributes:
        phase_deg: phase margin at the highest crossing of magnitude 1.
        gain_db: gain margin above that crossing; infinite if the phase does not lag by 180 deg.
        oscillation: frequency at which the loop oscillates if its gain is raised by the gain margin, rad/s.
    """

    phase_deg: float
    gain_db: float
    oscillation: float


def margins(loop: Response, frequencies: Array) -> Margins:
    """Margins of a loop that crosses magnitude 1, and lags by less than 360 deg there."""
    size, lag = np.abs(loop), _lag_deg(loop)
    last = int(np.flatnonzero(size >= 1.0)[-1])
    beyond = last + np.flatnonzero(lag[last:] >= _REVERSED_DEG)
    if not len(beyond):
        return Margins(180.0 - float(lag[last]), math.inf, math.inf)
    at = beyond[0]
    return Margins(180.0 - float(lag[last]), float(-20.0 * np.log10(size[at])), float(frequencies[at]))


def _lag_deg(loop: Response) -> Array:
    """Phase lag, 0 to 360 deg."""
    lag: Array = np.degrees(-np.angle(loop)) % 360.0
    return lag


def step_response(closed: Response, frequencies: Array, time_s: Array) -> Array:
    """Response to a step of the command: 2/pi times the integral of Re(closed) sin(w t) / w over the frequencies w."""
    kernel = np.sin(np.outer(time_s, frequencies)) / frequencies
    # Below the lowest frequency, the response follows the command.
    below = 2.0 / math.pi * frequencies[0] * time_s
    areas = 0.5 * np.diff(frequencies) * ((closed.real * kernel)[:, 1:] + (closed.real * kernel)[:, :-1])
    response: Array = below + 2.0 / math.pi * areas.sum(axis=1)
    return response


def rise_time(closed: Response, frequencies: Array) -> float:
    """Time from 10 to 90 % of a step of the command, s."""
    time_s = np.linspace(0.0, 4.0, 801)
    response = step_response(closed, frequencies, time_s)
    low, high = (int(np.argmax(response >= share)) for share in (0.1, 0.9))
    return float(time_s[high] - time_s[low])


def firmware_gains(designs: Mapping[str, AxisDesign]) -> dict[str, float]:
    """The firmware's parameters for a design."""
    gains: dict[str, float] = {}
    for name in ("roll", "pitch"):
        one, prefix = designs[name], f"PID_{name.upper()}"
        gains |= {f"{prefix}_ANG_P": one.p, f"{prefix}_ANG_I": one.i, f"{prefix}_ANG_D": one.d}
        gains |= {f"{prefix}_RATE_P": one.d, f"{prefix}_RATE_I": 0.0, f"{prefix}_RATE_D": 0.0}
    return gains | {"PID_YAW_RATE_P": designs["yaw"].d, "PID_YAW_RATE_I": 0.0, "PID_YAW_RATE_D": 0.0}
