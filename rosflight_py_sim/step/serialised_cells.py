"""Messages that kernels serialise: the numbers of a cell are copied to their places in a serialised message.

Whatever does not change, such as frame_id and covariances, comes from a message that Python has serialised once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.stamps import EPOCH, NANOSECONDS, STAMP_AT
from rosflight_py_sim.kernels.chain import Cell, ChainLink, StepTime, copy_numbers
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.step.topics import StepTopic

Sink = Callable[[NDArray[np.uint8]], Sequence[ChainLink]]
"""Function that returns the links that take a serialised message in an array."""


@kernel
def write_stamp(time: StepTime, epoch_ns: int, stamp: NDArray[np.int32]) -> None:
    """Write the time of the step as a stamp (2,): seconds and nanoseconds."""
    time_ns = time.time_ns + epoch_ns
    seconds = time_ns // NANOSECONDS
    stamp[0] = seconds
    stamp[1] = time_ns - seconds * NANOSECONDS


@kernel
def copy_singles(source: NDArray[np.float64], target: NDArray[np.float32]) -> None:
    """Copy an array (n,) of numbers, rounded to single precision."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel
def copy_shorts(source: NDArray[np.int64], target: NDArray[np.uint16]) -> None:
    """Copy an array (n,) of integers from 0 to 65535."""
    for i in range(len(source)):
        target[i] = source[i]


_COPIES: dict[str, Callable[..., None]] = {"d": copy_numbers, "f": copy_singles, "H": copy_shorts}


def can_serialise(topic: StepTopic[Any], cell: Cell) -> bool:
    """Whether kernels can serialise the messages of a topic."""
    places = topic.places
    return bool(cell.fields) and all(name in places and places[name].code in _COPIES for name in cell.fields)


def serialising_links(topic: StepTopic[Any], cell: Cell, time: StepTime, sink: Sink) -> Sequence[ChainLink]:
    """Links that serialise a message in each step, and pass it on.

    Args:
        topic: the topic, which `can_serialise` allows.
        cell: its numbers.
        time: time of the stamp.
        sink: takes the message.
    """
    message = np.frombuffer(topic.encode(cell.message(time.time_ns)), np.uint8)
    # CDR aligns numbers relative to the end of the encapsulation. The body after it must therefore begin at a multiple
    # of 8 bytes in memory.
    words: NDArray[np.float64] = np.zeros(-(-(len(message) + STAMP_AT) // 8))
    memory = words.view(np.uint8)[STAMP_AT : STAMP_AT + len(message)]
    memory[:] = message
    body = memory[STAMP_AT:]
    links = [ChainLink(bound(write_stamp, time, EPOCH.ns, body[:8].view(np.int32)))]
    for name, sources in cell.fields.items():
        offset, code, size = topic.places[name]
        target = body[offset : offset + size * np.dtype(code).itemsize].view(code)
        first = 0
        for source in sources:
            links.append(ChainLink(bound(_COPIES[code], source, target[first : first + len(source)])))
            first += len(source)
    return (*links, *sink(memory))
