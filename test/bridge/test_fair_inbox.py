"""A port open to all senders: order of datagrams, turns of the senders, limits."""

from __future__ import annotations

import contextlib
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from rosflight_py_sim.bridge import fair_inbox
from rosflight_py_sim.bridge.fair_inbox import LONGEST_DATAGRAM, FairInbox
from rosflight_py_sim.bridge.peers import Address

TIMEOUT_S = 30.0

Sender = Callable[[], socket.socket]


class Reader:
    """An inbox, and the datagrams read from it with their senders' ports."""

    def __init__(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            self.address: Address = probe.getsockname()
        self.dropped: Counter[str] = Counter()
        self.inbox = FairInbox(self.address, lambda kind, _, count: self.dropped.update({kind: count}))
        self.read: list[tuple[bytes, int]] = []

    def until(self, condition: Callable[[], object], *, welcomes: bool = False) -> None:
        """Read until a condition holds."""
        end_s = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end_s, (self.read[-5:], self.dropped)
            for datagram, sender in self.inbox.datagrams():
                self.read.append((datagram, sender[1]))
                if welcomes:
                    self.inbox.welcome(sender)


@pytest.fixture
def reader() -> Iterator[Reader]:
    made = Reader()
    yield made
    made.inbox.close()


@pytest.fixture
def sender(reader: Reader) -> Iterator[Sender]:
    """A function that makes a socket that sends to the inbox."""
    with contextlib.ExitStack() as closing:

        def make() -> socket.socket:
            made = closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            made.bind(("127.0.0.1", 0))
            made.connect(reader.address)
            return made

        yield make


def port_of(one: socket.socket) -> int:
    return int(one.getsockname()[1])


def test_sender_order_is_kept_when_it_gets_its_own_queue(reader: Reader, sender: Sender) -> None:
    one = sender()
    for k in range(300):
        one.send(b"%d" % k)
        if k % 10 == 5:
            known = len(reader.read)
            reader.until(lambda n=known: len(reader.read) > n, welcomes=True)
    reader.until(lambda: len(reader.read) == 300, welcomes=True)
    assert reader.read == [(b"%d" % k, port_of(one)) for k in range(300)]


def test_queued_senders_are_served_in_turn(reader: Reader, sender: Sender) -> None:
    busy, quiet = sender(), sender()
    for one in (busy, quiet):
        one.send(b"hello")
    reader.until(lambda: len(reader.read) == 2, welcomes=True)
    reader.until(lambda: len(reader.inbox.senders) == 2)
    reader.read.clear()
    for _ in range(50):
        busy.send(b"x" * 1000)
    quiet.send(b"y")
    reader.until(lambda: len(reader.read) == 51)
    assert (b"y", port_of(quiet)) in reader.read[:2]


def test_read_rate_is_bounded(reader: Reader, sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [time.monotonic()]
    monkeypatch.setattr(fair_inbox.time, "monotonic", lambda: clock[0])
    list(reader.inbox.datagrams())
    one = sender()
    for _ in range(300):
        one.send(b"x" * 872)
    clock[0] += 10.0
    # Each datagram counts 1000 bytes, overhead included: the saved budget allows 16, and its remainder one more.
    assert len(list(reader.inbox.datagrams())) == 17
    assert len(list(reader.inbox.datagrams())) == 0
    clock[0] += 0.01
    # 2621 bytes in 10 ms, less the overdraft.
    assert len(list(reader.inbox.datagrams())) in (2, 3)


def test_granted_bytes_count_against_the_rate_in_system_time(
    reader: Reader, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [time.monotonic()]
    monkeypatch.setattr(fair_inbox.time, "monotonic", lambda: clock[0])
    one = sender()
    for _ in range(100):
        one.send(b"x" * 872)
    assert len(list(reader.inbox.datagrams())) == 17
    # A grant of more than 10 ms of system time allow: only the granted bytes count, less the overdraft.
    reader.inbox.grant(6000.0)
    clock[0] += 0.01
    assert len(list(reader.inbox.datagrams())) in (5, 6)
    # A smaller grant: 5243 bytes in all, as system time allows.
    reader.inbox.grant(1000.0)
    clock[0] += 0.02
    assert len(list(reader.inbox.datagrams())) in (5, 6)


def test_longest_datagram_is_read_and_longer_one_is_counted(reader: Reader, sender: Sender) -> None:
    one = sender()
    one.send(b"x" * LONGEST_DATAGRAM)
    reader.until(lambda: reader.read)
    one.send(b"x" * (LONGEST_DATAGRAM + 1))
    reader.until(lambda: reader.dropped["too_long"] == 1)
    assert [len(datagram) for datagram, _ in reader.read] == [LONGEST_DATAGRAM]


def test_full_queue_drops_and_counts_only_its_own_datagrams(reader: Reader, sender: Sender) -> None:
    busy, quiet = sender(), sender()
    for one in (busy, quiet):
        one.send(b"hello")
    reader.until(lambda: len(reader.read) == 2, welcomes=True)
    reader.until(lambda: len(reader.inbox.senders) == 2)
    reader.read.clear()
    # More than the largest socket buffer of any system.
    sent = 0
    for _ in range(40_000):
        busy.send(b"x" * 1000)
        sent += 1
    for k in range(20):
        quiet.send(b"%d" % k)
    reader.until(lambda: len([1 for _, port in reader.read if port == port_of(quiet)]) == 20)
    assert [datagram for datagram, port in reader.read if port == port_of(quiet)] == [b"%d" % k for k in range(20)]
    # The kernel reports dropped datagrams with the first one that fits again.
    busy_read = sum(port == port_of(busy) for _, port in reader.read)
    assert busy_read < sent


def test_silent_sender_is_evicted_for_a_newcomer_and_active_one_is_not(
    reader: Reader, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_inbox, "MOST_SENDERS", 2)
    for _ in range(3):
        sender().send(b"hello")
    reader.until(lambda: len(reader.read) == 3, welcomes=True)
    list(reader.inbox.datagrams())
    assert len(reader.inbox.senders) == 2
    monkeypatch.setattr(fair_inbox, "SILENT_S", 0.0)
    late = sender()
    late.send(b"hello")
    reader.until(lambda: len(reader.read) == 4, welcomes=True)
    list(reader.inbox.datagrams())
    assert len(reader.inbox.senders) == 2
    assert ("127.0.0.1", port_of(late)) in reader.inbox.senders
    late.send(b"again")
    reader.until(lambda: len(reader.read) == 5)


def test_port_cannot_be_bound_by_another_process(reader: Reader, sender: Sender) -> None:
    sender().send(b"hello")
    reader.until(lambda: reader.read, welcomes=True)
    list(reader.inbox.datagrams())
    with pytest.raises(OSError, match="in use"):
        FairInbox(reader.address, lambda *_: None)
