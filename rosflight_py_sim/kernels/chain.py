"""Compiled steps: kernels that run one after the other, step by step, without Python until a part needs it.

A part of the simulation whose answers are kernels offers them as links (`step.part.Part.links`). A pipeline, or the
process of a vehicle's nodes, chains the links of the parts that trigger each other, in the order of the step. The links
share memory: a part reads the numbers of a topic where the sender's kernel writes them (`Cell`). A link with a status
greater than 0 stops the chain: Python acts, then the chain goes on with the next link. After the status -n, the next n
links are skipped. A gate is a link that stops the chain at a certain time, for everything that is not done in each
step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record

NEVER_NS = 1 << 62
"""A time that no simulation reaches, ns."""


@kernel_record
class StepTime:
    """Time of a compiled step.

    Attributes:
        time_ns: time of the step, ns.
        step_ns: length of a step, ns.
        until_ns: time at which the chain stops, ns.
    """

    time_ns: int
    step_ns: int
    until_ns: int


@kernel_record
class Due:
    """Time from which on Python must act.

    Attributes:
        at_ns: that time, ns.
    """

    at_ns: int


@kernel_record
class Tick:
    """Time of an answer in a chain that is due at a rate.

    Attributes:
        time_ns: stamp of the last answer, ns; -1 before the first.
        dt: time between the last two answers, s; 0 for the first, and after a gap longer than `longest_ns`.
        longest_ns: ns.
    """

    time_ns: int
    dt: float
    longest_ns: int


def _nothing(answered_ns: int) -> None:
    """Store nothing."""


def _no_report() -> None:
    """Report nothing."""


def never(time_ns: int, status: int) -> None:
    """Act on the status of a kernel that returns none."""
    raise AssertionError(f"status {status} at {time_ns} ns")


class ChainLink(NamedTuple):
    """A kernel of a chain.

    Attributes:
        run: the kernel, with all arguments bound; returns a status, or nothing.
        attend: acts on a status greater than 0: (time of the step in ns, status); returns true to suspend the chain
            until it is resumed.
        leave: stores for Python what the kernel has changed, given the time of the part's last answer, ns. Called
            before Python changes the part, and when the chain ends.
        is_late: whether the messages that `attend` sends follow the one that triggers the next part.
        is_answer: whether the link is the answer of a part by Python.
        settle: reports how often the link has run since the last call; may be called at any time.
        is_closed: whether `attend` only changes memory of the link, so that the chain runs on at once.
    """

    run: Callable[[], Any]
    attend: Callable[[int, int], bool | None] = never
    leave: Callable[[int], None] = _nothing
    is_late: bool = False
    is_answer: bool = False
    settle: Callable[[], None] = _no_report
    is_closed: bool = False


def _each_step() -> int:
    """Stamp of a topic that is sent in each step."""
    raise AssertionError("the chain knows the stamp")


FieldArrays: TypeAlias = Mapping[str, Sequence[NDArray[Any]]]
"""Arrays with the numbers of each field of a message, by name."""


class Cell(NamedTuple):
    """The numbers of a topic in memory, which change in place.

    Attributes:
        memory: the numbers.
        message: makes the message with a stamp (ns).
        sent_ns: for a topic that is not sent in each step, the stamp of the newest message, ns; -1 before the first.
        fields: by name, the arrays that hold the numbers of each field that changes, in order; empty if kernels cannot
            serialise the message.
    """

    memory: NDArray[Any]
    message: Callable[[int], Any]
    sent_ns: Callable[[], int] = _each_step
    fields: FieldArrays = MappingProxyType({})


class Taken(Protocol):
    """Function that returns the links by which all receivers of a topic take the numbers in an array."""

    def __call__(
        self, topic: str, numbers: NDArray[Any], newest: Cell | None = None, *, cell: Cell | None = None
    ) -> Sequence[ChainLink] | None:
        """The links; None if a receiver needs messages.

        The order of the numbers is that of the sensor's model, or of the message. Receivers that read the newest
        message on demand read `newest`. Given `newest` or `cell`, kernels can serialise messages.
        """


Cells: TypeAlias = Mapping[str, Cell]
"""Cells by the names of their topics."""


@kernel
def is_due(time: StepTime, due: Due) -> bool:
    """Whether Python must act in this step."""
    return time.time_ns >= due.at_ns


@kernel_record
class Tally:
    """How often a chain has run a link.

    Attributes:
        count: number of times since the last reading.
    """

    count: int


@kernel
def add_one(tally: Tally) -> None:
    """Count a run."""
    tally.count += 1


@kernel
def copy_numbers(source: NDArray[np.float64], target: NDArray[np.float64]) -> None:
    """Copy an array (n,)."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel
def advance_tick(time: StepTime, tick: Tick, truth: NDArray[np.float64], seen: NDArray[np.float64]) -> None:
    """Begin an answer, with a copy of the state."""
    elapsed_ns = time.time_ns - tick.time_ns
    is_step = tick.time_ns >= 0 and 0 < elapsed_ns <= tick.longest_ns
    tick.dt = elapsed_ns / 1e9 if is_step else 0.0
    tick.time_ns = time.time_ns
    copy_numbers(truth, seen)


@kernel
def skip_after(time: StepTime, due: Due, skipped: int) -> int:
    """Return -skipped from the time of `due` on, else 0."""
    return -skipped if time.time_ns >= due.at_ns else 0


@kernel
def look_ahead(time: StepTime, end: StepTime) -> None:
    """Set `end` to the end of the step."""
    end.time_ns = time.time_ns + time.step_ns


@kernel
def advance_time(time: StepTime) -> bool:
    """Advance the time by a step; return whether the chain stops."""
    time.time_ns += time.step_ns
    return time.time_ns >= time.until_ns


def keeps(cls: type, compiled: str, *replaced: str) -> bool:
    """Whether a class has the methods of those names from the class that defines the method `compiled`.

    The links that `compiled` returns replace these methods, so they are of no use to a class that overrides one.
    """
    owner = next(base for base in cls.__mro__ if compiled in vars(base))
    return all(getattr(cls, name) is getattr(owner, name) for name in replaced)


def counted(note: Callable[[int], None]) -> ChainLink:
    """Link that counts how often it runs, for `note`."""
    tally = Tally(count=0)

    def settle() -> None:
        note(tally.count)
        tally.count = 0

    return ChainLink(bound(add_one, tally), settle=settle)


def gate(time: StepTime, due: Due, act: Callable[[int], bool | None], *, is_late: bool = False) -> ChainLink:
    """Link that calls `act` with the time of each step from `due` on, ns; `act` sets the next time."""
    return ChainLink(bound(is_due, time, due), lambda time_ns, _: act(time_ns), is_late=is_late)
