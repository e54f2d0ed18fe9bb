"""A flight that is over, and requirements on it, whose errors state value, limit, time and vehicle."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.sweep.expressions import Expression
from rosflight_py_sim.sweep.pipeline_flight import Sent


class RequirementError(AssertionError):
    """A flight does not meet a requirement; the text states value, limit, time and vehicle."""


@dataclass(frozen=True)
class FlownSimulation:
    """A flight that is over.

    Attributes:
        title: the vehicles, and the seed if known.
        end_s: simulated time at the end, s.
        names: values of the names in expressions (docs/sweep.md), such as `judge.tracking_error_rms_m`.
        reasons: why missions failed; empty if all were completed.
        messages: time (s) and content of each message of the observed topics, by topic.
    """

    title: str
    end_s: float
    names: Mapping[str, Any]
    reasons: Sequence[str] = ()
    messages: Mapping[str, Sequence[tuple[float, Any]]] = field(default_factory=dict)

    def value(self, expression: str) -> Any:
        """Value of an expression over the flight: a number, or an array with one value for each row of the log.

        Raises:
            RequirementError: the mission did not begin, so that there is no log.
            ParameterError: the text is not an expression.
        """
        __tracebackhide__ = True
        if not self.names:
            raise self._error(f"{expression} has no value: {'; '.join(self.reasons) or 'the mission did not begin'}")
        return Expression(expression, self.names).value(self.names)

    def require_completed(self) -> None:
        """Require that all missions were completed.

        Raises:
            RequirementError: one was not; the text gives the reason.
        """
        __tracebackhide__ = True
        if self.reasons:
            raise self._error(f"the mission failed: {'; '.join(self.reasons)}")

    def require(
        self, expression: str, *, at_most: float | None = None, at_least: float | None = None, unit: str = ""
    ) -> None:
        """Require that an expression is within limits; a series must be within them in every row.

        Args:
            expression: text of the expression (docs/sweep.md).
            at_most: largest value allowed; None: no limit.
            at_least: smallest value allowed; None: no limit.
            unit: unit of the value, for the error.

        Raises:
            RequirementError: the value, or one of a series, is outside the limits or not a number.
            ParameterError: no limit is given, or the text is not an expression.
        """
        __tracebackhide__ = True
        if at_most is None and at_least is None:
            raise ParameterError(f"require('{expression}') without a limit given; allowed: at_most, at_least, or both")
        value = np.asarray(self.value(expression))
        if value.ndim > 1:
            raise ParameterError(f"'{expression}' is a vector; allowed: a number or a series, such as {expression}[0]")
        low, high = -math.inf if at_least is None else at_least, math.inf if at_most is None else at_most
        # Not a number is in no range.
        outside = ~((value >= low) & (value <= high))
        if not outside.any():
            return
        wanted = {"at least": at_least, "at most": at_most}
        allowed = " and ".join(f"{text} {_text(one, unit)}" for text, one in wanted.items() if one is not None)
        if value.ndim == 0:
            raise self._error(f"{expression} is {_text(float(value), unit)}; allowed: {allowed}")
        time_s = self.names[Expression(expression, self.names).time_name]
        row = int(outside.argmax())
        distance = np.where(np.isnan(value), np.inf, np.maximum(value - high, low - value))
        worst = int(distance.argmax())
        further = f"; furthest outside: {_text(float(value[worst]), unit)} at {time_s[worst]:.2f} s"
        raise self._error(
            f"{expression} is {_text(float(value[row]), unit)} at {time_s[row]:.2f} s; allowed: {allowed}"
            + (further if worst != row else "")
        )

    def require_within(self, limit_s: float, topic: str, condition: str | Callable[[Any], object]) -> float:
        """Require a message for which a condition holds, until a simulated time; return the time of the first, s.

        Args:
            limit_s: latest time allowed, s.
            topic: name of an observed topic.
            condition: name of a field that must be true, or a function of the message.

        Raises:
            RequirementError: there is no such message, or it is later.
            ParameterError: the topic was not observed, or its messages have no such field.
        """
        __tracebackhide__ = True
        text = condition if isinstance(condition, str) else getattr(condition, "__name__", "the condition")
        messages = self._observed(topic)
        for time_s, message in messages:
            if _holds(topic, condition, message):
                if time_s <= limit_s:
                    return time_s
                raise self._error(f"{topic}: {text} holds from {time_s:.3f} s; allowed: until {limit_s:g} s")
        none = f"{topic}: {text} holds in none of {len(messages)} messages until {self.end_s:.2f} s"
        raise self._error(f"{none}; allowed: until {limit_s:g} s")

    def require_rate(self, topic: str, *, at_least_hz: float) -> None:
        """Require a rate of messages, from the first one until the end of the flight.

        Raises:
            RequirementError: the topic has fewer messages; the text also states the longest gap.
            ParameterError: the topic was not observed.
        """
        __tracebackhide__ = True
        times_s = [time_s for time_s, _ in self._observed(topic)]
        if not times_s:
            raise self._error(f"{topic} has no messages until {self.end_s:.2f} s; allowed: at least {at_least_hz:g} Hz")
        ends_s = np.array([*times_s, max(self.end_s, times_s[-1])])
        span_s = float(ends_s[-1] - ends_s[0])
        rate_hz = len(times_s) / span_s if span_s > 0.0 else math.inf
        # Times of steps are rounded to nanoseconds.
        if rate_hz >= at_least_hz * (1.0 - 1e-9):
            return
        gaps_s = np.diff(ends_s)
        row = int(gaps_s.argmax())
        raise self._error(
            f"{topic} has a rate of {rate_hz:.4g} Hz from {ends_s[0]:.2f} s to {ends_s[-1]:.2f} s; allowed: at least "
            f"{at_least_hz:g} Hz; longest gap: {gaps_s[row]:.4g} s from {ends_s[row]:.2f} s"
        )

    def _observed(self, topic: str) -> Sequence[tuple[float, Any]]:
        if topic not in self.messages:
            observed = ", ".join(self.messages) or "none"
            raise ParameterError(
                f"topic '{topic}' was not observed; observed: {observed}; allowed: topics that the flight was given, "
                f"such as topics=['{topic}']"
            )
        return self.messages[topic]

    def _error(self, text: str) -> RequirementError:
        return RequirementError(f"{text} ({self.title}, flight of {self.end_s:.2f} s)")


class ObservedTopics:
    """Messages of chosen topics, as the receiver of a flight (`sweep.pipeline_flight.Observe`).

    Attributes:
        messages: time (s) and content of each message, by topic.
    """

    def __init__(self, topics: Sequence[str]) -> None:
        """Observe topics, each by its name, after the vehicle's name and a slash in a scenario of several."""
        self.messages: dict[str, Sequence[tuple[float, Any]]] = {name: [] for name in topics}
        self._sent: set[str] = set()

    def observe(self, sent: Sent, time_ns: Callable[[], int]) -> Callable[[Any], None] | None:
        """Function that takes the messages of a topic; None for a topic that is not observed."""
        self._sent.add(sent.name)
        if sent.name not in self.messages:
            return None
        kept: list[tuple[float, Any]] = []
        self.messages[sent.name] = kept
        append = kept.append
        return lambda message: append((time_ns() / NANOSECONDS, message))

    @property
    def unsent(self) -> list[str]:
        """Chosen topics that no node of the vehicles sends."""
        return [name for name in self.messages if name not in self._sent]

    def check(self) -> None:
        """Check that the vehicles' nodes send all chosen topics.

        Raises:
            ParameterError: they do not.
        """
        for name in self.unsent:
            raise ParameterError(f"topic '{name}' given; allowed: {', '.join(sorted(self._sent))}")


def _holds(topic: str, condition: str | Callable[[Any], object], message: Any) -> bool:
    if not isinstance(condition, str):
        return bool(condition(message))
    try:
        return bool(getattr(message, condition))
    except AttributeError:
        fields = getattr(message, "_fields", None) or message.get_fields_and_field_types()
        raise ParameterError(f"{topic} has no field '{condition}'; allowed: {', '.join(fields)}") from None


def _text(value: float, unit: str) -> str:
    return f"{value:.6g} {unit}".rstrip()
