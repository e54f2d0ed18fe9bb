"""Refusals of the standard services: a code and a text for the field `result` of a response."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class Code(IntEnum):
    """Codes of simulation_interfaces/Result, which nodes without that package can load."""

    FEATURE_UNSUPPORTED = 0
    OK = 1
    NOT_FOUND = 2
    INCORRECT_STATE = 3
    OPERATION_FAILED = 4


class RefusedError(Exception):
    """A request that is not carried out.

    Attributes:
        code: a Code, or a further code of the service.
        text: what was given and what is allowed.
    """

    def __init__(self, code: int, text: str) -> None:
        """Refuse with a code and a text."""
        super().__init__(text)
        self.code, self.text = int(code), text


def set_result(response: Any, error: RefusedError | None = None, *, note: str = "") -> None:
    """Set the result of a response: OK without an error."""
    result = response.result
    result.result, result.error_message = (int(Code.OK), note) if error is None else (error.code, error.text)
