"""Steps of a composed graph by one chain of kernels: the flight, the messages and the counts of steps by messages."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from free_ports import free_ports
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from rosflight_msgs.srv import ParamSet, SetSimState
from std_srvs.srv import Trigger

from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.interfaces.message_definitions import message_class
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    ATTITUDE,
    BATTERY,
    COMMAND,
    FAULT,
    IMU,
    IMU_DATA,
    PWM_OUTPUT,
    STATUS,
    TRUTH_STATE,
    TRUTH_WIND,
    ControlCommand,
    StatusReport,
    topic_of,
)
from rosflight_py_sim.step.vehicle_state import VehicleState, message_of_truth
from rosflight_py_sim.vehicles import vehicle
from test.graph.ardupilot_client import ArduPilotClient

STEP_NS = 2_500_000
STATES = 1600

WIND = {"sim_has_wind": True, "use_random_wind": False, "turbulence_model": "dryden_8785c", "rotational_gusts": True}
CALIBRATED: dict[str, Any] = {
    "acc_bias_range": 0.0,
    "gyro_bias_range": 0.0,
    "firmware_parameters": ["FILT_INIT_T 0", "GYRO_X_BIAS 0.003", "GYRO_Y_BIAS -0.002", "GYRO_Z_BIAS 0.001"],
}

# Each part of the step fails: it answers by Python.
FAILURES = [
    "gyro wrong by 0.01 0 0 at 0.6 for 2",
    "baro off at 1 for 1",
    "motor 2 wrong by -30 at 1.2 for 1",
    "wind front 3 -2 0 at 1.5 for 1",
]

# Topics whose messages depend on system time.
_OF_SYSTEM_TIME = ("/diagnostics", "/rosout", "/parameter_events")


def state(down: float, roll_rate: float = 0.0) -> SetSimState.Request:
    truth = np.zeros(19)
    truth[[2, 3, 10]] = down, 1.0, roll_rate
    return SetSimState.Request(state=message_of_truth(truth))


def change(name: str, value: Any) -> SetParameters.Request:
    return SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])


# What happens, by time in seconds: services with their requests.
CALLS: dict[float, tuple[str, Any, Any]] = {
    0.5: ("toggle_arm", Trigger, Trigger.Request()),
    1.0: ("dynamics/set_sim_state", SetSimState, state(-20.0)),
    1.4: ("param_set", ParamSet, ParamSet.Request(name="PID_ROLL_ANG_P", value=3.0)),
    1.8: ("forces_and_moments/reset", Trigger, Trigger.Request()),
    2.0: ("calibrate_baro", Trigger, Trigger.Request()),
    2.2: ("dynamics/set_parameters", SetParameters, change("mass", 4.0)),
    2.4: ("sensors/set_parameters", SetParameters, change("gyro_stdev", 0.01)),
    2.6: ("forces_and_moments/set_parameters", SetParameters, change("failures", ["motor 1 lost at 2.8 for 0.3"])),
    3.4: ("reboot", Trigger, Trigger.Request()),
    3.6: ("dynamics/reset", Trigger, Trigger.Request()),
}


class Actor(SimulationNode):
    """Calls services and sends commands at given times of the simulation, and hashes the states."""

    DEFAULT_NAME = "actor"

    def __init__(self, calls: dict[float, tuple[str, Any, Any]], at: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.hash, self.count = hashlib.sha256(), 0
        self.answers: list[Any] = []
        self._due = {round(time_s * 1e9): call for time_s, call in calls.items()}
        names = {topic_of(at, name): kind for name, kind, _ in calls.values()}
        self._to = {name: self.create_client(kind, name) for name, kind in names.items()}
        self._at = at
        self._command = self.publisher(COMMAND, at)
        self.subscribe(TRUTH_STATE, self._on_truth, at)
        self.subscribe(STATUS, self._on_status, at)

    def _on_status(self, one: StatusReport) -> None:
        """Act within the step: the status is sent before the forces."""
        if self.count < STATES:
            self.hash.update(str(one).encode())
        if one.time_ns in (700_000_000, 1_500_000_000):
            self._command(ControlCommand(0, 2, 0, (0.0, 0.0, 0.6, 0.1, 0.0, 0.0, *[0.0] * 4)))
        if one.time_ns == 900_000_000:
            request = ParamSet.Request(name="PID_PITCH_ANG_P", value=2.5)
            self._to[topic_of(self._at, "param_set")].call_async(request)

    def _on_truth(self, one: VehicleState) -> None:
        time_ns = one.time_ns
        if self.count < STATES:
            self.hash.update(one.truth.tobytes())
        self.count += 1
        if time_ns > 600_000_000 and time_ns % 20_000_000 == 0:
            # Each tenth one has no stamp, as from a terminal, and takes effect at once.
            stamp_ns = 0 if time_ns % 200_000_000 == 0 else time_ns
            roll = 0.2 * math.sin(1e-9 * time_ns)
            self._command(ControlCommand(stamp_ns, 2, 0, (0.0, 0.0, 0.5, roll, 0.0, 0.1, *[0.0] * 4)))
        if time_ns in self._due:
            # A state that is set has the stamp of the one before.
            name, _, request = self._due.pop(time_ns)
            answer = self._to[topic_of(self._at, name)].call_async(request)
            answer.add_done_callback(lambda future: self.answers.append(future.result()))


def calls_of(dynamics: str = "", **options: Any) -> dict[float, tuple[str, Any, Any]]:
    """The calls, without those of nodes that the graph lacks."""
    return {at: one for at, one in CALLS.items() if dynamics != "jsbsim" or "forces_and_moments/set" not in one[0]}


def flown(graph: Callable[..., Any], *, compiles: bool, **options: Any) -> tuple[Any, list[Actor]]:
    """A graph at the end of a flight, and the actor of each vehicle."""
    g = graph(**options)
    g.hand_off.compiles = compiles
    g.remove(g.tester)
    actors = [g.join(Actor, calls_of(**options), member.namespace) for member in g.vehicles]
    g.spin(lambda: any(one.count <= STATES for one in actors))
    while len(g.hand_off.waiting):
        g.executor.spin_once(timeout_sec=0.01)
    return g, actors


def counts(g: Any) -> dict[str, int]:
    """Number of messages of each publisher of the vehicle, for diagnostics; a busy machine repeats /clock."""
    found: dict[str, int] = {}

    def note(node: Any, period: Period) -> list[Any]:
        flows = (*period.published, *period.received)
        found.update(
            {
                f"{node.get_name()} {flow.topic}": flow.total
                for flow in flows
                if flow.topic[:2] == "/s" and "repeated" not in flow.topic
            }
        )
        return []

    for node in g.nodes:
        if node.get_name() in ("sensors", "sil_board", "forces_and_moments", "dynamics"):
            node.diagnose = partial(note, node)
            node.report()
    return found


@pytest.mark.parametrize(
    "options",
    [
        {"settings": {**CALIBRATED, **WIND}},
        {"settings": {**CALIBRATED, "baro_latency": 0.011, "mag_update_frequency": 33.0}},
        {"settings": CALIBRATED, "vehicle_name": "aerosonde"},
        {"settings": CALIBRATED, "vehicles": fleet(vehicle("multirotor"), count=2, seed=3)},
        {"settings": {**CALIBRATED, "failures": FAILURES}},
        {"settings": {**CALIBRATED, "imu_latency": 0.0075, "sensor_stamps": "arrival"}},
        {"settings": CALIBRATED, "vehicle_name": "fixedwing", "dynamics": "jsbsim"},
        {"settings": CALIBRATED, "vehicles": [Member(vehicle("multirotor"), flight_controller="uthere")]},
    ],
    ids=["wind", "irregular sensors", "fixed wing", "two vehicles", "failures", "late IMU", "JSBSim", "observed"],
)
def test_compiled_steps_give_the_flight_of_steps_by_messages(graph: Callable[..., Any], options: Any) -> None:
    hashes, answers, numbers = [], [], []
    for compiles in (True, False):
        g, actors = flown(graph, compiles=compiles, **options)
        share = g.hand_off.compiled_steps / sum(one.count for one in actors)
        assert share > 0.2 if compiles else share == 0.0, share
        hashes.append([one.hash.hexdigest() for one in actors])
        answers.append([str(one.answers) for one in actors])
        numbers.append(counts(g))
        g.close()
        assert all(len(one.answers) == len(calls_of(**options)) for one in actors), answers[-1]
    assert hashes[0] == hashes[1]
    assert answers[0] == answers[1]
    assert numbers[0] == numbers[1]


def stamps_ns(messages: list[Any]) -> list[int]:
    return [one.header.stamp.sec * 1_000_000_000 + one.header.stamp.nanosec for one in messages]


def test_new_subscription_receives_each_message_from_the_next_step_on(graph: Callable[..., Any]) -> None:
    g = graph().ready()
    g.spin_until(lambda: g.hand_off.compiled_steps > 100, "compiled steps")
    began_ns = g.time_ns
    topics = (IMU, PWM_OUTPUT, TRUTH_STATE, ATTITUDE, IMU_DATA)
    received = [g.collect_messages(topic) for topic in topics]
    g.spin_for(0.2)
    before = g.hand_off.compiled_steps
    g.spin_for(0.2)
    assert g.hand_off.compiled_steps > before
    for topic, messages in zip(topics, received, strict=True):
        found = stamps_ns(messages)
        assert found == list(range(found[0], found[0] + STEP_NS * len(found), STEP_NS)), topic.name
        # The middleware may still have had to match the subscription.
        assert len(found) > 100 and found[0] >= began_ns


def test_late_subscription_receives_the_newest_latched_message(graph: Callable[..., Any]) -> None:
    g = graph().ready()
    g.spin_until(lambda: g.hand_off.compiled_steps > 100, "compiled steps")
    g.pause()
    g.idle(0.1)
    late = [g.collect_messages(topic, qos=LATCHED) for topic in (IMU, TRUTH_WIND, TRUTH_STATE)]
    g.spin_until(lambda: all(late), "the latched messages")
    g.idle(0.2)
    (imu,), (wind,), (truth,) = map(stamps_ns, late)
    assert imu == wind - STEP_NS == truth - STEP_NS == g.time_ns - STEP_NS


def test_polled_topics_have_the_numbers_of_the_last_step(graph: Callable[..., Any]) -> None:
    g = graph().ready()
    imu, wind, battery = (g.node("dynamics").poll(topic) for topic in (IMU, TRUTH_WIND, BATTERY))
    g.spin_until(lambda: g.hand_off.compiled_steps > 100, "compiled steps")
    g.pause()
    g.idle(0.1)
    sample, air, power = imu.take(), wind.take(), battery.take()
    assert sample.time_ns == air.time_ns - STEP_NS == g.time_ns - STEP_NS
    assert sample.accel == pytest.approx((0.0, 0.0, -9.8), abs=1.0)
    assert 0 <= g.time_ns - power.time_ns < 1_000_000_000
    assert imu.take() is None and wind.take() is None
    g.step()
    assert imu.take().time_ns == sample.time_ns + STEP_NS


def test_divergence_in_a_compiled_step_pauses_and_a_valid_state_resumes(graph: Callable[..., Any]) -> None:
    beyond = state(-20.0)
    beyond.state.pose.position.x, beyond.state.twist.linear.x = 1e8 - 150.0, 1000.0
    g = graph().ready()
    g.spin_for(0.5)
    faults = g.collect_messages(FAULT, qos=LATCHED)
    g.set_state(beyond.state)
    before, began_ns = g.hand_off.compiled_steps, g.time_ns
    g.spin_until(lambda: faults and faults[-1].data and g.node("time_manager").paused, "a pause")
    g.idle(0.1)
    assert g.hand_off.compiled_steps - before > (g.time_ns - began_ns) // STEP_NS // 2
    assert faults[-1].data.startswith("position has diverged")
    assert f" at {(g.time_ns + STEP_NS) * 1e-9:.6g} s" in faults[-1].data
    kept, time_ns = g.truth, g.time_ns
    assert 1e8 - 10.0 < kept.pose.position.x <= 1e8
    g.idle(0.3)
    assert (g.truth, g.time_ns) == (kept, time_ns)
    g.set_state(state(-20.0).state)
    g.spin_until(lambda: not faults[-1].data, "the end of the fault")
    assert g.call("time_manager/toggle_pause").message.startswith("running")
    before = g.hand_off.compiled_steps
    g.spin_for(0.5)
    assert g.hand_off.compiled_steps - before > 100
    assert g.truth.pose.position.z == pytest.approx(-20.0 + 0.5 * 9.8 * 0.5**2, abs=0.2)


def test_recordings_of_compiled_steps_and_of_messages_are_the_same(graph: Callable[..., Any], tmp_path: Path) -> None:
    recorded = []
    for compiles in (True, False):
        file = tmp_path / f"{compiles}.mcap"
        g, _ = flown(graph, compiles=compiles, settings={**CALIBRATED, **WIND}, record=str(file))
        assert (g.hand_off.compiled_steps > 500) is compiles
        g.close()
        recording = read_recording(file, lambda topic, type_name: 10**6)
        recorded.append(
            {
                # Decoded, because the bytes between the fields may have any value.
                name: [str(deserialize_message(data, message_class(one.type_name))) for data in one.messages]
                for name, one in recording.topics.items()
                if name not in _OF_SYSTEM_TIME
            }
        )
    of_compiled, of_messages = recorded
    assert of_compiled.keys() == of_messages.keys() > {"/sim/sensors/imu/data", "/sim/truth_imu_bias", "/attitude"}
    for name, messages in of_messages.items():
        assert of_compiled[name] == messages, name


@pytest.mark.parametrize("name", ["multirotor", "aerosonde", "bluerov2"])
def test_recordings_without_other_receivers_are_the_same(graph: Callable[..., Any], tmp_path: Path, name: str) -> None:
    recorded = []
    for compiles in (True, False):
        file = tmp_path / f"{compiles}.mcap"
        g = graph(vehicle_name=name, settings=WIND, record=str(file))
        g.hand_off.compiles = compiles
        g.remove(g.tester)
        g.spin_for(STATES * STEP_NS * 1e-9)
        assert (g.hand_off.compiled_steps > STATES / 2) is compiles
        g.close()
        topics = read_recording(file, lambda topic, type_name: 10**6).topics
        recorded.append({one: topics[one] for one in topics if one not in _OF_SYSTEM_TIME})
    of_compiled, of_messages = recorded
    assert of_compiled.keys() == of_messages.keys() > {"/sim/truth_state", "/sim/truth_wind", "/sim/pwm_output"}
    for topic, one in of_messages.items():
        # The runs end in different steps.
        count = min(len(one.messages), len(of_compiled[topic].messages))
        kind = message_class(one.type_name)
        texts = [
            [str(deserialize_message(data, kind)) for data in given.messages[:count]]
            for given in (one, of_compiled[topic])
        ]
        assert texts[0] == texts[1], topic
        assert one.log_ns[:count].tolist() == of_compiled[topic].log_ns[:count].tolist(), topic


@pytest.mark.parametrize("imu", ["truth", "sensors"])
def test_ardupilot_gets_the_same_replies_by_compiled_steps_and_by_messages(graph: Callable[..., Any], imu: str) -> None:
    replies: list[list[bytes]] = []
    for compiles in (True, False):
        (port,) = free_ports()
        words = "-p", f"ardupilot.port:={port}", "-p", f"ardupilot.imu:={imu}"
        g = graph(*words, flight_controller="ardupilot", settings=WIND)
        g.hand_off.compiles = compiles
        client = ArduPilotClient(g, port)
        client.send()
        client.answer()
        found: list[bytes] = []
        for number in range(600):
            # The frame rate sets the length of the steps.
            client.rate = 400 if number < 300 else 500
            client.count += 1
            client.send(1000 if number < 20 else 1600)
            found.append(client.answer())
        assert (g.hand_off.compiled_steps > 300) is compiles
        client.close()
        g.close()
        replies.append(found)
    assert replies[0] == replies[1]
    assert len(set(replies[0])) == 600
