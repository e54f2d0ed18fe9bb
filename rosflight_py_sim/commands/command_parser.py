"""Command line parser whose errors about unknown commands and options name the nearest one."""

from __future__ import annotations

import argparse
import difflib
import itertools
import re
import sys
from collections.abc import Iterable
from typing import Any

_NEAR = 0.5
"""Least similarity of a name that is suggested, 0 to 1."""

# Options of ROS, which a user may give without --ros-args.
_ROS_OPTIONS = ("-p", "--param", "-r", "--remap", "--log-level")

# A negative number is a value.
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")


class CommandParser(argparse.ArgumentParser):
    """Parser that refuses an unknown option with the nearest one and the usage of the subcommand.

    argparse alone checks the options of a subcommand last, after missing arguments, and prints the usage of the whole
    command. The parsers of the subcommands are of this class, too.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        # Before the base class, which adds --help.
        self._options: dict[str, argparse.Action] = {}
        self._commands: Any = None
        super().__init__(*arguments, **settings)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Add an argument."""
        action = super().add_argument(*names, **settings)
        self._options |= dict.fromkeys(action.option_strings, action)
        return action

    def add_subparsers(self, **settings: Any) -> Any:
        """Add the subcommands."""
        self._commands = super().add_subparsers(**settings)
        return self._commands

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; an unknown command, option or argument ends the program with exit code 2."""
        words = list(sys.argv[1:] if args is None else args)
        own = words
        if self._commands is not None:
            # Options after the command are those of its parser.
            own = list(itertools.takewhile(lambda word: word.startswith("-"), words))
            for command in words[len(own) : len(own) + 1]:
                if command not in self._commands.choices:
                    self._refuse("command", command, self._commands.choices)
        for word in itertools.takewhile(lambda word: word != "--", own):
            option = word.partition("=")[0]
            if _OPTION.fullmatch(option) and not any(name.startswith(option) for name in self._options):
                if option in _ROS_OPTIONS:
                    self.error(f"{option} given before --ros-args; allowed: --ros-args {option} ...")
                shown = [name for name, action in self._options.items() if action.help != argparse.SUPPRESS]
                self._refuse("option", option, [name for name in shown if name.startswith("--")])
        known, unknown = super().parse_known_args(words, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def _refuse(self, kind: str, given: str, allowed: Iterable[str]) -> None:
        bare = {name.lstrip("-"): name for name in allowed}
        near = difflib.get_close_matches(given.lstrip("-"), bare, n=1, cutoff=_NEAR)
        hint = f"did you mean {bare[near[0]]}?" if near else f"allowed: {', '.join(bare.values())}"
        self.error(f"there is no {kind} {given}; {hint}")
