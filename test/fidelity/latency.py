"""Fidelity of latencies: those of each sensor and of the companion link, as a subject of the fidelity page.

Two graphs with the same seed, one without latencies and one with them, take the same measurements while the vehicle
stands disarmed. The delay of a sensor is the time between the messages of the same contents.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
from comparison import Comparison
from matplotlib.figure import Figure

from rosflight_py_sim.firmware import Firmware, FirmwareParameters
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.sil_board import SilBoard
from rosflight_py_sim.sensing import SENSOR_PARAMETERS
from rosflight_py_sim.step.topics import (
    BARO,
    BATTERY,
    CLOCK,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU,
    IMU_TEMPERATURE,
    MAG,
    RANGE,
    StepTopic,
)
from rosflight_py_sim.vehicles import vehicle

TITLE = "latencies"

SENSORS: Mapping[str, tuple[str, StepTopic[Any]]] = {
    "gnss": ("GNSS", GNSS_FIX),
    "imu": ("IMU", IMU),
    "imu_temperature": ("IMU temperature", IMU_TEMPERATURE),
    "mag": ("magnetometer", MAG),
    "baro": ("barometer", BARO),
    "diff_pressure": ("differential pressure", DIFF_PRESSURE),
    "range": ("range finder", RANGE),
    "battery": ("battery monitor", BATTERY),
}

# Latencies of the second run, s: the default of GNSS, and whole steps for the others.
GIVEN_S = {"imu": 0.01, "imu_temperature": 0.04, "mag": 0.03, "baro": 0.02, "diff_pressure": 0.025, "range": 0.05}
GIVEN_S |= {"battery": 0.015, "gnss": float(str(SENSOR_PARAMETERS["gnss_latency"].default))}
LINK_S = float(str(SilBoard.PARAMETERS["link_latency"].default))

REFERENCES = {"gnss": "0.12 s: ArduPilot for u-blox M8"}

STEP_S = 0.0025
DURATION_S = 1.2


class Listener(SimulationNode):
    """Stores the time at which each sensor message arrives, and its contents without the stamp."""

    DEFAULT_NAME = "listener"
    PARAMETERS = ParameterTable(TIME_MODE)

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.time_ns = 0
        self.received: dict[str, list[tuple[int, tuple[Any, ...]]]] = {name: [] for name in SENSORS}
        self.subscribe(CLOCK, self._on_time)
        for name, (_, row) in SENSORS.items():
            self.subscribe(row, lambda sample, name=name: self._note(name, sample))

    def _on_time(self, time_ns: int) -> None:
        self.time_ns = time_ns

    def _note(self, name: str, sample: Any) -> None:
        # The contents exclude the stamp, and the date of a fix, which is that of its measurement.
        self.received[name].append((self.time_ns, tuple(sample[1:12])))


@cache
def runs() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Messages of each sensor without latencies, and with those of GIVEN_S."""
    none = {f"{name}_latency": 0.0 for name in SENSORS}
    given = {f"{name}_latency": value for name, value in GIVEN_S.items()}
    return received(none), received({**given, "sensor_stamps": "arrival"})


def received(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    # No other graph on the machine is discovered.
    with mock.patch.dict(os.environ, ROS_AUTOMATIC_DISCOVERY_RANGE="OFF"):
        graph = ComposedGraph(
            [Member(vehicle("multirotor"))],
            settings={"real_time_multiplier": 0.0, **settings},
            arguments=["--ros-args", "--log-level", "error"],
        )
        try:
            listener = graph.join(Listener)
            graph.spin(lambda: listener.time_ns < DURATION_S * NANOSECONDS)
            return listener.received
        finally:
            graph.close()


def delay_s(name: str) -> float:
    """Time between the two runs' messages of the same contents, s.

    Every measurement of the second run arrives, in order. Of the IMU there is a message in each step.
    """
    prompt, late = (one[name] for one in runs())
    if name == "imu":
        arrived_ns, newest = late[-1]
        return (arrived_ns - next(time_ns for time_ns, contents in prompt if contents == newest)) / NANOSECONDS
    pairs = list(zip(prompt, late, strict=False))
    assert all(sent[1] == arrived[1] for sent, arrived in pairs), name
    (delay_ns,) = {arrived[0] - sent[0] for sent, arrived in pairs}
    return delay_ns / NANOSECONDS


def offboard_after_s(latency_s: float) -> float:
    """Time from a command of the companion computer to the pass from which it is in force, s."""
    firmware = Firmware(FirmwareParameters(), link_latency_us=round(1e6 * latency_s))
    step_us = round(1e6 * STEP_S)
    firmware.step(0)
    firmware.set_command(0, 2, 0, [0.0] * 10)
    for number in range(1, 100):
        firmware.step(number * step_us)
        if firmware.command.offboard_active:
            return number * STEP_S
    raise AssertionError("the command never arrives")


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    for name, (title, _) in SENSORS.items():
        found, given = delay_s(name), GIVEN_S[name]
        reference = REFERENCES.get(name, f"{given:g} s: `{name}_latency`")
        yield Comparison(title, f"{found:g} s", reference, milliseconds(found - given))
    found = offboard_after_s(LINK_S)
    reference = f"{1e3 * LINK_S:g} ms: ROSflight's SILBoard"
    yield Comparison("companion link at 400 Hz", f"{1e3 * found:g} ms", reference, milliseconds(found - LINK_S))


def milliseconds(seconds: float) -> str:
    """A difference as text."""
    return f"{1e3 * seconds + 0.0:+.3g} ms" if abs(seconds) > 1e-9 else "0 ms"


def draw(figure: Figure) -> None:
    """Measurements as they are taken and as they arrive, and the link's latency over that given."""
    panels = figure.subplots(2, 2)
    figure.subplots_adjust(left=0.08, right=0.97, top=0.88, bottom=0.09, hspace=0.35, wspace=0.2)
    prompt, late = runs()
    for panel, name, field, title in (
        (panels[0, 0], "imu", 0, "IMU: roll rate, rad/s"),
        (panels[0, 1], "baro", 1, "barometer: pressure, Pa"),
        (panels[1, 0], "gnss", 4, "GNSS: altitude, m"),
    ):
        shown_s = 1.0 if name == "gnss" else 0.1
        for messages, label in ((prompt[name], "measured"), (late[name], f"arrived, {GIVEN_S[name]:g} s later")):
            times = np.array([time_ns for time_ns, _ in messages]) / NANOSECONDS
            values = np.array([np.ravel(contents[field])[0] for _, contents in messages])
            chosen = times > DURATION_S - shown_s
            panel.step(times[chosen], values[chosen], where="post", marker="o", markersize=4, label=label)
        panel.set_title(title)
        panel.set_xlabel("simulated time, s")
        panel.legend(loc="best", frameon=True)
    panel = panels[1, 1]
    latencies = np.arange(0.0, 0.0201, 0.0005)
    panel.plot(1e3 * latencies, 1e3 * latencies, label="given")
    found = [1e3 * offboard_after_s(float(latency)) for latency in latencies]
    panel.plot(1e3 * latencies, found, marker="o", markersize=4, label="command in force, at 400 Hz")
    panel.set_title("companion link, ms")
    panel.set_xlabel("link_latency, ms")
    panel.legend(loc="upper left")
