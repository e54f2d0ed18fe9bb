"""Unchanged programs of the AUV protocol's users control the simulated vehicles."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zmq
from diagnostic_msgs.msg import DiagnosticArray
from free_ports import free_ports
from rosflight_msgs.msg import PwmOutput, SimState
from sensor_msgs.msg import Image
from transforms3d.euler import quat2euler
from transforms3d.quaternions import quat2mat

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Renderer, cameras
from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.ground.stamps import time_ns_of
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_QOS
from rosflight_py_sim.protocols.auv_zeromq import ThrusterCommand, decode_telemetry, encode_thrusters
from rosflight_py_sim.step.camera_topics import pose_topic
from rosflight_py_sim.step.topics import PWM_OUTPUT, TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import truth_of_message
from rosflight_py_sim.vehicles import CAMERA, Vehicle, vehicle
from rosflight_py_sim.world import load_world

_PROJECT = Path(__file__).parents[2]
CENTRED = [1500] * 14
PAGES = {
    "the page": _PROJECT / "test/data/auv_samples.md",
    "this project's page": _PROJECT / "docs/auv_zeromq.md",
}

# Runs a sample unchanged and prints some of its variables. It closes the socket and context, because a sample that
# ends at once could lose the messages that it has sent.
RUN_AND_PRINT = """
import json, runpy, sys
names = runpy.run_path(sys.argv[1])
socket, context = (names.get(name) or names.get(name[:3].replace("con", "ctx")) for name in ("socket", "context"))
socket.close()
context.term()
arrays = {name: value for name, value in names.items() if type(value).__name__ == "ndarray"}
pictures = {name: [*value.shape, float(value.std())] for name, value in arrays.items()}
print(json.dumps({name: value for name, value in names.items() if isinstance(value, (int, float))} | pictures))
"""


def sample(page: Path, port: int) -> str:
    """The sample on a page that uses a port."""
    found = [
        text for text in re.findall(r"```(?:python)?\n(.*?)```", page.read_text("utf-8"), re.S) if f":{port}" in text
    ]
    assert len(found) == 1
    return found[0]


@pytest.fixture
def auv(graph: Callable[..., Any], auv_ports: None, request: pytest.FixtureRequest) -> Any:
    """The graph of one AUV on the protocol's own ports, in real time; with cameras if the test requests them."""
    cameras = getattr(request, "param", "no cameras") == "cameras"
    member = Member(vehicle("auv").carrying(CAMERA, cameras))
    # A quarter of the usual number of steps.
    made = graph("-p", "real_time_multiplier:=1.0", "-p", "step_size:=0.01", "-p", "world:=pool", vehicles=[member])
    made.spin_until(lambda: made.time_s > 0.1, "advancing time")
    return made


@pytest.fixture
def run(auv: Any, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """A function that runs a sample in a separate process while the graph runs, and returns its numeric variables."""

    def run_it(text: str) -> dict[str, Any]:
        file = tmp_path / "sample.py"
        file.write_text(text, "utf-8")
        arguments = [sys.executable, "-c", RUN_AND_PRINT, str(file)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                auv.spin_until(lambda: process.poll() is not None, "the end of the sample")
            finally:
                process.kill()
            out, errors = process.communicate()
        assert process.returncode == 0, errors
        return dict(json.loads(out.splitlines()[-1]))

    return run_it


def put(graph: Any, north: float, east: float, down: float, yaw_deg: float) -> None:
    """Set the vehicle's position and heading, level and at rest."""
    state = SimState()
    state.pose.position.x, state.pose.position.y, state.pose.position.z = north, east, down
    state.pose.orientation.w = math.cos(math.radians(yaw_deg) / 2)
    state.pose.orientation.z = math.sin(math.radians(yaw_deg) / 2)
    graph.set_state(state)


def blind(name: str) -> Vehicle:
    """A vehicle without its cameras, which are slow."""
    return vehicle(name).carrying(CAMERA, False)


def port_arguments(ports: dict[str, int]) -> list[str]:
    return [word for name, port in ports.items() for word in ("-p", f"auv_zeromq.{name}_port:={port}")]


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_telemetry_sample_reports_vehicle_position(auv: Any, run: Callable[..., dict[str, Any]], page: Path) -> None:
    put(auv, 1.0, -2.0, 1.5, 90.0)
    reported = run(sample(page, 5557))
    assert (reported["x"], reported["y"], reported["yaw"]) == pytest.approx((-2.0, 1.0, 90.0), abs=0.1)
    # It rises at a few centimetres a second.
    assert reported["z"] == pytest.approx(-1.5, abs=0.7)
    assert auv.truth.pose.position.z <= -reported["z"] + 1e-3


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_thruster_sample_turns_vehicle_clockwise(auv: Any, run: Callable[..., dict[str, Any]], page: Path) -> None:
    pwm: list[PwmOutput] = auv.collect_messages(PWM_OUTPUT)
    run(sample(page, 5556))
    auv.spin_until(lambda: pwm and list(pwm[-1].values[:4]) == [1875, 1250, 1500, 1500], "75, -50, 0 and what it was")
    auv.spin_until(lambda: auv.truth.twist.angular.z > 0.2, "a turn to the right")


@pytest.mark.parametrize("auv", ["cameras"], indirect=True)
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_image_sample_shows_both_camera_views(auv: Any, run: Callable[..., dict[str, Any]], page: Path) -> None:
    put(auv, 0.0, 0.0, 1.0, 0.0)
    reported = run(sample(page, 5555))
    pictures = [reported[name] for name in ("img_front", "img_bottom", "front", "bottom") if name in reported]
    assert [picture[:3] for picture in pictures] == [[240, 320, 3]] * 2
    # A pool has walls and a floor with objects: no picture is of a single colour.
    assert min(picture[3] for picture in pictures) > 5.0


@pytest.fixture
def naus(auv: Any) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """A function that starts a program with `auv`, naus's client of AUV 0, in a separate process."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        started.append(subprocess.Popen([sys.executable, *arguments], stdout=pipe, stderr=pipe, stdin=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_naus_drives_only_the_named_thrusters(auv: Any, naus: Callable[..., Any]) -> None:
    pwm: list[PwmOutput] = auv.collect_messages(PWM_OUTPUT)
    program = naus(
        "-c",
        "import naus\nauv = naus.AUV(0)\nauv.set_motor_powers(left=20, right=-40, side=60, vertical=-100)\n"
        "input()\nauv.set_motor_powers(side=-10)\ninput()",
    )

    def outputs() -> list[int]:
        return list(pwm[-1].values[:4]) if pwm else []

    auv.spin_until(lambda: outputs() == [1600, 1300, 1800, 1000], "the powers of the first call")
    program.stdin.write("\n")
    program.stdin.flush()
    auv.spin_until(lambda: outputs() == [1600, 1300, 1450, 1000], "the power of the second call")


def test_naus_reads_telemetry(auv: Any, naus: Callable[..., Any]) -> None:
    put(auv, 2.0, -1.0, 1.0, -90.0)
    program = naus(
        "-c", "import naus, sys\nt = naus.AUV(0).get_telemetry()\nprint(t.x, t.y, t.z, t.yaw, t.pitch, t.roll)"
    )
    auv.spin_until(lambda: program.poll() is not None, "the end of the program")
    x, y, z, yaw, pitch, roll = map(float, program.stdout.read().split())
    assert (x, y, yaw) == pytest.approx((-1.0, 2.0, -90.0), abs=0.1)
    assert z == pytest.approx(-1.0, abs=0.5)
    assert (pitch, roll) == pytest.approx((0.0, 0.0), abs=2.0)


@pytest.mark.parametrize("auv", ["cameras"], indirect=True)
def test_naus_receives_images(auv: Any, naus: Callable[..., Any]) -> None:
    put(auv, 0.0, 0.0, 1.0, 0.0)
    program = naus(
        "-c", "import naus\nf, b = naus.AUV(0).get_images()\nprint(*f.shape, *b.shape, (f != b).mean() > 0.5)"
    )
    auv.spin_until(lambda: program.poll() is not None, "the end of the program")
    assert program.stdout.read().split() == ["240", "320", "3"] * 2 + ["True"], program.stderr.read()


def test_naus_holds_depth_and_heading(auv: Any, naus: Callable[..., Any]) -> None:
    speed = 3.0
    put(auv, 0.0, 0.0, 1.0, 60.0)
    auv.set_parameter(auv.time_manager, "real_time_multiplier", speed)
    program = naus(str(Path(__file__).with_name("auv_pilot.py")), "1.5", "120", str(speed))

    def errors() -> tuple[float, float]:
        """Errors of depth (m) and heading (deg)."""
        q = auv.truth.pose.orientation
        yaw = math.degrees(quat2euler((q.w, q.x, q.y, q.z))[2])
        return abs(auv.truth.pose.position.z - 1.5), abs((yaw - 120.0 + 180.0) % 360.0 - 180.0)

    def near() -> bool:
        assert program.poll() is None, program.stderr.read()
        depth, heading = errors()
        return depth < 0.1 and heading < 5.0

    auv.spin_until(near, "1.5 m of depth and a heading of 120 deg")
    # Let the momentum of the approach decay, then watch for five seconds.
    auv.spin_for(5.0)
    worst = [0.0, 0.0]

    def watched() -> bool:
        worst[:] = map(max, worst, errors())
        return bool(auv.time_s >= end)

    end = auv.time_s + 5.0
    auv.spin_until(watched, "five seconds of holding")
    # The error of the estimated buoyancy, and the dead zone of the thrusters.
    assert worst[0] < 0.1
    assert worst[1] < 5.0


def test_two_auvs_share_sockets_by_id(graph: Callable[..., Any]) -> None:
    ports = dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))
    pair = graph(*port_arguments(ports), vehicles=fleet(blind("auv"), count=2, spacing=3.0, seed=0))
    received: dict[int, list[PwmOutput]] = {i: pair.collect_messages(PWM_OUTPUT, at=f"/auv_{i + 1}") for i in range(2)}
    with zmq.Context() as context, context.socket(zmq.PUSH) as pusher, context.socket(zmq.SUB) as subscriber:
        pusher.linger = subscriber.linger = 0
        pusher.connect(f"tcp://127.0.0.1:{ports['thruster']}")
        subscriber.subscribe(b"")
        subscriber.connect(f"tcp://127.0.0.1:{ports['telemetry']}")
        pusher.send(encode_thrusters(ThrusterCommand(1, 10, 20, 30, 40)))
        pusher.send(encode_thrusters(ThrusterCommand(0, -50, -50, 0, 0)))
        moved = [[1250, 1250, 1500, 1500], [1550, 1600, 1650, 1700]]
        pair.spin_until(
            lambda: all(received[i] and list(received[i][-1].values[:4]) == moved[i] for i in range(2)), "both commands"
        )
        east: dict[int, float] = {}

        def reported() -> bool:
            while subscriber.poll(0):
                auv_id, where = decode_telemetry(subscriber.recv_multipart())
                east[auv_id] = where.x
            return len(east) == 2

        pair.spin_until(reported, "telemetry of both")
    assert sorted(east) == [0, 1]
    assert east[1] - east[0] == pytest.approx(3.0, abs=1.0)


def test_cameras_render_only_while_a_client_is_subscribed_to_images(graph: Callable[..., Any]) -> None:
    ports = dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))
    small = ("-p", "image_width:=160", "-p", "image_height:=120")
    pair = graph(*port_arguments(ports), *small, vehicles=fleet(vehicle("auv"), count=2, spacing=3.0, seed=0))

    def subscriptions() -> list[int]:
        topics = [f"/auv_{i}/camera/{camera}/image_raw/compressed" for i in (1, 2) for camera in ("front", "bottom")]
        return [pair.tester.count_subscribers(topic) for topic in topics]

    pair.spin_for(0.1)
    assert subscriptions() == [0, 0, 0, 0]
    with zmq.Context() as context:
        for auv_id, expected in ((1, [0, 0, 1, 1]), (0, [1, 1, 0, 0]), (1, [0, 0, 1, 1])):
            with context.socket(zmq.SUB) as client:
                client.linger = 0
                client.subscribe(bytes([auv_id]))
                client.connect(f"tcp://127.0.0.1:{ports['image']}")
                pair.spin_until(lambda client=client: client.poll(0), "an image message")
                assert subscriptions() == expected
                assert [len(part) > 1000 for part in client.recv_multipart()] == [False, True, True]
            pair.spin_until(lambda: subscriptions() == [0, 0, 0, 0], "cameras without subscriptions")


def test_output_turns_the_gimbals_camera(graph: Callable[..., Any]) -> None:
    ports = dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))
    gimbal = ("-p", "gimbal_outputs:=[-1, 4, -1]", "-p", "image_width:=64", "-p", "image_height:=48")
    outputs = ("-p", "auv_zeromq.outputs:=['', '', '', vertical, side]")
    made = graph(*port_arguments(ports), *outputs, *gimbal, vehicles=[Member(vehicle("auv"))])
    pictures = made.collect_messages("camera/front/image_raw", Image)
    poses = made.collect_messages(pose_topic("front"))
    states = made.collect_messages(TRUTH_STATE)
    put(made, 0.0, 0.0, 2.0, 0.0)
    with zmq.Context() as context, context.socket(zmq.PUSH) as pusher:
        pusher.linger = 0
        pusher.connect(f"tcp://127.0.0.1:{ports['thruster']}")
        # 1200 us in the range of 1100 to 1900 us is an eighth of the way from -90 to 20 degrees.
        pusher.send(encode_thrusters(ThrusterCommand(0, 0, 0, -60, 0)))
        pwm = made.collect_messages(PWM_OUTPUT)
        made.spin_until(lambda: pwm and pwm[-1].values[4] == 1200, "the gimbal's pulse")
        pictures.clear()
        made.spin_until(lambda: len(pictures) >= 3, "pictures")
    last = pictures[-1]
    stamp = time_ns_of(last.header.stamp)
    (state,) = (one for one in states if time_ns_of(one.header.stamp) == stamp)
    given = {"image_width": 64, "image_height": 48, "camera_angles": [0.0, -76.25, 0.0, 0.0, -90.0, 0.0]}
    renderer = Renderer(load_world("pool"), 64, 48)
    expected = renderer.render(cameras(CAMERA_PARAMETERS.checked(given))[0], truth_of_message(state))
    np.testing.assert_array_equal(np.array(last.data, dtype=np.uint8).reshape(48, 64, 3), expected)
    renderer.close()
    assert poses[-1].header.frame_id == "body"
    q = poses[-1].pose.orientation
    sight, steep = quat2mat((q.w, q.x, q.y, q.z))[:, 2], math.radians(76.25)
    np.testing.assert_allclose(sight, (math.cos(steep), 0.0, math.sin(steep)), atol=1e-12)


def test_image_clients_do_not_change_the_trajectory(graph: Callable[..., Any]) -> None:
    paths: list[dict[int, bytes]] = []
    for has_client in (False, True):
        ports = dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))
        small = ("-p", "image_width:=64", "-p", "image_height:=48", "-p", "step_size:=0.005")
        made = graph(*port_arguments(ports), *small, vehicles=[Member(vehicle("auv"))])
        path: dict[int, bytes] = {}
        made.tester.create_subscription(
            SimState,
            TRUTH_STATE.name,
            lambda state, path=path: path.update({time_ns_of(state.header.stamp): truth_of_message(state).tobytes()}),
            10_000,
        )
        with zmq.Context() as context, context.socket(zmq.SUB) as client:
            client.linger = 0
            client.subscribe(b"\0" if has_client else b"none")
            client.connect(f"tcp://127.0.0.1:{ports['image']}")
            made.spin_until(lambda client=client, none=not has_client: none or client.poll(0), "an image message")
            made.spin_until(lambda made=made: made.time_s > 1.2, "1.2 seconds")
        made.close()
        paths.append(path)
    times = [time_ns for time_ns in paths[0] if time_ns in paths[1]]
    assert len(times) > 150
    assert [paths[0][time_ns] for time_ns in times] == [paths[1][time_ns] for time_ns in times]


def test_invalid_messages_are_reported_in_diagnostics(graph: Callable[..., Any]) -> None:
    ports = dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))
    made = graph(*port_arguments(ports), vehicles=[Member(blind("auv"))], multiplier=1.0)
    received: list[DiagnosticArray] = made.collect_messages("/diagnostics", DiagnosticArray, DIAGNOSTICS_QOS)
    wanted = {"commands": "1", "multipart": "1", "out_of_range": "1", "unknown_id": "1", "wrong_length": "2"}

    def reported() -> bool:
        entries = (entry for message in received for status in message.status for entry in status.values)
        return wanted.items() <= {entry.key: entry.value for entry in entries}.items()

    with zmq.Context() as context, context.socket(zmq.PUSH) as pusher:
        pusher.linger = 0
        pusher.connect(f"tcp://127.0.0.1:{ports['thruster']}")
        for message in (b"", b"\0" * 6, b"\7\0\0\0\0", b"\0\x7f\0\0\0"):
            pusher.send(message)
        pusher.send_multipart([b"\0" * 5, b"\0" * 5])
        made.spin_until(reported, "the counters")


WAYS = {
    "ahead": ((60, 60, 0, 0), "linear", "x", 1),
    "astern": ((-60, -60, 0, 0), "linear", "x", -1),
    "to starboard": ((0, 0, 60, 0), "linear", "y", 1),
    "up": ((0, 0, 0, 60), "linear", "z", -1),
    "clockwise": ((60, -60, 0, 0), "angular", "z", 1),
}


@pytest.mark.parametrize("name", ["auv", "bluerov2"])
def test_each_thruster_power_moves_vehicle_along_its_axis(graph: Callable[..., Any], name: str) -> None:
    ports = dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))
    made = graph(*port_arguments(ports), "-p", "step_size:=0.01", vehicles=[Member(blind(name))])
    with zmq.Context() as context, context.socket(zmq.PUSH) as pusher:
        pusher.linger = 0
        pusher.connect(f"tcp://127.0.0.1:{ports['thruster']}")
        for powers, kind, axis, sign in WAYS.values():
            put(made, 0.0, 0.0, 2.0, 0.0)
            pusher.send(encode_thrusters(ThrusterCommand(0, *powers)))

            def speed(kind: str = kind, axis: str = axis, sign: int = sign) -> float:
                return float(sign * getattr(getattr(made.truth.twist, kind), axis))

            # A third of the slower vehicle's final speed.
            made.spin_until(lambda speed=speed: speed() > 0.1, f"{name} moves by the thruster powers {powers}")
            twist = made.truth.twist
            others = {"x": twist.linear.x, "y": twist.linear.y, "yaw": twist.angular.z}
            others.pop("yaw" if kind == "angular" else axis, None)
            assert all(abs(other) < 0.02 for other in others.values()), (powers, others)
            pusher.send(encode_thrusters(ThrusterCommand(0, 0, 0, 0, 0)))
            # Many times the thrusters' lag.
            made.spin_for(0.8)
