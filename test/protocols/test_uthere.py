"""The commands of uThere Ground Control: every line of its page, every notation, and refusals."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosflight_py_sim.protocols.uthere import (
    MOST_COMMANDS,
    Command,
    DataClear,
    DataPause,
    DataRemove,
    DataRequest,
    DataResume,
    Fly,
    FlyDisengage,
    FlyEngage,
    FlyTo,
    FlyToWaypoint,
    ProtocolError,
    RequestClientIpList,
    RequestPlaneList,
    UthereError,
    WaypointAdd,
    WaypointClearAll,
    parse_packet,
    text_of,
)

PAGE: dict[str, Command] = {
    "request_plane_list": RequestPlaneList(),
    "data_request(plane=12345,variable=airspeed,interval = 0.5)": DataRequest(12345, "airspeed", 0.5),
    "data_request(plane=12345,variable=latitude,interval = 0.5) ": DataRequest(12345, "latitude", 0.5),
    "data_request(plane=12345,variable=longitude,interval = 0.5) ": DataRequest(12345, "longitude", 0.5),
    "data_request(plane=12345,variable=altitude,interval = 0.5) ": DataRequest(12345, "altitude", 0.5),
    "data_request(plane=12345,variable=course,interval = 0.5) ": DataRequest(12345, "course", 0.5),
    "data_request(plane=12345,variable=power_battery_voltage,interval = 0.5) ": DataRequest(
        12345, "power_battery_voltage", 0.5
    ),
    "data_request(plane=12345,variable=all, interval = 0.5)": DataRequest(12345, "all", 0.5),
    "data_pause": DataPause(),
    "data_resume": DataResume(),
    "data_remove(plane=12345,variable=longitude)": DataRemove(12345, "longitude"),
    "data_clear": DataClear(),
    "fly_to(plane=12345,latitude=75.13345,longitude=-123.4556,altitude=123,airspeed=21) ": FlyTo(
        12345, 75.13345, -123.4556, 123.0, 21.0
    ),
    "waypoint_clear_all": WaypointClearAll(),
    "waypoint_add(waypointid=14, nextwaypointid=16, plane=102, latitude=75.13345,longitude=-123.4556,altitude=123,"
    "airspeed=21) ": WaypointAdd(14, 16, 102, 75.13345, -123.4556, 123.0, 21.0),
    "fly_to_waypoint(12)": FlyToWaypoint(12),
    "fly(plane=12345,roll=-15,pitch=10.3,throttle=65)": Fly(12345, roll=-15.0, pitch=10.3, throttle=65.0),
    "fly(plane=12345,heading=265,airspeed=19.5,climb=5.0)": Fly(12345, heading=265.0, airspeed=19.5, climb=5.0),
    'fly_engage(plane=12345) // reset Ruby "cage" to allow fly() commands to be recognized. You should immediately '
    "begin streaming fly commands after this": FlyEngage(12345),
    'fly_disenage(plane=12345) // tell Ruby to immediately go to "if signal is lost" mode (typically set to waypoint '
    "or return to home) and ignore further fly() commands instead of waiting 2 seconds for timeout": FlyDisengage(
        12345
    ),
    "request_client_ip_list": RequestClientIpList(),
}
"""Each command line of the page, with 12345 in place of ###."""

LATERAL = ({"latitude": 47.0, "longitude": 8.0}, {"course": 90.0}, {"heading": 90.0}, {"roll": 5.0})
SPEED = ({"airspeed": 20.0}, {"pitch": 3.0})
VERTICAL = ({"altitude": 100.0}, {"climb": 2.0}, {"throttle": 50.0})

ids = st.integers(0, 2**31 - 1)
planes = st.none() | ids
names = st.from_regex(r"[a-z_][a-z0-9_]{0,63}", fullmatch=True)


def number(lowest: float, highest: float) -> st.SearchStrategy[float]:
    return st.floats(lowest, highest, allow_nan=False)


latitude, longitude = number(-90.0, 90.0), number(-180.0, 180.0)
altitude, airspeed = number(-1e5, 1e5), number(0.0, 1000.0)
direction = number(-360.0, 360.0)
lateral = st.one_of(
    st.fixed_dictionaries({"latitude": latitude, "longitude": longitude}),
    st.fixed_dictionaries({"course": direction}),
    st.fixed_dictionaries({"heading": direction}),
    st.fixed_dictionaries({"roll": number(-180.0, 180.0)}),
)
height_or_throttle = st.one_of(
    st.fixed_dictionaries({"altitude": altitude}), st.fixed_dictionaries({"throttle": number(0.0, 100.0)})
)
speed_and_vertical = st.one_of(
    st.tuples(st.fixed_dictionaries({"pitch": number(-90.0, 90.0)}), height_or_throttle),
    st.tuples(
        st.fixed_dictionaries({"airspeed": airspeed}),
        height_or_throttle | st.fixed_dictionaries({"climb": number(-1e4, 1e4)}),
    ),
).map(lambda both: both[0] | both[1])
commands: st.SearchStrategy[Command] = st.one_of(
    st.sampled_from([RequestPlaneList(), RequestClientIpList(), DataPause(), DataResume(), DataClear()]),
    st.builds(DataRequest, planes, names, number(0.0, 86_400.0)),
    st.builds(DataRemove, planes, names),
    st.builds(FlyTo, planes, latitude, longitude, altitude, airspeed),
    st.builds(WaypointClearAll, planes),
    st.builds(WaypointAdd, ids, st.just(-1) | ids, planes, latitude, longitude, altitude, airspeed),
    st.builds(FlyToWaypoint, ids),
    st.builds(lambda plane, one, two: Fly(plane, **one, **two), planes, lateral, speed_and_vertical),
    st.builds(FlyEngage, planes),
    st.builds(FlyDisengage, planes),
)


def only_error(packet: str | bytes) -> UthereError:
    found = parse_packet(packet if isinstance(packet, bytes) else packet.encode())
    assert len(found) == 1
    assert isinstance(found[0], UthereError)
    return found[0]


@pytest.mark.parametrize("line", PAGE)
def test_documented_line_parses_to_its_command(line: str) -> None:
    assert parse_packet(line.encode()) == [PAGE[line]]


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\r", "\n\n \n"])
def test_all_documented_lines_in_one_packet_parse_in_order(separator: str) -> None:
    assert parse_packet(separator.join(PAGE).encode()) == list(PAGE.values())


def test_semicolons_separate_commands_in_a_line_but_not_in_a_comment() -> None:
    assert parse_packet(b"data_pause; ;data_resume ;fly_engage(plane=3); // later; fly_to_waypoint(1)\ndata_clear") == [
        DataPause(),
        DataResume(),
        FlyEngage(3),
        DataClear(),
    ]


@pytest.mark.parametrize("packet", [b"", b"\0", b" \t\r\n", b";;;", b"// fly", b"\n" * 65_507])
def test_empty_packet_yields_no_command(packet: bytes) -> None:
    assert parse_packet(packet) == []


@pytest.mark.parametrize(
    "text",
    [
        "fly_to_waypoint(12)",
        "FLY_TO_WAYPOINT(12)",
        "  Fly_To_Waypoint\t( 12 )  ",
        "fly_to_waypoint( waypointid = 12)",
        "fly_to_waypoint(WaypointId=12)",
        "fly_to_waypoint(+012)",
        "fly_to_waypoint(12)\n\0\0",
    ],
)
def test_case_whitespace_and_trailing_nul_are_ignored(text: str) -> None:
    assert parse_packet(text.encode()) == [FlyToWaypoint(12)]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("request_plane_list", RequestPlaneList()),
        ("request_client_ip_list", RequestClientIpList()),
        ("data_pause", DataPause()),
        ("data_resume", DataResume()),
        ("data_clear", DataClear()),
        ("waypoint_clear_all", WaypointClearAll()),
        ("fly_engage", FlyEngage()),
        ("fly_disengage", FlyDisengage()),
        ("fly_disenage", FlyDisengage()),
    ],
)
@pytest.mark.parametrize("parentheses", ["", "()", " ( )"])
def test_bare_name_is_equivalent_to_empty_parentheses(name: str, parentheses: str, command: Command) -> None:
    assert parse_packet((name + parentheses).encode()) == [command]


def test_variable_names_are_case_insensitive() -> None:
    assert parse_packet(b"data_remove(plane=1,variable=GroundSpeed)") == [DataRemove(1, "groundspeed")]


@pytest.mark.parametrize("text", ["5", "+5", "5.", "05.0", "5e0", "50E-1", ".5e+1", "5.000"])
def test_numbers_parse_in_any_common_notation(text: str) -> None:
    assert parse_packet(f"data_request(plane=1,variable=roll,interval={text})".encode()) == [DataRequest(1, "roll", 5)]


@settings(deadline=None)
@given(commands)
def test_command_round_trips_through_text(command: Command) -> None:
    assert parse_packet(text_of(command).encode("ascii")) == [command]


@settings(deadline=None)
@given(st.lists(commands, max_size=8), st.sampled_from([";", "\n", " ;\r\n"]), st.booleans())
def test_parsed_text_is_reproduced_when_written_again(several: list[Command], separator: str, loud: bool) -> None:
    text = separator.join(map(text_of, several))
    again = parse_packet((text.upper() if loud else text).encode("ascii"))
    assert again == several
    assert separator.join(text_of(c) for c in again if not isinstance(c, UthereError)) == text


@pytest.mark.parametrize("vertical", VERTICAL)
@pytest.mark.parametrize("speed", SPEED)
@pytest.mark.parametrize("lateral", LATERAL)
def test_fly_takes_one_target_of_each_kind_except_climb_with_pitch(
    lateral: dict[str, float], speed: dict[str, float], vertical: dict[str, float]
) -> None:
    targets = lateral | speed | vertical
    line = f"fly(plane=1,{','.join(f'{name}={value}' for name, value in targets.items())})"
    if "pitch" in targets and "climb" in targets:
        error = only_error(line)
        assert error.reason == "fly with pitch and climb; allowed with pitch: altitude, throttle"
        assert error.column == line.index("climb") + 1
    else:
        assert parse_packet(line.encode()) == [Fly(1, **targets)]


@pytest.mark.parametrize(
    ("targets", "at", "reason"),
    [
        ("course=1,roll=2,pitch=1,throttle=1", "roll", "fly with course and roll"),
        ("latitude=1,pitch=1,throttle=1", "latitude", "fly with latitude; allowed: one of latitude+longitude, course"),
        ("longitude=1,roll=1,pitch=1,throttle=1", "roll", "fly with longitude and roll"),
        ("latitude=1,longitude=1,heading=1,pitch=1,altitude=1", "heading", "latitude and longitude and heading"),
        ("roll=1,pitch=1,airspeed=9,throttle=1", "pitch", "fly with airspeed and pitch; allowed: one of"),
        ("roll=1,pitch=1,altitude=1,throttle=1", "throttle", "fly with altitude and throttle"),
        ("pitch=1,throttle=1", "fly", "fly without one of latitude+longitude, course, heading, roll"),
        ("roll=1,throttle=1", "fly", "fly without one of airspeed, pitch"),
        ("roll=1,airspeed=19", "fly", "fly without one of altitude, climb, throttle"),
    ],
)
def test_other_target_combinations_are_rejected_entirely(targets: str, at: str, reason: str) -> None:
    line = f"fly(plane=1,{targets})"
    error = only_error(line)
    assert reason in error.reason
    assert error.column == line.index(at) + 1


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ("fyl(plane=1)", 1, "there is no command 'fyl'; allowed: request_plane_list, "),
        (
            "data_remove(plane=1,variable=roll,interval=1)",
            35,
            "data_remove has no parameter 'interval'; allowed: plane, ",
        ),
        ("data_pause(plane=1)", 12, "data_pause has no parameter 'plane'; allowed: none"),
        ("fly_engage(plane=1,plane=1)", 20, "'plane' is given twice"),
        ("fly_engage(12345)", 12, "value '12345' without a name; allowed: plane"),
        ("fly_engage(plane=###)", 18, "plane='###' given; allowed: whole number from 0 to 2147483647"),
        ("fly_to_waypoint", 1, "fly_to_waypoint without waypointid"),
        ("data_request(plane=1)", 1, "data_request without variable and interval"),
        ("fly_to_waypoint(12.5)", 17, "waypointid='12.5' given; allowed: whole number"),
        ("fly_to_waypoint(12,13)", 20, "'waypointid' is given twice"),
        ("fly_to_waypoint(-1)", 17, "whole number from 0"),
        ("fly_engage(plane=1", 19, "the end of the command given; allowed: , or )"),
        ("fly_engage(", 12, "the end of the command given; allowed: a parameter"),
        ("fly_engage(plane=", 18, "the end of the command given; allowed: a value of 'plane'"),
        ("fly_engage(plane", 17, "the end of the command given; allowed: , or )"),
        ("fly_engage(plane=1,)", 20, "')' given; allowed: a parameter"),
        ("fly_engage(,plane=1)", 12, "',' given; allowed: a parameter"),
        ("fly_engage(plane==1)", 18, "'=' given; allowed: a value of 'plane'"),
        ("fly_engage(plane=1 2)", 20, "'2' given; allowed: , or )"),
        ("fly_engage(plane=1))", 20, "')' after the command; allowed: ';', '//' or the end"),
        ("fly_engage(plane=1) fly_engage(plane=2)", 21, "'fly_engage' after the command"),
        ("fly_engage plane=1", 12, "'plane' given; allowed: ("),
        ("(plane=1)", 1, "'(' given; allowed: the name of a command"),
        ("12(plane=1)", 1, "'12' is not a name; allowed: letters, digits and underscores"),
        ("data_remove(plane=1,variable=air-speed)", 30, "'air-speed' is not a name"),
        ("data_remove(plane=1,variable=" + "x" * 65 + ")", 30, "is too long; allowed: 64 characters"),
    ],
)
def test_error_gives_value_allowed_values_and_column(line: str, column: int, reason: str) -> None:
    error = only_error(line)
    assert reason in error.reason
    assert error.column == column
    assert f"column {column}: {error.reason}" in str(error)


def test_error_gives_line_and_neighbouring_commands_are_parsed() -> None:
    assert parse_packet(b"data_pause\r\n\r\n data_clear; fly_engage(plane=x) ;data_resume\r\ndata_pause") == [
        DataPause(),
        DataClear(),
        UthereError("plane='x' given; allowed: whole number from 0 to 2147483647", column=31, line=3),
        DataResume(),
        DataPause(),
    ]


@pytest.mark.parametrize(
    "value",
    ["nan", "NaN", "inf", "-inf", "1e999", "-1e999", "1e6", "0x10", "1_0", "1,5", "--1", "1e", ".", "e5", "true"],
)
@pytest.mark.parametrize("parameter", ["latitude", "longitude", "altitude", "airspeed"])
def test_non_numbers_and_absurd_numbers_are_rejected(parameter: str, value: str) -> None:
    numbers = {"latitude": "1", "longitude": "1", "altitude": "1", "airspeed": "1"} | {parameter: value}
    line = f"fly_to(plane=1,{','.join(f'{name}={given}' for name, given in numbers.items())})"
    assert only_error(line).column > line.index(parameter)


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("roll", "-180", "180.1"),
        ("course", "-90", "360.5"),
        ("heading", "360", "-361"),
        ("pitch", "-90", "91"),
        ("airspeed", "0", "-0.1"),
        ("throttle", "0", "101"),
        ("throttle", "100", "-1"),
        ("climb", "-20", "1e5"),
        ("altitude", "-3", "2e5"),
    ],
)
def test_targets_beyond_any_aircraft_are_rejected(name: str, inside: str, outside: str) -> None:
    kinds = ({"roll": "1"}, {"airspeed": "20"}, {"altitude": "100"})
    of_kind = {
        "course": 0,
        "heading": 0,
        "roll": 0,
        "airspeed": 1,
        "pitch": 1,
        "altitude": 2,
        "climb": 2,
        "throttle": 2,
    }
    targets = {}
    for i, other in enumerate(kinds):
        targets |= {name: "{}"} if of_kind[name] == i else other
    line = f"fly({','.join(f'{given}={value}' for given, value in targets.items())})"
    assert isinstance(parse_packet(line.format(inside).encode())[0], Fly)
    assert f"{name}='{outside}' given; allowed: number from" in only_error(line.format(outside)).reason


@pytest.mark.parametrize("bad", [b"\xff\xfe\xfa", "fl\u00fcg".encode(), "data_pause\u2028".encode(), b"data\0pause"])
def test_non_ascii_input_is_rejected_in_ascii_and_neighbours_are_parsed(bad: bytes) -> None:
    before, error, after = parse_packet(b"data_clear\n" + bad + b";data_resume")
    assert (before, after) == (DataClear(), DataResume())
    assert isinstance(error, UthereError)
    assert error.line == 2
    assert error.reason.isascii() and error.reason.isprintable()


def test_comment_may_contain_anything() -> None:
    assert parse_packet(b"data_pause // \xff\xfe (=,;\xe9") == [DataPause()]


# Each would keep a parser with quadratic run time busy for minutes.
@pytest.mark.parametrize(
    "packet",
    [
        b"(" * 65_507,
        b"=" * 65_507,
        b"fly" + b" " * 65_000 + b"x",
        b"fly(" + b" " * 65_000,
        b"fly(roll=" + b"9" * 65_000 + b")",
        b"fly(roll=" + b"1e" * 32_000 + b")",
        b"fly(" + b"roll=1," * 9_000 + b")",
        b"fly(" + b"".join(b"x%d=1," % i for i in range(7_000)) + b")",
        b"x" * 65_507,
        b"fly_engage(plane" + b" =" * 32_000,
    ],
)
def test_largest_datagram_with_one_invalid_command_yields_one_short_error(packet: bytes) -> None:
    assert len(only_error(packet).reason) < 400


def test_waypoints_of_a_long_mission_fit_in_one_packet() -> None:
    mission = [WaypointAdd(i, i + 1, 1, 47.0 + i * 1e-5, 8.0, 100.0, 20.0) for i in range(500)]
    packet = ";".join(map(text_of, mission)).encode()
    assert len(packet) < 65_507
    assert parse_packet(packet) == mission


@pytest.mark.parametrize("one", [b"data_pause;", b"x;", b"\xff;"])
def test_packet_with_too_many_commands_ends_in_an_error(one: bytes) -> None:
    *found, last = parse_packet(one * (65_507 // len(one)))
    assert len(found) == MOST_COMMANDS
    assert isinstance(last, UthereError)
    assert last.reason == f"more than {MOST_COMMANDS} commands in a packet"


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_commands_or_errors(packet: bytes) -> None:
    for found in parse_packet(packet):
        assert isinstance(found, UthereError) or parse_packet(text_of(found).encode()) == [found]


def test_ten_thousand_mutated_documented_lines_are_commands_or_errors() -> None:
    seeded = random.Random(6)
    lines = [line.encode() for line in PAGE]
    refused = read = 0
    for _ in range(10_000):
        line = bytearray(seeded.choice(lines))
        for _ in range(seeded.randint(0, 3)):
            at = seeded.randrange(len(line))
            line[at : at + seeded.randint(0, 2)] = seeded.choice(
                (b"", b"(", b"=", b"\n", b";", b"/", b"9", b"\xff", b",")
            )
        for found in parse_packet(bytes(line)):
            if isinstance(found, UthereError):
                refused += 1
                assert 1 <= found.column <= len(line) + 1
            else:
                read += 1
                assert parse_packet(text_of(found).encode()) == [found]
    # One line in four is unchanged, and most mutations break a line.
    assert refused > 1_500 and read > 1_500


@pytest.mark.parametrize(
    "command",
    [
        FlyEngage(-1),
        FlyEngage(2**31),
        DataRequest(1, "air speed", 1.0),
        DataRequest(1, "", 1.0),
        DataRequest(1, "Roll", 1.0),
        DataRequest(1, "roll", float("nan")),
        FlyTo(1, 91.0, 0.0, 0.0, 0.0),
        Fly(1, roll=1.0),
        Fly(1, roll=1.0, course=2.0, pitch=3.0, throttle=4.0),
    ],
)
def test_unrepresentable_command_is_not_written(command: Command) -> None:
    with pytest.raises(ProtocolError, match=type(command).__name__):
        text_of(command)


def test_every_command_parameter_appears_in_its_line() -> None:
    command = WaypointAdd(1, 2, 3, 4.0, 5.0, 6.0, 7.0)
    text = text_of(command)
    assert text == "waypoint_add(waypointid=1,nextwaypointid=2,plane=3,latitude=4,longitude=5,altitude=6,airspeed=7)"
    for field in fields(command):
        assert text_of(replace(command, **{field.name: 9})) != text
