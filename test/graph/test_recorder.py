"""The recorder in the running graph: all messages are recorded unchanged, and any reader can read them."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from judged_again import judged_again
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.duration import Duration
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosflight_msgs.msg import SimState
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import String

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.interfaces.outside_inputs import OUTSIDE_INPUTS
from rosflight_py_sim.recording.mcap_file import Recording, read_recording
from rosflight_py_sim.step.qos import LATCHED, LATCHED_LIST
from rosflight_py_sim.step.topics import (
    ATTITUDE,
    CLOCK,
    FORCES_AND_MOMENTS,
    GNSS_FIX,
    IMU,
    IMU_DATA,
    PWM_OUTPUT,
    STATUS,
    TRUTH_STATE,
)
from rosflight_py_sim.vehicles import vehicle
from test.graph.conftest import SLOW_SENSORS, small_square

STEP_NS = 2_500_000

# Topics published once per step.
OF_A_STEP = (IMU, PWM_OUTPUT, FORCES_AND_MOMENTS, ATTITUDE, IMU_DATA)

TRUTH = f"/{TRUTH_STATE.name}"

DEEP = QoSProfile(depth=10000)

Make = Callable[..., Any]


def recorded(path: Path) -> Recording:
    return read_recording(path, lambda topic, type_name: 10**6)


def stamps(path: Path, topic: str) -> list[int]:
    """Distinct times of a topic's messages; a step that takes too long on a busy machine is published again."""
    return sorted(set(recorded(path).topics[topic].log_ns.tolist()))


def test_every_step_of_a_full_speed_run_is_recorded(graph: Make, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    one = graph(record=str(path))
    one.ready().spin_for(3.0)
    one.close()
    assert one.recorded
    assert one.recorder.outcome.error == "" and not one.recorder.lost
    clock = stamps(path, CLOCK.name)
    assert len(clock) >= 1200
    assert clock == [number * STEP_NS for number in range(len(clock))]
    for topic in OF_A_STEP:
        times = stamps(path, f"/{topic.name}")
        # The last step may be incomplete when the graph is closed.
        assert times == clock[: len(times)] and len(times) >= len(clock) - 1, topic
    truth = stamps(path, TRUTH)
    assert truth == [number * STEP_NS for number in range(len(truth))] and len(truth) >= len(clock)


def test_recording_is_complete_before_the_time_limit_of_the_shutdown_begins(
    graph: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = graph(record=str(tmp_path / "run.mcap"))
    complete: list[bool] = []

    def watchdog(_: float) -> contextlib.AbstractContextManager[None]:
        complete.append(one.recorder.outcome is not None)
        return contextlib.nullcontext()

    monkeypatch.setattr("rosflight_py_sim.graph.composition.shutdown_watchdog", watchdog)
    one.close()
    assert complete == [True]


def test_each_fleet_vehicle_is_recorded_under_its_namespace(graph: Make, tmp_path: Path) -> None:
    path = tmp_path / "fleet.mcap"
    members = fleet(vehicle("multirotor"), count=2, seed=0)
    one = graph(record=str(path), vehicles=members, namespace="team")
    one.ready().spin_for(0.5)
    one.close()
    for member in members:
        times = stamps(path, f"/team/{member.namespace}{TRUTH}")
        assert times == [number * STEP_NS for number in range(len(times))] and len(times) > 200
    facts = recorded(path).facts
    assert facts["vehicle"] == "multirotor"
    assert yaml.safe_load(facts["namespaces"]) == [f"/team/{member.namespace}" for member in members]


@pytest.mark.parametrize("raw", [True, False])
def test_images_are_recorded_compressed_and_optionally_raw(graph: Make, tmp_path: Path, raw: bool) -> None:
    path = tmp_path / "dive.mcap"
    setting = ["--ros-args", "-p", f"record.raw_images:={str(raw).lower()}"]
    one = graph(*setting, record=str(path), vehicle_name="auv", flight_controller="auv_controller")
    pictures = one.collect_messages("camera/front/image_raw/compressed", CompressedImage)
    one.spin_until(lambda: len(pictures) >= 30)
    one.close()
    counts = {topic: len(one.messages) for topic, one in recorded(path).topics.items()}
    for camera in ("/camera/front/image_raw", "/camera/bottom/image_raw"):
        assert counts[f"{camera}/compressed"] >= 3
        assert (counts.get(camera, 0) >= 3) == raw


def test_recorded_messages_are_identical_to_received_ones(graph: Make, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    one = graph(record=str(path), multiplier=1.0)
    received: dict[str, list[bytes]] = {TRUTH: [], f"/{STATUS.name}": [], f"/{GNSS_FIX.name}": []}
    types = {topic: type(None) for topic in received}
    one.ready()
    for topic in received:
        name = dict(one.tester.get_topic_names_and_types())[topic][0]
        types[topic] = name
        module = __import__(f"{name.split('/')[0]}.msg", fromlist=["*"])
        one.tester.create_subscription(
            getattr(module, name.split("/")[2]), topic, received[topic].append, DEEP, raw=True
        )
    one.spin_for(1.5)
    one.close()
    topics = recorded(path).topics
    for topic, messages in received.items():
        assert len(messages) >= 10
        whole = topics[topic].messages
        first = whole.index(messages[0])
        assert whole[first : first + len(messages)] == messages, topic


def test_messages_from_foreign_publishers_on_simulation_topics_are_recorded(graph: Make, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    one = graph(record=str(path), multiplier=1.0)
    one.ready()
    notes = one.tester.create_publisher(String, "/notes", LATCHED_LIST)
    stranger = one.tester.create_publisher(SimState, TRUTH, LATCHED)
    notes.publish(String(data="early"))
    one.spin_until(lambda: notes.get_subscription_count() == 1, "the recorder on /notes")
    recorder = one.recorder.get_name()
    one.spin_until(
        lambda: recorder in {i.node_name for i in one.tester.get_subscriptions_info_by_topic(TRUTH)},
        f"the recorder on {TRUTH}",
    )
    notes.publish(String(data="late"))
    odd = SimState()
    odd.header.frame_id = "elsewhere"
    stranger.publish(odd)
    one.spin_for(0.5)
    one.close()
    topics = recorded(path).topics
    reported = [deserialize_message(body, String).data for body in topics["/notes"].messages]
    assert reported == ["early", "late"]
    truth = [deserialize_message(body, SimState) for body in topics[TRUTH].messages]
    assert [message.header.frame_id for message in truth].count("elsewhere") == 1
    own = {time_ns_of(m.header.stamp) for m in truth if m.header.frame_id != "elsewhere"}
    assert sorted(own) == [number * STEP_NS for number in range(len(own))]


def test_publisher_with_weaker_qos_than_the_first_is_recorded(graph: Make, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    one = graph(record=str(path))
    latched = one.tester.create_publisher(String, "note", LATCHED)
    latched.publish(String(data="latched"))
    one.ready()
    one.spin_until(latched.get_subscription_count, "the recorder's subscription")
    # The subscription that replaces it is volatile, and would not receive the message.
    one.spin_until(lambda: latched.wait_for_all_acked(Duration()), "the message in the recorder's queue")
    volatile = one.tester.create_publisher(String, "note", DEEP)
    one.spin_until(volatile.get_subscription_count, "a subscription that fits")
    volatile.publish(String(data="volatile"))
    one.idle(0.5)
    one.close()
    notes = [deserialize_message(data, String).data for data in recorded(path).topics["/note"].messages]
    assert notes == ["latched", "volatile"]


def test_third_party_readers_decode_every_topic_to_same_values(graph: Make, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    one = graph(record=str(path))
    one.ready().idle(0.5)
    one.close()
    store = get_typestore(Stores.EMPTY)
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        assert summary is not None
        for schema in summary.schemas.values():
            store.register(get_types_from_msg(schema.data.decode(), schema.name))
        decoded: dict[str, list[Any]] = {}
        for _, channel, _, content in reader.iter_decoded_messages():
            decoded.setdefault(channel.topic, []).append(content)
        for channel in summary.channels.values():
            offers = yaml.safe_load(channel.metadata["offered_qos_profiles"])
            assert offers and all(offer["reliability"] == 1 for offer in offers)
            # The recorder's own notes have no publisher, and hence no type hash to record.
            noted = channel.topic == OUTSIDE_INPUTS
            assert channel.metadata["topic_type_hash"].startswith("" if noted else "RIHS01_"), channel.topic
        latched = next(one for one in summary.channels.values() if one.topic == TRUTH)
        assert yaml.safe_load(latched.metadata["offered_qos_profiles"])[0]["durability"] == 1
    assert {"/rosout", "/parameter_events", "/clock", "/status", "/version"} <= decoded.keys()
    again: dict[str, list[Any]] = {}
    with Reader(path) as bag:
        for connection, _, raw in bag.messages():
            again.setdefault(connection.topic, []).append(store.deserialize_cdr(raw, connection.msgtype))
    assert again.keys() == decoded.keys()
    for topic, messages in decoded.items():
        assert len(messages) == len(again[topic])
        for one_way, other_way in zip(messages[:50], again[topic], strict=False):
            assert flat(one_way) == flat(other_way), topic


def flat(value: Any) -> Any:
    """A message of either library as plain lists; NaN as a string, which equals itself."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple, bytes)):
        return [flat(one) for one in value]
    if dataclasses.is_dataclass(value):
        # rosbags lists the type's constants (upper case) and its own fields (leading "__") among the fields.
        names = [f.name for f in dataclasses.fields(value) if not f.name.startswith("__") and not f.name.isupper()]
        return [flat(getattr(value, name)) for name in names]
    if hasattr(value, "__slots__"):
        return [flat(getattr(value, name)) for name in value.__slots__]
    return str(value) if isinstance(value, float) else value


def test_existing_file_is_rejected_and_left_untouched(graph: Make, tmp_path: Path) -> None:
    path = tmp_path / "old.mcap"
    path.write_text("old")
    with pytest.raises(ParameterError, match=f"parameter 'record.file': the file '{path}' already exists"):
        graph(record=str(path))
    assert path.read_text() == "old"


def test_flight_continues_on_full_disk_with_one_error_and_nonzero_exit(
    command_line: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000));"
        "from rosflight_py_sim.commands.cli import main; main()"
    )
    result = command_line(
        *("-c", limited, "sim", "--record", "full.mcap", "--duration", "20", "--real-time-multiplier", "0"),
        "--ros-args",
        *("--log-level", "warn"),
    )
    assert result.returncode == 1, result.stderr
    assert result.stderr.count("ends here: File too large") == 1
    assert "Traceback" not in result.stderr
    kept = recorded(tmp_path / "full.mcap")
    assert kept.trouble == "its end is missing"
    assert len(kept.topics[TRUTH].messages) > 100


def test_unwritable_path_is_rejected_in_one_line(
    command_line: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    result = command_line("-m", "rosflight_py_sim", "sim", "--record", "/proc/run.mcap", "--duration", "1")
    assert result.returncode == 1
    assert result.stderr.startswith("rosflight_py_sim: parameter 'record.file': cannot write '/proc/run.mcap': ")
    assert len(result.stderr.splitlines()) == 1


def test_report_from_recording_prints_the_same_table_as_the_flight(
    command_line: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    result = command_line("-m", "rosflight_py_sim", "fly", "--record", "flight.mcap", *small_square(), *SLOW_SENSORS)
    assert result.returncode == 0, result.stderr
    report = judged_again(command_line, "flight.mcap", result)
    assert "multirotor: mission autopilot" in report.stdout
    rows = re.findall(r"│ (\w.*?) +│", report.stdout)
    page = (tmp_path / "flight.html").read_text()
    assert "landing" in rows and all(f"<th>{name}</th>" in page for name in rows)
