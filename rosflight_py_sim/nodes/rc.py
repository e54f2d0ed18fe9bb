"""The transmitter: RC frames from a joystick, the keyboard, or services."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from rclpy.service import Service
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import FAILURES, LOST, OFF
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.failures.signal import Link
from rosflight_py_sim.interfaces.fallible_node import FallibleNode
from rosflight_py_sim.interfaces.ticks import start_ticks
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Value, number
from rosflight_py_sim.shared_parameters import TIME_MODE
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import RC, PulseWidths
from rosflight_py_sim.transmitter import joystick
from rosflight_py_sim.transmitter.channels import ARM, HIGH, LOW, OVERRIDE, Transmitter, frame_at_rest, lost_frame
from rosflight_py_sim.transmitter.keyboard import LAYOUTS
from rosflight_py_sim.transmitter.mapping import Mapping, MappingError, all_mappings
from rosflight_py_sim.transmitter.opening import KEYBOARDS, NoKeyboardError, open_keyboard
from rosflight_py_sim.transmitter.sdl import NoPygameError

# System time, because the sticks move in real time at any speed of the simulation.
_POLL_PERIOD_S = 0.01
_SEARCH_PERIOD_S = 1.0


class Rc(FallibleNode):
    """Publishes sim/RC from a joystick, from the keyboard, or with sticks at rest and switches moved by services.

    The services toggle_arm and toggle_override exist only while neither joystick nor keyboard is in use.
    toggle_override moves the switch with which RC overrides offboard commands (on at the start, because arming requires
    it). An unplugged joystick counts as a lost transmitter: no frames are published until one is plugged in again.
    """

    DEFAULT_NAME: ClassVar[str] = "rc"
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        TIME_MODE,
        Parameter(
            "device",
            "auto",
            "Input device: joystick, keyboard, none (services set the switches), or auto (none until a joystick is "
            "plugged in)",
            choices=("auto", "none", "joystick", "keyboard"),
            read_only=True,
        ),
        Parameter("use_vimfly", False, "ROSflight's name for `device` set to keyboard", read_only=True),
        Parameter(
            "mapping_file",
            "",
            "File of your own joystick mappings, which take precedence over config/joysticks.yaml",
            read_only=True,
        ),
        Parameter("joystick_name", "", "Use only a joystick whose name contains this text", read_only=True),
        Parameter(
            "joystick_index",
            joystick.ANY,
            "Use only the joystick with this number, counted from 0; -1 for any",
            minimum=joystick.ANY,
            maximum=99,
            read_only=True,
        ),
        Parameter(
            "keyboard",
            "auto",
            "Source of key presses: window, terminal, or auto (a window if there is a display)",
            choices=KEYBOARDS,
            read_only=True,
        ),
        Parameter("keyboard_layout", "vimfly", "Key layout: see docs/rc.md", choices=tuple(LAYOUTS), read_only=True),
        Parameter("rc_frequency", 50.0, "Rate of RC frames", "Hz", minimum=1.0, maximum=400.0, read_only=True),
        FAILURES,
    )

    FALLIBLE: ClassVar[tuple[str, ...]] = ("rc",)

    # A class attribute, because a node that fails during construction is also destroyed.
    _transmitter: Transmitter | None = None

    def __init__(self, **arguments: Any) -> None:
        """Open the device, create topic and services and start sending frames."""
        self._link: Link[list[int]] | None = None
        self._is_lost = False
        super().__init__(**arguments)
        self._mappings = self._load_mappings()
        self._at_rest = frame_at_rest()
        self._switch_services: list[Service] = []
        self._send = self.publisher(RC)
        start_ticks(self, number(self.values, "rc_frequency"), self._on_tick)
        self._open_device()

    def configure(self, values: dict[str, Value]) -> None:
        """Refuse a device that use_vimfly contradicts."""
        if values["use_vimfly"] and values["device"] == "joystick":
            raise ParameterError("parameter 'device': 'joystick' given; with use_vimfly allowed: keyboard, or nothing")

    @property
    def unrepeatable_inputs(self) -> list[str]:
        """The joystick or keyboard."""
        moved = self._transmitter is not None and not self._switch_services
        return [f"sticks of a joystick or keyboard ({self.get_fully_qualified_name()})"] if moved else []

    def destroy_node(self) -> None:
        """Also close the device."""
        if self._transmitter is not None:
            self._transmitter.close()
        super().destroy_node()

    def _load_mappings(self) -> list[Mapping]:
        own = str(self.values["mapping_file"])
        try:
            return all_mappings(Path(own) if own else None)
        except MappingError as error:
            raise ParameterError(f"parameter 'mapping_file': {error}") from error

    # The device.

    def _open_device(self) -> None:
        device = "keyboard" if self.values["use_vimfly"] else self.values["device"]
        try:
            if device == "keyboard":
                kind, layout = str(self.values["keyboard"]), str(self.values["keyboard_layout"])
                self._fly_by(open_keyboard(kind, layout, self.get_logger()))
            elif device == "joystick":
                self._fly_by(self._open_joystick())
        except NoKeyboardError as error:
            raise ParameterError(f"the keyboard cannot be used: {error}") from error
        except NoPygameError as error:
            raise ParameterError(f"parameter 'device': 'joystick' given, but {error}") from error
        if device == "joystick" and self._transmitter is not None and not self._transmitter.is_present:
            found = ", ".join(str(path) for path in joystick.joystick_devices())
            hint = f"; {found} exists: check its read permission" if found else ""
            self.get_logger().warning(f"no joystick found: sim/RC is not published until one is connected{hint}")
        if device in ("none", "auto"):
            self._create_services()
        if device == "auto":
            self._search_timer = self.create_system_timer(_SEARCH_PERIOD_S, self._search_joystick)
            self._search_joystick()

    def _open_joystick(self) -> Transmitter:
        return joystick.JoystickTransmitter(
            self._mappings,
            self.get_logger(),
            part_of_name=str(self.values["joystick_name"]),
            index=int(number(self.values, "joystick_index")),
        )

    def _search_joystick(self) -> None:
        """Open a joystick once there is one; pygame is not loaded before."""
        devices = joystick.joystick_devices()
        if not devices:
            return
        self._search_timer.cancel()
        try:
            self._fly_by(self._open_joystick())
        except NoPygameError as error:
            self.get_logger().info(f"{devices[0]} may be a joystick, but {error}")

    def _fly_by(self, transmitter: Transmitter) -> None:
        self._transmitter = transmitter
        self._poll()
        self.create_system_timer(_POLL_PERIOD_S, self._poll)

    def _poll(self) -> None:
        transmitter = self._transmitter
        if transmitter is None:
            return
        transmitter.poll(time.monotonic())
        if self._switch_services and transmitter.is_present:
            self._destroy_services()

    def fail(self, signals: Signals) -> None:
        """Let the link to the receiver fail."""
        signal = signals.get(("rc", 0))
        self._link = None if signal is None else Link(signal, OFF)
        self._is_lost = signal is not None and signal.has(LOST)

    def _on_tick(self, time_ns: int) -> None:
        if self.has_failures:
            self.advance_failures(time_ns)
        transmitter = self._transmitter
        # Without services, frames come only from the device, or not at all.
        frame = self._at_rest if self._switch_services or transmitter is None else transmitter.frame
        if self._link is not None:
            frame = self._received(self._link, time_ns, frame)
        if frame is not None:
            self._send(PulseWidths(time_ns, tuple(frame)))

    def _received(self, link: Link[list[int]], time_ns: int, frame: Sequence[int] | None) -> Sequence[int] | None:
        """Frame that arrives through a link that fails."""
        if frame is not None:
            link.send(time_ns, lost_frame(frame) if self._is_lost else list(frame))
        return next(reversed(link.arrived(time_ns)), None)

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Source of the stick positions."""
        transmitter = self._transmitter
        if self._switch_services or transmitter is None:
            yield Diagnosis("", "sticks at rest, switches by services")
        elif transmitter.frame is None:
            yield Diagnosis("", "no RC frames: no transmitter", Level.WARN)
        else:
            yield Diagnosis("", "manual control")

    # Without a device.

    def _create_services(self) -> None:
        self._switch_services = [
            self.create_service(Trigger, "toggle_arm", self._toggle_arm),
            self.create_service(Trigger, "toggle_override", self._toggle_override),
        ]

    def _destroy_services(self) -> None:
        for service in self._switch_services:
            self.destroy_service(service)
        self._switch_services = []

    def _toggle(self, channel: int, name: str, response: Trigger.Response) -> Trigger.Response:
        on = self._at_rest[channel] != HIGH
        self._at_rest[channel] = HIGH if on else LOW
        response.success = True
        response.message = f"{name} switch {'on' if on else 'off'}"
        return response

    def _toggle_arm(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._toggle(ARM, "arm", response)

    def _toggle_override(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._toggle(OVERRIDE, "override", response)


def main() -> None:
    """Run the node."""
    run(Rc)


if __name__ == "__main__":
    main()
