"""Running of one node as a process: arguments, signals, exit codes."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from rclpy.validate_namespace import validate_namespace

from rosflight_py_sim.ground.node_kinds import present_name
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, is_utf8, shown
from rosflight_py_sim.ground.registry import node_names, registered_node, usable_classes
from rosflight_py_sim.interfaces.given_values import sources_of_arguments
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.interfaces.parameter_files import check_files, files_of_arguments
from rosflight_py_sim.interfaces.rclpy_internals import RCLError, UnknownROSArgsError, make_executor
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.step.part import Part

# Long enough to cost nothing, short enough to react to signals at once.
_SPIN_TIMEOUT_S = 0.2

# A shutdown takes some tenths of a second; ros2 launch sends SIGTERM 5 s after SIGINT.
_SHUTDOWN_S = 4.0

_STDERR = 2

_REFUSALS = (RCLError, UnknownROSArgsError, NameValidationException)

# rclpy.init raises a plain RuntimeError for a log file that it cannot create.
_NO_LOG_FILE = "Failed opening file"


def node_class(executable: str) -> type[SimulationNode]:
    """Class of the registered node with this name.

    Raises:
        ParameterError: there is no such node, or it cannot be loaded.
    """
    registered = registered_node(executable)
    if not issubclass(registered, Part):
        raise ParameterError(
            f"node '{executable}': class {registered.__name__} given; allowed: classes derived from Part or "
            "SimulationNode"
        )
    return node_of(registered)


def require_complete(cls: type[SimulationNode]) -> None:
    """Check that a node class has every abstract method of its interface class.

    Raises:
        ParameterError: methods are missing; the text names the class, its interface class and the methods.
    """
    missing: frozenset[str] = getattr(cls, "__abstractmethods__", frozenset())
    if missing:
        bases = (base for base in cls.__mro__[1:] if base.__module__.startswith("rosflight_py_sim."))
        interface = next(base for base in bases if missing <= getattr(base, "__abstractmethods__", frozenset()))
        raise ParameterError(
            f"class {cls.__name__} lacks the method{'s' if len(missing) > 1 else ''} {', '.join(sorted(missing))} of "
            f"{interface.__name__}"
        )


def chosen_nodes(executables: Iterable[str]) -> dict[str, str]:
    """Executables of a simulation's nodes, by name; a later one replaces the earlier nodes that its class FILLS."""
    chosen: dict[str, str] = {}
    for executable in executables:
        cls = node_class(executable)
        filled = {cls.DEFAULT_NAME, *cls.FILLS}
        chosen = {name: other for name, other in chosen.items() if name not in filled}
        chosen[cls.DEFAULT_NAME] = executable
    return chosen


class SharedNames(Iterable[str]):
    """Names of the parameters of all nodes and wind models; modules are loaded only when the names are needed."""

    def __iter__(self) -> Iterator[str]:
        """All names."""
        from rosflight_py_sim.physics.wind_model import WindModel

        for executable in node_names():
            yield from (p.name for p in node_class(executable).PARAMETERS)
        for model in usable_classes("wind_models", WindModel).values():
            yield from (p.name for p in model.PARAMETERS)


def help_text(name: str, cls: type[SimulationNode]) -> str:
    """Usage of an executable: what the node does, and its parameters."""
    summary = (cls.__doc__ or "").strip().splitlines()[0]
    lines = [f"usage: {name} [--help] [--ros-args ...]", "", summary, "", "parameters:"]
    lines += parameter_lines(cls.PARAMETERS)
    lines += [
        "",
        "  --ros-args -p NAME:=VALUE sets one, --params-file FILE several; `ros2 param describe` has details.",
    ]
    return "\n".join(lines)


def parameter_lines(table: ParameterTable) -> list[str]:
    """One line per parameter: name, default, unit."""
    lines = []
    for p in table:
        default = "required" if p.required else str(p.default)
        if len(default) > 40:
            default = default[:37] + "..."
        lines.append(f"  {p.name:32s} {default}{' ' + p.unit if p.unit and not p.required else ''}")
    return lines


def run_by_name(name: str) -> None:
    """Run the registered node of that name, as `run`."""
    try:
        cls = node_class(present_name(name))
    except ParameterError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(1)
    run(cls)


def run(
    part: type[Part],
    arguments: Sequence[str] | None = None,
    *,
    started: Callable[[str], None] | None = None,
) -> None:
    """Run a node, or the node of a part, until a signal or the node itself ends it, and exit.

    Exit codes: 0 after a signal, or if the node has quit; 1 for a refused parameter, an incomplete class, or a shutdown
    that the watchdog ended.

    Args:
        part: class of the node or part.
        arguments: command line, program name first; None: sys.argv.
        started: called once, with an empty text if the node was created, otherwise with the reason; None: the reason is
            printed to stderr.
    """
    cls = node_of(part)
    argv = list(sys.argv if arguments is None else arguments)
    with deferred_signals() as signals:
        try:
            code = _run(cls, argv, signals, started or (lambda _: None))
        except ParameterError as error:
            refusal = f"{cls.DEFAULT_NAME}: {error}"
            if started is None:
                print(refusal, file=sys.stderr)
            else:
                started(refusal)
            code = 1
        finally:
            rclpy.try_shutdown()
    sys.exit(code)


def _run(cls: type[SimulationNode], argv: list[str], signals: list[int], started: Callable[[str], None]) -> int:
    name = argv[0].rsplit("/", 1)[-1].removesuffix(".py")
    rest = ordinary_arguments(argv)
    if rest:
        asked = rest in (["--help"], ["-h"])
        print(help_text(name, cls) if asked else f"{name}: unknown arguments {rest}; see {name} --help")
        return 0 if asked else 2
    require_complete(cls)
    prepare_kernels(signals)
    if signals:
        return 0
    initialise(argv)
    with refusals_of_ros():
        node = cls(sources=sources_of_arguments(argv), shared_names=SharedNames())
    executor = make_executor()
    executor.add_node(node)
    settle()
    started("")
    # spin() of the EventsExecutor answers neither signals nor timers; spin_once does, at the same speed.
    while not signals and not node.control.has_quit:
        node.spin_once(executor, _SPIN_TIMEOUT_S)
    start_shutdown_watchdog(_SHUTDOWN_S)
    executor.remove_node(node)
    node.destroy_node()
    return 0


def start_shutdown_watchdog(seconds: float) -> None:
    """After `seconds`, print "Timeout", the time and each thread's stack to stderr, and exit with code 1.

    Fast DDS 3.2 deadlocks if its announcement timer fires while an endpoint of another participant is removed:
    `PDP::removeWriterProxyData` holds the lock of the discovery and waits for the timers, and the timer waits for that
    lock in `PDP::set_next_announcement_interval`. The next call that creates or destroys an endpoint never returns.
    When all nodes leave at once, on Ctrl-C, this happens to about one in several hundred. The thread holds Python's
    interpreter lock, so the watchdog must not run Python code.
    """
    # By its number, because sys.stderr may be no file.
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STDERR)


@contextlib.contextmanager
def shutdown_watchdog(seconds: float) -> Iterator[None]:
    """Like `start_shutdown_watchdog`, until the context ends."""
    start_shutdown_watchdog(seconds)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def ordinary_arguments(argv: list[str]) -> list[str]:
    """Arguments of a command line that are not for ROS, without the program name.

    Raises:
        ParameterError: ROS refuses its arguments, or a parameter file is invalid.
    """
    check_utf8(argv)
    check_files(files_of_arguments(argv))
    with refusals_of_ros():
        rest: list[str] = remove_ros_args(argv)[1:]
    return rest


def check_utf8(words: Iterable[str]) -> None:
    """Check words that ROS receives.

    Raises:
        ParameterError: a word has bytes that are not UTF-8.
    """
    for word in words:
        if not is_utf8(word):
            raise ParameterError(f"'{shown(word)}' given; allowed: UTF-8, which ROS requires of names and files")


def initialise(argv: list[str]) -> None:
    """Initialise rclpy with a command line that `ordinary_arguments` has checked.

    Raises:
        ParameterError: ROS refuses it.
    """
    # A client that has ended needs no reply; a running client has its own time limit.
    warnings.filterwarnings("ignore", "failed to send response", RuntimeWarning)
    with refusals_of_ros():
        # rclpy's own handler would shut the context down while callbacks still use it.
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)


def check_namespace(namespace: str) -> None:
    """Check a namespace before a node or a topic has it.

    Raises:
        ParameterError: ROS does not allow it.
    """
    check_utf8([namespace])
    with refusals_of_ros():
        validate_namespace(f"/{namespace.lstrip('/')}")


@contextlib.contextmanager
def refusals_of_ros() -> Iterator[None]:
    """Convert errors of ROS about arguments, names or the domain into a ParameterError of one line."""
    try:
        yield
    except (RuntimeError, *_REFUSALS) as error:
        if not isinstance(error, _REFUSALS) and not str(error).startswith(_NO_LOG_FILE):
            raise
        # The position in rcl's source code does not help the user.
        text = re.sub(r", at \S+:\d+", "", str(error))
        if isinstance(error, UnknownROSArgsError):
            text = f"unknown ROS arguments {text}"
        if text.startswith(_NO_LOG_FILE) or ("log" in text and "director" in text):
            text += " (set HOME, or ROS_LOG_DIR to a folder that you can write to)"
        raise ParameterError(" ".join(text.split())) from error


@contextlib.contextmanager
def deferred_signals() -> Iterator[list[int]]:
    """Context in which SIGINT and SIGTERM only append their number to the yielded list.

    A context within another one yields the same list. After the first signal the process is shutting down: later ones
    are ignored, even after the outer context.
    """
    outer = signal.getsignal(signal.SIGINT)
    if isinstance(outer, _Received):
        yield outer
        return
    received = _Received()
    old = {number: signal.signal(number, received) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in old.items():
            signal.signal(number, signal.SIG_IGN if received else handler)


class _Received(list[int]):
    """Handler that collects the numbers of the received signals."""

    def __call__(self, number: int, _: object) -> None:
        self.append(number)


def settle() -> None:
    """Exclude all existing objects from garbage collection, because they exist as long as the process.

    If objects are already excluded, nothing changes: a program that creates several graphs must be able to free them.
    """
    if gc.get_freeze_count() == 0:
        gc.collect()
        gc.freeze()
