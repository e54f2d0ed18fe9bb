"""TCP clients of uThere's Ground Control."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator

import pytest

from rosflight_py_sim.bridge import line_server, stream_server
from rosflight_py_sim.protocols.uthere import ClientIpList, Data, DataAll, ErrorReply, PlaneList, parse_reply
from test.bridge.uthere_bench import UthereBench


class Connection:
    """A client with one connection."""

    def __init__(self, bench: UthereBench, address: str = "127.0.0.1") -> None:
        self._bench = bench
        self.socket = socket.create_connection(("127.0.0.1", bench.port_in), source_address=(address, 0))
        self.socket.setblocking(False)
        self._text = ""

    def send(self, text: str | bytes) -> None:
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def lines(self, count: int) -> list[str]:
        """This many lines; the front-end serves until they have arrived."""
        self._bench.serve_until(lambda: self._has(count))
        *found, self._text = self._text.split("\n")
        return found

    def _has(self, count: int) -> bool:
        with contextlib.suppress(BlockingIOError):
            self._text += self.socket.recv(1 << 16).decode("ascii")
        return self._text.count("\n") >= count


@pytest.fixture
def bench() -> Iterator[UthereBench]:
    with contextlib.ExitStack() as closing:
        made = UthereBench(closing)
        made.step()
        yield made


@pytest.fixture
def connect(bench: UthereBench) -> Iterator[Callable[..., Connection]]:
    with contextlib.ExitStack() as closing:

        def make(address: str = "127.0.0.1") -> Connection:
            made = Connection(bench, address)
            closing.callback(made.socket.close)
            return made

        yield make


def test_lines_are_answered_on_the_connection_one_line_each(
    bench: UthereBench, connect: Callable[..., Connection]
) -> None:
    one = connect()
    one.send("request_plane_list\r\n\nwhat\nrequest_cli")
    replies = [parse_reply(line) for line in one.lines(2)]
    assert replies[0] == PlaneList((12345,))
    assert isinstance(replies[1], ErrorReply)
    one.send("ent_ip_list;request_plane_list\n")
    assert [parse_reply(line) for line in one.lines(2)] == [ClientIpList(("127.0.0.1",)), PlaneList((12345,))]


def test_data_go_to_the_connection_that_requested_them_until_it_ends(
    bench: UthereBench, connect: Callable[..., Connection]
) -> None:
    one, other = connect(), connect()
    program = bench.program()
    one.send("data_request(plane=12345,variable=all,interval=0.1)\n")
    other.send("data_request(plane=12345,variable=roll,interval=0.1)\nfly_engage(plane=12345)\n")
    bench.serve_until(lambda: bench.front_end.counters["commands"] == 3)
    bench.step(11)
    everything = [parse_reply(line) for line in one.lines(2)]
    assert [type(reply) for reply in everything] == [DataAll, DataAll]
    assert [type(parse_reply(line)) for line in other.lines(2)] == [Data, Data]
    assert program.packets() == []
    assert bench.front_end.planes[0].pilot.enabled
    one.socket.close()
    bench.serve_until(lambda: bench.front_end.details(0)["clients"] == 1)
    bench.step(11)
    assert bench.front_end.counters["unsent"] == 0


def test_last_line_needs_no_line_break(bench: UthereBench, connect: Callable[..., Connection]) -> None:
    one = connect()
    one.send("request_plane_list")
    one.socket.shutdown(socket.SHUT_WR)
    assert one.lines(1) == ["plane_list(12345)"]


def test_lines_that_are_too_long_are_dropped_and_counted(
    bench: UthereBench, connect: Callable[..., Connection]
) -> None:
    one = connect()
    one.send(b"x" * 30_000 + b"\nrequest_plane_list\n")
    assert one.lines(1) == ["plane_list(12345)"]
    assert bench.front_end.counters["too_long"] == 1
    one.send(b"\xff\xfe\x00\nrequest_plane_list\n")
    assert [type(parse_reply(line)) for line in one.lines(2)] == [ErrorReply, PlaneList]
    assert bench.front_end.counters["bad_commands"] == 1


def test_client_that_never_reads_costs_bounded_memory_and_delays_no_other(
    bench: UthereBench, connect: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_server, "LARGEST_BACKLOG", 10_000)
    silent, other = connect(), connect()
    silent.send("data_request(variable=all,interval=0.02)\n")
    bench.serve_until(lambda: bench.front_end.counters["commands"])
    # More than the largest socket buffer of any system: 3 kB each.
    for _ in range(40):
        bench.step(200)
    assert bench.front_end.counters["unsent"] > 100
    assert 0 < bench.front_end.details(0)["tcp_backlog"] <= 10_000  # type: ignore[operator]
    other.send("request_plane_list\n")
    assert other.lines(1) == ["plane_list(12345)"]


def test_connections_are_bounded_and_the_bound_is_reported(
    bench: UthereBench, connect: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_server, "MOST_CONNECTIONS", 3)
    for _ in range(3):
        one = connect()
        one.send("request_plane_list\n")
        one.lines(1)
    late = connect()
    (refusal,) = late.lines(1)
    assert parse_reply(refusal) == ErrorReply("3 other connections are open; close one of them")
    assert bench.front_end.counters["too_many_connections"] == 1
    one.socket.close()
    bench.serve_until(lambda: bench.front_end.details(0)["tcp_connections"] == 2)
    again = connect()
    again.send("request_plane_list\n")
    assert again.lines(1) == ["plane_list(12345)"]
