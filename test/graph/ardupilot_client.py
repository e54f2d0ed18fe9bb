"""ArduPilot's side of the bridge, for tests that run the graph in their own thread."""

from __future__ import annotations

import socket
from typing import Any

from rosflight_py_sim.protocols.ardupilot_json import Reply, ServoFrame, decode_reply, encode_frame


class ArduPilotClient:
    """ArduPilot's side of the socket, in front of a graph that runs in the same thread."""

    def __init__(self, graph: Any, port: int) -> None:
        self.graph = graph
        self.count = 0
        self.rate = 400
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._to = ("127.0.0.1", port)

    def send_bytes(self, datagram: bytes) -> None:
        self._socket.sendto(datagram, self._to)

    def send(self, us: int = 1000) -> None:
        """Send the frame with the current count."""
        self.send_bytes(encode_frame(ServoFrame(self.rate, self.count, (us,) * 16)))

    def received(self) -> bytes | None:
        """Received datagram, or None."""
        try:
            return self._socket.recv(4096)
        except BlockingIOError:
            return None

    def answer(self) -> bytes:
        """Run the graph until an answer arrives."""
        answers: list[bytes] = []

        def come() -> bool:
            datagram = self.received()
            if datagram is not None:
                answers.append(datagram)
            return bool(answers)

        self.graph.spin_until(come, f"an answer to frame {self.count}")
        return answers[0]

    def reply(self) -> Reply:
        """Answer to the current frame."""
        return decode_reply(self.answer())

    def step(self, us: int = 1000) -> Reply:
        """Send the next frame and return the answer to it."""
        self.count += 1
        self.send(us)
        return self.reply()

    def close(self) -> None:
        self._socket.close()
