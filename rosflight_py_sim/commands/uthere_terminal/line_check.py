"""Check of a typed line: the packet to send, or the errors and their columns."""

from __future__ import annotations

from dataclasses import dataclass

from rosflight_py_sim.protocols.uthere import DataRequest, UthereError, parse_packet

RAW = "!"
"""Prefix of a line that is sent unchecked."""


@dataclass(frozen=True)
class CheckedLine:
    """Result of a check.

    Attributes:
        packet: text to send; empty for none.
        complaint: description of the errors; the first follows the typed line, with a mark at its column.
        requests_data: whether the line requests data that are sent until cleared.
    """

    packet: str
    complaint: str = ""
    requests_data: bool = False


def check_line(line: str) -> CheckedLine:
    """Check that a line consists of the protocol's commands; one error prevents the whole line from being sent."""
    if line.lstrip().startswith(RAW):
        raw = line.lstrip().removeprefix(RAW).strip()
        # A raw line may request data in an unknown way.
        return CheckedLine(raw, requests_data=bool(raw))
    found = parse_packet(line.encode("utf-8", "surrogateescape"))
    errors = [one for one in found if isinstance(one, UthereError)]
    if errors:
        return CheckedLine("", "\n".join(_pointed(line, error) for error in errors))
    return CheckedLine(line.strip() if found else "", requests_data=any(isinstance(one, DataRequest) for one in found))


def _pointed(line: str, error: UthereError) -> str:
    return f"  {line}\n  {' ' * (error.column - 1)}^ column {error.column}: {error.reason}"
