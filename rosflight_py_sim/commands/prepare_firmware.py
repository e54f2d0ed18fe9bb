"""Command `rosflight_py_sim prepare-firmware`: loads parameters into a running flight controller and calibrates it."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosflight_py_sim.commands.pilots import DISCOVERY_S, HINT, TIMEOUT_S, run_pilots
from rosflight_py_sim.ground.parameters import ParameterError

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.task import Future

# Time limits, s of system time: for the reply of a service, which is called again at the interval that follows; for the
# parameters of a flight controller to arrive over its link (ROSflight's takes tens of seconds); and for those that were
# set to be in force.
_REPLY_S, _REPEAT_S, _PARAMETERS_S, _IN_FORCE_S = 20.0, 2.0, 180.0, 10.0

# Parameters are numbers of 32 bits in ROSflight's firmware.
_PRECISION = 1e-6

_POLL_S = 0.2


def add_prepare_firmware_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "prepare-firmware",
        help="load a parameter file into a running flight controller, calibrate and store",
        description="Set the flight controller's parameters from a file, check that they are in force, calibrate the "
        "IMU, and store the parameters. Works with sil_board and with ROSflight's rosflight_io.",
        epilog="Arguments after --ros-args are passed to ROS.",
    )
    parser.add_argument("file", type=Path, help="parameter file in ROSflight's format: a list of {name, type, value}")
    parser.add_argument(
        "--namespace", default="", metavar="NS", help="namespace of the vehicle's nodes (default: none)"
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from rosflight_py_sim.nodes.running import deferred_signals

    # An interrupt in an rclpy callback can be lost or cause a traceback.
    with deferred_signals() as signals:
        _prepare(options, signals)
    if signals:
        raise KeyboardInterrupt
    return 0


def _prepare(options: argparse.Namespace, signals: Sequence[int]) -> None:
    """Prepare the flight controller; stop at a signal.

    Raises:
        ParameterError: the file cannot be read, or a step failed.
    """
    import rclpy

    from rosflight_py_sim.firmware.parameter_file import ParameterFileError, read_entries
    from rosflight_py_sim.nodes.running import check_namespace, initialise, refusals_of_ros

    try:
        entries = {entry.name: entry.value for entry in read_entries(options.file)}
    except ParameterFileError as error:
        raise ParameterError(str(error)) from error
    except ValueError as error:
        raise ParameterError(f"{options.file}: {error}") from error
    check_namespace(options.namespace)
    initialise(["rosflight_py_sim", *options.ros_arguments])
    try:
        with refusals_of_ros(), _calling(options.namespace, signals) as calls:
            _load(calls, options.file, entries)
        from rosflight_py_sim.nodes.preparation_pilot import PreparationPilot

        if not signals:
            run_pilots({options.namespace: PreparationPilot(namespace=options.namespace)}, signals)
    except _InterruptedError:
        pass
    finally:
        rclpy.try_shutdown()


def _load(calls: _Calls, file: Path, entries: Mapping[str, float]) -> None:
    """Set the parameters, and wait until they are in force.

    Raises:
        ParameterError: the flight controller does not have, or does not accept, the values.
    """
    from rosflight_msgs.srv import ParamGet, ParamSet
    from std_srvs.srv import Trigger

    calls.wait(
        lambda: calls.call("all_params_received", Trigger, Trigger.Request()).success,
        _PARAMETERS_S,
        "the flight controller has not received all of its parameters",
    )
    unknown = [
        name
        for name, value in entries.items()
        if not calls.call("param_set", ParamSet, ParamSet.Request(name=name, value=value)).exists
    ]
    if unknown:
        print(f"{file}: not parameters of this flight controller, ignored: {', '.join(unknown)}", file=sys.stderr)
    expected = {name: value for name, value in entries.items() if name not in unknown}
    if not expected:
        raise ParameterError(f"{file}: none of its {len(entries)} parameters is one of this flight controller")
    found: dict[str, float] = {}

    def are_in_force() -> bool:
        for name in [name for name in expected if not _equal(found.get(name), expected[name])]:
            found[name] = calls.call("param_get", ParamGet, ParamGet.Request(name=name)).value
        return all(_equal(found[name], value) for name, value in expected.items())

    def text() -> str:
        refused = [name for name, value in expected.items() if not _equal(found[name], value)]
        values = ", ".join(f"{name}: {expected[name]:g} given, {found[name]:g} in force" for name in refused)
        return f"{file}: the flight controller did not take {len(refused)} of {len(expected)} parameters: {values}"

    calls.wait(are_in_force, _IN_FORCE_S, text)
    print(f"{len(expected)} parameters of {file} are in force", flush=True)


def _equal(found: float | None, given: float) -> bool:
    return found is not None and math.isclose(found, given, rel_tol=_PRECISION, abs_tol=1e-30)


class _InterruptedError(Exception):
    """A signal has arrived."""


class _Calls:
    """Service calls of a node, one at a time."""

    def __init__(self, node: Node, spin: Callable[[float], None], signals: Sequence[int]) -> None:
        self._node, self._spin, self._signals = node, spin, signals
        self._clients: dict[str, Any] = {}

    def call(self, service: str, kind: Any, request: Any) -> Any:
        """Response of a service that may be called twice with the same effect.

        The call is repeated: a server that has not discovered the client yet drops its first response.

        Raises:
            ParameterError: the service is missing, or does not reply.
        """
        client = self._clients.get(service)
        if client is None:
            client = self._clients[service] = self._node.create_client(kind, service)
            text = f"the service {client.srv_name} is not available within {TIMEOUT_S:g} s ({HINT})"
            self.wait(client.service_is_ready, TIMEOUT_S, text)
        futures: list[Future[Any]] = []
        repeat_s = 0.0

        def has_reply() -> bool:
            nonlocal repeat_s
            if time.monotonic() >= repeat_s:
                repeat_s = time.monotonic() + _REPEAT_S
                futures.append(client.call_async(request))
            return any(future.done() for future in futures)

        self.wait(has_reply, _REPLY_S, f"no reply from {client.srv_name} within {_REPLY_S:g} s")
        for future in futures:
            if not future.done():
                client.remove_pending_request(future)
        return next(future.result() for future in futures if future.done())

    def wait(self, condition: Callable[[], bool], limit_s: float, failure: str | Callable[[], str]) -> None:
        """Wait for a condition.

        Raises:
            ParameterError: the condition does not hold within the limit; the text is `failure`.
            _InterruptedError: a signal has arrived.
        """
        start_s, has_noted = time.monotonic(), False
        while not condition():
            if self._signals:
                raise _InterruptedError
            elapsed_s = time.monotonic() - start_s
            if elapsed_s > limit_s:
                raise ParameterError(failure if isinstance(failure, str) else failure())
            if elapsed_s > DISCOVERY_S and not has_noted and isinstance(failure, str):
                has_noted = True
                print(f"waiting up to {limit_s:g} s: {failure}", file=sys.stderr, flush=True)
            self._spin(_POLL_S)


@contextmanager
def _calling(namespace: str, signals: Sequence[int]) -> Iterator[_Calls]:
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node

    node, executor = Node("prepare_firmware", namespace=namespace), SingleThreadedExecutor()
    executor.add_node(node)
    try:
        yield _Calls(node, executor.spin_once, signals)
    finally:
        node.destroy_node()
        executor.shutdown()
