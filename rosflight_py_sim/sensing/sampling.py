"""How a sensor is sampled: its schedule, and the way of its messages through failures and latency."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.delay_line import DelayLine
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import ChainLink, StepTime
from rosflight_py_sim.sensing.failing import through
from rosflight_py_sim.sensing.sensor import ARRIVAL, SENSOR_STAMPS, Sensor
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import new_message
from rosflight_py_sim.step.vehicle_state import VehicleState

Read = Callable[[int, VehicleState, float], tuple[Any, ...]]
"""Function that measures: (stamp in ns, true state, time since the last measurement in s) -> fields after the stamp."""


class Sampling:
    """Schedule of one sensor, and its messages with failures and latency.

    With a latency, a sensor that sends a message in each step sends the newest that has arrived.

    Attributes:
        sensor: the declaration.
        schedule: due times of the measurements.
        read: function that measures; set by the part.
        line: messages in transit; None without a latency.
        send: sends a message with the sensor's failures, after the latency.
        sampled_ns: time of the last measurement, ns; -1 before the first.
    """

    read: Read

    def __init__(self, part: Part, sensor: Sensor[Any]) -> None:
        """Begin to sample a sensor of a part whose outputs are connected.

        Raises:
            ParameterError: the latency is not allowed.
        """
        rate_hz, delay_ns = sensor.rate_hz(part.values), sensor.latency_ns(part.values)
        self.sensor, self.schedule, self._message = sensor, Schedule(rate_hz), sensor.topic.carried
        self._period_s, self.sampled_ns = 1.0 / rate_hz, -1
        self._measured = {name: failing.measured() for name, failing in sensor.failures.items()}
        self._publish: Callable[[Any], None] = getattr(part, sensor.name)
        self._has_arrival_stamps = part.values[SENSOR_STAMPS.name] == ARRIVAL
        # The newest message that has arrived, of a sensor that sends one in each step.
        self._arrived: Any = None
        send, deliver = (self._send_newest, self._keep) if sensor.every_step else (self._send_late, self._deliver)
        self.line = DelayLine[Any](delay_ns, deliver) if delay_ns else None
        self._outlet = self._publish if self.line is None else send
        self.send = self._outlet

    def measure(self, time_ns: int, state: VehicleState) -> Any:
        """Message of a new measurement; for the first one, the time since the last one counts as one period."""
        last_ns, self.sampled_ns, read = self.sampled_ns, time_ns, self.read
        dt = (time_ns - last_ns) / NANOSECONDS if 0 <= last_ns < time_ns else self._period_s
        return new_message(self._message, (time_ns, *read(time_ns, state, dt)))

    def link(self, time: StepTime, skipped: int) -> ChainLink:
        """Link of a chain that skips so many links unless a measurement is due."""
        link = self.schedule.link(time, skipped)

        def leave(answered_ns: int) -> None:
            link.leave(answered_ns)
            self.sampled_ns = int(self.schedule.since_ns)

        return link._replace(leave=leave)

    def message(self, time_ns: int, fields: Iterable[Any]) -> Any:
        """Message of a measurement at a time (ns), given the fields after the stamp."""
        return new_message(self._message, (time_ns, *fields))

    def fail(self, signals: Signals) -> None:
        """Apply those of these failures that affect the sensor, and no others, from now on."""
        self.send = self._outlet
        for name, measured in self._measured.items():
            self.send = through(signals.get((name, 0)), measured, self.send)

    def drop_in_transit(self) -> None:
        """Drop the messages that have not arrived, and the newest that has."""
        self._arrived = None
        if self.line is not None:
            self.line.clear()

    def _send_late(self, message: Any) -> None:
        assert self.line is not None
        self.line.send(message.time_ns, message)

    def _deliver(self, message: Any, time_ns: int) -> None:
        self._publish(message._replace(time_ns=time_ns) if self._has_arrival_stamps else message)

    def _send_newest(self, message: Any) -> None:
        """Send the newest message that has arrived, with the stamp of this one; before any has, the first message."""
        self._send_late(message)
        if self._arrived is None:
            self._arrived = message
        assert self.line is not None
        self.line.advance(message.time_ns)
        self._publish(self._arrived._replace(time_ns=message.time_ns))

    def _keep(self, message: Any, time_ns: int) -> None:
        self._arrived = message
