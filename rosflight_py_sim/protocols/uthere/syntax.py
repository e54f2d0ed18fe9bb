"""Syntax of a command: name(argument, argument, ...), where an argument is a value or name=value.

A packet consists of lines, and a line of commands separated by ';'; text after '//' is a comment. Names are
case-insensitive, blanks between tokens are ignored, and () may be omitted. The text is plain ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_WORD = 64
"""Greatest length of a name or a number, characters."""

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_TOKEN = re.compile(r"[=,()]|[^\s=,()]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MARKS = frozenset("=,()")


@dataclass(frozen=True)
class UthereError:
    """Error in a packet; the following commands of the packet are still read.

    Attributes:
        reason: the value given and the values allowed.
        column: column in the line, from 1.
        line: line of the packet, from 1.
    """

    reason: str
    column: int
    line: int = 1

    def __str__(self) -> str:
        """Position and reason."""
        return f"line {self.line}, column {self.column}: {self.reason}"


class RefusedError(Exception):
    """Error in a command, with its column; this package converts it into an UthereError."""

    def __init__(self, reason: str, column: int) -> None:
        """Store the reason (the exception's text) and the column."""
        super().__init__(reason)
        self.reason = reason
        self.column = column


@dataclass(frozen=True)
class Argument:
    """A value, its name in lower case (empty if it has none), and the columns at which both begin."""

    name: str
    value: str
    column: int
    value_column: int


def statements(text: str) -> Iterator[tuple[int, int, str]]:
    """Line and column, from 1, and non-blank text of each command of a packet."""
    for line, whole in enumerate(_LINE_BREAK.split(text), start=1):
        code, _, _ = whole.partition("//")
        column = 1
        for statement in code.split(";"):
            if statement.strip():
                yield line, column, statement
            column += len(statement) + 1


class Statement:
    """Parser of one command, from left to right.

    Tokens are read on demand, so that text after the first error costs no time.

    Attributes:
        column: column at which the next token begins.
    """

    def __init__(self, text: str, column: int = 1) -> None:
        """Start at the first token; `column` is the column at which the text begins in its line."""
        self._tokens = ((found[0], column + found.start()) for found in _TOKEN.finditer(text))
        self._end = column + len(text.rstrip())
        self._token, self.column = "", column
        self._advance()

    def _advance(self) -> None:
        self._token, self.column = next(self._tokens, ("", self._end))

    def _take(self, *allowed: str) -> str:
        """Current token, which must be one of the marks `allowed`; advances to the next token."""
        token = self._token
        if token not in allowed:
            raise RefusedError(f"{shown(token)} given; allowed: {' or '.join(allowed)}", self.column)
        self._advance()
        return token

    def _word(self, what: str) -> str:
        token = self._token
        if not token or token in _MARKS:
            raise RefusedError(f"{shown(token)} given; allowed: {what}", self.column)
        if len(token) > LONGEST_WORD:
            raise RefusedError(f"{shown(token)} is too long; allowed: {LONGEST_WORD} characters", self.column)
        self._advance()
        return token

    def name(self) -> str:
        """The command's name, in lower case.

        Raises:
            RefusedError: the name is missing or invalid.
        """
        column = self.column
        return checked_name(self._word("the name of a command"), column)

    def arguments(self) -> Iterator[Argument]:
        """Arguments between the parentheses, up to the end of the command.

        Raises:
            RefusedError: invalid syntax, or text after the command.
        """
        if not self._token:
            return
        self._take("(")
        mark = self._take(")") if self._token == ")" else ""
        while mark != ")":
            column = self.column
            name, value, value_column = "", self._word("a parameter"), column
            if self._token == "=":
                self._advance()
                name, value_column = checked_name(value, column), self.column
                value = self._word(f"a value of '{name}'")
            mark = self._take(",", ")")
            yield Argument(name, value, column, value_column)
        if self._token:
            raise RefusedError(f"{shown(self._token)} after the command; allowed: ';', '//' or the end", self.column)


def checked_name(word: str, column: int) -> str:
    """A name in lower case.

    Raises:
        RefusedError: characters other than letters, digits and underscores, or a digit first.
    """
    if _NAME.fullmatch(word) is None:
        raise RefusedError(f"{shown(word)} is not a name; allowed: letters, digits and underscores", column)
    return word.lower()


def shown(token: str) -> str:
    """Token as quoted in errors: in ASCII, truncated if it is long."""
    return ascii(token if len(token) <= 24 else token[:24] + "...") if token else "the end of the command"
