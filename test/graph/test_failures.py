"""Failures in the running graph: each is visible where a pilot would see it, and the safeguards act."""

from __future__ import annotations

import math
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from free_ports import free_ports
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from rosflight_msgs.msg import Command
from sensor_msgs.msg import Image
from std_msgs.msg import UInt32

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.commands.report_page import kept_of, report_page
from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.firmware import ErrorFlag
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_QOS
from rosflight_py_sim.missions.recorded_mission import recorded_missions
from rosflight_py_sim.physics.atmosphere import pressure_altitude
from rosflight_py_sim.protocols.ardupilot_json import ServoFrame, decode_reply, encode_frame
from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.step.qos import LATCHED, LATCHED_QUEUE
from rosflight_py_sim.step.topics import (
    ACTIVE_FAILURES,
    BARO,
    BATTERY,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU,
    IMU_TEMPERATURE,
    MAG,
    RANGE,
    RC,
    TRUTH_BATTERY,
    TRUTH_WIND,
)
from rosflight_py_sim.transmitter.channels import THROTTLE
from rosflight_py_sim.vehicles import vehicle

Make = Callable[..., Any]


def failing(*failures: str) -> tuple[str, str]:
    """ROS arguments with these failures."""
    return "-p", f"failures:={list(failures)}"


@pytest.fixture
def running(undisturbed_graph: Make) -> Iterator[Any]:
    """A vehicle on the ground, at full speed; the test's failures end with it."""
    g = undisturbed_graph().ready()
    yield g
    for node in ("sensors", "dynamics", "forces_and_moments"):
        g.set_parameter(node, FAILURES.name, [])


def fail(g: Any, node: str, *failures: str) -> float:
    """Give a node failures that begin at {begin}, in half a second; return that time."""
    begin_s = round(g.time_s + 0.5, 1)
    g.set_parameter(node, FAILURES.name, [one.format(begin=begin_s) for one in failures])
    return begin_s


def seconds(messages: list[Any]) -> list[float]:
    return [time_ns_of(message.header.stamp) * 1e-9 for message in messages]


def split(messages: list[Any], seconds: float) -> tuple[list[Any], list[Any]]:
    """Messages before a time, and messages from that time on."""
    before = [one for one in messages if time_ns_of(one.header.stamp) * 1e-9 < seconds - 1e-9]
    return before, messages[len(before) :]


def test_sensors_that_are_off_are_silent_for_their_time(running: Any) -> None:
    topics = {"thermometer": IMU_TEMPERATURE, "mag": MAG, "baro": BARO, "gnss": GNSS_FIX}
    topics |= {"range": RANGE, "airspeed": DIFF_PRESSURE, "battery": BATTERY}
    received = {name: running.collect_messages(topic) for name, topic in topics.items()}
    imu = running.collect_messages(IMU)
    begin_s = fail(running, "sensors", *(f"{name} off at {{begin}} for 0.5" for name in (*topics, "gyro", "accel")))
    end_s = begin_s + 0.5
    running.spin_until(lambda: running.time_s > end_s + 0.5)
    for name, messages in received.items():
        stamps = [round(stamp, 6) for stamp in seconds(messages)]
        assert not [stamp for stamp in stamps if begin_s <= stamp < end_s], name
        assert [stamp for stamp in stamps if stamp < begin_s], name
        assert [stamp for stamp in stamps if stamp >= end_s], name
    for message in imu:
        is_off = begin_s <= round(time_ns_of(message.header.stamp) * 1e-9, 6) < end_s
        assert (message.linear_acceleration.z == 0.0) is is_off
        assert (message.angular_velocity.x == 0.0) is is_off


def test_offsets_are_in_the_unit_of_the_sensor_and_dependent_numbers_follow(running: Any) -> None:
    g = running
    received = {topic.name: g.collect_messages(topic) for topic in (MAG, BARO, GNSS_FIX, DIFF_PRESSURE, BATTERY, IMU)}
    offsets = ("mag wrong by 1e-4 0 -1e-4", "baro wrong by 1000", "gnss wrong by 100 -50 20", "airspeed wrong by 100")
    offsets = (*offsets, "battery wrong by -3", "gyro wrong by 0 0.5 0")
    begin_s = fail(g, "sensors", *(f"{one} at {{begin}}" for one in offsets))
    g.spin_until(lambda: g.time_s > begin_s + 0.5)

    def change(topic: Any, number: Callable[[Any], float]) -> float:
        before, after = split(received[topic.name], begin_s)
        return sum(map(number, after)) / len(after) - sum(map(number, before)) / len(before)

    # Tolerances: several standard errors of the means of the sensors' noise.
    assert change(MAG, lambda m: m.magnetic_field.x) == pytest.approx(1e-4, rel=0.05)
    assert change(MAG, lambda m: m.magnetic_field.z) == pytest.approx(-1e-4, rel=0.05)
    assert change(BARO, lambda m: m.pressure) == pytest.approx(1000.0, abs=10.0)
    assert change(GNSS_FIX, lambda m: math.radians(m.lat) * 6378137.0) == pytest.approx(100.0, abs=2.0)
    assert change(GNSS_FIX, lambda m: m.alt) == pytest.approx(-20.0, abs=2.0)
    assert change(DIFF_PRESSURE, lambda m: m.differential_pressure) == pytest.approx(100.0, abs=2.0)
    assert change(BATTERY, lambda m: m.voltage) == pytest.approx(-3.0, abs=0.6)
    assert change(IMU, lambda m: m.angular_velocity.y) == pytest.approx(0.5, abs=0.01)
    newest = received[BARO.name][-1]
    assert newest.altitude == pytest.approx(pressure_altitude(newest.pressure), abs=0.01)
    # sqrt(2 q / rho) at 1387 m, where rho is 1.07 kg/m^3.
    speeds = [message.velocity for message in split(received[DIFF_PRESSURE.name], begin_s)[1]]
    assert sum(speeds) / len(speeds) == pytest.approx(math.sqrt(2.0 * 100.0 / 1.07), rel=0.02)


def test_jammed_gnss_has_no_fix_and_holds_its_position(running: Any) -> None:
    fixes = running.collect_messages(GNSS_FIX)
    begin_s = fail(running, "sensors", "gnss jammed at {begin} for 0.5")
    running.spin_until(lambda: running.time_s > begin_s + 1.0)
    jammed = [fix for fix in fixes if begin_s <= round(time_ns_of(fix.header.stamp) * 1e-9, 6) < begin_s + 0.5]
    assert len(jammed) > 1
    assert {(fix.fix_type, fix.num_sat) for fix in jammed} == {(0, 0)}
    assert len({(fix.lat, fix.lon, fix.alt) for fix in jammed}) == 1
    assert fixes[-1].fix_type == 3


def test_cell_lowers_the_voltage_and_a_front_changes_the_wind(running: Any) -> None:
    batteries, winds = running.collect_messages(TRUTH_BATTERY), running.collect_messages(TRUTH_WIND)
    running.spin_until(lambda: winds and batteries)
    begin_s = fail(running, "forces_and_moments", "cell off at {begin}")
    fail(running, "dynamics", "wind front 6 0 -1 at {begin}")
    running.spin_until(lambda: running.time_s > begin_s + 3.0)
    before, after = split(batteries, begin_s)
    # One of six cells fails, at rest.
    assert after[-1].voltage == pytest.approx(before[-1].voltage * 5.0 / 6.0, rel=1e-6)
    assert winds[0].vector.x == 0.0
    assert (winds[-1].vector.x, winds[-1].vector.z) == (6.0, -1.0)


def entries(messages: list[DiagnosticArray]) -> dict[str, DiagnosticStatus]:
    return {status.name: status for message in messages for status in message.status}


def test_failure_injected_at_run_time_is_seen_on_diagnostics_and_on_a_topic(running: Any) -> None:
    g = running
    # Slowly, because reports come once per second of system time.
    g.set_parameter(g.time_manager, "real_time_multiplier", 0.5)
    shown = g.collect_messages("/diagnostics", DiagnosticArray, DIAGNOSTICS_QOS)
    published = g.collect_messages(ACTIVE_FAILURES, qos=LATCHED_QUEUE)
    g.set_parameter("sensors", FAILURES.name, ["gnss jammed", "mag off"])
    g.spin_until(lambda: "sensors: failures" in entries(shown), "the entry on /diagnostics")
    entry = entries(shown)["sensors: failures"]
    assert (entry.level[0], entry.message) == (1, "gnss jammed, mag off")
    assert [(value.key, value.value) for value in entry.values] == [("1", "gnss jammed"), ("2", "mag off")]
    g.set_parameter("sensors", FAILURES.name, [])
    g.spin_until(lambda: published and published[-1].data == "sensors: none", "the end on the topic")
    assert published[-2].data == "sensors: gnss jammed, mag off"
    shown.clear()
    g.spin_until(lambda: "sensors: topics" in entries(shown), "the next report")
    g.spin_until(lambda: len([one for one in shown if "sensors" in entries([one])]) > 2, "further reports")
    assert "sensors: failures" not in entries(shown[-3:])
    g.set_parameter(g.time_manager, "real_time_multiplier", 0.0)


def test_failures_that_the_vehicle_cannot_have_are_refused_by_name(running: Any) -> None:
    def reason(node: str, *failures: str) -> str:
        change = Parameter(FAILURES.name, value=list(failures)).to_parameter_msg()
        return str(g.call(f"{node}/set_parameters", SetParameters, parameters=[change]).results[0].reason)

    g = running
    allowed = "allowed for this vehicle: motor 1 to 4"
    assert reason("forces_and_moments", "motor 5 off") == f"failure 'motor 5 off': motor 5 given; {allowed}"
    assert reason("forces_and_moments", "servo 1 off") == f"failure 'servo 1 off': servo 1 given; {allowed}"
    assert reason("rc", "motr 1 off").startswith("failure 'motr 1 off': motr given; allowed: motor, servo, ")
    assert g.node("rc").values[FAILURES.name] == []


def test_cameras_are_off_or_repeat_their_image(graph: Make) -> None:
    g = graph(
        *("-p", "image_width:=64", "-p", "image_height:=48", "-p", "world:=pool", "-p", "step_size:=0.01"),
        *failing("camera off at 0.5 for 0.3", "camera stuck at 1 for 0.6"),
        vehicles=[Member(vehicle("multirotor").carrying("camera", True))],
        multiplier=1.0,
    )
    images = g.collect_messages("camera/front/image_raw", Image, qos_profile_sensor_data)
    g.ready()
    g.spin_until(lambda: g.time_s > 1.1)
    elsewhere = g.truth
    elsewhere.pose.orientation.w, elsewhere.pose.orientation.z = math.sqrt(0.5), math.sqrt(0.5)
    g.set_state(elsewhere)
    assert g.time_s < 1.5
    g.spin_until(lambda: g.time_s > 1.8)
    stamps = seconds(images)
    assert [stamp for stamp in stamps if stamp < 0.5]
    assert not [stamp for stamp in stamps if 0.5 <= stamp < 0.8]
    before, after = split(images, 1.6)
    assert len({bytes(one.data) for one in split(before, 0.85)[1]}) == 1
    assert bytes(after[-1].data) != bytes(before[-1].data)


def test_lost_transmitter_triggers_rosflights_failsafe_until_it_returns(graph: Make) -> None:
    g = graph(*failing("rc lost at 1 for 0.5", "rc off at 2 for 0.5", "rc late 0.3 at 3 for 0.5"))
    frames = g.collect_messages(RC)
    g.arm(calibrate=False)
    assert g.time_s < 1.0
    for begin_s in (1.0, 2.0, 3.0):
        g.spin_until(lambda: g.status.failsafe, "failsafe")
        # A lost signal is detected at once, missing frames after 100 ms. The status is published at 10 Hz.
        assert 0.0 <= g.time_s - begin_s <= 0.25
        assert g.status.error_code & ErrorFlag.RC_LOST
        g.spin_until(lambda: not g.status.failsafe, "the end of failsafe")
    assert g.status.armed
    assert {frame.values[THROTTLE] for frame in frames if 1.0 <= time_ns_of(frame.header.stamp) * 1e-9 < 1.5} == {700}
    assert not [stamp for stamp in seconds(frames) if 2.0 <= stamp < 2.5]


def test_lost_companion_leaves_the_vehicle_to_the_transmitter(graph: Make) -> None:
    g = graph(*failing("command lost at 1 for 1"), executables=["autopilot"])
    g.arm(calibrate=False)
    assert g.call("toggle_override").success
    g.spin_until(lambda: g.status.offboard and not g.status.rc_override, "the companion computer in command")
    assert g.time_s < 1.0
    g.spin_until(lambda: not g.status.offboard, "the transmitter in command")
    timeout_s = g.firmware("OFFBOARD_TIMEOUT") * 1e-3
    assert 1.0 + timeout_s - 0.02 <= time_ns_of(g.status.header.stamp) * 1e-9 <= 1.0 + timeout_s + 0.15
    g.spin_until(lambda: g.status.offboard, "the companion computer in command again")
    assert 2.0 <= g.time_s <= 2.25


def test_late_companion_is_obeyed_later(graph: Make) -> None:
    g = graph(*failing("command late 0.05"))
    g.arm(calibrate=False)
    assert g.call("toggle_override").success
    publisher = g.tester.create_publisher(Command, "command", 1)

    def send() -> None:
        publisher.publish(Command(mode=Command.MODE_ROLL_PITCH_YAWRATE_THROTTLE))

    g.tester.create_timer(0.01, send)
    g.spin_until(lambda: g.status.offboard, "the companion computer in command")


def test_injected_failure_leaves_other_random_numbers_as_they_are(graph: Make) -> None:
    def pressures(*given: str, inject: bool) -> dict[int, float]:
        g = graph(*given)
        received = g.collect_messages(BARO)
        g.ready()
        if inject:
            g.set_parameter("sensors", FAILURES.name, ["mag noisy 1e-5"])
        g.spin_until(lambda: g.time_s > 0.5)
        values = {time_ns_of(m.header.stamp): m.pressure for m in received if time_ns_of(m.header.stamp) < 0.5e9}
        g.close()
        return values

    plain = pressures(inject=False)
    assert pressures(inject=True) == plain
    assert pressures(*failing("mag noisy 1e-5", "gyro drift 1"), inject=False) == plain


def test_unknown_failure_is_refused_at_the_start(graph: Make) -> None:
    with pytest.raises(ParameterError, match="failure 'gnss jamed': jamed given; allowed: off, stuck, "):
        graph(*failing("gnss jamed"))


@pytest.mark.parametrize(
    ("kind", "dynamics", "failure", "reason"),
    [
        ("auv", "standalone", "servo 5 off", "servo 5 given; allowed for this vehicle: motor or servo 1 to 4"),
        ("fixedwing", "jsbsim", "cell off", "this vehicle's model has no battery; allowed: motor, servo"),
    ],
)
def test_part_that_a_vehicle_does_not_have_is_refused_at_the_start(
    graph: Make, kind: str, dynamics: str, failure: str, reason: str
) -> None:
    with pytest.raises(ParameterError, match=f"failure '{failure}': {reason}"):
        graph(*failing(failure), vehicle_name=kind, dynamics=dynamics)


def test_recording_shows_the_failures(graph: Make, tmp_path: Path) -> None:
    file = tmp_path / "flight.mcap"
    g = graph(*failing("motor 3 off at 0.5 for 0.25"), record=str(file))
    g.ready()
    g.spin_until(lambda: g.time_s > 1.0)
    g.close()
    with file.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        decoded = list(reader.iter_decoded_messages(topics=[f"/{ACTIVE_FAILURES.name}"]))
    shown = [(one.message.log_time * 1e-9, one.decoded_message.data) for one in decoded]
    assert [data for _, data in shown] == [
        "forces_and_moments: motor 3 off at 0.5 for 0.25",
        "forces_and_moments: none",
    ]
    assert [time for time, _ in shown] == pytest.approx([0.5, 0.75], abs=0.01)
    recorded = read_recording(file, kept_of)
    page = report_page(recorded, recorded_missions(recorded))
    row = page[page.index("<h3>Failures</h3>") : page.index("motor 3 off at 0.5 for 0.25</td>")]
    begin, end, node = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert [float(begin), float(end)] == pytest.approx([0.5, 0.75], abs=0.015)
    assert node == "forces_and_moments"


def test_ardupilot_measures_the_failed_sensors_and_sees_the_lost_transmitter(graph: Make) -> None:
    (port,) = free_ports()
    settings = ("ardupilot.imu:=sensors", "ardupilot.rc:=true", f"ardupilot.port:={port}")
    g = graph(
        *(word for one in settings for word in ("-p", one)),
        *failing("gyro wrong by 0 0 1 at 0.5", "rc lost at 0.5", "range stuck at 0.2", "battery wrong by -5 at 0.5"),
        flight_controller="ardupilot",
    )
    replies = []
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as own:
        own.setblocking(False)

        def come() -> bool:
            try:
                replies.append(decode_reply(own.recv(4096)))
            except BlockingIOError:
                return False
            return True

        for number in range(1, 141):
            own.sendto(encode_frame(ServoFrame(200, number, (0,) * 16)), ("127.0.0.1", port))
            g.spin_until(come, f"an answer to frame {number}")
    before = next(reply for reply in replies if reply.timestamp > 0.4)
    after = replies[-1]
    assert after.timestamp > 0.65
    # The gyroscope's noise is far below 0.1 rad/s at rest.
    assert after.gyro[2] - before.gyro[2] == pytest.approx(1.0, abs=0.1)
    assert (before.rc_us[THROTTLE], after.rc_us[THROTTLE]) == (1000, 700)
    assert after.ranges == before.ranges
    assert after.battery.voltage < before.battery.voltage - 2.0


def test_uthere_cage_triggers_on_lost_transmitter_and_lost_navigation(graph: Make) -> None:
    port_in, port_out = free_ports(2)
    g = graph(
        *("-p", f"uthere.udp_port_in:={port_in}", "-p", f"uthere.udp_port_out:={port_out}"),
        *("-p", "uthere.cage_handheld_lost_comm:=true", "-p", "uthere.nav_lost_timeout:=2.0"),
        *failing("gnss jammed at 1 for 3", "rc lost at 5 for 1"),
        vehicle_name="anaconda",
        flight_controller="uthere",
    )
    shown = g.collect_messages("guided/cage_triggered", UInt32, LATCHED)
    g.arm(calibrate=False)

    def triggered(bit: CageBit) -> bool:
        return bool(shown) and bool(shown[-1].data >> bit & 1)

    g.spin_until(lambda: shown and not triggered(CageBit.GPS_BAD), "the first fix")
    assert g.time_s < 1.0
    g.spin_until(lambda: triggered(CageBit.GPS_BAD), "GPS bad")
    assert 1.0 <= g.time_s <= 1.6
    g.spin_until(lambda: triggered(CageBit.NAV_LOST), "navigation lost")
    assert 2.9 <= g.time_s <= 3.6
    g.spin_until(lambda: not triggered(CageBit.NAV_LOST), "navigation again")
    g.spin_until(lambda: triggered(CageBit.HANDHELD_LOST_COMM), "the transmitter lost")
    assert 5.0 <= g.time_s <= 5.3
    g.spin_until(lambda: not triggered(CageBit.HANDHELD_LOST_COMM), "the transmitter again")
