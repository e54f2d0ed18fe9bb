"""A joystick as transmitter: found by its name, lost when it is unplugged, taken up again when it returns."""

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
    """What the kernel has that might be a joystick, without asking SDL."""
    return sorted(DEVICE_FOLDER.glob("js*"))


class JoystickTransmitter:
    """Flies by the first joystick that is plugged in, has a mapping and is the one that was asked for.

    Unplugged it sends nothing, as a transmitter that is lost; the same or another joystick is taken up when it is
    plugged in. Buttons that toggle stay where they were meanwhile.
    """

    def __init__(self, mappings: Sequence[Mapping], log: Log, *, part_of_name: str = "", index: int = ANY) -> None:
        """Start SDL.

        Args:
            mappings: the strongest first.
            log: told of joysticks that come, go, or are unknown.
            part_of_name: only joysticks whose name has this in it, case apart.
            index: only the joystick of this number, counted from 0; ANY: the first that fits.

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
        self._told: set[str] = set()
        self._look_again = True
        self._sdl = SdlSession(self._on_event, display=False)

    def poll(self, now_s: float) -> None:
        """As of Transmitter."""
        self._sdl.pump()
        if self._joystick is None:
            if self._look_again:
                self._look_again = False
                self._look()
            # SDL knows the axes only when it has pumped once with the joystick open.
            self._sdl.pump()
        if self._joystick is not None and self._mapping is not None:
            self.frame = self._mapping.read(self._joystick)

    def close(self) -> None:
        """As of Transmitter."""
        self._joystick = None
        self.frame = None
        self._sdl.close()

    def _on_event(self, event: Any) -> None:
        pygame = self._sdl.pygame
        if event.type == pygame.JOYDEVICEADDED:
            self._look_again = True
        elif (
            event.type == pygame.JOYDEVICEREMOVED
            and self._joystick is not None
            and event.instance_id == self._joystick.get_instance_id()
        ):
            self._log.warning(
                f"joystick '{self._joystick.get_name()}' is gone: the transmitter is lost until it is plugged in again"
            )
            self._joystick = None
            self.frame = None
            self._look_again = True

    def _look(self) -> None:
        joysticks = self._sdl.pygame.joystick
        for index in range(joysticks.get_count()):
            joystick = joysticks.Joystick(index)
            if self._index not in (ANY, index) or self._part_of_name not in joystick.get_name().lower():
                continue
            mapping = mapping_for(joystick.get_name(), self._mappings)
            lacking = mapping.lacking(joystick.get_numaxes(), joystick.get_numbuttons()) if mapping else ""
            if mapping is None or lacking:
                self._tell_unknown(joystick, mapping, lacking)
                continue
            self._log.info(f"flying by joystick '{joystick.get_name()}' (mapping '{mapping.name}')")
            self._joystick, self._mapping, self.is_present = joystick, mapping, True
            return

    def _tell_unknown(self, joystick: Any, mapping: Mapping | None, lacking: str) -> None:
        name = joystick.get_name()
        if name in self._told:
            return
        self._told.add(name)
        has = f"{joystick.get_numaxes()} axes, {joystick.get_numbuttons()} buttons, {joystick.get_numhats()} hats"
        why = f"mapping '{mapping.name}' does not fit: {lacking}" if mapping else "there is no mapping for it"
        self._log.warning(
            f"joystick '{name}' ({has}) cannot fly: {why}. Write one, with the numbers that `rosflight_py_sim "
            f"joysticks --watch` shows, and give the file by the parameter mapping_file:\n{example(name)}"
        )
