"""RC receiver: channels to sticks and switches, loss of signal, and the arm and disarm gestures."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.firmware.state_machine import ErrorFlag, Event, Log, Severity, StateMachine
from rosflight_py_sim.ground.pulse_width import MOTOR, command_of
from rosflight_py_sim.kernels.chain import StepTime
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

RC_CHANNELS = 8


@kernel_record
class RepeatedFrames:
    """RC frames in a chain, which repeat the last one.

    Attributes:
        is_settled: whether a repetition changes nothing but the time of the last frame.
        until_us: time until which that holds without other inputs, us.
        sent_ns: stamp of the newest frame that has been sent but not received, ns; -1 without one.
        held_ns: stamp of the frame before it, if that has not been received either, ns; -1 without one.
        time_us: time of the last frame, us; -1 without one.
        pass_us: time of the pass that received it, us.
    """

    is_settled: bool
    until_us: int
    sent_ns: int
    held_ns: int
    time_us: int
    pass_us: int


@kernel
def send_frame(time: StepTime, frames: RepeatedFrames) -> None:
    """Send a frame; the firmware receives it in the next step."""
    frames.held_ns, frames.sent_ns = frames.sent_ns, time.time_ns


@kernel
def due_frame(frames: RepeatedFrames, time_ns: int) -> int:
    """Stamp (ns) of the frame that is to be received at a time (ns); -1 without one."""
    if frames.held_ns >= 0:
        return frames.held_ns
    return frames.sent_ns if frames.sent_ns < time_ns else -1


@kernel
def remove_frame(frames: RepeatedFrames) -> None:
    """Remove the oldest frame that has not been received."""
    if frames.held_ns >= 0:
        frames.held_ns = -1
    else:
        frames.sent_ns = -1


@kernel
def take_frame(time: StepTime, frames: RepeatedFrames, sent: NDArray[np.int64], received: NDArray[np.int64]) -> bool:
    """Receive the pulse widths `sent` (8,) if they are due and repeat `received`; return whether Python must do it."""
    stamp_ns = due_frame(frames, time.time_ns)
    if stamp_ns < 0:
        return False
    time_us = time.time_ns // 1000
    if not frames.is_settled or time_us >= frames.until_us:
        return True
    for i in range(len(sent)):
        if sent[i] != received[i]:
            return True
    frames.time_us, frames.pass_us = stamp_ns // 1000, time_us
    remove_frame(frames)
    return False


RC_TIMEOUT_US = 100_000
"""Age of the last frame at which the signal counts as lost."""

GESTURE_TIME_US = 1_000_000
"""Time for which the sticks must be held in the corner to arm or disarm."""


class Stick(IntEnum):
    """Index into `Receiver.sticks`."""

    X = 0
    Y = 1
    Z = 2
    F = 3


class Switch(IntEnum):
    """Index into `Receiver.switches`."""

    ARM = 0
    ATTITUDE_OVERRIDE = 1
    THROTTLE_OVERRIDE = 2
    ATTITUDE_TYPE = 3


_Z, _F, _ARM = int(Stick.Z), int(Stick.F), int(Switch.ARM)
_RC_LOST = int(ErrorFlag.RC_LOST)

_SWITCH_CHANNELS = {
    Switch.ARM: "RC_ARM_CHN",
    Switch.ATTITUDE_OVERRIDE: "RC_ATT_OVRD_CHN",
    Switch.THROTTLE_OVERRIDE: "RC_THR_OVRD_CHN",
    Switch.ATTITUDE_TYPE: "RC_ATT_CTRL_CHN",
}
MAPPING_PARAMETERS = frozenset(
    [
        *_SWITCH_CHANNELS.values(),
        *("RC_X_CHN", "RC_Y_CHN", "RC_Z_CHN", "RC_F_CHN", "RC_NUM_CHN", "RC_ARM_THRESHOLD"),
        *(f"SWITCH_{i}_DIR" for i in range(5, 9)),
    ]
)
"""Parameters whose change requires a call of `configure`."""


class Receiver:
    """Sticks and switches of the transmitter.

    `sticks` are -1..1 (x, y, z) and 0..1 (throttle), `switches` on or off, `mapped` whether a switch has a channel.
    They hold their last values while the signal is lost. `pulse_us` are the pulse widths of the last frame, us.
    """

    def __init__(
        self, parameters: FirmwareParameters, state_machine: StateMachine, log: Log, quirks: Quirks = REPAIRED
    ) -> None:
        self.sticks = [0.0, 0.0, 0.0, 0.0]
        self.switches = [False] * len(Switch)
        self.mapped = [False] * len(Switch)
        self.channels: list[float] = [0.0] * RC_CHANNELS
        self.pulse_us: Sequence[int] = ()
        self.last_frame_us: int | None = None
        self.new_frame = False
        self._parameters = parameters
        self._state_machine = state_machine
        self._log = log
        self._is_never_missed = quirks.rc_is_never_missed
        self._tick_us = quirks.clock_tick_us
        self._gesture_us = 0
        self._previous_pass_us: int | None = None
        # Whether sticks and switches are still to be read from the channels, and whether a pulse is out of range.
        self._is_unread = True
        self._is_broken = False
        self.configure()

    def configure(self) -> None:
        """Read the channel assignment from the parameters."""
        get = self._parameters.__getitem__
        self._stick_channels = [int(get(f"RC_{axis}_CHN")) for axis in "XYZF"]
        self._count = int(get("RC_NUM_CHN"))
        self._threshold = float(get("RC_ARM_THRESHOLD"))
        self._switch_channels = [int(get(name)) for name in _SWITCH_CHANNELS.values()]
        self._reversed = [False] * len(Switch)
        for switch, channel in enumerate(self._switch_channels):
            mapped = 4 <= channel < self._count
            self.mapped[switch] = mapped
            self._reversed[switch] = mapped and get(f"SWITCH_{channel + 1}_DIR") < 0
        self._take_channels()

    def receive(self, time_us: int, channels_us: Sequence[int]) -> None:
        """Receive a frame: eight pulse widths, 1000 to 2000 us.

        Raises:
            ValueError: not eight channels.
        """
        if len(channels_us) != RC_CHANNELS:
            raise ValueError(f"an RC frame has {RC_CHANNELS} channels, {len(channels_us)} given")
        self.channels = [command_of(width, MOTOR) for width in channels_us]
        self._take_channels()
        self.pulse_us = channels_us
        self.last_frame_us = time_us
        self.new_frame = True

    def run(self, time_us: int, start_us: int) -> bool:
        """Interpret the last frame; return whether there is a signal.

        Args:
            time_us: time of the pass.
            start_us: start time of the controller, from which the timeout of the first frame counts.
        """
        if self.lost(time_us, start_us):
            self._state_machine.handle(Event.RC_LOST)
            return False
        if self.last_frame_us is None:
            return False
        machine = self._state_machine
        # Checked here, because handling an event with every frame would cost more than everything else.
        if machine.failsafe or machine.errors & _RC_LOST:
            machine.handle(Event.RC_FOUND)
        if self._is_unread:
            self._read_channels()
        self._check_arming(time_us)
        return True

    def lost(self, time_us: int, start_us: int) -> bool:
        """Whether no frame arrived for RC_TIMEOUT_US, or the last one has a pulse outside 750 to 2250 us."""
        since = start_us if self.last_frame_us is None else self.last_frame_us
        if time_us - since > RC_TIMEOUT_US and not self._is_never_missed:
            return True
        return self._is_broken and self.last_frame_us is not None

    @property
    def is_settled(self) -> bool:
        """Whether a repetition of the last frame would change nothing but its time: no request to arm or disarm."""
        is_read = self.last_frame_us is not None and not (self.new_frame or self._is_unread or self._is_broken)
        return is_read and self.mapped[_ARM] and self.switches[_ARM] is self._state_machine.armed

    def repeat_frame(self, time_us: int, pass_us: int) -> None:
        """Receive the last frame again, at `time_us`, and interpret it in the pass at `pass_us`, while `is_settled`."""
        self.last_frame_us = time_us
        self.note_pass(pass_us)

    def note_pass(self, pass_us: int) -> None:
        """Note a pass that has interpreted the last frame, while `is_settled`."""
        self._previous_pass_us = pass_us - pass_us % self._tick_us

    @property
    def signal_is_lost(self) -> bool:
        """Whether the sticks are unknown: no frame received yet, or the signal counts as lost."""
        return self.last_frame_us is None or bool(self._state_machine.errors & _RC_LOST)

    def clock_went_back(self, time_us: int) -> None:
        """Count the age of the last frame from now."""
        if self.last_frame_us is not None:
            self.last_frame_us = min(self.last_frame_us, time_us)
        self._previous_pass_us = None

    def throttle_stick_is_low(self) -> bool:
        """Whether the throttle stick is below RC_ARM_THRESHOLD."""
        return self.sticks[_F] < self._threshold

    def log_mapping(self) -> None:
        """Log the channel of each switch."""
        for switch, mapped in zip(Switch, self.mapped, strict=True):
            name = switch.name.lower().replace("_", " ")
            where = f"on RC channel {self._switch_channels[switch]}" if mapped else "not mapped"
            self._log(Severity.INFO, f"{name} switch: {where}")

    def _take_channels(self) -> None:
        used = self.channels[: self._count]
        self._is_broken = min(used) < -0.25 or max(used) > 1.25
        self._is_unread = True

    def _read_channels(self) -> None:
        values = self.channels
        x, y, z, f = self._stick_channels
        self.sticks = [2.0 * values[x] - 1.0, 2.0 * values[y] - 1.0, 2.0 * values[z] - 1.0, values[f]]
        for switch, channel in enumerate(self._switch_channels):
            if not self.mapped[switch]:
                self.switches[switch] = False
            elif self._reversed[switch]:
                self.switches[switch] = values[channel] < 0.2
            else:
                self.switches[switch] = values[channel] >= 0.8
        self._is_unread = False

    def _check_arming(self, time_us: int) -> None:
        now_us = time_us - time_us % self._tick_us
        elapsed = 0 if self._previous_pass_us is None else now_us - self._previous_pass_us
        self._previous_pass_us = now_us
        machine = self._state_machine
        if self.mapped[_ARM]:
            if self.switches[_ARM] is not machine.armed:
                machine.handle(Event.REQUEST_DISARM if machine.armed else Event.REQUEST_ARM)
            else:
                machine.end_arming_request()
            return
        direction = -1.0 if machine.armed else 1.0
        held = self.throttle_stick_is_low() and direction * self.sticks[_Z] > 1.0 - self._threshold
        self._gesture_us = self._gesture_us + elapsed if held else 0
        if not held:
            machine.end_arming_request()
        if self._gesture_us > GESTURE_TIME_US:
            if machine.armed:
                self._gesture_us = 0
                machine.handle(Event.REQUEST_DISARM)
            else:
                machine.handle(Event.REQUEST_ARM)
