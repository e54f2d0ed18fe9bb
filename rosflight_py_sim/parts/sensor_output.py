"""A sensor as one declaration: its topic, rate, latency and failures, and how a reading becomes a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rosflight_py_sim.delay_line import DelayLine
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.parameters import number
from rosflight_py_sim.parts.failed_sensors import Measured, through
from rosflight_py_sim.sensing.latency import ARRIVAL, SENSOR_STAMPS, latency_ns
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Output
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import StepTopic
from rosflight_py_sim.step.vehicle_state import VehicleState

M = TypeVar("M")

Fields = Callable[[Any, int, Any], tuple[Any, ...]]

# Faster than calling the class of a named tuple, whose constructor is a Python function.
_new = tuple.__new__


class SensorOutput(Output[M]):
    """Output of a sensor's measurements.

    Attributes:
        sensor: name in the parameters of its rate (`..._update_frequency`) and latency (`..._latency`).
        update: name of the part's method that reads the sensor: (state, time since the last reading in s) -> reading.
        fields: (part, stamp in ns, reading) -> the message's fields after the stamp; None: those of the reading.
        failures: what failures change in a message, by target of the failure (`failures.failure.TARGETS`).
    """

    def __init__(
        self,
        topic: StepTopic[M],
        sensor: str,
        update: str,
        fields: Fields | None,
        failures: Mapping[str, Callable[[], Measured]],
    ) -> None:
        super().__init__(topic)
        self.sensor, self.update, self.fields, self.failures = sensor, update, fields, failures


def sensor(
    topic: StepTopic[Any],
    name: str,
    update: str,
    fields: Fields | None = None,
    **failures: Callable[[], Measured],
) -> Any:
    """Output of a sensor; see `SensorOutput`."""
    return SensorOutput(topic, name, update, fields, failures)


class Sampling(Schedule):
    """Schedule of one sensor, and its messages with failures and latency.

    Attributes:
        line: messages in transit; None without a latency.
        send: sends a message with the sensor's failures, after the latency.
    """

    def __init__(self, part: Part, port: SensorOutput[Any]) -> None:
        """Begin to sample a sensor of a part whose outputs are connected.

        Raises:
            ParameterError: the latency is not allowed.
        """
        rate_hz, delay_ns = number(part.values, f"{port.sensor}_update_frequency"), latency_ns(part.values, port.sensor)
        super().__init__(rate_hz)
        self._period_s, self._sampled_ns = 1.0 / rate_hz, -1
        self._part, self._update = part, getattr(part, port.update)
        self._message, self._fields = port.topic.carried, port.fields
        self._measured = {name: kind() for name, kind in port.failures.items()}
        self._publish: Callable[[Any], None] = getattr(part, port.name)
        self._has_arrival_stamps = part.values[SENSOR_STAMPS.name] == ARRIVAL
        self.line = DelayLine[Any](delay_ns, self._deliver) if delay_ns else None
        self._outlet = self._publish if self.line is None else self._send_late
        self.send = self._outlet

    def measure(self, time_ns: int, state: VehicleState) -> Any:
        """Message of a new reading; for the first reading, the time since the last one counts as one period."""
        last_ns, self._sampled_ns = self._sampled_ns, time_ns
        reading = self._update(state, (time_ns - last_ns) / NANOSECONDS if 0 <= last_ns < time_ns else self._period_s)
        fields = self._fields
        return _new(self._message, (time_ns, *(reading if fields is None else fields(self._part, time_ns, reading))))

    def fail(self, signals: Signals) -> None:
        """Apply those of these failures that affect the sensor, and no others, from now on."""
        self.send = self._outlet
        for name, measured in self._measured.items():
            self.send = through(signals.get((name, 0)), measured, self.send)

    def drop_in_transit(self) -> None:
        """Drop the messages that have not arrived."""
        if self.line is not None:
            self.line.clear()

    def _send_late(self, message: Any) -> None:
        assert self.line is not None
        self.line.send(message.time_ns, message)

    def _deliver(self, message: Any, time_ns: int) -> None:
        self._publish(message._replace(time_ns=time_ns) if self._has_arrival_stamps else message)


class SteadySampling(Sampling):
    """Sampling of a sensor that sends a message in each step; with a latency, the newest that has arrived."""

    _arrived: Any = None

    def drop_in_transit(self) -> None:
        """Drop the messages that have not arrived, and the newest that has."""
        super().drop_in_transit()
        self._arrived = None

    def _send_late(self, message: Any) -> None:
        """Send the newest message that has arrived, with the stamp of this one; before any has, the first message."""
        assert self.line is not None
        self.line.send(message.time_ns, message)
        if self._arrived is None:
            self._arrived = message
        self.line.advance(message.time_ns)
        self._publish(self._arrived._replace(time_ns=message.time_ns))

    def _deliver(self, message: Any, time_ns: int) -> None:
        self._arrived = message
