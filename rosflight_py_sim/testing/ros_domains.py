"""ROS domains that no other process on this machine uses."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Domains whose ports do not overlap with Linux's ephemeral ports.
_DOMAINS = (*range(215, 232), *range(1, 102))
_PARTICIPANTS = 16


class NoDomainError(RuntimeError):
    """All ROS domains of this machine are in use."""


def _in_use(domain: int) -> bool:
    """Whether this machine has a DDS participant in the domain, from the ports of the first 16 (DDSI-RTPS 2.5, 9.6.2).

    Checking only the first participant is not enough: a process left behind by a failed test may have been a later one.
    """
    for participant in range(_PARTICIPANTS):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", 7400 + 250 * domain + 10 + 2 * participant))
            except OSError:
                return True
    return False


@contextmanager
def claimed_domain() -> Iterator[int]:
    """A ROS domain that no other process on this machine uses meanwhile.

    Raises:
        NoDomainError: all are in use.
    """
    folder = Path(tempfile.gettempdir()) / f"ros-domains-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    locks = [folder / str(domain) for domain in _DOMAINS]
    # Least recently claimed first, across all processes: messages of processes left by a failed test must not arrive.
    for path in sorted(locks, key=lambda path: path.stat().st_mtime if path.exists() else 0.0):
        with path.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            os.utime(path)
            domain = int(path.name)
            if _in_use(domain):
                continue
            yield domain
            return
    raise NoDomainError("all ROS domains of this machine are in use")
