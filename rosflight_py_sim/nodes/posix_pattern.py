"""POSIX extended regular expressions, of the C library: Python's own differ from them in syntax and in result."""

from __future__ import annotations

import ctypes

# Larger than the structure regex_t of any C library for Linux.
_PATTERN_BYTES = 256

_EXTENDED, _WITHOUT_PLACES = 1, 8

_ERROR_BYTES = 256


class PatternError(ValueError):
    """Invalid expression; the text has the expression and the reason."""


class PosixPattern:
    """A compiled expression."""

    def __init__(self, text: str) -> None:
        """Compile an expression.

        Raises:
            PatternError: it is invalid.
        """
        self._library = ctypes.CDLL(None)
        self._pattern = ctypes.create_string_buffer(_PATTERN_BYTES)
        self._is_compiled = False
        if "\0" in text:
            raise PatternError(f"{text!r} given; allowed: a POSIX extended regular expression (without NUL)")
        code = self._library.regcomp(self._pattern, text.encode(), _EXTENDED | _WITHOUT_PLACES)
        if code:
            reason = ctypes.create_string_buffer(_ERROR_BYTES)
            self._library.regerror(code, self._pattern, reason, _ERROR_BYTES)
            why = reason.value.decode(errors="replace")
            raise PatternError(f"'{text}' given; allowed: a POSIX extended regular expression ({why})")
        self._is_compiled = True

    def is_in(self, text: str) -> bool:
        """Whether a part of a text matches the expression."""
        return bool(self._library.regexec(self._pattern, text.encode(), 0, None, 0) == 0)

    def __del__(self) -> None:
        """Free the memory of the C library."""
        if getattr(self, "_is_compiled", False):
            self._library.regfree(self._pattern)
