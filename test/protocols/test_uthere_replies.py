"""Ground Control's replies, as on its page."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosflight_py_sim.protocols.uthere import (
    LARGEST_ERROR,
    LARGEST_REPLY,
    ClientIpList,
    Data,
    DataAll,
    ErrorReply,
    PlaneList,
    ProtocolError,
    UthereError,
    client_ip_list_text,
    data_all_texts,
    data_text,
    error_text,
    parse_reply,
    plane_list_text,
)

names = st.from_regex(r"[a-z_][a-z0-9_]{0,63}", fullmatch=True).filter(lambda name: name != "plane")
# Tenths of a millionth, as many as a double holds exactly.
values = st.integers(-(10**15), 10**15).map(lambda tenths: tenths / 1e7)
times = st.integers(0, 2**42).map(lambda milliseconds: milliseconds / 1000.0)
SMALL = 1400

planes = st.integers(0, 2**31 - 1)
variables = st.dictionaries(names, values, min_size=1, max_size=60)


def test_data_reply_matches_documentation() -> None:
    text = "data(1208472993.743, plane=1234, latitude=75.012)"
    assert data_text(1208472993.743, 1234, {"latitude": 75.012}) == text
    assert parse_reply(text) == Data(1208472993.743, 1234, {"latitude": 75.012})


def test_data_all_reply_matches_documentation() -> None:
    text = "data_all(1208472993.743, plane=1234, latitude=75.012, longitude=-123.54, altitude=400, airspeed=20)"
    values = {"latitude": 75.012, "longitude": -123.54, "altitude": 400.0, "airspeed": 20.0}
    assert data_all_texts(1208472993.743, 1234, values) == [text]
    assert parse_reply(text) == DataAll(1208472993.743, 1234, values)


@pytest.mark.parametrize(
    ("time_s", "text"), [(0.0, "0.000"), (12.0, "12.000"), (1.0625, "1.062"), (1e9, "1000000000.000")]
)
def test_time_has_three_decimals(time_s: float, text: str) -> None:
    assert data_text(time_s, 1, {"roll": 1.0}) == f"data({text}, plane=1, roll=1)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-1e-9, "0"),
        (1e-7, "0.0000001"),
        (-0.5, "-0.5"),
        (524288.0, "524288"),
        (1e16, "1" + "0" * 16),
    ],
)
def test_values_have_at_most_seven_decimals_and_no_exponent(value: float, text: str) -> None:
    assert data_text(0.0, 1, {"x": value}) == f"data(0.000, plane=1, x={text})"


@settings(deadline=None)
@given(times, planes, variables)
def test_data_round_trips_through_text(time_s: float, plane: int, values: dict[str, float]) -> None:
    assert parse_reply(data_text(time_s, plane, values)) == Data(time_s, plane, values)


@settings(deadline=None)
@given(times, planes, variables)
def test_data_all_round_trips_through_small_packets(time_s: float, plane: int, values: dict[str, float]) -> None:
    texts = data_all_texts(time_s, plane, values, SMALL)
    together: dict[str, float] = {}
    for text in texts:
        assert len(text.encode()) <= SMALL
        reply = parse_reply(text)
        assert isinstance(reply, DataAll)
        assert (reply.time_s, reply.plane) == (time_s, plane)
        assert not together.keys() & reply.values.keys()
        together |= reply.values
    assert list(together.items()) == list(values.items())


def test_packets_are_filled_to_the_last_byte() -> None:
    # "data_all(0.000, plane=1" and ")" are 24 bytes, each variable here 14.
    many = {f"variable{i:02}": 1.0 for i in range(100)}
    fills = (SMALL - 24) // 14
    assert [len(text) for text in data_all_texts(0.0, 1, many, SMALL)] == [24 + 14 * fills, 24 + 14 * (100 - fills)]
    rest = SMALL - 24 - 14 * 98
    assert len(data_all_texts(0.0, 1, dict(list(many.items())[:98]), SMALL)[0]) == SMALL - rest
    longer = dict(list(many.items())[:97]) | {"v" * (14 + rest - 4): 1.0}
    assert [len(text) for text in data_all_texts(0.0, 1, longer, SMALL)] == [SMALL]
    longer = dict(list(many.items())[:97]) | {"v" * (14 + rest - 3): 1.0}
    assert len(data_all_texts(0.0, 1, longer, SMALL)) == 2


def test_data_all_is_one_packet_up_to_maximum_datagram_size() -> None:
    many = {f"variable{i:04}": 1.0 for i in range(4000)}
    (text,) = data_all_texts(0.0, 1, many)
    assert 1400 < len(text) <= LARGEST_REPLY == 65_507


def test_variable_too_long_for_a_packet_is_rejected() -> None:
    with pytest.raises(ProtocolError, match="too long for a packet of 1400 bytes"):
        data_all_texts(0.0, 1, {"x" * 1400: 1.0}, SMALL)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_non_finite_numbers_are_not_sent(bad: float) -> None:
    with pytest.raises(ProtocolError, match="roll="):
        data_text(0.0, 1, {"roll": bad})
    with pytest.raises(ProtocolError, match="roll="):
        data_all_texts(0.0, 1, {"roll": bad})
    with pytest.raises(ProtocolError, match="time"):
        data_text(bad, 1, {"roll": 0.0})


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        (plane_list_text([12345, 102]), PlaneList((12345, 102))),
        (plane_list_text([]), PlaneList(())),
        (client_ip_list_text(["127.0.0.1"]), ClientIpList(("127.0.0.1",))),
        (client_ip_list_text(["10.0.0.1", "::1"]), ClientIpList(("10.0.0.1", "::1"))),
        (error_text("line 1, column 3: 'x' (y) given"), ErrorReply("line 1, column 3: 'x' (y) given")),
    ],
)
def test_lists_and_errors_round_trip_through_text(text: str, reply: object) -> None:
    assert parse_reply(text) == reply


def test_lists_parse_in_any_common_notation() -> None:
    assert plane_list_text([12345, 102]) == "plane_list(12345, 102)"
    assert client_ip_list_text(["127.0.0.1"]) == "client_ip_list(127.0.0.1)"


@settings(deadline=None)
@given(st.text(max_size=3000))
def test_error_is_one_short_line_of_ascii(reason: str) -> None:
    text = error_text(reason)
    assert text.isascii() and len(text) <= LARGEST_ERROR and len(text.splitlines()) == 1
    assert isinstance(parse_reply(text), ErrorReply)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("fly()", 1),
        ("data()", 1),
        ("data(1.0, latitude=2)", 1),
        ("data(plane=1)", 1),
        ("data(1.0, plane=1, plane=2)", 20),
        ("data(1.0, 2.0, plane=1)", 11),
        ("data(1.0, plane=1, roll=1, roll=1)", 28),
        ("data(1.0, plane=1, roll=nan)", 25),
        ("data(x, plane=1)", 6),
        ("plane_list(x)", 12),
        ("plane_list(plane=1)", 12),
        ("client_ip_list(a=1)", 16),
        ("data(1.0, plane=1", 18),
        ("(" * 65_507, 1),
    ],
)
def test_invalid_reply_is_an_error_with_column(text: str, column: int) -> None:
    error = parse_reply(text)
    assert isinstance(error, UthereError)
    assert error.column == column


@settings(deadline=None)
@given(st.text(max_size=300))
def test_arbitrary_text_is_a_reply_or_an_error(text: str) -> None:
    assert parse_reply(text) is not None
