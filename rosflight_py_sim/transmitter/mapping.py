"""Mapping files, which assign joystick axes and buttons to channels.

A file is a YAML list with one entry per joystick; docs/rc.md describes the format.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.ground.bounded_yaml import BoundedLoader, compose_yaml
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.transmitter.channels import CENTRE, CHANNELS, HIGH, LOW, YAW
from rosflight_py_sim.transmitter.controls import (
    AxisControl,
    ButtonControl,
    Control,
    Device,
    FixedControl,
    ThreePositionControl,
)

_POSITIONS = {"low": LOW, "centre": CENTRE, "high": HIGH}
_KINDS = {"toggle": (LOW, HIGH), "three_position": (LOW, CENTRE, HIGH), "momentary": (LOW, HIGH)}
_KEYS = {
    "axis": ("axis", "reversed", "range"),
    "button": ("button", "kind", "start"),
    "buttons": ("buttons",),
    "fixed": ("fixed",),
}
_HIGHEST_NUMBER = 255


class MappingError(ValueError):
    """Invalid mapping file; the text names the file, the line, the value given and the values allowed."""


@dataclass(frozen=True)
class Mapping:
    """Mapping of one kind of joystick.

    Attributes:
        name: for display.
        matches: patterns of the name that SDL reports; `*` matches any text, case is ignored.
        controls: one for each channel.
    """

    name: str
    matches: tuple[str, ...]
    controls: tuple[Control, ...]

    def fits(self, joystick_name: str) -> bool:
        """Whether the mapping applies to a joystick with this name."""
        patterns = (".*".join(re.escape(part) for part in match.split("*")) for match in self.matches)
        return any(re.fullmatch(pattern, joystick_name, re.IGNORECASE | re.DOTALL) for pattern in patterns)

    def lacking(self, axes: int, buttons: int) -> str:
        """Description of what a joystick with these numbers of axes and buttons lacks; empty if nothing."""
        needed = max(control.axes for control in self.controls), max(control.buttons for control in self.controls)
        if axes < needed[0]:
            return f"it uses axis {needed[0] - 1}, but the joystick has {axes} axes, counted from 0"
        if buttons < needed[1]:
            return f"it uses button {needed[1] - 1}, but the joystick has {buttons} buttons, counted from 0"
        return ""

    def read(self, device: Device) -> list[int]:
        """Pulse widths (8), us, for the joystick's current position."""
        return [control.read(device) for control in self.controls]

    def adopt(self, frame: Sequence[int]) -> None:
        """Move the toggles of buttons to the positions of a frame (8), us; other controls follow the device alone."""
        for control, width in zip(self.controls, frame, strict=True):
            if isinstance(control, ButtonControl):
                control.move_to(width)


def all_mappings(own: Path | None) -> list[Mapping]:
    """Mappings of the user's file, if any, followed by those of the package.

    Raises:
        MappingError: as `load_mappings`.
    """
    files = [*([own] if own else []), share_directory() / "config" / "joysticks.yaml"]
    return [mapping for file in files for mapping in load_mappings(file)]


def load_mappings(path: Path) -> list[Mapping]:
    """Mappings of a file, in its order.

    Raises:
        MappingError: the file cannot be read, is not YAML, or is not a list of mappings.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MappingError(f"mapping file '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise MappingError(f"mapping file '{path}' is not text in UTF-8") from error
    try:
        return _Reader(path, BoundedLoader("")).mappings(compose_yaml(text))
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f", line {error.problem_mark.line + 1}"
        raise MappingError(f"mapping file '{path}'{line}, is not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise MappingError(f"mapping file '{path}' is not YAML: {' '.join(str(error).split())}") from error


class _Reader:
    """Builds mappings from YAML nodes, which carry line numbers."""

    def __init__(self, path: Path, loader: Any) -> None:
        self._path = path
        self._loader = loader

    def mappings(self, root: Any) -> list[Mapping]:
        if root is None or not isinstance(root, yaml.SequenceNode) or not root.value:
            raise MappingError(
                f"mapping file '{self._path}': allowed: a list with one entry ('- name: ...') per joystick"
            )
        return [self._mapping(node) for node in root.value]

    def _mapping(self, node: Any) -> Mapping:
        entries = self._entries(node, ("name", "matches", *CHANNELS), "a mapping")
        for key in ("name", "matches", *CHANNELS[: YAW + 1]):
            if key not in entries:
                raise self._error(node, f"'{key}' is missing; a mapping needs name, matches, {', '.join(CHANNELS[:4])}")
        name = self._value(entries["name"])
        if not isinstance(name, str) or not name:
            raise self._wrong(entries["name"], "name", "a text")
        matches = self._value(entries["matches"])
        if not isinstance(matches, list) or not matches or not all(isinstance(m, str) and m for m in matches):
            raise self._wrong(entries["matches"], "matches", "a list of texts, such as ['*TX16S*']")
        controls = [
            self._control(channel, entries[channel]) if channel in entries else FixedControl(CENTRE)
            for channel in CHANNELS
        ]
        return Mapping(name, tuple(matches), tuple(controls))

    def _control(self, channel: str, node: Any) -> Control:
        every = tuple(dict.fromkeys(key for keys in _KEYS.values() for key in keys))
        entries = self._entries(node, every, f"'{channel}'")
        kinds = [kind for kind in _KEYS if kind in entries]
        if len(kinds) != 1:
            given = " and ".join(kinds) or "none of them"
            raise self._error(node, f"'{channel}': {given} given; allowed: one of {', '.join(_KEYS)}")
        kind = kinds[0]
        for key, value in entries.items():
            if key not in _KEYS[kind]:
                raise self._error(value, f"'{key}' of '{channel}' is not a key of {kind}: {', '.join(_KEYS[kind])}")
        build: dict[str, Callable[[dict[str, Any]], Control]] = {
            "axis": self._axis,
            "button": self._button,
            "buttons": self._three_position,
            "fixed": self._fixed,
        }
        return build[kind](entries)

    def _axis(self, entries: dict[str, Any]) -> Control:
        low, high = -1.0, 1.0
        if "range" in entries:
            ends = self._value(entries["range"])
            if not isinstance(ends, list) or len(ends) != 2 or not all(_is_number(end) for end in ends):
                raise self._wrong(entries["range"], "range", "two numbers, where the axis begins and ends")
            low, high = float(ends[0]), float(ends[1])
            if low == high:
                raise self._wrong(entries["range"], "range", "two different numbers")
        if self._flag(entries, "reversed"):
            low, high = high, low
        return AxisControl(self._number(entries["axis"], "axis"), low, high)

    def _button(self, entries: dict[str, Any]) -> Control:
        kind = self._choice(entries, "kind", list(_KINDS), "toggle")
        positions = _KINDS[kind]
        allowed = [name for name, width in _POSITIONS.items() if width in positions]
        if kind == "momentary" and "start" in entries:
            raise self._error(entries["start"], "'start' is for kinds toggle and three_position; momentary is low")
        start = self._choice(entries, "start", allowed, "low")
        button = self._number(entries["button"], "button")
        return ButtonControl(button, positions, positions.index(_POSITIONS[start]), momentary=kind == "momentary")

    def _three_position(self, entries: dict[str, Any]) -> Control:
        pair = entries["buttons"]
        if not isinstance(pair, yaml.SequenceNode) or len(pair.value) != 2:
            raise self._wrong(pair, "buttons", "two numbers, of the button that is low and of the one that is high")
        return ThreePositionControl(*(self._number(one, "buttons") for one in pair.value))

    def _fixed(self, entries: dict[str, Any]) -> Control:
        return FixedControl(_POSITIONS[self._choice(entries, "fixed", list(_POSITIONS), "")])

    def _entries(self, node: Any, allowed: Sequence[str], what: str) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise self._error(node, f"{what}: {self._value(node)!r} given; allowed: keys {', '.join(allowed)}")
        entries: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._value(key_node)
            if key not in allowed:
                raise self._error(key_node, f"'{key}' given in {what}; allowed: {', '.join(allowed)}")
            if key in entries:
                raise self._error(key_node, f"'{key}' is given twice")
            entries[key] = value_node
        return entries

    def _number(self, node: Any, key: str) -> int:
        value = self._value(node)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _HIGHEST_NUMBER:
            raise self._wrong(node, key, f"a whole number from 0 to {_HIGHEST_NUMBER}")
        return value

    def _choice(self, entries: dict[str, Any], key: str, allowed: Sequence[str], default: str) -> str:
        value = self._value(entries[key]) if key in entries else default
        if value not in allowed:
            raise self._wrong(entries[key], key, f"one of {', '.join(allowed)}")
        return str(value)

    def _flag(self, entries: dict[str, Any], key: str) -> bool:
        value = self._value(entries[key]) if key in entries else False
        if not isinstance(value, bool):
            raise self._wrong(entries[key], key, "true or false")
        return value

    def _value(self, node: Any) -> Any:
        return self._loader.construct_object(node, deep=True)

    def _wrong(self, node: Any, key: str, allowed: str) -> MappingError:
        return self._error(node, f"'{key}': {self._value(node)!r} given; allowed: {allowed}")

    def _error(self, node: Any, text: str) -> MappingError:
        return MappingError(f"mapping file '{self._path}', line {node.start_mark.line + 1}: {text}")


def mapping_for(joystick_name: str, mappings: Iterable[Mapping]) -> Mapping | None:
    """The first mapping that applies to a joystick with this name."""
    return next((mapping for mapping in mappings if mapping.fits(joystick_name)), None)


def example(joystick_name: str) -> str:
    """Template of a mapping file for a joystick, to be edited by the user."""
    lines = ["- name: My transmitter", f"  matches: [{json.dumps(joystick_name)}]"]
    lines += [f"  {channel}: {{axis: {axis}}}" for axis, channel in enumerate(CHANNELS[: YAW + 1])]
    lines += ["  switch_1: {button: 0}", "  switch_2: {button: 1, start: high}"]
    return "\n".join(lines)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
