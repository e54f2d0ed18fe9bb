"""A program on a flight controller's MAVLink link, written from the dialect alone: it uses nothing of the package.

The numbers are those of ROSflight's dialect (rosflight_firmware, comms/mavlink). Fields are in the order of the
payload.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple


class Definition(NamedTuple):
    """Id, checksum of the definition, format of the payload, and names of its fields; an array has one name."""

    number: int
    crc_extra: int
    format: str
    fields: str


DEFINITIONS = {
    "HEARTBEAT": Definition(0, 50, "IBBBBB", "custom_mode type autopilot base_mode system_status mavlink_version"),
    "PARAM_REQUEST_READ": Definition(20, 214, "hBB16s", "param_index target_system target_component param_id"),
    "PARAM_REQUEST_LIST": Definition(21, 159, "BB", "target_system target_component"),
    "PARAM_VALUE": Definition(22, 220, "4sHH16sB", "param_value param_count param_index param_id param_type"),
    "PARAM_SET": Definition(23, 168, "4sBB16sB", "param_value target_system target_component param_id param_type"),
    "ATTITUDE_QUATERNION": Definition(31, 246, "I7f", "time_boot_ms q1 q2 q3 q4 rollspeed pitchspeed yawspeed"),
    "RC_CHANNELS": Definition(65, 118, "I18HBB", "time_boot_ms channels:18 chancount rssi"),
    "TIMESYNC": Definition(111, 34, "qq", "tc1 ts1"),
    "OFFBOARD_CONTROL": Definition(180, 90, "10fHB", "u:10 ignore mode"),
    "SMALL_IMU": Definition(181, 67, "Q7f", "time_boot_us xacc yacc zacc xgyro ygyro zgyro temperature"),
    "SMALL_MAG": Definition(182, 218, "3f", "xmag ymag zmag"),
    "SMALL_BARO": Definition(183, 206, "3f", "altitude pressure temperature"),
    "DIFF_PRESSURE": Definition(184, 169, "3f", "velocity diff_pressure temperature"),
    "SMALL_RANGE": Definition(187, 60, "3fB", "range max_range min_range type"),
    "ROSFLIGHT_CMD": Definition(188, 249, "B", "command"),
    "ROSFLIGHT_CMD_ACK": Definition(189, 113, "BB", "command success"),
    "ROSFLIGHT_OUTPUT_RAW": Definition(190, 181, "Q14f", "stamp values:14"),
    "ROSFLIGHT_STATUS": Definition(
        191, 12, "HhhBBBBB", "rc_override num_errors loop_time_us armed failsafe offboard error_code control_mode"
    ),
    "ROSFLIGHT_VERSION": Definition(192, 134, "50s", "version"),
    "ROSFLIGHT_AUX_CMD": Definition(193, 1, "14f14B", "aux_cmd_array:14 type_array:14"),
    "EXTERNAL_ATTITUDE": Definition(195, 65, "4f", "qw qx qy qz"),
    "ROSFLIGHT_HARD_ERROR": Definition(196, 10, "4I", "error_code pc reset_count doRearm"),
    "ROSFLIGHT_GNSS": Definition(
        197,
        221,
        "q2dQi7fBB",
        "seconds lat lon rosflight_timestamp nanos height vel_n vel_e vel_d h_acc v_acc s_acc fix_type num_sat",
    ),
    "ROSFLIGHT_BATTERY_STATUS": Definition(199, 48, "2f", "battery_voltage battery_current"),
    "STATUSTEXT": Definition(253, 83, "B50s", "severity text"),
}
NAMES = {one.number: name for name, one in DEFINITIONS.items()}

COMMANDS = {
    "RC_CALIBRATION": 0,
    "ACCEL_CALIBRATION": 1,
    "GYRO_CALIBRATION": 2,
    "BARO_CALIBRATION": 3,
    "AIRSPEED_CALIBRATION": 4,
    "READ_PARAMS": 5,
    "WRITE_PARAMS": 6,
    "SET_PARAM_DEFAULTS": 7,
    "REBOOT": 8,
    "REBOOT_TO_BOOTLOADER": 9,
    "SEND_VERSION": 10,
    "RESET_ORIGIN": 11,
    "SEND_ALL_CONFIG_INFOS": 12,
}
INT32, REAL32 = 6, 9


class Message(NamedTuple):
    """A message received: its name, fields, and the numbers of its sender."""

    name: str
    fields: dict[str, Any]
    system: int
    component: int


def crc16(data: bytes) -> int:
    """CRC-16/MCRF4XX, bit by bit."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return crc


def frame(name: str, sequence: int = 0, **fields: Any) -> bytes:
    """Bytes of a message from a companion computer; fields that are not given are 0."""
    one = DEFINITIONS[name]
    values: list[Any] = []
    for field in one.fields.split():
        field, _, count = field.partition(":")
        empty: Any = b"" if field in ("param_id", "text", "version", "param_value") else 0
        given = fields.pop(field, [0] * int(count) if count else empty)
        values += given if count else [given]
    assert not fields, fields
    payload = struct.pack("<" + one.format, *values)
    counted = bytes([len(payload), sequence, 1, 50, one.number]) + payload
    return b"\xfe" + counted + struct.pack("<H", crc16(counted + bytes([one.crc_extra])))


def is_valid(datagram: bytes) -> bool:
    """Whether a datagram consists of one valid frame."""
    if len(datagram) < 8 or datagram[0] != 0xFE or len(datagram) != datagram[1] + 8 or datagram[5] not in NAMES:
        return False
    extra = DEFINITIONS[NAMES[datagram[5]]].crc_extra
    return bool(struct.pack("<H", crc16(datagram[1:-2] + bytes([extra]))) == datagram[-2:])


def messages_of(datagram: bytes) -> Iterator[Message]:
    """Messages of a datagram; every byte must belong to a valid frame."""
    while datagram:
        start, length, _, system, component, number = datagram[:6]
        name = NAMES[number]
        one = DEFINITIONS[name]
        checksum = struct.unpack("<H", datagram[length + 6 : length + 8])[0]
        assert start == 0xFE and checksum == crc16(datagram[1 : length + 6] + bytes([one.crc_extra])), name
        values = list(struct.unpack("<" + one.format, datagram[6 : length + 6]))
        fields: dict[str, Any] = {}
        for field in one.fields.split():
            field, _, count = field.partition(":")
            fields[field] = [values.pop(0) for _ in range(int(count))] if count else values.pop(0)
        yield Message(name, fields, system, component)
        datagram = datagram[length + 8 :]


class MavlinkClient:
    """Sends messages to a flight controller's port, and receives those that it sends.

    Attributes:
        port: own port.
    """

    def __init__(self, board_port: int, port: int = 0) -> None:
        """Bind a port of the machine; 0: any."""
        self._board = ("127.0.0.1", board_port)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._socket.bind(("127.0.0.1", port))
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]

    def close(self) -> None:
        """Close the port."""
        self._socket.close()

    def send(self, name: str, **fields: Any) -> None:
        """Send a message."""
        self.send_bytes(frame(name, **fields))

    def send_bytes(self, data: bytes) -> None:
        """Send a datagram."""
        self._socket.sendto(data, self._board)

    def command(self, name: str) -> None:
        """Send a command."""
        self.send("ROSFLIGHT_CMD", command=COMMANDS[name])

    def set_parameter(self, name: str, value: float, system: int = 1) -> None:
        """Send a new value of a parameter: an int or a float."""
        kind, code = (INT32, "<i") if isinstance(value, int) else (REAL32, "<f")
        bits = struct.pack(code, value)
        self.send("PARAM_SET", param_id=name.encode(), param_value=bits, param_type=kind, target_system=system)

    def received(self, name: str = "") -> list[dict[str, Any]]:
        """Fields of the messages that have arrived since the last call, of one name or all."""
        return [one.fields for one in self.messages() if name in ("", one.name)]

    def messages(self) -> list[Message]:
        """Messages that have arrived since the last call."""
        return [message for datagram in self.datagrams() for message in messages_of(datagram)]

    def datagrams(self) -> list[bytes]:
        """Datagrams that have arrived since the last call."""
        found: list[bytes] = []
        while True:
            try:
                found.append(self._socket.recv(2048))
            except BlockingIOError:
                return found


def parameter(fields: dict[str, Any]) -> tuple[str, float]:
    """Name and value of the parameter in a PARAM_VALUE."""
    code = {INT32: "<i", REAL32: "<f"}[fields["param_type"]]
    return fields["param_id"].rstrip(b"\0").decode(), struct.unpack(code, fields["param_value"])[0]
