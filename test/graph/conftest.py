"""Fixtures for tests of the running graph: one ROS domain per test, and graphs that live as long as a test."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from example_package import install_example
from forked_python import run_forked_python
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rosflight_msgs.msg import SimState, Status
from rosflight_msgs.srv import ParamGet, ParamSet, SetSimState
from std_srvs.srv import Trigger

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import CLOCK, STATUS, TRUTH_STATE, StepTopic, topic_of
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle

# System time, s, after which a condition that does not hold fails the test.
TIMEOUT_S = 30.0


def small_square(side_m: float = 1.0, height_m: float = 1.5) -> tuple[str, ...]:
    """ROS arguments for a small square with few steps: a busy machine needs minutes for the usual one."""
    values = {"step_size": 0.005, "square_side": side_m, "square_height": height_m, "corner_pause": 0.0}
    return ("--ros-args", *(word for name, value in values.items() for word in ("-p", f"{name}:={value}")))


# ROS arguments for few messages of the sensors that no autopilot needs.
SLOW_SENSORS = tuple(
    word
    for name in ("baro", "battery", "diff_pressure", "mag", "range")
    for word in ("-p", f"{name}_update_frequency:=10.0")
)

_PROJECT = Path(__file__).parents[2]


class Graph(ComposedGraph):
    """A composed graph of a vehicle and the test's own node, `tester`, which subscribes and calls services.

    In a fleet (`vehicles`), the tester subscribes to the first vehicle. `flight_controller` flies all vehicles, and
    each has the further nodes `executables`.

    Attributes:
        status: the newest status of the flight controller.
        time_manager: full name of the time manager.
    """

    def __init__(
        self,
        *arguments: str,
        vehicles: Sequence[Member] = (),
        vehicle_name: str = "multirotor",
        dynamics: str = "standalone",
        multiplier: float = 0.0,
        flight_controller: str = "",
        executables: Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        members = [
            replace(
                one,
                flight_controller=flight_controller or one.flight_controller,
                executables=(*one.executables, *executables),
            )
            for one in vehicles or [Member(vehicle(vehicle_name, dynamics))]
        ]
        pace = {} if options.get("time_mode") == "wall" else {"real_time_multiplier": multiplier}
        super().__init__(members, settings={**pace, **(settings or {})}, arguments=arguments, **options)
        self.tester = Node(
            "tester", namespace="/".join((options.get("namespace", ""), members[0].namespace)).strip("/")
        )
        self.include(self.tester)
        self.time_manager = f"/{options.get('namespace', '')}/time_manager".replace("//", "/")
        self._clients: dict[str, Any] = {}
        self._clock_ns = 0
        self._state = VehicleState(0)
        self._decoded: tuple[VehicleState | None, SimState] = None, SimState()
        self._awaited: list[float] | None = None
        self.status = Status()
        # By the hand-off: encoding, delivering and decoding both in each step would take longer than the rest of it.
        self.hand_off.subscribe(self.tester, TRUTH_STATE, TRUTH_STATE.name, CHAIN, self._on_truth)
        self.hand_off.subscribe(self.tester, CLOCK, CLOCK.name, CHAIN, self._on_clock)
        self.tester.create_subscription(Status, STATUS.name, self._on_status, CHAIN)

    def _on_truth(self, state: VehicleState) -> None:
        self._state = state
        if self._awaited is not None and state.position_ned.tolist() == self._awaited:
            self._awaited = None

    def _on_clock(self, time_ns: int) -> None:
        self._clock_ns = time_ns

    def _on_status(self, message: Status) -> None:
        self.status = message

    @property
    def truth(self) -> SimState:
        """The newest truth state."""
        if self._decoded[0] is not self._state:
            self._decoded = self._state, deserialize_message(self._state.encode(), SimState)
        return self._decoded[1]

    @property
    def time_ns(self) -> int:
        """Simulated time of the newest truth state, ns."""
        return self._state.time_ns

    @property
    def time_s(self) -> float:
        """Simulated time of the newest truth state, s."""
        return self.time_ns * 1e-9

    def remove(self, node: Node) -> None:
        """Remove a node from the graph, as if its process had ended."""
        self.executor.remove_node(node)
        self.nodes.remove(node)
        node.destroy_node()

    def node(self, name: str) -> Any:
        """The node with this name."""
        return next(node for node in self.nodes if node.get_name() == name)

    def collect_messages(
        self, topic: StepTopic[Any] | str, message_type: Any = None, qos: QoSProfile = CHAIN, *, at: str = ""
    ) -> list[Any]:
        """List of all further messages of a topic: a step topic in the namespace `at`, or any other topic."""
        if isinstance(topic, StepTopic):
            message_type, topic = topic.message_type, topic_of(at, topic.name)
        received: list[Any] = []
        self.tester.create_subscription(message_type, topic, received.append, qos)
        return received

    def spin_until(self, condition: Callable[[], object], what: str = "the condition") -> None:
        """Run until the condition holds; fail if it does not within TIMEOUT_S of system time."""
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"{what} did not come true within {TIMEOUT_S:g} s, at {self.time_s:g} s: {self.status}")
            self.executor.spin_once(timeout_sec=0.01)
            self.hand_off.check()

    def spin_for(self, seconds: float) -> None:
        """Run for this much simulated time."""
        end = self.time_s + seconds - 1e-9
        self.spin_until(lambda: self.time_s >= end, f"{seconds:g} s of simulated time")

    def idle(self, seconds: float) -> None:
        """Run for this much system time: long enough for messages in transit to arrive."""
        end = time.monotonic() + seconds
        self.spin_until(lambda: time.monotonic() > end)

    def ready(self) -> Graph:
        """Run until the chain works and the flight controller receives RC."""
        self.spin_until(lambda: self.time_ns > 0 and self._clock_ns, "advancing time")
        self.spin_until(lambda: self.status.header.stamp.nanosec and not self.status.error_code & 0x04, "RC")
        return self

    def call(self, service: str, service_type: Any = Trigger, **fields: Any) -> Any:
        """Call a service and return its response."""
        if service not in self._clients:
            self._clients[service] = self.tester.create_client(service_type, service)
        client = self._clients[service]
        self.spin_until(client.service_is_ready, f"service {service}")
        future = client.call_async(service_type.Request(**fields))
        self.spin_until(future.done, f"an answer of {service}")
        return future.result()

    def set_firmware(self, **parameters: float) -> None:
        """Set parameters of the flight controller."""
        for name, value in parameters.items():
            assert self.call("param_set", ParamSet, name=name, value=float(value)).exists

    def firmware(self, name: str) -> float:
        """A parameter of the flight controller."""
        return float(self.call("param_get", ParamGet, name=name).value)

    def pause(self) -> None:
        """Pause, and wait until the current step is over."""
        assert self.call(f"{self.time_manager}/toggle_pause").message.startswith("paused")
        self.spin_until(lambda: self.time_ns > self._clock_ns, "the end of the step")

    def set_state(self, state: SimState) -> None:
        """Set the truth state, and wait until it is published."""
        position = state.pose.position
        self._awaited = [position.x, position.y, position.z]
        answer = self.call("dynamics/set_sim_state", SetSimState, state=state)
        assert answer.success, answer.message
        self.spin_until(lambda: self._awaited is None, "the state that was set")

    def step(self) -> None:
        """Take one step of a paused simulation."""
        before = self.time_ns
        assert self.call(f"{self.time_manager}/step").success
        self.spin_until(lambda: self.time_ns > before, "the step")

    def set_parameter(self, node: str, name: str, value: Any) -> None:
        """Change a parameter of a node."""
        changes = [Parameter(name, value=value).to_parameter_msg()]
        result = self.call(f"{node}/set_parameters", SetParameters, parameters=changes).results[0]
        assert result.successful, result.reason

    def calibrate(self) -> None:
        """Calibrate the IMU, and wait for the calibration to finish."""
        assert self.call("calibrate_imu").success
        self.spin_until(lambda: not self.status.error_code & 0x20, "the calibration")

    def arm(self, *, calibrate: bool = True) -> None:
        """Calibrate and arm.

        Without `calibrate`, set an accelerometer bias instead: the firmware then counts the IMU as calibrated.
        """
        self.ready()
        if calibrate:
            self.calibrate()
        else:
            self.set_firmware(ACC_X_BIAS=1e-9)
            self.spin_until(lambda: not self.status.error_code & 0x20, "the bias")
        assert self.call("toggle_arm").success
        self.spin_until(lambda: self.status.armed, "armed")


def _collect() -> None:
    """Free closed graphs: a participant exists until its graph is collected.

    Remaining objects are excluded from the module's next collections, which would otherwise outlast the graph.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _collect_all() -> Iterator[None]:
    """Free the objects that were still in use when they were excluded from collections."""
    yield
    gc.unfreeze()
    _collect()


class UndisturbedGraph:
    """The graph shared by tests of a module that leave it as they found it; a process has one graph at a time.

    Attributes:
        is_disturbed: whether the graph may be in another state than expected, because a test has failed.
    """

    def __init__(self, claim_domain: Callable[[], AbstractContextManager[int]]) -> None:
        self._claim_domain = claim_domain
        self._asked: object = None
        self._running = ExitStack()
        self.is_disturbed = False

    def __call__(self, *arguments: str, **options: Any) -> Graph:
        """Return the previous test's graph, or a new one if the arguments differ or a test has failed.

        The timers of the tester, and the publishers and subscriptions that tests added to it, are destroyed first.
        """
        if self._asked != (arguments, options) or self.is_disturbed:
            self.close()
            domain = self._running.enter_context(self._claim_domain())
            # Only until the graph has read the domain: a later test sets its own.
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("ROS_DOMAIN_ID", str(domain))
                self._graph = Graph(*arguments, **options)
            self._running.callback(self._graph.close)
            self._asked = arguments, options
            self._own = {*self._graph.tester.subscriptions, *self._graph.tester.publishers}
        tester = self._graph.tester
        for timer in list(tester.timers):
            tester.destroy_timer(timer)
        for publisher in set(tester.publishers) - self._own:
            tester.destroy_publisher(publisher)
        for subscription in set(tester.subscriptions) - self._own:
            tester.destroy_subscription(subscription)
        return self._graph

    def close(self) -> None:
        """End the graph, if there is one."""
        self.is_disturbed = False
        if self._asked is not None:
            self._asked = None
            self._running.close()
            del self._graph, self._own
            _collect()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make a new graph after a failed test."""
    report = yield
    shared = getattr(item, "funcargs", {}).get("undisturbed_graph")
    if shared is not None and report.failed:
        shared.is_disturbed = True
    return report


@pytest.fixture(scope="module")
def undisturbed_graph(claim_domain: Callable[[], AbstractContextManager[int]]) -> Iterator[UndisturbedGraph]:
    """A function that makes a Graph for tests that leave it as it was, reused while the arguments stay the same."""
    shared = UndisturbedGraph(claim_domain)
    yield shared
    shared.close()


@pytest.fixture
def graph(
    undisturbed_graph: UndisturbedGraph, ros_domain: int, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Graph]]:
    """A function that makes a Graph for the test; `classes` replaces executables by the test's own classes."""
    undisturbed_graph.close()
    made: list[Graph] = []

    def make(*arguments: str, classes: Mapping[str, type[SimulationNode]] | None = None, **options: Any) -> Graph:
        own = classes or {}
        monkeypatch.setattr(
            "rosflight_py_sim.graph.composition.node_class", lambda name: own.get(name) or node_class(name)
        )
        made.append(Graph(*arguments, **options))
        return made[-1]

    yield make
    while made:
        made.pop().close()
    _collect()


@pytest.fixture
def command_line(ros_domain: int, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs a Python program of the project to its end, in a temporary folder.

    Given environment variables, the program runs in a new interpreter, which reads them during import.
    """

    def run(*arguments: str, timeout_s: float = 90.0, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PYTHONPATH": str(_PROJECT), "COLUMNS": "120", **environment}
        if not environment:
            return run_forked_python(arguments, env=variables, cwd=tmp_path, timeout=timeout_s)
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    return run


@pytest.fixture
def with_example(
    command_line: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function as `command_line` with the package of docs/examples/my_nodes installed."""
    path = install_example(tmp_path)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return command_line(*words, PYTHONPATH=path)

    return run
