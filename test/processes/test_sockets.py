"""A simulation with every front-end and viewer receives at 127.0.0.1 only."""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from free_ports import free_ports

from rosflight_py_sim.ground.process_environment import profile_variable
from rosflight_py_sim.ground.registry import registered
from rosflight_py_sim.ground.ros_distributions import rclpy_version
from test.processes.conftest import PROJECT, Processes, Program

pytestmark = pytest.mark.timeout(240)

SCENARIO = """\
description: every front-end
world: open_water
vehicles:
  - {name: copter, kind: multirotor, flight_controller: ardupilot, start: {position: [0.0, 0.0]}}
  - {name: other, kind: multirotor, flight_controller: px4, start: {position: [8.0, 0.0]}}
  - {name: plane, kind: uthere, start: {position: [0.0, 4.0]}}
  - {name: sub, kind: auv, flight_controller: auv_zeromq, start: {position: [-4.0, 2.0]}}
"""

FLIGHTS = """\
description: mass of the multirotor
vehicle: multirotor
runs: 1
limit: 10
parameters:
  step_size: 0.02
  mass: {uniform: [2.8, 3.4]}
"""

PROFILE = profile_variable(rclpy_version())
ADDRESS = "ROSFLIGHT_PY_SIM_ADDRESS"

# Datagrams sent to a socket to find out whether it is read.
DATAGRAMS, SIZE = 20, 100


class Bound(NamedTuple):
    """A receiving socket: its protocol, address and port, and the bytes not yet read."""

    protocol: str
    address: str
    port: int
    waiting: int


def sockets(process: int) -> Iterator[Bound]:
    """UDP sockets and listening TCP sockets of a process."""
    own = set()
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        try:
            own.update(re.findall(r"^socket:\[(\d+)\]$", str(descriptor.readlink())))
        except FileNotFoundError:
            continue
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{process}/net/{protocol}").read_text().splitlines()[1:]:
            _, local, _, state, queues, *_, inode = line.split()[:10]
            address, port = local.split(":")
            if inode in own and (protocol.startswith("udp") or state == "0A"):
                yield Bound(
                    protocol, address_text(bytes.fromhex(address)), int(port, 16), int(queues.split(":")[1], 16)
                )


def address_text(address: bytes) -> str:
    """Numeric form of an address of /proc/net, whose words have the machine's byte order."""
    words = [address[k : k + 4][::-1] for k in range(0, len(address), 4)]
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words))


def is_read(process: int, one: Bound) -> bool:
    """Whether the process reads what arrives at a UDP socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(DATAGRAMS):
            sender.sendto(bytes(SIZE), ("127.0.0.1" if one.address == "0.0.0.0" else one.address, one.port))
    end_s = time.monotonic() + 2.0
    while time.monotonic() < end_s:
        found = [other for other in sockets(process) if other[:3] == one[:3]]
        if found and found[0].waiting <= one.waiting:
            return True
        time.sleep(0.1)
    return False


def with_children(process: int) -> list[int]:
    """A process and its descendants."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    below = [int(child) for task in tasks for child in task.read_text().split()]
    return [process, *(one for child in below for one in with_children(child))]


def test_every_socket_that_is_read_is_at_a_documented_port_of_loopback(processes: Processes, tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(SCENARIO)
    assert set(registered("front_ends")) == {"ardupilot", "px4", "uthere", "auv_zeromq"}
    # Each of the other vehicles has a port that refuses ArduPilot's frames, and one that refuses PX4.
    first, *others = free_ports(4, apart=10)
    first_px4, *others_px4 = free_ports(4)
    others += others_px4
    names = [
        *("auv_zeromq.image_port", "auv_zeromq.thruster_port", "auv_zeromq.telemetry_port"),
        *("uthere.udp_port_in", "uthere.udp_port_out", "web_viewer.port", "mavlink.port"),
    ]
    given = {"ardupilot.port": first, "px4.port": first_px4, **dict(zip(names, free_ports(len(names)), strict=True))}
    parameters = [word for name, port in given.items() for word in ("-p", f"{name}:={port}")]
    # The tests set these variables for all nodes; here the command must set them.
    for name in (PROFILE, ADDRESS):
        del processes.environment[name]
    program = processes.command("sim", "--scenario", str(file), "--view", "--ros-args", *parameters)
    wait_until_viewed(program)
    received = set()
    for process in with_children(program.process.pid):
        for one in sockets(process):
            if one.address == "127.0.0.1":
                received.add(one.port)
            else:
                # Fast DDS sends from these sockets.
                assert one.protocol == "udp" and not is_read(process, one), one
    bound = {name: port for name, port in given.items() if name != "uthere.udp_port_out"}
    assert {*bound.values(), *others} <= received
    page = (PROJECT / "docs" / "security.md").read_text(encoding="utf-8")
    assert [name for name in given if f"`{name}`" not in page] == []
    # In addition, each process has two ports of DDS.
    assert len(received - {*bound.values(), *others}) <= 4 * len(with_children(program.process.pid))


def test_node_started_alone_receives_on_loopback_only(processes: Processes) -> None:
    for name in ("ROS_AUTOMATIC_DISCOVERY_RANGE", PROFILE, ADDRESS):
        del processes.environment[name]
    # Without a client or a viewer, it has only DDS's sockets.
    program = processes.node("rc", "-p", "device:=none")
    observer = processes.observer(truth="none")
    observer.wait_for(lambda: observer.has_node("rc"), "the node")
    found = list(sockets(program.process.pid))
    assert "127.0.0.1" in {one.address for one in found}
    # Fast DDS sends from the others.
    assert [one for one in found if one.address != "127.0.0.1" and is_read(program.process.pid, one)] == []


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_ray_runtime_of_a_sweep_listens_on_loopback(processes: Processes, tmp_path: Path) -> None:
    file = tmp_path / "flights.yaml"
    file.write_text(FLIGHTS)
    program = processes.command("sweep", str(file), "--ray", "local")
    found: set[Bound] = set()
    while program.process.poll() is None:
        for process in with_children(program.process.pid):
            # A process may end meanwhile.
            with contextlib.suppress(FileNotFoundError, PermissionError):
                found |= {one for one in sockets(process) if one.protocol.startswith("tcp")}
        time.sleep(0.05)
    assert program.wait() == 0, program.stderr
    assert len(found) > 3
    assert {one.address for one in found} <= {"127.0.0.1", "::ffff:127.0.0.1"}, found


def wait_until_viewed(program: Program) -> None:
    end_s = time.monotonic() + 120.0
    while "see the simulation in a browser" not in program.stdout:
        assert program.process.poll() is None, program.stderr
        assert time.monotonic() < end_s, program.stderr
        time.sleep(0.1)
