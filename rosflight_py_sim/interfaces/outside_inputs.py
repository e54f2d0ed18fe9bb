"""Inputs of a composed graph from outside: messages of external publishers, and service calls of external clients.

Within a composed graph in lockstep, everything follows from parameters and seed. A run can therefore be repeated from
its outside inputs, each at the same position among the messages of the step.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

OUTSIDE_INPUTS = "/outside_inputs"
"""Name under which a recording has its outside inputs, as std_msgs/String with JSON."""

Act = Callable[[bytes], None]


@dataclass(frozen=True)
class OutsideInput:
    """A message or a request from outside.

    Attributes:
        end: the subscription or service that received it.
        data: the message or request, serialised, as hexadecimal digits.
        marks: number of clock, state and status messages that had been sent.
        idle: whether all messages sent until then had been delivered.
        time_ns: simulated time, ns.
    """

    end: str
    data: str
    marks: int
    idle: bool
    time_ns: int

    @property
    def text(self) -> str:
        """The input as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> OutsideInput:
        """The input from JSON.

        Raises:
            ValueError: not an input.
        """
        try:
            return cls(**json.loads(text))
        except TypeError as error:
            raise ValueError(str(error)) from error


@dataclass(frozen=True)
class RepeatedInputs:
    """Inputs of a recorded run.

    Attributes:
        inputs: in their order.
        paced: whether the run had a pace.
    """

    inputs: Sequence[OutsideInput]
    paced: bool


class OutsideInputs:
    """Notes the outside inputs of a run, or repeats those of a recorded run.

    `marks` is the number of clock, state and status messages that have been sent.

    Attributes:
        note: called with each input; None: inputs are not noted.
        is_repeating: whether inputs come from a recorded run, and those that arrive are ignored.
        waits_for_idle: whether steps begin only while the graph is idle, as they did in a recorded run with a pace.
        next_marks: value of `marks` at which the next recorded input is due, unless it is due while the graph is idle.
        ends: function of each end that takes an input, by its identification.
    """

    def __init__(self) -> None:
        """Note nothing."""
        self.note: Callable[[OutsideInput], None] | None = None
        self.is_repeating = self.waits_for_idle = False
        self.next_marks = _NEVER
        self._recorded: deque[OutsideInput] = deque()
        self.ends: dict[str, Act] = {}
        self._names: Counter[str] = Counter()

    def repeat(self, recorded: Iterable[OutsideInput], *, paced: bool) -> None:
        """Repeat the inputs of a recorded run, and ignore others; `paced`: whether the run had a pace."""
        self.is_repeating, self.waits_for_idle = True, paced
        self._recorded.extend(recorded)
        self._prepare()

    def add_end(self, kind: str, name: str, node: str, act: Act) -> str:
        """Add a subscription or service of a node; return its identification.

        Args:
            kind: topic or service.
            name: full name of the topic or service.
            node: full name of the node.
            act: processes serialised input.
        """
        plain = f"{kind} {name} of {node}"
        self._names[plain] += 1
        end = plain if self._names[plain] == 1 else f"{plain} ({self._names[plain]})"
        self.ends[end] = act
        return end

    def remove_end(self, end: str) -> None:
        """Remove a subscription or service by its identification, which is not used again."""
        self.ends.pop(end, None)

    def remove_ends(self, node: str) -> None:
        """Remove the subscriptions and services of a node, given its full name."""
        ending = f" of {node}"
        self._names = Counter({name: count for name, count in self._names.items() if not name.endswith(ending)})
        self.ends = {end: act for end, act in self.ends.items() if not end.partition(" (")[0].endswith(ending)}

    def admits(self, end: str, data: Callable[[], bytes], *, marks: int, idle: bool, time_ns: int) -> bool:
        """Note an input that has arrived; return whether to process it."""
        if self.is_repeating:
            return False
        if self.note is not None:
            self.note(OutsideInput(end, data().hex(), marks, idle, time_ns))
        return True

    def act(self, *, marks: int, idle: bool) -> bool:
        """Process the recorded inputs that are due; return whether there were any."""
        count = 0
        while self._recorded and _is_due(self._recorded[0], marks, idle):
            one = self._recorded.popleft()
            self._prepare()
            act = self.ends.get(one.end)
            if act is not None:
                act(bytes.fromhex(one.data))
            count += 1
        return count > 0

    def _prepare(self) -> None:
        first: Any = self._recorded[0] if self._recorded else None
        self.next_marks = _NEVER if first is None or first.idle else first.marks


def _is_due(one: OutsideInput, marks: int, idle: bool) -> bool:
    return one.marks < marks or (one.marks == marks and (idle or not one.idle))


_NEVER = 1 << 62
