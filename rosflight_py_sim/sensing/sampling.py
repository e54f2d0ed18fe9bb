"""How a sensor is sampled: its schedule, and the way of its messages through failures and latency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.delay_line import DelayLine
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import ChainLink, StepTime, copy_numbers
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.sensing.failing import through
from rosflight_py_sim.sensing.sensor import ARRIVAL, SENSOR_STAMPS, Sensor
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import new_message
from rosflight_py_sim.step.vehicle_state import VehicleState

Read = Callable[[int, VehicleState, float], tuple[Any, ...]]
"""Function that measures: (stamp in ns, true state, time since the last measurement in s) -> fields after the stamp."""


_PLACES = 32
"""Most measurements in transit for which a chain delays them."""


@kernel_record
class Transit:
    """Measurements of a sensor in transit in a chain, in a ring of places.

    Attributes:
        first: place of the first one.
        count: number of them.
        delay_ns: latency, ns.
    """

    first: int
    count: int
    delay_ns: int


@kernel
def dispatch_measurement(
    time: StepTime,
    transit: Transit,
    sent_ns: NDArray[np.float64],
    ring: NDArray[np.float64],
    numbers: NDArray[np.float64],
) -> None:
    """Send a measurement (m,), by a ring (n, m) and the times of its measurements (n,), ns."""
    place = (transit.first + transit.count) % len(sent_ns)
    sent_ns[place] = time.time_ns
    copy_numbers(numbers, ring[place])
    transit.count += 1


@kernel
def skip_unless_arrived(
    time: StepTime,
    transit: Transit,
    sent_ns: NDArray[np.float64],
    ring: NDArray[np.float64],
    arrived: NDArray[np.float64],
    skipped: int,
) -> int:
    """Take the first measurement of a ring and return 0 if it has arrived, else return -skipped."""
    if transit.count == 0 or sent_ns[transit.first] + transit.delay_ns > time.time_ns:
        return -skipped
    copy_numbers(ring[transit.first], arrived)
    transit.first = (transit.first + 1) % len(sent_ns)
    transit.count -= 1
    return 0


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
        self._delay_ns = delay_ns
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

    def can_delay(self, step_ns: int) -> bool:
        """Whether `delay_links` can delay all measurements: few are in transit, and one arrives in a step at most."""
        period_ns = self.schedule.period_ns
        return period_ns >= step_ns and self._delay_ns + step_ns < (_PLACES - 1) * period_ns

    def delay_links(
        self,
        time: StepTime,
        numbers: NDArray[np.float64],
        fields: Callable[[NDArray[np.float64], int], Sequence[Any]],
        received: Callable[[NDArray[np.float64]], Sequence[ChainLink] | None],
    ) -> tuple[Sequence[ChainLink], ChainLink] | None:
        """Links of a chain by which the measurements arrive, and the one that sends a measurement.

        Args:
            time: time of the step.
            numbers: the sensor's numbers (m,).
            fields: makes the fields of a message after its stamp, of numbers (m,) and a stamp, ns.
            received: the links by which the receivers take an array (m,), or None if they need messages.
        """
        line = self.line
        assert line is not None
        sent_ns, ring, arrived = np.zeros(_PLACES), np.zeros((_PLACES, len(numbers))), np.zeros(len(numbers))
        then = received(arrived)
        if then is None:
            return None
        transit = Transit(first=0, count=0, delay_ns=self._delay_ns)
        for message in line.in_transit():
            sent_ns[transit.count], ring[transit.count] = message[0], message[1 : 1 + len(numbers)]
            transit.count += 1

        left = -1, -1

        def leave(answered_ns: int) -> None:
            nonlocal left
            if left == (transit.first, transit.count):
                return
            left = transit.first, transit.count
            line.clear()
            for place in range(transit.first, transit.first + transit.count):
                stamp_ns = int(sent_ns[place % _PLACES])
                line.send(stamp_ns, self.message(stamp_ns, fields(ring[place % _PLACES], stamp_ns)))

        arrives = bound(skip_unless_arrived, time, transit, sent_ns, ring, arrived, len(then))
        sends = bound(dispatch_measurement, time, transit, sent_ns, ring, numbers)
        return (ChainLink(arrives, leave=leave), *then), ChainLink(sends)

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
