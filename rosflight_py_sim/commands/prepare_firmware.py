"""Command `rosflight_py_sim prepare-firmware`: loads parameters into a running flight controller and calibrates it."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosflight_py_sim.commands.pilots import DISCOVERY_S, HINT, TIMEOUT_S, run_pilots
from rosflight_py_sim.ground.parameters import ParameterError

if TYPE_CHECKING:
    from rosflight_py_sim.commands.service_client import ServiceClient

# Time limits, s of system time: for the reply of a service; for the parameters of a flight controller to arrive over
# its link (ROSflight's takes tens of seconds); and for those that were set to be in force.
_REPLY_S, _PARAMETERS_S, _IN_FORCE_S = 20.0, 180.0, 10.0

# Parameters are numbers of 32 bits in ROSflight's firmware.
_PRECISION = 1e-6


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

    from rosflight_py_sim.commands.service_client import InterruptedCallError, service_client
    from rosflight_py_sim.firmware.parameter_file import ParameterFileError, read_entries
    from rosflight_py_sim.nodes.running import check_namespace, initialise

    try:
        entries = {entry.name: entry.value for entry in read_entries(options.file)}
    except ParameterFileError as error:
        raise ParameterError(str(error)) from error
    except ValueError as error:
        raise ParameterError(f"{options.file}: {error}") from error
    check_namespace(options.namespace)
    initialise(["rosflight_py_sim", *options.ros_arguments])
    try:
        name, place = "prepare_firmware", options.namespace
        with service_client(name, place, signals=signals, note_after_s=DISCOVERY_S) as client:
            _load(client, options.file, entries)
        from rosflight_py_sim.nodes.preparation_pilot import PreparationPilot

        if not signals:
            run_pilots({options.namespace: PreparationPilot(namespace=options.namespace)}, signals)
    except InterruptedCallError:
        pass
    finally:
        rclpy.try_shutdown()


def _load(client: ServiceClient, file: Path, entries: Mapping[str, float]) -> None:
    """Set the parameters, and wait until they are in force.

    Raises:
        ParameterError: the flight controller does not have, or does not accept, the values.
    """
    from rosflight_msgs.srv import ParamGet, ParamSet
    from std_srvs.srv import Trigger

    def call(service: str, kind: Any, request: Any) -> Any:
        text = (
            f"the service {client.node.resolve_service_name(service)} is not available within {TIMEOUT_S:g} s ({HINT})"
        )
        return client.call(service, kind, request, missing=text, missing_s=TIMEOUT_S, reply_s=_REPLY_S)

    client.wait(
        lambda: call("all_params_received", Trigger, Trigger.Request()).success,
        _PARAMETERS_S,
        "the flight controller has not received all of its parameters",
    )
    unknown = [
        name
        for name, value in entries.items()
        if not call("param_set", ParamSet, ParamSet.Request(name=name, value=value)).exists
    ]
    if unknown:
        print(f"{file}: not parameters of this flight controller, ignored: {', '.join(unknown)}", file=sys.stderr)
    expected = {name: value for name, value in entries.items() if name not in unknown}
    if not expected:
        raise ParameterError(f"{file}: none of its {len(entries)} parameters is one of this flight controller")
    found: dict[str, float] = {}

    def are_in_force() -> bool:
        for name in [name for name in expected if not _equal(found.get(name), expected[name])]:
            found[name] = call("param_get", ParamGet, ParamGet.Request(name=name)).value
        return all(_equal(found[name], value) for name, value in expected.items())

    def text() -> str:
        refused = [name for name, value in expected.items() if not _equal(found[name], value)]
        values = ", ".join(f"{name}: {expected[name]:g} given, {found[name]:g} in force" for name in refused)
        return f"{file}: the flight controller did not take {len(refused)} of {len(expected)} parameters: {values}"

    client.wait(are_in_force, _IN_FORCE_S, text)
    print(f"{len(expected)} parameters of {file} are in force", flush=True)


def _equal(found: float | None, given: float) -> bool:
    return found is not None and math.isclose(found, given, rel_tol=_PRECISION, abs_tol=1e-30)
