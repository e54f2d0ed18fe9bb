"""Numbers of the messages that trigger the parts of a step, in the order in which kernels read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.kernels.chain import Cell, FieldArrays
from rosflight_py_sim.step.topics import (
    FORCES_AND_MOMENTS,
    IMU,
    PWM_OUTPUT,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    StepTopic,
)
from rosflight_py_sim.step.vehicle_state import TRUTH_SIZE

_NUMBERS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    IMU.name: (6, lambda imu: (*imu.accel, *imu.gyro)),
    PWM_OUTPUT.name: (OUTPUTS, lambda pwm: pwm.pulse_us),
    FORCES_AND_MOMENTS.name: (6, lambda wrench: (*wrench.force, *wrench.moment)),
    TRUTH_WIND.name: (3, lambda wind: wind.velocity_ned),
    TRUTH_WIND_RATES.name: (3, lambda wind: wind.rates),
    TRUTH_STATE.name: (TRUTH_SIZE, lambda state: state.truth),
}


_FIELDS: dict[str, Callable[[NDArray[Any]], FieldArrays]] = {
    IMU.name: lambda m: {"accel": [m[0:3]], "gyro": [m[3:6]]},
    PWM_OUTPUT.name: lambda m: {"pulse_us": [m]},
    FORCES_AND_MOMENTS.name: lambda m: {"force": [m[0:3]], "moment": [m[3:6]]},
    TRUTH_WIND.name: lambda m: {"velocity_ned": [m]},
    TRUTH_WIND_RATES.name: lambda m: {"rates": [m]},
    TRUTH_STATE.name: lambda m: {
        "position_ned": [m[0:3]],
        "quaternion_xyzw": [m[4:7], m[3:4]],
        "velocity_body": [m[7:10]],
        "angular_velocity": [m[10:13]],
        "acceleration_body": [m[13:16]],
        "angular_acceleration": [m[16:19]],
    },
}


def cell_of(topic: StepTopic[Any], memory: NDArray[Any], message: Callable[[int], Any]) -> dict[str, Cell]:
    """Cell, by topic name, of a topic whose messages differ only in stamp and numbers; see `Cell` for the arguments."""
    return {topic.name: Cell(memory, message, fields=_FIELDS[topic.name](memory))}


def has_numbers(topic: str) -> bool:
    """Whether kernels can read the topic of that name."""
    return topic in _NUMBERS


def numbers_of(topic: str) -> tuple[NDArray[Any], Callable[[Any], None]]:
    """Memory for the numbers of a topic's messages, and the function that stores those of a message in it."""
    size, numbers = _NUMBERS[topic]
    memory: NDArray[Any] = np.zeros(size, np.int64 if topic == PWM_OUTPUT.name else np.float64)

    def store(message: Any) -> None:
        memory[:] = numbers(message)

    return memory, store
