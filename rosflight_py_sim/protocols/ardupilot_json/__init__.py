"""ArduPilot's JSON SITL interface: binary servo frames from ArduPilot, each answered with one line of JSON.

Source: ArduPilot, libraries/SITL/examples/JSON/readme.md.
"""

from __future__ import annotations

from rosflight_py_sim.protocols import ProtocolError
from rosflight_py_sim.protocols.ardupilot_json.replies import (
    LARGEST_NUMBER,
    MOST_RANGES,
    MOST_RC_CHANNELS,
    MOST_ROTORS,
    BatteryStatus,
    Quaternion,
    Reply,
    ReplyError,
    Vector3,
    Windvane,
    decode_reply,
    encode_reply,
)
from rosflight_py_sim.protocols.ardupilot_json.servo_packets import (
    CHANNELS_OF_MAGIC,
    FrameLengthError,
    FrameRateError,
    MagicError,
    ServoFrame,
    decode_frame,
    encode_frame,
)

__all__ = [
    "CHANNELS_OF_MAGIC",
    "LARGEST_NUMBER",
    "MOST_RANGES",
    "MOST_RC_CHANNELS",
    "MOST_ROTORS",
    "BatteryStatus",
    "FrameLengthError",
    "FrameRateError",
    "MagicError",
    "ProtocolError",
    "Quaternion",
    "Reply",
    "ReplyError",
    "ServoFrame",
    "Vector3",
    "Windvane",
    "decode_frame",
    "decode_reply",
    "encode_frame",
    "encode_reply",
]
