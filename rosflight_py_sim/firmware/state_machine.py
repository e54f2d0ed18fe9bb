"""State machine for arming, failsafe and errors, as one table of transitions.

The states, events and rules are those of ROSflight's state manager. An event takes the first row of the table whose
state, event and condition hold; the new state is entered first, then the row's actions run, in order. Actions
may cause further events (setting an error does), which are handled before the action returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag, auto
from typing import Protocol


class Severity(IntEnum):
    """Severity of a log line."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    CRITICAL = 3


Log = Callable[[Severity, str], None]


class Refused(ValueError):  # noqa: N818 (named for what happened)
    """Request refused in the current state; the text gives the reason."""


class ErrorFlag(IntFlag):
    """Bits of `error_code`; any of them prevents arming."""

    NONE = 0
    INVALID_MIXER = 0x01
    IMU_NOT_RESPONDING = 0x02
    RC_LOST = 0x04
    UNHEALTHY_ESTIMATOR = 0x08
    TIME_GOING_BACKWARDS = 0x10
    UNCALIBRATED_IMU = 0x20
    BUFFER_OVERRUN = 0x40
    INVALID_FAILSAFE = 0x80

    @property
    def reason(self) -> str:
        """Error text of a single bit."""
        return _REASONS[self]


_REASONS: dict[ErrorFlag, str] = {
    ErrorFlag.INVALID_MIXER: "invalid mixer",
    ErrorFlag.IMU_NOT_RESPONDING: "the IMU does not respond",
    ErrorFlag.RC_LOST: "no RC signal",
    ErrorFlag.UNHEALTHY_ESTIMATOR: "the attitude estimate is not healthy",
    ErrorFlag.TIME_GOING_BACKWARDS: "time went backwards",
    ErrorFlag.UNCALIBRATED_IMU: "the IMU is not calibrated",
    ErrorFlag.BUFFER_OVERRUN: "a buffer overran",
    ErrorFlag.INVALID_FAILSAFE: "FAILSAFE_THR is not from 0 to 1",
}


def error_reasons(error_code: int) -> list[str]:
    """Texts of the bits that are set."""
    return [flag.reason for flag in ErrorFlag if error_code & flag]


class State(Enum):
    """State of the vehicle."""

    INIT = auto()
    PREFLIGHT = auto()
    CALIBRATING = auto()
    ARMED = auto()
    FAILSAFE = auto()
    ERROR = auto()


class Event(Enum):
    """Event that may change the state."""

    INITIALIZED = auto()
    STARTED_IN_FLIGHT = auto()
    REQUEST_ARM = auto()
    REQUEST_DISARM = auto()
    RC_LOST = auto()
    RC_FOUND = auto()
    ERROR = auto()
    NO_ERROR = auto()
    CALIBRATION_COMPLETE = auto()
    CALIBRATION_FAILED = auto()


class Condition(Enum):
    """Condition of a row."""

    ALWAYS = auto()
    THROTTLE_HIGH = auto()
    NO_THROTTLE_GUARD = auto()
    GYRO_CALIBRATION_WANTED = auto()
    HAS_ERROR = auto()


class Action(Enum):
    """Action of a transition, in addition to entering the state."""

    ARM = auto()
    DISARM = auto()
    ENTER_FAILSAFE = auto()
    LEAVE_FAILSAFE = auto()
    RAISE_RC_LOST = auto()
    CLEAR_RC_LOST = auto()
    NOTE_ERROR = auto()
    NOTE_NO_ERROR = auto()
    START_GYRO_CALIBRATION = auto()
    TELL_THROTTLE_HIGH = auto()
    TELL_NO_THROTTLE_GUARD = auto()
    TELL_ARMING_REFUSALS = auto()


@dataclass(frozen=True)
class Transition:
    """One row: in `state`, on `event`, if `condition`: enter `target` and run `actions`."""

    state: State
    event: Event
    target: State
    actions: tuple[Action, ...] = ()
    condition: Condition = Condition.ALWAYS


_S, _E, _A, _C = State, Event, Action, Condition

TRANSITIONS: tuple[Transition, ...] = (
    Transition(_S.INIT, _E.INITIALIZED, _S.PREFLIGHT),
    Transition(_S.INIT, _E.STARTED_IN_FLIGHT, _S.ARMED, (_A.ARM,)),
    Transition(_S.PREFLIGHT, _E.RC_FOUND, _S.PREFLIGHT, (_A.CLEAR_RC_LOST, _A.LEAVE_FAILSAFE)),
    Transition(_S.PREFLIGHT, _E.RC_LOST, _S.PREFLIGHT, (_A.RAISE_RC_LOST,)),
    Transition(_S.PREFLIGHT, _E.ERROR, _S.ERROR, (_A.NOTE_ERROR,)),
    Transition(_S.PREFLIGHT, _E.REQUEST_ARM, _S.PREFLIGHT, (_A.TELL_THROTTLE_HIGH,), _C.THROTTLE_HIGH),
    Transition(_S.PREFLIGHT, _E.REQUEST_ARM, _S.PREFLIGHT, (_A.TELL_NO_THROTTLE_GUARD,), _C.NO_THROTTLE_GUARD),
    Transition(_S.PREFLIGHT, _E.REQUEST_ARM, _S.CALIBRATING, (_A.START_GYRO_CALIBRATION,), _C.GYRO_CALIBRATION_WANTED),
    Transition(_S.PREFLIGHT, _E.REQUEST_ARM, _S.ARMED, (_A.ARM,)),
    Transition(_S.ERROR, _E.RC_LOST, _S.ERROR, (_A.RAISE_RC_LOST,)),
    Transition(_S.ERROR, _E.RC_FOUND, _S.ERROR, (_A.LEAVE_FAILSAFE, _A.CLEAR_RC_LOST)),
    Transition(_S.ERROR, _E.NO_ERROR, _S.PREFLIGHT, (_A.NOTE_NO_ERROR,)),
    Transition(_S.ERROR, _E.REQUEST_ARM, _S.ERROR, (_A.TELL_ARMING_REFUSALS,)),
    Transition(_S.CALIBRATING, _E.CALIBRATION_COMPLETE, _S.ARMED, (_A.ARM,)),
    Transition(_S.CALIBRATING, _E.CALIBRATION_FAILED, _S.PREFLIGHT),
    Transition(_S.CALIBRATING, _E.RC_LOST, _S.CALIBRATING, (_A.RAISE_RC_LOST,)),
    Transition(_S.CALIBRATING, _E.ERROR, _S.ERROR, (_A.NOTE_ERROR,)),
    Transition(_S.CALIBRATING, _E.NO_ERROR, _S.CALIBRATING, (_A.NOTE_NO_ERROR,)),
    Transition(_S.ARMED, _E.RC_LOST, _S.FAILSAFE, (_A.ENTER_FAILSAFE, _A.RAISE_RC_LOST)),
    Transition(_S.ARMED, _E.REQUEST_DISARM, _S.ERROR, (_A.DISARM,), _C.HAS_ERROR),
    Transition(_S.ARMED, _E.REQUEST_DISARM, _S.PREFLIGHT, (_A.DISARM,)),
    Transition(_S.ARMED, _E.ERROR, _S.ARMED, (_A.NOTE_ERROR,)),
    Transition(_S.ARMED, _E.NO_ERROR, _S.ARMED, (_A.NOTE_NO_ERROR,)),
    Transition(_S.FAILSAFE, _E.ERROR, _S.FAILSAFE, (_A.NOTE_ERROR,)),
    Transition(_S.FAILSAFE, _E.REQUEST_DISARM, _S.ERROR, (_A.DISARM,)),
    Transition(_S.FAILSAFE, _E.RC_FOUND, _S.ARMED, (_A.LEAVE_FAILSAFE, _A.CLEAR_RC_LOST)),
)


class Surroundings(Protocol):
    """Interface of the flight controller that the state machine uses."""

    def throttle_stick_is_low(self) -> bool:
        """Whether the throttle stick is below RC_ARM_THRESHOLD."""

    def throttle_is_guarded(self) -> bool:
        """Whether TAKE_MIN_THR is set or the throttle override switch is on."""

    def needs_gyro_calibration(self) -> bool:
        """Whether ARM_CAL_GYRO is set."""

    def start_gyro_calibration(self) -> None:
        """Begin to average the gyros; CALIBRATION_COMPLETE or CALIBRATION_FAILED follows."""

    def log(self, severity: Severity, text: str) -> None:
        """Log a line."""


class StateMachine:
    """The state, the error bits, and the flags that follow from them.

    `changed` is set whenever any of them changes; the caller clears it after reporting the status.
    """

    def __init__(self, surroundings: Surroundings) -> None:
        self.state = State.INIT
        self.armed = False
        self.failsafe = False
        self.error = False
        # A plain int, because IntFlag arithmetic is too slow for every pass.
        self.errors = 0
        self.changed = False
        self._surroundings = surroundings
        self._refusals: Sequence[str] = ()
        self._conditions: dict[Condition, Callable[[], bool]] = {
            Condition.ALWAYS: lambda: True,
            Condition.THROTTLE_HIGH: lambda: not surroundings.throttle_stick_is_low(),
            Condition.NO_THROTTLE_GUARD: lambda: not surroundings.throttle_is_guarded(),
            Condition.GYRO_CALIBRATION_WANTED: surroundings.needs_gyro_calibration,
            Condition.HAS_ERROR: lambda: self.error,
        }
        refuse = self._refuse_to_arm
        self._actions: dict[Action, Callable[[], None]] = {
            Action.ARM: lambda: self._flag("armed", True),
            Action.DISARM: lambda: self._flag("armed", False),
            Action.ENTER_FAILSAFE: lambda: self._flag("failsafe", True),
            Action.LEAVE_FAILSAFE: lambda: self._flag("failsafe", False),
            Action.RAISE_RC_LOST: lambda: self.raise_error(ErrorFlag.RC_LOST),
            Action.CLEAR_RC_LOST: lambda: self.clear_error(ErrorFlag.RC_LOST),
            Action.NOTE_ERROR: lambda: self._flag("error", True),
            Action.NOTE_NO_ERROR: lambda: self._flag("error", False),
            Action.START_GYRO_CALIBRATION: surroundings.start_gyro_calibration,
            Action.TELL_THROTTLE_HIGH: lambda: refuse(["the throttle stick is not low"]),
            Action.TELL_NO_THROTTLE_GUARD: lambda: refuse(
                ["the throttle override switch is off (and TAKE_MIN_THR is 0)"]
            ),
            Action.TELL_ARMING_REFUSALS: lambda: refuse(error_reasons(self.errors)),
        }

    def handle(self, event: Event) -> None:
        """Run the transition that the table defines for the event, if any."""
        for row in _ROWS.get((self.state, event), ()):
            if self._conditions[row.condition]():
                entered = row.target is not self.state
                self.state = row.target
                for action in row.actions:
                    self._actions[action]()
                if entered:
                    self.changed = True
                    self._process_errors()
                return

    def refuse_while_armed(self, what: str) -> None:
        """Log and raise a refusal of `what` if armed.

        Raises:
            Refused: the vehicle is armed.
        """
        if self.armed:
            text = f"{what}: refused while armed"
            self._surroundings.log(Severity.ERROR, text)
            raise Refused(text)

    def raise_error(self, flag: ErrorFlag) -> None:
        """Set an error bit."""
        if not self.errors & flag:
            self.errors |= int(flag)
            self.changed = True
        self._process_errors()

    def clear_error(self, flag: ErrorFlag) -> None:
        """Clear an error bit."""
        # As integers: operations on flags would take longer than the rest of a pass over the errors.
        bit = int(flag)
        if self.errors & bit:
            self.errors &= ~bit
            self.changed = True
            self._process_errors()

    def _process_errors(self) -> None:
        """Update the state from the error bits, after they change and after a state is entered with errors set."""
        self.handle(Event.ERROR if self.errors else Event.NO_ERROR)

    def _flag(self, name: str, value: bool) -> None:
        if getattr(self, name) is not value:
            setattr(self, name, value)
            self.changed = True

    def end_arming_request(self) -> None:
        """Log every reason against the next request to arm, although it is the same as before."""
        self._refusals = ()

    def _refuse_to_arm(self, reasons: Sequence[str]) -> None:
        """Log the reasons that are new: the arm switch requests arming at every pass."""
        for reason in reasons:
            if reason not in self._refusals:
                self._surroundings.log(Severity.ERROR, f"cannot arm: {reason}")
        self._refusals = reasons


_ROWS: dict[tuple[State, Event], tuple[Transition, ...]] = {
    (state, event): tuple(row for row in TRANSITIONS if row.state is state and row.event is event)
    for state in State
    for event in Event
}
