"""What tests of running nodes share: a ROS domain that is theirs alone."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

# Those whose ports are out of the way of the ports that Linux hands out by itself; the rarely used ones first.
_DOMAINS = (*range(215, 232), *range(1, 102))
_had: list[int] = []


def _in_use(domain: int) -> bool:
    """Whether this machine has a DDS participant in the domain, by the port of the first one (DDSI-RTPS 2.5, 9.6.2)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", 7400 + 250 * domain + 10))
        except OSError:
            return True
    return False


@contextmanager
def claimed_domain() -> Iterator[int]:
    """A ROS domain that nobody else on this machine uses meanwhile."""
    locks = Path(tempfile.gettempdir()) / f"ros-domains-{os.getuid()}"
    locks.mkdir(exist_ok=True)
    # One that this process had before comes last: what a failed test has left behind must not be heard.
    for domain in sorted(_DOMAINS, key=_had.count):
        with (locks / str(domain)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if _in_use(domain):
                continue
            _had.append(domain)
            yield domain
            return
    pytest.fail("all ROS domains of this machine are in use")


@pytest.fixture(scope="session")
def claim_domain() -> Callable[[], AbstractContextManager[int]]:
    """`claimed_domain`, for fixtures that need more than one or last longer than a test."""
    return claimed_domain


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A ROS domain for one test, set in the environment; all traffic stays on this machine."""
    with claimed_domain() as domain:
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        yield domain
