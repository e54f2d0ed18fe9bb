"""Effects of failures on the messages of sensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from rosflight_py_sim.failures.failure import JAMMED
from rosflight_py_sim.failures.signal import FailedSignal


class Measured(ABC):
    """The numbers in a sensor's messages that failures change.

    Attributes:
        off: numbers of a sensor that is off; None if it sends no message.
    """

    off: Sequence[float] | None = None

    @abstractmethod
    def numbers(self, sample: Any) -> Sequence[float]:
        """The numbers of a message, those with an offset first."""

    @abstractmethod
    def with_numbers(self, sample: Any, numbers: Sequence[float]) -> Any:
        """The message with other numbers."""


class Fields(Measured):
    """Numbers that are fields of the message, each independent of the others."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def numbers(self, sample: Any) -> Sequence[float]:
        return [getattr(sample, name) for name in self._names]

    def with_numbers(self, sample: Any, numbers: Sequence[float]) -> Any:
        return sample._replace(**dict(zip(self._names, numbers, strict=True)))


class Vector(Measured):
    """Vector that is a field of the message; `off` as in `Measured`."""

    def __init__(self, name: str, off: Sequence[float] | None = None) -> None:
        self._name, self.off = name, off

    def numbers(self, sample: Any) -> Sequence[float]:
        vector: Sequence[float] = getattr(sample, self._name)
        return vector

    def with_numbers(self, sample: Any, numbers: Sequence[float]) -> Any:
        return sample._replace(**{self._name: numbers})


def through(signal: FailedSignal | None, measured: Measured, send: Callable[[Any], None]) -> Callable[[Any], None]:
    """The function that sends a sensor's messages with its failures; `send` itself without any."""
    if signal is None:
        return send
    is_jammed = signal.has(JAMMED)

    def send_failed(sample: Any) -> None:
        numbers = signal.applied(sample.time_ns, measured.numbers(sample))
        if numbers is None:
            numbers = measured.off
            if numbers is None:
                return
        changed = measured.with_numbers(sample, numbers)
        send(changed._replace(fix_type=0, satellites=0) if is_jammed else changed)

    return send_failed
