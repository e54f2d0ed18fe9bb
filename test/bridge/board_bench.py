"""A flight controller on its MAVLink link, which a test steps, and a program on this link."""

from __future__ import annotations

from collections import Counter
from typing import Any

from free_ports import free_ports
from mavlink_client import COMMANDS, MavlinkClient

from rosflight_py_sim.bridge.mavlink_port import MAVLINK_PARAMETERS, MavlinkPort
from rosflight_py_sim.parts.sil_board import RosflightBoard
from rosflight_py_sim.step.ports import Input
from rosflight_py_sim.step.topics import ImuSample, PulseWidths, StepTopic
from test.bridge.logged_lines import LoggedLines

STEP_NS = 2_500_000
FIRST_NS = 1_000_000_000
# A calibrated quadrotor whose switch 4 arms and whose switch 5 overrides the companion computer.
QUADROTOR = [
    "PRIMARY_MIXER 2",
    "FAILSAFE_THR 0.3",
    "GYRO_X_BIAS 0.000001",
    "RC_ARM_CHN 4",
    "RC_ATT_OVRD_CHN 5",
    "RC_THR_OVRD_CHN 5",
    "RC_NUM_CHN 8",
    "RC_OVRD_LAG_T 0",
]


class Bench:
    """A board, level and at rest, that runs at 400 Hz with a transmitter at 50 Hz, and a program on its link."""

    def __init__(self, *firmware_parameters: str, **values: Any) -> None:
        board_port, program_port = free_ports(2)
        self.values = {
            **MAVLINK_PARAMETERS.defaults(),
            "mavlink.port": board_port,
            "mavlink.peer_port": program_port,
        }
        self.part = RosflightBoard(
            {
                **RosflightBoard.PARAMETERS.defaults(),
                **self.values,
                "firmware_parameters": [*QUADROTOR, *firmware_parameters],
                **values,
            }
        )
        self.log = LoggedLines()
        self.port = MavlinkPort(self.values, self.log)
        self.part.connect_link(self.port)
        self.part.begin()
        self.program = MavlinkClient(board_port, program_port)
        self.rc = [1500, 1500, 1000, 1500, 1000, 1000, 1000, 1000]
        self.time_ns = FIRST_NS
        self._count = 0

    @property
    def link_counters(self) -> Counter[str]:
        """Counters of the link."""
        return self.port.counters

    def close(self) -> None:
        self.program.close()
        self.port.close()

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * 1e9 / STEP_NS)):
            if self._count % 8 == 0:
                self.part.receive_rc(PulseWidths(self.time_ns, self.rc))
            self.part.run(self.time_ns, ImuSample(self.time_ns, (0.0, 0.0, 0.0), (0.0, 0.0, -9.80665)))
            self._count += 1
            self.time_ns += STEP_NS

    def receive(self, topic: StepTopic[Any], sample: Any) -> None:
        """Pass a measurement to the board, as its sensor's topic does."""
        (port,) = (one for one in self.part.ports(Input) if one.topic is topic)
        port.taker(self.part)(sample)

    def answer(self, name: str, seconds: float = 0.02) -> list[dict[str, Any]]:
        """Messages of one name in the next passes."""
        self.program.messages()
        self.run(seconds)
        return self.program.received(name)

    def acknowledged(self, command: str) -> int:
        """Send a command; return `success` of its acknowledgement."""
        self.program.messages()
        self.program.command(command)
        self.run(0.02)
        (ack,) = self.program.received("ROSFLIGHT_CMD_ACK")
        assert ack["command"] == COMMANDS[command]
        return int(ack["success"])

    def texts(self) -> list[str]:
        """Status texts that have arrived."""
        return [one["text"].rstrip(b"\0").decode() for one in self.program.received("STATUSTEXT")]

    def arm(self) -> None:
        self.rc[4] = 2000
        self.run(0.1)
        assert self.part.firmware.status.armed
