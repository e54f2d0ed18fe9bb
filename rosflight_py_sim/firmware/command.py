"""Command arbitration per axis: pilot, companion computer or failsafe."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum, IntFlag
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.firmware.rc import Receiver, Stick, Switch
from rosflight_py_sim.kernels.record import kernel_record

COMMANDS = 10
FX, FY, FZ, QX, QY, QZ = range(6)
MUXED = 6
_ALL_BITS, _MUXED_BITS = (1 << COMMANDS) - 1, (1 << MUXED) - 1
"""Number of commands that the pilot can override; the four spare ones always come from the companion computer."""


class CommandType(IntEnum):
    """Meaning of the value of one axis."""

    RATE = 0
    ANGLE = 1
    THROTTLE = 2
    PASS_THROUGH = 3


class CommandMode(IntEnum):
    """`mode` of a command message, and `control_mode` of the status."""

    PASS_THROUGH = 0
    ROLLRATE_PITCHRATE_YAWRATE_THROTTLE = 1
    ROLL_PITCH_YAWRATE_THROTTLE = 2


class Override(IntFlag):
    """Bits of `rc_override`: reasons for the pilot's command to apply."""

    NONE = 0x0
    ATT_SWITCH = 0x1
    THR_SWITCH = 0x2
    X = 0x4
    Y = 0x8
    Z = 0x10
    T = 0x20
    OFFBOARD_X_INACTIVE = 0x40
    OFFBOARD_Y_INACTIVE = 0x80
    OFFBOARD_Z_INACTIVE = 0x100
    OFFBOARD_T_INACTIVE = 0x200


# Plain numbers from here on: enumerations are too slow for code that runs with every frame and command.
_ATT_SWITCH, _THR_SWITCH = int(Override.ATT_SWITCH), int(Override.THR_SWITCH)
BY_SWITCH = _ATT_SWITCH | _THR_SWITCH
"""Bits of `rc_override` that a switch of the transmitter sets."""

_T, _T_INACTIVE = int(Override.T), int(Override.OFFBOARD_T_INACTIVE)
_X = _ATT_SWITCH | int(Override.X | Override.OFFBOARD_X_INACTIVE)
_Y = _ATT_SWITCH | int(Override.Y | Override.OFFBOARD_Y_INACTIVE)
_Z = _ATT_SWITCH | int(Override.Z | Override.OFFBOARD_Z_INACTIVE)
THROTTLE_OVERRIDDEN = _THR_SWITCH | _T | _T_INACTIVE
ATTITUDE_OVERRIDDEN = _X | _Y | _Z
_OVERRIDDEN = tuple(enumerate((THROTTLE_OVERRIDDEN, THROTTLE_OVERRIDDEN, THROTTLE_OVERRIDDEN, _X, _Y, _Z)))
_MOVED = int(Override.X | Override.Y | Override.Z)
_STICK_X, _STICK_Y, _STICK_Z, _STICK_F = int(Stick.X), int(Stick.Y), int(Stick.Z), int(Stick.F)
_STICKS = (
    (QX, _STICK_X, int(Override.X), int(Override.OFFBOARD_X_INACTIVE)),
    (QY, _STICK_Y, int(Override.Y), int(Override.OFFBOARD_Y_INACTIVE)),
    (QZ, _STICK_Z, int(Override.Z), int(Override.OFFBOARD_Z_INACTIVE)),
)
# By the bits of the offboard command's values QX, QY and QZ.
_INACTIVE = tuple(
    sum(inactive for axis, _, _, inactive in _STICKS if not active >> axis - QX & 1) for active in range(8)
)
_ATTITUDE_OVERRIDE, _THROTTLE_OVERRIDE = int(Switch.ATTITUDE_OVERRIDE), int(Switch.THROTTLE_OVERRIDE)
_ATTITUDE_TYPE = int(Switch.ATTITUDE_TYPE)

_RATE, _ANGLE = float(CommandType.RATE), float(CommandType.ANGLE)
_THROTTLE, _PASS_THROUGH = float(CommandType.THROTTLE), float(CommandType.PASS_THROUGH)
_RATES = (_THROTTLE, _THROTTLE, _THROTTLE, _RATE, _RATE, _RATE, *[_PASS_THROUGH] * 4)
_ANGLES = (_THROTTLE, _THROTTLE, _THROTTLE, _ANGLE, _ANGLE, _RATE, *[_PASS_THROUGH] * 4)
_ALL_PASS_THROUGH = (_PASS_THROUGH,) * COMMANDS
_MODE_TYPES = {
    int(CommandMode.PASS_THROUGH): _ALL_PASS_THROUGH,
    int(CommandMode.ROLLRATE_PITCHRATE_YAWRATE_THROTTLE): _RATES,
    int(CommandMode.ROLL_PITCH_YAWRATE_THROTTLE): _ANGLES,
}

_MODE_PASS_THROUGH, _MODE_RATES, _MODE_ANGLES = _MODE_TYPES
_MODES = {types: mode for mode, types in _MODE_TYPES.items()}

# Writes ten values in half the time of an assignment to a row.
_write_values: Callable[..., None] = Struct(f"{COMMANDS}d").pack_into

PARAMETERS_USED = frozenset(
    [
        *("FIXED_WING", "FAILSAFE_THR", "RC_F_AXIS", "RC_ATT_MODE", "RC_MAX_ROLL", "RC_MAX_PITCH", "RC_MAX_ROLLRATE"),
        *("RC_MAX_PITCHRATE", "RC_MAX_YAWRATE", "RC_OVRD_DEV", "RC_OVRD_LAG_T", "TAKE_MIN_THR", "OFFBOARD_TIMEOUT"),
    ]
)
"""Parameters whose change requires a call of `configure`."""


@kernel_record
class CommandInForce:
    """How a chain takes over a command of the companion computer, which follows one that is in force.

    Attributes:
        is_steady: whether a command like the last one changes nothing but its values.
        mode: mode of the last one.
        overridden: bits of the values that the pilot overrides.
        throttle_axis: number of the throttle's value.
        stick_throttle: throttle of the stick, which overrides a higher one; infinite if it does not.
        is_lower: whether it overrides the last command.
        timeout_us: time for which a command is in force, us.
        tick_us: resolution of the clock, us.
    """

    is_steady: bool
    mode: int
    overridden: int
    throttle_axis: int
    stick_throttle: float
    is_lower: bool
    timeout_us: int
    tick_us: int


class CommandMux:
    """Combines the pilot's, companion computer's and failsafe commands.

    `combined` (2, 10) holds the resulting command: row 0 the ten values, row 1 their `CommandType`. `rc_override` is
    the bit field of the status. `due_us` is the time at which the result may change without new input: an offboard
    command or a stick's override lag expires. `in_force` is for a chain.
    """

    def __init__(self, parameters: FirmwareParameters, receiver: Receiver, quirks: Quirks = REPAIRED) -> None:
        self.combined: NDArray[np.float64] = np.zeros((2, COMMANDS))
        self._values = [0.0] * COMMANDS
        self._types = list(_ANGLES)
        self.combined[1] = self._types
        self.rc_override = int(Override.NONE)
        self.failsafe_is_valid = True
        self.due_us: float = math.inf
        self._parameters = parameters
        self._receiver = receiver
        self._tick_us = quirks.clock_tick_us
        self._rc_values = [0.0] * COMMANDS
        self._rc_types = _ANGLES
        self._offboard_values = [0.0] * COMMANDS
        self._offboard_types = _ANGLES
        # Bit i: value i of the offboard command is in force.
        self._offboard_active = 0
        self._offboard_time_us = 0
        self._deviation_us: list[float] = [-math.inf] * MUXED
        # The sticks that were read last (None: to be read again), what follows from them, and until when.
        self._sticks_read: Sequence[float] | None = None
        self._by_pilot, self._by_pilot_until_us = 0, -math.inf
        self.in_force = CommandInForce(
            is_steady=False,
            mode=0,
            overridden=0,
            throttle_axis=0,
            stick_throttle=0.0,
            is_lower=False,
            timeout_us=0,
            tick_us=1,
        )
        self.configure()
        self.rc_override = self._override(0)

    def configure(self) -> None:
        """Read the scales and rules from the parameters."""
        get = self._parameters.__getitem__
        self._fixed_wing = bool(get("FIXED_WING"))
        self._throttle_axis = int(get("RC_F_AXIS"))
        self._angle_sticks = bool(get("RC_ATT_MODE"))
        self._max_angles = (float(get("RC_MAX_ROLL")), float(get("RC_MAX_PITCH")))
        self._max_rates = (float(get("RC_MAX_ROLLRATE")), float(get("RC_MAX_PITCHRATE")))
        self._max_yaw_rate = float(get("RC_MAX_YAWRATE"))
        self._deviation = float(get("RC_OVRD_DEV"))
        self._lag_us = int(get("RC_OVRD_LAG_T")) * 1000
        self._take_lower_throttle = bool(get("TAKE_MIN_THR"))
        self._timeout_us = int(get("OFFBOARD_TIMEOUT")) * 1000
        throttle = float(get("FAILSAFE_THR"))
        # A fixed wing glides in failsafe, so it needs no throttle.
        self.failsafe_is_valid = self._fixed_wing or 0.0 <= throttle <= 1.0
        self._failsafe_throttle = throttle if self.failsafe_is_valid and not self._fixed_wing else 0.0
        self._sticks_read = None

    @property
    def offboard_active(self) -> bool:
        """Whether a command of the companion computer is in force on any axis."""
        return self._offboard_active & _MUXED_BITS != 0

    @property
    def control_mode(self) -> int:
        """Current `CommandMode` of the roll axis."""
        roll = self._types[QX]
        if self._fixed_wing or roll == _PASS_THROUGH:
            return _MODE_PASS_THROUGH
        return _MODE_ANGLES if roll == _ANGLE else _MODE_RATES

    @property
    def pilot_command(self) -> tuple[Sequence[float], Sequence[float]]:
        """Command of the sticks: ten values and their `CommandType`s."""
        self._interpret_sticks()
        return self._rc_values, self._rc_types

    def set_offboard(self, time_us: int, mode: int, ignore: int, values: Sequence[float]) -> None:
        """Take a command of the companion computer.

        Raises:
            ValueError: an unknown mode, not ten values, or one that is not finite; the old command stays in force.
        """
        types = _MODE_TYPES.get(mode)
        if types is None:
            raise ValueError(f"command mode {mode} given; allowed: {', '.join(f'{int(m)}' for m in CommandMode)}")
        floats = list(map(float, values))
        if len(floats) != COMMANDS:
            raise ValueError(f"a command has {COMMANDS} values, {len(floats)} given")
        if not math.isfinite(sum(floats)) and not all(map(math.isfinite, floats)):
            raise ValueError(f"a command must be finite: {floats}")
        self._offboard_values = floats
        self._offboard_types = types
        self._offboard_active = ~ignore & _ALL_BITS
        self._offboard_time_us = self._clock_us(time_us)

    def count_sticks_as_moved(self, time_us: int) -> None:
        """Let every stick override the companion computer for RC_OVRD_LAG_T from now on."""
        self._deviation_us = [self._clock_us(time_us)] * MUXED
        self._sticks_read = None

    def clock_went_back(self) -> None:
        """Drop the offboard command and the sticks' lags."""
        self._offboard_active = 0
        self._deviation_us = [-math.inf] * MUXED
        self._sticks_read = None

    def fail_safe(self) -> None:
        """Command level flight at FAILSAFE_THR (fixed wing: everything at zero)."""
        self._values = [0.0] * COMMANDS
        self._types = list(_ALL_PASS_THROUGH if self._fixed_wing else _ANGLES)
        self._values[self._throttle_axis] = self._failsafe_throttle
        self.combined[:] = self._values, self._types

    def run_without_rc(self, time_us: int) -> None:
        """Command what the companion computer does, and as `fail_safe` on each axis without a valid command."""
        self._expire(self._clock_us(time_us))
        self.fail_safe()
        active = self._offboard_active
        for axis in range(COMMANDS):
            if active >> axis & 1:
                self._values[axis], self._types[axis] = self._offboard_values[axis], self._offboard_types[axis]
        self.combined[:] = self._values, self._types
        self.rc_override = self._inactive()
        self.due_us = self._next_change_us(time_us)

    def run(self, time_us: int) -> None:
        """Interpret the sticks and combine them with the offboard command."""
        now_us = self._clock_us(time_us)
        self._expire(now_us)
        override = self.rc_override = self._override(now_us)
        values, types = self._offboard_values.copy(), list(self._offboard_types)
        if override:
            for axis, bits in _OVERRIDDEN:
                if override & bits:
                    values[axis], types[axis] = self._rc_values[axis], self._rc_types[axis]
        if values != self._values:
            self._values = values
            _write_values(self.combined, 0, *values)
        if types != self._types:
            self._types = types
            self.combined[1] = types
        self.due_us = self._next_change_us(time_us)

    # Commands that a chain takes over.

    @property
    def is_settled(self) -> bool:
        """Whether `run` has interpreted the sticks with the present parameters."""
        return self._sticks_read is self._receiver.sticks

    def prepare_pass(self) -> None:
        """Set `in_force` for the next passes of a chain."""
        override, axis, one = self.rc_override, self._throttle_axis, self.in_force
        one.is_steady = self.is_settled and not override & _MOVED and self._offboard_active == _ALL_BITS
        one.mode = _MODES[self._offboard_types]
        one.overridden = sum(1 << number for number, bits in _OVERRIDDEN if override & bits)
        one.throttle_axis, one.is_lower = axis, bool(override & _T)
        one.stick_throttle = self._rc_values[axis] if self._take_lower_throttle else math.inf
        one.timeout_us, one.tick_us = self._timeout_us, self._tick_us

    def resume(self, arrival_us: int, values: list[float]) -> None:
        """Continue after a chain has taken over a command of these values, which arrived at `arrival_us`."""
        self._offboard_values, self._offboard_time_us = values, self._clock_us(arrival_us)
        self._values = self.combined[0].tolist()
        self.due_us = self._offboard_time_us + self._timeout_us + self._tick_us

    def _clock_us(self, time_us: int) -> int:
        """Time that the clock of lags and time-outs shows, us."""
        return time_us - time_us % self._tick_us

    def _expire(self, now_us: int) -> None:
        if now_us > self._offboard_time_us + self._timeout_us:
            self._offboard_active = 0

    def _inactive(self) -> int:
        """Bits of the axes without an offboard command."""
        active = self._offboard_active
        bits = _INACTIVE[active >> QX & 0b111]
        return bits if active >> self._throttle_axis & 1 else bits | _T_INACTIVE

    def _interpret_sticks(self) -> None:
        receiver = self._receiver
        sticks, values = receiver.sticks, self._rc_values
        values[FX] = values[FY] = values[FZ] = 0.0
        values[self._throttle_axis] = sticks[_STICK_F]
        roll, pitch, yaw = sticks[_STICK_X], sticks[_STICK_Y], sticks[_STICK_Z]
        if self._fixed_wing:
            values[QX], values[QY], values[QZ] = roll, pitch, yaw
            self._rc_types = _ALL_PASS_THROUGH
            return
        by_switch = receiver.mapped[_ATTITUDE_TYPE]
        angle = receiver.switches[_ATTITUDE_TYPE] if by_switch else self._angle_sticks
        scale = self._max_angles if angle else self._max_rates
        values[QX], values[QY], values[QZ] = roll * scale[0], pitch * scale[1], yaw * self._max_yaw_rate
        self._rc_types = _ANGLES if angle else _RATES

    def _override(self, now_us: int) -> int:
        """Reasons for the pilot's command to apply."""
        if self._receiver.sticks is not self._sticks_read or now_us >= self._by_pilot_until_us:
            self._interpret_sticks()
            self._find_moved_sticks(now_us)
        override = self._by_pilot | self._inactive()
        axis = self._throttle_axis
        if self._take_lower_throttle and self._rc_values[axis] < self._offboard_values[axis]:
            override |= _T
        return override

    def _find_moved_sticks(self, now_us: int) -> None:
        """Determine which switches and sticks override the companion computer, and until when without a new frame."""
        switches, sticks, deviation_us = self._receiver.switches, self._receiver.sticks, self._deviation_us
        bits = _ATT_SWITCH if switches[_ATTITUDE_OVERRIDE] else 0
        if switches[_THROTTLE_OVERRIDE]:
            bits |= _THR_SWITCH
        until_us = math.inf
        for axis, stick, moved, _ in _STICKS:
            if now_us >= deviation_us[axis] + self._lag_us:
                if not abs(sticks[stick]) > self._deviation:
                    continue
                deviation_us[axis] = now_us
            bits |= moved
            until_us = min(until_us, deviation_us[axis] + self._lag_us)
        self._by_pilot, self._by_pilot_until_us, self._sticks_read = bits, until_us, sticks

    def _next_change_us(self, time_us: int) -> float:
        due = math.inf
        if self._offboard_active:
            due = self._offboard_time_us + self._timeout_us + self._tick_us
        if self.rc_override & _MOVED:
            for last in self._deviation_us:
                if last + self._lag_us > time_us:
                    due = min(due, last + self._lag_us)
        return due
