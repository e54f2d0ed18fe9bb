"""Time managers alone: the test's own node answers for the rest of the graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Vector3Stamped, WrenchStamped
from rcl_interfaces.msg import Log
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rosflight_msgs.msg import RCRaw, SimState
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS, seconds_text, set_time, time_ns_of
from rosflight_py_sim.interfaces.forces_and_moments_interface import ForcesAndMomentsInterface
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import TimeManagerInterface
from rosflight_py_sim.nodes.gated_time_manager import GatedTimeManager
from rosflight_py_sim.nodes.lockstep_time_manager import LockstepTimeManager
from rosflight_py_sim.nodes.running import make_executor
from rosflight_py_sim.nodes.standalone_time_manager import StandaloneTimeManager
from rosflight_py_sim.parts.fixedwing_forces import FixedwingForces
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.parts.standalone_sensors import ModelledSensors
from rosflight_py_sim.step.diagnosis import Level
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    CLOCK,
    FAULT,
    FORCES_AND_MOMENTS,
    IMU,
    RC,
    SIM_STEP_SIZE,
    SIM_STEP_SIZE_REQUEST,
    TRUTH_STATE,
    TRUTH_WIND,
    StepSize,
    Wrench,
    topic_of,
)
from rosflight_py_sim.vehicles import vehicle

MultirotorForcesAndMoments = node_of(MultirotorForces)
FixedwingForcesAndMoments = node_of(FixedwingForces)
StandaloneDynamics = node_of(RigidBodyDynamics)
StandaloneSensors = node_of(ModelledSensors)

pytestmark = pytest.mark.timeout(120)

STEP_NS = 2_500_000
TIMEOUT_S = 30.0

# Log.WARN of rcl_interfaces, which is bytes or an int, depending on the distribution.
WARNING = 30

DEEP = QoSProfile(depth=1000)
MASS_AND_INERTIA = {"mass": 1.0, "Jxx": 0.1, "Jyy": 0.1, "Jzz": 0.1}


def stamped(message: Any, time_ns: int) -> Any:
    set_time(message.header.stamp, time_ns)
    return message


class Rig:
    """A node under test, the test's own node (`tester`), and the executor of both."""

    def __init__(self) -> None:
        rclpy.init(args=[])
        self.tester = Node("tester")
        self.executor = make_executor()
        self.executor.add_node(self.tester)
        self.clock: list[int] = []
        self.tester.create_subscription(Clock, CLOCK.name, lambda m: self.clock.append(time_ns_of(m.clock)), DEEP)

    def start(self, cls: type[SimulationNode], *, namespace: str = "", **values: Any) -> Any:
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        node = cls(namespace=namespace, parameter_overrides=overrides)
        self.executor.add_node(node)
        return node

    def spin_until(self, condition: Callable[[], object], what: str) -> None:
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end, f"not within {TIMEOUT_S:g} s: {what}"
            self.executor.spin_once(timeout_sec=0.01)

    def idle(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.spin_until(lambda: time.monotonic() > end, "the wait")

    def close(self) -> None:
        for node in list(self.executor.get_nodes()):
            node.destroy_node()
        self.executor.shutdown()
        rclpy.try_shutdown()


@pytest.fixture
def rig(ros_domain: int) -> Iterator[Rig]:
    made = Rig()
    yield made
    made.close()


def period(wall_s: float = 1.0, simulated_s: float = 0.0) -> Period:
    return Period(wall_s, simulated_s, (), ())


# Started into a running graph.


@pytest.mark.parametrize("multiplier", [0.5, 1.0, 2.0, 0.0])
def test_late_lockstep_time_manager_continues_at_its_pace_from_current_time(rig: Rig, multiplier: float) -> None:
    began_ns = 1_000_000 * NANOSECONDS
    truth = rig.tester.create_publisher(SimState, TRUTH_STATE.name, LATCHED)
    truth.publish(stamped(SimState(), began_ns))
    rig.start(LockstepTimeManager, real_time_multiplier=multiplier)
    for step in range(40):
        time_ns = began_ns + step * STEP_NS
        rig.spin_until(lambda t=time_ns: rig.clock[-1:] == [t], f"step {step}")
        truth.publish(stamped(SimState(), time_ns + STEP_NS))


def test_duplicate_state_causes_a_bounded_number_of_repeated_times(rig: Rig) -> None:
    truth = rig.tester.create_publisher(SimState, TRUTH_STATE.name, LATCHED)
    truth.publish(stamped(SimState(), 0))
    rig.start(LockstepTimeManager, stall_timeout=1000.0, real_time_multiplier=0.0)
    newest_ns = 0
    # Answer each time as a graph would, including repeated times.
    for count in range(40):
        rig.spin_until(lambda n=count: len(rig.clock) > n, f"time {count}")
        newest_ns = max(newest_ns, rig.clock[count] + STEP_NS)
        truth.publish(stamped(SimState(), newest_ns))
        rig.idle(0.02)
        if count == 5:
            truth.publish(stamped(SimState(), newest_ns))
            rig.idle(0.02)
    repeated = [sooner == later for sooner, later in pairwise(rig.clock)]
    assert 1 <= sum(repeated) <= 5
    assert not any(repeated[-20:])


@pytest.mark.parametrize("cls", [StandaloneTimeManager, GatedTimeManager])
def test_late_time_manager_takes_time_from_repeated_truth(rig: Rig, cls: Any) -> None:
    began_ns = 1000 * NANOSECONDS
    truth = rig.tester.create_publisher(SimState, TRUTH_STATE.name, LATCHED)
    rig.start(cls)
    rig.spin_until(truth.get_subscription_count, "the time manager's subscription")
    rig.idle(0.2)
    assert rig.clock == []
    truth.publish(stamped(SimState(), began_ns))
    rig.spin_until(lambda: rig.clock, "the clock")
    assert rig.clock[0] == began_ns + STEP_NS


# Gated mode.


def test_gate_opens_when_truth_and_imu_of_every_vehicle_arrive_in_any_order(rig: Rig) -> None:
    vehicles = ["one", "two"]
    truths = [rig.tester.create_publisher(SimState, topic_of(name, TRUTH_STATE.name), 1) for name in vehicles]
    imus = [rig.tester.create_publisher(Imu, topic_of(name, IMU.name), 1) for name in vehicles]
    rig.start(GatedTimeManager, vehicles=vehicles, step_timeout=1000.0, real_time_multiplier=0.0)
    parts = [(publisher, message) for kind, message in ((truths, SimState()), (imus, Imu())) for publisher in kind]
    for publisher, _ in parts:
        rig.spin_until(publisher.get_subscription_count, "the subscriptions")
    for step in range(1, 9):
        rig.spin_until(lambda n=step: rig.clock[-1:] == [n * STEP_NS], f"step {step}")
        turn = step % len(parts)
        for publisher, message in parts[turn:] + parts[:turn]:
            rig.idle(0.02)
            assert rig.clock[-1] == step * STEP_NS
            # The stamp does not matter: nodes that stamp messages with their own clock take part, too.
            publisher.publish(message)


def test_gate_opens_after_timeout_and_repeats_no_time(rig: Rig) -> None:
    manager = rig.start(GatedTimeManager, step_timeout=0.05)
    rig.spin_until(lambda: len(rig.clock) > 20, "steps without a graph")
    assert rig.clock == [(k + 1) * STEP_NS for k in range(len(rig.clock))]
    (message,) = [d.message for d in manager.diagnose(period()) if d.level is Level.ERROR]
    assert "time-outs in a row" in message


def test_gate_waits_for_late_rc_frames_that_were_regular(rig: Rig) -> None:
    publishers = [
        (rig.tester.create_publisher(SimState, TRUTH_STATE.name, 1), SimState()),
        (rig.tester.create_publisher(Imu, IMU.name, 1), Imu()),
    ]
    sticks = rig.tester.create_publisher(RCRaw, RC.name, 1)
    rig.start(GatedTimeManager, step_timeout=1.5, real_time_multiplier=0.0)
    for publisher in [*(publisher for publisher, _ in publishers), sticks]:
        rig.spin_until(publisher.get_subscription_count, "the subscriptions")

    def step(number: int) -> None:
        rig.spin_until(lambda: rig.clock[-1:] == [number * STEP_NS], f"step {number}")
        for publisher, message in publishers:
            publisher.publish(message)

    for number in range(1, 40):
        if number % 8 == 0:
            sticks.publish(RCRaw())
            rig.idle(0.05)
        step(number)
    # The last frame came with step 32: from 52.5 ms after it on, the gate waits.
    for number in range(40, 54):
        step(number)
    rig.idle(0.3)
    assert rig.clock[-1] == 53 * STEP_NS
    sticks.publish(RCRaw())
    for number in range(54, 62):
        step(number)
    rig.spin_until(lambda: rig.clock[-1] == 62 * STEP_NS, "step 62")
    sticks.publish(RCRaw())
    rig.idle(0.05)
    for number in range(62, 84):
        step(number)
    rig.idle(0.3)
    assert rig.clock[-1] == 83 * STEP_NS
    # A silent transmitter delays the simulation only once.
    for number in range(84, 130):
        step(number)


def test_paused_gate_stays_closed_and_takes_only_requested_steps(rig: Rig) -> None:
    manager = rig.start(GatedTimeManager, step_timeout=0.02, step_count=3)
    rig.spin_until(lambda: len(rig.clock) > 3, "steps")
    clients = {name: rig.tester.create_client(Trigger, f"time_manager/{name}") for name in ("toggle_pause", "step")}

    def call(name: str) -> Any:
        rig.spin_until(clients[name].service_is_ready, name)
        future = clients[name].call_async(Trigger.Request())
        rig.spin_until(future.done, f"an answer of {name}")
        return future.result()

    assert call("toggle_pause").message == f"paused at {manager.time_text}"
    rig.idle(0.1)
    held_ns = manager.time_ns
    rig.idle(0.2)
    assert manager.time_ns == held_ns
    assert call("step").message == f"advanced 3 steps, to {seconds_text(held_ns + 3 * STEP_NS)}"
    assert manager.time_ns == held_ns + 3 * STEP_NS
    call("toggle_pause")
    rig.spin_until(lambda: manager.time_ns > held_ns + 5 * STEP_NS, "advancing time")


@pytest.mark.parametrize("count", [1, 2])
def test_gated_graph_loses_no_step_at_full_speed(graph: Callable[..., Any], count: int) -> None:
    members = fleet(vehicle("multirotor"), count=count, seed=0) if count > 1 else ()
    # A step with a lost message would wait for this timeout.
    g = graph("--ros-args", "-p", "step_timeout:=1000.0", vehicles=members, time_mode="gated")
    g.spin_until(lambda: g.time_ns > 0, "advancing time")
    truth = g.collect_messages(TRUTH_STATE, qos=DEEP)
    g.spin_for(0.5)
    stamps = [time_ns_of(message.header.stamp) for message in truth]
    assert {later - sooner for sooner, later in pairwise(stamps)} == {STEP_NS}


# A user's own time manager.


class OwnTimeManager(TimeManagerInterface):
    """Advances by a millisecond each time its timer fires."""

    def __init__(self, **arguments: Any) -> None:
        self._ms = 0
        super().__init__(**arguments)
        self.create_system_timer(0.001, self._on_timer)

    def update_time(self) -> None:
        self._ms += 1

    def get_seconds(self) -> int:
        return self._ms // 1000

    def get_nanoseconds(self) -> int:
        return self._ms % 1000 * 1_000_000

    def _on_timer(self) -> None:
        if self.may_advance:
            self.advance()


def test_custom_time_manager_supports_step_service_automatically(graph: Callable[..., Any]) -> None:
    g = graph(classes={"standalone_time_manager": OwnTimeManager}, time_mode="paced", multiplier=1.0)
    g.spin_until(lambda: g.time_ns > 0, "advancing time")
    assert g.call("time_manager/toggle_pause").message.startswith("paused")
    g.set_parameter("time_manager", "step_count", 7)
    before = g.node("time_manager").time_text
    answer = g.call("time_manager/step")
    assert answer.success and answer.message.startswith("advanced 7 steps, to ")
    seconds = [float(text.removesuffix(" s")) for text in (before, answer.message.rpartition("to ")[2])]
    assert seconds[1] - seconds[0] == pytest.approx(0.007, abs=1e-9)


def test_missing_steps_without_pause_raise_a_warning(rig: Rig) -> None:
    class Silent(OwnTimeManager):
        def _on_timer(self) -> None:
            pass

    manager = rig.start(Silent)
    # Nodes may take a while to start.
    assert [d.level for _ in range(9) for d in manager.diagnose(period())] == [Level.OK] * 9
    (diagnosis,) = manager.diagnose(period())
    assert (diagnosis.level, diagnosis.message) == (Level.WARN, "no step after 0 s although not paused")
    manager.advance()
    assert [d.level for _ in range(4) for d in manager.diagnose(period())] == [Level.OK, Level.OK] + [Level.WARN] * 2
    manager.paused = True
    (diagnosis,) = manager.diagnose(period())
    assert diagnosis.level is Level.OK


def test_pace_below_one_step_per_report_is_not_a_stall(rig: Rig) -> None:
    class Silent(OwnTimeManager):
        def _on_timer(self) -> None:
            pass

    manager = rig.start(Silent, real_time_multiplier=0.001)
    assert {d.level for _ in range(4) for d in manager.diagnose(period())} == {Level.OK}


# Wrenches with an older stamp.


class LateStamps(ForcesAndMomentsInterface):
    """Gives some wrenches the previous step's stamp, like a node that has not received the clock yet.

    This affects three successive steps of every 40, and in the last of them also the first repetition.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.late = 0
        self._sent_ns, self._count = -1, 0
        send = self.send_wrench

        def send_some_late(wrench: Wrench) -> None:
            self._count = 1 if wrench.time_ns != self._sent_ns else self._count + 1
            self._sent_ns = wrench.time_ns
            if self._count <= {37: 1, 38: 1, 39: 2}.get(wrench.time_ns // STEP_NS % 40, 0):
                self.late += 1
                wrench = wrench._replace(time_ns=wrench.time_ns - STEP_NS)
            send(wrench)

        self.send_wrench = send_some_late


class LateMultirotor(LateStamps, MultirotorForcesAndMoments):
    """The multirotor's forces, some with a late stamp."""


class LateFixedwing(LateStamps, FixedwingForcesAndMoments):
    """The fixed wing's forces; its dynamics waits for the outputs that steer the nose wheel."""


@pytest.mark.parametrize(("name", "late"), [("multirotor", LateMultirotor), ("fixedwing", LateFixedwing)])
def test_wrenches_with_older_stamp_neither_delay_nor_change_steps(
    graph: Callable[..., Any], name: str, late: type[LateStamps]
) -> None:
    runs = []
    for classes in ({}, {f"{name}_forces_and_moments": late}):
        # No step may wait for this timeout.
        g = graph("--ros-args", "-p", "stall_timeout:=1000.0", classes=classes, vehicle_name=name)
        truth = g.collect_messages(TRUTH_STATE, qos=DEEP)
        g.spin_until(lambda g=g: g.time_ns >= 200 * STEP_NS, "half a second")
        if classes:
            assert g.node("forces_and_moments").late >= 20
            values = {k: v for d in g.node("dynamics").diagnose(period()) for k, v in d.values.items()}
            assert values["answered again"] >= 20
        runs.append({time_ns_of(m.header.stamp): m for m in truth if time_ns_of(m.header.stamp) <= 200 * STEP_NS})
        g.close()
    common = set(runs[0]) & set(runs[1])
    assert len(common) > 150
    assert all(runs[0][time_ns] == runs[1][time_ns] for time_ns in common)


@pytest.mark.parametrize("use_sim_time", [False, True])
def test_late_wrench_never_moves_truth_stamps_backwards(rig: Rig, use_sim_time: bool) -> None:
    clock = rig.tester.create_publisher(Clock, CLOCK.name, 1)
    truth: list[int] = []
    rig.tester.create_subscription(
        SimState, TRUTH_STATE.name, lambda m: truth.append(time_ns_of(m.header.stamp)), LATCHED
    )
    wrench = rig.tester.create_publisher(WrenchStamped, FORCES_AND_MOMENTS.name, 1)
    time_mode = "paced" if use_sim_time else "wall"
    node = rig.start(StandaloneDynamics, time_mode=time_mode, use_sim_time=use_sim_time, **MASS_AND_INERTIA)
    rig.spin_until(wrench.get_subscription_count, "the subscription of dynamics")
    now_ns = node.get_clock().now().nanoseconds
    if use_sim_time:
        now_ns = 5 * NANOSECONDS
        clock.publish(Clock(clock=stamped(SimState(), now_ns).header.stamp))
        rig.spin_until(lambda: node.get_clock().now().nanoseconds == now_ns, "the time")
        wrench.publish(stamped(WrenchStamped(), now_ns))
        rig.spin_until(lambda: truth[-1:] == [now_ns], "the first answer")
    count_before = len(truth)
    wrench.publish(stamped(WrenchStamped(), now_ns - 2 * NANOSECONDS))
    rig.spin_until(lambda: len(truth) > count_before, "an answer to the late wrench")
    assert all(later >= sooner for sooner, later in pairwise(truth))
    if use_sim_time:
        # Setting the clock back sets the state's time back.
        clock.publish(Clock(clock=stamped(SimState(), NANOSECONDS).header.stamp))
        rig.spin_until(lambda: node.get_clock().now().nanoseconds == NANOSECONDS, "the earlier time")
        wrench.publish(stamped(WrenchStamped(), NANOSECONDS))
        rig.spin_until(lambda: truth[-1] == NANOSECONDS, "the answer at the earlier time")


def test_late_volatile_subscriber_receives_state_and_wind_of_idle_graph(rig: Rig) -> None:
    rig.start(StandaloneDynamics, **MASS_AND_INERTIA)
    rig.idle(0.1)
    state: list[SimState] = []
    wind: list[Vector3Stamped] = []
    rig.tester.create_subscription(SimState, TRUTH_STATE.name, state.append, 1)
    rig.tester.create_subscription(Vector3Stamped, TRUTH_WIND.name, wind.append, 1)
    rig.spin_until(lambda: len(state) > 1 and len(wind) > 1, "the repeated state")
    assert state[0] == state[1]


def test_fault_topic_is_latched_empty_from_start(rig: Rig) -> None:
    rig.start(StandaloneDynamics, **MASS_AND_INERTIA)
    rig.idle(0.1)
    faults: list[String] = []
    rig.tester.create_subscription(String, FAULT.name, faults.append, LATCHED)
    rig.spin_until(lambda: faults, "the latched fault")
    assert [fault.data for fault in faults] == [""]


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (0, "0 s"),
        (172_532_500_000, "172.5325 s"),
        (5 * NANOSECONDS, "5 s"),
        (1_234_567_890_123_456_789, "1234567890.123456789 s"),
        (1, "0.000000001 s"),
    ],
)
def test_times_are_formatted_in_full(time_ns: int, text: str) -> None:
    assert seconds_text(time_ns) == text


# Nodes in different time modes.


@pytest.mark.parametrize(("mode", "others"), [("lockstep", "wall"), ("lockstep", "paced"), ("paced", "lockstep")])
def test_time_manager_names_nodes_in_another_time_mode(rig: Rig, mode: str, others: str) -> None:
    managers: dict[str, type[SimulationNode]] = {"lockstep": LockstepTimeManager, "paced": StandaloneTimeManager}
    manager = rig.start(managers[mode])
    rig.start(StandaloneDynamics, time_mode=others, use_sim_time=others != "wall", **MASS_AND_INERTIA)
    text = f"nodes run in different time modes: time_manager in {mode}, dynamics in {others}"
    rig.spin_until(lambda: manager.time_mode_mismatch() == text, "the mismatch")


def test_node_without_inputs_names_nodes_in_another_time_mode(rig: Rig) -> None:
    reports: list[Any] = []
    rig.tester.create_subscription(DiagnosticArray, "/diagnostics", reports.append, DEEP)
    rig.start(StandaloneSensors, time_mode="lockstep", use_sim_time=True)
    rig.start(StandaloneDynamics, time_mode="wall", **MASS_AND_INERTIA)

    def texts() -> set[str]:
        return {report.status[0].message for report in reports if report.status[0].level == bytes([Level.ERROR])}

    # Dynamics receives no wrench.
    rig.spin_until(
        lambda: "nodes run in different time modes: dynamics in wall, sensors in lockstep" in texts(), "the mismatch"
    )


@pytest.mark.parametrize(("use_sim_time", "own"), [(True, "wall"), (True, "gated"), (False, "wall")])
def test_compatible_time_modes_are_no_mismatch(rig: Rig, use_sim_time: bool, own: str) -> None:
    reports: list[Any] = []
    rig.tester.create_subscription(DiagnosticArray, "/diagnostics", reports.append, DEEP)
    rig.start(StandaloneDynamics, time_mode=own, use_sim_time=use_sim_time, **MASS_AND_INERTIA)
    other = rig.start(StandaloneTimeManager) if use_sim_time else rig.start(StandaloneSensors)
    count_before = len(reports)
    rig.spin_until(lambda: len(reports) >= count_before + 6, "reports")
    assert other.time_mode_mismatch(amiss=True) == ""
    assert {report.status[0].level for report in reports} <= {bytes([Level.OK]), bytes([Level.WARN])}


def test_nodes_of_another_simulation_are_ignored(rig: Rig) -> None:
    manager = rig.start(LockstepTimeManager, namespace="one")
    rig.start(StandaloneDynamics, namespace="two", **MASS_AND_INERTIA)
    same = rig.start(StandaloneDynamics, namespace="one/vehicle", **MASS_AND_INERTIA)
    rig.spin_until(lambda: manager.time_mode_mismatch(), "the mismatch")
    rig.idle(1.5)
    assert manager.time_mode_mismatch().endswith(f", {same.get_fully_qualified_name().lstrip('/')} in wall")


IMPATIENT: dict[str, tuple[type[SimulationNode], dict[str, float]]] = {
    "lockstep": (LockstepTimeManager, {"stall_timeout": 0.01}),
    "gated": (GatedTimeManager, {"step_timeout": 0.01}),
}


def warnings_of(rig: Rig) -> list[str]:
    """Texts of the warnings that the rig's nodes log from now on."""
    texts: list[str] = []

    def on_log(message: Log) -> None:
        if message.level >= WARNING:
            texts.append(message.msg)

    rig.tester.create_subscription(Log, "/rosout", on_log, DEEP)
    return texts


@pytest.mark.parametrize("mode", IMPATIENT)
def test_node_in_another_time_mode_is_named_and_none_reported_missing(rig: Rig, mode: str) -> None:
    texts = warnings_of(rig)
    cls, values = IMPATIENT[mode]
    manager = rig.start(cls, **values)
    # The node's first report comes a second after its creation, long after the time managers' timeouts.
    rig.start(StandaloneDynamics, time_mode="wall", **MASS_AND_INERTIA)
    expected = f"nodes run in different time modes: time_manager in {mode}, dynamics in wall; "
    rig.spin_until(lambda: any(text.startswith(expected) for text in texts), "the warning")
    rig.spin_until(lambda: manager.time_modes_are_known, "the time modes of all nodes")
    rig.idle(1.0)
    # Dynamics, which receives no wrench, names the time manager.
    assert {text.split(":")[0] for text in texts} == {"nodes run in different time modes"}
    assert sum(text.startswith(expected) for text in texts) == 1


@pytest.mark.parametrize("mode", IMPATIENT)
def test_missing_node_is_reported_once_when_the_time_modes_are_known(rig: Rig, mode: str) -> None:
    texts = warnings_of(rig)
    cls, values = IMPATIENT[mode]
    manager = rig.start(cls, **values)
    # The manager receives only the state of this node.
    rig.start(StandaloneDynamics, time_mode=mode, use_sim_time=True, **MASS_AND_INERTIA)
    rig.spin_until(lambda: any("is missing or still starting" in text for text in texts), "the warning")
    assert manager.time_modes_are_known
    rig.idle(1.0)
    assert len(texts) == 1


# Step sizes that vehicles request.


class Requesting:
    """Stands in for all nodes of vehicles of which some request step sizes, beside a lockstep time manager.

    Attributes:
        steps: messages on sim/step_size of the last vehicle.
    """

    def __init__(self, rig: Rig, *names: str) -> None:
        self.steps: list[StepSize] = []
        create = rig.tester.create_publisher
        row = SIM_STEP_SIZE_REQUEST
        self._truth = {name: create(SimState, topic_of(name, TRUTH_STATE.name), LATCHED) for name in names}
        self._requests = {name: create(row.message_type, topic_of(name, row.name), LATCHED) for name in names}
        rig.tester.create_subscription(
            SIM_STEP_SIZE.message_type,
            topic_of(names[-1], SIM_STEP_SIZE.name),
            lambda data: self.steps.append(SIM_STEP_SIZE.decode(data)),
            LATCHED,
            raw=True,
        )

    def take_step_to(self, time_ns: int) -> None:
        for publisher in self._truth.values():
            publisher.publish(stamped(SimState(), time_ns))

    def request(self, name: str, time_ns: int, end_ns: int) -> None:
        self._requests[name].publish(SIM_STEP_SIZE_REQUEST.encode(StepSize(time_ns, end_ns, is_requested=True)))


def test_step_gets_the_shortest_request_for_it_and_none_of_another_step(rig: Rig) -> None:
    vehicles = Requesting(rig, "a", "b", "c")
    settings = {"vehicles": ["a", "b", "c"], "step_size_requests": ["a", "b"], "real_time_multiplier": 0.0}
    manager = rig.start(LockstepTimeManager, **settings)
    vehicles.take_step_to(0)
    rig.spin_until(lambda: rig.clock == [0], "time 0")
    vehicles.request("a", 0, 900_000)
    rig.idle(0.2)
    # The other one's request is awaited, and the vehicle without requests does not take the step either.
    assert vehicles.steps == []
    vehicles.request("b", 0, 800_000)
    rig.spin_until(lambda: vehicles.steps, "the step size")
    assert vehicles.steps == [StepSize(0, 800_000, is_requested=True)]
    assert manager.values["step_size"] == 0.0008

    vehicles.take_step_to(800_000)
    rig.spin_until(lambda: rig.clock[-1] == 800_000, "the next time")
    # The short request of `b` was for the step before.
    vehicles.request("a", 800_000, 2_000_000)
    rig.idle(0.2)
    assert len(vehicles.steps) == 1
    vehicles.request("b", 800_000, 2_100_000)
    rig.spin_until(lambda: len(vehicles.steps) == 2, "the step size")
    assert vehicles.steps[1] == StepSize(800_000, 2_000_000, is_requested=True)

    # A repeated request gets the same reply, whatever another one asks for meanwhile.
    vehicles.request("b", 800_000, 1_000_000)
    rig.spin_until(lambda: len(vehicles.steps) == 3, "the reply")
    assert vehicles.steps[2] == vehicles.steps[1]

    # A restarted time manager receives the newest requests, and replies to them.
    manager.destroy_node()
    rig.start(LockstepTimeManager, **settings)
    rig.spin_until(lambda: len(vehicles.steps) == 4, "the reply of the restarted time manager")
    assert vehicles.steps[3] == StepSize(800_000, 1_000_000, is_requested=True)


def test_unlisted_vehicle_beside_others_requests_from_the_next_step_on(rig: Rig) -> None:
    vehicles = Requesting(rig, "a", "b")
    rig.start(LockstepTimeManager, vehicles=["a", "b"], real_time_multiplier=0.0, stall_timeout=1000.0)
    vehicles.take_step_to(0)
    rig.spin_until(lambda: rig.clock == [0], "time 0")
    rig.spin_until(lambda: vehicles.steps, "the step size of the parameter")
    vehicles.request("a", 0, 1_000_000)
    rig.spin_until(lambda: len(vehicles.steps) == 2, "the reply")
    # The other vehicle may have taken the step.
    assert vehicles.steps == [StepSize(0, STEP_NS, is_requested) for is_requested in (False, True)]
    vehicles.take_step_to(STEP_NS)
    rig.spin_until(lambda: rig.clock[-1] == STEP_NS, "the next time")
    rig.idle(0.1)
    assert len(vehicles.steps) == 2
    vehicles.request("a", STEP_NS, STEP_NS + 1_000_000)
    rig.spin_until(lambda: len(vehicles.steps) == 3, "the reply")
    assert vehicles.steps[2] == StepSize(STEP_NS, STEP_NS + 1_000_000, is_requested=True)


def test_vehicle_that_withdraws_is_not_waited_for(rig: Rig) -> None:
    vehicles = Requesting(rig, "a", "b", "c")
    settings = {"vehicles": ["a", "b", "c"], "step_size_requests": ["a", "b"], "real_time_multiplier": 0.0}
    rig.start(LockstepTimeManager, **settings)
    vehicles.take_step_to(0)
    rig.spin_until(lambda: rig.clock == [0], "time 0")
    vehicles.request("a", 0, 900_000)
    vehicles.request("b", 0, 0)
    rig.spin_until(lambda: vehicles.steps, "the step size")
    assert vehicles.steps == [StepSize(0, 900_000, is_requested=True)]
    vehicles.take_step_to(900_000)
    rig.spin_until(lambda: rig.clock[-1] == 900_000, "the next time")
    # Without any request, the parameter gives the length of this and all later steps.
    vehicles.request("a", 0, 0)
    rig.spin_until(lambda: len(vehicles.steps) == 2, "the step size")
    assert vehicles.steps[1] == StepSize(900_000, 1_800_000, is_requested=False)


def test_vehicle_without_its_request_is_reported_missing_and_not_those_that_it_holds_up(rig: Rig) -> None:
    texts = warnings_of(rig)
    vehicles = Requesting(rig, "a", "b")
    rig.start(LockstepTimeManager, vehicles=["a", "b"], step_size_requests=["a"], stall_timeout=0.01)
    vehicles.take_step_to(0)
    rig.spin_until(lambda: any("is missing or still starting" in text for text in texts), "the warning")
    assert [text.partition(" after")[0] for text in texts] == ["no a/sim/truth_state"]


def test_request_of_a_vehicle_that_the_time_manager_does_not_serve_is_refused(rig: Rig) -> None:
    text = "parameter 'step_size_requests': 'c' given; allowed: vehicles of the parameter 'vehicles' \\('a', 'b'\\)"
    with pytest.raises(ParameterError, match=text):
        rig.start(LockstepTimeManager, vehicles=["a", "b"], step_size_requests=["c"])
