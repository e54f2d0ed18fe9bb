"""The rc node: RC frames from a joystick, the keyboard, the browser viewer's page, or services."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from sensor_msgs.msg import Joy
from std_srvs.srv import Trigger

from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value, number
from rosflight_py_sim.ground.shared_parameters import STARTS_IN_FLIGHT, TIME_MODE
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.transmitter import RC_FREQUENCY, RcTransmitter
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.pilot_topics import PILOT
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.transmitter import joystick
from rosflight_py_sim.transmitter.channels import Transmitter
from rosflight_py_sim.transmitter.keyboard import LAYOUTS
from rosflight_py_sim.transmitter.mapping import Mapping, MappingError, all_mappings
from rosflight_py_sim.transmitter.opening import KEYBOARDS, NoKeyboardError, open_keyboard
from rosflight_py_sim.transmitter.page import PageTransmitter, StickReport
from rosflight_py_sim.transmitter.sdl import NoPygameError

# System time, because the sticks move in real time at any speed of the simulation.
_POLL_PERIOD_S = 0.01
_SEARCH_PERIOD_S = 1.0


class Rc(RcTransmitter, PartNode):
    """Publishes sim/RC from a device, or with sticks at rest and switches moved by services.

    Devices are a joystick, the keyboard, and the page of the browser viewer. The services toggle_arm and
    toggle_override exist only while neither joystick nor keyboard is in use, and refuse while a pilot flies from the
    page. An unplugged joystick, and a page that is closed or hidden, count as a lost transmitter: no frames are
    published until the device is back.
    """

    WITHOUT_ROS: ClassVar[type[Part] | None] = RcTransmitter
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        TIME_MODE,
        Parameter(
            "device",
            "auto",
            "Input device: joystick, keyboard, none (services set the switches), page (none until a pilot takes the "
            "controls on the page of the browser viewer), or auto (page until a joystick is plugged in)",
            choices=("auto", "none", "joystick", "keyboard", "page"),
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
        RC_FREQUENCY,
        STARTS_IN_FLIGHT,
        FAILURES,
    )

    # A class attribute, because a node that fails during construction is also destroyed.
    _device: Transmitter | None = None
    _page: PageTransmitter | None = None

    def __init__(self, **arguments: Any) -> None:
        """Open the device."""
        super().__init__(**arguments)
        self._mappings = self._load_mappings()
        self._open_device()

    def configure(self, values: dict[str, Value]) -> None:
        """Refuse a device that use_vimfly contradicts."""
        if values["use_vimfly"] and values["device"] == "joystick":
            raise ParameterError("parameter 'device': 'joystick' given; with use_vimfly allowed: keyboard, or nothing")

    @property
    def frame(self) -> Sequence[int] | None:
        """Pulse widths, us (8), from the device once that is in use; None while nothing is sent."""
        device = self._device_in_use
        return super().frame if device is None else device.frame

    def has_switch_services(self) -> bool:
        """Whether services move the switches until a joystick is plugged in."""
        return not self.values["use_vimfly"] and self.values["device"] in ("none", "auto", "page")

    @property
    def unrepeatable_inputs(self) -> list[str]:
        """The joystick or keyboard; the page's reports arrive by topic."""
        moved = self._device is not None and not self.offered
        return [f"sticks of a joystick or keyboard ({self.get_fully_qualified_name()})"] if moved else []

    @property
    def _device_in_use(self) -> Transmitter | None:
        if self._page is not None and self._page.is_present:
            return self._page
        return None if self.offered else self._device

    def destroy_node(self) -> None:
        """Also close the device."""
        if self._device is not None:
            self._device.close()
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
        if device == "joystick" and self._device is not None and not self._device.is_present:
            found = ", ".join(str(path) for path in joystick.joystick_devices())
            hint = f"; {found} exists: check its read permission" if found else ""
            self.get_logger().warning(f"no joystick found: sim/RC is not published until one is connected{hint}")
        if device in ("auto", "page"):
            self._page = PageTransmitter(self._mappings, self.get_logger())
            self._page_timer = self.create_system_timer(_POLL_PERIOD_S, self._poll_page, autostart=False)
            self._reports = self.subscribe(PILOT, self._on_report)
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
        self._device = transmitter
        self._poll()
        self.create_system_timer(_POLL_PERIOD_S, self._poll)

    def _poll(self) -> None:
        device = self._device
        if device is None:
            return
        device.poll(time.monotonic())
        if device.is_present:
            while self.offered:
                self.destroy_service(self.offered.popitem()[1])

    # The page.

    def _on_report(self, message: Joy) -> None:
        page = self._page
        if page is None or (self._device is not None and self._device.is_present):
            return
        report = StickReport(message.header.frame_id, tuple(message.axes), tuple(map(bool, message.buttons)))
        page.receive(report, self._at_rest, time.monotonic())
        if page.is_present:
            self._page_timer.reset()

    def _poll_page(self) -> None:
        page = self._page
        assert page is not None
        # A recorded run, which repeats its reports at a pace of its own, also repeats that of a closed page.
        if self.hand_off is None or not self.hand_off.outside.is_repeating:
            page.poll(time.monotonic())
        if page.frame is None:
            self._page_timer.cancel()

    def _toggle(self, channel: int, name: str, response: Trigger.Response) -> Trigger.Response:
        if self._page is None or not self._page.is_present:
            return super()._toggle(channel, name, response)
        response.success = False
        response.message = f"{name} switch not moved: a pilot flies from the page; use the switches on the page"
        return response

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Source of the stick positions."""
        device = self._device_in_use
        if device is None:
            yield from super().diagnose(period)
        elif device.frame is None:
            yield Diagnosis("", "no RC frames: no transmitter", Level.WARN)
        else:
            yield Diagnosis("", "manual control")
