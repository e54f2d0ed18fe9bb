"""Picture in the keyboard's window: two sticks as on a mode 2 transmitter, the switches, and the keys."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from rosflight_py_sim.transmitter.channels import ARM, ATTITUDE_TYPE, OVERRIDE, PITCH, ROLL, YAW
from rosflight_py_sim.transmitter.keyboard import Action, KeyboardSticks, keys_of

SIZE = (640, 412)

_BACKGROUND, _PANEL, _LINE = (24, 28, 34), (34, 40, 48), (74, 84, 98)
_TEXT, _DIM = (226, 231, 238), (142, 153, 168)
_STICK, _ON, _WARN, _KEY = (90, 169, 255), (86, 196, 125), (235, 110, 85), (54, 63, 75)

_GIMBAL = 176
_TOP = 48
_LEFT_X, _RIGHT_X = 32, SIZE[0] - 32 - _GIMBAL
_ARROW_SIGNS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_SWITCHES = (
    (ARM, Action.ARM, "ARM SWITCH", "on", "off", _WARN),
    (OVERRIDE, Action.OVERRIDE, "RC OVERRIDE", "sticks fly", "computer flies", _ON),
    (ATTITUDE_TYPE, Action.ATTITUDE_TYPE, "ATTITUDE", "angles", "rates", _ON),
)
_HELP = (
    (Action.THROTTLE_UP, Action.THROTTLE_DOWN, Action.YAW_LEFT, Action.YAW_RIGHT),
    (Action.PITCH_FORWARD, Action.PITCH_BACK, Action.ROLL_LEFT, Action.ROLL_RIGHT),
)


class StickPicture:
    """Draws the state of the sticks onto a surface of SIZE."""

    def __init__(self, pygame: Any, layout: str) -> None:
        pygame.font.init()
        self._pygame = pygame
        self._layout = layout
        self._small, self._normal, self._bold = (pygame.font.Font(None, size) for size in (18, 21, 24))

    def draw(self, surface: Any, sticks: KeyboardSticks, held: Set[Action]) -> None:
        """Draw everything; keys in `held` are highlighted."""
        surface.fill(_BACKGROUND)
        yaw, roll, pitch = (sticks.deflection[channel] for channel in (YAW, ROLL, PITCH))
        self._gimbal(surface, _LEFT_X, "THROTTLE / YAW", yaw, 2.0 * sticks.throttle - 1.0)
        # Nose up is the stick pulled towards the pilot.
        self._gimbal(surface, _RIGHT_X, "PITCH / ROLL", roll, -pitch)
        self._values(surface, sticks)
        self._switches(surface, sticks, held)
        for x, actions in zip((_LEFT_X, _RIGHT_X - 70), _HELP, strict=True):
            for row, action in enumerate(actions):
                self._key_line(surface, x, _TOP + _GIMBAL + 62 + 28 * row, action, action in held)

    def _gimbal(self, surface: Any, left: int, title: str, across: float, up: float) -> None:
        draw = self._pygame.draw
        box = (left, _TOP, _GIMBAL, _GIMBAL)
        middle = (left + _GIMBAL // 2, _TOP + _GIMBAL // 2)
        self._text(surface, self._small, title, _DIM, (middle[0], _TOP - 18), centred=True)
        draw.rect(surface, _PANEL, box, border_radius=14)
        draw.rect(surface, _LINE, box, width=1, border_radius=14)
        draw.line(surface, _LINE, (left + 14, middle[1]), (left + _GIMBAL - 14, middle[1]))
        draw.line(surface, _LINE, (middle[0], _TOP + 14), (middle[0], _TOP + _GIMBAL - 14))
        reach = _GIMBAL / 2 - 22
        knob = (middle[0] + round(reach * across), middle[1] - round(reach * up))
        draw.line(surface, _STICK, middle, knob, width=4)
        draw.circle(surface, _STICK, knob, 14)
        draw.circle(surface, _TEXT, knob, 5)

    def _values(self, surface: Any, sticks: KeyboardSticks) -> None:
        y = _TOP + _GIMBAL + 16
        left = f"throttle {100 * sticks.throttle:3.0f} %    yaw {100 * sticks.deflection[YAW]:+4.0f} %"
        right = f"pitch {100 * sticks.deflection[PITCH]:+4.0f} %    roll {100 * sticks.deflection[ROLL]:+4.0f} %"
        self._text(surface, self._normal, left, _TEXT, (_LEFT_X + _GIMBAL // 2, y), centred=True)
        self._text(surface, self._normal, right, _TEXT, (_RIGHT_X + _GIMBAL // 2, y), centred=True)

    def _switches(self, surface: Any, sticks: KeyboardSticks, held: Set[Action]) -> None:
        draw, width, left = self._pygame.draw, 164, (SIZE[0] - 164) // 2
        for row, (channel, action, title, on_text, off_text, colour) in enumerate(_SWITCHES):
            on = sticks.switches[channel]
            top = _TOP + 62 * row
            draw.rect(surface, _PANEL, (left, top, width, 52), border_radius=10)
            draw.rect(surface, _LINE, (left, top, width, 52), width=1, border_radius=10)
            self._key(surface, left + 10, top + 14, keys_of(self._layout, action)[0], action in held)
            self._text(surface, self._small, title, _DIM, (left + 46, top + 9))
            text = on_text if on else off_text
            self._text(surface, self._bold, text, colour if on else _TEXT, (left + 46, top + 26))

    def _key_line(self, surface: Any, x: int, y: int, action: Action, lit: bool) -> None:
        names = keys_of(self._layout, action)
        for column, name in enumerate(names):
            self._key(surface, x + 30 * column, y, name, lit)
        self._text(surface, self._normal, action.value, _TEXT if lit else _DIM, (x + 30 * len(names) + 8, y + 5))

    def _key(self, surface: Any, x: int, y: int, name: str, lit: bool) -> None:
        draw = self._pygame.draw
        draw.rect(surface, _STICK if lit else _KEY, (x, y, 26, 24), border_radius=5)
        draw.rect(surface, _LINE, (x, y, 26, 24), width=1, border_radius=5)
        middle = (x + 13, y + 12)
        if name not in _ARROW_SIGNS:
            self._text(surface, self._normal, name, _TEXT, (middle[0], y + 5), centred=True)
            return
        # The font has no arrows.
        right, down = _ARROW_SIGNS[name]
        tip = (middle[0] + 6 * right, middle[1] + 6 * down)
        base = (middle[0] - 4 * right, middle[1] - 4 * down)
        corners = [tip, (base[0] + 6 * down, base[1] + 6 * right), (base[0] - 6 * down, base[1] - 6 * right)]
        draw.polygon(surface, _TEXT, corners)

    def _text(
        self,
        surface: Any,
        font: Any,
        text: str,
        colour: tuple[int, int, int],
        at: tuple[int, int],
        *,
        centred: bool = False,
    ) -> None:
        picture = font.render(text, True, colour)
        surface.blit(picture, (at[0] - picture.get_width() // 2, at[1]) if centred else at)
