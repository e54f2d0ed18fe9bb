"""Records: fields by name, each given exactly once, with the declared types."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from rosflight_py_sim.kernels.record import assign, kernel_record


@kernel_record
class Lag:
    time_constant: float
    on: bool


@kernel_record
class Servo:
    travel: float
    lag: Lag
    channel: int


def servo() -> Servo:
    return Servo(travel=0.7, lag=Lag(time_constant=0.02, on=True), channel=3)


def test_fields_are_accessed_by_name() -> None:
    made = servo()
    assert (made.travel, made.lag.time_constant, made.lag.on, made.channel) == (0.7, 0.02, True, 3)
    made.lag.time_constant = 0.05
    assert made.lag.time_constant == 0.05


def test_copy_has_its_own_memory() -> None:
    made = servo()
    other = copy(made)
    other.lag.time_constant = 0.05
    assert (made.lag.time_constant, other.lag.time_constant, other.channel) == (0.02, 0.05, 3)


def test_assignment_keeps_the_memory_of_the_record() -> None:
    made, other = servo(), servo()
    lag, other.lag.time_constant = made.lag, 0.05
    assign(made, other)
    assert lag.time_constant == 0.05
    with pytest.raises(TypeError, match=r"^Lag given; allowed: Servo, as the record that changes$"):
        assign(made, lag)


def test_missing_or_unknown_field_is_rejected() -> None:
    with pytest.raises(TypeError, match=r"^Lag: 'on' is missing; fields: on, time_constant$"):
        Lag(time_constant=0.02)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^Lag: 'tau' is unknown; fields: on, time_constant$"):
        Lag(time_constant=0.02, on=True, tau=1.0)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="tau"):
        servo().lag.tau = 1.0  # type: ignore[attr-defined]


def test_value_of_wrong_type_is_rejected() -> None:
    with pytest.raises(TypeError):
        Lag(time_constant="0.02", on=True)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Servo(travel=0.7, lag=servo(), channel=3)  # type: ignore[arg-type]


def test_non_numeric_field_is_rejected() -> None:
    with pytest.raises(TypeError, match=r"Fan\.blades: .* given; allowed: float, int, bool, a kernel record"):

        @kernel_record
        class Fan:
            blades: np.ndarray
