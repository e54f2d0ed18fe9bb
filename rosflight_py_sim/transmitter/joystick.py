"""Joystick as transmitter: found by name, lost when unplugged, resumed when plugged in again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rosflight_py_sim.transmitter.channels import Log
from rosflight_py_sim.transmitter.mapping import Mapping, example, mapping_for
from rosflight_py_sim.transmitter.sdl import SdlSession

DEVICE_FOLDER = Path("/dev/input")

ANY = -1


def joystick_devices() -> list[Path]:
    """Devices of the kernel that might be joysticks, without SDL."""
    return sorted(DEVICE_FOLDER.glob("js*"))


class JoystickTransmitter:
    """Uses the first joystick that is plugged in, has a mapping and matches the selection.

    After unplugging nothing is sent, as from a transmitter out of range, until the same or another joystick is plugged
    in. Toggle buttons keep their positions meanwhile.
    """

    def __init__(self, mappings: Sequence[Mapping], log: Log, *, part_of_name: str = "", index: int = ANY) -> None:
        """Start SDL.

        Args:
            mappings: in order of precedence.
            log: receives reports of joysticks plugged in, unplugged or unknown.
            part_of_name: only joysticks whose name contains this, ignoring case.
            index: only the joystick with this number, counted from 0; ANY for the first that fits.

        Raises:
            NoPygameError: pygame is not installed.
        """
        self.frame: list[int] | None = None
        self.is_present = False
        self._mappings = mappings
        self._log = log
        self._part_of_name = part_of_name.lower()
        self._index = index
        self._joystick: Any = None
        self._mapping: Mapping | None = None
        self._reported: set[str] = set()
        self._rescan = True
        self._sdl = SdlSession(self._on_event, display=False)

    def poll(self, now_s: float) -> None:
        """As for Transmitter."""
        self._sdl.pump()
        if self._joystick is None:
            if self._rescan:
                self._rescan = False
                self._scan()
            # SDL reads the axes only after one pump with the joystick open.
            self._sdl.pump()
        if self._joystick is not None and self._mapping is not None:
            self.frame = self._mapping.read(self._joystick)

    def close(self) -> None:
        """As for Transmitter."""
        self._joystick = None
        self.frame = None
        self._sdl.close()

    def _on_event(self, event: Any) -> None:
        pygame = self._sdl.pygame
        if event.type == pygame.JOYDEVICEADDED:
            self._rescan = True
        elif (
            event.type == pygame.JOYDEVICEREMOVED
            and self._joystick is not None
            and event.instance_id == self._joystick.get_instance_id()
        ):
            self._log.warning(
                f"joystick '{self._joystick.get_name()}' disconnected: RC signal lost until it is plugged in again"
            )
            self._joystick = None
            self.frame = None
            self._rescan = True

    def _scan(self) -> None:
        joysticks = self._sdl.pygame.joystick
        for index in range(joysticks.get_count()):
            joystick = joysticks.Joystick(index)
            if self._index not in (ANY, index) or self._part_of_name not in joystick.get_name().lower():
                continue
            mapping = mapping_for(joystick.get_name(), self._mappings)
            lacking = mapping.lacking(joystick.get_numaxes(), joystick.get_numbuttons()) if mapping else ""
            if mapping is None or lacking:
                self._report_unknown(joystick, mapping, lacking)
                continue
            self._log.info(f"using joystick '{joystick.get_name()}' (mapping '{mapping.name}')")
            self._joystick, self._mapping, self.is_present = joystick, mapping, True
            return

    def _report_unknown(self, joystick: Any, mapping: Mapping | None, lacking: str) -> None:
        name = joystick.get_name()
        if name in self._reported:
            return
        self._reported.add(name)
        has = f"{joystick.get_numaxes()} axes, {joystick.get_numbuttons()} buttons, {joystick.get_numhats()} hats"
        why = f"mapping '{mapping.name}' does not fit: {lacking}" if mapping else "no mapping found"
        self._log.warning(
            f"joystick '{name}' ({has}) cannot be used: {why}. Write a mapping with the numbers shown by "
            f"`rosflight_py_sim joysticks --watch` and set the parameter mapping_file to it:\n{example(name)}"
        )
