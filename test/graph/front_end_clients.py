"""One client program of each front-end, for tests that run the graph in their own thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import zmq
from free_ports import free_ports

from test.bridge.uthere_bench import Program
from test.graph.ardupilot_client import ArduPilotClient


class Ports:
    """A free port for every socket of the bridge."""

    def __init__(self) -> None:
        self.ardupilot, self.uthere_in, self.uthere_out, self.image, self.thruster, self.telemetry = free_ports(6)

    @property
    def settings(self) -> dict[str, Any]:
        """Values of the bridge's parameters, by name."""
        return {
            "ardupilot.port": self.ardupilot,
            "uthere.udp_port_in": self.uthere_in,
            "uthere.udp_port_out": self.uthere_out,
            "start_date": "1970-01-01",
            "auv_zeromq.image_port": self.image,
            "auv_zeromq.thruster_port": self.thruster,
            "auv_zeromq.telemetry_port": self.telemetry,
            "auv_zeromq.telemetry_rate": 400.0,
        }

    @property
    def arguments(self) -> list[str]:
        """The same as ROS arguments."""
        return [word for name, value in self.settings.items() for word in ("-p", f"{name}:={value}")]


class AuvClient:
    """A client of the AUV protocol."""

    def __init__(self, closing: ExitStack, ports: Ports) -> None:
        context = zmq.Context()
        closing.callback(context.destroy, linger=0)
        self.telemetry, self.images = context.socket(zmq.SUB), context.socket(zmq.SUB)
        self.thrusters = context.socket(zmq.PUSH)
        for socket, port in (
            (self.telemetry, ports.telemetry),
            (self.images, ports.image),
            (self.thrusters, ports.thruster),
        ):
            socket.connect(f"tcp://127.0.0.1:{port}")
        for socket in (self.telemetry, self.images):
            socket.set_hwm(0)
            socket.subscribe(b"")

    def collected(self, socket: zmq.Socket[bytes]) -> Iterator[list[bytes]]:
        while socket.poll(0):
            yield socket.recv_multipart()


def ardupilot_client(graph: Any, ports: Ports, closing: ExitStack) -> ArduPilotClient:
    client = ArduPilotClient(graph, ports.ardupilot)
    closing.callback(client.close)
    return client


def uthere_program(ports: Ports, closing: ExitStack) -> Program:
    program = Program("127.0.0.1", ("127.0.0.1", ports.uthere_in), ports.uthere_out)
    closing.callback(program.close)
    return program
