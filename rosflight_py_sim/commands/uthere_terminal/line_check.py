"""What becomes of a typed line: a packet to send, or what is wrong with it and where."""

from __future__ import annotations

from dataclasses import dataclass

from rosflight_py_sim.protocols.uthere import DataRequest, UthereError, parse_packet

RAW = "!"
"""Before a line: send what follows as it is."""


@dataclass(frozen=True)
class CheckedLine:
    """A line.

    Attributes:
        packet: what is to be sent; empty: nothing.
        complaint: lines that say what is wrong, the first below the typed line with a mark below the column.
        asks_for_data: whether data will come until they are cleared.
    """

    packet: str
    complaint: str = ""
    asks_for_data: bool = False


def check_line(line: str) -> CheckedLine:
    """Look whether all of a line are commands of the protocol: what is wrong anywhere in it keeps all of it back."""
    if line.lstrip().startswith(RAW):
        raw = line.lstrip().removeprefix(RAW).strip()
        # Whoever sends raw may ask for data in ways that are not known here.
        return CheckedLine(raw, asks_for_data=bool(raw))
    found = parse_packet(line.encode("utf-8", "surrogateescape"))
    errors = [one for one in found if isinstance(one, UthereError)]
    if errors:
        return CheckedLine("", "\n".join(_pointed(line, error) for error in errors))
    return CheckedLine(line.strip() if found else "", asks_for_data=any(isinstance(one, DataRequest) for one in found))


def _pointed(line: str, error: UthereError) -> str:
    return f"  {line}\n  {' ' * (error.column - 1)}^ column {error.column}: {error.reason}"
