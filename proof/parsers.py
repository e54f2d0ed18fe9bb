"""Every parser of untrusted input, as a function of bytes for fuzzing.

A parser may reject its input only with the errors that it documents. Each function here returns normally for input that
is accepted or rejected with such an error; any other exception is a defect.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rosflight_py_sim.autopilot.path_planning import planned_path
from rosflight_py_sim.autopilot.waypoints import WaypointError, read_flight_plan
from rosflight_py_sim.commands.cli import command_parser
from rosflight_py_sim.failures.failure import parse_failure
from rosflight_py_sim.firmware import FirmwareParameters, ParameterFileError
from rosflight_py_sim.graph.launch_arguments import all_arguments
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.graph.simulation_options import SimulationOptions
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.given_values import merged_values, sources_of_arguments
from rosflight_py_sim.interfaces.parameter_files import check_files
from rosflight_py_sim.protocols import zmtp
from rosflight_py_sim.protocols.ardupilot_json import ProtocolError, decode_frame, encode_frame
from rosflight_py_sim.protocols.auv_zeromq import decode_telemetry, decode_thrusters, encode_thrusters
from rosflight_py_sim.protocols.mavlink import frames as mavlink
from rosflight_py_sim.protocols.px4_simulator.dialect import LAYOUTS as PX4_LAYOUTS
from rosflight_py_sim.protocols.rosflight_mavlink.frames import FrameReader
from rosflight_py_sim.protocols.rosflight_mavlink.frames import encode_frame as encode_mavlink
from rosflight_py_sim.protocols.uthere import UthereError, parse_packet, parse_reply, text_of
from rosflight_py_sim.recording.bag_folder import METADATA, BagError, parts_of
from rosflight_py_sim.recording.columns import NoColumnsError, columns
from rosflight_py_sim.recording.mcap_file import NotMcapError, read_recording
from rosflight_py_sim.recording.recorded_vehicle import recorded_vehicles, world_of_recording
from rosflight_py_sim.recording.rosout import warnings_of
from rosflight_py_sim.sweep.definition import run_of, scenario_of
from rosflight_py_sim.sweep.expressions import Expression, ExpressionError
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.sweep.temporal_logic import Property
from rosflight_py_sim.testing.baseline_file import read_baseline
from rosflight_py_sim.transmitter.mapping import MappingError, load_mappings
from rosflight_py_sim.vehicles.vehicle_file import read_vehicle
from rosflight_py_sim.viewer.web.flight_verdict import Verdicts
from rosflight_py_sim.world import WorldError, load_world

CORPUS = Path(__file__).parents[1] / "test" / "fuzz" / "corpus"
"""Corpora: a folder for each parser."""

# Number of messages read from each topic of a recording.
_KEPT = 100


@dataclass(frozen=True)
class Parser:
    """A parser of untrusted input.

    Attributes:
        feed: parses the bytes; raises only for a defect.
        source: where the input comes from.
    """

    feed: Callable[[bytes], None]
    source: str


def _servo_frame(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        assert encode_frame(decode_frame(data)) == data


def _mavlink_frames(data: bytes) -> None:
    reader = FrameReader()
    for frame in reader.frames(data):
        (again,) = FrameReader().frames(encode_mavlink(frame))
        # As texts, because damaged numbers may be NaN.
        assert repr(again) == repr(frame)
    for half in (data[: len(data) // 2], data[len(data) // 2 :]):
        list(reader.frames(half))


def _px4_frames(data: bytes) -> None:
    version = mavlink.Mavlink2
    reader = mavlink.FrameReader(version, PX4_LAYOUTS)
    for frame in reader.frames(data):
        # Extensions, and zeros at the end, are not sent again.
        (again,) = mavlink.FrameReader(version, PX4_LAYOUTS).frames(version.encode(PX4_LAYOUTS, frame))
        assert repr(again) == repr(frame)
    for half in (data[: len(data) // 2], data[len(data) // 2 :]):
        list(reader.frames(half))


def _uthere_commands(data: bytes) -> None:
    for one in parse_packet(data):
        if not isinstance(one, UthereError):
            assert parse_packet(text_of(one).encode()) == [one]


def _uthere_replies(data: bytes) -> None:
    parse_reply(data.decode("utf-8", "surrogateescape"))


def _thrusters(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        assert encode_thrusters(decode_thrusters(data)) == data


def _telemetry(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        decode_telemetry(data.split(b"|"))


def _zeromq(data: bytes) -> None:
    decoder = zmtp.Decoder(100)
    decoder.feed(data)
    with contextlib.suppress(ProtocolError):
        while (frame := decoder.next_frame()) is not None:
            again = zmtp.Decoder(100)
            again.feed(zmtp.GREETING + zmtp.encode_frame(frame))
            assert again.next_frame() == frame
            zmtp.pong_for(frame)
            zmtp.subscription_of(frame)
            with contextlib.suppress(ProtocolError):
                zmtp.socket_type_of(frame)


def _verdicts(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        verdicts = Verdicts.of_text(data.decode("utf-8", "replace"))
        assert verdicts.headline and verdicts.details


@contextlib.contextmanager
def _file(data: bytes, suffix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fuzz_") as made:
        path = Path(made) / f"fuzzed{suffix}"
        path.write_bytes(data)
        yield path


def _in_file(parse: Callable[[Path], object], error: type[Exception], suffix: str = ".yaml") -> Callable[[bytes], None]:
    def feed(data: bytes) -> None:
        with _file(data, suffix) as path, contextlib.suppress(error):
            parse(path)

    return feed


def _parameter_file(path: Path) -> None:
    check_files([str(path)])
    merged_values([path], ("dynamics", "sim"), "/quad")


def _single_parameter(data: bytes) -> None:
    text = data.decode("utf-8", "replace").replace("\0", "")
    with contextlib.suppress(ParameterError):
        merged_values(sources_of_arguments(["-p", text]), ("dynamics", "sim"), "/quad")


def _recording(path: Path) -> None:
    recording = read_recording(path, lambda topic, type_name: _KEPT)
    recorded_vehicles(recording)
    world_of_recording(recording)
    warnings_of(recording)
    for topic in recording.topics.values():
        with contextlib.suppress(NoColumnsError):
            columns(topic)


def _bag_metadata(data: bytes) -> None:
    with _file(data, ".yaml") as path, contextlib.suppress(BagError):
        parts_of(path.rename(path.with_name(METADATA)).parent)


def _failure(data: bytes) -> None:
    with contextlib.suppress(ParameterError):
        parse_failure(data.decode("utf-8", "replace"))


def _sweep(path: Path) -> None:
    sweep = read_sweep(path)
    scenario_of(sweep, run_of(sweep, sweep.runs - 1))


def _expression(data: bytes) -> None:
    flight = {"time": np.arange(9.0), "judge.height_m": 2.0, "truth_state.position_ned": np.ones((3, 9))}
    with contextlib.suppress(ExpressionError):
        Expression(data.decode("utf-8", "replace"), flight).value(flight)
    with contextlib.suppress(ExpressionError):
        Property(data.decode("utf-8", "replace"), flight, {}).value(flight)


def _launch_arguments(data: bytes) -> None:
    given = {name: one.default or "" for name, one in all_arguments().items()}
    for line in data.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":=")
        if name in given:
            given[name] = value
    with contextlib.suppress(ParameterError):
        _ = SimulationOptions.of_launch(given).chosen_time_mode


def _command_line(data: bytes) -> None:
    words = data.decode("utf-8", "replace").split()
    unseen = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(unseen), contextlib.redirect_stdout(unseen):
        command_parser().parse_args(words)


PARSERS: dict[str, Parser] = {
    "ardupilot_frames": Parser(_servo_frame, "UDP"),
    "mavlink_frames": Parser(_mavlink_frames, "UDP"),
    "px4_frames": Parser(_px4_frames, "TCP"),
    "uthere_commands": Parser(_uthere_commands, "UDP, TCP"),
    "uthere_replies": Parser(_uthere_replies, "UDP, TCP"),
    "auv_commands": Parser(_thrusters, "TCP"),
    "auv_telemetry": Parser(_telemetry, "TCP"),
    "zeromq": Parser(_zeromq, "TCP"),
    "vehicle_files": Parser(_in_file(read_vehicle, ParameterError), "file"),
    "world_files": Parser(_in_file(load_world, WorldError), "file"),
    "scenario_files": Parser(_in_file(lambda path: load_scenario(str(path)), ParameterError), "file"),
    "sweep_files": Parser(_in_file(_sweep, ParameterError), "file"),
    "baseline_files": Parser(_in_file(read_baseline, ParameterError), "file"),
    "expressions": Parser(_expression, "file"),
    "waypoint_files": Parser(_in_file(lambda path: planned_path(read_flight_plan(path)), WaypointError), "file"),
    "firmware_files": Parser(_in_file(lambda path: FirmwareParameters().load(path), ParameterFileError), "file"),
    "parameter_files": Parser(_in_file(_parameter_file, ParameterError), "file"),
    "parameters": Parser(_single_parameter, "command line"),
    "joystick_mappings": Parser(_in_file(load_mappings, MappingError), "file"),
    "failures": Parser(_failure, "parameter, service call"),
    "recordings": Parser(_in_file(_recording, NotMcapError, ".mcap"), "file"),
    "bag_metadata": Parser(_bag_metadata, "file"),
    "verdicts": Parser(_verdicts, "topic"),
    "launch_arguments": Parser(_launch_arguments, "command line"),
    "command_line": Parser(_command_line, "command line"),
}
"""All parsers by name."""


def kept_inputs(name: str) -> list[bytes]:
    """Corpus of a parser: valid and invalid inputs."""
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
