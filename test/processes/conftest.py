"""Fixtures for tests of separate processes: one ROS domain each, processes that end with the test, an observer."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import rclpy
from forked_python import ForkedPython, die_with_parent
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters
from rclpy.context import Context
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosflight_msgs.msg import SimState
from std_srvs.srv import Trigger

from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle

# System time, s, after which a condition that does not hold fails the test. A start takes 1 to 2 s on an idle machine,
# and several times as long if kernels must be compiled or tests run in parallel.
TIMEOUT_S = 80.0

# Most tests of a graph wait for processes, not for simulated time: a slow graph leaves them more processor time.
SLOWLY = 0.2

# For tests that need some steps, whatever their length: 20 per second of system time, or 40 in time mode wall.
LONG_STEPS = {"step_size": 0.01, "default_pub_rate_us": 10000.0}
WALL_RATES = {"simulation_loop_frequency": 40.0, "imu_update_frequency": 40.0, "rc_frequency": 20.0}


def few_steps(time_mode: str) -> tuple[str, ...]:
    """ROS arguments of all nodes for few steps per second, at the pace `SLOWLY`."""
    settings = WALL_RATES if time_mode == "wall" else LONG_STEPS
    return tuple(word for name, value in settings.items() for word in ("-p", f"{name}:={value}"))


# For processes that a test no longer needs.
SHUTDOWN_TIMEOUT_S = 5.0

PROJECT = Path(__file__).parents[2]
MULTIROTOR = vehicle("multirotor")
CHAIN_NODES = ("standalone_dynamics", "multirotor_forces_and_moments", "sil_board", "standalone_sensors", "rc")

_LOG_LINE = re.compile(r"\[(DEBUG|INFO|WARN|ERROR|FATAL)\] \[\d+\.\d+\] \[")


ClaimDomain = Callable[[], AbstractContextManager[int]]


class Program:
    """A running process of the package, and its output."""

    def __init__(
        self, module: str, arguments: list[str], environment: dict[str, str], folder: Path, *, forked: bool
    ) -> None:
        self.name = module.rsplit(".", 1)[-1]
        self._stderr = Path(tempfile.mkstemp(prefix=f"{self.name}-", suffix=".stderr", dir=folder)[1])
        self._stdout = self._stderr.with_suffix(".stdout")
        self.process: ForkedPython | subprocess.Popen[bytes]
        words = ["-m", module, *arguments]
        if forked:
            self.process = ForkedPython(words, env=environment, cwd=folder, stdout=self._stdout, stderr=self._stderr)
            return
        with self._stderr.open("w") as stderr, self._stdout.open("w") as stdout:
            self.process = subprocess.Popen(
                [sys.executable, *words],
                env=environment,
                cwd=folder,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    @property
    def stderr(self) -> str:
        """Output to stderr so far."""
        return self._stderr.read_text()

    @property
    def stdout(self) -> str:
        """Output to stdout so far."""
        return self._stdout.read_text()

    @property
    def error_lines(self) -> list[str]:
        """Lines on stderr that are not log lines of ROS."""
        return [line for line in self.stderr.splitlines() if not _LOG_LINE.match(line)]

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self, timeout: float = TIMEOUT_S) -> int:
        """Wait for the process to end and return its exit code."""
        code = self.process.wait(timeout)
        if code == 1 and "\nTimeout (" in f"\n{self.stderr}":
            pytest.xfail(f"Fast DDS locked up while {self.name} shut down, and the shutdown watchdog ended it")
        return code

    def kill(self) -> None:
        """Kill the process, as the kernel does when memory runs out."""
        self.process.kill()
        self.process.wait()


class Observer:
    """The test's own node in the processes' domain: it receives every truth state, waits and calls services.

    Attributes:
        stamps: stamps of all truth states received, ns.
    """

    def __init__(self, domain: int, namespace: str = "", truth: str = TRUTH_STATE.name) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain, args=[])
        # Commands that ask all nodes for parameters need not wait until this one is spun.
        self.node = Node("observer", namespace=namespace, context=self.context, start_parameter_services=False)
        self.executor = _executor(self.context)
        self.executor.add_node(self.node)
        self.stamps: list[int] = []
        deep = QoSProfile(depth=10000, reliability=ReliabilityPolicy.RELIABLE)
        self.node.create_subscription(SimState, truth, lambda m: self.stamps.append(stamp_ns(m)), deep, raw=True)

    @property
    def time_s(self) -> float:
        """Simulated time of the newest truth state, s."""
        return self.stamps[-1] / NANOSECONDS if self.stamps else -1.0

    def add(self, node: Node) -> None:
        """Spin another node of the test as well; it is destroyed with the observer."""
        self.executor.add_node(node)

    def wait_for(
        self, condition: Callable[[], bool], what: str, timeout: float = TIMEOUT_S, *, every_s: float = 0.0
    ) -> None:
        """Run until the condition holds; it is evaluated after each message, or every `every_s` of system time."""
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"not within {timeout} s: {what} (truth at {self.time_s} s)"
            self.executor.spin_once(timeout_sec=0.05)
            self.spin(every_s)

    def spin(self, seconds: float) -> None:
        """Run for this much system time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def wait_for_advance(self, seconds: float, what: str = "time advances") -> None:
        """Run until simulated time has advanced by this many seconds."""
        self.wait_for(lambda: bool(self.stamps), what)
        began = self.time_s
        self.wait_for(lambda: self.time_s >= began + seconds, what)

    def call(self, service_type: Any, name: str, request: Any) -> Any:
        """Call a service and return its response."""
        client = self.node.create_client(service_type, name)
        self.wait_for(client.service_is_ready, f"service {name}")
        # A service that has not yet discovered the client executes the request, but its response is lost.
        self.spin(0.2)
        future = client.call_async(request)
        self.wait_for(future.done, f"answer of {name}")
        self.node.destroy_client(client)
        return future.result()

    def set_number(self, node: str, name: str, value: float) -> SetParametersResult:
        """Set a parameter of type double of a node and return the node's result."""
        change = Parameter(name, value=value).to_parameter_msg()
        return self.call(SetParameters, f"{node}/set_parameters", SetParameters.Request(parameters=[change])).results[0]

    def trigger(self, name: str) -> str:
        """Call a Trigger service, check that it succeeds, and return its message."""
        answer = self.call(Trigger, name, Trigger.Request())
        assert answer.success, f"{name}: {answer.message}"
        return str(answer.message)

    def has_node(self, node_name: str) -> bool:
        """Whether a node with this name is in the graph."""
        return node_name in self.node.get_node_names()

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


def _executor(context: Context) -> Executor:
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


class Processes:
    """Starts programs and observers in one domain, and ends them all.

    Attributes:
        environment: environment variables of programs started from now on.
        forked: whether programs started from now on are forked; otherwise each is a new interpreter.
    """

    def __init__(self, domain: int, folder: Path, *, forked: bool = True) -> None:
        self.domain = domain
        self.folder = folder
        self.forked = forked
        self.programs: dict[str, Program] = {}
        self.all: list[Program] = []
        self._observers: list[Observer] = []
        self.environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        self.environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, (str(PROJECT), self.environment.get("PYTHONPATH")))
        )

    def run(self, module: str, *arguments: str) -> Program:
        """Start a module of the package as a program."""
        words = list(arguments)
        program = Program(f"rosflight_py_sim.{module}", words, self.environment, self.folder, forked=self.forked)
        self.all.append(program)
        return program

    def command(self, *arguments: str) -> Program:
        """Start the command `rosflight_py_sim`."""
        return self.run("__main__", *arguments)

    def node(self, executable: str, *ros_arguments: str) -> Program:
        """Start a node."""
        program = self.run("executables", executable, "--ros-args", *ros_arguments)
        self.programs[executable] = program
        return program

    def observer(self, **options: Any) -> Observer:
        """The test's own node in the domain."""
        observer = Observer(self.domain, **options)
        self._observers.append(observer)
        return observer

    def close(self) -> None:
        """End all processes by their ids, and check that none is left."""
        # The observers first: Fast DDS may lock up if a participant leaves while one of this process is destroyed.
        for observer in self._observers:
            observer.close()
        running = [program for program in self.all if program.process.poll() is None]
        for program in running:
            program.signal(signal.SIGTERM)
        end = time.monotonic() + SHUTDOWN_TIMEOUT_S
        for program in running:
            try:
                program.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                program.kill()
        left = [p.name for p in self.all if p.process.poll() is None or _group_is_alive(p.process.pid)]
        assert not left, f"left behind: {left}"


def _group_is_alive(process_group: int) -> bool:
    try:
        os.killpg(process_group, 0)
    except ProcessLookupError:
        return False
    return True


class SimulationProcesses(Processes):
    """The multirotor's nodes, one process each.

    Attributes:
        time_mode: wall, paced, gated or lockstep.
        nodes: executables of all nodes, the time manager last.
    """

    def __init__(
        self,
        domain: int,
        folder: Path,
        time_mode: str,
        multiplier: float,
        *extra: str,
        leave_out: Sequence[str] = (),
        forked: bool = True,
    ) -> None:
        super().__init__(domain, folder, forked=forked)
        self.time_mode = time_mode
        self.multiplier = multiplier
        manager = TIME_MANAGERS.get(time_mode)
        nodes = [*CHAIN_NODES, *([manager] if manager else [])]
        self.nodes = [executable for executable in nodes if executable not in leave_out]
        self._extra = extra

    def start(self, executable: str, *ros_arguments: str) -> Program:
        """Start one of the nodes with the multirotor's parameters."""
        arguments = ["--params-file", str(MULTIROTOR.parameter_file), "-p", f"time_mode:={self.time_mode}"]
        arguments += ["-p", f"use_sim_time:={'false' if self.time_mode == 'wall' else 'true'}"]
        if executable == "sil_board":
            arguments += ["-p", f"firmware_param_file:={MULTIROTOR.firmware_file}"]
        if executable == "rc":
            # Ignore any joystick connected to the test machine.
            arguments += ["-p", "device:=none"]
        if executable in TIME_MANAGERS.values():
            arguments += ["-p", f"real_time_multiplier:={self.multiplier}"]
        return self.node(executable, *arguments, *ros_arguments, *self._extra)

    def start_all(self) -> None:
        """Start all nodes."""
        for executable in self.nodes:
            self.start(executable)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run restarts last: they take longest."""
    items.sort(key=lambda item: item.path.stem == "test_disturbances")


@pytest.fixture(scope="session", autouse=True)
def _sigterm_closes_fixtures() -> None:
    """Let SIGTERM close the fixtures."""
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("SIGTERM"))


@pytest.fixture(scope="module")
def start_simulation(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, claim_domain: ClaimDomain
) -> Iterator[Callable[..., SimulationProcesses]]:
    """A function (time_mode, multiplier, *ROS arguments of all nodes) that starts the graph until the module ends."""
    with simulations(tmp_path_factory.mktemp("processes"), claim_domain, forked=_are_forked(request)) as start:
        yield start


def _are_forked(request: pytest.FixtureRequest) -> bool:
    return request.node.get_closest_marker("new_interpreter") is None


@contextmanager
def simulations(
    folder: Path, claim_domain: ClaimDomain, *, forked: bool
) -> Iterator[Callable[..., SimulationProcesses]]:
    """Like the fixture `start_simulation`, until the context ends."""
    with claim_domain() as domain:
        started: list[SimulationProcesses] = []

        def start(
            time_mode: str, multiplier: float = SLOWLY, *ros_arguments: str, leave_out: Sequence[str] = ()
        ) -> SimulationProcesses:
            simulation = SimulationProcesses(
                domain, folder, time_mode, multiplier, *ros_arguments, leave_out=leave_out, forked=forked
            )
            started.append(simulation)
            simulation.start_all()
            return simulation

        try:
            yield start
        finally:
            for simulation in started:
                simulation.close()


@pytest.fixture
def processes(request: pytest.FixtureRequest, tmp_path: Path, claim_domain: ClaimDomain) -> Iterator[Processes]:
    """Programs of one test, in a separate domain."""
    with claim_domain() as domain:
        started = Processes(domain, tmp_path, forked=_are_forked(request))
        try:
            yield started
        finally:
            started.close()


Interrupted = Callable[..., "tuple[int, str, str]"]

# Python prints and drops a KeyboardInterrupt raised in `__del__`, and rclpy has many of these methods.
_INTERRUPTED = """
import importlib, os, signal, sys
class Interrupt:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        list(range(10))
def interrupting(function):
    def call(*arguments):
        if not done:
            done.append(Interrupt())
            done[0] = None
        return function(*arguments)
    done = []
    return call
module, _, name = sys.argv.pop(1).partition(".")
place = importlib.import_module(module)
setattr(place, name, interrupting(getattr(place, name)))
from rosflight_py_sim.executables import command
command()
"""


@pytest.fixture
def interrupted_command(ros_domain: int) -> Interrupted:
    """A function (name of a function, *command line) that sends Ctrl-C when the command calls the named function.

    The signal arrives while an object is destroyed. Returns exit code, stdout and stderr.
    """

    def run(place: str, *arguments: str) -> tuple[int, str, str]:
        result = subprocess.run(
            [sys.executable, "-c", _INTERRUPTED, place, *arguments],
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return result.returncode, result.stdout, result.stderr

    return run


@pytest.fixture
def simulate(
    request: pytest.FixtureRequest, tmp_path: Path, claim_domain: ClaimDomain
) -> Iterator[Callable[..., SimulationProcesses]]:
    """Like `start_simulation`, until the test ends."""
    with simulations(tmp_path, claim_domain, forked=_are_forked(request)) as start:
        yield start
