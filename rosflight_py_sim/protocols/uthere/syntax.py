"""The form of a line: name(argument, argument, ...), where an argument is a value or name=value.

A packet is lines; a line is commands with ';' between them, and whatever follows '//' is left alone. Names are written
in any case, blanks may stand around everything, and a name alone is the same as one with (). The text is plain ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_WORD = 64
"""No name and no number is longer, in characters."""

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_TOKEN = re.compile(r"[=,()]|[^\s=,()]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MARKS = frozenset("=,()")


@dataclass(frozen=True)
class UthereError:
    """Something in a packet that is not of the protocol; what follows it in the packet is read all the same.

    Attributes:
        reason: what was given and what is allowed.
        column: of the line, from 1.
        line: of the packet, from 1.
    """

    reason: str
    column: int
    line: int = 1

    def __str__(self) -> str:
        """Place and reason."""
        return f"line {self.line}, column {self.column}: {self.reason}"


class RefusedError(Exception):
    """What is wrong, and at which column; it becomes an UthereError before it leaves this package."""

    def __init__(self, reason: str, column: int) -> None:
        """Both of them are told."""
        super().__init__(reason)
        self.reason = reason
        self.column = column


@dataclass(frozen=True)
class Argument:
    """A value, the name before it (in lower case; empty: there is none), and where each begins."""

    name: str
    value: str
    column: int
    value_column: int


def statements(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, column and text of each command of a packet, from 1; the text is not blank."""
    for line, whole in enumerate(_LINE_BREAK.split(text), start=1):
        code, _, _ = whole.partition("//")
        column = 1
        for statement in code.split(";"):
            if statement.strip():
                yield line, column, statement
            column += len(statement) + 1


class Statement:
    """One command, read from left to right.

    Its tokens are found as they are asked for: what lies behind the first error costs nothing.

    Attributes:
        column: where the next token begins.
    """

    def __init__(self, text: str, column: int = 1) -> None:
        """`column` is where the text begins in its line."""
        self._tokens = ((found[0], column + found.start()) for found in _TOKEN.finditer(text))
        self._end = column + len(text.rstrip())
        self._token, self.column = "", column
        self._advance()

    def _advance(self) -> None:
        self._token, self.column = next(self._tokens, ("", self._end))

    def _take(self, *allowed: str) -> str:
        """The present token, which must be one of the marks `allowed`; goes on to the next."""
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
            RefusedError: there is none, or it is no name.
        """
        column = self.column
        return checked_name(self._word("the name of a command"), column)

    def arguments(self) -> Iterator[Argument]:
        """What stands between the parentheses, up to the end of the command.

        Raises:
            RefusedError: the form is another, or something follows.
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
        RefusedError: other characters than letters, digits and underscores, or a digit first.
    """
    if _NAME.fullmatch(word) is None:
        raise RefusedError(f"{shown(word)} is no name; allowed: letters, digits and underscores", column)
    return word.lower()


def shown(token: str) -> str:
    """A token as an error quotes it: in ASCII, and not all of a long one."""
    return ascii(token if len(token) <= 24 else token[:24] + "...") if token else "the end of the command"
