"""Protocol of the pipe to the writer process. A pipe message is a header and a body, a serialised ROS message.

On channel 0, the body is JSON that describes a channel; it precedes the channel's first message. On the last channel,
it is JSON with a name and metadata.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel

PIPE_HEADER = struct.Struct("<HQI")
"""Channel number, system time of the message (ns since 1970), length of the body."""

HEADER_BYTES = 14
"""Size of a header."""

DESCRIPTIONS = 0
"""Channel of the pipe messages that describe channels."""

METADATA = 0xFFFF
"""Channel of the pipe messages that hold metadata."""


@kernel
def put_integer(number: int, size: int, memory: NDArray[np.uint8], at: int) -> None:
    """Write an unsigned integer of `size` bytes at an offset, the lowest byte first."""
    for i in range(size):
        memory[at + i] = (number >> (8 * i)) & 255


@dataclass(frozen=True)
class Channel:
    """One side of a topic.

    Attributes:
        topic: its full name.
        type_name: such as `package/msg/Name`.
        definition: type definition with all nested types, in MCAP's ros2msg format.
        type_hash: type hash of ROS 2; empty if unknown.
        offered_qos: QoS offered by the publishers, in rosbag2's YAML.
        stamped: whether the messages begin with a std_msgs/Header.
        echo: whether some of the topic's publishers are recorded directly, so that this channel repeats their messages.
    """

    topic: str
    type_name: str
    definition: str
    type_hash: str = ""
    offered_qos: str = ""
    stamped: bool = False
    echo: bool = False
