"""The transmitter: RC frames with sticks at rest, and switches moved by services."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import FAILURES, LOST, OFF
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.failures.signal import Link
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.ground.shared_parameters import STARTS_IN_FLIGHT, TIME_MODE
from rosflight_py_sim.kernels.chain import Cells, ChainLink, StepTime, Taken
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import output, service, ticks
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import RC, PulseWidths
from rosflight_py_sim.transmitter.channels import ARM, HIGH, LOW, OVERRIDE, frame_at_rest, frame_in_flight, lost_frame

RC_FREQUENCY = Parameter("rc_frequency", 50.0, "Rate of RC frames", "Hz", minimum=1.0, maximum=400.0, read_only=True)


class RcTransmitter(Part):
    """Sends RC frames at a fixed rate.

    The services toggle_arm and toggle_override move the switches. toggle_override moves the switch with which RC
    overrides offboard commands (on at the start, because arming requires it, unless the vehicle starts in flight).
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.TRANSMITTER
    DEFAULT_NAME: ClassVar[str] = "rc"
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(TIME_MODE, RC_FREQUENCY, STARTS_IN_FLIGHT, FAILURES)
    FALLIBLE: ClassVar[tuple[str, ...]] = ("rc",)
    REPLACED: ClassVar[tuple[str, ...]] = ("answer", "run", "frame")

    send_frame = output(RC)
    time = ticks(RC_FREQUENCY.name)

    def initialise(self) -> None:
        """Set sticks and switches to rest."""
        super().initialise()
        self._at_rest = frame_at_rest()
        self._link: Link[list[int]] | None = None
        self._is_lost = False

    def begin(self) -> None:
        """Move the switches to those of a vehicle in flight, if it starts there."""
        if self.values[STARTS_IN_FLIGHT.name]:
            self._at_rest = frame_in_flight()

    @property
    def frame(self) -> Sequence[int] | None:
        """Pulse widths of the sticks and switches, us (8); None while nothing is sent."""
        return self._at_rest

    def has_switch_services(self) -> bool:
        """Whether services move the switches."""
        return True

    def fail(self, signals: Signals) -> None:
        """Let the link to the receiver fail."""
        signal = signals.get(("rc", 0))
        self._link = None if signal is None else Link(signal, OFF)
        self._is_lost = signal is not None and signal.has(LOST)

    def answer(self, time_ns: int, content: None) -> None:
        """Send the frame that the receiver receives."""
        frame = self.frame
        if self._link is not None:
            frame = self._received(self._link, time_ns, frame)
        if frame is not None:
            self.send_frame(PulseWidths(time_ns, tuple(frame)))

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Send the frame at rest, which services change; None if the link to the receiver fails."""
        return None if self.has_failures else taken(RC.name, np.array(self._at_rest, dtype=np.int64))

    def _received(self, link: Link[list[int]], time_ns: int, frame: Sequence[int] | None) -> Sequence[int] | None:
        """Frame that arrives through a link that fails."""
        if frame is not None:
            link.send(time_ns, lost_frame(frame) if self._is_lost else list(frame))
        return next(reversed(link.arrived(time_ns)), None)

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Source of the stick positions."""
        yield Diagnosis("", "sticks at rest, switches by services")

    def _toggle(self, channel: int, name: str, response: Trigger.Response) -> Trigger.Response:
        on = self._at_rest[channel] != HIGH
        self._at_rest[channel] = HIGH if on else LOW
        response.success = True
        response.message = f"{name} switch {'on' if on else 'off'}"
        return response

    @service(Trigger, "toggle_arm", when="has_switch_services")
    def toggle_arm(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Move the arm switch."""
        return self._toggle(ARM, "arm", response)

    @service(Trigger, "toggle_override", when="has_switch_services")
    def toggle_override(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Move the switch with which RC overrides offboard commands."""
        return self._toggle(OVERRIDE, "override", response)
