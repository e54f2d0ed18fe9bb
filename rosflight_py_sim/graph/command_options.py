"""Options of a simulation on the command line: argparse definitions."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rosflight_py_sim.graph.options import FLY, Kind, Option, options_at, parts_of, switch_or_name
from rosflight_py_sim.ground.confined_files import is_file
from rosflight_py_sim.ground.parameters import Parameter, Value


def existing_file(text: str) -> Path:
    """Absolute path of a file, for argparse, which reports the error."""
    path = Path(text).absolute()
    if not is_file(path):
        raise argparse.ArgumentTypeError(f"there is no file '{text}'")
    return path


def number_in(allowed: Parameter) -> Callable[[str], Value]:
    """Reader of an option's number, for argparse, which reports a value that the parameter does not allow."""

    def read(text: str) -> Value:
        try:
            return allowed.checked(float(text))
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text} given; allowed: {allowed.constraints}") from None

    return read


_VALUES: dict[Kind, dict[str, Any]] = {
    Kind.TEXT: {},
    Kind.BOOLEAN: {"action": argparse.BooleanOptionalAction},
    Kind.NODE: {"nargs": "?", "const": True, "type": switch_or_name},
    Kind.INTEGER: {"type": int},
    Kind.NUMBER: {"type": float},
    Kind.FILE: {"type": existing_file},
    Kind.FILES: {"action": "append"},
    Kind.NAMES: {"type": parts_of},
    Kind.RECORDING: {"nargs": "?", "const": ""},
}
"""How argparse reads a value of each type."""


class DefaultText(str):
    """Default of an option, distinguished from a value that is given."""

    __slots__ = ()


def given_in_scenario(options: argparse.Namespace, command: str) -> list[str]:
    """Options that are given although a scenario file gives them, as on the command line."""
    return [
        one.command_flag
        for one in options_at(command)
        if one.in_scenario
        and (value := getattr(options, one.name)) not in (None, [])
        and not isinstance(value, DefaultText)
    ]


def add_options(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the options of a command to its parser; attribute names are option names.

    An option that is not given has its default if that is a text, [] if it may be repeated, and None otherwise.
    """
    for one in options_at(command):
        settings = _VALUES[one.kind] | ({"metavar": one.metavar} if one.metavar else {})
        if one.range is not None:
            settings |= {"type": number_in(one.range)}
        if one.kind is Kind.TEXT and one.choices and not one.metavar:
            settings |= {"choices": [choice for choice in one.choices if choice], "type": partial(_chosen, one)}
        parser.add_argument(
            one.command_flag, dest=one.name, default=_default(one), help=_help(one, command), **settings
        )
        if one.kind is Kind.NODE:
            no = one.command_flag.replace("--", "--no-")
            parser.add_argument(no, dest=one.name, action="store_false", default=None, help=argparse.SUPPRESS)


def _chosen(one: Option, text: str) -> str:
    # argparse also converts a default, which must stay one.
    return text if isinstance(text, DefaultText) else one.chosen(text)


def _default(one: Option) -> str | list[str] | None:
    if one.kind is Kind.TEXT:
        return DefaultText(one.command_default or one.default or "")
    # argparse would repeat a switch's default in the help.
    return [] if one.kind is Kind.FILES else None


def _help(one: Option, command: str) -> str:
    parts = [one.text]
    if one.metavar and one.choices:
        parts.append(f": {', '.join(one.choices)}")
    unset = (one.fly_unset if command == FLY else "") or one.unset
    default = one.command_default or one.default or unset
    if one.kind is Kind.FILES:
        parts.append("; may be repeated")
    elif default and not (one.kind in (Kind.BOOLEAN, Kind.NODE) and one.default):
        parts.append(f" (default: {default})")
    return "".join(parts)
