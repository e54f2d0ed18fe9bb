"""Graph with one process per node, as launch starts it, and a node that observes it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.context import Context
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.subscription import Subscription
from std_srvs.srv import Trigger

from benchmarks.free_ports import free_ports
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.graph.plan import planned_nodes
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns, time_ns_of
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_TOPIC
from rosflight_py_sim.interfaces.message_definitions import is_stamped, message_class
from rosflight_py_sim.interfaces.rclpy_internals import leave_unserved
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topics import CLOCK, FORCES_AND_MOMENTS, IMU, TRUTH_STATE, StepTopic
from rosflight_py_sim.vehicles import CAMERA, vehicle

PROJECT = Path(__file__).parents[1]

STEP_NS = 2_500_000
"""Default length of a step, ns."""

PAUSE_S = LONGEST_STEP_NS / NANOSECONDS
"""Longest step of dynamics outside of lockstep, s; a longer gap between stamps counts as a pause."""

TIMEOUT_S = 240.0
"""Time limit for a condition, s of system time; only a graph that hangs reaches it."""

_DEEP = QoSProfile(depth=10000)


class TimedOutError(Exception):
    """A condition did not become true in time; the text names it."""


@dataclass(frozen=True)
class GraphKind:
    """A graph to start.

    Attributes:
        title: name for the table.
        vehicle: name of the vehicle.
        flight_controller: name of the flight controller.
        executables: of additional nodes.
        time_modes: time modes in which it runs.
        port_names: parameters that are ports; each run gets free ports.
        client: command line of the client program that the graph waits for; {port} stands for the first port.
        requests_steps: whether the client requests the length of each step.
    """

    title: str
    vehicle: str
    flight_controller: str
    executables: tuple[str, ...] = ()
    time_modes: tuple[str, ...] = ("lockstep",)
    port_names: tuple[str, ...] = ()
    client: tuple[str, ...] = ()
    requests_steps: bool = False


MULTIROTOR = GraphKind(
    "multirotor with sil_board and autopilot",
    "multirotor",
    "sil_board",
    ("autopilot",),
    ("wall", "paced", "gated", "lockstep"),
)

GRAPHS = {
    "multirotor": MULTIROTOR,
    "uthere": GraphKind(
        "uThere plane",
        "uthere",
        "uthere",
        time_modes=("wall", "paced", "gated", "lockstep"),
        port_names=("uthere.udp_port_in", "uthere.udp_port_out"),
    ),
    "auv": GraphKind(
        "AUV with the server for ZeroMQ clients",
        "auv",
        "auv_zeromq",
        port_names=("auv_zeromq.image_port", "auv_zeromq.thruster_port", "auv_zeromq.telemetry_port"),
    ),
    "ardupilot": GraphKind(
        "multirotor with the stand-in for ArduPilot",
        "multirotor",
        "ardupilot",
        port_names=("ardupilot.port",),
        client=("docs/examples/ardupilot_stand_in/ardupilot_stand_in.py", "--port", "{port}", "--linger", "--json"),
        requests_steps=True,
    ),
}


class Process(Protocol):
    """The methods of `subprocess.Popen` that a graph needs."""

    def poll(self) -> int | None:
        """Exit code; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Exit code, once it has ended; raises subprocess.TimeoutExpired."""

    def send_signal(self, number: int, /) -> None:
        """Send a signal, if it still runs."""

    def kill(self) -> None:
        """Send SIGKILL, if it still runs."""


Launch = Callable[[Sequence[str], Mapping[str, str], Path, Path], Process]
"""Function that runs `python WORDS` with an environment in a folder, and appends its output to a file."""


def new_interpreter(words: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> Process:
    """Start a new interpreter, as users do."""
    with log.open("a") as output:
        return subprocess.Popen([sys.executable, *words], env=environment, cwd=folder, stdout=output, stderr=output)


class NodeGraph:
    """The processes of a graph.

    Attributes:
        kind: the graph.
        time_mode: its time mode.
        executables: of its nodes; the time manager, if there is one, is the last.
        node_names: names of the nodes.
        multiplier: real-time multiplier at the start of the time manager.
        step_ns: length of a step, ns.
        environment: environment variables of all processes.
        processes: of the nodes, by executable.
    """

    def __init__(
        self,
        kind: GraphKind,
        time_mode: str,
        domain: int,
        multiplier: float = 1.0,
        launch: Launch = new_interpreter,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Choose the nodes and their parameters; `settings` are further parameters of all nodes."""
        self.kind, self.time_mode, self.multiplier = kind, time_mode, multiplier
        self.step_ns = round((settings or {}).get("step_size", STEP_NS / NANOSECONDS) * NANOSECONDS)
        self._launch = launch
        chosen = vehicle(kind.vehicle).carrying(CAMERA, False)
        controller = chosen_flight_controller(kind.flight_controller)
        member = Member(chosen, flight_controller=kind.flight_controller, executables=kind.executables)
        manager = TIME_MANAGERS.get(time_mode)
        self.executables = [one.executable for one in planned_nodes([member])] + ([manager] if manager else [])
        self.node_names = [node_class(executable).DEFAULT_NAME for executable in self.executables]
        self.environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        self.environment["PYTHONPATH"] = str(PROJECT)
        ports = free_ports(max(1, len(kind.port_names)))
        self._client_command = [word.format(port=ports[0]) for word in kind.client]
        values: dict[str, Any] = {
            "time_mode": time_mode,
            "use_sim_time": time_mode != "wall",
            "firmware_param_file": str(chosen.firmware_file),
            **controller.settings,
            **({"front_ends": [controller.front_end]} if controller.front_end else {}),
            **dict(zip(kind.port_names, ports, strict=False)),
            **(settings or {}),
        }
        files = [chosen.parameter_file, *controller.files_for(chosen)]
        self._arguments = [word for file in files for word in ("--params-file", str(file))]
        self._arguments += [word for name, one in values.items() for word in ("-p", f"{name}:={json.dumps(one)}")]
        self._folder = tempfile.TemporaryDirectory()
        self.processes: dict[str, Process] = {}
        self._client: subprocess.Popen[bytes] | None = None

    def log_of(self, executable: str) -> str:
        """Output of a node so far, in all its runs."""
        return (Path(self._folder.name) / executable).read_text(encoding="utf-8", errors="replace")

    def start(self, executable: str) -> None:
        """Start a node."""
        own = {name: ["-p", f"real_time_multiplier:={self.multiplier}"] for name in TIME_MANAGERS.values()}
        own["rc"] = ["-p", "device:=none"]
        words = ["-m", "rosflight_py_sim.executables", executable, "--ros-args", "--log-level", "warn"]
        self.processes[executable] = self.run([*words, *self._arguments, *own.get(executable, [])], executable)

    def run(self, words: Sequence[str], log: str) -> Process:
        """Run a Python program in the environment of the nodes."""
        folder = Path(self._folder.name)
        return self._launch(words, self.environment, folder, folder / log)

    def start_all(self) -> None:
        """Start all nodes, and the client."""
        for executable in self.executables:
            self.start(executable)
        self.keep_client()

    def keep_client(self) -> None:
        """Start the client if it is not running."""
        if self._client_command and (self._client is None or self._client.poll() is not None):
            self._client = subprocess.Popen(
                [sys.executable, *self._client_command],
                env=self.environment,
                cwd=PROJECT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def kill(self, executable: str) -> None:
        """Kill a node with SIGKILL, as the kernel does when memory runs out."""
        self.processes[executable].kill()
        self.processes[executable].wait()

    def close(self) -> None:
        """End all processes."""
        running: list[Process] = [*self.processes.values(), *([self._client] if self._client else [])]
        for process in running:
            process.send_signal(signal.SIGTERM)
        end_s = time.monotonic() + 8.0
        for process in running:
            try:
                process.wait(max(0.1, end_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._folder.cleanup()


@dataclass(frozen=True)
class Report:
    """Entry on /diagnostics for a node as a whole, with the node's time (s)."""

    time_s: float
    level: int
    message: str
    values: dict[str, str]


@dataclass(frozen=True)
class Gaps:
    """Gaps found from the stamps and sequence numbers of a topic.

    Attributes:
        missing: steps without a message.
        longest_s: longest gap between two stamps, s.
        back: number of decreases.
        unseen: messages that were published but did not reach the observer; they are neither steps nor gaps.
    """

    missing: int
    longest_s: float
    back: int
    unseen: int


class Track:
    """Messages of a topic in the order of arrival.

    Attributes:
        stamps: stamps, ns.
        numbers: sequence numbers of the publisher, which start again at 1 with a new publisher.
    """

    def __init__(self, node: Node, name: str, message_type: Any, qos: QoSProfile = _DEEP) -> None:
        """Subscribe; no executor serves the subscription, because callbacks do not receive sequence numbers."""
        self.stamps: list[int] = []
        self.numbers: list[int] = []
        self._subscription = node.create_subscription(message_type, name, print, qos, raw=True)
        leave_unserved(node, self._subscription)

    def take(self) -> None:
        """Append the messages that have arrived."""
        handle, message_type = self._subscription.handle, self._subscription.msg_type
        with handle:
            while (taken := handle.take_message(message_type, True)) is not None:
                message, facts = taken
                self.stamps.append(stamp_ns(message))
                self.numbers.append(facts["publication_sequence_number"])

    def gaps(self, first: int, step_ns: int, begins: Collection[int] = ()) -> Gaps:
        """Gaps from the message with index `first` on; `step_ns` and `begins` as in `gaps_of`."""
        return gaps_of(self.stamps[first:], self.numbers[first:], step_ns, begins)


def gaps_of(stamps: Sequence[int], numbers: Sequence[int], step_ns: int, begins: Collection[int] = ()) -> Gaps:
    """Gaps in messages with these stamps (ns) and sequence numbers.

    A step is `step_ns` long; if a client requests the lengths of steps, they begin at the times `begins` (ns).
    """
    missing = back = unseen = longest_ns = 0
    for (before, number), (after, next_number) in pairwise(zip(stamps, numbers, strict=True)):
        if after < before:
            back += 1
        elif number + 1 < next_number:
            unseen += next_number - number - 1
        elif after > before:
            longest_ns = max(longest_ns, after - before)
            if begins:
                missing += sum(before < begin < after for begin in begins)
            else:
                missing += max(0, round((after - before) / step_ns) - 1)
    return Gaps(missing, longest_ns / NANOSECONDS, back, unseen)


class Observer:
    """A node in the domain of a graph.

    Attributes:
        node: the node.
        truth: all truth states received.
        wrenches: all wrenches received; they show the steps while dynamics is not running.
        imu: all IMU messages received.
        watched: all messages received of each stamped topic, by the name of the topic, since `watch` found it.
        reports: of each node, oldest first.
    """

    def __init__(self, domain: int) -> None:
        """Subscribe to the truth state and /diagnostics."""
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain, args=[])
        self.node = Node("observer", context=self._context, start_parameter_services=False)
        self._executor = _executor(self._context)
        self._executor.add_node(self.node)
        self.truth, self.wrenches, self.imu = (
            Track(self.node, topic.name, topic.message_type) for topic in (TRUTH_STATE, FORCES_AND_MOMENTS, IMU)
        )
        self.watched: dict[str, Track] = {}
        self.reports: dict[str, list[Report]] = {}
        self.node.create_subscription(DiagnosticArray, DIAGNOSTICS_TOPIC, self._on_report, _DEEP)

    @property
    def stamps(self) -> list[int]:
        """Stamps of all truth states received, ns."""
        return self.truth.stamps

    def watch(self) -> None:
        """Subscribe to /clock and to all topics with a header in the graph, except those that are watched already.

        The subscription requests the durability that is offered, so that it also receives the first message of a
        publisher that it discovers late. On /diagnostics, `reports` has the stamps of each node.
        """
        for name, (type_name, *_) in self.node.get_topic_names_and_types():
            if name in (DIAGNOSTICS_TOPIC, *self.watched) or not (name == CLOCK.name or _is_stamped(type_name)):
                continue
            offered = [one.qos_profile.durability for one in self.node.get_publishers_info_by_topic(name)]
            if offered:
                latched = set(offered) == {DurabilityPolicy.TRANSIENT_LOCAL}
                durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
                qos = QoSProfile(depth=_DEEP.depth, durability=durability)
                self.watched[name] = Track(self.node, name, message_class(type_name), qos)

    def decreases(self) -> tuple[str, ...]:
        """Each decrease of a stamp on a watched topic, or in the reports of a node, with topic and stamps (s)."""
        stamps_s = {name: [ns / NANOSECONDS for ns in track.stamps] for name, track in self.watched.items()}
        stamps_s |= {f"report of {name}": [one.time_s for one in all_] for name, all_ in self.reports.items()}
        return tuple(
            f"{name}: {after:g} s after {before:g} s"
            for name, stamps in stamps_s.items()
            for before, after in pairwise(stamps)
            if after < before
        )

    def new_reports(self, names: Sequence[str], count: int = 1) -> Callable[[], bool]:
        """Condition: each of these nodes has published `count` more reports on /diagnostics since this call."""
        known = {name: len(self.reports.get(name, ())) for name in names}
        return lambda: all(len(self.reports.get(name, ())) >= known[name] + count for name in names)

    @property
    def time_s(self) -> float:
        """Stamp of the newest truth state, s; -1 before the first."""
        return self.stamps[-1] / NANOSECONDS if self.stamps else -1.0

    def counts(self, topic: StepTopic[Any]) -> tuple[list[bytes], Subscription[Any]]:
        """List to which the messages of a topic are appended, and its subscription, which the caller destroys."""
        received: list[bytes] = []
        subscription = self.node.create_subscription(topic.message_type, topic.name, received.append, 10, raw=True)
        return received, subscription

    def wait_for(self, condition: Callable[[], bool], what: str, timeout_s: float = TIMEOUT_S) -> None:
        """Run until a condition holds.

        Raises:
            TimedOutError: the condition does not hold in time.
        """
        end_s = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > end_s:
                raise TimedOutError(f"{what}: not within {timeout_s:g} s, truth state at {self.time_s:g} s")
            self._spin_once()

    def spin(self, seconds: float) -> None:
        """Run for some system time."""
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            self._spin_once()

    def _spin_once(self) -> None:
        self._executor.spin_once(timeout_sec=0.02)
        for track in (self.truth, self.wrenches, self.imu, *self.watched.values()):
            track.take()

    def set_number(self, node: str, name: str, value: float) -> None:
        """Set a parameter of type double of a node."""
        number = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
        self.call(
            SetParameters,
            f"{node}/set_parameters",
            SetParameters.Request(parameters=[Parameter(name=name, value=number)]),
        )

    def trigger(self, name: str) -> None:
        """Call a service without arguments."""
        self.call(Trigger, name, Trigger.Request())

    def call(self, service_type: Any, name: str, request: Any) -> Any:
        """Call a service and return its response."""
        client = self.node.create_client(service_type, name)
        self.wait_for(client.service_is_ready, f"service {name}")
        # A service that has not discovered the client yet executes the request, and its reply is lost.
        self.spin(0.2)
        future = client.call_async(request)
        self.wait_for(future.done, f"response of {name}")
        self.node.destroy_client(client)
        return future.result()

    def close(self) -> None:
        """Destroy the node."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _on_report(self, message: DiagnosticArray) -> None:
        status = message.status[0]
        values = {one.key: one.value for one in status.values}
        time_s = time_ns_of(message.header.stamp) / NANOSECONDS
        report = Report(time_s, int.from_bytes(status.level, "little"), status.message, values)
        self.reports.setdefault(status.name, []).append(report)


def _is_stamped(type_name: str) -> bool:
    try:
        return is_stamped(message_class(type_name))
    except ImportError:
        # A type that is not installed here.
        return False


def _executor(context: Context) -> Executor:
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)
