"""List of joysticks, axes and buttons, for writing a mapping file."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from rosflight_py_sim.transmitter.joystick import joystick_devices
from rosflight_py_sim.transmitter.mapping import Mapping, mapping_for
from rosflight_py_sim.transmitter.sdl import SdlSession

_PERIOD_S = 0.1


def list_joysticks(mappings: Sequence[Mapping], *, watch: bool) -> None:
    """Print every joystick and, with `watch`, its axes and buttons until Ctrl-C.

    Raises:
        NoPygameError: pygame is not installed.
        KeyboardInterrupt: Ctrl-C.
    """
    sdl = SdlSession(lambda event: None, display=False)
    try:
        sdl.pump()
        plugged_in = [sdl.pygame.joystick.Joystick(index) for index in range(sdl.pygame.joystick.get_count())]
        for index, joystick in enumerate(plugged_in):
            print(_description(index, joystick, mappings))
        if not plugged_in:
            found = ", ".join(str(path) for path in joystick_devices())
            print(f"no joystick found{f'; {found} exists: check its read permission' if found else ''}")
        while watch and plugged_in:
            time.sleep(_PERIOD_S)
            sdl.pump()
            lines = [positions(index, joystick) for index, joystick in enumerate(plugged_in)]
            if sys.stdout.isatty():
                # Overwrite the previous lines, which only a terminal supports.
                print("".join(f"\r\x1b[K{line}\n" for line in lines) + f"\x1b[{len(lines)}A", end="", flush=True)
            else:
                print("\n".join(lines), flush=True)
    finally:
        sdl.close()


def positions(index: int, joystick: Any) -> str:
    """One line with the axis positions and pressed buttons of a joystick."""
    axes = "  ".join(f"{axis}: {joystick.get_axis(axis):+.2f}" for axis in range(joystick.get_numaxes()))
    pressed = [str(button) for button in range(joystick.get_numbuttons()) if joystick.get_button(button)]
    return f"{index}  axes  {axes}   buttons  {' '.join(pressed) or '-'}"


def _description(index: int, joystick: Any, mappings: Sequence[Mapping]) -> str:
    name, axes, buttons = joystick.get_name(), joystick.get_numaxes(), joystick.get_numbuttons()
    mapping = mapping_for(name, mappings)
    if mapping is None:
        verdict = "no mapping"
    else:
        lacking = mapping.lacking(axes, buttons)
        verdict = f"mapping '{mapping.name}'" + (f", which does not fit: {lacking}" if lacking else "")
    return f"{index}  {name}: {axes} axes, {buttons} buttons; {verdict}"
